// SPDX-License-Identifier: Apache-2.0
#include "compile/buffers.hpp"

#include "compile/constant_cache.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::compiler {

using runtime::Location;

Buffers::Buffers(const graph::Graph& graph, runtime::Program& program)
    : graph_(graph), program_(program), locations_(graph.values.size()), placed_(graph.values.size(), false) {
  const auto place = [this](graph::ValueId value, Location::Kind kind, std::size_t index) {
    if (placed_[value]) return;
    locations_[value] = {kind, static_cast<int>(index), 0};
    placed_[value] = true;
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) place(graph.inputs[i], Location::Kind::input, i);
  for (graph::ValueId value = 0; value < graph.values.size(); ++value) {
    if (!graph.values[value].is_constant) continue;
    place(value, Location::Kind::constant, program.constants.size());
    program.constants.push_back(constant_cache().share(graph.values[value].data));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) place(graph.outputs[i], Location::Kind::output, i);
}

Location Buffers::location(graph::ValueId value) {
  if (!placed_[value]) {
    const Result<std::int64_t> bytes = span_bytes(graph::desc_of(graph_.values[value]));
    locations_[value] = temporary(bytes.ok() ? bytes.value() : 0);
    placed_[value] = true;
  }
  return locations_[value];
}

Location Buffers::temporary(std::int64_t bytes) {
  constexpr std::int64_t kAlign = 64;
  const Location location{Location::Kind::temporary, 0, program_.arena_bytes};
  program_.arena_bytes += (bytes + kAlign - 1) / kAlign * kAlign;
  return location;
}

}  // namespace tenfold::compiler

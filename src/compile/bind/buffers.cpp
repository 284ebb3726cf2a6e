// SPDX-License-Identifier: Apache-2.0
#include "compile/bind/buffers.hpp"

#include <algorithm>

#include "compile/cache/constant_cache.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::compiler {

using runtime::Location;

Buffers::Buffers(const graph::Graph& graph, const std::vector<Region>& regions, runtime::Program& program)
    : graph_(graph),
      program_(program),
      locations_(graph.values.size()),
      placed_(graph.values.size(), false),
      last_(graph.values.size(), 0),
      ending_(regions.size() + 1) {
  for (std::size_t region = 0; region < regions.size(); ++region)
    for (const graph::OpId op : regions[region].ops)
      for (const graph::ValueId value : graph.ops[op].inputs)
        if (value != graph::kNone) last_[value] = region;
  const auto place = [this](graph::ValueId value, Location::Kind kind, std::size_t index) {
    if (placed_[value]) return;
    locations_[value] = {kind, static_cast<int>(index), 0};
    placed_[value] = true;
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) place(graph.inputs[i], Location::Kind::input, i);
  for (graph::ValueId value = 0; value < graph.values.size(); ++value) {
    if (!graph.values[value].is_constant) continue;
    place(value, Location::Kind::constant, program.constants.size());
    program.constants.push_back(constant_cache().share(graph.values[value].data.shared()));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) place(graph.outputs[i], Location::Kind::output, i);
}

Location Buffers::location(graph::ValueId value) {
  if (!placed_[value]) {
    const Result<std::int64_t> bytes = span_bytes(graph::desc_of(graph_.values[value]));
    locations_[value] = block(bytes.ok() ? bytes.value() : 0, std::max(region_, last_[value]));
    placed_[value] = true;
  }
  return locations_[value];
}

Location Buffers::location(const OperandSource& operand) {
  Location found = location(operand.value);
  found.offset += operand.offset;
  return found;
}

Location Buffers::temporary(std::int64_t bytes) { return block(bytes, region_); }

Location Buffers::block(std::int64_t bytes, std::size_t last) {
  const Location location{Location::Kind::temporary, 0, arena_.take(bytes)};
  program_.arena_bytes = arena_.bytes();
  if (bytes > 0) ending_[last].push_back(location.offset);
  return location;
}

void Buffers::end_region() {
  for (const std::int64_t offset : ending_[region_]) arena_.give(offset);
  ++region_;
}

}  // namespace tenfold::compiler

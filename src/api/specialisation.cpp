// SPDX-License-Identifier: Apache-2.0
//
// Making and caching of specialisations; see specialisation.hpp.
#include "api/specialisation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "api/places.hpp"

namespace tenfold::api {

namespace {

Result<PlaceMap> place_map(const graph::Graph& core, const std::vector<graph::ValueId>& program,
                           std::span<const TensorInfo> partition) {
  PlaceMap map;
  const Places places(partition);
  map.identity = program.size() == partition.size();
  for (const graph::ValueId v : program) {
    const TensorId id = core.values[v].id;
    const std::size_t at = places.find(id);
    if (at == Places::kNowhere)
      return Status(Code::internal_error, "tensor " + std::to_string(id) + " is not among the partition's");
    map.places.push_back(at);
    map.identity = map.identity && map.places.back() + 1 == map.places.size();
  }
  return map;
}

Status require_static(const graph::Graph& core) {
  for (const graph::Op& op : core.ops) {
    for (const graph::ValueId v : op.outputs) {
      if (v == graph::kNone || graph::is_static(core.values[v])) continue;
      return Status(Code::unsupported_op, graph::describe(op) + ": the shape of its output (tensor " +
                                              std::to_string(core.values[v].id) + ") cannot be inferred");
    }
  }
  return Status();
}

}  // namespace

Result<OperandCheck> operand_check(const TensorDesc& desc) {
  const Result<std::int64_t> span = span_bytes(desc);
  if (!span.ok()) return span.status();
  OperandCheck check;
  check.span_bytes = span.value();
  check.alignment = static_cast<std::uintptr_t>(std::max(1, byte_size(desc.dtype)));
  return check;
}

TensorInfo info_of(const graph::Value& value) {
  if (graph::is_static(value)) return TensorInfo{value.id, graph::desc_of(value)};
  return TensorInfo{value.id, TensorDesc{value.dtype, value.ranked ? value.shape : Dims{kUnknownDim}, {}}};
}

Result<std::shared_ptr<const Specialisation>> make_specialisation(const graph::Graph& core,
                                                                  std::span<const TensorInfo> inputs,
                                                                  std::span<const TensorInfo> outputs,
                                                                  const target::Target& target,
                                                                  const compiler::Options& options) {
  if (Status status = require_static(core); !status.ok()) return status;
  auto made = std::make_shared<Specialisation>();
  auto input_map = place_map(core, core.inputs, inputs);
  if (!input_map.ok()) return input_map.status();
  auto output_map = place_map(core, core.outputs, outputs);
  if (!output_map.ok()) return output_map.status();
  if (core.outputs.size() != outputs.size())
    return Status(Code::internal_error, "the passes turned " + std::to_string(outputs.size()) + " graph outputs into " +
                                            std::to_string(core.outputs.size()));
  made->input_map = std::move(input_map).value();
  made->output_map = std::move(output_map).value();
  made->outputs.resize(outputs.size());
  made->output_checks.resize(outputs.size());
  for (std::size_t i = 0; i < core.outputs.size(); ++i) {
    const std::size_t place = made->output_map.places[i];
    made->outputs[place] = info_of(core.values[core.outputs[i]]);
    Result<OperandCheck> check = operand_check(made->outputs[place].desc);
    if (!check.ok()) return check.status();
    made->output_checks[place] = check.value();
  }
  Result<compiler::Compiled> compiled = compiler::compile(core, target, options);
  if (!compiled.ok()) return compiled.status();
  made->compiled = std::move(compiled).value();
  made->in_place.assign(outputs.size(), Specialisation::kNoInput);
  for (const compiler::InPlace& pair : made->compiled.in_place)
    made->in_place[made->output_map.places[static_cast<std::size_t>(pair.output)]] =
        made->input_map.places[static_cast<std::size_t>(pair.input)];
  return std::shared_ptr<const Specialisation>(std::move(made));
}

bool SpecialisationCache::Less::operator()(std::span<const std::int64_t> a, std::span<const std::int64_t> b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

SpecialisationCache::Shared SpecialisationCache::find(std::span<const std::int64_t> axes) const {
  const std::shared_lock lock(mutex_);
  const auto at = entries_.find(axes);
  if (at == entries_.end()) return nullptr;
  at->second.last_used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
  return at->second.specialisation;
}

void SpecialisationCache::insert(std::span<const std::int64_t> axes, Shared specialisation) {
  const std::unique_lock lock(mutex_);
  Entry& entry = entries_[std::vector<std::int64_t>(axes.begin(), axes.end())];
  entry.specialisation = std::move(specialisation);
  entry.last_used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
  if (entries_.size() <= kCapacity) return;
  const auto oldest = std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
    return a.second.last_used.load(std::memory_order_relaxed) < b.second.last_used.load(std::memory_order_relaxed);
  });
  entries_.erase(oldest);
}

Result<SpecialisationCache::Shared> SpecialisationCache::find_or_make(std::span<const std::int64_t> axes,
                                                                      const Maker& make) {
  if (Shared found = find(axes)) return found;
  const std::lock_guard lock(making_);
  // Another thread may have made it while this one waited.
  if (Shared found = find(axes)) return found;
  Result<Shared> made = make();
  if (!made.ok()) return made;
  insert(axes, made.value());
  made_.fetch_add(1, std::memory_order_relaxed);
  return made;
}

std::vector<std::pair<std::vector<std::int64_t>, SpecialisationCache::Shared>> SpecialisationCache::entries() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::pair<std::vector<std::int64_t>, Shared>> all;
  for (const auto& [axes, entry] : entries_) all.emplace_back(axes, entry.specialisation);
  return all;
}

}  // namespace tenfold::api

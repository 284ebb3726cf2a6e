// SPDX-License-Identifier: Apache-2.0
//
// Building a graph by tensor ids; see draft.hpp.
#include "capi/draft.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "api/finish.hpp"

namespace tenfold::capi {

namespace {

Status contradiction(const graph::Value& value, const std::string& here, const std::string& before) {
  return Status(Code::invalid_graph,
                "tensor " + std::to_string(value.id) + " is " + here + " here, but was " + before + " before");
}

/// Of two static values of one shape. Strides of dims of extent 1 mean nothing, nor do any of a tensor without
/// elements.
bool strides_agree(const graph::Value& a, const graph::Value& b) {
  const Dims left = strides_of(graph::desc_of(a)), right = strides_of(graph::desc_of(b));
  if (std::find(a.shape.begin(), a.shape.end(), 0) != a.shape.end()) return true;
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] > 1 && left[i] != right[i]) return false;
  return true;
}

/// `known` takes over what only `said` says.
Status merge_into(graph::Value& known, const graph::Value& said) {
  if (known.dtype != said.dtype)
    return contradiction(said, std::string(to_string(said.dtype)), std::string(to_string(known.dtype)));
  if (!graph::may_agree(known, said)) return contradiction(said, graph::shape_text(said), graph::shape_text(known));
  if (graph::is_static(known) && graph::is_static(said) && !strides_agree(known, said))
    return contradiction(said, "of strides " + to_string(strides_of(graph::desc_of(said))),
                         "of strides " + to_string(strides_of(graph::desc_of(known))));
  if (known.property != graph::Property::undef && said.property != graph::Property::undef &&
      known.property != said.property)
    return contradiction(said, std::string(graph::to_string(said.property)),
                         std::string(graph::to_string(known.property)));
  if (known.property == graph::Property::undef) known.property = said.property;
  if (!graph::is_static(known) && graph::is_static(said)) known.strides = said.strides;
  graph::complete_shape(known, said);
  known.is_constant = known.is_constant || said.is_constant;
  return {};
}

/// For `count` more, at a constant cost for each, as push_back() does it.
template <class T>
void make_room(std::vector<T>& list, std::size_t count) {
  if (list.capacity() - list.size() < count) list.reserve(std::max(2 * list.size(), list.size() + count));
}

}  // namespace

Status Draft::merge(Merged& merged, const graph::Value& value) const {
  const auto [at, fresh] = merged.try_emplace(value.id, value);
  if (!fresh) return merge_into(at->second, value);
  const auto place = places_.find(value.id);
  if (place == places_.end()) return {};
  at->second = graph_.values[place->second];
  return merge_into(at->second, value);
}

Draft::Places Draft::new_places(const Merged& merged) const {
  Places places;
  auto next = static_cast<graph::ValueId>(graph_.values.size());
  for (const auto& [id, value] : merged)
    if (!places_.contains(id)) places.emplace(id, next++);
  return places;
}

void Draft::commit(Merged& merged, Places& fresh) noexcept {
  places_.merge(fresh);
  for (auto& [id, value] : merged) {
    const graph::ValueId place = places_.find(id)->second;
    if (place == graph_.values.size()) {
      graph_.values.push_back(std::move(value));
    } else {
      graph_.values[place] = std::move(value);
    }
  }
}

Status Draft::add_op(const DraftOp& added) {
  if (const auto taken = ops_.find(added.op.id); taken != ops_.end())
    return Status(Code::invalid_graph,
                  graph::describe(added.op) + ": its id is taken by " + graph::describe(graph_.ops[taken->second]));
  Merged merged;
  const auto merge_of_op = [&](const graph::Value& value) -> Status {
    Status status = merge(merged, value);
    return status.ok() ? status : status.about(graph::describe(added.op));
  };
  for (const std::optional<graph::Value>& input : added.inputs)
    if (input)
      if (Status status = merge_of_op(*input); !status.ok()) return status;
  for (const graph::Value& output : added.outputs)
    if (Status status = merge_of_op(output); !status.ok()) return status;

  // All that may throw comes first, so that a call that fails leaves the draft as it was.
  Places fresh = new_places(merged);
  graph::Op op = added.op;
  const auto place_of = [&](const graph::Value& value) {
    const auto known = places_.find(value.id);
    return known != places_.end() ? known->second : fresh.at(value.id);
  };
  for (const std::optional<graph::Value>& input : added.inputs)
    op.inputs.push_back(input ? place_of(*input) : graph::kNone);
  for (const graph::Value& output : added.outputs) op.outputs.push_back(place_of(output));
  std::map<std::int64_t, std::size_t> taken{{op.id, graph_.ops.size()}};
  make_room(graph_.values, fresh.size());
  make_room(graph_.ops, 1);

  commit(merged, fresh);
  ops_.merge(taken);
  graph_.ops.push_back(std::move(op));
  return {};
}

Status Draft::add_constant(const graph::Value& value, const void* data, std::size_t size) {
  const std::string what = "constant " + std::to_string(value.id);
  if (!graph::is_static(value)) return Status(Code::invalid_shape, what + ": its dims must all be known");
  graph::Value constant = value;
  constant.strides.clear();
  if (!strides_agree(constant, value))
    return Status(Code::invalid_shape,
                  what + ": strides " + to_string(value.strides) + " are not row-major; data of constants are");
  const Result<std::int64_t> bytes = span_bytes(graph::desc_of(value));
  if (!bytes.ok()) return bytes.status().about(what);
  if (size != static_cast<std::size_t>(bytes.value()))
    return Status(Code::invalid_argument,
                  what + ": " + std::to_string(size) + " bytes of data given, it has " + std::to_string(bytes.value()));
  if (data == nullptr && size > 0) return Status(Code::invalid_argument, what + ": the data is null");
  if (data_.contains(value.id)) return Status(Code::invalid_graph, what + ": it has its data already");
  Merged merged;
  constant.property = graph::Property::constant;
  constant.is_constant = true;
  if (Status status = merge(merged, constant); !status.ok()) return status;
  merged.begin()->second.strides.clear();  // an op may have said others that mean the same
  const auto* first = static_cast<const std::byte*>(data);
  // As in add_op(): what may throw comes first.
  std::map<TensorId, std::vector<std::byte>> held;
  held[value.id].assign(first, first + size);
  Places fresh = new_places(merged);
  make_room(graph_.values, fresh.size());

  commit(merged, fresh);
  data_.merge(held);
  return {};
}

Result<Graph> Draft::finish() const {
  graph::Graph graph = graph_;
  for (const auto& [id, data] : data_) graph.values[places_.at(id)].data = data;
  return api::finish_any_graph(std::move(graph), outputs_);
}

}  // namespace tenfold::capi

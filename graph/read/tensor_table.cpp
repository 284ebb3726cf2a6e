// SPDX-License-Identifier: Apache-2.0
//
// See tensor_table.hpp.
#include "graph/read/tensor_table.hpp"

#include <string>

#include "graph/read/location.hpp"

namespace tenfold::graph {
namespace {

std::string text_of(const Op& op) {
  return "op " + std::to_string(op.id) + " " + shown(op.name) + " (" + op.kind + ")";
}

}  // namespace

std::string TensorTable::describe_op(OpId id, const Op& current) const {
  return text_of(id < graph_.ops.size() ? graph_.ops[id] : current);
}

Result<ValueId> TensorTable::add(TensorRecord record, Item item, const Op& op, Role role) {
  const auto found = ids_.find(record.value.id);
  const bool known = found != ids_.end();
  ValueId id = kNone;
  if (known) {
    id = found->second;
    if (Status status = merge(id, std::move(record), item, op, role); !status.ok()) return status;
  } else {
    if (Status status = check_room(item); !status.ok()) return status;
    id = insert(std::move(record));
  }

  Entry& entry = entries_[id];
  if (role == Role::output) entry.producer = static_cast<OpId>(graph_.ops.size());
  if (entry.producer != kNone && graph_.values[id].is_constant) {
    return item.error("tensor " + std::to_string(graph_.values[id].id) + " has constant data, but " +
                          describe_op(entry.producer, op) + " produces it",
                      Code::invalid_graph);
  }
  return id;
}

Status TensorTable::check_room(Item item) const {
  if (graph_.values.size() < most_tensors_) return {};
  return item.error("more than the allowed " + std::to_string(most_tensors_) + " tensors");
}

ValueId TensorTable::insert(TensorRecord record) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  ids_.emplace(record.value.id, id);
  entries_.push_back({record.strides_given, static_cast<OpId>(graph_.ops.size())});
  graph_.values.push_back(std::move(record.value));
  return id;
}

Result<ValueId> TensorTable::add_left_out(Item item) {
  if (Status status = check_room(item); !status.ok()) return status;
  const auto id = static_cast<ValueId>(graph_.values.size());
  entries_.push_back({false, static_cast<OpId>(graph_.ops.size())});
  graph_.values.emplace_back();
  left_out_.push_back(id);
  return id;
}

void TensorTable::number_left_out() {
  std::int64_t free = 0;
  for (const ValueId left_out : left_out_) {
    while (ids_.contains(free)) ++free;
    graph_.values[left_out].id = free;
    ids_.emplace(free, left_out);
  }
}

Status TensorTable::merge(ValueId id, TensorRecord record, Item item, const Op& op, Role role) {
  Value& value = graph_.values[id];
  const Entry& entry = entries_[id];
  const std::string tensor = "tensor " + std::to_string(value.id);
  if (role == Role::output && entry.producer != kNone) {
    return item.error(tensor + " is produced by " + describe_op(entry.producer, op) + " and again by " +
                          describe_op(static_cast<OpId>(graph_.ops.size()), op) + "; a tensor has one producer",
                      Code::invalid_graph);
  }
  if (value.dtype == DType::undef) value.dtype = record.value.dtype;
  if (record.value.dtype != DType::undef && record.value.dtype != value.dtype) {
    return item.error(tensor + " is " + std::string(to_string(record.value.dtype)) + " here, but " +
                      std::string(to_string(value.dtype)) + " in " + describe_op(entry.first_op, op));
  }
  if (record.value.is_constant) {
    if (value.is_constant && value.data != record.value.data)
      return item.error(tensor + " has other constant data in " + describe_op(entry.first_op, op));
    value.is_constant = true;
    value.data = std::move(record.value.data);
    value.strides.clear();
    record.value.strides.clear();
  } else if (value.is_constant) {
    record.value.strides.clear();
  }
  if (value.property == Property::undef) value.property = record.value.property;
  if (value.name.empty()) value.name = std::move(record.value.name);
  if (value.is_constant && value.property == Property::variable)
    return item.error(tensor + " has constant data, but the property_type 'variable' in another record");
  merge_shape(id, std::move(record), item, op, role);
  return {};
}

void TensorTable::merge_shape(ValueId id, TensorRecord record, Item item, const Op& op, Role role) {
  Value& value = graph_.values[id];
  Entry& entry = entries_[id];
  const bool fits = may_agree(value, record.value);
  const bool same_strides =
      !entry.strides_given || !record.strides_given || value.strides == record.value.strides || value.is_constant;
  if (!fits || !same_strides) {
    if (entry.producer != kNone) return;
    if (role == Role::input) {
      if (!entry.conflicts)
        conflicts_.push_back({id, static_cast<OpId>(graph_.ops.size()), op.inputs.size(), item.place(), fits,
                              std::move(fits ? record.value.strides : record.value.shape),
                              fits ? value.strides : value.shape});
      entry.conflicts = true;
      return;
    }
    value.ranked = record.value.ranked;
    value.shape = std::move(record.value.shape);
    value.strides = std::move(record.value.strides);
    value.layout = record.value.layout;
    entry.strides_given = record.strides_given;
    return;
  }

  if (value.layout == Layout::undef) value.layout = record.value.layout;
  complete_shape(value, record.value);
  if (!entry.strides_given && record.strides_given) {
    value.strides = std::move(record.value.strides);
    entry.strides_given = true;
  }
}

Status TensorTable::error_of(const Conflict& conflict) const {
  return error_at(conflict.place.file, conflict.place.offset,
                  "/graph/" + std::to_string(conflict.op) + "/inputs/" + std::to_string(conflict.input),
                  "tensor " + std::to_string(graph_.values[conflict.value].id) + " has the " +
                      (conflict.of_strides ? "strides " : "shape ") + tenfold::to_string(conflict.here) +
                      " here, but " + tenfold::to_string(conflict.there) + " in " +
                      text_of(graph_.ops[entries_[conflict.value].first_op]));
}

Status TensorTable::finish() const {
  for (const Conflict& conflict : conflicts_)
    if (entries_[conflict.value].producer == kNone) return error_of(conflict);
  return {};
}

}  // namespace tenfold::graph

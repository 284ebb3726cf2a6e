// SPDX-License-Identifier: Apache-2.0
#include "compile/partition/dataflow.hpp"

#include <algorithm>

#include "compile/lower/copies.hpp"
#include "compile/lower/space.hpp"

namespace tenfold::compiler {

using graph::Op;
using graph::OpId;
using graph::ValueId;

bool has_empty(const graph::Graph& graph, const Op& op) {
  const auto is_empty = [&](ValueId value) {
    if (value == graph::kNone) return false;
    const Dims& shape = graph.values[value].shape;
    return std::find(shape.begin(), shape.end(), 0) != shape.end();
  };
  return std::any_of(op.inputs.begin(), op.inputs.end(), is_empty) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), is_empty);
}

Dataflow::Dataflow(const graph::Graph& graph)
    : graph_(graph),
      users_(graph.values.size()),
      is_output_(graph.values.size(), false),
      seen_through_(graph.ops.size(), false) {
  for (const ValueId value : graph.outputs) is_output_[value] = true;
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    const Op& op = graph.ops[id];
    for (const ValueId value : op.inputs)
      if (value != graph::kNone) users_[value].push_back(id);
    const bool is_walk = is_view(op) || is_forward_slice(op);
    seen_through_[id] = is_walk && !is_output_[op.outputs[0]] && !has_empty(graph, op);
  }
}

void Dataflow::write_out(OpId view) {
  seen_through_[view] = false;
  has_written_out_ = true;
}

ValueId Dataflow::source_of(ValueId value) const {
  OpId producer = graph_.values[value].producer;
  while (producer != graph::kNone && seen_through_[producer]) {
    value = graph_.ops[producer].inputs[0];
    producer = graph_.values[value].producer;
  }
  return value;
}

Ops Dataflow::with_views(const Ops& ops) const {
  Ops all = ops;
  std::vector<OpId> open(ops.begin(), ops.end());
  while (!open.empty() && all.size() <= ops.size() + kMostViews) {
    const OpId id = open.back();
    open.pop_back();
    for (const ValueId value : graph_.ops[id].inputs) {
      if (value == graph::kNone) continue;
      const OpId producer = graph_.values[value].producer;
      if (producer != graph::kNone && seen_through_[producer] && all.insert(producer).second) open.push_back(producer);
    }
  }
  return all;
}

bool Dataflow::leaves(ValueId value, const Ops& ops) const {
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (is_output_[next]) return true;
    for (const OpId user : users_[next]) {
      if (seen_through_[user])
        open.push_back(graph_.ops[user].outputs[0]);
      else if (!ops.contains(user))
        return true;
    }
  }
  return false;
}

Ops Dataflow::readers(const Ops& ops) const {
  Ops found;
  std::vector<ValueId> open;
  for (const OpId op : ops) open.insert(open.end(), graph_.ops[op].outputs.begin(), graph_.ops[op].outputs.end());
  while (!open.empty()) {
    const std::vector<OpId>& users = users_[open.back()];
    open.pop_back();
    for (const OpId user : users) {
      if (seen_through_[user])
        open.push_back(graph_.ops[user].outputs[0]);
      else
        found.insert(user);
    }
  }
  return found;
}

std::vector<OpId> Dataflow::nearest_readers(ValueId value, OpId op) const {
  std::vector<OpId> readers;
  std::vector<ValueId> open{value};
  std::size_t views = 0;
  while (!open.empty()) {
    const std::vector<OpId>& users = users_[open.back()];
    open.pop_back();
    auto user = std::lower_bound(users.begin(), users.end(), op);
    for (std::size_t found = 0; found < kMostSiblings && user != users.begin();) {
      --user;
      if (!seen_through_[*user]) {
        readers.push_back(*user);
        ++found;
      } else if (views++ < kMostViews) {
        open.push_back(graph_.ops[*user].outputs[0]);
      }
    }
  }
  std::sort(readers.begin(), readers.end());
  if (readers.size() > kMostSiblings) readers.erase(readers.begin(), readers.end() - kMostSiblings);
  return readers;
}

}  // namespace tenfold::compiler

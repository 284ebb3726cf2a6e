// SPDX-License-Identifier: Apache-2.0
//
// eliminate(): of ops that compute the same, one stays; ops and values that nobody needs go.
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

using Attributes = std::vector<std::pair<std::string, Attribute>>;

std::int64_t bits_of(double number) { return std::bit_cast<std::int64_t>(number); }

/// Reals by their bits: 0 and -0 are two numbers here, and a NaN is equal to itself.
std::pair<std::string, Attribute> comparable(const NamedAttribute& attribute) {
  if (const auto* real = std::get_if<double>(&attribute.value)) return {attribute.name + "/real", bits_of(*real)};
  const auto* reals = std::get_if<std::vector<double>>(&attribute.value);
  if (reals == nullptr) return {attribute.name, attribute.value};
  std::vector<std::int64_t> bits;
  for (const double real : *reals) bits.push_back(bits_of(real));
  return {attribute.name + "/reals", std::move(bits)};
}

/// What two ops must have in common to give the same.
using Key = std::tuple<Dialect, std::string, int, std::vector<ValueId>, Attributes, DType, Dims, Dims>;

Key key_of(const Graph& graph, const Op& op) {
  Attributes attributes;
  for (const NamedAttribute& attribute : op.attributes)
    if (!names_source(attribute)) attributes.push_back(comparable(attribute));
  const Value& out = graph.values[op.outputs[0]];
  return {op.dialect, op.kind, op.opset, op.inputs, std::move(attributes), out.dtype, out.shape, out.strides};
}

void merge_equal(Graph& graph, const std::vector<bool>& leaves) {
  std::map<Key, ValueId> known;
  std::map<ValueId, ValueId> now;
  for (Op& op : graph.ops) {
    for (ValueId& v : op.inputs)
      if (const auto at = now.find(v); at != now.end()) v = at->second;
    if (op.outputs.size() != 1 || leaves[op.outputs[0]]) continue;
    const auto [at, is_new] = known.try_emplace(key_of(graph, op), op.outputs[0]);
    if (!is_new) now[op.outputs[0]] = at->second;
  }
}

void drop_unused_ops(Graph& graph, std::vector<bool> needed) {
  std::vector<Op> kept;
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    Op& op = graph.ops[i];
    bool is_needed = op.outputs.empty();
    for (const ValueId v : op.outputs) is_needed = is_needed || needed[v];
    if (!is_needed) continue;
    for (const ValueId v : op.inputs)
      if (v != kNone) needed[v] = true;
    kept.push_back(std::move(op));
  }
  graph.ops.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

void drop_unused_values(Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  const auto use = [&used](const std::vector<ValueId>& ids) {
    for (const ValueId v : ids)
      if (v != kNone) used[v] = true;
  };
  use(graph.inputs);
  use(graph.outputs);
  for (const Op& op : graph.ops) {
    use(op.inputs);
    use(op.outputs);
  }
  std::vector<ValueId> now(graph.values.size(), kNone);
  std::vector<Value> kept;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (!used[v]) continue;
    now[v] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(kept);
  const auto renumber = [&now](std::vector<ValueId>& ids) {
    for (ValueId& v : ids)
      if (v != kNone) v = now[v];
  };
  renumber(graph.inputs);
  renumber(graph.outputs);
  for (Op& op : graph.ops) {
    renumber(op.inputs);
    renumber(op.outputs);
  }
}

}  // namespace

Status eliminate(Graph& graph) {
  std::vector<bool> leaves(graph.values.size(), false);
  for (const ValueId v : graph.outputs) leaves[v] = true;
  merge_equal(graph, leaves);
  drop_unused_ops(graph, leaves);
  drop_unused_values(graph);
  for (Value& value : graph.values) value.producer = kNone;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const ValueId v : graph.ops[i].outputs) graph.values[v].producer = static_cast<OpId>(i);
  return {};
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// fold_axes(): a constant axes tensor becomes the attribute `axes`, so that everything after sees one form; only axes
// that are known at run time alone stay tensors. Constants that nobody uses any more go.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/pass/core_form.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

Status fold(const Graph& graph, Op& op) {
  const Result<AxesFacts> facts = axes_facts(graph, op);
  if (!facts.ok()) return facts.status();
  Result<std::vector<std::int64_t>> axes = *facts.value().axes;
  const Value& source = graph.values[op.inputs[0]];
  // "All axes" are not a list before the rank is known.
  if (axes.value().empty() && facts.value().empty != EmptyAxes::identity && !source.ranked) return {};
  if (source.ranked) {
    axes = normalize_axes(axes.value(), static_cast<int>(source.shape.size()), describe(op));
    if (!axes.ok()) return axes.status();
  }
  set_axes(op, std::move(axes).value(), facts.value().empty, source.shape.size());
  return {};
}

void renumber(std::vector<ValueId>& ids, const std::vector<ValueId>& now) {
  for (ValueId& id : ids)
    if (id != kNone) id = now[id];
}

void drop_unused_constants(Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  for (const Op& op : graph.ops)
    for (const ValueId v : op.inputs)
      if (v != kNone) used[v] = true;
  for (const ValueId v : graph.outputs) used[v] = true;

  std::vector<ValueId> now(graph.values.size(), kNone);
  std::vector<Value> kept;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].is_constant && !used[v]) continue;
    now[v] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(kept);
  for (Op& op : graph.ops) {
    renumber(op.inputs, now);
    renumber(op.outputs, now);
  }
  renumber(graph.inputs, now);
  renumber(graph.outputs, now);
}

}  // namespace

Status fold_axes(Graph& graph) {
  for (Op& op : graph.ops) {
    if (op.dialect != Dialect::core || op.kind != "reduce" || op.inputs.size() < 2 || op.inputs[1] == kNone) continue;
    if (!graph.values[op.inputs[1]].is_constant) continue;
    if (Status s = fold(graph, op); !s.ok()) return s;
  }
  drop_unused_constants(graph);
  return {};
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// fold_constants(): an op whose inputs are all constants becomes the constant that the reference evaluator makes of
// them. With what it shares with fold_shapes().
#include <algorithm>
#include <utility>
#include <vector>

#include "graph/eval/eval.hpp"
#include "graph/pass/fold.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

/// Results beyond this stay ops: constants live as long as the partition.
constexpr std::int64_t kMostBytes = 64 << 10;

}  // namespace

std::vector<bool> leaving(const Graph& graph) {
  std::vector<bool> leaves(graph.values.size(), false);
  for (const ValueId v : graph.outputs) leaves[v] = true;
  return leaves;
}

bool can_fold(const Graph& graph, const Op& op, const std::vector<bool>& leaves, std::int64_t most_bytes) {
  if (op.inputs.empty() || !can_evaluate(op)) return false;
  const bool constant = std::all_of(op.inputs.begin(), op.inputs.end(), [&graph](ValueId v) {
    return v == kNone || (graph.values[v].is_constant && is_static(graph.values[v]));
  });
  return constant && std::all_of(op.outputs.begin(), op.outputs.end(), [&](ValueId v) {
           const Value& value = graph.values[v];
           const Result<std::int64_t> bytes = is_static(value) ? span_bytes(desc_of(value)) : Result<std::int64_t>(0);
           return !leaves[v] && is_static(value) && value.strides.empty() && bytes.ok() && bytes.value() <= most_bytes;
         });
}

bool fold(Graph& graph, const Op& op) {
  std::vector<ConstTensor> inputs;
  std::vector<MutableTensor> outputs;
  std::vector<std::vector<std::byte>> results(op.outputs.size());
  for (const ValueId v : op.inputs)
    inputs.push_back(v == kNone ? ConstTensor() : ConstTensor{desc_of(graph.values[v]), graph.values[v].data.data()});
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const TensorDesc desc = desc_of(graph.values[op.outputs[i]]);
    results[i].resize(static_cast<std::size_t>(span_bytes(desc).value()));
    outputs.push_back({desc, results[i].data()});
  }
  // What cannot be evaluated is told by who runs the op.
  if (!evaluate_op(op, inputs, outputs).ok()) return false;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    graph.values[op.outputs[i]].is_constant = true;
    graph.values[op.outputs[i]].data = std::move(results[i]);
  }
  return true;
}

void drop_ops(Graph& graph, const std::vector<bool>& gone) {
  std::vector<Op> kept;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (!gone[i]) kept.push_back(std::move(graph.ops[i]));
    if (gone[i])
      for (const ValueId v : graph.ops[i].outputs) graph.values[v].producer = kNone;
  }
  graph.ops = std::move(kept);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const ValueId v : graph.ops[i].outputs) graph.values[v].producer = static_cast<OpId>(i);
}

Status fold_constants(Graph& graph) {
  const std::vector<bool> leaves = leaving(graph);
  std::vector<bool> gone;
  for (const Op& op : graph.ops)
    gone.push_back(op.dialect == Dialect::core && can_fold(graph, op, leaves, kMostBytes) && fold(graph, op));
  drop_ops(graph, gone);
  return {};
}

}  // namespace tenfold::graph

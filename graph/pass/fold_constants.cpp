// SPDX-License-Identifier: Apache-2.0
//
// fold_constants(): an op whose inputs are all constants becomes the constant that the reference evaluator makes of
// them.
#include <algorithm>
#include <vector>

#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

/// Results beyond this stay ops: constants live as long as the partition.
constexpr std::int64_t kMostBytes = 64 << 10;

bool can_fold(const Graph& graph, const Op& op, const std::vector<bool>& leaves) {
  if (op.dialect != Dialect::core || op.inputs.empty() || !can_evaluate(op)) return false;
  const bool constant = std::all_of(op.inputs.begin(), op.inputs.end(), [&graph](ValueId v) {
    return v != kNone && graph.values[v].is_constant && is_static(graph.values[v]);
  });
  return constant && std::all_of(op.outputs.begin(), op.outputs.end(), [&](ValueId v) {
           const Value& value = graph.values[v];
           const Result<std::int64_t> bytes = is_static(value) ? span_bytes(desc_of(value)) : Result<std::int64_t>(0);
           return !leaves[v] && is_static(value) && value.strides.empty() && bytes.ok() && bytes.value() <= kMostBytes;
         });
}

Status fold(Graph& graph, const Op& op) {
  std::vector<ConstTensor> inputs;
  std::vector<MutableTensor> outputs;
  for (const ValueId v : op.inputs) inputs.push_back({desc_of(graph.values[v]), graph.values[v].data.data()});
  for (const ValueId v : op.outputs) {
    Value& value = graph.values[v];
    value.data.resize(static_cast<std::size_t>(span_bytes(desc_of(value)).value()));
    outputs.push_back({desc_of(value), value.data.data()});
  }
  Status status = evaluate_op(op, inputs, outputs);
  for (const ValueId v : op.outputs) {
    graph.values[v].is_constant = status.ok();
    if (!status.ok()) graph.values[v].data.clear();
  }
  return status;
}

}  // namespace

Status fold_constants(Graph& graph) {
  std::vector<bool> leaves(graph.values.size(), false);
  for (const ValueId v : graph.outputs) leaves[v] = true;
  std::vector<Op> kept;
  for (Op& op : graph.ops) {
    // What cannot be evaluated is told by who runs the op.
    if (can_fold(graph, op, leaves) && fold(graph, op).ok()) {
      for (const ValueId v : op.outputs) graph.values[v].producer = kNone;
    } else {
      kept.push_back(std::move(op));
    }
  }
  graph.ops = std::move(kept);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const ValueId v : graph.ops[i].outputs) graph.values[v].producer = static_cast<OpId>(i);
  return {};
}

}  // namespace tenfold::graph

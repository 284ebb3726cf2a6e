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
/// And of all results together that are there at the same time: as much as the readers take of constants.
constexpr std::int64_t kMostBytesInAll = std::int64_t{64} << 20;

std::int64_t bytes_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::int64_t bytes = 0;
  for (const ValueId v : values) bytes += static_cast<std::int64_t>(graph.values[v].data.size());
  return bytes;
}

/// Folds op after op; a result of an op that is folded goes with the last of its readers.
class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), leaves_(leaving(graph)), readers_(graph.values.size(), 0) {
    for (const Op& op : graph.ops)
      for (const ValueId v : op.inputs)
        if (v != kNone) ++readers_[v];
  }

  bool take(const Op& op) {
    const auto outputs = static_cast<std::int64_t>(std::max<std::size_t>(1, op.outputs.size()));
    const std::int64_t most = std::min(kMostBytes, (kMostBytesInAll - held_) / outputs);
    if (op.dialect != Dialect::core || !can_fold(graph_, op, leaves_, most) || !fold(graph_, op)) return false;
    held_ += bytes_of(graph_, op.outputs);
    for (const ValueId v : op.inputs)
      if (v != kNone && --readers_[v] == 0 && graph_.values[v].producer != kNone) drop(graph_.values[v]);
    return true;
  }

 private:
  /// Nobody reads it any more; eliminate() takes it away.
  void drop(Value& value) {
    held_ -= static_cast<std::int64_t>(value.data.size());
    value.data.clear();
    value.is_constant = false;
  }

  Graph& graph_;
  std::vector<bool> leaves_;
  std::vector<std::size_t> readers_;  ///< that are not folded, by value
  std::int64_t held_ = 0;             ///< bytes of results
};

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
  Folder folder(graph);
  std::vector<bool> gone;
  for (const Op& op : graph.ops) gone.push_back(folder.take(op));
  drop_ops(graph, gone);
  return {};
}

}  // namespace tenfold::graph

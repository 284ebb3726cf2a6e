// SPDX-License-Identifier: Apache-2.0
//
// fold_shapes(): models compute the shapes of their reshapes from the shapes of their inputs. What comes of that
// arithmetic is known once the inputs' dims are; then the shapes that it decides are inferred.
#include <algorithm>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/pass/core_form.hpp"
#include "graph/pass/fold.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

/// No list of dims, axes or bounds is longer than this.
constexpr std::int64_t kMostBytes = 4 * kMaxRank * static_cast<std::int64_t>(sizeof(std::int64_t));

/// Whether all of them are no longer than lists; others are not for a pass over shapes.
bool are_short(const Graph& graph, const std::vector<ValueId>& values) {
  return std::all_of(values.begin(), values.end(), [&](ValueId v) {
    return v == kNone || static_cast<std::int64_t>(graph.values[v].data.size()) <= kMostBytes;
  });
}

/// Lists of integers, and what such arithmetic goes through: comparisons, and floats to divide and round by.
bool gives_numbers_of_shapes(const Graph& graph, const Op& op) {
  return !op.outputs.empty() && std::all_of(op.outputs.begin(), op.outputs.end(), [&](ValueId v) {
    switch (graph.values[v].dtype) {
      case DType::s64:
      case DType::s32: return true;
      case DType::boolean:
      case DType::f32:
      case DType::f64: return are_short(graph, op.inputs);
      default: return false;
    }
  });
}

}  // namespace

Status fold_shapes(Graph& graph) {
  // What leaves the graph besides leaves it as a constant.
  const std::vector<bool> leaves(graph.values.size(), false);
  std::vector<bool> gone;
  bool folded = false;
  for (const Op& op : graph.ops) {
    // Ops stand in topological order: all that is to be known of the inputs is known.
    if (folded)
      if (Status s = infer_op(graph, op); !s.ok()) return s;
    gone.push_back(op.dialect == Dialect::onnx && gives_numbers_of_shapes(graph, op) &&
                   (become_shape(graph, op, graph.values[op.outputs[0]]) ||
                    (can_fold(graph, op, leaves, kMostBytes) && fold(graph, op))));
    folded = folded || gone.back();
  }
  if (folded) drop_ops(graph, gone);
  return {};
}

}  // namespace tenfold::graph

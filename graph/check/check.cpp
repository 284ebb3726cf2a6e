// SPDX-License-Identifier: Apache-2.0
//
// verify() and infer(): the order in which the rules are asked, and what is written back.
#include "graph/check/check.hpp"

#include <string>
#include <utility>
#include <vector>

#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"

namespace tenfold::graph {
namespace {

void apply_order(Graph& graph, const std::vector<OpId>& order) {
  std::vector<Op> sorted;
  sorted.reserve(order.size());
  for (const OpId op : order) sorted.push_back(std::move(graph.ops[op]));
  graph.ops = std::move(sorted);
  for (Value& value : graph.values) value.producer = kNone;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const ValueId v : graph.ops[i].outputs) graph.values[v].producer = static_cast<OpId>(i);
}

Status check_shapes(const Graph& graph, const Op& op) {
  const Result<std::vector<Inferred>> inferred = infer_outputs(graph, op);
  if (!inferred.ok()) return inferred.status();
  for (std::size_t i = 0; i < inferred.value().size() && i < op.outputs.size(); ++i)
    if (Status s = check_agreement(op, graph.values[op.outputs[i]], inferred.value()[i]); !s.ok()) return s;
  return {};
}

Status complete(const Op& op, Value& value, const Inferred& inferred) {
  if (Status s = check_agreement(op, value, inferred); !s.ok()) return s;
  if (value.dtype == DType::undef) value.dtype = inferred.dtype;
  if (value.dtype == DType::undef)
    return refuse(Code::invalid_dtype, op,
                  "the dtype of output " + describe(value) + " does not follow from the inputs; give it", "op.O10");
  const bool keeps_strides = inferred.ranked && value.ranked && value.shape == inferred.shape && is_static(value) &&
                             value.strides.size() == value.shape.size() && value.layout == Layout::strided;
  if (!keeps_strides) value.strides.clear();
  value.ranked = inferred.ranked;
  value.shape = inferred.shape;
  if (is_static(value)) value.layout = Layout::strided;
  return check_tensor(value, true);
}

}  // namespace

Status verify(Graph& graph) {
  std::vector<OpId> order;
  if (Status s = check_structure(graph, order); !s.ok()) return s;
  std::vector<bool> produced(graph.values.size(), false);
  for (const Op& op : graph.ops)
    for (const ValueId v : op.outputs) produced[v] = true;
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (Status s = check_tensor(graph.values[v], produced[v]); !s.ok()) return s;
  // An op that is not known may give a sense to what its inputs say, as a grouped convolution does to scales.
  for (const OpId index : order)
    if (Status s = check_known(graph.ops[index]); !s.ok()) return s;
  for (const OpId index : order) {
    const Op& op = graph.ops[index];
    if (Status s = check_op(graph, op); !s.ok()) return s;
    if (Status s = check_shapes(graph, op); !s.ok()) return s;
  }
  apply_order(graph, order);
  return {};
}

Status sort_ops(Graph& graph) {
  std::vector<OpId> order;
  if (Status s = check_structure(graph, order); !s.ok()) return s;
  apply_order(graph, order);
  return {};
}

Status infer_op(Graph& graph, const Op& op) {
  const Result<std::vector<Inferred>> inferred = infer_outputs(graph, op);
  if (!inferred.ok()) return inferred.status();
  for (std::size_t i = 0; i < inferred.value().size() && i < op.outputs.size(); ++i)
    if (Status s = complete(op, graph.values[op.outputs[i]], inferred.value()[i]); !s.ok()) return s;
  return {};
}

Status infer(Graph& graph) {
  for (const Op& op : graph.ops)
    if (Status s = infer_op(graph, op); !s.ok()) return s;
  return {};
}

void forget_shapes(Graph& graph) {
  for (const Op& op : graph.ops)
    for (const ValueId v : op.outputs) {
      if (v == kNone) continue;
      Value& value = graph.values[v];
      value.ranked = false;
      value.shape.clear();
      value.strides.clear();
    }
}

}  // namespace tenfold::graph

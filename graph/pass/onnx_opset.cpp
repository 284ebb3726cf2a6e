// SPDX-License-Identifier: Apache-2.0
//
// The opset of a graph that becomes a model, which has one for all of its ops: the oldest in which every op means what
// it does, and not below kFloor where an op was oneDNN's.
#include <algorithm>
#include <string>
#include <vector>

#include "graph/ir/attribute.hpp"
#include "graph/pass/core_form.hpp"

namespace tenfold::graph {
namespace {

/// The first opset in which every reduction takes its axes as a tensor.
constexpr int kFloor = 18;

const schemas::OpVersion* version_at(const Op& op, int opset) {
  const schemas::OpDesc* desc = schemas::find_op(Dialect::onnx, op.kind);
  return desc == nullptr ? nullptr : schemas::version_for(*desc, opset);
}

/// Whether `op` means in `opset` what it means now; one that was oneDNN's need only take its dtypes.
bool fits(const Graph& graph, const Op& op, bool turned, int opset) {
  const schemas::OpVersion* version = version_at(op, opset);
  if (!turned) return version == version_of(op);
  if (version == nullptr) return false;
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    const schemas::PortDesc& port = version->inputs[std::min(k, version->inputs.size() - 1)];
    const DType dtype = graph.values[op.inputs[k]].dtype;
    if (dtype != DType::undef && (version->constraints[port.constraint].allowed & schemas::bit(dtype)) == 0)
      return false;
  }
  return true;
}

/// Names an op that fits none of the opsets, or else one that does not fit the first.
Status refuse(const Graph& graph, const std::vector<bool>& turned, int least, int newest) {
  std::size_t culprit = 0;
  bool found = false;
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    bool never = true;
    for (int opset = least; never && opset <= newest; ++opset) never = !fits(graph, graph.ops[i], turned[i], opset);
    if (never || (!found && !fits(graph, graph.ops[i], turned[i], least))) culprit = i;
    found = found || never;
  }
  const Op& op = graph.ops[culprit];
  if (turned[culprit]) return no_onnx_form(op, "no version of " + op.kind + " takes its dtypes");
  return no_onnx_form(op, "it is of opset " + std::to_string(op.opset) +
                              ", and a model has one opset for all ops, here " + std::to_string(least) + " or more");
}

}  // namespace

Status no_onnx_form(const Op& op, const std::string& why) {
  return Status(Code::unsupported_op, describe(op) + ": it has no form in ONNX: " + why);
}

Status choose_onnx_opset(Graph& graph, const std::vector<bool>& turned) {
  int least = 1;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    least = std::max(least, turned[i] || graph.ops[i].opset == 0 ? kFloor : graph.ops[i].opset);
  const int newest = std::max(least, schemas::newest_opset());
  for (int opset = least; opset <= newest; ++opset) {
    bool all = true;
    for (std::size_t i = 0; all && i < graph.ops.size(); ++i) all = fits(graph, graph.ops[i], turned[i], opset);
    if (!all) continue;
    for (Op& op : graph.ops) op.opset = opset;
    return {};
  }
  return refuse(graph, turned, least, newest);
}

}  // namespace tenfold::graph

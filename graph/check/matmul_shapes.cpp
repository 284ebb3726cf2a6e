// SPDX-License-Identifier: Apache-2.0
//
// What MatMul makes of its inputs' dtypes and shapes: matrices in the last two dims, all others broadcast as NumPy's;
// an operand of rank 1 is a row (of src) or a column (of weights), and leaves no dim in the result.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"
#include "graph/ir/twin.hpp"

namespace tenfold::graph {
namespace {

using Shape = std::optional<Dims>;

/// The attribute does nothing to rank 1.
bool is_transposed(const Graph& graph, const Op& op, std::size_t index) {
  return attribute_or<bool>(op, index == 0 ? "transpose_a" : "transpose_b", false) &&
         graph.values[op.inputs[index]].shape.size() > 1;
}

/// The shape of operand `index` once it is transposed.
Dims operand_shape(const Graph& graph, const Op& op, std::size_t index) {
  Dims shape = graph.values[op.inputs[index]].shape;
  if (is_transposed(graph, op, index)) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

/// By its place, as dialects have other names for it.
std::string show_operand(const Graph& graph, const Op& op, std::size_t index) {
  return "input " + std::to_string(index) + ", " + show_shape(graph.values[op.inputs[index]]) +
         (is_transposed(graph, op, index) ? " transposed," : ",");
}

/// matmul.A4: the bias broadcasts to the result.
Status check_bias(const Graph& graph, const Op& op, const Dims& result) {
  if (op.inputs.size() < 3 || op.inputs[2] == kNone) return {};
  const Value& bias = graph.values[op.inputs[2]];
  if (!bias.ranked || fits_one_way(bias.shape, result)) return {};
  return refuse(Code::invalid_shape, op,
                "bias " + show_shape(bias) + " does not broadcast to the result " + show_dims(result), "matmul.A4");
}

/// matmul.A6 and A7: what Gemm has beyond its twin.
Status check_gemm(const Graph& graph, const Op& op) {
  for (const std::size_t i : {0, 1}) {
    const Value& operand = graph.values[op.inputs[i]];
    if (operand.ranked && operand.shape.size() != 2)
      return refuse(Code::invalid_shape, op,
                    std::string(i == 0 ? "A" : "B") + " is " + show_shape(operand) + ", must be one matrix",
                    "matmul.A6");
  }
  const schemas::OpVersion* version = version_of(op);
  const bool broadcasts =
      version == nullptr || version->since_version >= 7 || attribute_or<std::int64_t>(op, "broadcast", 0) != 0;
  if (broadcasts || op.inputs.size() < 3 || op.inputs[2] == kNone) return {};
  const Value& c = graph.values[op.inputs[2]];
  if (!c.ranked || c.shape.size() == 2) return {};
  return refuse(Code::invalid_shape, op,
                "C is " + show_shape(c) + ", must be a matrix; before opset 7 only broadcast = 1 repeats it",
                "matmul.A7");
}

}  // namespace

Result<std::vector<Shape>> infer_matmul_shapes(const Graph& graph, const Op& op) {
  if (const std::optional<Twin> twin = onednn_twin(op, {})) {
    if (op.kind == "Gemm")
      if (Status s = check_gemm(graph, op); !s.ok()) return s;
    return infer_matmul_shapes(graph, twin->op);
  }
  for (const std::size_t i : {0, 1}) {
    const Value& operand = graph.values[op.inputs[i]];
    if (!operand.ranked) return std::vector<Shape>{std::nullopt};
    if (operand.shape.empty())
      return refuse(Code::invalid_shape, op, "input " + std::to_string(i) + " has rank 0, must have dims", "matmul.A1");
  }
  Dims a = operand_shape(graph, op, 0), b = operand_shape(graph, op, 1);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (!may_agree(a.back(), b[b.size() - 2]))
    return refuse(Code::invalid_shape, op,
                  show_operand(graph, op, 0) + " has rows of " + std::to_string(a.back()) + " elements, " +
                      show_operand(graph, op, 1) + " columns of " + std::to_string(b[b.size() - 2]),
                  "matmul.A2");
  Shape result = broadcast_shapes(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!result)
    return refuse(Code::invalid_shape, op,
                  "the dims before the matrices of inputs 0 and 1, " + show_shape(graph.values[op.inputs[0]]) +
                      " and " + show_shape(graph.values[op.inputs[1]]) + ", do not broadcast; they must be equal or 1",
                  "matmul.A3");
  if (!row) result->push_back(a[a.size() - 2]);
  if (!column) result->push_back(b.back());
  if (Status s = check_bias(graph, op, *result); !s.ok()) return s;
  return std::vector<Shape>{std::move(result)};
}

Status check_matmul(const Graph& graph, const Op& op) {
  const DType from = graph.values[op.inputs[0]].dtype;
  const DType to = graph.values[op.outputs[0]].dtype;
  if (from == DType::undef || to == DType::undef || to == from || to == DType::f32) return {};
  return refuse(Code::invalid_dtype, op,
                "dst is " + std::string(to_string(to)) + " of src in " + std::string(to_string(from)) +
                    "; it must be that, or f32",
                "matmul.A5");
}

}  // namespace tenfold::graph

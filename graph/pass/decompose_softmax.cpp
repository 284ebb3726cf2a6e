// SPDX-License-Identifier: Apache-2.0
//
// Softmax, its logarithm and their backward ops in core ops.
//
//   m = reduce max x, e = exp(x - m), s = reduce sum e, softmax = e / s, log-softmax = (x - m) - log(s)
//
// A row with a +inf, or of -inf alone, becomes NaN by itself. Under oneDNN's `inf_as_zero` rows of -inf become 0
// without a question asked: m is raised to the least finite number, so that every e is 0, and s, which is 1 or more in
// any other row, to 1.
#include <limits>
#include <string>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

double lowest(DType dtype) {
  return dtype == DType::f64 ? std::numeric_limits<double>::lowest()
                             : static_cast<double>(std::numeric_limits<float>::lowest());
}

}  // namespace

bool decompose_softmax(Composer& make, const Op& op) {
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, make.shape(op.inputs[0]).size());
  if (!axes.ok()) return false;
  const bool zeroes = attribute_or<std::string>(op, "mode", "none") == "inf_as_zero";
  const ValueId x = make.widen(op.inputs[0]);
  ValueId top = make.reduce("max", x, axes.value());
  if (zeroes) top = make.map("max", top, lowest(make.dtype(x)));
  const ValueId shifted = make.map("sub", {x, top});
  const ValueId power = make.map("exp", {shifted});
  const ValueId sum = make.reduce("sum", power, axes.value());
  const bool has_stats = op.outputs.size() > 1;
  const ValueId logarithm = op.kind == "LogSoftmax" || has_stats ? make.map("log", {sum}) : sum;
  if (op.kind == "LogSoftmax")
    make.give(0, make.map("sub", {shifted, logarithm}));
  else
    make.give(0, make.map("div", {power, zeroes ? make.map("max", sum, 1.0) : sum}));
  if (has_stats) make.give(1, make.map("add", {top, logarithm}));
  return true;
}

bool decompose_softmax_backward(Composer& make, const Op& op) {
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, make.shape(op.inputs[0]).size());
  if (!axes.ok()) return false;
  const ValueId gradient = make.widen(op.inputs[0]);
  const ValueId result = make.widen(op.inputs[1]);
  if (op.kind == "LogSoftmaxBackward") {
    const ValueId sum = make.reduce("sum", gradient, axes.value());
    const ValueId share = make.map("mul", {make.map("exp", {result}), sum});
    make.give(0, make.map("sub", {gradient, share}));
    return true;
  }
  const ValueId sum = make.reduce("sum", make.map("mul", {gradient, result}), axes.value());
  make.give(0, make.map("mul", {result, make.map("sub", {gradient, sum})}));
  return true;
}

}  // namespace tenfold::graph

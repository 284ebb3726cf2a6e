// SPDX-License-Identifier: Apache-2.0
//
// Softmax and its kin, row by row. A row is one axis; of ONNX's ops before version 13, all dims from the axis on.
// Nothing here guards a greatest element that is infinite: rows of all -inf, or with a +inf, are NaN, but for oneDNN's
// mode `inf_as_zero`, where the former are 0.
#include "graph/eval/softmax.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "graph/eval/row_pass.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

constexpr int kSingleAxis = 13;

struct Axes {
  std::vector<bool> reduced;
  Dims stats;  ///< the shape with ones for the reduced dims
};

Result<Axes> axes_of(const Op& op, Inputs inputs) {
  const Dims& shape = inputs[0].desc.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t given = integer_attribute(op, "axis");
  if (given < -rank || given >= rank)
    return fail(op, Code::invalid_op,
                "axis " + std::to_string(given) + " is out of range for rank " + std::to_string(rank) + " (reduce.C3)");
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  const schemas::OpVersion* version = onnx_version(op);
  const bool flattens = version != nullptr && version->since_version < kSingleAxis;
  Axes axes{std::vector<bool>(shape.size(), false), shape};
  for (std::size_t i = axis; i < (flattens ? shape.size() : axis + 1); ++i) {
    axes.reduced[i] = true;
    axes.stats[i] = 1;
  }
  return axes;
}

struct Softmax {
  const Op& op;
  Axes axes;

  template <class T>
  void run(const Operands& operands) const {
    const TensorDesc& source = operands.inputs[0].desc;
    const std::vector<std::size_t> dims = all_dims(source.shape.size());
    RowPass<T> pass(operands, source.shape, axes.reduced);
    const std::size_t x = pass.input(0, source, dims);
    const std::size_t y = pass.output(0, operands.outputs[0].desc, dims);
    const bool has_stats = operands.outputs.size() > 1;
    const std::size_t stats = pass.output(1, has_stats ? operands.outputs[1].desc : TensorDesc{},
                                          has_stats ? dims : std::vector<std::size_t>{});
    const bool logarithmic = op.kind == "LogSoftmax";
    const bool zeroes = attribute_or<std::string>(op, "mode", "none") == "inf_as_zero";
    pass.rows([&](const auto& row) {
      const std::vector<T> numbers = pass.row(x, row);
      const T top = greatest(numbers);
      const bool empty = zeroes && std::isinf(value_of(top)) && value_of(top) < 0;
      std::vector<T> powers;
      powers.reserve(numbers.size());
      for (const T& number : numbers) powers.push_back(empty ? T(0) : exponential(number - top));
      const T sum = total(powers);
      std::size_t i = 0;
      pass.elements(row, [&](const auto& at) {
        const T result = empty ? T(0) : logarithmic ? (numbers[i] - top) - logarithm(sum) : powers[i] / sum;
        pass.put(y, at, result);
        ++i;
      });
      if (pass.has(stats)) pass.put(stats, row, top + logarithm(sum));
    });
  }
};

/// diff_src by diff_dst and dst.
struct SoftmaxBackward {
  const Op& op;
  Axes axes;

  template <class T>
  void run(const Operands& operands) const {
    const TensorDesc& source = operands.inputs[0].desc;
    const std::vector<std::size_t> dims = all_dims(source.shape.size());
    RowPass<T> pass(operands, source.shape, axes.reduced);
    const std::size_t gradient = pass.input(0, source, dims);
    const std::size_t result = pass.input(1, operands.inputs[1].desc, dims);
    const std::size_t target = pass.output(0, operands.outputs[0].desc, dims);
    const bool logarithmic = op.kind == "LogSoftmaxBackward";
    pass.rows([&](const auto& row) {
      const std::vector<T> g = pass.row(gradient, row);
      const std::vector<T> y = pass.row(result, row);
      std::vector<T> terms = g;
      for (std::size_t i = 0; i < terms.size() && !logarithmic; ++i) terms[i] = g[i] * y[i];
      const T sum = total(terms);
      std::size_t i = 0;
      pass.elements(row, [&](const auto& at) {
        pass.put(target, at, logarithmic ? g[i] - exponential(y[i]) * sum : y[i] * (g[i] - sum));
        ++i;
      });
    });
  }
};

/// The first greatest element; a NaN is above all.
struct Hardmax {
  Axes axes;

  void run(const Operands& operands) const {
    const TensorDesc& source = operands.inputs[0].desc;
    const std::vector<std::size_t> dims = all_dims(source.shape.size());
    RowPass<Real> pass(operands, source.shape, axes.reduced);
    const std::size_t x = pass.input(0, source, dims);
    const std::size_t y = pass.output(0, operands.outputs[0].desc, dims);
    pass.rows([&](const auto& row) {
      const std::vector<Real> numbers = pass.row(x, row);
      std::size_t first = 0;
      for (std::size_t i = 1; i < numbers.size(); ++i)
        if (!std::isnan(numbers[first]) && (std::isnan(numbers[i]) || numbers[i] > numbers[first])) first = i;
      std::size_t i = 0;
      pass.elements(row, [&](const auto& at) { pass.put(y, at, i++ == first ? 1 : 0); });
    });
  }
};

}  // namespace

std::vector<std::size_t> all_dims(std::size_t n) {
  std::vector<std::size_t> dims(n);
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  return dims;
}

Result<std::vector<Dims>> softmax_shapes(const Op& op, Inputs inputs) {
  if (inputs.size() != 1) return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 1");
  Result<Axes> axes = axes_of(op, inputs);
  if (!axes.ok()) return axes.status();
  std::vector<Dims> shapes{inputs[0].desc.shape};
  if (op.kind == "SoftMax") shapes.push_back(axes.value().stats);
  return shapes;
}

Status evaluate_softmax(const Op& op, Inputs inputs, Outputs outputs) {
  Softmax{op, axes_of(op, inputs).value()}.run<Real>({inputs, outputs, {}, nullptr});
  return {};
}

Result<std::vector<Bounds>> bound_softmax(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                          Outputs outputs) {
  return bounds_of(Softmax{op, axes_of(op, inputs).value()}, inputs, input_bounds, outputs);
}

Status evaluate_hardmax(const Op& op, Inputs inputs, Outputs outputs) {
  Hardmax{axes_of(op, inputs).value()}.run({inputs, outputs, {}, nullptr});
  return {};
}

/// Exact, unless what it compares may differ.
Result<std::vector<Bounds>> bound_hardmax(const Op&, Inputs, std::span<const Bounds> input_bounds, Outputs outputs) {
  const Bounds& before = input_bounds[0];
  const bool exact = std::all_of(before.begin(), before.end(), [](double bound) { return bound == 0; });
  const Result<std::int64_t> count = numel(outputs[0].desc.shape);
  if (!count.ok()) return count.status();
  return std::vector<Bounds>{
      exact ? Bounds() : Bounds(static_cast<std::size_t>(count.value()), std::numeric_limits<double>::infinity())};
}

Result<std::vector<Dims>> softmax_backward_shapes(const Op& op, Inputs inputs) {
  if (inputs.size() != 2) return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 2");
  if (inputs[0].desc.shape != inputs[1].desc.shape)
    return fail(op, Code::invalid_shape, "diff_dst and dst differ in shape");
  Result<Axes> axes = axes_of(op, inputs);
  if (!axes.ok()) return axes.status();
  return std::vector<Dims>{inputs[0].desc.shape};
}

Status evaluate_softmax_backward(const Op& op, Inputs inputs, Outputs outputs) {
  SoftmaxBackward{op, axes_of(op, inputs).value()}.run<Real>({inputs, outputs, {}, nullptr});
  return {};
}

Result<std::vector<Bounds>> bound_softmax_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                                   Outputs outputs) {
  return bounds_of(SoftmaxBackward{op, axes_of(op, inputs).value()}, inputs, input_bounds, outputs);
}

}  // namespace tenfold::graph

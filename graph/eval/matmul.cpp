// SPDX-License-Identifier: Apache-2.0
//
// MatMul, of ONNX too, and Gemm: one product of matrices for each position of the dims before them. Whole numbers wrap.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "graph/eval/element.hpp"
#include "graph/eval/products.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"
#include "graph/eval/window.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

/// One operand as row-major matrices: the strides of both dims of a matrix, and those of the dims before.
struct Factor {
  std::int64_t rows = 0, columns = 0;
  std::int64_t row = 0, column = 0;
  Dims batch, batch_strides;
};

Factor factor_of(Dims shape, bool transposed, bool is_column) {
  Dims strides = row_major_strides(shape);
  if (shape.size() == 1) {
    const auto at = is_column ? shape.end() : shape.begin();
    const auto stride_at = is_column ? strides.end() : strides.begin();
    strides.insert(stride_at, 0);
    shape.insert(at, 1);
    transposed = false;
  }
  const std::size_t rank = shape.size();
  Factor factor{shape[rank - 2],
                shape[rank - 1],
                strides[rank - 2],
                strides[rank - 1],
                Dims(shape.begin(), shape.end() - 2),
                Dims(strides.begin(), strides.end() - 2)};
  if (transposed) {
    std::swap(factor.rows, factor.columns);
    std::swap(factor.row, factor.column);
  }
  return factor;
}

/// `strides`, of dims that broadcast to `shape`, over it.
Dims over(const Dims& shape, const Dims& dims, const Dims& strides) {
  Dims out(shape.size(), 0);
  const std::size_t skip = shape.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) out[skip + i] = dims[i] == 1 ? 0 : strides[i];
  return out;
}

bool broadcasts_to(const Dims& small, const Dims& big) {
  if (small.size() > big.size()) return false;
  const std::size_t skip = big.size() - small.size();
  for (std::size_t i = 0; i < small.size(); ++i)
    if (small[i] != 1 && small[i] != big[skip + i]) return false;
  return true;
}

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& other = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const std::size_t skip = out.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i)
    if (out[skip + i] == 1) out[skip + i] = other[i];
  return broadcasts_to(longer, out) && broadcasts_to(other, out) ? std::optional(out) : std::nullopt;
}

/// One matrix after another: where each begins in both operands and in the result.
struct Batch {
  Factor a, b;
  Dims shape, result_strides;

  /// Calls fn(first, second, result).
  template <class Fn>
  void each(Fn fn) const {
    walk(shape,
         std::array<Dims, 3>{over(shape, a.batch, a.batch_strides), over(shape, b.batch, b.batch_strides),
                             result_strides},
         [&](const auto& at) { fn(at[0], at[1], at[2]); });
  }
};

struct MatmulPlan {
  Products products;
  Batch batch;
};

Result<MatmulPlan> plan_matmul(const Op& op, Inputs inputs) {
  const auto refuse = [&](const char* text) { return fail(op, Code::invalid_shape, text); };
  if (inputs.size() < 2 || inputs.size() > 3 || is_missing(inputs[1]))
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 2 or 3");
  const Dims& first = inputs[0].desc.shape;
  const Dims& second = inputs[1].desc.shape;
  if (first.empty() || second.empty()) return refuse("an operand has rank 0");
  const Factor a = factor_of(first, flag(op, "transpose_a", false), false);
  const Factor b = factor_of(second, flag(op, "transpose_b", false), true);
  if (a.columns != b.rows) return refuse("rows of the first operand are not as long as columns of the second");
  const std::optional<Dims> shape = broadcast(a.batch, b.batch);
  if (!shape) return refuse("the dims before the matrices do not broadcast");

  MatmulPlan plan;
  Products& products = plan.products;
  products.terms = a.columns;
  products.shape = *shape;
  if (first.size() > 1) products.shape.push_back(a.rows);
  if (second.size() > 1) products.shape.push_back(b.columns);
  products.has_bias = has_input(inputs, 2);
  if (products.has_bias) {
    const Dims& bias = inputs[2].desc.shape;
    if (!broadcasts_to(bias, products.shape)) return refuse("the bias does not broadcast to the result");
    products.bias_strides = over(products.shape, bias, row_major_strides(bias));
  }
  Dims results = row_major_strides(*shape);
  for (std::int64_t& stride : results) stride *= a.rows * b.columns;
  plan.batch = {a, b, *shape, std::move(results)};
  products.add = [batch = plan.batch](const double* x, const double* y, double* z) {
    batch.each([&](std::int64_t of_x, std::int64_t of_y, std::int64_t of_z) {
      const Factor &lhs = batch.a, &rhs = batch.b;
      add_product({lhs.rows, rhs.columns, lhs.columns}, {x + of_x, lhs.row, lhs.column},
                  {y + of_y, rhs.row, rhs.column}, {z + of_z, rhs.columns, 1});
    });
  };
  return plan;
}

/// The same of ONNX's ops.
Result<MatmulPlan> plan_op(const Op& op, Inputs inputs) {
  const std::optional<Op> twin = twin_of(op, inputs);
  Result<MatmulPlan> plan = plan_matmul(twin ? *twin : op, inputs);
  if (!plan.ok() || op.kind != "Gemm") return plan;
  Products& products = plan.value().products;
  products.alpha = f32_attribute(op, "alpha");
  if (products.has_bias) products.beta = f32_attribute(op, "beta");
  const bool whole = std::trunc(products.alpha) == products.alpha && std::trunc(products.beta) == products.beta &&
                     std::fabs(products.alpha) < 0x1p62 && std::fabs(products.beta) < 0x1p62;
  if (is_integral(inputs[0].desc.dtype) && !whole)
    return fail(op, Code::unsupported_op, "alpha and beta of whole numbers must be whole");
  return plan;
}

/// Numbers modulo 2^64, which hold those of every integral dtype.
using Wrapped = std::vector<std::uint64_t>;

Wrapped load_wrapped(const ConstTensor& tensor) {
  Wrapped numbers;
  walk(tensor.desc.shape, std::array<Dims, 1>{strides_of(tensor.desc)}, [&](const auto& at) {
    numbers.push_back(static_cast<std::uint64_t>(load_integer(tensor.desc.dtype, tensor.data, at[0])));
  });
  return numbers;
}

std::uint64_t wrapped_factor(double factor) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(factor)); }

void evaluate_integers(const MatmulPlan& plan, Inputs inputs, const MutableTensor& output) {
  const Products& products = plan.products;
  const Wrapped x = load_wrapped(inputs[0]), y = load_wrapped(inputs[1]);
  const Factor &a = plan.batch.a, &b = plan.batch.b;
  Wrapped results(static_cast<std::size_t>(numel(products.shape).value()), 0);
  plan.batch.each([&](std::int64_t of_x, std::int64_t of_y, std::int64_t of_z) {
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int64_t column = 0; column < b.columns; ++column) {
        std::uint64_t sum = 0;
        for (std::int64_t k = 0; k < a.columns; ++k)
          sum += x[static_cast<std::size_t>(of_x + row * a.row + k * a.column)] *
                 y[static_cast<std::size_t>(of_y + k * b.row + column * b.column)];
        results[static_cast<std::size_t>(of_z + row * b.columns + column)] = sum * wrapped_factor(products.alpha);
      }
  });
  const Wrapped bias = products.has_bias ? load_wrapped(inputs[2]) : Wrapped(1, 0);
  const Dims bias_strides = products.has_bias ? products.bias_strides : Dims(products.shape.size(), 0);
  std::size_t at = 0;
  walk(products.shape, std::array<Dims, 2>{strides_of(output.desc), bias_strides}, [&](const auto& where) {
    const std::uint64_t sum = results[at++] + bias[static_cast<std::size_t>(where[1])] * wrapped_factor(products.beta);
    store_integer(output.desc.dtype, output.data, where[0], Integer{sum});
  });
}

}  // namespace

Result<std::vector<Dims>> matmul_shapes(const Op& op, Inputs inputs) {
  Result<MatmulPlan> plan = plan_op(op, inputs);
  if (!plan.ok()) return plan.status();
  return std::vector<Dims>{std::move(plan).value().products.shape};
}

Status evaluate_matmul(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<MatmulPlan> plan = plan_op(op, inputs);
  if (!is_integral(inputs[0].desc.dtype)) return evaluate_products(plan.value().products, inputs, outputs);
  evaluate_integers(plan.value(), inputs, outputs[0]);
  return {};
}

Result<std::vector<Bounds>> bound_matmul(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds, Outputs) {
  const Result<MatmulPlan> plan = plan_op(op, inputs);
  if (is_integral(inputs[0].desc.dtype)) return std::vector<Bounds>(1);
  return bound_products(plan.value().products, inputs, input_bounds);
}

}  // namespace tenfold::graph

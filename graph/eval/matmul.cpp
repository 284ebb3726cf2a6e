// SPDX-License-Identifier: Apache-2.0
//
// MatMul: one product of matrices for each position of the dims before them.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "graph/eval/products.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

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

Result<Products> plan_matmul(const Op& op, Inputs inputs) {
  const auto refuse = [&](const char* text) { return fail(op, Code::invalid_shape, text); };
  if (inputs.size() < 2 || inputs.size() > 3 || is_missing(inputs[1]))
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 2 or 3");
  const Dims& first = inputs[0].desc.shape;
  const Dims& second = inputs[1].desc.shape;
  if (first.empty() || second.empty()) return refuse("an operand has rank 0");
  const Factor a = factor_of(first, flag(op, "transpose_a", false), false);
  const Factor b = factor_of(second, flag(op, "transpose_b", false), true);
  if (a.columns != b.rows) return refuse("rows of the first operand are not as long as columns of the second");
  const std::optional<Dims> batch = broadcast(a.batch, b.batch);
  if (!batch) return refuse("the dims before the matrices do not broadcast");

  Products products;
  products.terms = a.columns;
  products.shape = *batch;
  if (first.size() > 1) products.shape.push_back(a.rows);
  if (second.size() > 1) products.shape.push_back(b.columns);
  products.has_bias = has_input(inputs, 2);
  if (products.has_bias) {
    const Dims& bias = inputs[2].desc.shape;
    if (!broadcasts_to(bias, products.shape)) return refuse("the bias does not broadcast to the result");
    products.bias_strides = over(products.shape, bias, row_major_strides(bias));
  }
  Dims results = row_major_strides(*batch);
  for (std::int64_t& stride : results) stride *= a.rows * b.columns;
  products.add = [a, b, batch = *batch, results](const double* x, const double* y, double* z) {
    walk(batch,
         std::array<Dims, 3>{over(batch, a.batch, a.batch_strides), over(batch, b.batch, b.batch_strides), results},
         [&](const auto& at) {
           add_product({a.rows, b.columns, a.columns}, {x + at[0], a.row, a.column}, {y + at[1], b.row, b.column},
                       {z + at[2], b.columns, 1});
         });
  };
  return products;
}

}  // namespace

Result<std::vector<Dims>> matmul_shapes(const Op& op, Inputs inputs) {
  Result<Products> plan = plan_matmul(op, inputs);
  if (!plan.ok()) return plan.status();
  return std::vector<Dims>{std::move(plan).value().shape};
}

Status evaluate_matmul(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<Products> plan = plan_matmul(op, inputs);
  return evaluate_products(plan.value(), inputs, outputs);
}

Result<std::vector<Bounds>> bound_matmul(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds, Outputs) {
  const Result<Products> plan = plan_matmul(op, inputs);
  return bound_products(plan.value(), inputs, input_bounds);
}

}  // namespace tenfold::graph

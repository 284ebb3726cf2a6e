// SPDX-License-Identifier: Apache-2.0
//
// Ops whose results are sums of products of two operands' elements, plus a bias perhaps: MatMul, convolutions and
// their backward ops. Each says how its sums run; loading, storing, rounding and the error bound are here. Products of
// elements of 32 bits and fewer are exact in f64, in which they are summed one after another, in an order that the
// shapes alone decide.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

using Numbers = std::vector<double>;

/// A tensor's elements in row-major order.
Numbers load_numbers(const ConstTensor& tensor);
/// Rounds each once.
void store_numbers(const Numbers& numbers, const MutableTensor& tensor);

/// Where the rows or the columns of a matrix begin: at multiples of a step, or at offsets of any kind.
struct Axis {
  std::int64_t step = 0;
  const std::int64_t* offsets = nullptr;
  Axis(std::int64_t stride) : step(stride) {}  // NOLINT(google-explicit-constructor): a stride is an axis
  explicit Axis(const std::vector<std::int64_t>& list) : offsets(list.data()) {}
  std::int64_t operator[](std::int64_t i) const { return offsets == nullptr ? i * step : offsets[i]; }
};

/// A matrix among numbers: its element (i, j) is at[rows[i] + columns[j]].
template <class Number>
struct Matrix {
  Number* at;
  Axis rows, columns;
};

struct MatrixExtents {
  std::int64_t rows = 0;     ///< of the first factor and the result
  std::int64_t columns = 0;  ///< of the second factor and the result
  std::int64_t depth = 0;    ///< columns of the first, rows of the second
};

/// result += a * b. Each element of `result` takes up its products one by one, in the order of the depth.
void add_product(const MatrixExtents& extents, const Matrix<const double>& a, const Matrix<const double>& b,
                 const Matrix<double>& result);

struct Products {
  Dims shape;              ///< of the result
  std::int64_t terms = 0;  ///< of the longest sum
  /// Adds the sums to `results`. Everything is in row-major order.
  std::function<void(const double* a, const double* b, double* results)> add;
  bool has_bias = false;       ///< the third input
  Dims bias_strides;           ///< its strides by dim of `shape`, as if it were row-major
  double alpha = 1, beta = 1;  ///< factors of the sums and of the bias, f32 numbers
};

/// The first two inputs, and the third where there is a bias, to the first output.
Status evaluate_products(const Products& products, Inputs inputs, Outputs outputs);

/// Of any order of summation in f32 (f64 for f64): (terms + 2) u of the sum of magnitudes, and what the operands' own
/// errors come to. Beyond f32's range nothing is stated.
Result<std::vector<Bounds>> bound_products(const Products& products, Inputs inputs,
                                           std::span<const Bounds> input_bounds);

Result<std::vector<Dims>> matmul_shapes(const Op& op, Inputs inputs);
Status evaluate_matmul(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_matmul(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                         Outputs outputs);

}  // namespace tenfold::graph

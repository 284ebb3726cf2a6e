// SPDX-License-Identifier: Apache-2.0
//
// See products.hpp. The matrix product is cut into tiles of 4 by 4 results, whose 16 sums stay in registers (8 of two
// numbers each, on any x86-64), and blocks of 256 along the depth: a panel of 4 columns is 8 KiB, a block of 128
// columns 256 KiB, which are at home in L1 and L2.
#include "graph/eval/products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/eval/element.hpp"
#include "graph/eval/run.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

constexpr std::int64_t kTile = 4;
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kColumns = 128;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Where a block of a matrix begins, and how far it goes.
struct Range {
  std::int64_t first = 0, count = 0;
};

/// `lines` of a matrix, one beside another, as [depth][kTile]; those beyond the matrix are zeros. A line is a row of
/// the first factor or a column of the second; its elements lie along the depth.
void pack(const double* numbers, const Axis& lines, Range which, const Axis& along, Range depth, double* panel) {
  const double* starts[kTile];
  for (std::int64_t i = 0; i < which.count; ++i) starts[i] = numbers + lines[which.first + i];
  std::fill_n(panel, which.count < kTile ? depth.count * kTile : 0, 0.0);
  for (std::int64_t k = 0; k < depth.count; ++k, panel += kTile) {
    const std::int64_t offset = along[depth.first + k];
    for (std::int64_t i = 0; i < which.count; ++i) panel[i] = starts[i][offset];
  }
}

template <std::size_t... kAt>
void sum_tile(const double* a, const double* b, std::int64_t depth, double* tile, std::index_sequence<kAt...>) {
  double sums[] = {tile[kAt]...};
  for (std::int64_t k = 0; k < depth; ++k, a += kTile, b += kTile)
    ((sums[kAt] += a[kAt / kTile] * b[kAt % kTile]), ...);
  ((tile[kAt] = sums[kAt]), ...);
}

/// One panel of rows by one of columns.
void add_tile(const double* a, const double* b, std::int64_t depth, Range rows, Range columns,
              const Matrix<double>& result) {
  double tile[kTile * kTile] = {};
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
    return result.at[result.rows[rows.first + i] + result.columns[columns.first + j]];
  };
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t j = 0; j < columns.count; ++j) tile[i * kTile + j] = at(i, j);
  sum_tile(a, b, depth, tile, std::make_index_sequence<kTile * kTile>());
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t j = 0; j < columns.count; ++j) at(i, j) = tile[i * kTile + j];
}

/// All rows by a block of columns, over a part of the depth.
void add_block(std::int64_t all_rows, Range columns, Range depth, const Matrix<const double>& a,
               const Matrix<const double>& b, const Matrix<double>& result, Numbers& panels) {
  const auto tile_at = [](std::int64_t first, std::int64_t end) { return Range{first, std::min(kTile, end - first)}; };
  const std::int64_t end = columns.first + columns.count;
  for (std::int64_t j = columns.first; j < end; j += kTile)
    pack(b.at, b.columns, tile_at(j, end), b.rows, depth, panels.data() + (j - columns.first) * depth.count);
  double lines[kTile * kDepth];
  for (std::int64_t i = 0; i < all_rows; i += kTile) {
    const Range rows = tile_at(i, all_rows);
    pack(a.at, a.rows, rows, a.columns, depth, lines);
    for (std::int64_t j = columns.first; j < end; j += kTile)
      add_tile(lines, panels.data() + (j - columns.first) * depth.count, depth.count, rows, tile_at(j, end), result);
  }
}

std::int64_t padded(std::int64_t columns) { return (columns + kTile - 1) / kTile * kTile; }

/// Magnitudes of finite elements; where an element is not finite, no error is added to what it decides.
Numbers magnitudes_of(Numbers numbers) {
  for (double& number : numbers) number = std::isfinite(number) ? std::fabs(number) : 0;
  return numbers;
}

Numbers errors_of(const ConstTensor& tensor, const Numbers& numbers, const Bounds& bounds) {
  Numbers errors;
  errors.reserve(numbers.size());
  for (const double number : numbers)
    errors.push_back(stored_bound(bounds, static_cast<std::int64_t>(errors.size()), tensor.desc.dtype, number));
  return errors;
}

/// Calls fn(result, bias) with the positions of each result and of its bias.
template <class Fn>
void walk_bias(const Products& products, Fn fn) {
  walk(products.shape, std::array<Dims, 2>{row_major_strides(products.shape), products.bias_strides},
       [&](const auto& at) { fn(static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1])); });
}

/// Of the sums: what `unit` a term and the errors of the operands come to. |a'b' - ab| is at most |a| e_b + e_a (|b| +
/// e_b), and the sum of |a'b'| is rounded with a relative error of `unit`.
void add_errors(const Products& products, double unit, Inputs inputs, std::span<const Bounds> bounds, Numbers& errors) {
  const Numbers first = load_numbers(inputs[0]), second = load_numbers(inputs[1]);
  Numbers a = magnitudes_of(first), b = magnitudes_of(second);
  if (is_exact(bounds[0]) && is_exact(bounds[1])) {
    for (double& x : a) x *= unit;
    products.add(a.data(), b.data(), errors.data());
    return;
  }
  Numbers of_a = errors_of(inputs[0], first, bounds[0]);
  const Numbers of_b = errors_of(inputs[1], second, bounds[1]);
  if (is_exact(bounds[1])) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = unit * a[i] + (1 + unit) * of_a[i];
    products.add(a.data(), b.data(), errors.data());
    return;
  }
  Numbers weights(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) weights[i] = unit * (b[i] + of_b[i]) + of_b[i];
  products.add(a.data(), weights.data(), errors.data());
  if (is_exact(bounds[0])) return;
  for (std::size_t i = 0; i < b.size(); ++i) weights[i] = (1 + unit) * (b[i] + of_b[i]);
  products.add(of_a.data(), weights.data(), errors.data());
}

}  // namespace

Numbers load_numbers(const ConstTensor& tensor) {
  Numbers numbers(static_cast<std::size_t>(numel(tensor.desc.shape).value()));
  double* next = numbers.data();
  walk_rows(tensor.desc.shape, std::array<Dims, 1>{strides_of(tensor.desc)},
            [&](const auto& at, const auto& steps, std::int64_t count) {
              load_row(tensor.desc.dtype, tensor.data, {at[0], steps[0], count}, next);
              next += count;
            });
  return numbers;
}

void store_numbers(const Numbers& numbers, const MutableTensor& tensor) {
  const double* next = numbers.data();
  walk_rows(tensor.desc.shape, std::array<Dims, 1>{strides_of(tensor.desc)},
            [&](const auto& at, const auto& steps, std::int64_t count) {
              store_row(tensor.desc.dtype, tensor.data, {at[0], steps[0], count}, next);
              next += count;
            });
}

void add_product(const MatrixExtents& extents, const Matrix<const double>& a, const Matrix<const double>& b,
                 const Matrix<double>& result) {
  Numbers panels(
      static_cast<std::size_t>(padded(std::min(extents.columns, kColumns)) * std::min(extents.depth, kDepth)));
  for (std::int64_t k = 0; k < extents.depth; k += kDepth)
    for (std::int64_t j = 0; j < extents.columns; j += kColumns)
      add_block(extents.rows, {j, std::min(kColumns, extents.columns - j)}, {k, std::min(kDepth, extents.depth - k)}, a,
                b, result, panels);
}

Status evaluate_products(const Products& products, Inputs inputs, Outputs outputs) {
  const Numbers a = load_numbers(inputs[0]), b = load_numbers(inputs[1]);
  Numbers results(static_cast<std::size_t>(numel(products.shape).value()), 0);
  products.add(a.data(), b.data(), results.data());
  if (products.alpha != 1)
    for (double& result : results) result *= products.alpha;
  if (products.has_bias) {
    const Numbers bias = load_numbers(inputs[2]);
    walk_bias(products, [&](std::size_t at, std::size_t from) { results[at] += products.beta * bias[from]; });
  }
  store_numbers(results, outputs[0]);
  return {};
}

Result<std::vector<Bounds>> bound_products(const Products& products, Inputs inputs,
                                           std::span<const Bounds> input_bounds) {
  const bool wide = inputs[0].desc.dtype == DType::f64;
  // A factor is a rounding of its own.
  const int factors = (products.alpha != 1 ? 1 : 0) + (products.beta != 1 ? 1 : 0);
  const auto terms = static_cast<double>(products.terms + factors);
  // Twice f64's unit, for the reference's own error.
  const double unit = (terms + 2) * (wide ? 0x1p-52 : 0x1p-24);
  Bounds errors(static_cast<std::size_t>(numel(products.shape).value()), 0);
  add_errors(products, unit, inputs, input_bounds, errors);
  if (products.alpha != 1)
    for (double& error : errors) error *= std::fabs(products.alpha);
  const double beta = std::fabs(products.beta);
  if (products.has_bias) {
    const Numbers bias = load_numbers(inputs[2]);
    const Numbers sizes = magnitudes_of(bias), of_bias = errors_of(inputs[2], bias, input_bounds[2]);
    walk_bias(products, [&](std::size_t at, std::size_t from) {
      errors[at] += beta * (unit * sizes[from] + (1 + unit) * of_bias[from]);
    });
  }
  // What lies below the normal range may be taken for 0 by instructions that multiply 16-bit floats in pairs.
  const double least = (terms + 1) * std::max(1.0, std::fabs(products.alpha)) * (wide ? 0x1p-1072 : 0x1p-126);
  const double most = unit * (wide ? 0x1p1022 : 0x1p127);
  for (double& error : errors) error = error < most ? error + least : kInfinity;
  return std::vector<Bounds>{std::move(errors)};
}

}  // namespace tenfold::graph

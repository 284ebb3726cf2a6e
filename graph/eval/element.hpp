// SPDX-License-Identifier: Apache-2.0
//
// Elements in and out of memory, one by one or in rows. `Real` is the x87 long double: its 64-bit significand holds
// every element of every supported dtype exactly (s64 and u64 too), so that the only rounding on the way out is the
// store's.
#pragma once

#include <cstdint>

#include "tenfold/dtype.hpp"

namespace tenfold::graph {

using Real = long double;
/// Wide enough for sums of any 64-bit elements; products wrap, as all integer results do at the output's width.
using Integer = __int128;

/// False for `undef`, the f8 and the 4-bit types, for which there are but what loads, stores and converts reals, and
/// none for `undef`.
bool has_elements(DType dtype) noexcept;

/// Integers and boolean.
bool is_integral(DType dtype) noexcept;

Real load_exact(DType dtype, const void* data, std::int64_t index);

/// One rounding to nearest even; NaN becomes the canonical one. Integers saturate, and NaN becomes 0; boolean is
/// `value != 0`.
void store_rounded(DType dtype, void* data, std::int64_t index, Real value);

/// Of an integral dtype.
Integer load_integer(DType dtype, const void* data, std::int64_t index);

/// Keeps the low bits, as NumPy does; boolean is `value != 0`.
void store_integer(DType dtype, void* data, std::int64_t index, Integer value);

/// `value` as an integral dtype holds it after store_integer().
Integer wrapped(DType dtype, Integer value);

/// A real as an integral dtype: truncated toward zero, then saturated; NaN is 0. For boolean that is 0 or 1 too.
Integer to_integer(DType dtype, Real value);

/// Whether a real that becomes one of `dtype` is truncated first: integers.
bool truncates(DType dtype) noexcept;

/// store_rounded(), but integers get the value truncated toward zero (as ONNX's Cast) instead of rounded.
void store_truncated(DType dtype, void* data, std::int64_t index, Real value);

/// Least and greatest value of an integral dtype.
Integer lowest_integer(DType dtype) noexcept;
Integer highest_integer(DType dtype) noexcept;

/// `value` as a floating `dtype` would hold it.
Real round_to(DType dtype, Real value);

/// The greatest finite value of a floating `dtype`.
Real largest_finite(DType dtype) noexcept;

/// The distance between neighbours of a floating `dtype` at |value|; 1 for an integral one. 0 when `value` is not
/// finite.
double ulp(DType dtype, double value) noexcept;

/// One element to another dtype: integers wrap, reals become integers by truncation and saturation (as ONNX's Cast),
/// anything becomes boolean by `!= 0`.
void convert(DType from, const void* source, std::int64_t source_index, DType to, void* target,
             std::int64_t target_index);

/// Elements in a row: `count` of them from `first` on, `step` apart.
struct Row {
  std::int64_t first = 0, step = 1, count = 0;
};

/// load_real() of each, to every `apart`-th of `numbers`.
void load_row(DType dtype, const void* data, const Row& row, double* numbers, std::int64_t apart = 1);

/// store_real() of each.
void store_row(DType dtype, void* data, const Row& row, const double* numbers);

/// convert() of each; both rows are as long.
void convert_row(DType from, const void* source, Row at, DType to, void* target, Row target_at);

}  // namespace tenfold::graph

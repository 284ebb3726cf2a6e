// SPDX-License-Identifier: Apache-2.0
//
// One random arg-reduction, alone or beside the extreme of the same tensor: shapes, layouts, the axis, and data with
// NaNs, ties and extremes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::numeric {

/// Where the axis may be.
inline constexpr std::array<std::string_view, 4> kAxes{"only", "first", "middle", "last"};

struct ArgCase {
  TensorDesc in, index, extreme;
  std::int64_t axis = 0;
  bool greatest = true, last = false;
  bool beside = false;         ///< the extreme is wanted too
  bool extreme_first = false;  ///< its op comes first

  graph::Graph graph() const;
  std::string text() const;
};

/// The op of the index, or that of the extreme.
graph::Op reduction(const ArgCase& c, bool is_index);
/// The shape that is left, with 1 for the axis or without it.
Dims without(Dims shape, std::int64_t axis, bool keep);
std::size_t bytes_of(const TensorDesc& desc);

/// `axes` is an index into kAxes; `large`: enough for threads.
ArgCase draw(DType dtype, std::size_t axes, bool large, std::mt19937_64& random);
/// Short rows side by side, some of them with a gap after each, or after every few.
ArgCase draw_packed(DType dtype, std::int64_t width, std::mt19937_64& random);
/// Rows of cells, few elements side by side that have an index each.
ArgCase draw_cells(DType dtype, std::int64_t cell, std::mt19937_64& random);
/// Rows of few columns one after another, enough of them for steps, or groups, of several rows.
ArgCase draw_narrow(DType dtype, std::int64_t width, std::mt19937_64& random);
/// Few long rows, or a long tensor of few columns: what is read in pieces where there are several cores.
ArgCase draw_long(DType dtype, std::mt19937_64& random);
/// So many rows of `width` columns, one after another, that sweeps are remembered and searched.
ArgCase draw_tall(DType dtype, std::int64_t width, std::mt19937_64& random);

/// The value that arg-max, or arg-min, wants least.
void put_worst(const ArgCase& c, std::byte* data, std::int64_t at);
/// A real, NaNs with their signs.
void put_signed(DType dtype, std::byte* data, std::int64_t at, double value);
void fill_input(const ArgCase& c, std::byte* data, std::mt19937_64& random);
/// The worst there is, but for a few elements that are all the same.
void fill_few(const ArgCase& c, std::byte* data, std::mt19937_64& random);

}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
#include "arg_case.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "gaps.hpp"
#include "graph/eval/eval.hpp"
#include "graph_value.hpp"
#include "prepared_case.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 18, 23, 24, 31, 32, 33, 34, 47, 48, 49, 63, 64,
                                   65, 127, 128, 129, 200, 257,
                                   // In groups of steps, with steps and elements left over or without.
                                   384, 385, 399, 447, 449, 512, 530};
constexpr std::int64_t kUsualElements = 1200, kMostElements = 30'000;
/// For threads: above 256 KiB of one byte an element, below which the runtime touches no pool.
constexpr std::int64_t kLargeElements = 400'000;

std::string list(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t dim : dims) text += std::to_string(dim) + " ";
  return text + "]";
}

/// Row-major, or with gaps between and after the elements of a row.
Dims drawn_strides(const Dims& shape, std::mt19937_64& random) {
  Dims strides = row_major_strides(shape);
  if (shape.empty() || random() % 3 != 0) return strides;
  const std::int64_t gap = static_cast<std::int64_t>(random() % 3);
  std::int64_t at = 1 + static_cast<std::int64_t>(random() % 2);
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = at;
    at = at * std::max<std::int64_t>(1, shape[i]) + gap;
  }
  return strides;
}

/// The rank and the axis, `axes` being an index into kAxes.
std::pair<std::size_t, std::size_t> draw_axis(std::size_t axes, std::mt19937_64& random) {
  if (axes == 0) return {1, 0};
  const std::size_t rank = (axes == 2 ? 3 : 2) + random() % (axes == 2 ? 2 : 3);
  if (axes == 1) return {rank, 0};
  return {rank, axes == 3 ? rank - 1 : 1 + random() % (rank - 2)};
}

enum class Fill { any, few, worst, ordered };

}  // namespace

graph::Op reduction(const ArgCase& c, bool is_index) {
  const TensorDesc& out = is_index ? c.index : c.extreme;
  graph::Op op;
  op.id = is_index ? 1 : 2;
  op.dialect = graph::Dialect::core;
  op.kind = is_index ? "arg_reduce" : "reduce";
  const bool keep = out.shape.size() == c.in.shape.size();
  if (is_index) {
    op.attributes = {{"mode", std::string(c.greatest ? "argmax" : "argmin")},
                     {"axis", c.axis},
                     {"keep_dims", keep},
                     {"select_last", c.last}};
  } else {
    op.attributes = {
        {"reduction", std::string(c.greatest ? "max" : "min")}, {"axes", Dims{c.axis}}, {"keep_dims", keep}};
  }
  op.inputs = {0};
  return op;
}

graph::Graph ArgCase::graph() const {
  graph::Graph g;
  add_value(g, in);
  const auto add_op = [&](bool is_index) {
    graph::Op op = reduction(*this, is_index);
    op.outputs = {add_value(g, is_index ? index : extreme)};
    g.ops.push_back(op);
  };
  if (beside && extreme_first) add_op(false);
  add_op(true);
  if (beside && !extreme_first) add_op(false);
  graph::connect(g);
  return g;
}

std::string ArgCase::text() const {
  return std::string(greatest ? "argmax " : "argmin ") + (last ? "last " : "first ") +
         (beside ? extreme_first ? "after the extreme " : "before the extreme " : "") +
         std::string(to_string(in.dtype)) + " " + list(in.shape) + " strides " + list(in.strides) + " axis " +
         std::to_string(axis) + " gives " + std::string(to_string(index.dtype)) + " " + list(index.shape) +
         " strides " + list(index.strides);
}

Dims without(Dims shape, std::int64_t axis, bool keep) {
  if (keep) {
    shape[static_cast<std::size_t>(axis)] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  return shape;
}

ArgCase draw(DType dtype, std::size_t axes, bool large, std::mt19937_64& random) {
  ArgCase c;
  c.in.dtype = c.extreme.dtype = dtype;
  c.index.dtype = random() % 3 == 0 ? DType::s32 : DType::s64;
  const auto [rank, axis] = draw_axis(axes, random);
  const std::int64_t most = large ? kLargeElements : random() % 8 == 0 ? kMostElements : kUsualElements;
  std::int64_t elements = 1;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    std::int64_t size = kSizes[random() % std::size(kSizes)];
    if (elements * size > most) size = 3;
    elements *= size;
    c.in.shape.push_back(size);
  }
  if (large) c.in.shape[random() % rank] *= std::max<std::int64_t>(1, most / elements);
  c.axis = static_cast<std::int64_t>(axis);
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  c.beside = random() % 2 == 0;
  c.extreme_first = random() % 2 == 0;
  c.index.shape = without(c.in.shape, c.axis, random() % 2 == 0);
  c.extreme.shape = without(c.in.shape, c.axis, random() % 2 == 0);
  c.in.strides = drawn_strides(c.in.shape, random);
  c.index.strides = drawn_strides(c.index.shape, random);
  c.extreme.strides = drawn_strides(c.extreme.shape, random);
  return c;
}

ArgCase draw_packed(DType dtype, std::int64_t width, std::mt19937_64& random) {
  ArgCase c;
  const std::int64_t rows = drawn_rows(width, random);
  const std::int64_t outer = random() % 3 == 0 ? 3 : 1, gap = static_cast<std::int64_t>(random() % 4);
  const std::int64_t pitch = width + drawn_gap(random);
  c.in = {dtype, {outer, rows, width}, {rows * pitch + gap, pitch, 1}};
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outer, rows, 1}, {rows + gap, 1, 1}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.axis = 2;
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  return c;
}

ArgCase draw_cells(DType dtype, std::int64_t cell, std::mt19937_64& random) {
  ArgCase c;
  const auto count = static_cast<std::int64_t>(2 + random() % (random() % 4 == 0 ? 300 : 40));
  const auto rows = static_cast<std::int64_t>(8 + random() % (count * cell > 128 ? 12 : 70));
  const std::int64_t outer = random() % 3 == 0 ? 3 : 1, gap = static_cast<std::int64_t>(random() % 4);
  const std::int64_t pitch = count * cell + drawn_gap(random);
  c.in = {dtype, {outer, rows, count, cell}, {rows * pitch + gap, pitch, cell, 1}};
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outer, rows, 1, cell}, {rows * cell + gap, cell, cell, 1}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.axis = 2;
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  return c;
}

ArgCase draw_narrow(DType dtype, std::int64_t width, std::mt19937_64& random) {
  ArgCase c;
  // One case of eight has so many rows that keys of bytes are flushed between two steps.
  const std::uint64_t most = random() % 8 == 0 ? 6000 : static_cast<std::uint64_t>(100 + 3000 / width);
  const auto rows = static_cast<std::int64_t>(17 + random() % most);
  const std::int64_t outer = random() % 3 == 0 ? 2 : 1, gap = static_cast<std::int64_t>(random() % 4);
  c.in = {dtype, {outer, rows, width}, {rows * width + gap, width, 1}};
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outer, 1, width}, {width + gap, width, 1}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.axis = 1;
  c.greatest = random() % 2 == 0;
  c.last = random() % 3 == 0;
  c.beside = random() % 4 == 0;
  return c;
}

ArgCase draw_long(DType dtype, std::mt19937_64& random) {
  ArgCase c;
  const bool rows = random() % 2 == 0;
  const auto outputs = static_cast<std::int64_t>(1 + random() % (rows ? 2 : 9));
  const auto gap = static_cast<std::int64_t>(random() % 4);
  const std::int64_t extent =
      (1 << 20) / byte_size(dtype) / outputs + 1 + static_cast<std::int64_t>(random() % (1 << 15));
  c.in = rows ? TensorDesc{dtype, {outputs, extent}, {extent + gap, 1}}
              : TensorDesc{dtype, {extent, outputs}, {outputs + gap, 1}};
  c.axis = rows ? 1 : 0;
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outputs}, {1 + gap}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  // Beyond 2^20 elements a row's index and extreme are two regions.
  c.beside = byte_size(dtype) > 1 && random() % 8 == 0;
  return c;
}

ArgCase draw_tall(DType dtype, std::int64_t width, std::mt19937_64& random) {
  ArgCase c;
  // Narrow rows are swept in groups, of 256 bytes or of whole vector steps; others as they are.
  const std::int64_t row_bytes = width * byte_size(dtype),
                     of_group = row_bytes < 256 ? std::max(std::int64_t{32}, 256 / row_bytes) : 1;
  const auto groups = 1024 + static_cast<std::int64_t>(random() % 20);
  const std::int64_t rows = groups * static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(of_group))) +
                            static_cast<std::int64_t>(random() % 40);
  c.in = {dtype, {rows, width}, {width, 1}};
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {width}, {1}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.greatest = random() % 2 == 0;
  return c;
}

void put_worst(const ArgCase& c, std::byte* data, std::int64_t at) {
  const int size = byte_size(c.in.dtype);
  const DTypeKind kind = row(c.in.dtype).kind;
  if (is_floating(c.in.dtype)) return graph::store_real(c.in.dtype, data, at, c.greatest ? -INFINITY : INFINITY);
  std::uint64_t bits = c.greatest ? 0 : kind == DTypeKind::boolean ? 1 : ~std::uint64_t{0};
  if (kind == DTypeKind::signed_integer) bits = (std::uint64_t{1} << (8 * size - 1)) - (c.greatest ? 0 : 1);
  std::memcpy(data + at * size, &bits, static_cast<std::size_t>(size));
}

void put_signed(DType dtype, std::byte* data, std::int64_t at, double value) {
  graph::store_real(dtype, data, at, value);
  if (std::isnan(value) && std::signbit(value)) data[(at + 1) * byte_size(dtype) - 1] |= std::byte{0x80};
}

void fill_input(const ArgCase& c, std::byte* data, std::mt19937_64& random) {
  fill_gaps(data, static_cast<std::size_t>(span_bytes(c.in).value()), random);
  const Fill fill = static_cast<Fill>(random() % 4);
  const int size = byte_size(c.in.dtype);
  const bool nans = random() % 3 == 0;
  std::uint64_t counted = random();
  for (const std::int64_t at : element_offsets(c.in)) {
    const std::uint64_t bits = random();
    counted += fill == Fill::ordered ? 1 : 0;
    if (fill == Fill::worst && bits % 61 != 0) {
      put_worst(c, data, at);
    } else if (is_floating(c.in.dtype)) {
      // Few different ones make ties, zeros of both signs among them.
      double value = fill == Fill::few ? static_cast<double>(bits % 3) - 1 : static_cast<double>(bits >> 40);
      if ((bits & 1) != 0) value = -value;
      if (fill == Fill::ordered) value = static_cast<double>(counted % 1024);
      if (bits % 211 == 3) value = (bits & 1024) != 0 ? INFINITY : -INFINITY;
      if (nans && bits % 199 == 5) value = (bits & 1024) != 0 ? NAN : -NAN;
      put_signed(c.in.dtype, data, at, value);
    } else if (c.in.dtype == DType::boolean) {
      data[at] = static_cast<std::byte>(bits & 1);
    } else {
      // Beyond 2^53 two neighbours are one double; ties of the few.
      std::uint64_t value = fill == Fill::few ? bits % 3 - 1 : bits;
      if (fill == Fill::ordered) value = (std::uint64_t{1} << 62) + counted % 256;
      std::memcpy(data + at * size, &value, static_cast<std::size_t>(size));
    }
  }
}

void fill_few(const ArgCase& c, std::byte* data, std::mt19937_64& random) {
  const std::vector<std::int64_t> offsets = element_offsets(c.in);
  for (const std::int64_t at : offsets) put_worst(c, data, at);
  const double value = random() % 2 == 0 ? NAN : 0;
  for (std::uint64_t few = 1 + random() % 6; few > 0; --few) {
    const std::int64_t at = offsets[random() % offsets.size()];
    const auto size = static_cast<std::size_t>(byte_size(c.in.dtype));
    if (is_floating(c.in.dtype)) {
      graph::store_real(c.in.dtype, data, at, value);
    } else {
      std::memset(data + at * byte_size(c.in.dtype), c.in.dtype == DType::boolean && !c.greatest ? 0 : 1, size);
    }
  }
}

std::size_t bytes_of(const TensorDesc& desc) { return static_cast<std::size_t>(span_bytes(desc).value()); }

}  // namespace tenfold::numeric

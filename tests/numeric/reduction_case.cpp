// SPDX-License-Identifier: Apache-2.0
//
// How cases are drawn: extents around the vector widths, classes of axes sets, layouts.
#include "reduction_case.hpp"

#include <algorithm>
#include <numeric>

namespace tenfold::numeric {
namespace {

constexpr std::int64_t kExtents[] = {1,    2,    3,     4,     5,     7,     8,      9,      15,    16,   17,   31,
                                     32,   33,   63,    64,    65,    100,   127,    128,    129,   255,  256,  257,
                                     511,  512,  513,   1000,  1023,  1024,  1025,   2047,   2049,  4095, 4096, 4097,
                                     8191, 8193, 16385, 32768, 65536, 70001, 131071, 200000, 262145};

std::int64_t pick(std::mt19937_64& random, std::int64_t below) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
}

/// Extents whose product stays within `most`; small ones more often at higher ranks. `large` comes near to `most`.
Dims random_shape(int rank, std::int64_t most, bool large, std::mt19937_64& random) {
  Dims shape(static_cast<std::size_t>(rank));
  std::int64_t left = most;
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto usable =
        static_cast<std::int64_t>(std::upper_bound(std::begin(kExtents), std::end(kExtents), left) - kExtents);
    // Small extents for all but a few dims leave room for those few to be long.
    const std::int64_t choices = i + 2 < order.size() ? std::min<std::int64_t>(usable, 6) : usable;
    const std::int64_t least = large && i + 1 == order.size() ? std::max<std::int64_t>(usable - 4, 0) : 0;
    shape[order[i]] = kExtents[least + pick(random, std::max<std::int64_t>(choices - least, 1))];
    left /= shape[order[i]];
  }
  if (rank > 0 && random() % 40 == 0) shape[order.front()] = 0;
  return shape;
}

/// Contiguous, permuted, gapped (within or between), and, for inputs, broadcast; or a mixture.
Dims random_strides(const Dims& shape, bool broadcast_allowed, std::mt19937_64& random) {
  const auto kind = random() % 8;
  std::vector<std::size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  const bool permuted = kind == 1 || kind == 2 || kind == 7, gapped = kind == 3 || kind == 4 || kind == 7;
  const bool broadcast = broadcast_allowed && (kind == 5 || kind == 7);
  if (permuted) std::shuffle(order.begin(), order.end(), random);
  Dims strides(shape.size());
  std::int64_t step = gapped && random() % 3 == 0 ? 1 + pick(random, 5) : 1;
  for (const std::size_t dim : order) {
    if (broadcast && random() % 3 == 0) continue;
    strides[dim] = step;
    step *= std::max<std::int64_t>(shape[dim], 1);
    if (gapped && random() % 2 == 0) step += pick(random, 5);
  }
  return strides;
}

/// None, first, last, middle, several neighbours, apart, or all; some written as negative numbers, in any order.
std::vector<std::int64_t> random_axes(int rank, std::mt19937_64& random) {
  std::vector<std::int64_t> axes;
  if (rank == 0) return axes;
  switch (random() % 8) {
    case 0: break;
    case 1: axes = {0}; break;
    case 2:
    case 3: axes = {rank - 1}; break;
    case 4: axes = {pick(random, rank)}; break;
    case 5: {
      const std::int64_t first = pick(random, rank), last = first + pick(random, rank - first);
      for (std::int64_t a = first; a <= last; ++a) axes.push_back(a);
      break;
    }
    case 6:
      for (std::int64_t a = 0; a < rank; ++a)
        if (random() % 2 == 0) axes.push_back(a);
      break;
    default:
      for (std::int64_t a = 0; a < rank; ++a) axes.push_back(a);
  }
  std::shuffle(axes.begin(), axes.end(), random);
  for (std::int64_t& a : axes)
    if (random() % 3 == 0) a -= rank;
  return axes;
}

Dims shape_after(const Dims& shape, const std::vector<std::int64_t>& axes, bool keep_dims) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  Dims result;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool reduced = std::any_of(axes.begin(), axes.end(), [&](std::int64_t a) { return a == d || a + rank == d; });
    if (!reduced)
      result.push_back(shape[static_cast<std::size_t>(d)]);
    else if (keep_dims)
      result.push_back(1);
  }
  return result;
}

std::string list(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text + "]";
}

std::string tensor(int id, const TensorDesc& desc) {
  return R"({"id":)" + std::to_string(id) + R"(,"dtype":")" + std::string(to_string(desc.dtype)) + R"(","shape":)" +
         list(desc.shape) + R"(,"stride":)" + list(desc.strides) +
         R"(,"layout_type":"strided","property_type":"variable"})";
}

}  // namespace

std::string ReductionCase::json() const {
  return R"({"version":"3.0.0","engine_kind":"cpu","fpmath_mode":"strict","input_ports":[0],"output_ports":[1],)"
         R"("graph":[{"id":7,"name":"reduce","kind":")" +
         op + R"(","attrs":{"axes":{"type":"s64[]","value":)" + list(axes) +
         R"(},"keep_dims":{"type":"bool","value":)" + (keep_dims ? "1" : "0") + R"(}},"inputs":[)" + tensor(0, input) +
         R"(],"outputs":[)" + tensor(1, output) + "]}]}";
}

std::string ReductionCase::describe() const {
  return op + " " + std::string(to_string(input.dtype)) + " shape " + list(input.shape) + " strides " +
         list(input.strides) + " axes " + list(axes) + (keep_dims ? " keep_dims" : "") + " output strides " +
         list(output.strides) + " values '" + std::string(to_string(values)) + "'";
}

ReductionCase random_case(const std::string& op, DType dtype, const Sizes& sizes, std::mt19937_64& random) {
  ReductionCase c;
  c.op = op;
  const bool rare = random() % static_cast<unsigned>(sizes.rare_every) == 0;
  // Ranks 1 to 4 are what graphs have; 0, 5 and 6 are kept rare.
  constexpr int kRanks[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6};
  const int rank = kRanks[random() % std::size(kRanks)];
  c.input.dtype = c.output.dtype = dtype;
  // Most cases are far below the bound, or the large ones would take all the time.
  const std::int64_t most = rare                ? sizes.rare
                            : random() % 4 == 0 ? sizes.usual
                                                : std::min<std::int64_t>(sizes.usual, 4000);
  c.input.shape = random_shape(rank, most, rare, random);
  c.input.strides = random_strides(c.input.shape, true, random);
  c.axes = random_axes(rank, random);
  c.keep_dims = random() % 2 == 0;
  c.output.shape = shape_after(c.input.shape, c.axes, c.keep_dims);
  c.output.strides = random_strides(c.output.shape, false, random);
  c.values = static_cast<Values>(random() % kValuesCount);
  if (random() % 3 == 0) c.values = op == "ReduceProd" ? Values::positive : Values::normal;
  c.data_seed = random();
  return c;
}

std::vector<std::int64_t> element_offsets(const TensorDesc& desc) {
  const Result<std::int64_t> count = numel(desc.shape);
  std::vector<std::int64_t> offsets;
  if (!count.ok() || count.value() == 0) return offsets;
  offsets.assign(1, 0);
  const Dims strides = strides_of(desc);
  for (std::size_t d = 0; d < desc.shape.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(desc.shape[d]));
    for (const std::int64_t base : offsets)
      for (std::int64_t i = 0; i < desc.shape[d]; ++i) next.push_back(base + i * strides[d]);
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace tenfold::numeric

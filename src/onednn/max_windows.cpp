// SPDX-License-Identifier: Apache-2.0
#include "onednn/max_windows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tenfold::onednn {
namespace {

/// Images have two dims before the spatial ones.
constexpr std::size_t kFirstSpatial = 2;
/// Elements that are looked at before it is asked whether one of them was a find.
constexpr std::int64_t kGlance = 1024;

/// The dims of more than one element, the widest stride first.
std::vector<std::size_t> by_stride(const TensorDesc& desc) {
  std::vector<std::size_t> dims;
  for (std::size_t dim = 0; dim < desc.shape.size(); ++dim)
    if (desc.shape[dim] > 1) dims.push_back(dim);
  std::stable_sort(dims.begin(), dims.end(),
                   [&](std::size_t a, std::size_t b) { return desc.strides[a] > desc.strides[b]; });
  return dims;
}

/// Calls see(offset, count) for runs of elements that lie one after another, until it says true; whether it did.
template <class See>
bool any_run(const TensorDesc& desc, const See& see) {
  std::vector<std::size_t> dims = by_stride(desc);
  std::int64_t length = 1;
  for (; !dims.empty() && desc.strides[dims.back()] == length; dims.pop_back()) length *= desc.shape[dims.back()];
  Dims at(dims.size(), 0);
  std::int64_t offset = 0;
  for (;;) {
    for (std::int64_t begin = 0; begin < length; begin += kGlance)
      if (see(offset + begin, std::min(kGlance, length - begin))) return true;
    std::size_t i = dims.size();
    for (; i > 0; --i) {
      const std::size_t dim = dims[i - 1];
      offset += desc.strides[dim];
      if (++at[i - 1] < desc.shape[dim]) break;
      offset -= desc.shape[dim] * desc.strides[dim];
      at[i - 1] = 0;
    }
    if (i == 0) return false;
  }
}

using Bits = std::uint32_t;
constexpr Bits kLeast = std::bit_cast<Bits>(std::numeric_limits<float>::lowest());
constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<float>::infinity());

bool is_least(float x) { return std::bit_cast<Bits>(x) == kLeast; }
Bits is_nan(float x) { return (std::bit_cast<Bits>(x) << 1) > (kInfinity << 1) ? 1 : 0; }

/// Steps of a number that is known beforehand become vectors.
template <class Is>
bool any_of(const float* data, std::int64_t count, const Is& is) {
  constexpr std::int64_t kStep = 16;
  Bits found = 0;
  std::int64_t i = 0;
  for (; i + kStep <= count; i += kStep)
    for (std::int64_t lane = 0; lane < kStep; ++lane) found |= is(data[i + lane]);
  for (; i < count; ++i) found |= is(data[i]);
  return found != 0;
}

bool has_least(const float* data, std::int64_t count) {
  return any_of(data, count, [](float x) -> Bits { return is_least(x) ? 1 : 0; });
}

bool has_nan(const float* data, std::int64_t count) { return any_of(data, count, is_nan); }

/// Where the element at `offset` is; `dims` are by_stride(). No dim steps into what a smaller stride spans.
void find_position(const TensorDesc& desc, const std::vector<std::size_t>& dims, std::int64_t offset, Dims& at) {
  for (const std::size_t dim : dims) {
    at[dim] = offset / desc.strides[dim];
    offset %= desc.strides[dim];
  }
}

/// Calls see(offset) for each element of a window, from spatial dim `i` on, pads left out, in row-major order.
template <class See>
void walk_window(const Window& window, const TensorDesc& input, const Dims& at, std::size_t i, std::int64_t offset,
                 const See& see) {
  if (i == window.kernel.size()) return see(offset);
  const std::size_t dim = kFirstSpatial + i;
  const std::int64_t first = at[dim] * window.strides[i] - window.pads_begin[i];
  for (std::int64_t tap = 0; tap < window.kernel[i]; ++tap) {
    const std::int64_t from = first + tap * window.dilations[i];
    if (from >= 0 && from < input.shape[dim])
      walk_window(window, input, at, i + 1, offset + from * input.strides[dim], see);
  }
}

struct Winner {
  float value = -std::numeric_limits<float>::infinity();
  std::int64_t offset = -1;  ///< -1: all of it is padding
};

/// The first of the greatest elements of the window of the maximum at `at`, or its first NaN.
Winner winner_of(const Window& window, const TensorDesc& input, const Dims& at, const float* data) {
  Winner winner;
  const std::int64_t start = at[0] * input.strides[0] + at[1] * input.strides[1];
  walk_window(window, input, at, 0, start, [&](std::int64_t offset) {
    const float x = data[offset];
    const bool wins = winner.offset < 0 || (!std::isnan(winner.value) && (std::isnan(x) || x > winner.value));
    if (wins) winner = {std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x, offset};
  });
  return winner;
}

}  // namespace

MaxWindows::MaxWindows(const HeavySpec& spec)
    : input_(spec.kind == Kind::max_pool ? spec.inputs[0] : spec.outputs[0]),
      maxima_(spec.kind == Kind::max_pool ? spec.outputs[0] : spec.inputs[1]),
      window_(spec.window) {}

void MaxWindows::repair(const float* input, float* maxima) const {
  const std::vector<std::size_t> dims = by_stride(maxima_);
  Dims at(maxima_.shape.size(), 0);
  any_run(maxima_, [&](std::int64_t begin, std::int64_t count) {
    if (!has_least(maxima + begin, count)) return false;
    for (std::int64_t i = begin; i < begin + count; ++i) {
      if (!is_least(maxima[i])) continue;
      find_position(maxima_, dims, i, at);
      maxima[i] = winner_of(window_, input_, at, input).value;
    }
    return false;
  });
}

bool MaxWindows::is_doubtful(const float* input, const float* maxima) const {
  return any_run(maxima_, [&](std::int64_t begin, std::int64_t n) { return has_least(maxima + begin, n); }) ||
         any_run(input_, [&](std::int64_t begin, std::int64_t n) { return has_nan(input + begin, n); });
}

void MaxWindows::find_gradient(const float* input, const float* of_maxima, float* of_input) const {
  any_run(input_, [&](std::int64_t begin, std::int64_t count) {
    std::fill_n(of_input + begin, count, 0.0F);
    return false;
  });
  Dims at(maxima_.shape.size(), 0);
  for (std::size_t dim = at.size(); dim > 0;) {
    const std::int64_t winner = winner_of(window_, input_, at, input).offset;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) from += at[i] * maxima_.strides[i];
    if (winner >= 0) of_input[winner] += of_maxima[from];
    for (dim = at.size(); dim > 0 && ++at[dim - 1] == maxima_.shape[dim - 1]; --dim) at[dim - 1] = 0;
  }
}

}  // namespace tenfold::onednn

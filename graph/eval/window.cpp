// SPDX-License-Identifier: Apache-2.0
//
// See window.hpp.
#include "graph/eval/window.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "graph/eval/element.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/ir/twin.hpp"

namespace tenfold::graph {
namespace {

/// Of entries and spatial dims, so that no product of two of them overflows.
constexpr std::int64_t kMostEntry = std::int64_t{1} << 30;
constexpr std::int64_t kMostDim = std::int64_t{1} << 31;

/// A list with an entry for each spatial dim; a default may be longer, as oneDNN's have 12, and an empty list stands
/// for `fallback`.
Result<Dims> list_of(const Op& op, const char* name, std::size_t spatial, std::int64_t fallback, std::int64_t least) {
  Dims list = integers(op, name);
  if (list.empty()) list.assign(spatial, fallback);
  if (list.size() > spatial) list.resize(spatial);
  const bool fits = list.size() == spatial &&
                    std::all_of(list.begin(), list.end(), [&](auto x) { return x >= least && x <= kMostEntry; });
  if (fits) return list;
  return fail(op, Code::invalid_op,
              "'" + std::string(name) + "' must have " + std::to_string(spatial) + " entries of at least " +
                  std::to_string(least));
}

Status read_lists(const Op& op, const Dims& slid_over, Window& window) {
  const std::size_t spatial = slid_over.size();
  const struct {
    const char* name;
    std::int64_t fallback, least;
    Dims* list;
  } kLists[] = {{"strides", 1, 1, &window.strides},
                {"dilations", 1, 1, &window.dilations},
                {"pads_begin", 0, -kMostEntry, &window.begin},
                {"pads_end", 0, -kMostEntry, &window.end}};
  for (const auto& row : kLists) {
    Result<Dims> list = list_of(op, row.name, spatial, row.fallback, row.least);
    if (!list.ok()) return list.status();
    *row.list = std::move(list).value();
  }
  if (window.kernel.size() != spatial) return fail(op, Code::invalid_shape, "kernel and data differ in rank");
  const auto in_range = [](std::int64_t least) {
    return [least](std::int64_t dim) { return dim >= least && dim <= kMostDim; };
  };
  if (!std::all_of(window.kernel.begin(), window.kernel.end(), in_range(1)) ||
      !std::all_of(slid_over.begin(), slid_over.end(), in_range(0)))
    return fail(op, Code::invalid_shape, "a spatial dim is out of range");
  return {};
}

/// Pads so that there is one window for each stride: `needed` elements in all, the odd one at the end, or at the
/// beginning under SAME_LOWER. VALID is no pads at all.
void pad_automatically(const Op& op, std::size_t dim, std::int64_t needed, Window& window) {
  const auto mode = attribute_or<std::string>(op, "auto_pad", "None");
  if (mode == "None") return;
  const std::int64_t total = mode == "VALID" ? 0 : needed;
  window.begin[dim] = mode == "SAME_LOWER" ? (total + 1) / 2 : total / 2;
  window.end[dim] = total - window.begin[dim];
}

}  // namespace

DataLayout data_layout(const Op& op, const Dims& shape) {
  const std::size_t channel = channel_dim(op, shape.size());
  const Dims strides = row_major_strides(shape);
  return {shape[0], shape[channel], strides[0], strides[channel], spatial_dims(op, shape), spatial_dims(op, strides)};
}

std::int64_t Window::taps() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : kernel) count *= dim;
  return count;
}

Dims Window::counts(const Dims& input, bool rounds_up) const {
  Dims counts;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::int64_t room = input[i] + begin[i] + end[i] - reach(i);
    counts.push_back((room + (rounds_up ? strides[i] - 1 : 0)) / strides[i] + 1);
  }
  return counts;
}

Status read_window(const Op& op, const Dims& input, Window& window) {
  if (Status s = read_lists(op, input, window); !s.ok()) return s;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::int64_t windows = (input[i] + window.strides[i] - 1) / window.strides[i];
    pad_automatically(op, i, std::max<std::int64_t>(0, (windows - 1) * window.strides[i] + window.reach(i) - input[i]),
                      window);
    if (input[i] + window.begin[i] + window.end[i] < window.reach(i))
      return fail(op, Code::invalid_shape, "a window does not fit into what it slides over");
  }
  window.output = window.counts(input, attribute_or<std::string>(op, "rounding_type", "floor") == "ceil");
  return {};
}

Status read_transposed_window(const Op& op, const Dims& output, Window& window, Dims& input) {
  if (Status s = read_lists(op, output, window); !s.ok()) return s;
  const Result<Dims> more = list_of(op, "output_padding", output.size(), 0, 0);
  if (!more.ok()) return more.status();
  window.output = output;
  input.clear();
  for (std::size_t i = 0; i < output.size(); ++i) {
    pad_automatically(op, i, window.reach(i) - window.strides[i], window);
    input.push_back(window.strides[i] * (output[i] - 1) + window.reach(i) - window.begin[i] - window.end[i] +
                    more.value()[i]);
    if (input.back() < 0) return fail(op, Code::invalid_shape, "the pads leave nothing of the result");
  }
  return {};
}

std::int64_t window_rows(const Window& window, const DataLayout& input) {
  return std::accumulate(window.output.begin(), window.output.end() - 1, input.batch, std::multiplies<>());
}

void find_tap(const Window& window, const Dims& tap, const DataLayout& input, const DataLayout& output, WindowRows rows,
              Windows which, TapOffsets& offsets) {
  offsets.input.clear();
  offsets.output.clear();
  const std::size_t last = window.output.size() - 1;
  const auto position = [&](std::size_t dim, std::int64_t at, std::int64_t of_tap) {
    return at * window.strides[dim] - window.begin[dim] + of_tap * window.dilations[dim];
  };
  const auto is_whole = [&](std::size_t dim, std::int64_t at) {
    return position(dim, at, 0) >= 0 && position(dim, at, window.kernel[dim] - 1) < input.spatial[dim];
  };
  for (std::int64_t row = rows.first; row < rows.end; ++row) {
    std::int64_t in = 0, out = 0, left = row;
    bool inside = true, whole = true;
    for (std::size_t dim = last; dim-- > 0; left /= window.output[dim]) {
      const std::int64_t of_dim = left % window.output[dim], at = position(dim, of_dim, tap[dim]);
      inside = inside && at >= 0 && at < input.spatial[dim];
      whole = whole && is_whole(dim, of_dim);
      in += at * input.spatial_strides[dim];
      out += of_dim * output.spatial_strides[dim];
    }
    if (!inside) continue;
    in += left * input.batch_stride, out += left * output.batch_stride;
    for (std::int64_t i = 0; i < window.output[last]; ++i) {
      const std::int64_t at = position(last, i, tap[last]);
      if (at < 0 || at >= input.spatial[last]) continue;
      if (which != Windows::all && (which == Windows::whole) != (whole && is_whole(last, i))) continue;
      offsets.input.push_back(in + at * input.spatial_strides[last]);
      offsets.output.push_back(out + i * output.spatial_strides[last]);
    }
  }
}

std::optional<Op> twin_of(const Op& op, Inputs inputs) {
  std::vector<Dims> shapes;
  for (const ConstTensor& input : inputs.first(std::min<std::size_t>(inputs.size(), 2)))
    shapes.push_back(input.desc.shape);
  std::optional<Twin> twin = onednn_twin(op, shapes);
  return twin ? std::optional(std::move(twin->op)) : std::nullopt;
}

Result<Dims> given_shape(const Op& op, std::string_view attribute, Inputs inputs, std::size_t index) {
  if (has_input(inputs, index)) {
    const TensorDesc& desc = inputs[index].desc;
    if (desc.shape.size() > 1 || !is_integral(desc.dtype))
      return fail(op, Code::invalid_shape, "the shape that it is given is no list of integers (move.V6)");
    const std::int64_t count = desc.shape.empty() ? 1 : desc.shape[0];
    if (count > kMaxRank) return fail(op, Code::invalid_shape, "the shape that it is given has too many dims");
    const std::int64_t stride = desc.shape.empty() ? 0 : strides_of(desc)[0];
    Dims shape;
    for (std::int64_t i = 0; i < count; ++i)
      shape.push_back(static_cast<std::int64_t>(load_integer(desc.dtype, inputs[index].data, i * stride)));
    return shape;
  }
  Dims shape = integers(op, attribute);
  const bool is_default = std::all_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim == 0; });
  return is_default ? Dims() : shape;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Windows that slide over the spatial dims of a tensor: what convolutions and pools of oneDNN's dialect say by strides,
// pads, dilations and data_format, in one form. The forward op is meant throughout: `input` is what windows slide over,
// `output` has an element for each of them, also where a backward op goes from the one to the other the other way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

/// The batch, channels and spatial dims of a tensor, and where they are.
struct DataLayout {
  std::int64_t batch = 0, channels = 0;
  std::int64_t batch_stride = 0, channel_stride = 0;  ///< in row-major order
  Dims spatial, spatial_strides;
};
/// `shape` has a batch, channels and spatial dims.
DataLayout data_layout(const Op& op, const Dims& shape);

struct Window {
  Dims kernel, strides, dilations;
  Dims begin, end;  ///< pads; negative ones leave elements out
  Dims output;      ///< how many windows there are along each dim

  /// How far a window reaches along `dim`.
  std::int64_t reach(std::size_t dim) const { return (kernel[dim] - 1) * dilations[dim] + 1; }
  std::int64_t taps() const;
  /// How many windows fit into dims of `input`; a last one that does not fit counts where one rounds up.
  Dims counts(const Dims& input, bool rounds_up) const;
};

/// Sets all but `kernel` by the attributes; `input` are the spatial dims that windows slide over.
Status read_window(const Op& op, const Dims& input, Window& window);

/// The same of a transposed convolution, where it is `output` that is known: `input` follows, with output_padding.
Status read_transposed_window(const Op& op, const Dims& output, Window& window, Dims& input);

/// Rows of windows, which have all positions of the batch and the spatial dims, but the last one, in row-major order.
struct WindowRows {
  std::int64_t first = 0, end = 0;
};
std::int64_t window_rows(const Window& window, const DataLayout& input);

/// By where their taps lie: `whole` ones have none in the padding, `cut` ones have.
enum class Windows : std::uint8_t { all, whole, cut };

/// Where one tap of the windows of some rows lies: offsets[i] of the input belongs to that of the output; windows whose
/// tap is in the padding are left out.
struct TapOffsets {
  std::vector<std::int64_t> input, output;
};
void find_tap(const Window& window, const Dims& tap, const DataLayout& input, const DataLayout& output, WindowRows rows,
              Windows which, TapOffsets& offsets);

/// Calls fn(index, tap) for each position in a window, in row-major order.
template <class Fn>
void for_each_tap(const Dims& kernel, Fn fn) {
  for (const std::int64_t dim : kernel)
    if (dim == 0) return;
  Dims tap(kernel.size(), 0);
  for (std::int64_t index = 0;; ++index) {
    fn(index, tap);
    std::size_t dim = kernel.size();
    while (dim > 0 && ++tap[dim - 1] == kernel[dim - 1]) tap[--dim] = 0;
    if (dim == 0) return;
  }
}

/// An op of ONNX's dialect as oneDNN's, by its inputs' shapes; nullopt: it is no such op.
std::optional<Op> twin_of(const Op& op, Inputs inputs);

/// The integers of a shape that an op is handed as an attribute or as its input `index`; empty when it is neither.
/// oneDNN's default for such an attribute is a list of zeros, which counts as not given.
Result<Dims> given_shape(const Op& op, std::string_view attribute, Inputs inputs, std::size_t index);

}  // namespace tenfold::graph

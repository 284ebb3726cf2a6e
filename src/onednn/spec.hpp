// SPDX-License-Identifier: Apache-2.0
//
// HeavySpec: what one call of oneDNN computes, as a plain value that knows neither a graph nor oneDNN's types. Dims are
// in one order whatever the graph's layout is: matrices [batch..., rows, columns], images [N, C, spatial...], weights
// [output channels of all groups, input channels of one, spatial...]; where the elements lie, the strides say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/tensor.hpp"

namespace tenfold::onednn {

enum class Kind : std::uint8_t {
  matmul,                  ///< src [B..., M, K], weights [B..., K, N], perhaps a bias [1..., N] -> dst [B..., M, N]
  convolution,             ///< input, weights, perhaps a bias [channels] -> output
  convolution_to_input,    ///< output, weights -> input: gradients, and transposed convolutions
  convolution_to_weights,  ///< input, output -> weights
  average_pool,            ///< input -> output
  average_pool_to_input,   ///< output -> input: gradients
  max_pool,                ///< input -> output
  max_pool_to_input,       ///< input, output -> input: gradients
  resample,                ///< input -> output of other spatial dims
  resample_to_input,       ///< output -> input: gradients
};

std::string_view to_string(Kind kind) noexcept;

/// How windows slide from a convolution's or pool's input to its output, one entry a spatial dim; of whichever kind,
/// the forward op is meant.
struct Window {
  Dims kernel;  ///< of a pool; a convolution's is its weights'
  Dims strides, dilations, pads_begin, pads_end;
  friend bool operator==(const Window&, const Window&) = default;
};

/// All tensors of a matmul have the same rank; dims of extent 1 broadcast.
struct HeavySpec {
  Kind kind = Kind::matmul;
  std::vector<TensorDesc> inputs, outputs;  ///< strides always given
  Window window;                            ///< empty for a matmul
  std::int64_t groups = 1;
  bool counts_pads = false;  ///< pads are elements of an average pool's mean
  bool is_linear = false;    ///< resampling is by distance, not from the nearest element

  friend bool operator==(const HeavySpec&, const HeavySpec&) = default;
};

/// One line, equal for equal specs only: "matmul f32 [8, 4]:[4, 1] f32 [4, 2]:[2, 1] -> f32 [8, 2]:[2, 1]".
std::string print(const HeavySpec& spec);

}  // namespace tenfold::onednn

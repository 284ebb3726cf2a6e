// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and their backward ops, of which a transposed convolution is one: each has a convolution behind it, with
// an input that windows slide over, an output and weights, of which the op takes two and gives the third.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/check/window.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/ir/twin.hpp"

namespace tenfold::graph {
namespace {

enum Side : std::uint8_t { kInput, kOutput, kWeights };

struct Row {
  std::string_view kind;
  Side first, second, result;
  std::string_view given;  ///< the attribute that may say the result's shape
  bool has_bias = false;
};
constexpr Row kRows[] = {
    {"Convolution", kInput, kWeights, kOutput, "", true},
    {"ConvolutionBackwardData", kOutput, kWeights, kInput, "dst_shape"},
    {"ConvolutionBackwardWeights", kInput, kOutput, kWeights, "weights_shape"},
    {"ConvTranspose", kOutput, kWeights, kInput, "", true},
    {"ConvTransposeBackwardData", kInput, kWeights, kOutput, ""},
    {"ConvTransposeBackwardWeights", kOutput, kInput, kWeights, "weights_shape"},
};

const Row& row_of(const Op& op) {
  return *std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.kind == op.kind; });
}

/// Shapes by Side; one that is not known yet is empty.
struct Convolution {
  Dims sides[3];
  std::size_t rank = 0;
  std::int64_t groups = 1;
  /// The convolution's channels by the weights: those of a group of the input, and all of the output.
  std::int64_t inputs = kUnknownDim, outputs = kUnknownDim;
  WindowFacts windows;
};

bool is_spatial_first(const Op& op) {
  const auto format = attribute_or<std::string>(op, "weights_format", "X");
  return format[0] == 'X';
}

/// conv.C1: three ranks that are one.
Result<bool> read_sides(const Graph& graph, const Op& op, Convolution& conv) {
  const Row& row = row_of(op);
  const Value& first = graph.values[op.inputs[0]];
  const Value& second = graph.values[op.inputs[1]];
  if (!first.ranked || !second.ranked) return false;
  conv.rank = first.shape.size();
  if (conv.rank < 3 || second.shape.size() != conv.rank)
    return refuse(Code::invalid_shape, op,
                  "inputs are " + show_shape(first) + " and " + show_shape(second) +
                      "; they must be of one rank, at least 3: batch, channels, and spatial dims",
                  "conv.C1");
  conv.sides[row.first] = first.shape;
  conv.sides[row.second] = second.shape;
  if (row.given.empty()) return true;
  Result<std::optional<Dims>> given = shape_operand(graph, op, row.given, 2, conv.rank);
  if (!given.ok()) return given.status();
  if (given.value()) conv.sides[row.result] = std::move(*given.value());
  if (!conv.sides[kWeights].empty()) return true;
  return refuse(Code::invalid_op, op, "nothing says the shape of the weights; give weights_shape", "conv.C4");
}

/// conv.C2: channels, groups and weights.
Status check_channels(const Op& op, Convolution& conv) {
  const Dims& weights = conv.sides[kWeights];
  conv.inputs = is_spatial_first(op) ? weights[conv.rank - 2] : weights[1];
  conv.outputs = is_spatial_first(op) ? weights[conv.rank - 1] : weights[0];
  conv.groups = attribute_or<std::int64_t>(op, "groups", 1);
  const auto fail = [&](const std::string& text) {
    return refuse(Code::invalid_shape, op,
                  text + " (weights " + show_dims(weights) + ", groups " + std::to_string(conv.groups) + ")",
                  "conv.C2");
  };
  if (conv.groups < 1 || (conv.outputs != kUnknownDim && conv.outputs % conv.groups != 0))
    return fail("the groups do not divide the channels");
  for (const Side side : {kInput, kOutput}) {
    if (conv.sides[side].empty()) continue;
    const std::int64_t channels = conv.sides[side][channel_dim(op, conv.rank)];
    const bool known = channels != kUnknownDim && conv.inputs != kUnknownDim;
    const bool fits = side == kOutput
                          ? may_agree(channels, conv.outputs)
                          : !known || (channels % conv.groups == 0 && channels / conv.groups == conv.inputs);
    if (!fits)
      return fail("data " + show_dims(conv.sides[side]) + " has " + std::to_string(channels) +
                  " channels, which the weights do not");
  }
  return {};
}

/// window.W2 of a kernel that is the weights' spatial dims.
Status check_weights_kernel(const Op& op, const Convolution& conv) {
  const Dims& kernel = conv.windows.kernel;
  const auto empty = std::find(kernel.begin(), kernel.end(), 0);
  if (empty == kernel.end()) return {};
  return refuse(Code::invalid_shape, op,
                "weights " + show_dims(conv.sides[kWeights]) + " have a kernel of 0 along spatial dim " +
                    std::to_string(empty - kernel.begin()) + "; it must be at least 1",
                "window.W2");
}

/// conv.C3: a bias has an element for each channel of the result.
Status check_bias(const Graph& graph, const Op& op, const Dims& result) {
  if (!row_of(op).has_bias || op.inputs.size() < 3) return {};
  const Value& bias = graph.values[op.inputs[2]];
  const std::int64_t channels = result[channel_dim(op, result.size())];
  if (!bias.ranked || may_agree(bias.shape, {channels})) return {};
  return refuse(Code::invalid_shape, op,
                "bias " + show_shape(bias) + " must have one dim, the channels of the result " + show_dims(result),
                "conv.C3");
}

/// The input's or the output's shape by the other's.
Result<Dims> other_side(const Op& op, Convolution& conv, Side wanted) {
  const Dims& known = conv.sides[wanted == kOutput ? kInput : kOutput];
  const Dims spatial = spatial_dims(op, known);
  Result<Dims> found =
      wanted == kOutput ? count_windows(op, spatial, false, conv.windows) : spread_windows(op, spatial, conv.windows);
  if (!found.ok()) return found.status();
  std::int64_t channels = conv.outputs;
  if (wanted == kInput) channels = conv.inputs == kUnknownDim ? kUnknownDim : conv.inputs * conv.groups;
  return data_shape(op, known[0], channels, found.value());
}

Result<bool> read_convolution(const Graph& graph, const Op& op, Convolution& conv) {
  const Result<bool> ranked = read_sides(graph, op, conv);
  if (!ranked.ok() || !ranked.value()) return ranked;
  if (Status s = check_channels(op, conv); !s.ok()) return s;
  Result<WindowFacts> windows = read_windows(op, conv.rank - 2);
  if (!windows.ok()) return windows.status();
  conv.windows = std::move(windows).value();
  const auto first = conv.sides[kWeights].begin() + (is_spatial_first(op) ? 0 : 2);
  conv.windows.kernel.assign(first, first + static_cast<std::ptrdiff_t>(conv.rank - 2));
  conv.windows.groups = conv.groups;
  if (Status s = check_weights_kernel(op, conv); !s.ok()) return s;
  const Side unknown = conv.sides[kInput].empty() ? kInput : kOutput;
  Result<Dims> found = other_side(op, conv, unknown);
  if (!found.ok()) return found.status();
  if (!conv.sides[unknown].empty() && !may_agree(conv.sides[unknown], found.value()))
    return refuse(Code::invalid_shape, op,
                  "convolving " + show_dims(conv.sides[kInput]) + " with weights " + show_dims(conv.sides[kWeights]) +
                      " gives " + show_dims(found.value()) + ", not " + show_dims(conv.sides[unknown]),
                  "conv.C5");
  if (conv.sides[unknown].empty()) conv.sides[unknown] = std::move(found).value();
  return true;
}

/// conv.C6: ONNX's ops may say again what the weights' shape says.
Status check_kernel(const Op& op, const Dims& weights) {
  const auto kernel = attribute_or<std::vector<std::int64_t>>(op, "kernel_shape", {});
  if (kernel.empty() || weights.size() < 3) return {};
  if (may_agree(kernel, Dims(weights.begin() + 2, weights.end()))) return {};
  return refuse(Code::invalid_shape, op,
                "kernel_shape is " + show_dims(kernel) + ", but the spatial dims of weights " + show_dims(weights) +
                    " are the kernel",
                "conv.C6");
}

/// conv.C7: the result's spatial dims, where ONNX's ConvTranspose is given them.
Status check_given_shape(const Op& op, std::size_t rank) {
  const auto given = attribute_or<std::vector<std::int64_t>>(op, "output_shape", {});
  const auto fits = [](std::int64_t dim) { return dim >= 0 && dim <= std::int64_t{1} << 30; };
  if (given.empty() || (given.size() + 2 == rank && std::all_of(given.begin(), given.end(), fits))) return {};
  return refuse(Code::invalid_op, op,
                "output_shape " + show_dims(given) + " must have an entry for each of " + std::to_string(rank - 2) +
                    " spatial dims, in [0, 2^30]",
                "conv.C7");
}

Result<std::vector<std::optional<Dims>>> infer_onnx(const Graph& graph, const Op& op) {
  const Value& data = graph.values[op.inputs[0]];
  const Value& weights = graph.values[op.inputs[1]];
  if (!data.ranked || !weights.ranked) return std::vector<std::optional<Dims>>{std::nullopt};
  if (Status s = check_kernel(op, weights.shape); !s.ok()) return s;
  if (data.shape.size() > 2) {
    if (Status s = check_given_shape(op, data.shape.size()); !s.ok()) return s;
    if (Status s = check_onnx_windows(op, data.shape.size() - 2); !s.ok()) return s;
  }
  const Dims shapes[] = {data.shape, weights.shape};
  return infer_convolution_shapes(graph, onednn_twin(op, shapes)->op);
}

}  // namespace

Result<std::vector<std::optional<Dims>>> infer_convolution_shapes(const Graph& graph, const Op& op) {
  if (op.dialect == Dialect::onnx) return infer_onnx(graph, op);
  Convolution conv;
  const Result<bool> ranked = read_convolution(graph, op, conv);
  if (!ranked.ok()) return ranked.status();
  if (!ranked.value()) return std::vector<std::optional<Dims>>{std::nullopt};
  const Dims& result = conv.sides[row_of(op).result];
  if (Status s = check_bias(graph, op, result); !s.ok()) return s;
  return std::vector<std::optional<Dims>>{result};
}

Result<WindowFacts> convolution_windows(const Graph& graph, const Op& op) {
  Convolution conv;
  const Result<bool> ranked = read_convolution(graph, op, conv);
  if (!ranked.ok()) return ranked.status();
  return conv.windows;
}

}  // namespace tenfold::graph

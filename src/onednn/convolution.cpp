// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and both their gradients. Tried in this order: data where they lie, weights as oneDNN likes them best
// (they are small, and reordered at each run); everything as it likes.
#include <optional>
#include <utility>

#include "onednn/primitive.hpp"

namespace tenfold::onednn {
namespace {

using Desc = dnnl::memory::desc;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

/// Weights with a dim of groups in front, where there are groups.
TensorDesc grouped(const TensorDesc& weights, std::int64_t groups) {
  TensorDesc out = weights;
  if (groups == 1) return out;
  out.shape[0] /= groups;
  out.shape.insert(out.shape.begin(), groups);
  out.strides.insert(out.strides.begin(), out.shape[1] * weights.strides[0]);
  return out;
}

Desc free_of_format(const Desc& desc) { return {desc.dims(), desc.data_type(), dnnl::memory::format_tag::any}; }

/// The convolution forwards between three operands in some format each.
struct Convolution {
  Desc input, weights, output;
  Desc bias;  ///< zero: none
  const Window& window;

  dnnl::convolution_forward::primitive_desc forward(dnnl::prop_kind way) const {
    const Dims dilations = taps_between(window.dilations);
    const bool has_bias = !bias.is_zero();
    const dnnl::convolution_forward::desc desc =
        has_bias ? dnnl::convolution_forward::desc(way, kDirect, input, weights, bias, output, window.strides,
                                                   dilations, window.pads_begin, window.pads_end)
                 : dnnl::convolution_forward::desc(way, kDirect, input, weights, output, window.strides, dilations,
                                                   window.pads_begin, window.pads_end);
    return {desc, attributes(), cpu()};
  }

  dnnl::convolution_backward_data::primitive_desc to_input() const {
    const dnnl::convolution_backward_data::desc desc(kDirect, input, weights, output, window.strides,
                                                     taps_between(window.dilations), window.pads_begin,
                                                     window.pads_end);
    return {desc, attributes(), cpu(), forward(dnnl::prop_kind::forward_training)};
  }

  dnnl::convolution_backward_weights::primitive_desc to_weights() const {
    const dnnl::convolution_backward_weights::desc desc(kDirect, input, weights, output, window.strides,
                                                        taps_between(window.dilations), window.pads_begin,
                                                        window.pads_end);
    return {desc, attributes(), cpu(), forward(dnnl::prop_kind::forward_training)};
  }
};

Recipe recipe_of(Kind kind, const Convolution& ours, const Convolution& asked) {
  if (kind == Kind::convolution_to_input) {
    const auto desc = asked.to_input();
    return with_reorders(desc, {{DNNL_ARG_DIFF_DST, Place::input, 0, ours.output, desc.diff_dst_desc()},
                                {DNNL_ARG_WEIGHTS, Place::input, 1, ours.weights, desc.weights_desc()},
                                {DNNL_ARG_DIFF_SRC, Place::output, 0, ours.input, desc.diff_src_desc()}});
  }
  if (kind == Kind::convolution_to_weights) {
    const auto desc = asked.to_weights();
    return with_reorders(desc, {{DNNL_ARG_SRC, Place::input, 0, ours.input, desc.src_desc()},
                                {DNNL_ARG_DIFF_DST, Place::input, 1, ours.output, desc.diff_dst_desc()},
                                {DNNL_ARG_DIFF_WEIGHTS, Place::output, 0, ours.weights, desc.diff_weights_desc()}});
  }
  const auto desc = asked.forward(dnnl::prop_kind::forward_inference);
  std::vector<Operand> operands{{DNNL_ARG_SRC, Place::input, 0, ours.input, desc.src_desc()},
                                {DNNL_ARG_WEIGHTS, Place::input, 1, ours.weights, desc.weights_desc()},
                                {DNNL_ARG_DST, Place::output, 0, ours.output, desc.dst_desc()}};
  if (!ours.bias.is_zero()) operands.push_back({DNNL_ARG_BIAS, Place::input, 2, ours.bias, ours.bias});
  return with_reorders(desc, operands);
}

Convolution operands_of(const HeavySpec& spec) {
  const std::vector<TensorDesc>& in = spec.inputs;
  const TensorDesc& out = spec.outputs[0];
  const auto weights = [&spec](const TensorDesc& desc) { return to_dnnl(grouped(desc, spec.groups)); };
  if (spec.kind == Kind::convolution_to_input) return {to_dnnl(out), weights(in[1]), to_dnnl(in[0]), {}, spec.window};
  if (spec.kind == Kind::convolution_to_weights) return {to_dnnl(in[0]), weights(out), to_dnnl(in[1]), {}, spec.window};
  return {to_dnnl(in[0]), weights(in[1]), to_dnnl(out), in.size() > 2 ? to_dnnl(in[2]) : Desc(), spec.window};
}

std::optional<Recipe> attempt(Kind kind, const Convolution& ours, const Convolution& asked) {
  try {
    Recipe recipe = recipe_of(kind, ours, asked);
    if (!is_reference(recipe)) return recipe;
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented && error.status != dnnl_invalid_arguments) throw;
  }
  return std::nullopt;
}

/// Where oneDNN would gather windows into a matrix, to multiply that, blocks are faster by 12 to 36 % (f32 of 32 to 128
/// channels, 3 x 3, AVX2), reorders included. A window of one tap needs no gathering, and few channels fill no block.
bool likes_blocks(const HeavySpec& spec, const Convolution& ours) {
  const Dims weights = ours.weights.dims();
  const std::size_t first = spec.groups > 1 ? 3 : 2;
  std::int64_t taps = 1;
  for (std::size_t dim = first; dim < weights.size(); ++dim) taps *= weights[dim];
  return taps > 1 && (spec.kind == Kind::convolution || weights[first - 1] >= 8);
}

}  // namespace

Recipe convolution_recipe(const HeavySpec& spec) {
  const Convolution ours = operands_of(spec);
  Convolution asked = ours;
  asked.weights = free_of_format(ours.weights);
  std::optional<Recipe> in_place = attempt(spec.kind, ours, asked);
  const bool gathers = in_place && in_place->implementation.find("gemm") != std::string::npos;
  if (in_place && !(gathers && likes_blocks(spec, ours))) return *std::move(in_place);
  asked.input = free_of_format(ours.input);
  asked.output = free_of_format(ours.output);
  if (!in_place) return recipe_of(spec.kind, ours, asked);
  return attempt(spec.kind, ours, asked).value_or(*std::move(in_place));
}

}  // namespace tenfold::onednn

// SPDX-License-Identifier: Apache-2.0
//
// Resampling to other spatial dims, and its gradient. oneDNN knows half-pixel positions alone.
#include "onednn/primitive.hpp"

namespace tenfold::onednn {

Recipe resample_recipe(const HeavySpec& spec) {
  const bool backward = spec.kind == Kind::resample_to_input;
  const auto algorithm = spec.is_linear ? dnnl::algorithm::resampling_linear : dnnl::algorithm::resampling_nearest;
  const dnnl::memory::desc from = to_dnnl(spec.inputs[0]), to = to_dnnl(spec.outputs[0]);
  const dnnl::memory::desc &input = backward ? to : from, &output = backward ? from : to;
  const auto way = backward ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const dnnl::resampling_forward::primitive_desc forward({way, algorithm, input, output}, attributes(), cpu());
  if (!backward)
    return with_reorders(forward,
                         {{DNNL_ARG_SRC, Place::input, 0, from, from}, {DNNL_ARG_DST, Place::output, 0, to, to}});
  return with_reorders(
      dnnl::resampling_backward::primitive_desc({algorithm, input, output}, attributes(), cpu(), forward),
      {{DNNL_ARG_DIFF_DST, Place::input, 0, from, from}, {DNNL_ARG_DIFF_SRC, Place::output, 0, to, to}});
}

}  // namespace tenfold::onednn

// SPDX-License-Identifier: Apache-2.0
//
// Pools and their gradients. A max pool's gradient needs to know which element was the greatest: the pool runs again
// before it, and leaves that in scratch.
#include <utility>

#include "onednn/primitive.hpp"

namespace tenfold::onednn {
namespace {

dnnl::algorithm algorithm_of(const HeavySpec& spec) {
  if (spec.kind == Kind::max_pool || spec.kind == Kind::max_pool_to_input) return dnnl::algorithm::pooling_max;
  return spec.counts_pads ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_avg_exclude_padding;
}

dnnl::pooling_v2_forward::primitive_desc forward(const HeavySpec& spec, dnnl::prop_kind way, const TensorDesc& input,
                                                 const TensorDesc& output) {
  const Window& window = spec.window;
  return {{way, algorithm_of(spec), to_dnnl(input), to_dnnl(output), window.strides, window.kernel,
           taps_between(window.dilations), window.pads_begin, window.pads_end},
          attributes(),
          cpu()};
}

Recipe backward(const HeavySpec& spec) {
  const bool is_max = spec.kind == Kind::max_pool_to_input;
  const TensorDesc& input = spec.outputs[0];
  const TensorDesc& output = spec.inputs[is_max ? 1 : 0];
  const auto ahead = forward(spec, dnnl::prop_kind::forward_training, input, output);
  const Window& window = spec.window;
  const dnnl::pooling_v2_backward::primitive_desc desc(
      {algorithm_of(spec), to_dnnl(input), to_dnnl(output), window.strides, window.kernel,
       taps_between(window.dilations), window.pads_begin, window.pads_end},
      attributes(), cpu(), ahead);
  Recipe recipe;
  recipe.implementation = desc.impl_info_str();
  std::vector<Binding> bindings{{DNNL_ARG_DIFF_DST, to_dnnl(output), Place::input, is_max ? 1U : 0U, 0},
                                {DNNL_ARG_DIFF_SRC, to_dnnl(input), Place::output, 0, 0}};
  if (is_max) {
    const dnnl::memory::desc place = ahead.workspace_desc(), out = to_dnnl(output);
    const Binding greatest{DNNL_ARG_WORKSPACE, place, Place::scratch, 0, recipe.reserve(place.get_size())};
    const Binding unused{DNNL_ARG_DST, out, Place::scratch, 0, recipe.reserve(out.get_size())};
    add_stage(recipe, ahead, {{DNNL_ARG_SRC, to_dnnl(spec.inputs[0]), Place::input, 0, 0}, unused, greatest});
    bindings.push_back(greatest);
  }
  add_stage(recipe, desc, std::move(bindings));
  return recipe;
}

}  // namespace

Recipe pool_recipe(const HeavySpec& spec) {
  if (spec.kind == Kind::average_pool_to_input || spec.kind == Kind::max_pool_to_input) return backward(spec);
  const auto desc = forward(spec, dnnl::prop_kind::forward_inference, spec.inputs[0], spec.outputs[0]);
  const dnnl::memory::desc in = to_dnnl(spec.inputs[0]), out = to_dnnl(spec.outputs[0]);
  return with_reorders(desc, {{DNNL_ARG_SRC, Place::input, 0, in, in}, {DNNL_ARG_DST, Place::output, 0, out, out}});
}

}  // namespace tenfold::onednn

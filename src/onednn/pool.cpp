// SPDX-License-Identifier: Apache-2.0
//
// Pools and their gradients. A max pool's gradient needs to know which element was the greatest: the pool runs again
// before it, and leaves that in scratch. Where oneDNN's maxima, or the places of them, are not right, a last step of
// our own puts them so.
#include <utility>

#include "onednn/max_windows.hpp"
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

void add_gradient_repair(Recipe& recipe, const HeavySpec& spec, const Binding& input, const Binding& maxima) {
  const auto code = [windows = MaxWindows(spec)](std::span<void* const> at) {
    const auto* const data = static_cast<const float*>(at[0]);
    if (windows.is_doubtful(data, static_cast<const float*>(at[1])))
      windows.find_gradient(data, static_cast<const float*>(at[2]), static_cast<float*>(at[3]));
  };
  recipe.stages.push_back({{},
                           {input,
                            maxima,
                            {DNNL_ARG_DIFF_DST, to_dnnl(spec.inputs[1]), Place::input, 1, 0},
                            {DNNL_ARG_DIFF_SRC, to_dnnl(spec.outputs[0]), Place::output, 0, 0}},
                           code});
}

/// The forward pool's input, laid out as its gradient is, which is what the forward primitive was made for.
Binding input_as_gradient(Recipe& recipe, const HeavySpec& spec) {
  const dnnl::memory::desc ours = to_dnnl(spec.inputs[0]), theirs = to_dnnl(spec.outputs[0]);
  const Binding input{DNNL_ARG_SRC, ours, Place::input, 0, 0};
  if (ours == theirs) return input;
  const Binding copy{DNNL_ARG_SRC, theirs, Place::scratch, 0, recipe.reserve(theirs.get_size())};
  add_stage(recipe, dnnl::reorder::primitive_desc(cpu(), ours, cpu(), theirs, attributes()),
            {{DNNL_ARG_FROM, ours, Place::input, 0, 0}, {DNNL_ARG_TO, theirs, Place::scratch, 0, copy.offset}});
  recipe.implementation += " and reorders";
  return copy;
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
    const Binding maxima{DNNL_ARG_DST, out, Place::scratch, 0, recipe.reserve(out.get_size())};
    const Binding source = input_as_gradient(recipe, spec);
    add_stage(recipe, ahead, {source, maxima, greatest});
    bindings.push_back(greatest);
    add_stage(recipe, desc, std::move(bindings));
    add_gradient_repair(recipe, spec, source, maxima);
    return recipe;
  }
  add_stage(recipe, desc, std::move(bindings));
  return recipe;
}

}  // namespace

Recipe pool_recipe(const HeavySpec& spec) {
  if (spec.kind == Kind::average_pool_to_input || spec.kind == Kind::max_pool_to_input) return backward(spec);
  const auto desc = forward(spec, dnnl::prop_kind::forward_inference, spec.inputs[0], spec.outputs[0]);
  const dnnl::memory::desc in = to_dnnl(spec.inputs[0]), out = to_dnnl(spec.outputs[0]);
  Recipe recipe =
      with_reorders(desc, {{DNNL_ARG_SRC, Place::input, 0, in, in}, {DNNL_ARG_DST, Place::output, 0, out, out}});
  if (spec.kind != Kind::max_pool) return recipe;
  const auto code = [windows = MaxWindows(spec)](std::span<void* const> at) {
    windows.repair(static_cast<const float*>(at[0]), static_cast<float*>(at[1]));
  };
  recipe.stages.push_back(
      {{}, {{DNNL_ARG_SRC, in, Place::input, 0, 0}, {DNNL_ARG_DST, out, Place::output, 0, 0}}, code});
  return recipe;
}

}  // namespace tenfold::onednn

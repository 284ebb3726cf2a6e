// SPDX-License-Identifier: Apache-2.0
#include "onednn/primitive.hpp"

#include <atomic>
#include <utility>

#include "target/fork.hpp"

namespace tenfold::onednn {
namespace {

dnnl::memory::data_type to_dnnl(DType dtype) {
  switch (dtype) {
    case DType::f32: return dnnl::memory::data_type::f32;
    case DType::s32: return dnnl::memory::data_type::s32;
    case DType::s8: return dnnl::memory::data_type::s8;
    case DType::u8: return dnnl::memory::data_type::u8;
    default: return dnnl::memory::data_type::undef;  // which oneDNN refuses
  }
}

}  // namespace

std::int64_t Recipe::reserve(std::size_t bytes) {
  constexpr std::int64_t kAlign = 64;
  const std::int64_t offset = scratch_bytes;
  scratch_bytes += (static_cast<std::int64_t>(bytes) + kAlign - 1) / kAlign * kAlign;
  return offset;
}

Dims taps_between(Dims dilations) {
  for (std::int64_t& dilation : dilations) --dilation;
  return dilations;
}

const dnnl::engine& cpu() {
  static std::atomic<const dnnl::engine*> engine;
  return target::one_of_process(engine, [] { return dnnl::engine(dnnl::engine::kind::cpu, 0); });
}

dnnl::memory::desc to_dnnl(const TensorDesc& desc) { return {desc.shape, to_dnnl(desc.dtype), desc.strides}; }

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

void add_stage(Recipe& recipe, const dnnl::primitive_desc_base& desc, std::vector<Binding> bindings) {
  const dnnl::memory::desc scratch = desc.scratchpad_desc();
  if (scratch.get_size() > 0)
    bindings.push_back({DNNL_ARG_SCRATCHPAD, scratch, Place::scratch, 0, recipe.reserve(scratch.get_size())});
  recipe.stages.push_back({dnnl::primitive(desc.get()), std::move(bindings), {}});
}

Recipe with_reorders(const dnnl::primitive_desc_base& desc, const std::vector<Operand>& operands) {
  Recipe recipe;
  recipe.implementation = desc.impl_info_str();
  std::vector<Binding> bindings;
  const auto reorder = [&recipe](const Binding& from, const Binding& to) {
    add_stage(recipe, dnnl::reorder::primitive_desc(cpu(), from.desc, cpu(), to.desc, attributes()),
              {{DNNL_ARG_FROM, from.desc, from.place, from.index, from.offset},
               {DNNL_ARG_TO, to.desc, to.place, to.index, to.offset}});
  };
  std::vector<std::pair<Binding, Binding>> after;
  for (const Operand& operand : operands) {
    const Binding ours{operand.argument, operand.ours, operand.place, operand.index, 0};
    bindings.push_back(ours);
    if (operand.ours == operand.theirs) continue;
    const std::int64_t offset = recipe.reserve(operand.theirs.get_size());
    const Binding theirs{operand.argument, operand.theirs, Place::scratch, 0, offset};
    bindings.back() = theirs;
    if (operand.place == Place::input) reorder(ours, theirs);
    if (operand.place == Place::output) after.emplace_back(theirs, ours);
  }
  add_stage(recipe, desc, std::move(bindings));
  for (const auto& [from, to] : after) reorder(from, to);
  if (recipe.stages.size() > 1) recipe.implementation += " and reorders";
  return recipe;
}

bool is_reference(const Recipe& recipe) { return recipe.implementation.starts_with("ref"); }

}  // namespace tenfold::onednn

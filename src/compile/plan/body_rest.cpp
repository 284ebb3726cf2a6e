// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/body_rest.hpp"

#include <algorithm>
#include <utility>

namespace tenfold::compiler {

using kernel::Node;

KernelDraft BodyRest::draft(bool reduces) const {
  std::vector<kernel::Level> levels;
  for (const kernel::Level& level : spec_.levels)
    if (reduces || !level.reduced) levels.push_back(level);
  KernelDraft made(std::move(levels));
  for (const kernel::Store& store : spec_.stores) {
    if (std::ranges::find(written_, store.output) != written_.end()) continue;
    const kernel::Operand& output = spec_.outputs[static_cast<std::size_t>(store.output)];
    made.store(copy(made, store.node, reduces), {output.dtype, strides(output.strides, reduces)},
               {Place::Kind::operand, store.output, 0});
  }
  return made;
}

bool BodyRest::counts(const KernelDraft& draft) const {
  return std::ranges::any_of(
      draft.known, [this](const auto& copied) { return kernel::node(spec_, copied.first).kind == Node::Kind::count; });
}

std::vector<std::int64_t> BodyRest::strides(const std::vector<std::int64_t>& whole, bool reduces) const {
  std::vector<std::int64_t> kept;
  for (std::size_t level = 0; level < whole.size(); ++level)
    if (reduces || !spec_.levels[level].reduced) kept.push_back(whole[level]);
  return kept;
}

int BodyRest::copy(KernelDraft& draft, int index, bool reduces) const {
  if (const auto known = draft.known.find(index); known != draft.known.end()) return known->second;
  const Node& node = kernel::node(spec_, index);
  int made = 0;
  if (const auto found = found_.find(index); found != found_.end()) {
    const auto& [dtype, place] = found->second;
    made = draft.load_total({dtype, strides(kernel::dense_kept_strides(spec_), reduces)}, place);
    // Functions of f32 are other ones than those of 16 bits.
    if (kernel::dtype_of(spec_, index) == DType::f32) made = draft.cast(DType::f32, made);
  } else if (node.kind == Node::Kind::load) {
    const kernel::Operand& operand = spec_.inputs[static_cast<std::size_t>(node.index)];
    made = draft.load({operand.dtype, strides(operand.strides, reduces)}, {Place::Kind::operand, node.index, 0});
  } else {
    Node one = node;
    for (int& arg : one.args) arg = copy(draft, arg, reduces);
    made = draft.add(std::move(one));
  }
  draft.known[index] = made;
  return made;
}

}  // namespace tenfold::compiler

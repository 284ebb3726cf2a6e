// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/body_copy.hpp"

#include <algorithm>
#include <utility>

#include "compile/plan/row_merges.hpp"

namespace tenfold::compiler {

using kernel::Function;
using kernel::Node;

int BodyCopy::copy(KernelDraft& draft, int index, const PieceRange* range) const {
  const auto known = draft.known.find(index);
  if (known != draft.known.end()) return known->second;
  const Node& node = kernel::node(spec_, index);
  int made = 0;
  if (held_.contains(index)) {
    made = load_held(draft, index, range);
  } else if (is_exponential(index)) {
    const int difference = copy(draft, node.args[0], range);
    const int zero = draft.constant(kernel::dtype_of(spec_, index), 0);
    made = draft.apply(Function::exp, {draft.apply(Function::min, {difference, zero})});
  } else if (node.kind == Node::Kind::load) {
    kernel::Operand operand = spec_.inputs[static_cast<std::size_t>(node.index)];
    const std::int64_t offset = layout_.take_range(operand, range);
    made = draft.load(std::move(operand), {Place::Kind::operand, node.index, offset});
  } else {
    Node one = node;
    for (int& arg : one.args) arg = copy(draft, arg, range);
    made = draft.add(std::move(one));
  }
  draft.known[index] = made;
  return made;
}

int BodyCopy::load_held(KernelDraft& draft, int index, const PieceRange* range) const {
  kernel::Operand operand{kernel::dtype_of(spec_, index), layout_.row_strides()};
  if (range != nullptr) layout_.split_stride(operand.strides, *range);
  const bool may_repeat = range != nullptr || layout_.apart();
  const auto repeated = may_repeat ? repeated_.find(index) : repeated_.end();
  if (repeated != repeated_.end()) operand.strides = layout_.partial_strides_of_pieces();
  const int made = draft.load_total(std::move(operand), repeated != repeated_.end() ? repeated->second : held(index));
  return is_online_sum(index) ? within_bounds_of_online_sum(draft, made) : made;
}

void BodyCopy::end_kernel() {
  for (const auto& [index, place] : waiting_) held_[index] = place;
  waiting_.clear();
}

/// Of what is left when a maximum is taken off that is held, so that a kernel cannot see that it is one.
bool BodyCopy::is_exponential(int index) const {
  if (!online_.contains(index)) return false;
  const Node& difference = kernel::node(spec_, kernel::node(spec_, index).args[0]);
  return held_.contains(difference.args[1]);
}

bool BodyCopy::is_online_sum(int index) const {
  return std::any_of(online_.begin(), online_.end(), [index](const auto& pair) { return pair.second == index; });
}

}  // namespace tenfold::compiler

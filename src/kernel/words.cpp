// SPDX-License-Identifier: Apache-2.0
#include "kernel/words.hpp"

#include <algorithm>

namespace tenfold::kernel {
namespace {

constexpr std::int64_t kWordBytes = 4;

/// Whether the value's bits depend on none of its arguments' but those in the same places. A boolean has but one.
bool is_bitwise(const Node& node, DType dtype) {
  if (node.kind == Node::Kind::load) return true;
  return node.kind == Node::Kind::apply && dtype != DType::boolean &&
         (node.function == Function::bitwise_and || node.function == Function::bitwise_or ||
          node.function == Function::bitwise_xor || node.function == Function::bitwise_not);
}

/// Strides in words of `elements`; false where elements of the innermost level are not side by side, or rows begin
/// within a word.
bool stride_by_words(Operand& operand, std::int64_t elements) {
  operand.dtype = DType::s32;
  for (std::size_t level = 0; level + 1 < operand.strides.size(); ++level) {
    if (operand.strides[level] % elements != 0) return false;
    operand.strides[level] /= elements;
  }
  return operand.strides.back() == 1;
}

}  // namespace

std::optional<KernelSpec> in_words(const KernelSpec& spec) {
  if (!is_elementwise(spec) || spec.levels.empty() || spec.inputs.empty()) return std::nullopt;
  const DType dtype = spec.inputs[0].dtype;
  const int bytes = byte_size(dtype);
  if (bytes >= kWordBytes || is_floating(dtype)) return std::nullopt;
  if (!std::ranges::all_of(spec.body, [dtype](const Node& node) { return is_bitwise(node, dtype); }))
    return std::nullopt;
  const std::int64_t elements = kWordBytes / bytes;
  KernelSpec words = spec;
  if (words.levels.back().extent % elements != 0) return std::nullopt;
  words.levels.back().extent /= elements;
  for (std::vector<Operand>* operands : {&words.inputs, &words.outputs})
    for (Operand& operand : *operands)
      if (operand.dtype != dtype || !stride_by_words(operand, elements)) return std::nullopt;
  return words;
}

}  // namespace tenfold::kernel

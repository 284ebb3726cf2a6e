// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/repeats.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tenfold::compiler {
namespace {

/// What repeats is read from near by where it has less.
constexpr std::int64_t kFarBytes = std::int64_t{1} << 20;

/// Bytes of the elements that `operand` has along `level` and those within it.
std::int64_t bytes_within(const kernel::KernelSpec& spec, const kernel::Operand& operand, std::size_t level) {
  std::int64_t bytes = byte_size(operand.dtype);
  for (; level < spec.levels.size(); ++level)
    if (operand.strides[level] != 0) bytes *= spec.levels[level].extent;
  return bytes;
}

/// Whether a large input moves along `level` and repeats along the one outside of it.
bool repeats(const kernel::KernelSpec& spec, std::size_t level) {
  return std::ranges::any_of(spec.inputs, [&](const kernel::Operand& input) {
    return input.strides[level - 1] == 0 && input.strides[level] != 0 && bytes_within(spec, input, level) >= kFarBytes;
  });
}

void exchange(kernel::KernelSpec& spec, std::size_t level) {
  std::swap(spec.levels[level - 1], spec.levels[level]);
  for (std::vector<kernel::Operand>* operands : {&spec.inputs, &spec.outputs})
    for (kernel::Operand& operand : *operands) std::swap(operand.strides[level - 1], operand.strides[level]);
}

}  // namespace

void read_repeats_once(kernel::KernelSpec& spec) {
  const auto kept = [&spec](std::size_t level) { return !spec.levels[level].reduced; };
  // The innermost level is that of neighbours.
  for (std::size_t level = 1; level + 1 < spec.levels.size(); ++level)
    for (std::size_t at = level; at > 0 && kept(at) && kept(at - 1) && repeats(spec, at); --at) exchange(spec, at);
}

}  // namespace tenfold::compiler

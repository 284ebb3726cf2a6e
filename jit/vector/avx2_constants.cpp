// SPDX-License-Identifier: Apache-2.0
//
// What packed rows read again and again, in memory or in registers that nobody else writes.
#include <algorithm>
#include <cstring>

#include "jit/vector/packed.hpp"

namespace tenfold::jit {

using Xbyak::Ymm;

void PackedVectors::load_kept() {
  for (const Kept& kept : kept_) code_.vmovdqu(Ymm(kept.reg), assembler_.bytes(kept.bytes));
}

const Xbyak::Operand& PackedVectors::constant(const Bytes& bytes) {
  const auto kept = std::ranges::find(kept_, bytes, &Kept::bytes);
  if (kept != kept_.end()) return register_ = Ymm(kept->reg);
  auto known = std::ranges::find(constants_, bytes, &Constant::bytes);
  if (known == constants_.end()) known = constants_.insert(known, {bytes, 0, assembler_.bytes(bytes)});
  known->uses += weight_;
  return known->place;
}

PackedVectors::Bytes PackedVectors::splat_bytes(std::uint64_t pattern, int bytes) {
  Bytes all{};
  std::uint64_t word = bytes == 8 ? pattern : pattern & ((std::uint64_t{1} << (8 * bytes)) - 1);
  for (int filled = bytes; filled < 8; filled *= 2) word |= word << (8 * filled);
  for (std::size_t at = 0; at < all.size(); at += sizeof word) std::memcpy(all.data() + at, &word, sizeof word);
  return all;
}

Ymm PackedVectors::in_register(const Bytes& bytes, Register spare) {
  const Xbyak::Operand& from = constant(bytes);
  if (from.isYMM()) return register_;
  code_.vmovdqu(Ymm(spare), from);
  return Ymm(spare);
}

}  // namespace tenfold::jit

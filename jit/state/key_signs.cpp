// SPDX-License-Identifier: Apache-2.0
#include "jit/state/key_signs.hpp"

namespace tenfold::jit {
namespace {

bool is_own(const SignRule& signs) { return signs.sign == KeySign::own; }
bool sees_unsigned(const SignRule& signs) { return signs.rule.greatest == is_own(signs); }

}  // namespace

/// Of bits as integers: signed ones have + in order and above all of -, unsigned ones - by magnitude and above all of
/// +.
IntegerOp best_op(const SignRule& signs) {
  if (!is_own(signs)) return IntegerOp::least_signed;
  return signs.rule.greatest ? IntegerOp::greatest_signed : IntegerOp::greatest_unsigned;
}

IntegerOp seen_op(const SignRule& signs) {
  return sees_unsigned(signs) ? IntegerOp::greatest_unsigned : IntegerOp::greatest_signed;
}

void start_seen(PackedVectors& v, const SignRule& signs, PackedVectors::Register seen) {
  const int bytes = byte_size(signs.rule.dtype);
  v.splat(seen, sees_unsigned(signs) ? 0 : std::uint64_t{1} << (8 * bytes - 1), bytes);
}

void map_to_keys(PackedVectors& v, const SignRule& signs, PackedVectors::Register best) {
  const int bytes = byte_size(signs.rule.dtype);
  const std::uint64_t all = (std::uint64_t{1} << (8 * bytes)) - 1;
  // The least negative one becomes the greatest of all, the most negative one the least.
  if (signs.rule.greatest && !is_own(signs)) v.flip_bits(best, all, bytes);
  if (!signs.rule.greatest && is_own(signs)) v.flip_bits(best, all >> 1, bytes);
}

void jump_if_other_nan(PackedVectors& v, const SignRule& signs, PackedVectors::Register seen,
                       const Xbyak::Label& target) {
  const int bytes = byte_size(signs.rule.dtype);
  // From here on a minimum is a maximum with all signs turned over.
  if (sees_unsigned(signs)) v.flip_signs(seen, bytes);
  v.jump_if_beyond(seen, true, float_bits(signs.rule.dtype).infinity, bytes, target);
}

void jump_unless_settled(PackedVectors& v, Assembler& assembler, const SignRule& signs, PackedVectors::Register seen,
                         const Xbyak::Reg64& best, const Xbyak::Label& turn, const Xbyak::Label& exact) {
  Xbyak::CodeGenerator& code = assembler.code();
  const int bytes = byte_size(signs.rule.dtype);
  const FloatBits bits = float_bits(signs.rule.dtype);
  if (!is_own(signs)) {
    // From here on a minimum is a maximum with all signs turned over.
    if (sees_unsigned(signs)) v.flip_signs(seen, bytes);
    v.jump_if_beyond(seen, true, ~std::uint64_t{0}, bytes, turn);
    v.jump_if_beyond(seen, true, bits.negative_infinity, bytes, exact);
    return;
  }
  jump_if_other_nan(v, signs, seen, exact);
  if (!signs.rule.greatest) code.not_(best);
  code.cmp(best, static_cast<std::uint32_t>(bits.infinity));
  code.jg(exact, Xbyak::CodeGenerator::T_NEAR);
  code.test(best, best);
  code.js(turn, Xbyak::CodeGenerator::T_NEAR);
  code.jz(exact, Xbyak::CodeGenerator::T_NEAR);
}

}  // namespace tenfold::jit

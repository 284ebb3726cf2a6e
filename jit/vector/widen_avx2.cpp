// SPDX-License-Identifier: Apache-2.0
#include "jit/vector/widen_avx2.hpp"

#include <array>

namespace tenfold::jit {
namespace {

using Xbyak::Ymm;

/// From memory all eight words come to both halves of a register for nothing, and one shuffle within these does the
/// rest: a widening load is a shuffle as well, and the shift behind it wants the same two ports.
void widen_bf16(Assembler& assembler, const Ymm& d, const Xbyak::Operand& from) {
  Xbyak::CodeGenerator& code = assembler.code();
  if (!from.isMEM()) {
    code.vpmovzxwd(d, from);
    code.vpslld(d, d, 16);
    return;
  }
  constexpr int kZero = 0x80;
  std::array<std::uint8_t, 32> upper{};
  for (std::size_t i = 0; i < upper.size(); ++i)
    upper[i] = static_cast<std::uint8_t>(i % 4 < 2 ? kZero : i / 4 * 2 + i % 2);
  code.vbroadcasti128(d, static_cast<const Xbyak::Address&>(from));
  code.vpshufb(d, d, assembler.bytes(upper));
}

}  // namespace

void widen_elements_avx2(Assembler& assembler, const Ymm& d, DType dtype, const Xbyak::Operand& from) {
  Xbyak::CodeGenerator& code = assembler.code();
  switch (dtype) {
    case DType::f16: code.vcvtph2ps(d, from); break;
    case DType::bf16: widen_bf16(assembler, d, from); break;
    case DType::s8: code.vpmovsxbd(d, from); break;
    case DType::u8:
    case DType::boolean: code.vpmovzxbd(d, from); break;
    case DType::s16: code.vpmovsxwd(d, from); break;
    case DType::u16: code.vpmovzxwd(d, from); break;
    default: code.vmovdqu(d, from); break;
  }
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
#include "jit/vector/vector.hpp"

#include "jit/vector/gather.hpp"
#include "jit/vector/isa.hpp"

namespace tenfold::jit {

std::unique_ptr<VectorLayer> VectorLayer::make(Assembler& assembler, target::Isa isa) {
  return isa == target::Isa::avx2 ? make_avx2_layer(assembler) : make_avx512_layer(assembler);
}

std::unique_ptr<GatherVectors> VectorLayer::gather_vectors() { return nullptr; }

void VectorLayer::arithmetic_ps(Arithmetic op, const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Operand& b) {
  if (op == Arithmetic::add) {
    code_.vaddps(d, a, b);
  } else {
    code_.vmulps(d, a, b);
  }
}

void VectorLayer::arithmetic_pd(Arithmetic op, const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Operand& b) {
  if (op == Arithmetic::add) {
    code_.vaddpd(d, a, b);
  } else {
    code_.vmulpd(d, a, b);
  }
}

FloatBits float_bits(DType dtype) {
  switch (dtype) {
    case DType::bf16: return {0x7f80, 0xff80, 0x7fc0};
    case DType::f16: return {0x7c00, 0xfc00, 0x7e00};
    case DType::f64: return {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000};
    default: return {0x7f800000, 0xff800000, 0x7fc00000};
  }
}

}  // namespace tenfold::jit

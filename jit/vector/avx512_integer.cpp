// SPDX-License-Identifier: Apache-2.0
#include "jit/vector/integer.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

Xmm same_width(int index, const Xmm& like) {
  if (like.isZMM()) return static_cast<Xmm>(Zmm(index));
  return like.isYMM() ? static_cast<Xmm>(Ymm(index)) : Xmm(index);
}

void multiply8(Assembler& assembler, const Xmm& d, const Xmm& a, const Xmm& b) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Xmm odd = same_width(30, d), even = same_width(31, d);
  c.vpsrlw(odd, a, 8);
  c.vpsrlw(even, b, 8);
  c.vpmullw(odd, odd, even);
  c.vpsllw(odd, odd, 8);
  c.vpmullw(even, a, b);
  c.vpandd(even, even, assembler.splat(0x00ff, 2));
  c.vpord(d, odd, even);
}

}  // namespace

void integer_avx512(Assembler& assembler, IntegerOp op, const Xmm& d, const Xmm& a, const Xmm& b, int lane_bits) {
  Xbyak::CodeGenerator& c = assembler.code();
  const auto pick = [lane_bits](const auto& bytes, const auto& words, const auto& dwords, const auto& qwords) {
    switch (lane_bits) {
      case 8: bytes(); break;
      case 16: words(); break;
      case 32: dwords(); break;
      default: qwords(); break;
    }
  };
  switch (op) {
    case IntegerOp::add:
      pick([&] { c.vpaddb(d, a, b); }, [&] { c.vpaddw(d, a, b); }, [&] { c.vpaddd(d, a, b); },
           [&] { c.vpaddq(d, a, b); });
      break;
    case IntegerOp::multiply:
      pick([&] { multiply8(assembler, d, a, b); }, [&] { c.vpmullw(d, a, b); }, [&] { c.vpmulld(d, a, b); },
           [&] { c.vpmullq(d, a, b); });
      break;
    case IntegerOp::greatest_signed:
      pick([&] { c.vpmaxsb(d, a, b); }, [&] { c.vpmaxsw(d, a, b); }, [&] { c.vpmaxsd(d, a, b); },
           [&] { c.vpmaxsq(d, a, b); });
      break;
    case IntegerOp::greatest_unsigned:
      pick([&] { c.vpmaxub(d, a, b); }, [&] { c.vpmaxuw(d, a, b); }, [&] { c.vpmaxud(d, a, b); },
           [&] { c.vpmaxuq(d, a, b); });
      break;
    case IntegerOp::least_signed:
      pick([&] { c.vpminsb(d, a, b); }, [&] { c.vpminsw(d, a, b); }, [&] { c.vpminsd(d, a, b); },
           [&] { c.vpminsq(d, a, b); });
      break;
    case IntegerOp::least_unsigned:
      pick([&] { c.vpminub(d, a, b); }, [&] { c.vpminuw(d, a, b); }, [&] { c.vpminud(d, a, b); },
           [&] { c.vpminuq(d, a, b); });
      break;
  }
}

void abs_integer_avx512(Assembler& assembler, const Xmm& d, int lane_bits) {
  Xbyak::CodeGenerator& c = assembler.code();
  switch (lane_bits) {
    case 8: c.vpabsb(d, d); break;
    case 16: c.vpabsw(d, d); break;
    case 32: c.vpabsd(d, d); break;
    default: c.vpabsq(d, d); break;
  }
}

}  // namespace tenfold::jit

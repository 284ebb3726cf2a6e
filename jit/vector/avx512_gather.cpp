// SPDX-License-Identifier: Apache-2.0
//
// Elements from anywhere in two vectors, on AVX-512. k2 is free to use; k4 to k7 are those of patterns.
#include <bit>

#include "jit/vector/gather.hpp"
#include "jit/vector/isa.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Opmask;
using Xbyak::Ymm;
using Xbyak::Zmm;

class Avx512GatherVectors final : public GatherVectors {
 public:
  using GatherVectors::GatherVectors;

  void prepare(int pattern, Vec places, const Lanes& from, int element_bytes) override {
    Assembler::Bytes64 bytes{};
    std::uint32_t there = 0;
    for (std::size_t lane = 0; lane < from.size(); ++lane) {
      if (from[lane] == kNowhere) continue;
      const std::size_t place = element_bytes == 2 ? 2 * lane + 1 : lane;
      there |= 1U << place;
      bytes[static_cast<std::size_t>(element_bytes) * place] = static_cast<std::uint8_t>(from[lane]);
    }
    code_.vmovdqu64(Zmm(places), assembler_.bytes(bytes));
    Gpr bits(assembler_);
    code_.mov(bits.r32(), there);
    code_.kmovd(mask_of(pattern), bits.r32());
  }

  void gather(Vec d, Vec a, Vec b, int pattern, Vec places, int element_bytes) override {
    code_.vmovdqa64(Zmm(d), Zmm(places));
    const Zmm to = Zmm(d) | mask_of(pattern) | Xbyak::util::T_z;
    element_bytes == 2 ? code_.vpermi2w(to, Zmm(a), Zmm(b)) : code_.vpermi2d(to, Zmm(a), Zmm(b));
  }

  void shuffle_pair(Vec d, Vec a, Vec b, const std::array<int, 4>& from) override {
    const int lanes = from[0] | from[1] << 2 | from[2] << 4 | from[3] << 6;
    code_.vshufps(Zmm(d), Zmm(a), Zmm(b), static_cast<std::uint8_t>(lanes));
  }

  void divide32(Vec d, float by) override {
    code_.vdivps(Zmm(d), Zmm(d), assembler_.splat(std::bit_cast<std::uint32_t>(by), 4));
  }

  void prepare_store(Vec places, DType dtype, const Lanes& from) override {
    Assembler::Bytes64 bytes{};
    for (std::size_t lane = 0; lane < from.size(); ++lane) {
      const auto place = static_cast<std::uint8_t>(from[lane]);
      // Rounded bf16 is the upper word of its lane.
      if (dtype == DType::bf16) {
        bytes[2 * lane] = static_cast<std::uint8_t>(2 * place + 1);
      } else {
        bytes[4 * lane] = place;
      }
    }
    code_.vmovdqu64(Zmm(places), assembler_.bytes(bytes));
  }

  void store(const Memory& to, DType dtype, Vec s, Vec places) override {
    if (dtype == DType::bf16) {
      // To nearest even: less than half a unit, and half a unit where the last bit that is kept is set.
      code_.vptestmd(Opmask(2), Zmm(s), assembler_.splat(0x10000, 4));
      code_.vpaddd(Zmm(s), Zmm(s), assembler_.splat(0x7fff, 4));
      code_.vpaddd(Zmm(s) | Opmask(2), Zmm(s), assembler_.splat(1, 4));
      code_.vpermw(Zmm(s), Zmm(places), Zmm(s));
      code_.vmovdqu(code_.ptr[to], Ymm(s));
      return;
    }
    code_.vpermd(Zmm(s), Zmm(places), Zmm(s));
    if (dtype == DType::f32) return code_.vmovups(code_.ptr[to], Zmm(s));
    code_.vcvtps2ph(code_.ptr[to], Zmm(s), 0);
  }

 private:
  static Opmask mask_of(int pattern) { return Opmask(4 + pattern); }
};

}  // namespace

std::unique_ptr<GatherVectors> make_avx512_gather_vectors(Assembler& assembler) {
  return std::make_unique<Avx512GatherVectors>(assembler);
}

}  // namespace tenfold::jit

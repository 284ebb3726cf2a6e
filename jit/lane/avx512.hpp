// SPDX-License-Identifier: Apache-2.0
//
// One operation of a lane program on a zmm, or on the lower ymm of one; for avx512.cpp alone. Which registers are
// the layer's own is said here.
#pragma once

#include <span>

#include "jit/lane/layer.hpp"

namespace tenfold::jit {

class Avx512Operation {
 public:
  /// Registers that no vector is.
  static constexpr int kSpare = 31, kOrdered = 28;
  static constexpr int kLoadPlaces = 29, kStorePlaces = 30;      ///< of words of bf16
  static constexpr int kUnit = 25, kBelowHalf = 26, kHalf = 27;  ///< what rounds to bf16
  static constexpr int kVectors = 25;
  static constexpr int kMask = 2;                   ///< the layer's own
  static constexpr int kFirstMask = 3, kMasks = 5;  ///< of compare_into()

  /// `mask`: where a comparison or a shifted bit stays, or a selection finds one; else they are in vectors.
  Avx512Operation(Assembler& assembler, LaneLayer& layer, const LaneNode& node, int mask = kMask)
      : assembler_(assembler),
        code_(assembler.code()),
        layer_(layer),
        node_(node),
        lanes_(layer.lanes()),
        mask_(mask) {}

  /// Clobbers kSpare and the mask.
  void emit(Vec d, std::span<const LaneSource> args);

  /// What so many lanes of `bytes` take of a register.
  static Xbyak::Xmm sized(int lanes, int index, int bytes) {
    const int total = lanes * bytes;
    return Xbyak::Xmm(total <= 16   ? Xbyak::Operand::XMM
                      : total == 32 ? Xbyak::Operand::YMM
                                    : Xbyak::Operand::ZMM,
                      index);
  }
  static void constant(Assembler& assembler, const Xbyak::Xmm& d, std::uint64_t pattern, int bytes);
  /// What exp2_eighths() looks up.
  static Xbyak::Address roots(LaneLayer& layer, std::uint64_t scale_bits);

 private:
  Xbyak::Xmm sized(int index, int bytes) const { return sized(lanes_, index, bytes); }
  Xbyak::Xmm vector(Vec v, int bytes) const { return sized(v, bytes); }
  Xbyak::Address memory(const LaneSource& source) { return assembler_.splat(source.pattern, source.bytes); }
  Xbyak::Xmm in_register(const LaneSource& source, int bytes);
  template <class F>
  void with_operand(const LaneSource& source, int bytes, const F& emit);

  template <class Instruction, std::size_t n>
  bool two_by(const Instruction (&rows)[n], Vec d, LaneSource a, LaneSource b);
  void two(Vec d, std::span<const LaneSource> args);
  void multiply8(Vec d, LaneSource a, LaneSource b);
  void fused(Vec d, std::span<const LaneSource> args);
  void one_real(Vec d, const LaneSource& a);
  void shift(Vec d, const LaneSource& a);
  void exp2_eighths(Vec d, const LaneSource& a, const LaneSource& b);
  void compare(Vec d, std::span<const LaneSource> args);
  void select(Vec d, std::span<const LaneSource> args);
  void convert(Vec d, const LaneSource& a);
  void between_lanes(Vec d, std::span<const LaneSource> args);

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  LaneLayer& layer_;
  const LaneNode& node_;
  int lanes_;
  bool in_mask() const { return mask_.getIdx() != kMask; }
  Xbyak::Opmask mask_;
};

}  // namespace tenfold::jit

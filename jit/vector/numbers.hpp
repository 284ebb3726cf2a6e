// SPDX-License-Identifier: Apache-2.0
//
// What the extremes of f64 need of the vector layer where 64-bit integers have none of their own (AVX2): the machine's
// own max and min, which disagree with ours about NaNs and the signs of zeros alone.
#pragma once

#include "jit/vector/vector.hpp"

namespace tenfold::jit {

/// Virtual vectors of eight f64 lanes.
class NumberVectors {
 public:
  NumberVectors(Assembler& assembler, bool greatest)
      : assembler_(assembler), code_(assembler.code()), greatest_(greatest) {}

  enum class Op {
    extreme,  ///< of numbers, a zero of any sign where they are zeros
    sum,      ///< which any NaN spoils
    facts,    ///< what is true of all elements, in two bits: they are numbers; they have the sign of zeros that lose
  };
  /// d = d with s.
  void combine(Op op, Vec d, Vec s);
  /// Adds those of the elements `s` to the facts `d`, which start as kAllTrue. Clobbers `s`.
  void look(Vec d, Vec s);
  static constexpr std::uint64_t kAllTrue = ~std::uint64_t{0};
  /// The lanes of `d` into lane 0. Clobbers the layer's last vector.
  void fold(Op op, Vec d);

  /// Jumps when no lane of a sum is a NaN.
  void jump_if_numbers(Vec sum, const Xbyak::Label& target);
  /// Jumps when no lane is a zero.
  void jump_if_no_zero(Vec extreme, const Xbyak::Label& target);
  /// Jumps when lane 0 of `extreme` is no zero, and that of `sum` no NaN.
  void jump_if_settled(Vec extreme, Vec sum, const Xbyak::Label& target);
  /// The answer, in `extreme`.
  void finish(Vec extreme, Vec facts);

 private:
  void combine(Op op, const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Xmm& b);

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  bool greatest_;
};

}  // namespace tenfold::jit

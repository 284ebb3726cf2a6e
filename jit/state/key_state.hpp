// SPDX-License-Identifier: Apache-2.0
//
// Arg-max and arg-min of elements of 8 or 16 bits, the first of equals, on keys (keys.hpp): extremes and codes of their
// places, which have as many bits as an element, so that both are folded into wider ones from time to time, as sums
// are, which is what a chain is here. What rows and columns have in common; row_keys.cpp and
// column_keys.cpp say what codes are numbers of, and where they are.
//
// Registers of 32 bytes at every level, as of packed rows: elements in 0 and 1, keys in 2 and 3, what is free in 4, the
// greatest magnitude in 5, codes from 8 on.
#pragma once

#include "jit/assembler/frame.hpp"
#include "jit/state/keys.hpp"
#include "jit/state/kinds.hpp"
#include "jit/state/state.hpp"

namespace tenfold::jit {

class KeyState : public ReduceState {
 public:
  KeyState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body, int chain,
           int record_planes)
      : ReduceState(layer, spec, body,
                    {.lane_bits = 8 * byte_size(spec.inputs[0].dtype),
                     .chain = chain,
                     .record_planes = record_planes,
                     .stores_tails = false,
                     .in_order = true,
                     .has_second_pass = is_floating(spec.inputs[0].dtype),
                     .second_pass_redoes = true}),
        keys_(layer.assembler()),
        assembler_(layer.assembler()),
        code_(assembler_.code()),
        rule_{input_, body.monoid == kernel::Monoid::argmax, body.last} {}

  void merge(int, int) override {}
  void fold() override {}
  void finish(Part) override {}

 protected:
  using Register = PackedVectors::Register;
  static constexpr Register kLoaded = 0, kUpper = 1, kLow = 2, kHigh = 3, kSpare = 4, kSeen = 5, kBase = 6, kCode = 8;
  static constexpr Register kWinner = 6, kOther = 7, kOtherWinner = 12;  // of several rows, or steps
  /// The vector that begins with kLoaded at every level; on AVX2 it goes on with kUpper, which is free then.
  static constexpr Vec kLoadedVec = 0;
  static constexpr int kBytes = PackedVectors::kBytes;

  std::uint64_t worst_element() const {
    if (is_floating(input_)) {
      const FloatBits bits = float_bits(input_);
      return rule_.greatest ? bits.negative_infinity : bits.infinity;
    }
    const bool is_signed = row(input_).kind == DTypeKind::signed_integer;
    const std::uint64_t sign = std::uint64_t{1} << (lane_bits() - 1);
    return worst_key(rule_, input_bytes()) ^ (is_signed ? 0 : sign);
  }

  /// A step, of a tail with what loses to all in the lanes past it.
  void load_step(const Memory& from, Part part) {
    if (part == Part::tail) {
      v_.load_integers(kLoadedVec, from, lane_bits(), part);
      v_.fill_past_tail(kLoadedVec, worst_element(), lane_bits());
    } else {
      keys_.load(kLoaded, from);
    }
  }

  PackedVectors keys_;
  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  KeyRule rule_;
};

}  // namespace tenfold::jit

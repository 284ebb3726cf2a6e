// SPDX-License-Identifier: Apache-2.0
//
// Arg-max and arg-min of elements of 8 or 16 bits, the first of equals, on keys (keys.hpp): half as many lanes as
// elements, one operation each. A code has as many bits as an element, so keys are folded into wider ones from time to
// time, as sums are, which is what a chain is here. What rows and columns have in common; state_row_keys.cpp and
// state_column_keys.cpp say what codes are numbers of.
//
// Registers of 32 bytes at every level, as of packed rows: elements in 0 and 1, keys in 2 and 3, what is free in 4, the
// greatest magnitude in 5, codes from 8 to 11 (of columns, one for each row of a sweep).
#pragma once

#include "jit/frame.hpp"
#include "jit/keys.hpp"
#include "jit/state.hpp"
#include "jit/state_kinds.hpp"

namespace tenfold::jit {

class KeyState : public ReduceState {
 public:
  KeyState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
      : ReduceState(layer, spec, body),
        keys_(layer.assembler()),
        assembler_(layer.assembler()),
        code_(assembler_.code()),
        rule_{input_, body.monoid == kernel::Monoid::argmax, body.last} {}

  int lane_bits() const override { return 8 * input_bytes(); }
  bool stores_tails() const override { return false; }
  bool in_order() const override { return true; }
  bool has_second_pass() const override { return is_floating(input_); }
  bool second_pass_redoes() const override { return true; }

  void init_set(int set) override {
    if (set > 0) return;
    keys_.splat(kLow, worst_key(rule_, key_bytes()), key_bytes());
    keys_.splat(kHigh, worst_key(rule_, key_bytes()), key_bytes());
    start_code(0);
  }
  void step(int, const Memory& from, Part part) override {
    if (part == Part::tail) {
      v_.load_integers(kLoadedVec, from, lane_bits(), part);
      v_.fill_past_tail(kLoadedVec, worst_element(), lane_bits());
    } else {
      keys_.load(kLoaded, from);
    }
    map(kLoaded);
    take_loaded();
  }
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

  /// kLoaded with the code of its step, or row.
  virtual void take_loaded() = 0;
  /// The code of each element of step, or row, `number`.
  virtual int place_of(int byte, int number) const = 0;
  virtual void map(Register loaded) { map_to_key_order(keys_, rule_, {loaded, kSpare, kSeen}, pass_ != Pass::first); }

  int key_bytes() const { return 2 * input_bytes(); }
  std::uint64_t worst_element() const {
    if (is_floating(input_)) {
      const FloatBits bits = float_bits(input_);
      return rule_.greatest ? bits.negative_infinity : bits.infinity;
    }
    const bool is_signed = row(input_).kind == DTypeKind::signed_integer;
    const std::uint64_t sign = std::uint64_t{1} << (lane_bits() - 1);
    return worst_key(rule_, input_bytes()) ^ (is_signed ? 0 : sign);
  }

  void start_code(int number) {
    PackedVectors::Bytes bytes{};
    for (int byte = 0; byte < kBytes; ++byte)
      bytes[static_cast<std::size_t>(byte)] =
          static_cast<std::uint8_t>(place_code(rule_, place_of(byte, number)) >> (8 * (byte % input_bytes())));
    keys_.load_constant(kCode + number, bytes);
  }
  void move_code(int number, int places) {
    keys_.add_constant(kCode + number, inverts_codes(rule_) ? -places : places, input_bytes());
  }

  void load(Register to, const Memory& from) {
    keys_.load(to, from);
    map(to);
  }
  /// kLoaded with `codes`.
  void enter(Register codes) {
    keys_.unpack_keys(kLoaded, kUpper, codes, input_bytes());
    keys_.integer(key_op(rule_), kLow, kLow, kLoaded, 8 * key_bytes());
    keys_.integer(key_op(rule_), kHigh, kHigh, kUpper, 8 * key_bytes());
  }

  /// The code that the first element of the next step would have.
  void load_code(const Xbyak::Reg32& code) {
    keys_.first_lane(code, kCode);
    if (inverts_codes(rule_)) code_.not_(code);
    code_.and_(code, (1 << (8 * input_bytes())) - 1);
  }

  PackedVectors keys_;
  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  KeyRule rule_;
};

}  // namespace tenfold::jit

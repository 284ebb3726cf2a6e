// SPDX-License-Identifier: Apache-2.0
//
// Keys of rows: the code is the number of the step (of 16 bits: the place among the elements since the last flush); a
// flush folds all lanes into one, and this into the extreme so far in the upper and the index in the lower half of a
// qword. All sets are one: steps side by side become one step first, lane by lane, which costs a fraction of entering
// each, and once it is known which of these has the extreme, its elements are looked through. Floats are taken by their
// signs as long as that settles rows (key_signs.hpp).
#include "jit/state/key_signs.hpp"
#include "jit/state/key_state.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::util::rbp;

/// In frame::kRows: the key so far, how many elements there were before those that are not flushed, and whether the
/// last row was settled by the other sign.
constexpr int kTotal = frame::kRows, kTaken = kTotal + 8, kOtherSign = kTaken + 8;
/// The number of a step has 8 bits, of words 16 together with the place in it. What is found is looked at again, better
/// while it is in L2.
constexpr int kStepsOfBytes = 240, kStepsOfWords = 1000, kStepShift = 4;

class RowKeys final : public KeyState, public SignPasses {
 public:
  RowKeys(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
      : KeyState(layer, spec, body, byte_size(spec.inputs[0].dtype) == 1 ? kStepsOfBytes : kStepsOfWords, 1) {
    if (is_floating(input_)) roles_.sign_passes = this;
  }

  void init_totals() override {
    takes_bits() ? start_seen(keys_, signs(), kSeen) : keys_.splat(kSeen, 0, 4);
    Gpr worst(assembler_);
    code_.mov(worst, worst_key(rule_, 8));
    code_.mov(code_.qword[rbp + kTotal], worst);
    code_.mov(code_.qword[rbp + kTaken], 0);
  }
  void init_set(int set) override {
    group_ = 1;
    if (set > 0) return;
    keys_.splat(kLow, worst_key(rule_, key_bytes()), key_bytes());
    keys_.splat(kHigh, worst_key(rule_, key_bytes()), key_bytes());
    start_code();
  }
  void step(int, const Memory& from, Part part) override {
    load_step(from, part);
    map(kLoaded);
    take_loaded();
  }

  /// Of elements of several steps the most extreme enter, by lane; a flush looks for them again.
  void step_sets(const std::vector<Memory>& steps) override {
    group_ = static_cast<int>(steps.size());
    takes_bits() && group_ % 2 == 0 ? load_best_bits(steps) : load_best(steps);
    take_loaded();
  }
  void read_by(const Xbyak::Reg64& next) override { next_ = next; }

  void start_signs() override { code_.mov(code_.dword[rbp + kOtherSign], 0); }
  void jump_if_other_sign(const Xbyak::Label& other) override {
    code_.cmp(code_.dword[rbp + kOtherSign], 0);
    code_.jne(other, Xbyak::CodeGenerator::T_NEAR);
  }
  void jump_by_sign(const Xbyak::Label& settled, const Xbyak::Label& turn, const Xbyak::Label& second) override {
    Gpr best(assembler_);
    code_.movsxd(best, code_.dword[rbp + kTotal + 4]);
    jump_unless_settled(keys_, assembler_, signs(), kSeen, best, turn, second);
    code_.mov(code_.dword[rbp + kOtherSign], pass_ == Pass::other ? 1 : 0);
    code_.jmp(settled, Xbyak::CodeGenerator::T_NEAR);
  }

  /// The elements since the last flush to one, and this against the total.
  void flush(int) override {
    Gpr value(assembler_), index(assembler_);
    Xbyak::Label stays;
    fold_keys(value, index);
    if (group_ > 1) find_in_group(value, index);
    code_.add(index.r32(), code_.dword[rbp + kTaken]);
    if (inverts_codes(rule_)) code_.not_(index.r32());
    code_.shl(value, 32);
    code_.or_(value, index);
    code_.cmp(value, code_.qword[rbp + kTotal]);
    rule_.greatest ? code_.jle(stays) : code_.jge(stays);
    code_.mov(code_.qword[rbp + kTotal], value);
    code_.L(stays);
    load_steps(index);
    code_.imul(index.r32(), index.r32(), group_ * lanes());
    code_.add(code_.dword[rbp + kTaken], index.r32());
  }

  /// The total is in the frame; there are no records.
  int record_bytes() const override { return 0; }
  void init_record(const Memory&) override {}
  void load_set(const Memory&) override {}
  void store_set(const Memory&) override {}
  void flush_record(const Memory&) override {}
  void load_totals(const Memory&) override {}

  void store(int, const Memory& to, Part) override {
    Gpr index(assembler_);
    code_.mov(index.r32(), code_.dword[rbp + kTotal]);
    if (inverts_codes(rule_)) code_.not_(index.r32());
    output_ == DType::s64 ? code_.mov(code_.qword[to], index) : code_.mov(code_.dword[to], index.r32());
  }

 private:
  int key_bytes() const { return 2 * input_bytes(); }

  /// kLoaded with the code of its step.
  void take_loaded() {
    keys_.unpack_keys(kLoaded, kUpper, kCode, input_bytes());
    keys_.integer(key_op(rule_), kLow, kLow, kLoaded, 8 * key_bytes());
    keys_.integer(key_op(rule_), kHigh, kHigh, kUpper, 8 * key_bytes());
    const int places = input_bytes() == 2 ? lanes() : 1;
    keys_.add_constant(kCode, inverts_codes(rule_) ? -places : places, input_bytes());
  }

  /// Of words the place in the step as well.
  void start_code() {
    PackedVectors::Bytes bytes{};
    for (int byte = 0; byte < kBytes; ++byte) {
      const int place = input_bytes() == 2 ? byte / 2 : 0;
      bytes[static_cast<std::size_t>(byte)] =
          static_cast<std::uint8_t>(place_code(rule_, place) >> (8 * (byte % input_bytes())));
    }
    keys_.load_constant(kCode, bytes);
  }
  /// The code that the first element of the next step would have.
  void load_code(const Xbyak::Reg32& code) {
    keys_.first_lane(code, kCode);
    if (inverts_codes(rule_)) code_.not_(code);
    code_.and_(code, (1 << (8 * input_bytes())) - 1);
  }

  void load(Register to, const Memory& from) {
    keys_.load(to, from);
    map(to);
  }
  void map(Register loaded) {
    if (!takes_bits()) return map_to_key_order(keys_, rule_, {loaded, kSpare, kSeen}, pass_ != Pass::first);
    keys_.integer(seen_op(signs()), kSeen, kSeen, loaded, lane_bits());
    map_to_keys(keys_, signs(), loaded);
  }
  bool takes_bits() const { return is_floating(input_) && pass_ != Pass::second; }
  SignRule signs() const { return {rule_, pass_ == Pass::other ? KeySign::other : KeySign::own}; }

  void load_best(const std::vector<Memory>& steps) {
    load(kLoaded, steps[0]);
    for (std::size_t next = 1; next < steps.size(); ++next) {
      load(kUpper, steps[next]);
      keys_.integer(key_op(rule_), kLoaded, kLoaded, kUpper, lane_bits());
    }
  }
  /// The best of pairs of steps, so that kSeen waits for one operation of all and not for one of each.
  void load_best_bits(const std::vector<Memory>& steps) {
    const IntegerOp best = best_op(signs()), seen = seen_op(signs());
    for (std::size_t at = 0; at < steps.size(); at += 2) {
      const Register first = at == 0 ? kLoaded : kUpper, second = at == 0 ? kUpper : kWinner;
      keys_.load(first, steps[at]);
      keys_.load(second, steps[at + 1]);
      keys_.integer(seen, at == 0 ? kSpare : kOther, first, second, lane_bits());
      keys_.integer(best, first, first, second, lane_bits());
      if (at == 0) continue;
      keys_.integer(seen, kSpare, kSpare, kOther, lane_bits());
      keys_.integer(best, kLoaded, kLoaded, kUpper, lane_bits());
    }
    keys_.integer(seen, kSeen, kSeen, kSpare, lane_bits());
    map_to_keys(keys_, signs(), kLoaded);
  }

  /// How many steps, or groups of them, there were.
  void load_steps(const Xbyak::Reg64& steps) {
    load_code(steps.cvt32());
    if (input_bytes() == 2) code_.shr(steps.cvt32(), kStepShift);
  }

  /// The extreme, with its sign, and its place; of groups the number of the group.
  void fold_keys(const Gpr& value, const Gpr& index) {
    if (input_bytes() == 1) add_places();
    keys_.integer(key_op(rule_), kLow, kLow, kHigh, 32);
    keys_.fold32(value.r32(), kLow, key_op(rule_));
    code_.mov(index.r32(), value.r32());
    if (inverts_codes(rule_)) code_.not_(index.r32());
    code_.sar(value.r32(), input_bytes() == 1 ? 24 : 16);
    if (input_bytes() == 2) {
      code_.and_(index.r32(), 0xffff);
      if (group_ > 1) code_.shr(index.r32(), kStepShift);
      return;
    }
    // 8 bits of the step are above 16 of the place in it.
    if (group_ > 1) {
      code_.shr(index.r32(), 16);
      code_.and_(index.r32(), 0xff);
      return;
    }
    Gpr step(assembler_);
    code_.mov(step.r32(), index.r32());
    code_.shr(step.r32(), 16);
    code_.and_(step.r32(), 0xff);
    code_.and_(index.r32(), kBytes - 1);
    code_.imul(step.r32(), step.r32(), kBytes);
    code_.add(index.r32(), step.r32());
  }

  /// From the number of a group to the place of the first `value` in it.
  void find_in_group(const Gpr& value, const Gpr& index) {
    Gpr at(assembler_), low(assembler_), high(assembler_), mask(assembler_);
    load_steps(at);
    code_.sub(at, index);
    code_.imul(at, at, -group_ * kBytes);
    code_.add(at, next_);
    code_.imul(index, index, group_ * kBytes);
    keys_.broadcast_element(kBase, value.r32(), input_bytes());
    for (int step = 0; step < group_; ++step) {
      const Gpr& bits = step < 2 ? low : high;
      load(kLoaded, at.reg() + kBytes * step);
      keys_.equal_bytes(step % 2 == 0 ? bits.r32() : mask.r32(), kLoaded, kBase, input_bytes());
      if (step % 2 == 0) continue;
      code_.shl(mask, kBytes);
      code_.or_(bits, mask);
    }
    if (group_ > 2) {
      code_.tzcnt(high, high);
      code_.add(high, 2 * kBytes);
    }
    code_.tzcnt(low, low);
    if (group_ > 2) code_.cmovc(low, high);
    code_.add(index, low);
    if (input_bytes() == 2) code_.shr(index.r32(), 1);
  }

  /// Keys of 16 bits to the better of two of 32 bits each, with the element's place in the step below. Unpacking has
  /// brought elements 0 to 7 and 16 to 23 to kLow.
  void add_places() {
    for (const Register reg : {kLow, kHigh}) {
      PackedVectors::Bytes codes{};
      for (int byte = 0; byte < kBytes; ++byte) {
        const int place = byte / 16 * 16 + byte % 16 / 2 + (reg == kHigh ? 8 : 0);
        codes[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(place_code(rule_, place) >> (8 * (byte % 2)));
      }
      keys_.load_constant(kUpper, codes);
      keys_.unpack_keys(reg, kLoaded, kUpper, 2);
      keys_.integer(key_op(rule_), reg, reg, kLoaded, 32);
    }
  }

  int group_ = 1;      ///< steps that enter as one
  Xbyak::Reg64 next_;  ///< where the next step is
};

}  // namespace

std::unique_ptr<ReduceState> make_row_key_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                const schedule::ReduceBody& body) {
  return std::make_unique<RowKeys>(layer, spec, body);
}

}  // namespace tenfold::jit

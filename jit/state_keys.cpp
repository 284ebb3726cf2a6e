// SPDX-License-Identifier: Apache-2.0
//
// Arg-max and arg-min of elements of 8 or 16 bits, the first of equals, on keys (keys.hpp): half as many lanes as
// elements, one operation each. A code has as many bits as an element, so keys are folded into wider ones from time to
// time, as sums are, which is what a chain is here.
//
// Rows: the code is the number of the step (of 16 bits: the place among the elements since the last flush); a flush
// folds all lanes into one, and this into the extreme so far in the upper and the index in the lower half of a qword.
// All sets are one: steps side by side become one step first, lane by lane, which costs a fraction of entering each,
// and once it is known which of these has the extreme, its elements are looked through. Columns: the code is the number
// of the row, of which a flush keeps the low bits, in a record that has the keys in its first plane and values and
// indices, in lanes of 32 bits, of eight columns in each other.
//
// Registers of 32 bytes at every level, as of packed rows: elements in 0 and 1, keys in 2 and 3, what is free in 4, the
// greatest magnitude in 5, codes from 8 to 11 (of columns, one for each row of a sweep).
#include "jit/frame.hpp"
#include "jit/keys.hpp"
#include "jit/state.hpp"
#include "jit/state_kinds.hpp"

namespace tenfold::jit {
namespace {

using Register = PackedVectors::Register;
using Xbyak::util::rbp;

constexpr Register kLoaded = 0, kUpper = 1, kLow = 2, kHigh = 3, kSpare = 4, kSeen = 5, kBase = 6, kCode = 8;
/// The vector that begins with kLoaded at every level; on AVX2 it goes on with kUpper, which is free then.
constexpr Vec kLoadedVec = 0;
constexpr Register kWinner = 6, kOther = 7, kOtherWinner = 12;  // of the rows of a sweep
constexpr int kBytes = PackedVectors::kBytes;
constexpr int kGroup = kBytes / 4;  ///< columns of a vector of indices
constexpr int kRowsAtOnce = 4;
/// In frame::kRows. Rows: the key so far, and how many elements there were before those that are not flushed. Columns:
/// rows taken, and those before them; of columns in registers the keys, and then indices.
constexpr int kTotal = frame::kRows, kTaken = kTotal + 8, kBefore = kTaken + 8;
constexpr int kKeys = frame::kRows + 64, kIndices = kKeys + 64;
static_assert(kIndices + 32 * 4 <= frame::kRecords);
/// Of a row: the number of a step has 8 bits, of words 16 together with the place in it. What is found is looked at
/// again, better while it is in L2.
constexpr int kStepsOfBytes = 240, kStepsOfWords = 1000, kStepShift = 4;

class KeyState final : public ReduceState {
 public:
  KeyState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body, schedule::Nest nest)
      : ReduceState(layer, spec, body),
        keys_(layer.assembler()),
        assembler_(layer.assembler()),
        code_(assembler_.code()),
        rule_{input_, body.monoid == kernel::Monoid::argmax, body.last},
        rows_(nest == schedule::Nest::rows) {}

  int lane_bits() const override { return 8 * input_bytes(); }
  bool stores_tails() const override { return false; }
  bool in_order() const override { return true; }
  bool has_second_pass() const override { return is_floating(input_); }
  bool second_pass_redoes() const override { return true; }
  int chain() const override {
    if (rows_) return input_bytes() == 1 ? kStepsOfBytes : kStepsOfWords;
    return 1 << (8 * input_bytes());
  }

  void init_totals() override {
    keys_.splat(kSeen, 0, 4);
    if (!rows_) return;
    Gpr worst(assembler_);
    code_.mov(worst, worst_key(rule_, 8));
    code_.mov(code_.qword[rbp + kTotal], worst);
    code_.mov(code_.qword[rbp + kTaken], 0);
  }

  void init_set(int set) override {
    if (set > 0) return;
    keys_.splat(kLow, worst_key(rule_, key_bytes()), key_bytes());
    keys_.splat(kHigh, worst_key(rule_, key_bytes()), key_bytes());
    start_code(0);
    group_ = 1;
  }

  void step(int, const Memory& from, Part part) override {
    if (part == Part::tail) {
      v_.load_integers(kLoadedVec, from, lane_bits(), part);
      v_.fill_past_tail(kLoadedVec, worst_element(), lane_bits());
      map_loaded(kLoaded);
    } else {
      load(kLoaded, from);
    }
    take_loaded();
  }

  /// Of elements of several steps the most extreme enter, by lane; a flush looks for them again.
  void step_sets(const std::vector<Memory>& steps) override {
    group_ = static_cast<int>(steps.size());
    load(kLoaded, steps[0]);
    for (std::size_t next = 1; next < steps.size(); ++next) {
      load(kUpper, steps[next]);
      keys_.integer(key_op(rule_), kLoaded, kLoaded, kUpper, lane_bits());
    }
    take_loaded();
  }
  void read_by(const Xbyak::Reg64& next) override { next_ = next; }

  /// Adjacent rows play it out in pairs, each column for itself, and the winner enters with its own code: three
  /// operations for each row that drops out, where entering takes four.
  void step_rows(int set, const std::vector<Memory>& rows) override {
    if (rows.size() != kRowsAtOnce) return ReduceState::step_rows(set, rows);
    play(kLoaded, kUpper, kWinner, rows[0], rows[1], kCode);
    play(kUpper, kOther, kOtherWinner, rows[2], rows[3], kCode + 2);
    keys_.beats(kOther, kUpper, kLoaded, rule_.greatest, input_bytes());
    keys_.integer(key_op(rule_), kLoaded, kLoaded, kUpper, lane_bits());
    keys_.blend(kWinner, kOtherWinner, kOther);
    enter(kWinner);
    row_ += kRowsAtOnce;
  }

  void merge(int, int) override {}

  void flush(int) override { rows_ ? flush_row() : flush_registers(); }

  void first_row() override {
    tiled_ = true;
    for (int row = 0; row < kRowsAtOnce; ++row) start_code(row);
    code_.mov(code_.qword[rbp + kTaken], 0);
    code_.mov(code_.qword[rbp + kBefore], 0);
  }
  /// Each chain of steps begins with 0, so that what came before it is all in kBefore.
  void number_steps() override {
    numbers_steps_ = true;
    tiled_ = false;
    code_.mov(code_.qword[rbp + kTaken], 1);
  }
  void number_rows(int rows_of_step) override {
    Gpr before(assembler_);
    code_.imul(before, code_.qword[rbp + (numbers_steps_ ? kBefore : kTaken)], rows_of_step);
    numbers_steps_ = false;
    first_row();
    code_.mov(code_.qword[rbp + kBefore], before);
  }
  PlaceRule place_rule() const override { return {32, rule_.greatest, rule_.last, false, key_op(rule_)}; }
  void lay_places(const Memory& record, const Places& to) override {
    for (int group = 0; group < groups(); ++group)
      for (int plane = 0; plane < 2; ++plane) {
        keys_.load(kLoaded, total(record, group) + kBytes * plane);
        keys_.store(to.plane(plane) + kBytes * group, kLoaded);
      }
  }
  void take_places(const Memory& record, const Places& from) override {
    for (int group = 0; group < groups(); ++group)
      for (int plane = 0; plane < 2; ++plane) {
        keys_.load(kLoaded, from.plane(plane) + kBytes * group);
        keys_.store(total(record, group) + kBytes * plane, kLoaded);
      }
    reset_keys(record);
  }
  void next_rows(int rows) override {
    for (int row = 0; row < kRowsAtOnce; ++row) move_code(row, rows);
    code_.add(code_.qword[rbp + kTaken], rows);
  }

  void start_sweep() override { keys_.splat(kSeen, 0, 4); }
  void jump_if_clean(const Xbyak::Label& clean) override {
    Xbyak::Label spoilt;
    keys_.jump_if_beyond(kSeen, true, float_bits(input_).infinity, input_bytes(), spoilt);
    code_.jmp(clean, Xbyak::CodeGenerator::T_NEAR);
    code_.L(spoilt);
  }
  void jump_if_settled(const Xbyak::Label& settled, Part) override { jump_if_clean(settled); }

  int record_bytes() const override { return 2 * kBytes; }
  int record_planes() const override { return 1 + groups(); }
  void init_record(const Memory& record) override {
    reset_keys(record);
    keys_.splat(kUpper, 0, 4);
    keys_.splat(kLoaded, worst_key(rule_, 4), 4);
    for (int group = 0; group < groups(); ++group) {
      keys_.store(total(record, group), kLoaded);
      keys_.store(total(record, group) + kBytes, kUpper);
    }
  }
  void load_set(const Memory& record) override {
    keys_.load(kLow, record);
    keys_.load(kHigh, record + kBytes);
    row_ = 0;
    if (numbers_steps_) start_code(0);
  }
  void store_set(const Memory& record) override {
    keys_.store(record, kLow);
    keys_.store(record + kBytes, kHigh);
  }
  void flush_record(const Memory& record) override {
    load_rows_before();
    for (int group = 0; group < groups(); ++group) {
      keys_.load_keys(kLoaded, kUpper, record, group, key_bytes(), inverts_codes(rule_));
      keys_.integer(IntegerOp::add, kUpper, kUpper, kBase, 32);
      keys_.load(kLow, total(record, group));
      keys_.load(kHigh, total(record, group) + kBytes);
      keys_.take_better(kLow, kHigh, kLoaded, kUpper, rule_.greatest);
      keys_.store(total(record, group), kLow);
      keys_.store(total(record, group) + kBytes, kHigh);
    }
    reset_keys(record);
    if (!numbers_steps_) return;
    Gpr steps(assembler_);
    load_steps(steps);
    code_.add(code_.qword[rbp + kBefore], steps);
  }
  void load_totals(const Memory& record) override {
    for (int group = 0; group < groups(); ++group) indices_.push_back(total(record, group) + kBytes);
  }

  void fold() override {}
  void finish(Part) override {}

  void store(int, const Memory& to, Part) override {
    if (rows_) return store_one(to);
    for (int group = 0; group < groups(); ++group) {
      const Memory from =
          indices_.empty() ? rbp + (kIndices + kBytes * group) : indices_[static_cast<std::size_t>(group)];
      keys_.load(kLoaded, from);
      keys_.store_indices(to + kGroup * byte_size(output_) * group, kLoaded, output_);
    }
    indices_.clear();
  }

 private:
  int key_bytes() const { return 2 * input_bytes(); }
  int groups() const { return lanes() / kGroup; }
  Memory total(const Memory& record, int group) const {
    return record + static_cast<std::size_t>((1 + group) * plane_bytes());
  }

  std::uint64_t worst_element() const {
    if (is_floating(input_)) {
      const FloatBits bits = float_bits(input_);
      return rule_.greatest ? bits.negative_infinity : bits.infinity;
    }
    const bool is_signed = row(input_).kind == DTypeKind::signed_integer;
    const std::uint64_t sign = std::uint64_t{1} << (lane_bits() - 1);
    return worst_key(rule_, input_bytes()) ^ (is_signed ? 0 : sign);
  }

  /// By element; of rows of words the place in the step, otherwise the same in all.
  void start_code(int row) {
    PackedVectors::Bytes bytes{};
    for (int byte = 0; byte < kBytes; ++byte) {
      const int place = rows_ && input_bytes() == 2 ? byte / 2 : row;
      bytes[static_cast<std::size_t>(byte)] =
          static_cast<std::uint8_t>(place_code(rule_, place) >> (8 * (byte % input_bytes())));
    }
    keys_.load_constant(kCode + row, bytes);
  }
  void move_code(int row, int places) {
    keys_.add_constant(kCode + row, inverts_codes(rule_) ? -places : places, input_bytes());
  }

  /// Rows before the chain that the last row taken is of. The loops leave no general register.
  void load_rows_before() {
    PackedVectors::Bytes whole_chains{};
    for (int byte = 0; byte < kBytes; ++byte)
      whole_chains[static_cast<std::size_t>(byte)] = byte % 4 < input_bytes() ? 0 : 0xff;
    keys_.broadcast32(kBase, rbp + kTaken);
    keys_.add_constant(kBase, -1, 4);
    keys_.and_bytes(kBase, whole_chains);
    keys_.broadcast32(kLoaded, rbp + kBefore);
    keys_.integer(IntegerOp::add, kBase, kBase, kLoaded, 32);
  }

  void reset_keys(const Memory& record) {
    keys_.splat(kLow, worst_key(rule_, key_bytes()), key_bytes());
    keys_.store(record, kLow);
    keys_.store(record + kBytes, kLow);
  }

  void load(Register to, const Memory& from) {
    keys_.load(to, from);
    map_loaded(to);
  }
  void map_loaded(Register to) { map_to_key_order(keys_, rule_, {to, kSpare, kSeen}, pass_ != Pass::first); }

  /// Of two rows, the better elements in `early`, and their codes in `winner`. Clobbers `late`.
  void play(Register early, Register late, Register winner, const Memory& first, const Memory& second, Register codes) {
    load(early, first);
    load(late, second);
    keys_.beats(winner, late, early, rule_.greatest, input_bytes());
    keys_.integer(key_op(rule_), early, early, late, lane_bits());
    keys_.step_codes(winner, codes, winner, inverts_codes(rule_), input_bytes());
  }

  /// kLoaded with `codes`.
  void enter(Register codes) {
    keys_.unpack_keys(kLoaded, kUpper, codes, input_bytes());
    keys_.integer(key_op(rule_), kLow, kLow, kLoaded, 8 * key_bytes());
    keys_.integer(key_op(rule_), kHigh, kHigh, kUpper, 8 * key_bytes());
  }

  void take_loaded() {
    enter(kCode + row_);
    if (tiled_) {
      ++row_;
    } else {
      move_code(0, rows_ && input_bytes() == 2 ? lanes() : 1);
    }
  }

  /// The elements since the last flush to one, and this against the total.
  void flush_row() {
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

  /// How many steps, or groups of them, there were.
  void load_steps(const Xbyak::Reg64& steps) {
    const Xbyak::Reg32 d = steps.cvt32();
    keys_.first_lane(d, kCode);
    if (inverts_codes(rule_)) code_.not_(d);
    code_.and_(d, (1 << (8 * input_bytes())) - 1);
    if (rows_ && input_bytes() == 2) code_.shr(d, kStepShift);
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

  void flush_registers() {
    store_set(rbp + kKeys);
    for (int group = 0; group < groups(); ++group) {
      keys_.load_keys(kLoaded, kUpper, rbp + kKeys, group, key_bytes(), inverts_codes(rule_));
      keys_.store(rbp + (kIndices + kBytes * group), kUpper);
    }
  }

  void store_one(const Memory& to) {
    Gpr index(assembler_);
    code_.mov(index.r32(), code_.dword[rbp + kTotal]);
    if (inverts_codes(rule_)) code_.not_(index.r32());
    output_ == DType::s64 ? code_.mov(code_.qword[to], index) : code_.mov(code_.dword[to], index.r32());
  }

  PackedVectors keys_;
  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  KeyRule rule_;
  bool rows_;
  bool tiled_ = false;          ///< columns whose keys are in records
  bool numbers_steps_ = false;  ///< narrow columns
  int row_ = 0;                 ///< of a sweep
  int group_ = 1;               ///< rows: steps that enter as one
  Xbyak::Reg64 next_;           ///< rows: where the next step is
  std::vector<Memory> indices_;
};

}  // namespace

std::unique_ptr<ReduceState> make_key_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                            const schedule::ReduceBody& body, schedule::Nest nest) {
  return std::make_unique<KeyState>(layer, spec, body, nest);
}

}  // namespace tenfold::jit

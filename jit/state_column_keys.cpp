// SPDX-License-Identifier: Apache-2.0
//
// Keys of columns: the code is the number of the row, of which a flush keeps the low bits, in a record that has the
// keys in its first plane and values and indices, in lanes of 32 bits, of eight columns in each other.
#include "jit/key_state.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::util::rbp;

constexpr int kGroup = PackedVectors::kBytes / 4;  ///< columns of a vector of indices
constexpr int kRowsAtOnce = 4;
/// In frame::kRows: rows taken, and those before them; of columns in registers the keys, and then indices.
constexpr int kTaken = frame::kRows, kBefore = kTaken + 8;
constexpr int kKeys = frame::kRows + 64, kIndices = kKeys + 64;
static_assert(kIndices + 32 * 4 <= frame::kRecords);

class ColumnKeys final : public KeyState {
 public:
  using KeyState::KeyState;

  int chain() const override { return 1 << (8 * input_bytes()); }

  void init_totals() override { start_sweep(); }

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

  void flush(int) override {
    store_set(rbp + kKeys);
    for (int group = 0; group < groups(); ++group) {
      keys_.load_keys(kLoaded, kUpper, rbp + kKeys, group, key_bytes(), inverts_codes(rule_));
      keys_.store(rbp + (kIndices + kBytes * group), kUpper);
    }
  }

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
    load_code(steps.r32());
    code_.add(code_.qword[rbp + kBefore], steps);
  }
  void load_totals(const Memory& record) override {
    for (int group = 0; group < groups(); ++group) indices_.push_back(total(record, group) + kBytes);
  }

  void store(int, const Memory& to, Part) override {
    for (int group = 0; group < groups(); ++group) {
      const Memory from =
          indices_.empty() ? rbp + (kIndices + kBytes * group) : indices_[static_cast<std::size_t>(group)];
      keys_.load(kLoaded, from);
      keys_.store_indices(to + kGroup * byte_size(output_) * group, kLoaded, output_);
    }
    indices_.clear();
  }

 private:
  int groups() const { return lanes() / kGroup; }
  Memory total(const Memory& record, int group) const {
    return record + static_cast<std::size_t>((1 + group) * plane_bytes());
  }

  void take_loaded() override {
    enter(kCode + row_);
    tiled_ ? static_cast<void>(++row_) : move_code(0, 1);
  }
  int place_of(int /*byte*/, int number) const override { return number; }

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

  /// Of two rows, the better elements in `early`, and their codes in `winner`. Clobbers `late`.
  void play(Register early, Register late, Register winner, const Memory& first, const Memory& second, Register codes) {
    load(early, first);
    load(late, second);
    keys_.beats(winner, late, early, rule_.greatest, input_bytes());
    keys_.integer(key_op(rule_), early, early, late, lane_bits());
    keys_.step_codes(winner, codes, winner, inverts_codes(rule_), input_bytes());
  }

  bool tiled_ = false;          ///< whose keys are in records
  bool numbers_steps_ = false;  ///< narrow columns
  int row_ = 0;                 ///< of a sweep
  std::vector<Memory> indices_;
};

}  // namespace

std::unique_ptr<ReduceState> make_column_key_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                   const schedule::ReduceBody& body) {
  return std::make_unique<ColumnKeys>(layer, spec, body);
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// Columns of keys: the extreme of each and the low bits of its row's number lie beside one another, in lanes as wide as
// elements, which takes no more operations than to put one above the other, and comes out in order. A record has them
// in its first plane, and in the others, in lanes of 32 bits, the values and indices that a flush makes of them, of
// eight columns each.
//
// Floats stay bits until one of four rows has won (key_signs.hpp), as long as the extreme of every column is of the own
// sign and no zero: elements of the other one then lose however they compare, and if not within a chain, then to what
// has been flushed. Until then, which random elements take a few sweeps for, they are mapped, and in sweeps with NaNs
// exactly.
#include "jit/state/key_signs.hpp"
#include "jit/state/key_state.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::util::rbp;

constexpr int kGroup = PackedVectors::kBytes / 4;  ///< columns of a vector of indices
constexpr int kRowsAtOnce = 4;
/// In frame::kRows: rows taken, those before them, and whether all extremes are of the own sign; of columns in
/// registers the codes, and then indices.
constexpr int kTaken = frame::kRows, kBefore = kTaken + 8, kSettled = kBefore + 8;
constexpr int kCodesInFrame = frame::kRows + 64, kIndices = kCodesInFrame + 64;
static_assert(kIndices + 32 * 4 <= frame::kRecords);

class ColumnKeys final : public KeyState, public RowNumbers, public SweepPasses, public QuickSweeps, public RowSearch {
 public:
  ColumnKeys(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
      : KeyState(layer, spec, body, 1 << (8 * byte_size(spec.inputs[0].dtype)),
                 1 + schedule::lanes_per_step(schedule::Lanes::keys, spec.inputs[0].dtype) / kGroup) {
    roles_.row_numbers = this;
    roles_.sweep_passes = this;
    roles_.row_search = this;
    traits_.rows_in_registers = kRowsAtOnce;
    traits_.has_quick_pass = is_floating(input_);
    traits_.settles_few_rows = true;
    if (is_floating(input_)) roles_.quick_sweeps = this;
  }

  void init_totals() override { start_sweep(); }
  void init_set(int) override {
    keys_.splat(kBest, worst_key(rule_, input_bytes()), input_bytes());
    keys_.splat(kCodes, 0, 4);
    if (numbers_steps_) {
      keys_.splat(kRow, 0, 4);
    } else {
      number_from_zero();
    }
  }

  void step(int, const Memory& from, Part part) override {
    load_step(from, part);
    map_to_key_order(keys_, rule_, {kLoaded, kSpare, watches_numbers() ? kSeen : kOther}, !watches_numbers());
    if (!tiled_) {
      enter(kLoaded, kRow);
      return keys_.add_constant(kRow, 1, input_bytes());
    }
    keys_.copy(kOther, kRow);
    if (row_ > 0) keys_.add_constant(kOther, row_, input_bytes());
    enter(kLoaded, kOther);
    ++row_;
  }

  /// Adjacent rows play it out in pairs, each column for itself, and the winner enters with its own code: three
  /// operations for each row that drops out, as many as to enter.
  void step_rows(int set, const std::vector<Memory>& rows) override {
    if (static_cast<int>(rows.size()) == sweep_rows_) return step_sweep(rows);
    if (rows.size() != kRowsAtOnce || sweep_rows_ > 0) return ReduceState::step_rows(set, rows);
    play({kUpper, kLoaded, kWinner}, rows[0], rows[1], kSecond);
    play({kOther, kUpper, kOtherWinner}, rows[2], rows[3], kFourth);
    keys_.integer(best_of_rows(), kUpper, kUpper, kLoaded, lane_bits());
    keys_.equal(kOther, kUpper, kLoaded, input_bytes());
    keys_.blend(kOtherWinner, kWinner, kOther);
    enter_winner(kUpper, kOtherWinner);
    row_ += kRowsAtOnce;
  }

  void remember_sweeps(int rows) override { sweep_rows_ = rows; }
  int numbers() const override { return groups(); }
  int number_bytes() const override { return 4; }
  Memory numbers_of(const Memory& record, int at) const override { return total(record, at) + kBytes; }
  void search(const Memory& record, const Memory& staged) override {
    const auto row_at = [&](int number) { return staged + number * step_bytes(); };
    const bool are_keys = !is_floating(input_) && !is_unsigned();
    for (int number = 0; number < sweep_rows_ && !are_keys; ++number) {
      keys_.load(kLoaded, row_at(number));
      if (is_floating(input_)) {
        map_to_key_order(keys_, rule_, {kLoaded, kSpare, kSeen}, true);
      } else {
        keys_.flip_signs(kLoaded, input_bytes());
      }
      keys_.store(row_at(number), kLoaded);
    }
    for (int group = 0; group < groups(); ++group) {
      keys_.load(kBest, total(record, group));
      keys_.splat(kCodes, 0, 4);
      for (int number = sweep_rows_ - 1; number >= 0; --number) {
        keys_.load_integers(kLoaded, row_at(number) + codes_before(group), input_bytes(), true);
        keys_.equal(kWinner, kLoaded, kBest, 4);
        keys_.splat(kOther, static_cast<std::uint64_t>(number), 4);
        keys_.blend(kCodes, kOther, kWinner);
      }
      keys_.load(kUpper, numbers_of(record, group));
      keys_.integer(IntegerOp::add, kUpper, kUpper, kCodes, 32);
      keys_.store(numbers_of(record, group), kUpper);
    }
  }

  void flush(int) override {
    keys_.store(rbp + kCodesInFrame, kCodes);
    for (int group = 0; group < groups(); ++group) {
      keys_.load_integers(kUpper, rbp + kCodesInFrame + codes_before(group), input_bytes(), false);
      keys_.store(rbp + (kIndices + kBytes * group), kUpper);
    }
  }

  void first_row() override {
    tiled_ = true;
    start_rows();
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
    for (const Register row : {kRow, kSecond, kFourth}) keys_.add_constant(row, rows, input_bytes());
    if (tiled_) code_.add(code_.qword[rbp + kTaken], rows);
  }

  void start_sweep() override {
    if (!tiled_ || !is_floating(input_)) return keys_.splat(kSeen, 0, 4);
    start_seen(keys_, own(), kSeen);
    keys_.splat(kExtremes, 0, 4);
  }
  void jump_if_clean(const Xbyak::Label& clean) override {
    Xbyak::Label spoilt;
    const std::uint64_t infinity = float_bits(input_).infinity;
    if (!tiled_) {
      keys_.jump_if_beyond(kSeen, true, infinity, input_bytes(), spoilt);
    } else {
      jump_if_other_nan(keys_, own(), kSeen, spoilt);
      keys_.jump_if_beyond(kExtremes, rule_.greatest, rule_.greatest ? infinity : ~infinity + 1, input_bytes(), spoilt);
    }
    code_.jmp(clean, Xbyak::CodeGenerator::T_NEAR);
    code_.L(spoilt);
  }
  void jump_unless_quick(const Xbyak::Label& other) override {
    code_.cmp(code_.dword[rbp + kSettled], 0);
    code_.je(other, Xbyak::CodeGenerator::T_NEAR);
  }
  void start_other() override {
    keys_.splat(kSeen, 0, 4);
    keys_.splat(kExtremes, worst_key(opposite(), input_bytes()), input_bytes());
  }
  /// Of what step() takes, a tail or rows that four leave over, it has seen the NaNs alone; a first pass maps that
  /// exactly.
  void end_other(const Xbyak::Label& clean) override {
    Xbyak::Label spoilt;
    keys_.jump_if_beyond(kSeen, true, float_bits(input_).infinity, input_bytes(), spoilt);
    keys_.jump_if_beyond(kExtremes, !rule_.greatest, rule_.greatest ? 1 : ~std::uint64_t{0}, input_bytes(), clean);
    code_.mov(code_.dword[rbp + kSettled], 1);
    code_.jmp(clean, Xbyak::CodeGenerator::T_NEAR);
    code_.L(spoilt);
  }

  int record_bytes() const override { return 2 * kBytes; }
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
    keys_.load(kBest, record);
    keys_.load(kCodes, record + kBytes);
    row_ = 0;
    if (numbers_steps_) keys_.splat(kRow, 0, 4);
  }
  void store_set(const Memory& record) override {
    keys_.store(record, kBest);
    keys_.store(record + kBytes, kCodes);
  }
  void flush_record(const Memory& record) override {
    load_rows_before();
    for (int group = 0; group < groups(); ++group) {
      keys_.load_integers(kLoaded, record + codes_before(group), input_bytes(), true);
      keys_.load_integers(kUpper, record + kBytes + codes_before(group), input_bytes(), false);
      keys_.integer(IntegerOp::add, kUpper, kUpper, kBase, 32);
      keys_.load(kBest, total(record, group));
      keys_.load(kCodes, total(record, group) + kBytes);
      keys_.take_better(kBest, kCodes, kLoaded, kUpper, rule_.greatest);
      keys_.store(total(record, group), kBest);
      keys_.store(total(record, group) + kBytes, kCodes);
    }
    reset_keys(record);
    if (!numbers_steps_) return;
    Gpr steps(assembler_);
    keys_.first_lane(steps.r32(), kRow);
    code_.and_(steps.r32(), traits_.chain - 1);
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
  static constexpr Register kBest = kLow, kCodes = kHigh;
  /// The numbers of rows of a sweep: of the first, or only one, the second and the fourth.
  static constexpr Register kRow = kCode, kSecond = kCode + 1, kFourth = kCode + 2;
  /// The most extreme element of a quick sweep; of another one, of all columns' extremes the least one.
  static constexpr Register kExtremes = kCode + 3;

  /// Where two rows go, and the winner's numbers.
  struct Pair {
    Register early, late, winner;
  };

  int groups() const { return lanes() / kGroup; }
  int codes_before(int group) const { return group * kGroup * input_bytes(); }
  Memory total(const Memory& record, int group) const {
    return record + static_cast<std::size_t>((1 + group) * plane_bytes());
  }

  SignRule own() const { return {rule_, KeySign::own}; }
  KeyRule opposite() const { return {input_, !rule_.greatest, rule_.last}; }
  bool takes_bits() const { return is_floating(input_) && tiled_ && pass_ == Pass::first; }
  /// Takes floats as if there were no NaN, and has the greatest magnitude in kSeen.
  bool watches_numbers() const { return tiled_ ? pass_ == Pass::other : pass_ == Pass::first; }
  bool is_unsigned() const { return !is_floating(input_) && row(input_).kind != DTypeKind::signed_integer; }
  /// Combines rows as they have been loaded.
  IntegerOp best_of_rows() const {
    if (takes_bits()) return best_op(own());
    if (is_unsigned()) return rule_.greatest ? IntegerOp::greatest_unsigned : IntegerOp::least_unsigned;
    return key_op(rule_);
  }

  void number_from_zero() {
    keys_.splat(kRow, 0, 4);
    keys_.splat(kSecond, 1, input_bytes());
    keys_.splat(kFourth, kRowsAtOnce - 1, input_bytes());
  }
  void start_rows() {
    number_from_zero();
    code_.mov(code_.dword[rbp + kSettled], 0);
  }

  /// What is mapped, with `codes`. Clobbers kWinner.
  void enter(Register elements, Register codes) {
    keys_.beats(kWinner, elements, kBest, rule_.greatest, input_bytes());
    keys_.integer(key_op(rule_), kBest, kBest, elements, lane_bits());
    keys_.blend(kCodes, codes, kWinner);
  }

  /// The best of a sweep, with `codes`.
  void enter_winner(Register winner, Register codes) {
    if (takes_bits()) {
      // Positive bits are the integers that they are mapped to.
      if (!rule_.greatest) keys_.sign_to_integer(winner, kSpare, input_bytes());
      keys_.integer(key_op(rule_), kExtremes, kExtremes, winner, lane_bits());
    } else if (is_unsigned()) {
      keys_.flip_signs(winner, input_bytes());
    }
    enter(winner, codes);
    if (pass_ == Pass::other) keys_.integer(key_op(opposite()), kExtremes, kExtremes, kBest, lane_bits());
  }

  /// The rows of a sweep that alone is remembered.
  void step_sweep(const std::vector<Memory>& rows) {
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const Register to = at == 0 ? kUpper : kLoaded;
      load_row(to, rows[at]);
      if (takes_bits()) keys_.integer(seen_op(own()), kSeen, kSeen, to, lane_bits());
      if (at > 0) keys_.integer(best_of_rows(), kUpper, kUpper, kLoaded, lane_bits());
    }
    enter_winner(kUpper, kRow);
    row_ += sweep_rows_;
  }

  void load_row(Register to, const Memory& from) {
    keys_.load(to, from);
    if (is_floating(input_) && !takes_bits()) map_to_key_order(keys_, rule_, {to, kSpare, kSeen}, !watches_numbers());
  }

  /// Of two rows, the later one of which has `numbers`, the better elements in `late`.
  void play(const Pair& at, const Memory& first, const Memory& second, Register numbers) {
    load_row(at.early, first);
    load_row(at.late, second);
    if (takes_bits()) {
      keys_.integer(seen_op(own()), kSpare, at.early, at.late, lane_bits());
      keys_.integer(seen_op(own()), kSeen, kSeen, kSpare, lane_bits());
    }
    keys_.integer(best_of_rows(), at.late, at.late, at.early, lane_bits());
    keys_.equal(at.winner, at.early, at.late, input_bytes());
    keys_.step_codes(at.winner, numbers, at.winner, true, input_bytes());
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
    keys_.splat(kBest, worst_key(rule_, input_bytes()), input_bytes());
    keys_.store(record, kBest);
    keys_.splat(kCodes, 0, 4);
    keys_.store(record + kBytes, kCodes);
  }

  bool tiled_ = false;          ///< whose keys are in records
  bool numbers_steps_ = false;  ///< narrow columns
  int row_ = 0;                 ///< of a sweep
  int sweep_rows_ = 0;          ///< rows of one, where it alone is remembered
  std::vector<Memory> indices_;
};

}  // namespace

std::unique_ptr<ReduceState> make_column_key_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                   const schedule::ReduceBody& body) {
  return std::make_unique<ColumnKeys>(layer, spec, body);
}

}  // namespace tenfold::jit

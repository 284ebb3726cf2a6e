// SPDX-License-Identifier: Apache-2.0
//
// Arg-max and arg-min: in each lane the most extreme element so far, as its float or integer, and its index. A lane
// takes an element only if it beats what it has, so that within a lane the first (or last) of equals stays; folding
// lanes asks for the extreme first, and then for the least (or greatest) index among the lanes that have it.
//
// A lane starts with the type's least extreme value and index 0. Nothing but that value in a row leaves each lane so,
// and 0 is then right; and a lane that nothing has entered never wins otherwise.
//
// The extreme itself may be wanted too. Floats cannot tell which zero it is, as -0 equals +0 here, but +0 is above -0
// there: a third vector keeps the greatest (or least) of the raw bits as signed integers, whose sign is the zero's.
//
// Floats go in two passes. The first takes elements as if none were a NaN and sums them up, which any NaN would spoil;
// where the sum is one (infinities of both signs spoil it as well), the second starts again from what there was before
// and looks at each. In columns the sum is that of a sweep, which is then taken again on top of what the first pass
// made: numbers are as they were, and a NaN beats them; of columns in registers the sum is that of all rows.
//
// Of a row the lanes may remember no more than the group of steps that their extreme was in: of four steps together it
// costs little more than an extreme alone. The running index is then the first element's of the group, and once the
// row's extreme is known, it is looked for from there on.
//
// Tall columns may remember no more than the sweep of rows that their extreme was in, whose rows are searched in the
// end (columns/row_search.hpp).
//
// Vectors: sets from 0, the sum in 4, the running index in 5, a loaded vector in 6. Columns have one set; those that
// take rows in pairs keep the numbers of each pair's later row in 2 and 3.
#include "jit/vector/arg.hpp"

#include <algorithm>
#include <limits>

#include "jit/assembler/frame.hpp"
#include "jit/state/kinds.hpp"
#include "jit/state/state.hpp"

namespace tenfold::jit {
namespace {

constexpr Vec kSum = 4;
constexpr Vec kExtreme = 4;  // of all lanes, while they are folded
constexpr Vec kAt = 5, kLoaded = 6;
constexpr Vec kLaterRows = 2;
constexpr int kVectorBytes = 64;
/// Sets that rows have beside one another.
constexpr int kMostSets = 2;
constexpr int kRowsAtOnce = 4;
static_assert(frame::kRows + kRowsAtOnce * kVectorBytes <= frame::kRecords);

class ArgState final : public ReduceState, public RowNumbers, public SweepPasses, public GroupSearch, public RowSearch {
 public:
  ArgState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body, schedule::Nest nest)
      : ReduceState(layer, spec, body,
                    {.lane_bits = arg_lane_bits(spec.inputs[0].dtype),
                     .stores_tails = false,
                     .in_order = true,
                     .has_second_pass = is_floating(spec.inputs[0].dtype),
                     .second_pass_redoes = true}),
        arg_(layer.arg_vectors()),
        rule_{input_, body.monoid == kernel::Monoid::argmax, body.last},
        rows_(nest == schedule::Nest::rows),
        signs_(body.stores_extreme && is_floating(input_)) {
    if (rows_) {
      roles_.group_search = this;
    } else {
      roles_.row_numbers = this;
      roles_.row_search = this;
      traits_.rows_in_registers = 1;
      roles_.sweep_passes = this;
      traits_.has_quick_pass = is_floating(input_);
      traits_.settles_few_rows = true;
    }
  }

  bool remember_groups(int steps) override {
    group_ = steps;
    groups_ = steps > kMostSets && schedule::remembers_groups(input_, body_);
    return groups_;
  }

  void init_set(int set) override {
    if (groups_ && set > 0) return;
    sets_ = std::max(sets_, set + 1);
    v_.splat(best(set), identity_bits(), lane_bytes());
    v_.splat(index(set), 0, lane_bytes());
    if (signs_) v_.splat(signs(set), sign_identity(), lane_bytes());
    if (set > 0) return;
    if (pass_ == Pass::first) v_.splat(kSum, 0, lane_bytes());
    if (rows_ && !groups_) {
      arg_->count_lanes(kAt, lane_bits());
    } else {
      v_.splat(kAt, 0, lane_bytes());
    }
  }

  void step(int set, const Memory& from, Part part) override {
    arg_->load(kLoaded, input_, from, part);
    const Memory row = row_number(sweep_rows_ > 0 ? 0 : row_);
    const IndexSource at{kAt, tiled_ ? &row : nullptr};
    if (pass_ == Pass::first && part != Part::tail) {
      arg_->take_number(rule_, best(set), index(set), kLoaded, at, kSum);
    } else {
      arg_->take(rule_, best(set), index(set), kLoaded, at, part);
    }
    if (signs_) {
      if (part == Part::tail) v_.fill_past_tail(kLoaded, sign_identity(), lane_bits());
      v_.integer(sign_op(), signs(set), signs(set), kLoaded, lane_bits());
    }
    ++row_;
    if (!tiled_) arg_->add_constant(kAt, rows_ ? lanes() : 1, lane_bits());
  }

  void step_sets(const std::vector<Memory>& steps) override {
    if (!groups_ || pass_ == Pass::second) {
      for (std::size_t at = 0; at < steps.size(); ++at) step(groups_ ? 0 : static_cast<int>(at), steps[at], Part::full);
      return;
    }
    arg_->take_group(rule_, {best(0), index(0), kSum, kLoaded}, steps, kAt);
    arg_->add_constant(kAt, lanes() * static_cast<int>(steps.size()), lane_bits());
  }

  void look(const Xbyak::Reg64& row, const Xbyak::Reg64& whole) override {
    Xbyak::CodeGenerator& code = v_.assembler().code();
    Gpr at(v_.assembler()), bits(v_.assembler()), place(v_.assembler());
    Xbyak::Label again, tail, loaded, found;
    from_integers(kExtreme);
    arg_->get_index(at, index(0), lane_bits());
    code.lea(place, code.ptr[at.reg() + group_ * lanes()]);
    code.cmp(place, whole);
    code.lea(place, code.ptr[row + at.reg() * input_bytes()]);
    code.ja(again);
    // A whole group has no branch but this one, as the place is anybody's guess.
    for (int step = group_ - 1; step >= 0; --step) {
      arg_->load(kLoaded, input_, place.reg() + step * step_bytes(), Part::full);
      arg_->find_equal(step == group_ - 1 ? bits : whole, rule_, kLoaded, kExtreme);
      if (step == group_ - 1) continue;
      code.shl(bits, lanes());
      code.or_(bits, whole);
    }
    code.jmp(found);
    code.L(again);
    code.cmp(at, whole);
    code.jae(tail);
    arg_->load(kLoaded, input_, row + at.reg() * input_bytes(), Part::full);
    code.L(loaded);
    arg_->find_equal(bits, rule_, kLoaded, kExtreme);
    code.test(bits, bits);
    code.jnz(found);
    code.add(at, lanes());
    code.jmp(again);
    // What is past the tail is no earlier than what is looked for.
    code.L(tail);
    code.lea(bits, code.ptr[row + at.reg() * input_bytes()]);
    arg_->load(kLoaded, input_, bits.reg(), Part::tail);
    code.jmp(loaded);
    code.L(found);
    code.tzcnt(bits, bits);
    code.add(at, bits);
    arg_->set_index(index(0), at, lane_bits());
  }

  void remember_sweeps(int rows) override { sweep_rows_ = rows; }
  int numbers() const override { return 1; }
  int number_bytes() const override { return lane_bytes(); }
  Memory numbers_of(const Memory& record, int) const override { return record + kVectorBytes; }
  void search(const Memory& record, const Memory& staged) override {
    constexpr Vec kBest = 0, kFirst = 1, kElement = 2, kNumber = 3;
    constexpr std::int64_t kNone = std::numeric_limits<std::int32_t>::max();
    v_.load_bytes(kBest, record);
    to_integers(kBest);
    v_.splat(kFirst, static_cast<std::uint64_t>(kNone), lane_bytes());
    for (int row = 0; row < sweep_rows_; ++row) {
      arg_->load(kElement, input_, staged + row * step_bytes(), Part::full);
      to_integers(kElement);
      v_.splat(kNumber, static_cast<std::uint64_t>(row), lane_bytes());
      arg_->drop_unequal(kNumber, kElement, kBest, kNone, lane_bits());
      v_.integer(IntegerOp::least_signed, kFirst, kFirst, kNumber, lane_bits());
    }
    v_.load_bytes(kNumber, record + kVectorBytes);
    v_.integer(IntegerOp::add, kNumber, kNumber, kFirst, lane_bits());
    v_.store_bytes(record + kVectorBytes, kNumber);
  }

  void step_rows(int set, const std::vector<Memory>& rows) override {
    if (static_cast<int>(rows.size()) == sweep_rows_ && pass_ != Pass::again) {
      v_.load_bytes(kAt, row_number(0));
      arg_->take_group(rule_, {best(set), index(set), kSum, kLoaded}, rows, kAt);
      row_ += sweep_rows_;
      return;
    }
    if (pass_ != Pass::first || !takes_pairs() || rows.size() % 2 != 0) return ReduceState::step_rows(set, rows);
    for (std::size_t row = 0; row < rows.size(); row += 2) {
      const Vec later = kLaterRows + row_ / 2;
      arg_->take_pair(rule_, {best(set), index(set), kSum, kLoaded}, rows[row], rows[row + 1], later);
      row_ += 2;
    }
  }

  /// What is staged past a tail is never taken.
  /// fold() looks at all sets.
  void merge(int, int) override {}
  void init_totals() override {}
  void flush(int) override {}

  void number_steps() override {
    tiled_ = false;
    numbers_steps_ = true;
  }
  void number_rows(int rows_of_step) override {
    tiled_ = true;
    numbers_steps_ = false;
    v_.load_bytes(kAt, row_number(0));
    v_.splat(kLoaded, static_cast<std::uint64_t>(rows_of_step), lane_bytes());
    v_.integer(IntegerOp::multiply, kAt, kAt, kLoaded, lane_bits());
    for (int row = 0; row < kRowsAtOnce; ++row) {
      v_.store_bytes(row_number(row), kAt);
      arg_->add_constant(kAt, 1, lane_bits());
    }
  }
  PlaceRule place_rule() const override {
    return {lane_bits(), is_floating(input_) || rule_.greatest, rule_.last, signs_, sign_op()};
  }
  void lay_places(const Memory& record, const Places& to) override {
    load_totals(record);
    to_integers(best(0));
    for (Vec at = 0; at < width(); ++at) v_.store_bytes(to.plane(at), at);
  }
  void take_places(const Memory& record, const Places& from) override {
    for (Vec at = 0; at < width(); ++at) v_.load_bytes(at, from.plane(at));
    from_integers(best(0));
    for (Vec at = 0; at < width(); ++at) v_.store_bytes(record + kVectorBytes * at, at);
  }

  void first_row() override {
    tiled_ = true;
    for (int row = 0; row < kRowsAtOnce; ++row) {
      v_.splat(kAt, static_cast<std::uint64_t>(row), lane_bytes());
      v_.store_bytes(row_number(row), kAt);
    }
  }
  void next_rows(int rows) override {
    for (int row = 0; row < kRowsAtOnce; ++row) {
      v_.load_bytes(kAt, row_number(row));
      arg_->add_constant(kAt, rows, lane_bits());
      v_.store_bytes(row_number(row), kAt);
    }
  }

  void start_sweep() override {
    v_.splat(kSum, 0, lane_bytes());
    if (!takes_pairs() || !tiled_) return;
    for (int row = 1; row < kRowsAtOnce; row += 2) v_.load_bytes(kLaterRows + row / 2, row_number(row));
  }
  void jump_if_clean(const Xbyak::Label& clean) override { arg_->jump_if_numbers(kSum, lane_bits(), clean); }

  int record_bytes() const override { return (width() + (groups_ ? 2 : 0)) * kVectorBytes; }
  void init_record(const Memory& record) override {
    init_set(0);
    store_set(record);
  }
  void load_set(const Memory& record) override {
    load_totals(record);
    row_ = 0;
    if (numbers_steps_) v_.load_bytes(kAt, row_number(0));
    if (!groups_) return;
    v_.load_bytes(kSum, record + kVectorBytes * width());
    v_.load_bytes(kAt, record + kVectorBytes * (width() + 1));
  }
  void store_set(const Memory& record) override {
    if (groups_) {
      v_.store_bytes(record + kVectorBytes * width(), kSum);
      v_.store_bytes(record + kVectorBytes * (width() + 1), kAt);
    }
    if (numbers_steps_) v_.store_bytes(row_number(0), kAt);
    for (Vec at = 0; at < width(); ++at) v_.store_bytes(record + kVectorBytes * at, at);
  }
  void flush_record(const Memory&) override {}
  void load_totals(const Memory& record) override {
    for (Vec at = 0; at < width(); ++at) v_.load_bytes(at, record + kVectorBytes * at);
  }

  void jump_if_settled(const Xbyak::Label& settled, Part) override {
    arg_->jump_if_numbers(kSum, lane_bits(), settled);
  }

  void fold() override {
    for (int set = 0; set < sets_; ++set) to_integers(best(set));
    const IntegerOp extreme =
        is_floating(input_) || rule_.greatest ? IntegerOp::greatest_signed : IntegerOp::least_signed;
    v_.integer(extreme, kExtreme, best(0), best(sets_ - 1), lane_bits());
    v_.fold_integer(extreme, kExtreme, lane_bits());
    arg_->spread(kExtreme, kExtreme, lane_bits());
    const IntegerOp nearest = rule_.last ? IntegerOp::greatest_signed : IntegerOp::least_signed;
    const std::int64_t none = rule_.last ? -1 : std::numeric_limits<std::int32_t>::max();
    for (int set = 0; set < sets_; ++set) {
      arg_->drop_unequal(index(set), best(set), kExtreme, none, lane_bits());
      if (set > 0) v_.integer(nearest, index(0), index(0), index(set), lane_bits());
    }
    v_.fold_integer(nearest, index(0), lane_bits());
    if (!body_.stores_extreme) return;
    from_integers(kExtreme);
    v_.integer(IntegerOp::greatest_signed, best(0), kExtreme, kExtreme, lane_bits());
    if (signs_) v_.fold_integer(sign_op(), signs(0), lane_bits());
  }

  void finish(Part part) override {
    if (!body_.stores_extreme) return;
    if (signs_) {
      canonical_nan(best(0), part);
      arg_->sign_zeros(best(0), signs(0), lane_bits());
    } else if (row(input_).kind == DTypeKind::unsigned_integer && input_bytes() >= 4) {
      arg_->flip_signs(best(0), lane_bits());
    }
  }

  void store(int output, const Memory& to, Part part) override {
    if (output == 0) {
      arg_->store_index(to, index(0), lane_bits(), output_, part);
    } else if (!is_floating(input_)) {
      arg_->store_integers(to, best(0), input_, part);
    } else if (input_ != DType::f64) {
      v_.store32(to, input_, best(0), part);
    } else {
      v_.store_integers(to, best(0), 64, part);
    }
  }

 private:
  int width() const { return signs_ ? 3 : 2; }
  bool takes_pairs() const { return !signs_ && arg_->takes_pairs(input_); }
  int lane_bytes() const { return lane_bits() / 8; }
  Vec best(int set) const { return width() * set; }
  Vec index(int set) const { return width() * set + 1; }
  Vec signs(int set) const { return width() * set + 2; }
  static Memory row_number(int row) { return Xbyak::util::rbp + frame::kRows + kVectorBytes * row; }

  IntegerOp sign_op() const { return rule_.greatest ? IntegerOp::greatest_signed : IntegerOp::least_signed; }
  std::uint64_t least() const { return std::uint64_t{1} << (lane_bits() - 1); }
  std::uint64_t sign_identity() const { return rule_.greatest ? least() : least() - 1; }

  std::uint64_t identity_bits() const {
    if (!is_floating(input_)) return sign_identity();
    const FloatBits bits = float_bits(lane_bits() == 64 ? DType::f64 : DType::f32);
    return rule_.greatest ? bits.negative_infinity : bits.infinity;
  }

  void canonical_nan(Vec v, Part part) {
    lane_bits() == 64 ? v_.canonical_nan64(v, part) : v_.canonical_nan32(v, part);
  }

  /// Floats as signed integers of which the greatest is the extreme: a NaN above all, -0 as +0.
  void to_integers(Vec v) {
    if (!is_floating(input_)) return;
    if (!rule_.greatest) arg_->flip_signs(v, lane_bits());
    canonical_nan(v, Part::full);
    v_.splat(kLoaded, 0, lane_bytes());
    if (lane_bits() == 64) {
      v_.arithmetic64(Arithmetic::add, v, v, kLoaded);
    } else {
      v_.arithmetic32(Arithmetic::add, v, v, kLoaded);
    }
    arg_->order_as_integers(v, lane_bits());
  }

  void from_integers(Vec v) {
    if (!is_floating(input_)) return;
    arg_->order_as_integers(v, lane_bits());
    if (!rule_.greatest) arg_->flip_signs(v, lane_bits());
  }

  std::unique_ptr<ArgVectors> arg_;
  ExtremeRule rule_;
  bool rows_;
  bool signs_;  ///< floats whose extreme is wanted
  int sets_ = 0;
  bool groups_ = false;         ///< rows whose lanes remember groups of steps
  int group_ = 1;               ///< steps of one
  bool tiled_ = false;          ///< columns whose rows are counted in the frame
  bool numbers_steps_ = false;  ///< narrow columns: the first row's number is that of the next step
  int row_ = 0;                 ///< of a sweep
  int sweep_rows_ = 0;          ///< rows of one, where it alone is remembered
};

}  // namespace

std::unique_ptr<ReduceState> make_arg_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                            const schedule::ReduceBody& body, schedule::Nest nest) {
  return std::make_unique<ArgState>(layer, spec, body, nest);
}

}  // namespace tenfold::jit

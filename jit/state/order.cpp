// SPDX-License-Identifier: Apache-2.0
//
// Max and min of floating types.
//
// The answer is one extreme if it has the sign that it settles with, and that extreme also shows NaNs of one sign.
// Those of the other one show in another extreme, or to a watch (jit/vector/nan_watch.hpp), which takes less. Columns
// look for them in a whole sweep, not per column: such NaNs are rare, and the sweep is then taken again.
//
// Vectors: sets from 0, what a sweep looks for in 5, loaded vectors in 6 (AVX-512: 12 and 13).
#include <algorithm>

#include "jit/state/kinds.hpp"
#include "jit/state/state.hpp"
#include "jit/vector/nan_watch.hpp"

namespace tenfold::jit {
namespace {

constexpr Vec kSweep = 5, kLoaded = 6, kWideLoaded = 12;
constexpr int kVectorBytes = 64;
constexpr int kFreeSets = 2;
constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

/// Max and min: three integer extremes of the raw bits.
class OrderState final : public ReduceState, public SweepPasses {
 public:
  OrderState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body,
             const schedule::Schedule& schedule)
      : ReduceState(layer, spec, body,
                    {.lane_bits = 8 * byte_size(spec.inputs[0].dtype),
                     .free_sets = kFreeSets,
                     .record_planes = 3,
                     .takes_twice = true,
                     .has_second_pass = true}),
        maximum_(body.monoid == kernel::Monoid::max),
        columns_(schedule.nest == schedule::Nest::columns),
        loaded_(layer.vectors() > kWideLoaded ? kWideLoaded : kLoaded) {
    roles_.sweep_passes = this;
    if (columns_) {
      // In registers the rows of a column are few.
      const std::size_t slots = schedule.columns == 0 || loaded_ == kLoaded ? 1 : 4;
      watch_ = layer.nan_watch(input_, maximum_, std::vector<Vec>(slots, kSweep));
      traits_.has_quick_pass = watch_ != nullptr && watch_->sees_all();
    } else if (schedule.turns == 0 && (schedule.rows_at_once <= kFreeSets || spec.levels.size() == 1)) {
      // Sets that wait in records keep another extreme instead.
      std::vector<Vec> slots;
      for (int set = 0; set < std::max(kFreeSets, schedule.unroll); ++set) slots.push_back(3 * set + other());
      watch_ = layer.nan_watch(input_, maximum_, slots);
      spreads_ = schedule.rows_at_once == kFreeSets && watch_ != nullptr && watch_->slots() == 2 * kFreeSets;
    }
  }

  /// The start value is in the data's own order: an infinity in all three extremes.
  void init_set(int set) override {
    each([&](Vec at) { v_.splat(3 * set + at, identity_bits(), byte_size(input_)); });
    if (!watches() || columns_) return;
    watch_->start(set);
    if (has_two_slots(set)) watch_->start(set + kFreeSets);
  }

  void step(int set, const Memory& from, Part part) override {
    v_.load_integers(loaded_, from, lane_bits(), part);
    if (part == Part::tail) v_.fill_past_tail(loaded_, identity_bits(), lane_bits());
    combine(set, loaded_);
    if (watches()) {
      watch_->see(slot_of(set), loaded_);
    } else if (columns_ && pass_ == Pass::first) {
      v_.integer(kExtremes[other()], kSweep, kSweep, loaded_, lane_bits());
    }
  }

  void step_rows(int set, const std::vector<Memory>& rows) override {
    if (!watches() || rows.size() % 2 != 0) return ReduceState::step_rows(set, rows);
    for (std::size_t row = 0; row < rows.size(); row += 2) step_pair(set, rows[row], set, rows[row + 1], slot_of(set));
  }

  void step_sets(const std::vector<Memory>& steps) override {
    if (!watches() || steps.size() % 2 != 0) return ReduceState::step_sets(steps);
    // Pairs of rows have the slots of two sets, which they take by turns.
    const int turn = columns_ ? 0 : turn_++ % 2;
    for (std::size_t step = 0; step < steps.size(); step += 2) {
      const int set = static_cast<int>(step);
      step_pair(set, steps[step], set + 1, steps[step + 1], columns_ ? slot_of(set) : set + turn);
    }
  }

  bool gains_by_two_groups() const override { return watches() && !columns_; }

  void merge(int into, int from) override {
    each([&](Vec at) { v_.integer(kExtremes[at], 3 * into + at, 3 * into + at, 3 * from + at, lane_bits()); });
    if (!watches() || columns_) return;
    watch_->merge(into, from);
    if (has_two_slots(from)) watch_->merge(into, from + kFreeSets);
  }

  void init_totals() override {}
  void flush(int) override {}

  /// What every sweep touches lies side by side, for the caches' sake; the other extremes are planes of their own.
  int record_bytes() const override { return kVectorBytes; }
  void init_record(const Memory& record) override {
    init_set(0);
    store_set(record);
  }
  void load_set(const Memory& record) override {
    each([&](Vec at) { v_.load_bytes(at, place(record, at)); });
  }
  void store_set(const Memory& record) override {
    each([&](Vec at) { v_.store_bytes(place(record, at), at); });
  }
  void flush_record(const Memory&) override {}
  void load_totals(const Memory& record) override { load_set(record); }

  /// Max: settled by any element that is not negative, as the signed greatest. Min: by any that is, as the unsigned
  /// greatest. Only else the least unsigned is the answer.
  void jump_if_settled(const Xbyak::Label& settled, Part part) override {
    v_.jump_if_signs(own(), !maximum_, lane_bits(), settled, part);
  }

  /// Infinity of the sign in question, above which only its NaNs are.
  void start_sweep() override {
    if (watch_ == nullptr) return v_.splat(kSweep, identity_bits(), byte_size(input_));
    for (int slot = 0; slot < watch_->slots(); ++slot) watch_->start(slot);
  }
  void jump_if_clean(const Xbyak::Label& clean) override {
    if (watch_ == nullptr) return v_.jump_if_equal(kSweep, identity_bits(), byte_size(input_), clean);
    for (int slot = 1; slot < watch_->slots(); ++slot) watch_->merge(0, slot);
    watch_->jump_if_none(0, clean);
  }

  /// What a watch has seen becomes a NaN of the sign that the unsigned greatest shows; the other extreme shows none.
  void fold() override {
    each([&](Vec at) { v_.fold_integer(kExtremes[at], at, lane_bits()); });
    if (!watches()) return;
    Xbyak::Label none;
    if (has_two_slots(0)) watch_->merge(0, kFreeSets);
    watch_->jump_if_none(0, none);
    v_.splat(1, kAllOnes, byte_size(input_));
    v_.assembler().code().L(none);
  }

  void finish(Part part) override {
    if (pass_ == Pass::numbers)
      return v_.choose_by_sign(own(), lane_bits(), maximum_ ? own() : 2, maximum_ ? 2 : own());
    v_.finish_order(maximum_, input_, 0, 1, 2, part);
  }

  void store(int, const Memory& to, Part part) override { v_.store_integers(to, own(), lane_bits(), part); }

 private:
  static constexpr IntegerOp kExtremes[3] = {IntegerOp::greatest_signed, IntegerOp::greatest_unsigned,
                                             IntegerOp::least_unsigned};

  /// The extreme that settles most answers, and the one that shows the NaNs which that does not.
  Vec own() const { return maximum_ ? 0 : 1; }
  Vec other() const { return 1 - own(); }

  /// Whether NaNs of the sign that loses are left to the watch.
  bool watches() const { return watch_ != nullptr && (pass_ == Pass::first || pass_ == Pass::numbers); }

  void combine(int set, Vec element) {
    each([&](Vec at) { v_.integer(kExtremes[at], 3 * set + at, 3 * set + at, element, lane_bits()); });
  }

  /// Rows have a slot each, as their sets, or two that take turns, as what looks at a slot waits for the last look; of
  /// columns a whole sweep is in question, so that all slots take turns.
  int slot_of(int set) {
    if (columns_) return turn_++ % watch_->slots();
    return has_two_slots(set) ? set + kFreeSets * (turn_++ % 2) : set;
  }
  bool has_two_slots(int set) const { return spreads_ && set < kFreeSets; }

  void step_pair(int set, const Memory& from, int other_set, const Memory& other_from, int slot) {
    if (!watch_->in_pairs()) {
      step(set, from, Part::full);
      return step(other_set, other_from, Part::full);
    }
    const Vec other_loaded = loaded_ + 1;
    v_.load_integers(loaded_, from, lane_bits(), Part::full);
    combine(set, loaded_);
    v_.load_integers(other_loaded, other_from, lane_bits(), Part::full);
    combine(other_set, other_loaded);
    watch_->see_pair(slot, loaded_, other_loaded);
  }

  /// Calls `act` with 0, 1, 2 for the extremes that this pass updates.
  template <class Act>
  void each(const Act& act) const {
    for (Vec at = 0; at < 3; ++at)
      if (updates(at)) act(at);
  }

  bool updates(Vec at) const {
    switch (pass_) {
      case Pass::whole: return true;
      case Pass::first: return at == own() || (at == other() && !columns_ && watch_ == nullptr);
      case Pass::second: return at == 2;
      case Pass::numbers: return at != other();
      case Pass::other:
      case Pass::again: break;
    }
    return at == other();
  }

  Memory place(const Memory& record, Vec at) const {
    return record + static_cast<std::size_t>(at == own() ? 0 : at == other() ? plane_bytes() : 2 * plane_bytes());
  }

  std::uint64_t identity_bits() const {
    const FloatBits bits = float_bits(input_);
    return maximum_ ? bits.negative_infinity : bits.infinity;
  }

  bool maximum_;
  bool columns_;
  Vec loaded_;
  std::unique_ptr<NanWatch> watch_;
  bool spreads_ = false;  ///< each of two sets has two slots of the watch
  int turn_ = 0;
};

}  // namespace

std::unique_ptr<ReduceState> make_order_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                              const schedule::ReduceBody& body, const schedule::Schedule& schedule) {
  return std::make_unique<OrderState>(layer, spec, body, schedule);
}

}  // namespace tenfold::jit

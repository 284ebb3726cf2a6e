// SPDX-License-Identifier: Apache-2.0
//
// What a reduction keeps while it runs, in vectors: how elements enter, how parts merge, how the answer leaves. The
// nests (rows, columns) drive it and know no reduction; it drives the vector layer and knows no loop.
//
// Vectors are handed out by a fixed map that fits AVX2's seven: sets from 0, totals (f64, low and high lanes) in 4 and
// 5, a loaded vector in 6.
#pragma once

#include <memory>
#include <vector>

#include "jit/places.hpp"
#include "jit/vector.hpp"
#include "schedule/body.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

/// Which parts of its state a step updates. Only states with a second pass tell them apart. Rows: two of the three
/// extremes of an order state settle nearly every answer, and the third is looked at again only where they did not.
/// Columns ask that after each step, and take a whole sweep `again` where the first pass met what it cannot deal with.
/// What is right for `numbers` leaves NaNs alone to another pass.
enum class Pass { whole, first, other, second, again, numbers };

class ReduceState {
 public:
  static std::unique_ptr<ReduceState> make(VectorLayer& layer, const kernel::KernelSpec& spec,
                                           const schedule::ReduceBody& body, const schedule::Schedule& schedule);
  virtual ~ReduceState() = default;
  ReduceState(const ReduceState&) = delete;
  ReduceState& operator=(const ReduceState&) = delete;

  schedule::Lanes lane_kind() const { return lanes_; }
  int lanes() const { return schedule::lanes_per_step(lanes_, input_); }
  int input_bytes() const { return byte_size(input_); }
  int output_bytes(int output) const { return byte_size(output == 0 ? output_ : input_); }
  int step_bytes() const { return lanes() * input_bytes(); }
  virtual int lane_bits() const = 0;
  /// Steps after which a set must be flushed into the totals (of columns: rows); 0 for never.
  virtual int chain() const { return lanes_ == schedule::Lanes::chained_f32 ? schedule::kChain : 0; }
  bool chained() const { return chain() > 0; }
  /// Whether the chains of several sets meet in the totals only, each flushed by itself: products, four of which could
  /// leave the range of f32 where the whole does not.
  virtual bool sets_meet_in_totals() const { return false; }
  virtual bool stores_tails() const;
  /// True when elements must come in the order of their indices.
  virtual bool in_order() const { return false; }
  /// Sums and products in f32, whose chains end in f64. Keys have chains as well, but of rows in their order.
  bool is_sum() const { return chained() && !in_order(); }
  virtual bool has_second_pass() const { return false; }
  /// True when the second pass starts from where the first did, and replaces what it has made.
  virtual bool second_pass_redoes() const { return false; }
  /// What the emission calls below concern from now on.
  void set_pass(Pass pass) { pass_ = pass; }
  /// From init_set() to flush(), and of a record from first to last, sets take whole steps only: their lanes may be in
  /// any order until then.
  void set_whole_steps(bool whole) { whole_steps_ = whole; }

  /// Sets: accumulators that take one vector step each.
  virtual void init_set(int set) = 0;  ///< the first one first
  virtual void step(int set, const Memory& from, Part part) = 0;
  /// The same of whole steps of several rows, in their order.
  virtual void step_rows(int set, const std::vector<Memory>& rows) {
    for (const Memory& row : rows) step(set, row, Part::full);
  }
  /// The same of a whole step for each set, from the first on, one after another in memory.
  virtual void step_sets(const std::vector<Memory>& steps) {
    for (std::size_t set = 0; set < steps.size(); ++set) step(static_cast<int>(set), steps[set], Part::full);
  }
  /// Whether a loop of these gains by two at a time.
  virtual bool gains_by_two_groups() const { return false; }
  /// Around a loop of these alone, after init_set().
  virtual void start_groups(int /*sets*/) {}
  virtual void end_groups(int /*sets*/) {}
  /// Rows: the register that says where the next step is, for as long as there are steps and flushes.
  virtual void read_by(const Xbyak::Reg64&) {}
  virtual void merge(int into, int from) = 0;
  /// Sets that there are of states whose elements may come in any order and in any lane; 0 of the others.
  virtual int free_sets() const { return 0; }
  /// True when an element may be taken more than once.
  virtual bool takes_twice() const { return false; }

  /// Totals: what an output has seen. For states without chains, set 0 is the total and flush() nothing.
  virtual void init_totals() = 0;
  virtual void flush(int set) = 0;

  /// Rows whose steps lie one after another, before all else: whether lanes remember the group of so many steps that
  /// their extreme was in. If so, the one to be stored is looked for after fold(), in the row at `row`, whose whole
  /// steps end before element `whole`; clobbers `whole`.
  virtual bool remember_groups(int /*steps*/) { return false; }
  virtual void look(const Xbyak::Reg64& /*row*/, const Xbyak::Reg64& /*whole*/) {}

  /// Columns, where elements come in order: the next step is on the first row; `rows` rows have been taken.
  virtual void first_row() {}
  virtual void next_rows(int /*rows*/) {}

  /// Narrow columns of those. Steps in registers have numbers from 0 on, of which the set that load_set() and
  /// store_set() move knows the next; then rows have, from behind so many of them for each step, or sweep, that was
  /// taken.
  virtual void number_steps() {}
  virtual void number_rows(int /*rows_of_step*/) {}
  /// What the columns of a record have found, side by side with those of others, and back.
  virtual PlaceRule place_rule() const { return {}; }
  virtual void lay_places(const Memory& /*record*/, const Places& /*to*/) {}
  virtual void take_places(const Memory& /*record*/, const Places& /*from*/) {}

  /// Records: the same in memory, for a vector of columns: record_bytes() in each of record_planes(), so many bytes
  /// apart as the number of records makes. Their size is settled once it is known whether remember_groups().
  virtual int record_bytes() const = 0;
  virtual int record_planes() const { return 1; }
  void set_records(std::int64_t records) { records_ = records; }
  std::int64_t plane_bytes() const { return records_ * record_bytes(); }
  virtual void init_record(const Memory& record) = 0;
  virtual void load_set(const Memory& record) = 0;   ///< into set 0
  virtual void store_set(const Memory& record) = 0;  ///< from set 0
  /// Columns, around the first pass of a sweep: the second jumps when it has met nothing that calls for another one.
  virtual void start_sweep() {}
  virtual void jump_if_clean(const Xbyak::Label&) {}
  /// Of such states: whether the first pass is a quick one, which the state must allow, and the other one is taken
  /// where it does not; the last of these jumps where that has met nothing that calls for the second pass.
  virtual bool has_quick_sweeps() const { return false; }
  virtual void jump_unless_quick(const Xbyak::Label& /*other*/) {}
  virtual void start_other() {}
  virtual void end_other(const Xbyak::Label& /*clean*/) {}
  /// Columns in registers: whether to try a quick pass, the first or one of numbers, as if it were a sweep. What it has
  /// not settled the whole pass makes from the start; what it has is its answer, after finish() if it was of numbers.
  virtual bool has_quick_pass() const { return false; }
  virtual void flush_record(const Memory& record) = 0;
  /// Chained columns whose totals of whole steps, too, have lanes in any order until join_totals().
  void keep_totals_apart() { totals_apart_ = true; }
  virtual void join_totals() {}
  /// Of these, `sets` sets from the first on, of records that lie one after another, around steps: from them and into
  /// them, or their chains into the totals, and new ones begun.
  virtual void start_sets() {}
  virtual void load_sets(const Memory& /*record*/, int /*sets*/) {}
  virtual void store_sets(const Memory& /*record*/, int /*sets*/) {}
  virtual void begin_sets(const Memory& /*record*/, int /*sets*/) {}
  virtual void load_totals(const Memory& record) = 0;
  virtual void keep_totals(const Memory& /*record*/) {}  ///< the other way round
  /// Rows of chains: lane 0 of the totals as lane `lane` of those of a record.
  virtual void keep_total(const Memory& /*record*/, const Xbyak::Reg64& /*lane*/) {}
  virtual void merge_totals(const Memory& /*record*/) {}  ///< those of the record into the totals

  /// After a first pass: jumps when it has settled the answer in every lane of set 0 (full), or in lane 0 (one).
  virtual void jump_if_settled(const Xbyak::Label&, Part) {}
  /// Of rows: True when a first pass takes elements of the sign that settles most of them, another one those of the
  /// other sign, and only a second pass takes all as they are.
  virtual bool settles_by_sign() const { return false; }
  /// Before all rows, and before each: jumps where the other sign has settled the last one.
  virtual void start_signs() {}
  virtual void jump_if_other_sign(const Xbyak::Label&) {}
  /// After the passes of one sign: jumps to where the row is settled, to the pass of the other sign, or to the second.
  virtual void jump_by_sign(const Xbyak::Label& /*settled*/, const Xbyak::Label& /*turn*/,
                            const Xbyak::Label& /*second*/) {}
  /// Folds the lanes of what this pass has updated in set 0 into lane 0.
  virtual void fold() = 0;

  /// Totals to the answers, after fold() for `one`, and the answer for an output to memory (full or one; a tail where
  /// stores_tails()).
  virtual void finish(Part part) = 0;
  virtual void store(int output, const Memory& to, Part part) = 0;

 protected:
  ReduceState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
      : v_(layer),
        body_(body),
        lanes_(schedule::lanes_of(spec, body)),
        input_(spec.inputs[0].dtype),
        output_(spec.outputs[0].dtype) {}

  VectorLayer& v_;
  const schedule::ReduceBody& body_;
  schedule::Lanes lanes_;
  DType input_, output_;
  Pass pass_ = Pass::whole;
  bool whole_steps_ = false, totals_apart_ = false;
  std::int64_t records_ = 0;
};

/// Byte offset of KernelArgs::count, which rdi points at.
Memory count_argument();

}  // namespace tenfold::jit

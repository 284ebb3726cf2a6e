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

#include "jit/state/roles.hpp"
#include "jit/vector/vector.hpp"
#include "schedule/body.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

/// Which parts of its state a step updates. Only states with a second pass tell them apart. Rows: two of the three
/// extremes of an order state settle nearly every answer, and the third is looked at again only where they did not.
/// Columns ask that after each step, and take a whole sweep `again` where the first pass met what it cannot deal with.
/// What is right for `numbers` leaves NaNs alone to another pass.
enum class Pass { whole, first, other, second, again, numbers };

/// What the nests must know of a state to drive it.
struct StateTraits {
  int lane_bits = 32;
  /// Steps after which a set must be flushed into the totals (of columns: rows); 0 for never.
  int chain = 0;
  /// Sets that there are of states whose elements may come in any order and in any lane; 0 of the others.
  int free_sets = 0;
  int record_planes = 1;
  bool stores_tails = true;  ///< as far as the machine does
  bool in_order = false;     ///< elements must come in the order of their indices
  bool takes_twice = false;  ///< an element may be taken more than once
  /// Whether the chains of several sets meet in the totals only, each flushed by itself: products, four of which could
  /// leave the range of f32 where the whole does not.
  bool sets_meet_in_totals = false;
  bool has_second_pass = false;
  bool second_pass_redoes = false;  ///< it starts from where the first did, and replaces what that has made
  /// Columns in registers: whether to try a quick pass, the first or one of numbers, as if it were a sweep. What it has
  /// not settled the whole pass makes from the start; what it has is its answer, after finish() if it was of numbers or
  /// gives an index.
  bool has_quick_pass = false;
  bool settles_few_rows = false;  ///< and whether that is the first one however few the rows are
  int rows_in_registers = 2;      ///< columns in registers: adjacent rows that step_rows() is given
  int sets_in_registers = 1;      ///< and neighbouring steps that are taken side by side, each by a set and flush()
};

class ReduceState {
 public:
  static std::unique_ptr<ReduceState> make(VectorLayer& layer, const kernel::KernelSpec& spec,
                                           const schedule::ReduceBody& body, const schedule::Schedule& schedule);
  virtual ~ReduceState() = default;
  ReduceState(const ReduceState&) = delete;
  ReduceState& operator=(const ReduceState&) = delete;

  const StateTraits& traits() const { return traits_; }
  const StateRoles& roles() const { return roles_; }
  schedule::Lanes lane_kind() const { return lanes_; }
  int lane_bits() const { return traits_.lane_bits; }
  int lanes() const { return schedule::lanes_per_step(lanes_, input_); }
  int input_bytes() const { return byte_size(input_); }
  int output_bytes(int output) const { return byte_size(output == 0 ? output_ : input_); }
  int step_bytes() const { return lanes() * input_bytes(); }
  bool stores_tails() const { return traits_.stores_tails && v_.stores_tails_of(output_bytes(0)); }
  bool chained() const { return traits_.chain > 0; }
  /// Sums and products in f32, whose chains end in f64. Keys have chains as well, but of rows in their order.
  bool is_sum() const { return roles_.chains != nullptr; }
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
  /// Whether a loop of these gains by two at a time in this pass.
  virtual bool gains_by_two_groups() const { return false; }
  /// Rows: the register that says where the next step is, for as long as there are steps and flushes.
  virtual void read_by(const Xbyak::Reg64&) {}
  virtual void merge(int into, int from) = 0;

  /// Totals: what an output has seen. For states without chains, set 0 is the total and flush() nothing.
  virtual void init_totals() = 0;
  virtual void flush(int set) = 0;

  /// Records: the same in memory, for a vector of columns: record_bytes() in each of so many planes, plane_bytes()
  /// apart. Their size is settled once it is known whether lanes remember groups.
  virtual int record_bytes() const = 0;
  void set_records(std::int64_t records) { records_ = records; }
  std::int64_t plane_bytes() const { return records_ * record_bytes(); }
  virtual void init_record(const Memory& record) = 0;
  virtual void load_set(const Memory& record) = 0;   ///< into set 0
  virtual void store_set(const Memory& record) = 0;  ///< from set 0
  virtual void flush_record(const Memory& record) = 0;
  virtual void load_totals(const Memory& record) = 0;
  virtual void keep_totals(const Memory& /*record*/) {}  ///< the other way round

  /// After a first pass: jumps when it has settled the answer in every lane of set 0 (full), or in lane 0 (one).
  virtual void jump_if_settled(const Xbyak::Label&, Part) {}
  /// Folds the lanes of what this pass has updated in set 0 into lane 0.
  virtual void fold() = 0;

  /// Totals to the answers, after fold() for `one`, and the answer for an output to memory (full or one; a tail where
  /// stores_tails()).
  virtual void finish(Part part) = 0;
  virtual void store(int output, const Memory& to, Part part) = 0;

 protected:
  ReduceState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body,
              const StateTraits& traits)
      : v_(layer),
        body_(body),
        lanes_(schedule::lanes_of(spec, body)),
        input_(spec.inputs[0].dtype),
        output_(spec.outputs[0].dtype),
        traits_(traits) {}

  VectorLayer& v_;
  const schedule::ReduceBody& body_;
  schedule::Lanes lanes_;
  DType input_, output_;
  StateTraits traits_;
  StateRoles roles_;
  Pass pass_ = Pass::whole;
  bool whole_steps_ = false;
  std::int64_t records_ = 0;
};

/// Byte offset of KernelArgs::count, which rdi points at.
Memory count_argument();

}  // namespace tenfold::jit

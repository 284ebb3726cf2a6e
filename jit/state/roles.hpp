// SPDX-License-Identifier: Apache-2.0
//
// What only some states of a reduction do (state.hpp), an interface for each: a nest asks a state for the role that it
// needs, and a state that does not play it is not asked to.
#pragma once

#include "jit/state/places.hpp"
#include "jit/vector/vector.hpp"

namespace tenfold::jit {

/// Sums and products of floating types: totals in f64, which meet those of other rows.
class WideTotals {
 public:
  /// Rows: lane 0 of the totals as lane `lane` of those of a record.
  virtual void keep_total(const Memory& record, const Xbyak::Reg64& lane) = 0;
  /// Those of the record into the totals.
  virtual void merge_totals(const Memory& record) = 0;

 protected:
  ~WideTotals() = default;
};

/// Those with chains of f32 in front of the totals.
class Chains {
 public:
  /// Around a loop of step_sets() alone, after init_set().
  virtual void start_groups(int sets) = 0;
  virtual void end_groups(int sets) = 0;
  /// Columns whose totals of whole steps, too, have lanes in any order until join_totals().
  virtual void keep_totals_apart() = 0;
  virtual void join_totals() = 0;
  /// Of such columns, `sets` sets from the first on, of records that lie one after another, around steps: from them and
  /// into them, or their chains into the totals, and new ones begun.
  virtual void start_sets() = 0;
  virtual void load_sets(const Memory& record, int sets) = 0;
  virtual void store_sets(const Memory& record, int sets) = 0;
  virtual void begin_sets(const Memory& record, int sets) = 0;

 protected:
  ~Chains() = default;
};

/// Columns whose elements come in the order of their indices.
class RowNumbers {
 public:
  /// The next step is on the first row; `rows` rows have been taken.
  virtual void first_row() = 0;
  virtual void next_rows(int rows) = 0;

  /// Narrow columns. Steps in registers have numbers from 0 on, of which the set that load_set() and store_set() move
  /// knows the next; then rows have, from behind so many of them for each step, or sweep, that was taken.
  virtual void number_steps() = 0;
  virtual void number_rows(int rows_of_step) = 0;
  /// What the columns of a record have found, side by side with those of others, and back.
  virtual PlaceRule place_rule() const = 0;
  virtual void lay_places(const Memory& record, const Places& to) = 0;
  virtual void take_places(const Memory& record, const Places& from) = 0;

 protected:
  ~RowNumbers() = default;
};

/// Columns with a second pass, around the first pass of a sweep.
class SweepPasses {
 public:
  virtual void start_sweep() = 0;
  /// Jumps when the pass has met nothing that calls for another one.
  virtual void jump_if_clean(const Xbyak::Label& clean) = 0;

 protected:
  ~SweepPasses() = default;
};

/// Those whose first pass is a quick one, which the state must allow; Pass::other is taken where it does not.
class QuickSweeps {
 public:
  virtual void jump_unless_quick(const Xbyak::Label& other) = 0;
  virtual void start_other() = 0;
  /// Jumps where that has met nothing that calls for the second pass.
  virtual void end_other(const Xbyak::Label& clean) = 0;

 protected:
  ~QuickSweeps() = default;
};

/// Rows whose first pass takes elements of the sign that settles most of them, another one those of the other sign, and
/// only a second pass takes all as they are.
class SignPasses {
 public:
  /// Before all rows, and before each: jumps where the other sign has settled the last one.
  virtual void start_signs() = 0;
  virtual void jump_if_other_sign(const Xbyak::Label& other) = 0;
  /// After the passes of one sign: jumps to where the row is settled, to the pass of the other sign, or to the second.
  virtual void jump_by_sign(const Xbyak::Label& settled, const Xbyak::Label& turn, const Xbyak::Label& second) = 0;

 protected:
  ~SignPasses() = default;
};

/// Rows whose steps lie one after another, and whose lanes may remember the group of steps that their extreme was in.
class GroupSearch {
 public:
  /// Before all else: whether they do so, of groups of so many steps. If so, the element to be stored is looked for
  /// after fold(), in the row at `row`, whose whole steps end before element `whole`; clobbers `whole`.
  virtual bool remember_groups(int steps) = 0;
  virtual void look(const Xbyak::Reg64& row, const Xbyak::Reg64& whole) = 0;

 protected:
  ~GroupSearch() = default;
};

/// Columns that may know of an extreme no more than the sweep that it was in, until its rows are searched.
class RowSearch {
 public:
  /// Before all else: step_rows() of so many rows leaves the number of the first of them.
  virtual void remember_sweeps(int rows) = 0;
  /// A record's numbers after flush_record(): so many vectors, in lanes of so many bytes.
  virtual int numbers() const = 0;
  virtual int number_bytes() const = 0;
  virtual Memory numbers_of(const Memory& record, int at) const = 0;
  /// The rows from each number on, step_bytes() apart in `staged`, which this clobbers: numbers become those of the
  /// first row that has the extreme.
  virtual void search(const Memory& record, const Memory& staged) = 0;

 protected:
  ~RowSearch() = default;
};

/// The roles of a state: itself, or null.
struct StateRoles {
  WideTotals* wide_totals = nullptr;
  Chains* chains = nullptr;
  RowNumbers* row_numbers = nullptr;
  SweepPasses* sweep_passes = nullptr;
  QuickSweeps* quick_sweeps = nullptr;
  SignPasses* sign_passes = nullptr;
  GroupSearch* group_search = nullptr;
  RowSearch* row_search = nullptr;
};

}  // namespace tenfold::jit

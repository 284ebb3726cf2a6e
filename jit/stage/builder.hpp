// SPDX-License-Identifier: Apache-2.0
//
// Builds the lane programs of stages (stages.hpp): one program over some nodes of a body, with what it reads and where
// its results go.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jit/function/divisor.hpp"
#include "jit/function/functions.hpp"
#include "jit/stage/body_facts.hpp"
#include "jit/stage/stages.hpp"

namespace tenfold::jit {

/// Where each node of a body belongs.
struct Position {
  bool per_row = true;
  int pass = 0;
  bool reduced = false;
};

/// By node. `pass` of a value of rows: the one that it is known before; `reduced`: it follows from a reduction, of this
/// kernel or another one. `beside`: by node, the reduction in whose pass another is found (a centred moment's sum, the
/// maximum beside exponentials), or -1.
std::vector<Position> positions_of(const kernel::KernelSpec& spec, const std::vector<int>& beside);

/// What programs of rows save for those of elements: a node's value, what stands for it as a divisor
/// (function/divisor.hpp), the pilot of elements (centred.hpp), or a maximum as the first look at its own pass has it.
struct SavedValue {
  enum class Part : std::uint8_t {
    whole,
    scale,
    high,
    low,
    high_of_scaled,  ///< for dividends that are 2^kScaledExpBits times as great
    low_of_scaled,
    pilot,
    shift,
  };
  int node = 0;
  Part part = Part::whole;
  /// Made within the pass that reads it.
  bool is_of_own_pass() const { return part == Part::pilot || part == Part::shift; }
  auto operator<=>(const SavedValue&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};
using SavedSlots = std::map<SavedValue, int>;

class StageBuilder {
 public:
  /// `reduction_of`: by node, -1 for nodes that are no reduction. `saved` grows by what programs of elements read.
  StageBuilder(const kernel::KernelSpec& spec, const BodyFacts& facts, const std::vector<Position>& positions,
               const std::vector<StageReduction>& reductions, const std::vector<int>& reduction_of, SavedSlots& saved)
      : spec_(spec),
        facts_(facts),
        positions_(positions),
        reductions_(reductions),
        reduction_of_(reduction_of),
        saved_(saved) {}

  /// In an element program, values of rows are read from their slots; in a program of rows, from totals.
  void set_elements(bool elements) { elements_ = elements; }
  /// The value of node `kept.node` is read from where it is kept.
  void read_kept(const KeptValue& kept) { kept_ = kept; }
  /// Node `max`, a maximum, is read from its SavedValue::Part::shift.
  void read_shift(int max) { shifts_.insert(max); }
  StagePlace place_of(const KeptValue& kept) const;
  /// The slot where it is saved; from now on, if it was not.
  StagePlace save_slot(const SavedValue& what);

  Lane input(StagePlace place);
  Lane value(int node);
  /// In a program of rows: what is to be saved.
  Lane saved_value(const SavedValue& what);
  /// In a program of rows: whether the first look leaves a plain max, a centred moment, or powers open.
  Lane is_open(int reduction);
  /// In a program of rows: the maximum `node`, in f32, as the first look has it.
  Lane first_max(int node);
  void result(Lane lane, StagePlace place);
  void store(const kernel::Store& store);
  LaneBuilder& builder() { return builder_; }

  /// The first function that there is no kernel for.
  const Status& status() const { return status_; }
  StageProgram finish();

 private:
  const kernel::Node& node(int index) const { return kernel::node(spec_, index); }
  DType dtype(int index) const { return kernel::dtype_of(spec_, index); }
  Lane make(int index);
  bool is_widened_load(const kernel::Node& cast) const;
  Lane missing(const std::string& what, DType of);
  std::optional<Lane> wide(int index);
  bool is_by_count(const kernel::Node& at) const;
  Lane reduced(int index);
  Lane running(int index);
  Lane ranked(int index);
  Lane extreme(int reductions, bool max);
  Lane number_of_extreme(int extreme);
  Lane number(int reduction);
  Lane plain_max(int reduction);
  Lane plain_or_exact(int reduction);
  Lane sum_of_powers(int index, int reduction);
  Lane applied(int index);
  Lane slot(const SavedValue& what) { return input(save_slot(what)); }
  bool is_by_row(const kernel::Node& at) const;
  Lane divided_by_row(int index);
  bool is_scaled(int index) const;
  Lane stored(const kernel::Store& store);

  const kernel::KernelSpec& spec_;
  const BodyFacts& facts_;
  const std::vector<Position>& positions_;
  const std::vector<StageReduction>& reductions_;
  const std::vector<int>& reduction_of_;
  SavedSlots& saved_;
  bool elements_ = true;
  KeptValue kept_;
  std::set<int> shifts_;  ///< nodes
  LaneBuilder builder_;
  StageProgram made_;
  std::map<int, Lane> values_;
  std::map<int, Divisor> divisors_;  ///< by node
  Status status_;
};

}  // namespace tenfold::jit

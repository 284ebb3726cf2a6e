// SPDX-License-Identifier: Apache-2.0
//
// A body with several inputs, reductions that feed each other, or both, taken apart into lane programs. A pass walks
// the reduced levels once; a value belongs to the earliest pass that has all it needs:
//
//   rows 0     what is the same for all elements of a row, before the first pass
//   pass 0     elements up to the first reductions, and their combining
//   rows 1     what follows from those: means, roots, divisors, ...
//   pass 1     elements again, now with the values of rows 1: exp(x - m), ...
//   ...
//   rows P     what is stored once per row
//
// Elements are computed anew from the inputs in each pass that needs them. "Row" stands for what one output of a
// reduction sees, whether lanes run along it (staged rows) or across (staged columns).
#pragma once

#include <cstdint>
#include <vector>

#include "jit/lane/lane.hpp"
#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "tenfold/status.hpp"

namespace tenfold::jit {

/// What a program's input reads, or a result writes.
struct StagePlace {
  enum class Kind : std::uint8_t {
    operand,  ///< operand `index`: inputs first, then outputs
    joined,   ///< likewise: the elements of two steps at once
    saved,    ///< a row's value for the pass that follows: slot `index`
    set,      ///< reduction `index`: the running value
    total,    ///< reduction `index`: what has been flushed, at last the reduction itself
    mask,     ///< all ones in lanes that hold an element, as integers of `type`
    other,    ///< reduction `index`: another part of the total
    count,    ///< KernelArgs::count, in lanes of `type`
    kept,     ///< the kept value, in scratch
    taken,    ///< how many elements each lane has taken, as f64
    share,    ///< one over that, as f32
    open,     ///< whether a row needs a second look, in lane 0; or which elements are among the first so far
    number,   ///< which of its row's elements is in each lane, counted from 0 along the reduced level
  };
  Kind kind = Kind::operand;
  int index = 0;
  LaneType type = LaneType::f32;
  int step = 0;  ///< of those in one program (lane/side_by_side.hpp)
  friend bool operator==(const StagePlace&, const StagePlace&) = default;
};

struct StageProgram {
  LaneProgram lanes;
  std::vector<StagePlace> inputs;   ///< by LaneOp::input's immediate
  std::vector<StagePlace> results;  ///< by result
};

/// Whether the program asks for its elements' numbers.
bool reads_numbers(const StageProgram& program);

/// The reductions whose sets the program reads, each once: a flush has vectors for parts of them.
std::vector<int> sets_read_by(const StageProgram& program);

/// What a reduction combines. The extremes of reals would take two operations and a union each to be right about NaN
/// and zeros; bits, as integers, take one.
enum class StageForm : std::uint8_t {
  value,       ///< the elements
  negated,     ///< their negations: the max of reals, as a min
  plain,       ///< the elements, by a max that leaves out NaN, and takes either of two zeros
  bits,        ///< their bits: the max of reals without a sign; or one of three extremes (ExtremeBits)
  deviations,  ///< what is left of them when the pilot is taken off (CentredMoment)
  squares,     ///< the squares of that
  remainders,  ///< what is left when they are taken from themselves: NaN or 0
  extreme,  ///< the greatest so far of an arg-reduction (numbered.hpp); reals that a second look is for leave out NaN
  number,   ///< its number
  doubt,    ///< their sum, NaN where any of them is, and seldom else
  powers,   ///< e^x, in the pass of the maximum; where that is far from 0, e^(x - max) by a second look
  running,  ///< their sum so far, in the order of the row
  ranked,   ///< what has a place among the first of all, as it is compared (ranked.hpp)
  ranked_number,  ///< its number, and more
};

/// The three reductions of bits, one after another from where both reductions stand, that give max and min of the same
/// reals: the signed greatest is the max if its sign is clear, the unsigned greatest is the min if its sign is set;
/// where all signs are alike, the other one is the least unsigned. NaNs of either sign show in one of the greatest.
struct ExtremeBits {
  static constexpr int kGreatestSigned = 0, kGreatestUnsigned = 1, kLeastUnsigned = 2;
};

/// The two reductions, one after another, that a centred second moment is made of (centred.hpp), in the pass of the sum
/// of the same elements. Of rows, and of a sum that is `centred`, the sum is made of them, too, and where the
/// deviations are not finite a second look sees whether the elements are.
struct CentredMoment {
  static constexpr int kDeviations = 0, kSquares = 1;
};

struct StageReduction {
  kernel::Monoid monoid = kernel::Monoid::sum;
  StageForm form = StageForm::value;
  bool one_of_three = false;  ///< bits: one of ExtremeBits
  int element = -1;           ///< the node that is reduced
  int number = -1;            ///< extreme: the reduction of its number
  int doubt = -1;             ///< extreme, number: the reduction that shows NaN; -1: there can be none, or it may be
  bool last = false;          ///< extreme, number: the last of equals counts
  bool reverse = false;       ///< running: from the last element of the row on
  bool in_lanes = false;      ///< running: those of a step are elements of one row
  int index = -1;             ///< ranked: the node that numbers are of; -1: they are counted
  int places = 0;             ///< ranked, of place 0: how many there are, each of two reductions, one after another
  int sum = -1;               ///< squares: the reduction that sums the elements; -1: they follow from the deviations
  int max = -1;               ///< powers, and what a second look makes of them: the node of the maximum
  DType dtype = DType::f32;   ///< of what is combined
  LaneType set_type = LaneType::f32;                   ///< of the running value
  LaneType total_type = LaneType::f32;                 ///< f64 for sums and products of f32
  std::uint64_t set_identity = 0, total_identity = 0;  ///< bit patterns
  int pass = 0;
  /// What a second look makes: plain, in place of an infinite total; squares, the remainders; powers, the sum of e^(x -
  /// max); -1: there is none.
  int exact = -1;
  bool again = false;  ///< made by a second look alone, at what the reduction before it has made
  /// Of deviations and squares: the sum of the elements follows from them.
  bool gives_sum() const { return sum < 0; }
  /// The total has wider lanes than the set.
  bool is_wide() const { return set_type != total_type; }
  /// The set must be flushed after kChain steps. Others are flushed once.
  bool is_chained() const { return is_wide() && form != StageForm::number && form != StageForm::extreme; }
  /// Of an extreme the number's total has it, if that is wide; of sums so far the set is all there is.
  bool has_total() const { return form != StageForm::extreme && form != StageForm::running; }
  StageProgram flush;  ///< total = total and set
  StageProgram fold;   ///< total = total and other
};

struct StagePass {
  StageProgram step;            ///< elements of all lanes
  StageProgram tail;            ///< the same, of a partial vector along a reduced level: other lanes change no set
  std::vector<int> reductions;  ///< that it feeds
  StageProgram enters;          ///< of elements: whether any is among the first so far; empty if nobody asks
  StageProgram pilot;           ///< takes one more element into each pilot, of rows into a sum; empty if there are none
  StageProgram fold_pilot;      ///< rows: the sums of two lanes
  StageProgram end_pilot;       ///< rows: their mean, made a pilot
  StageProgram drift;           ///< rows, of the totals: whether the pilot was far from the mean
  StageProgram move_pilot;      ///< rows, of the totals: to the mean
  StageProgram recentre;        ///< pilots and what is about them, moved to the mean so far; empty if there are none
  StageProgram question;        ///< of the totals: whether a row needs the second look
  StageProgram shifts;          ///< of the totals: the maxima that a second look takes from elements
  std::vector<StagePass> second_look;  ///< one, or none: the elements again, for rows (columns: tiles) that need it
};

/// An element value that is expensive to compute: one pass writes it to scratch, or to an output that a later one will
/// write itself, and later ones read it. (Softmax's exponentials.)
struct KeptValue {
  int node = -1;  ///< -1: there is none
  int output = kInScratch;
  int pass = 0;  ///< the one that writes it
  static constexpr int kInScratch = -1;
};

struct Stages {
  KeptValue kept;
  std::vector<StageReduction> reductions;
  std::vector<StagePass> passes;
  std::vector<StageProgram> rows;  ///< before each pass, and after the last
  std::vector<LaneType> saved;     ///< slots
  /// Lanes of a vector step: 8 when an element or a saved value has 64 bits, else 16; more of narrow elements that
  /// nothing reduces (LaneProgram::lanes). Programs of rows and flushes may have 8 beside steps of 16; they run twice
  /// then.
  int lanes = 16;
};

/// The last pass, if it goes over a row along with the pass before it over the next one (Schedule::trails); null.
const StagePass* trailing_pass(const Stages& stages, const schedule::Schedule& schedule);

/// The program of an elementwise body (body_program.hpp) with the operands that it reads and stores.
StageProgram with_operands(const LaneProgram& program, const kernel::KernelSpec& spec);

/// unsupported_op or unsupported_dtype for functions that there are not, or a body that is not of this form.
Result<Stages> find_stages(const kernel::KernelSpec& spec, const schedule::Schedule& schedule);

}  // namespace tenfold::jit

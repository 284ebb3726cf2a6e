// SPDX-License-Identifier: Apache-2.0
//
// The form of body that the nests of one plain reduction run: one input, a chain of functions, one reduction, a chain
// of functions, one output. Read from a KernelSpec once; scheduler and emitter both look at this.
#pragma once

#include <vector>

#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::schedule {

struct ReduceBody {
  std::vector<kernel::Function> before;  ///< unary, applied to each element
  kernel::Monoid monoid = kernel::Monoid::sum;
  bool divide_by_count = false;  ///< first thing after the reduction
  bool square_root = false;      ///< then this
  bool last = false;             ///< arg-reductions: the last of equal elements
  bool stores_extreme = false;   ///< arg-reductions: the extreme itself is a second output
};

/// unsupported_op, saying what does not fit, for any other body.
Result<ReduceBody> read_body(const kernel::KernelSpec& spec);

/// How the reduction's running value is kept, and in which lanes.
enum class Lanes {
  chained_f32,  ///< sums and products of at most 16 elements in f32, then f64
  wide_f64,     ///< sums and products of f64 inputs, partial results among them
  order,        ///< max and min of floating types on their raw bits
  integer,      ///< integers and booleans, in their own width; max of the magnitudes of floats, on bits without a sign
  arg,          ///< extremes beside their indices, in lanes of 32 bits, or 64 for elements of as many
  keys,         ///< the index of the first extreme of elements of 8 or 16 bits: above a code of the place, in one lane
};
Lanes lanes_of(const kernel::KernelSpec& spec, const ReduceBody& body);
/// Whether the result has the same bits in whatever order elements come.
constexpr bool is_exact(Lanes lanes) { return lanes == Lanes::order || lanes == Lanes::integer; }
constexpr bool gives_index(Lanes lanes) { return lanes == Lanes::arg || lanes == Lanes::keys; }

/// Whether a lane of an arg-reduction's row may remember which group of steps its extreme was in, and the place there
/// is looked for at the end: of the first of equals alone, where an extreme of lanes is one instruction on any machine.
bool remembers_groups(DType input, const ReduceBody& body);
/// The same of columns, whose lanes may remember the sweep of rows that an extreme was in (Schedule::searches).
bool remembers_sweeps(const kernel::KernelSpec& spec, Lanes lanes);
/// Steps of such a group: the `unroll` of rows that have them.
inline constexpr int kGroupSteps = 4;

/// Elements that one vector step takes along the vector level: 64 bytes of lanes, or 16 elements where they are
/// widened; of keys 32 bytes of elements, which make 64 of lanes.
int lanes_per_step(Lanes lanes, DType input);

/// Longest chain of f32 additions (or products) in one lane before it is widened. Part of the numeric contract.
inline constexpr int kChain = 16;
/// Accumulators side by side in a row of a chained reduction. Part of the numeric contract: it says which elements
/// share a chain.
inline constexpr int kChainedUnroll = 4;
/// Streams of rows that a chained columns reduction reads side by side. Part of the numeric contract likewise.
inline constexpr int kChainedStreams = 4;

}  // namespace tenfold::schedule

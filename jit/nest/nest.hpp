// SPDX-License-Identifier: Apache-2.0
//
// What the loop nests of one plain reduction share: pointers, loops over levels with run-time extents, and element-wise
// copies through the staging area for operands that are not contiguous along the vector level.
#pragma once

#include <functional>
#include <optional>

#include "jit/assembler/assembler.hpp"
#include "jit/assembler/frame.hpp"
#include "jit/assembler/staging.hpp"
#include "jit/state/state.hpp"
#include "jit/vector/vector.hpp"
#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

struct LoopNest {
  LoopNest(Assembler& assembler, VectorLayer& layer, ReduceState& state, const kernel::KernelSpec& spec,
           const schedule::Schedule& schedule);

  Assembler& a;
  Xbyak::CodeGenerator& c;
  VectorLayer& v;
  ReduceState& s;
  const kernel::KernelSpec& spec;
  const schedule::Schedule& schedule;
  Gpr in, out;            ///< where the loops stand; in a second output, frame::kOutput2 says
  bool around = false;    ///< what is emitted stores whole vectors past the caches
  const bool ends_whole;  ///< columns: the partial step is a whole one, some of whose columns have been taken before
  const bool runs_over;   ///< columns: or it is one that runs on into what lies behind (schedule/column_ends.hpp)

  bool input_contiguous() const { return input_gap() == 1; }
  int input_gap() const { return known_gap(spec.inputs[0].strides[vector_level()]); }
  int outputs() const { return static_cast<int>(spec.outputs.size()); }
  bool output_contiguous(int output) const {
    return spec.outputs[static_cast<std::size_t>(output)].strides[vector_level()] == 1;
  }
  std::size_t vector_level() const { return static_cast<std::size_t>(schedule.vector_level); }
  /// Levels of that kind without the vector level, outermost first.
  std::vector<int> other_levels(bool reduced) const;

  /// Loads pointers.
  void load_operands();
  /// The same, and prepares the masks of the vector level's tail.
  void start();

  void load_extent(const Xbyak::Reg64& d, int level);
  void load_input_stride(const Xbyak::Reg64& d, int level);               ///< bytes
  void load_output_stride(const Xbyak::Reg64& d, int output, int level);  ///< bytes
  /// Keeps where the loops stand in each output, and goes back there.
  void save_outputs(int first_slot, int second_slot);
  void restore_outputs(int first_slot, int second_slot);
  /// Moves on in an output.
  void advance_output(int output, const Xbyak::Reg64& bytes);
  /// In all of them by one vector step.
  void advance_outputs();
  /// Where ends_whole: moves a pointer to elements of the partial step back to where the whole one begins, or all
  /// outputs.
  void step_back(const Xbyak::Reg64& pointer, int element_bytes);
  void step_outputs_back();
  /// Stores what the state has finished, where the loops stand: lane 0, or a vector step of the vector level.
  void store_one();
  void store_vector(Part part);
  void store_finished(Part part);  ///< without the finish()
  /// Emits `body`, which stores whole vectors where the loops stand and after; twice where that may be past the caches,
  /// as the schedule says, and the kernel then looks whether it does so on lines.
  void store_either_way(const std::function<void()>& body);
  Xbyak::Address slot(int offset) const;

  /// Replaces the number of rows by that of each of `streams` (a power of two) side by side. Long runs become odd,
  /// unless the streams are `adjacent` rows: streams that are a large power of two apart meet in the same sets of the
  /// caches and the same banks of memory (ReduceMax s64 [65536, 1024] over axis 0, pairs: 24 ms, instead of 41). Pairs
  /// do not fill a set, and what a cache holds they read better half of it apart: s8 [4096, 1024] takes 56 us, 62 when
  /// odd.
  void divide_into_streams(const Xbyak::Reg64& rows, int streams, bool adjacent);

  /// Runs `body` for every index of these levels, `in` (and `out`, on kept levels) moving along; both stand where they
  /// stood when it is done.
  void over(const std::vector<int>& levels, const std::function<void()>& body);

  /// Copies `count` elements of the input, `stride` bytes apart from `from` on, side by side into the staging area.
  void stage_in(const Xbyak::Reg64& from, const Xbyak::Reg64& stride, const Xbyak::Reg64& count);
  /// Those of a whole step; `stride` is not read where code knows the gap (input_gap()).
  void stage_step(const Xbyak::Reg64& from, const Xbyak::Reg64& stride);
  /// Tells the state that whole steps come, where they come as they lie in memory.
  void set_whole_steps(bool whole) { s.set_whole_steps(whole && input_contiguous()); }
  static Memory staging();
  /// Lanes of a step: all, or as many as the tail has.
  void load_count(const Gpr& count, Part part);
};

/// Where the rows of up to four streams are, when that of the first is at `base`; `stream3` is three times `stream`.
std::vector<Memory> places_of_streams(const Xbyak::Reg64& base, const Xbyak::Reg64& stream,
                                      const std::optional<Gpr>& stream3, int count);

}  // namespace tenfold::jit

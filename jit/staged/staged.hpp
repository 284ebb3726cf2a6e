// SPDX-License-Identifier: Apache-2.0
//
// Kernels in stages (stage/stages.hpp): what staged rows and staged columns share. All arithmetic is lane programs;
// running values, totals and the values of rows lie in scratch, so that a program has every register.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "jit/operand/access.hpp"
#include "jit/stage/stages.hpp"
#include "jit/staged/pass_vectors.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

/// Bytes between places of scratch arrays: 16 lanes of 64 bits.
inline constexpr int kPlaceBytes = 128;
/// Bytes of an element of the kept value.
inline constexpr int kKeptBytes = 4;

class StagedKernel {
 protected:
  StagedKernel(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
               const schedule::Schedule& schedule);

  /// Pointers, the tail's count, masks and the count of elements in lanes; all but the pointers in each of so many
  /// frames of scratch.
  void start(int frames = 1, int frame_bytes = 0);
  std::vector<int> levels(bool reduced) const;

  /// Before vectors_of(), as PassVectors has it. More than `sets` where order does not matter, steps are short, and
  /// vectors have room for `most` sets: a set waits for its last step to end.
  void plan_vectors(int sets, int most, int total_parts);
  const PassVectors& vectors_of(const StagePass& pass) const { return vectors_.at(&pass); }
  const StagePass* trailing_pass() const { return jit::trailing_pass(stages_, schedule_); }

  /// Emits `body`, a pass or part of one; twice where elements may go around the caches, with around_ set and clear.
  void each_way(const StagePass& pass, const std::function<void()>& body);

  /// The layer for programs of rows, flushes and folds: `lanes` of the kernel, or 8 where one has 64 bits.
  LaneLayer& layer_for(const StageProgram& program);
  /// That for programs of which the first `lanes` lanes count.
  LaneLayer& layer_for(const StageProgram& program, int lanes);

  using Access = std::function<void(const StagePlace& place, Vec v)>;
  void run(const StageProgram& program, LaneLayer& layer, const Access& load, const Access& store);
  /// The same, with some places in vectors: `home` tells which (-1: in memory). Programs have the vectors below `free`.
  using Home = std::function<Vec(const StagePlace& place)>;
  void run(const StageProgram& program, LaneLayer& layer, const Access& load, const Access& store, const Home& home,
           int free);

  /// Lanes of `type` side by side, from `lane` on.
  void load_lanes(LaneLayer& layer, Vec d, LaneType type, const Memory& from);
  void store_lanes(LaneLayer& layer, Vec s, LaneType type, const Memory& to);
  /// Fills `lanes` lanes of `type` with a bit pattern.
  void fill(LaneLayer& layer, Vec d, LaneType type, std::uint64_t pattern);
  void fill(const Memory& to, LaneType type, std::uint64_t pattern);
  void load_mask(LaneLayer& layer, Vec d, LaneType type);
  void load_count(LaneLayer& layer, Vec d, LaneType type);

  /// What ends a kernel; tells how much scratch is in use, of frames the last one.
  std::int64_t end();
  Memory tail_count() const;

  Assembler& a_;
  Xbyak::CodeGenerator& c_;
  const Stages& stages_;
  const kernel::KernelSpec& spec_;
  const schedule::Schedule& schedule_;
  OperandWalk walk_;
  OperandAccess access_;
  std::unique_ptr<LaneLayer> layer_, narrow_layer_, few_layer_;
  int lanes_;
  int places_;     ///< first byte of scratch for the nests' own places
  int spill_ = 0;  ///< first byte of scratch for spilled values
  std::int64_t spilled_ = 0;
  bool around_ = false;  ///< what is emitted stores past the caches

 private:
  PassVectors plan(const StagePass& pass, int sets, int most, int total_parts) const;
  void fill_frame();
  void write_mask();
  void write_count();

  std::map<const StagePass*, PassVectors> vectors_;
};

/// Emits the loops between prologue and epilogue; tells how many bytes of KernelArgs::scratch they use.
std::int64_t emit_staged_rows(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                              const schedule::Schedule& schedule);
std::int64_t emit_staged_columns(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                                 const schedule::Schedule& schedule);

}  // namespace tenfold::jit

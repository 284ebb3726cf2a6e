// SPDX-License-Identifier: Apache-2.0
//
// Program: a compiled partition in the form that is run: steps over buffers, with every offset worked out. Immutable
// after compile; run() is const and re-entrant. Knows no graph, no schedule and no x86.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "jit/abi.hpp"
#include "jit/code.hpp"
#include "runtime/large_memory.hpp"
#include "tenfold/status.hpp"
#include "tenfold/thread_pool.hpp"

namespace tenfold::runtime {

/// Where an operand's bytes are when the program runs.
struct Location {
  enum class Kind : std::uint8_t { input, output, temporary, constant };
  Kind kind = Kind::input;
  int index = 0;            ///< which input or output; of a constant: into Program::constants
  std::int64_t offset = 0;  ///< bytes into it; of a temporary: bytes into the arena
};

/// One level cut into pieces, each a task: offsets along it are `piece * grain * byte stride`.
struct Grid {
  int level = -1;
  std::int64_t extent = 1;
  std::int64_t grain = 1;
  std::int64_t pieces = 1;
};

/// One kernel run over a grid of tasks: tile (kept level) x split (reduced level). The split's pieces write partial
/// results `split_output_stride` bytes apart.
struct KernelStep {
  std::shared_ptr<const jit::KernelCode> code;
  std::vector<Location> inputs, outputs;
  std::array<std::int64_t, jit::kMaxLevels> extents{};
  std::vector<std::int64_t> strides;  ///< bytes, jit::stride_index order
  double count = 0;
  Grid tile, split;
  std::vector<std::int64_t> split_output_stride;  ///< bytes per output
  std::int64_t bytes_moved = 0;                   ///< read and written, for the decision how many threads to use
  std::int64_t effort = 1;                        ///< likewise: how many times as long as plain bytes they take
};

/// A step that runs outside the JIT (the reference evaluator, bound by compile/): gets the addresses of its operands.
struct CallStep {
  std::vector<Location> inputs, outputs;
  std::function<Status(std::span<const void* const> inputs, std::span<void* const> outputs)> call;
};

/// A step of independent tasks that other code than the JIT's runs (oneDNN, bound by compile/): each writes bytes of
/// its own, so which thread runs which changes no result. `run` is called from several threads at once.
struct TaskStep {
  static constexpr std::size_t kMostOperands = 16;
  std::vector<Location> inputs, outputs;  ///< at most kMostOperands of each
  std::int64_t tasks = 1;
  std::int64_t scratch_bytes = 0;  ///< that a running task needs, aligned to 64
  std::function<Status(std::span<const void* const> inputs, std::span<void* const> outputs, std::int64_t task,
                       void* scratch)>
      run;
};

struct Step {
  std::unique_ptr<const KernelStep> kernel;  ///< one of the three is set
  std::unique_ptr<const CallStep> call;
  std::unique_ptr<const TaskStep> tasks = nullptr;
};

struct Program {
  std::vector<Step> steps;
  std::int64_t arena_bytes = 0;                                          ///< temporaries of one run
  std::vector<std::shared_ptr<const std::vector<std::byte>>> constants;  ///< other programs may have the same ones
  std::unique_ptr<const LargeNeed> large_need = nullptr;                 ///< null: threads keep all that it borrows
};

/// What a program borrows that is too large for threads to keep, for its `large_need`.
std::unique_ptr<const LargeNeed> large_need_of(const Program& program);

/// Runs the program: inputs and outputs in the order of compile(). Uses no more than `max_threads` of the pool; with 1,
/// or with little work, the pool is not touched. `pool` may be null then. `scratch`, if given, has arena_bytes for the
/// temporaries, aligned to 64; otherwise they are in memory that the thread keeps.
Status run(const Program& program, std::span<const void* const> inputs, std::span<void* const> outputs,
           ThreadPool* pool, int max_threads, std::byte* scratch = nullptr);

/// Whether any step is worth a second thread. Where none is, run() does not touch its pool.
bool wants_threads(const Program& program, int max_threads) noexcept;

/// The program's only step, where that is a kernel with one task whose scratch fits the stack; else null.
const KernelStep* lone_kernel(const Program& program) noexcept;

/// Runs that step, as run() would: on this thread, allocating nothing.
void run_lone_kernel(const Program& program, const KernelStep& step, const void* const* inputs,
                     void* const* outputs) noexcept;

}  // namespace tenfold::runtime

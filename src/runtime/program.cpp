// SPDX-License-Identifier: Apache-2.0
//
// run(): the hot path. Steps run one after the other; the tasks of a step run on the caller's thread, or on some
// threads of the pool when there is enough to move. Which thread runs which task changes no result: tasks write
// disjoint bytes.
#include "runtime/program.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "runtime/few.hpp"
#include "runtime/float_state.hpp"
#include "runtime/kept.hpp"
#include "runtime/late_workers.hpp"
#include "runtime/shares.hpp"

namespace tenfold::runtime {
namespace {

/// What every thread must have to move, the first included; so a step that moves less than twice this runs on its
/// caller. Two threads break even at 256 KiB in all when calls follow each other and at 2 to 4 MiB when the workers
/// have gone to sleep, where they lose 13 us at most (docs/threads.md); between the two, the busy loop is the one to
/// serve.
constexpr std::int64_t kBytesPerThread = std::int64_t{256} << 10;

/// Scratch of up to this size is on the stack, where it costs nothing and cannot fail; little of it in the frame of
/// every call, more in one of its own.
constexpr std::int64_t kLittleScratchBytes = 16 << 10, kStackScratchBytes = 32 << 10;

/// What a thread keeps memory for.
struct Temporaries;
struct KernelScratch;
struct TaskScratch;

struct Operands {
  const Program& program;
  const void* const* inputs;
  void* const* outputs;
  std::byte* arena;

  const void* source(const Location& at) const noexcept {
    const std::size_t index = static_cast<std::size_t>(at.index);
    switch (at.kind) {
      case Location::Kind::input: return static_cast<const std::byte*>(inputs[index]) + at.offset;
      case Location::Kind::constant: return program.constants[index]->data() + at.offset;
      case Location::Kind::output:
      case Location::Kind::temporary: break;
    }
    return target(at);
  }
  /// Of an output or a temporary; nothing else is ever written.
  void* target(const Location& at) const noexcept {
    if (at.kind == Location::Kind::temporary) return arena + at.offset;
    return static_cast<std::byte*>(outputs[static_cast<std::size_t>(at.index)]) + at.offset;
  }
};

/// Narrows `args` to some neighbouring pieces of `grid`.
void cut(jit::KernelArgs& args, const KernelStep& step, const Grid& grid, const TaskRun& pieces) noexcept {
  const std::int64_t begin = pieces.begin * grid.grain;
  const int input_count = static_cast<int>(step.inputs.size());
  const int output_count = static_cast<int>(step.outputs.size());
  for (int i = 0; i < input_count; ++i)
    args.inputs[i] =
        static_cast<const std::byte*>(args.inputs[i]) + begin * args.strides[jit::stride_index(i, grid.level)];
  for (int o = 0; o < output_count; ++o)
    args.outputs[o] =
        static_cast<std::byte*>(args.outputs[o]) + begin * args.strides[jit::stride_index(input_count + o, grid.level)];
  args.extents[grid.level] = std::min(pieces.size() * grid.grain, grid.extent - begin);
}

/// The tasks of one step.
struct Tasks {
  const KernelStep& step;
  const jit::KernelArgs& whole;  ///< before any cut; no scratch yet
  const bool tiled;              ///< whether the step's tile is cut
  const std::int64_t count;
  Shares shares;
  std::atomic<std::int64_t> done{0};
  std::atomic<bool> out_of_memory{false};

  Tasks(const KernelStep& s, const jit::KernelArgs& args, bool cuts_tile, std::int64_t threads) noexcept
      : step(s),
        whole(args),
        tiled(cuts_tile),
        count((tiled ? step.tile.pieces : 1) * step.split.pieces),
        shares(count, threads) {}

  /// Neighbours along the tile's level are one call; those of a split have results of their own.
  std::int64_t most_at_once() const noexcept { return step.split.level < 0 ? count : 1; }

  void run_some(const TaskRun& tasks, void* scratch) const noexcept {
    jit::KernelArgs args;
    std::memcpy(&args, &whole, jit::args_bytes(step.inputs.size()));
    args.scratch = scratch;
    if (step.split.level < 0) {
      if (tiled) cut(args, step, step.tile, tasks);
    } else {
      const std::int64_t tile = tasks.begin / step.split.pieces, part = tasks.begin % step.split.pieces;
      if (tiled) cut(args, step, step.tile, {tile, tile + 1});
      cut(args, step, step.split, {part, part + 1});
      for (std::size_t o = 0; o < step.outputs.size(); ++o)
        args.outputs[o] = static_cast<std::byte*>(args.outputs[o]) + part * step.split_output_stride[o];
    }
    step.code->function()(&args);
  }

  void run_all_with(std::int64_t share, void* scratch) noexcept {
    const FloatState state;
    const std::int64_t most = most_at_once();
    const bool tasks_are_long = step.effort * step.bytes_moved >= count * kBytesPerThread;
    std::int64_t own = 0;
    for (TaskRun tasks = shares.take(share, most); !tasks.empty(); tasks = shares.take(share, most)) {
      run_some(tasks, scratch);
      own += tasks.size();
      if (tasks_are_long) move_late_workers();
    }
    done.fetch_add(own, std::memory_order_relaxed);
  }

  /// In a function of its own, so that only threads that need the space have it on their stack.
  [[gnu::noinline]] void run_all_on_stack(std::int64_t share) noexcept {
    alignas(64) std::byte scratch[kStackScratchBytes];
    run_all_with(share, scratch);
  }

  /// Runs tasks until there are none left. Allocates when this thread has not yet run a kernel with as much scratch,
  /// which schedules keep far below what a thread keeps.
  void run_all(std::int64_t share) noexcept {
    if (done.load(std::memory_order_relaxed) >= count) return;
    const std::int64_t bytes = step.code->scratch_bytes();
    if (bytes <= 0) return run_all_with(share, nullptr);
    if (bytes <= kStackScratchBytes) return run_all_on_stack(share);
    const Kept<KernelScratch> scratch(bytes);
    if (!scratch.has_memory()) return out_of_memory.store(true, std::memory_order_relaxed);
    run_all_with(share, scratch.data());
  }
};

/// How many threads are worth their cost, one at least. Tasks outside the JIT compute long for what they move.
std::int64_t worth(const KernelStep& step, int max_threads) noexcept {
  const std::int64_t tasks = step.tile.pieces * step.split.pieces;
  return std::max<std::int64_t>(
      1, std::min({tasks, std::int64_t{max_threads}, step.effort * step.bytes_moved / kBytesPerThread}));
}
std::int64_t worth(const TaskStep& step, int max_threads) noexcept {
  return std::max<std::int64_t>(1, std::min<std::int64_t>(step.tasks, max_threads));
}

/// Those that `pool` has of so many.
std::int64_t threads_of(const ThreadPool* pool, std::int64_t most) {
  if (pool == nullptr || most < 2) return 1;
  return std::clamp<std::int64_t>(pool->num_threads(), 1, most);
}

[[gnu::always_inline]] inline void fill(jit::KernelArgs& args, const KernelStep& step,
                                        const Operands& operands) noexcept {
  for (std::size_t i = 0; i < step.inputs.size(); ++i) args.inputs[i] = operands.source(step.inputs[i]);
  for (std::size_t o = 0; o < step.outputs.size(); ++o) args.outputs[o] = operands.target(step.outputs[o]);
  static_assert(sizeof step.extents == sizeof args.extents);
  std::memcpy(args.extents, step.extents.data(), sizeof args.extents);
  args.strides = step.strides.data();
  args.count = step.count;
}

template <std::int64_t kBytes>
[[gnu::always_inline]] inline void run_with_stack(const KernelStep& step, const Operands& operands) noexcept {
  jit::KernelArgs args;
  fill(args, step, operands);
  alignas(64) std::byte scratch[kBytes];
  args.scratch = scratch;
  const FloatState state;
  step.code->function()(&args);
}

[[gnu::noinline]] void run_with_more_stack(const KernelStep& step, const Operands& operands) noexcept {
  run_with_stack<kStackScratchBytes>(step, operands);
}

/// The only task of a step, on its caller: a call of a small kernel has no copy of the arguments and no locked
/// addition.
[[gnu::always_inline]] inline void run_alone(const KernelStep& step, const Operands& operands) noexcept {
  if (step.code->scratch_bytes() > kLittleScratchBytes) [[unlikely]]
    return run_with_more_stack(step, operands);
  run_with_stack<kLittleScratchBytes>(step, operands);
}

Status run_tasks(const KernelStep& step, const Operands& operands, ThreadPool* pool, int max_threads) {
  jit::KernelArgs args;
  fill(args, step, operands);
  const std::int64_t threads = threads_of(pool, worth(step, max_threads));
  // Tiles are for threads: one thread reads rows as long as they are.
  Tasks tasks(step, args, threads > 1 && step.tile.level >= 0, threads);
  if (threads < 2) {
    tasks.run_all(0);
  } else {
    pool->parallel_for(
        threads, [](void* context, std::int64_t share) { static_cast<Tasks*>(context)->run_all(share); }, &tasks);
  }
  if (tasks.done.load(std::memory_order_relaxed) >= tasks.count) return {};
  if (tasks.out_of_memory.load(std::memory_order_relaxed))
    return Status(Code::out_of_memory, "execute: no memory for " + std::to_string(step.code->scratch_bytes()) +
                                           " bytes of scratch for kernel '" + step.code->name() + "'");
  return Status(Code::internal_error, "execute: the thread pool returned before it had called every task");
}

bool is_alone(const KernelStep& step) noexcept {
  return step.tile.pieces * step.split.pieces == 1 && step.code->scratch_bytes() <= kStackScratchBytes;
}

Status run_kernel(const KernelStep& step, const Operands& operands, ThreadPool* pool, int max_threads) {
  if (!is_alone(step)) return run_tasks(step, operands, pool, max_threads);
  run_alone(step, operands);
  return {};
}

Status run_call(const CallStep& step, const Operands& operands) try {
  FewOrMany<const void*, 16> inputs(step.inputs.size());
  FewOrMany<void*, 16> outputs(step.outputs.size());
  for (std::size_t i = 0; i < step.inputs.size(); ++i) inputs[i] = operands.source(step.inputs[i]);
  for (std::size_t o = 0; o < step.outputs.size(); ++o) outputs[o] = operands.target(step.outputs[o]);
  const FullFloatState state;
  return step.call(inputs.all(), outputs.all());
} catch (const std::bad_alloc&) {
  return Status(Code::out_of_memory, "execute: no memory for a step that runs outside the JIT");
} catch (const std::exception& error) {
  return Status(Code::internal_error, std::string("execute: a step outside the JIT threw '") + error.what() + "'");
}

/// The tasks of a TaskStep.
struct ForeignTasks {
  const TaskStep& step;
  Shares shares;
  std::array<const void*, TaskStep::kMostOperands> inputs{};
  std::array<void*, TaskStep::kMostOperands> outputs{};
  std::atomic<std::int64_t> done{0};
  std::atomic<bool> lacks_scratch{false};
  std::mutex mutex{};  ///< guards the first failure, which is one of these
  Status first_failure{};
  bool out_of_memory = false;  ///< said in words by the caller: there may be no memory for words here

  void run_all(std::int64_t share) noexcept {
    if (done.load(std::memory_order_relaxed) >= step.tasks) return;
    const Kept<TaskScratch> scratch(step.scratch_bytes);
    // Which matters if no other thread runs all tasks.
    if (!scratch.has_memory()) return lacks_scratch.store(true, std::memory_order_relaxed);
    const FloatState state;
    for (TaskRun task = shares.take(share, 1); !task.empty(); task = shares.take(share, 1)) {
      run_one(task.begin, scratch.data());
      done.fetch_add(1, std::memory_order_relaxed);
      move_late_workers();
    }
  }

  void run_one(std::int64_t task, void* scratch) noexcept {
    try {
      Status status =
          step.run({inputs.data(), step.inputs.size()}, {outputs.data(), step.outputs.size()}, task, scratch);
      if (!status.ok()) fail(std::move(status));
    } catch (const std::bad_alloc&) {
      fail_without_memory();
    } catch (const std::exception& error) {
      fail_by(error);
    }
  }

  void fail_by(const std::exception& error) noexcept try {
    fail({Code::internal_error, std::string("execute: a step outside the JIT threw '") + error.what() + "'"});
  } catch (const std::bad_alloc&) {
    fail_without_memory();
  }

  void fail(Status status) noexcept {
    const std::lock_guard lock(mutex);
    if (first_failure.ok() && !out_of_memory) first_failure = std::move(status);
  }

  void fail_without_memory() noexcept {
    const std::lock_guard lock(mutex);
    out_of_memory = first_failure.ok();
  }
};

Status run_tasks(const TaskStep& step, const Operands& operands, ThreadPool* pool, int max_threads) {
  const std::int64_t threads = threads_of(pool, worth(step, max_threads));
  ForeignTasks tasks{step, Shares(step.tasks, threads)};
  for (std::size_t i = 0; i < step.inputs.size(); ++i) tasks.inputs[i] = operands.source(step.inputs[i]);
  for (std::size_t o = 0; o < step.outputs.size(); ++o) tasks.outputs[o] = operands.target(step.outputs[o]);
  if (threads < 2) {
    tasks.run_all(0);
  } else {
    pool->parallel_for(
        threads, [](void* context, std::int64_t share) { static_cast<ForeignTasks*>(context)->run_all(share); },
        &tasks);
  }
  if (!tasks.first_failure.ok()) return tasks.first_failure;
  const bool ran_all = tasks.done.load() >= step.tasks;
  if (ran_all && !tasks.out_of_memory) return {};
  if (tasks.out_of_memory || tasks.lacks_scratch)
    return Status(Code::out_of_memory, "execute: no memory for a step that runs outside the JIT, whose tasks take " +
                                           std::to_string(step.scratch_bytes) + " bytes of scratch each");
  return Status(Code::internal_error, "execute: the thread pool returned before it had called every task");
}

Status run_step(const Step& step, const Operands& operands, ThreadPool* pool, int max_threads) {
  if (step.kernel) return run_kernel(*step.kernel, operands, pool, max_threads);
  if (step.tasks) return run_tasks(*step.tasks, operands, pool, max_threads);
  return run_call(*step.call, operands);
}

Status run_steps(const Program& program, const Operands& operands, ThreadPool* pool, int max_threads) {
  for (const Step& step : program.steps) {
    Status status = run_step(step, operands, pool, max_threads);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status run(const Program& program, std::span<const void* const> inputs, std::span<void* const> outputs,
           ThreadPool* pool, int max_threads, std::byte* scratch) {
  if (program.arena_bytes <= 0 || scratch != nullptr)
    return run_steps(program, {program, inputs.data(), outputs.data(), scratch}, pool, max_threads);
  const Kept<Temporaries> arena(program.arena_bytes);
  if (!arena.has_memory())
    return Status(Code::out_of_memory,
                  "execute: no memory for " + std::to_string(program.arena_bytes) + " bytes of temporaries");
  return run_steps(program, {program, inputs.data(), outputs.data(), arena.data()}, pool, max_threads);
}

std::unique_ptr<const LargeNeed> large_need_of(const Program& program) {
  std::int64_t most = program.arena_bytes;
  for (const Step& step : program.steps)
    if (step.tasks) most = std::max(most, step.tasks->scratch_bytes);
  return most > kMostKeptBytes ? std::make_unique<const LargeNeed>(static_cast<std::size_t>(most)) : nullptr;
}

bool wants_threads(const Program& program, int max_threads) noexcept {
  return std::any_of(program.steps.begin(), program.steps.end(), [max_threads](const Step& step) {
    return (step.kernel && worth(*step.kernel, max_threads) > 1) || (step.tasks && worth(*step.tasks, max_threads) > 1);
  });
}

const KernelStep* lone_kernel(const Program& program) noexcept {
  if (program.steps.size() != 1 || program.arena_bytes > 0) return nullptr;
  const KernelStep* const step = program.steps[0].kernel.get();
  return step != nullptr && is_alone(*step) ? step : nullptr;
}

void run_lone_kernel(const Program& program, const KernelStep& step, const void* const* inputs,
                     void* const* outputs) noexcept {
  run_alone(step, {program, inputs, outputs, nullptr});
}

}  // namespace tenfold::runtime

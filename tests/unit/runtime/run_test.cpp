// SPDX-License-Identifier: Apache-2.0
//
// run(): plain C++ functions stand in for kernels. They check what they are given (offsets by what they read, extents,
// scratch) under pools that run tasks backwards, one after the other, or with fewer threads than they promise.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <thread>
#include <tuple>

#include "runtime/default_pool.hpp"
#include "runtime/program.hpp"

namespace {
std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  allocations.fetch_add(1);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* p = counted(size, 16)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size, 16); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (size > std::size_t{1} << 40) return nullptr;
  return counted(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }

namespace tenfold::runtime {
namespace {

class FakeCode : public jit::KernelCode {
 public:
  explicit FakeCode(jit::KernelFunction fn, std::int64_t scratch = 0) {
    function_ = fn;
    scratch_bytes_ = scratch;
    name_ = "fake";
  }
};

/// A host's pool: counts calls, and runs tasks on the caller's thread from last to first.
class ReversePool final : public ThreadPool {
 public:
  int num_threads() const noexcept override { return 8; }
  void parallel_for(std::int64_t n, void (*fn)(void*, std::int64_t), void* context) override {
    calls.fetch_add(1);
    most.store(std::max(most.load(), n));
    for (std::int64_t i = n; i-- > 0;) fn(context, i);
  }
  std::atomic<int> calls{0};
  std::atomic<std::int64_t> most{0};
};

/// A host's pool that starts a thread for every second task and says so.
class SparsePool final : public ThreadPool {
 public:
  int num_threads() const noexcept override { return 16; }
  void parallel_for(std::int64_t n, void (*fn)(void*, std::int64_t), void* context) override {
    std::thread other([=] {
      for (std::int64_t i = 1; i < n; i += 2) fn(context, i);
    });
    for (std::int64_t i = 0; i < n; i += 2) fn(context, i);
    other.join();
  }
};

/// A host's pool that breaks its promise.
class LazyPool final : public ThreadPool {
 public:
  int num_threads() const noexcept override { return 4; }
  void parallel_for(std::int64_t, void (*)(void*, std::int64_t), void*) override {}
};

constexpr std::int64_t kRows = 37, kColumns = 29, kDepth = 11;

// Space [kRows kept, kDepth reduced, kColumns kept] of doubles: partial sums over the middle level. The input has a gap
// at the end of each row.
constexpr std::int64_t kInputRow = kDepth * kColumns + 3;

void sum_middle(const jit::KernelArgs* args) {
  const auto at = [&](int operand, int level) { return args->strides[jit::stride_index(operand, level)]; };
  for (std::int64_t r = 0; r < args->extents[0]; ++r)
    for (std::int64_t c = 0; c < args->extents[2]; ++c) {
      double sum = 0;
      for (std::int64_t d = 0; d < args->extents[1]; ++d)
        sum += *reinterpret_cast<const double*>(static_cast<const char*>(args->inputs[0]) + r * at(0, 0) +
                                                d * at(0, 1) + c * at(0, 2));
      *reinterpret_cast<double*>(static_cast<char*>(args->outputs[0]) + r * at(1, 0) + c * at(1, 2)) =
          sum + args->count;
    }
}

Step kernel_step(std::shared_ptr<const jit::KernelCode> code, std::int64_t tile_grain, std::int64_t split_grain) {
  auto kernel = std::make_unique<KernelStep>();
  kernel->code = std::move(code);
  kernel->inputs = {{Location::Kind::input, 0, 0}};
  kernel->outputs = {{Location::Kind::output, 0, 0}};
  kernel->extents = {kRows, kDepth, kColumns};
  kernel->strides.assign(static_cast<std::size_t>(jit::stride_index(2, 0)), 0);
  const std::int64_t input_strides[] = {kInputRow * 8, kColumns * 8, 8};
  const std::int64_t output_strides[] = {kColumns * 8, 0, 8};
  for (int level = 0; level < 3; ++level) {
    kernel->strides[static_cast<std::size_t>(jit::stride_index(0, level))] = input_strides[level];
    kernel->strides[static_cast<std::size_t>(jit::stride_index(1, level))] = output_strides[level];
  }
  kernel->count = 0.5;
  if (tile_grain > 0) kernel->tile = {0, kRows, tile_grain, (kRows + tile_grain - 1) / tile_grain};
  if (split_grain > 0) kernel->split = {1, kDepth, split_grain, (kDepth + split_grain - 1) / split_grain};
  kernel->split_output_stride = {kRows * kColumns * 8};
  kernel->bytes_moved = std::int64_t{16} << 20;
  Step step;
  step.kernel = std::move(kernel);
  return step;
}

std::vector<double> ramp(std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

/// What sum_middle must leave for a split into `split_grain` (0: none).
std::vector<double> expected(const std::vector<double>& x, std::int64_t split_grain) {
  const std::int64_t grain = split_grain > 0 ? split_grain : kDepth;
  std::vector<double> y;
  for (std::int64_t begin = 0; begin < kDepth; begin += grain)
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t c = 0; c < kColumns; ++c) {
        double sum = 0;
        for (std::int64_t d = begin; d < std::min(kDepth, begin + grain); ++d)
          sum += x[static_cast<std::size_t>(r * kInputRow + d * kColumns + c)];
        y.push_back(sum + 0.5);
      }
  return y;
}

class RunGrid : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(RunGrid, EveryTaskGetsItsPieceUnderEveryPool) {
  const auto [tile_grain, split_grain] = GetParam();
  Program program;
  program.steps.push_back(kernel_step(std::make_shared<FakeCode>(sum_middle), tile_grain, split_grain));
  const std::vector<double> x = ramp(kRows * kInputRow);
  const std::vector<double> want = expected(x, split_grain);
  const std::unique_ptr<ThreadPool> three = make_pool(3);
  ReversePool reverse;
  SparsePool sparse;
  for (ThreadPool* pool : std::initializer_list<ThreadPool*>{nullptr, &default_pool(), three.get(), &reverse, &sparse})
    for (const int threads : {1, 2, 3, 100}) {
      std::vector<double> y(want.size() + 1, -1.0);
      const void* const in = x.data();
      void* const out = y.data();
      const Status status = run(program, {&in, 1}, {&out, 1}, pool, threads);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(y.back(), -1.0);
      y.pop_back();
      EXPECT_EQ(y, want) << threads << " threads";
    }
}

INSTANTIATE_TEST_SUITE_P(Grains, RunGrid,
                         testing::Combine(testing::Values(0, 1, 5, 37, 64), testing::Values(0, 1, 4, 11)));

TEST(Run, OneThreadOrLittleWorkTouchesNoPool) {
  Program program;
  program.steps.push_back(kernel_step(std::make_shared<FakeCode>(sum_middle), 1, 0));
  const std::vector<double> x = ramp(kRows * kInputRow);
  std::vector<double> y(kRows * kColumns);
  const void* const in = x.data();
  void* const out = y.data();
  ReversePool pool;
  ASSERT_TRUE(run(program, {&in, 1}, {&out, 1}, &pool, 1).ok());
  EXPECT_EQ(pool.calls, 0);
  ASSERT_TRUE(run(program, {&in, 1}, {&out, 1}, &pool, 5).ok());
  EXPECT_EQ(pool.calls, 1);
  EXPECT_EQ(pool.most, 5);

  Program small;
  Step step = kernel_step(std::make_shared<FakeCode>(sum_middle), 1, 0);
  auto kernel = std::make_unique<KernelStep>(*step.kernel);
  kernel->bytes_moved = 4096;
  small.steps.resize(1);
  small.steps[0].kernel = std::move(kernel);
  ASSERT_TRUE(run(small, {&in, 1}, {&out, 1}, &pool, 8).ok());
  EXPECT_EQ(pool.calls, 1);

  EXPECT_TRUE(wants_threads(program, 2));
  EXPECT_FALSE(wants_threads(program, 1));
  EXPECT_FALSE(wants_threads(small, 8)) << "so that nobody makes a pool for it";
}

TEST(Run, APoolThatForgetsTasksIsAnError) {
  Program program;
  program.steps.push_back(kernel_step(std::make_shared<FakeCode>(sum_middle), 1, 0));
  const std::vector<double> x = ramp(kRows * kInputRow);
  std::vector<double> y(kRows * kColumns);
  const void* const in = x.data();
  void* const out = y.data();
  LazyPool lazy;
  const Status status = run(program, {&in, 1}, {&out, 1}, &lazy, 4);
  EXPECT_EQ(status.code(), Code::internal_error);
  EXPECT_EQ(status.message(), "execute: the thread pool returned before it had called every task");
}

template <std::int64_t kBytes>
void check_scratch(const jit::KernelArgs* args) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(args->scratch) % 64 == 0;
  if (args->scratch != nullptr) std::memset(args->scratch, 0x5A, kBytes);
  for (std::int64_t r = 0; r < args->extents[0]; ++r)
    static_cast<double*>(args->outputs[0])[r * kColumns] = aligned && args->scratch != nullptr ? 1.0 : 2.0;
}

TEST(Run, ScratchIsAlignedAndLargeEnough) {
  const std::vector<double> x = ramp(kRows * kInputRow);
  const std::unique_ptr<ThreadPool> pool = make_pool(3);
  const std::shared_ptr<const jit::KernelCode> codes[] = {
      std::make_shared<FakeCode>(check_scratch<1>, 1), std::make_shared<FakeCode>(check_scratch<16385>, 16385),
      std::make_shared<FakeCode>(check_scratch<32768>, 32768), std::make_shared<FakeCode>(check_scratch<32769>, 32769),
      std::make_shared<FakeCode>(check_scratch<3000000>, 3000000)};
  for (const auto& code : codes) {
    Program program;
    program.steps.push_back(kernel_step(code, 1, 0));
    std::vector<double> y(kRows * kColumns);
    const void* const in = x.data();
    void* const out = y.data();
    ASSERT_TRUE(run(program, {&in, 1}, {&out, 1}, pool.get(), 3).ok());
    for (std::int64_t r = 0; r < kRows; ++r) EXPECT_EQ(y[static_cast<std::size_t>(r * kColumns)], 1.0);
  }
}

TEST(Run, NoMemoryIsAStatus) {
  const std::vector<double> x = ramp(kRows * kInputRow);
  std::vector<double> y(kRows * kColumns);
  const void* const in = x.data();
  void* const out = y.data();
  Program scratch;
  scratch.steps.push_back(kernel_step(std::make_shared<FakeCode>(check_scratch<1>, std::int64_t{1} << 48), 1, 0));
  EXPECT_EQ(run(scratch, {&in, 1}, {&out, 1}, nullptr, 1).code(), Code::out_of_memory);
  EXPECT_EQ(run(scratch, {&in, 1}, {&out, 1}, &default_pool(), 2).code(), Code::out_of_memory);
  Program arena;
  arena.arena_bytes = std::int64_t{1} << 48;
  const Status status = run(arena, {&in, 1}, {&out, 1}, nullptr, 1);
  EXPECT_EQ(status.code(), Code::out_of_memory);
  EXPECT_NE(status.message().find("281474976710656"), std::string::npos) << status.message();
}

/// input -> temporary (kernel, split) -> output (call, adds the partial sums and a constant).
Program two_steps() {
  Program program;
  Step first = kernel_step(std::make_shared<FakeCode>(sum_middle), 4, 4);
  auto kernel = std::make_unique<KernelStep>(*first.kernel);
  kernel->outputs = {{Location::Kind::temporary, 0, 128}};
  const std::int64_t parts = kernel->split.pieces;
  program.arena_bytes = 128 + parts * kRows * kColumns * 8;
  first.kernel = std::move(kernel);
  program.steps.push_back(std::move(first));
  const double bias = 1000.0;
  std::vector<std::byte> constant(24);
  std::memcpy(constant.data() + 16, &bias, 8);
  program.constants = {std::make_shared<const std::vector<std::byte>>(),
                       std::make_shared<const std::vector<std::byte>>(constant)};
  auto call = std::make_unique<CallStep>();
  call->inputs = {{Location::Kind::temporary, 0, 128}, {Location::Kind::constant, 1, 16}};
  call->outputs = {{Location::Kind::output, 0, 8}};
  call->call = [parts](std::span<const void* const> inputs, std::span<void* const> outputs) {
    const double* const partial = static_cast<const double*>(inputs[0]);
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      double sum = *static_cast<const double*>(inputs[1]);
      for (std::int64_t p = 0; p < parts; ++p) sum += partial[p * kRows * kColumns + i];
      static_cast<double*>(outputs[0])[i] = sum;
    }
    return Status();
  };
  Step second;
  second.call = std::move(call);
  program.steps.push_back(std::move(second));
  return program;
}

TEST(Run, StepsRunInOrderFromManyThreadsAtOnce) {
  const Program program = two_steps();
  const std::vector<double> x = ramp(kRows * kInputRow);
  const std::vector<double> partial = expected(x, 4);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t)
    callers.emplace_back([&, t] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<double> y(1 + kRows * kColumns);
        const void* const in = x.data();
        void* const out = y.data();
        if (!run(program, {&in, 1}, {&out, 1}, &default_pool(), 1 + t % 3).ok()) wrong.fetch_add(1);
        for (std::size_t i = 0; i < kRows * kColumns; ++i) {
          const double want = 1000.0 + partial[i] + partial[i + kRows * kColumns] + partial[i + 2 * kRows * kColumns];
          if (y[i + 1] != want) wrong.fetch_add(1);
        }
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(LoneKernel, IsTheOnlyTaskOfTheOnlyStep) {
  const auto of = [](Step step, std::int64_t arena_bytes = 0) {
    Program program;
    program.steps.push_back(std::move(step));
    program.arena_bytes = arena_bytes;
    return program;
  };
  const auto code = std::make_shared<FakeCode>(sum_middle);
  EXPECT_EQ(lone_kernel(Program()), nullptr);
  EXPECT_EQ(lone_kernel(two_steps()), nullptr);
  EXPECT_EQ(lone_kernel(of(kernel_step(code, 5, 0))), nullptr) << "several tiles";
  EXPECT_EQ(lone_kernel(of(kernel_step(code, 0, 4))), nullptr) << "several chunks";
  EXPECT_EQ(lone_kernel(of(kernel_step(code, 0, 0), 64)), nullptr) << "temporaries";
  EXPECT_EQ(lone_kernel(of(kernel_step(std::make_shared<FakeCode>(sum_middle, 32769), 0, 0))), nullptr) << "scratch";
  Step call;
  call.call = std::make_unique<CallStep>();
  EXPECT_EQ(lone_kernel(of(std::move(call))), nullptr);

  const Program program = of(kernel_step(code, 0, 0));
  const KernelStep* const lone = lone_kernel(program);
  ASSERT_EQ(lone, program.steps[0].kernel.get());
  const std::vector<double> x = ramp(kRows * kInputRow);
  std::vector<double> y(kRows * kColumns);
  const void* const in = x.data();
  void* const out = y.data();
  const std::int64_t before = allocations;
  run_lone_kernel(program, *lone, &in, &out);
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(y, expected(x, 0));
}

TEST(LoneKernel, RunsInTheDefaultFloatingPointMode) {
  for (const std::int64_t scratch_bytes : {16384, 32768}) {
    const auto code = std::make_shared<FakeCode>(
        [](const jit::KernelArgs* args) {
          *static_cast<double*>(args->outputs[0]) =
              (_mm_getcsr() & ~0x3FU) == 0x1F80 && args->scratch != nullptr ? 1.0 : 2.0;
        },
        scratch_bytes);
    Program program;
    program.steps.push_back(kernel_step(code, 0, 0));
    const std::vector<double> x = ramp(1);
    std::vector<double> y(1);
    const void* const in = x.data();
    void* const out = y.data();
    const unsigned flushing = 0x1F80 | 0x8040;
    _mm_setcsr(flushing);
    run_lone_kernel(program, *lone_kernel(program), &in, &out);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(0x1F80);
    EXPECT_EQ(after & ~0x3FU, flushing);
    EXPECT_EQ(y[0], 1.0);
  }
}

TEST(Run, AFailedCallEndsTheRunWithItsStatus) {
  Program program;
  for (const char* const name : {"first", "second"}) {
    auto call = std::make_unique<CallStep>();
    call->call = [name](std::span<const void* const>, std::span<void* const>) {
      return Status(Code::unsupported_op, name);
    };
    program.steps.emplace_back();
    program.steps.back().call = std::move(call);
  }
  const Status status = run(program, {}, {}, nullptr, 1);
  EXPECT_EQ(status.code(), Code::unsupported_op);
  EXPECT_EQ(status.message(), "first");

  auto thrower = std::make_unique<CallStep>();
  thrower->call = [](std::span<const void* const>, std::span<void* const>) -> Status { throw std::bad_alloc(); };
  program.steps[0].call = std::move(thrower);
  EXPECT_EQ(run(program, {}, {}, nullptr, 1).code(), Code::out_of_memory);
}

TEST(Run, EachTaskRunsOnceWithScratchOfItsOwn) {
  constexpr std::int64_t kTasks = 37;
  Program program;
  auto tasks = std::make_unique<TaskStep>();
  tasks->inputs = {{Location::Kind::input, 0, 8}};
  tasks->outputs = {{Location::Kind::output, 0, 0}};
  tasks->tasks = kTasks;
  tasks->scratch_bytes = 100;
  tasks->run = [](std::span<const void* const> inputs, std::span<void* const> outputs, std::int64_t task,
                  void* scratch) {
    if (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) return Status(Code::internal_error, "not aligned");
    std::memset(scratch, static_cast<int>(task), 100);
    static_cast<double*>(outputs[0])[task] += static_cast<const double*>(inputs[0])[task] + 1;
    return Status();
  };
  program.steps.push_back({nullptr, nullptr, std::move(tasks)});
  const std::vector<double> x = ramp(1 + kTasks);
  for (const int threads : {1, 2, 5}) {
    std::vector<double> y(kTasks, 0.0);
    const void* const in = x.data();
    void* const out = y.data();
    const Status status = run(program, {&in, 1}, {&out, 1}, &default_pool(), threads);
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::size_t i = 0; i < kTasks; ++i) EXPECT_EQ(y[i], x[i + 1] + 1) << "task " << i;
  }
}

TEST(Run, AFailedTaskFailsTheRun) {
  Program program;
  auto tasks = std::make_unique<TaskStep>();
  tasks->tasks = 4;
  tasks->run = [](std::span<const void* const>, std::span<void* const>, std::int64_t task, void*) -> Status {
    if (task == 1) throw std::bad_alloc();
    return task == 3 ? Status(Code::unsupported_op, "third") : Status();
  };
  program.steps.push_back({nullptr, nullptr, std::move(tasks)});
  EXPECT_EQ(run(program, {}, {}, nullptr, 1).code(), Code::out_of_memory);
}

/// Calls run() again from within a step, as a host pool does that picks up other work while it waits.
TEST(Run, ARunWithinARunHasItsOwnArena) {
  const Program inner = two_steps();
  const std::vector<double> x = ramp(kRows * kInputRow);
  std::vector<double> want(1 + kRows * kColumns), got(1 + kRows * kColumns);
  const void* const in = x.data();
  void* out = want.data();
  ASSERT_TRUE(run(inner, {&in, 1}, {&out, 1}, nullptr, 1).ok());

  Program outer = two_steps();
  auto between = std::make_unique<CallStep>();
  between->call = [&](std::span<const void* const>, std::span<void* const>) {
    std::vector<double> zeros(kRows * kInputRow), ignored(1 + kRows * kColumns);
    const void* const zero = zeros.data();
    void* const ignore = ignored.data();
    return run(inner, {&zero, 1}, {&ignore, 1}, nullptr, 1);
  };
  Step step;
  step.call = std::move(between);
  outer.steps.insert(outer.steps.begin() + 1, std::move(step));
  out = got.data();
  ASSERT_TRUE(run(outer, {&in, 1}, {&out, 1}, nullptr, 1).ok());
  EXPECT_EQ(got, want);
}

TEST(Run, TheSecondRunAllocatesNothing) {
  Program program;
  program.steps.push_back(kernel_step(std::make_shared<FakeCode>(check_scratch<100000>, 100000), 1, 0));
  program.steps.push_back(kernel_step(std::make_shared<FakeCode>(sum_middle), 1, 0));
  program.arena_bytes = 1 << 20;
  const std::vector<double> x = ramp(kRows * kInputRow);
  std::vector<double> y(kRows * kColumns);
  const void* const in = x.data();
  void* const out = y.data();
  ReversePool pool;
  for (const int threads : {1, 3}) {
    ASSERT_TRUE(run(program, {&in, 1}, {&out, 1}, &pool, threads).ok());
    const std::int64_t before = allocations.load();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(run(program, {&in, 1}, {&out, 1}, &pool, threads).ok());
    EXPECT_EQ(allocations.load(), before) << threads << " threads";
  }
}

TEST(Run, NorDoesOneAfterARunThatNeedsMoreThanThreadsKeep) {
  const auto tasks_with = [](std::int64_t scratch_bytes) {
    auto tasks = std::make_unique<TaskStep>();
    tasks->scratch_bytes = scratch_bytes;
    tasks->run = [](std::span<const void* const>, std::span<void* const>, std::int64_t, void* scratch) {
      return scratch == nullptr ? Status(Code::internal_error, "no scratch") : Status();
    };
    Program program;
    program.arena_bytes = scratch_bytes;
    program.steps.push_back({nullptr, nullptr, std::move(tasks)});
    return program;
  };
  const Program small = tasks_with(1 << 20), large = tasks_with(20 << 20);
  ASSERT_TRUE(run(small, {}, {}, nullptr, 1).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run(large, {}, {}, nullptr, 1).ok());
    const std::int64_t before = allocations.load();
    ASSERT_TRUE(run(small, {}, {}, nullptr, 1).ok());
    EXPECT_EQ(allocations.load(), before);
  }
}

void subnormal_product(const jit::KernelArgs* args) {
  volatile float tiny = 1e-30F, factor = 1e-10F;
  for (std::int64_t r = 0; r < args->extents[0]; ++r)
    static_cast<double*>(args->outputs[0])[r * kColumns] = static_cast<double>(tiny * factor);
}

TEST(Run, AHostThatFlushesSubnormalsChangesNoResult) {
  Program program;
  program.steps.push_back(kernel_step(std::make_shared<FakeCode>(subnormal_product), 1, 0));
  const std::vector<double> x = ramp(kRows * kInputRow);
  std::vector<double> y(kRows * kColumns);
  const void* const in = x.data();
  void* const out = y.data();
  const unsigned saved = _mm_getcsr();
  const unsigned flushing = saved | 0x8040;
  for (const int threads : {1, 2}) {
    _mm_setcsr(flushing);
    const Status status = run(program, {&in, 1}, {&out, 1}, &default_pool(), threads);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(saved);
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(after & ~0x3FU, flushing & ~0x3FU);
    for (std::int64_t r = 0; r < kRows; ++r) EXPECT_GT(y[static_cast<std::size_t>(r * kColumns)], 0.0);
    y.assign(y.size(), 0.0);
  }
}

}  // namespace
}  // namespace tenfold::runtime

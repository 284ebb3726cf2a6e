// SPDX-License-Identifier: Apache-2.0
//
// Large temporaries: blocks are kept while somebody needs as much, and no longer. That a range is mapped, and by how
// many faults it was, is asked of the system.
#include "runtime/large_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/program.hpp"

namespace tenfold::runtime {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

bool is_mapped(const std::byte* data) {
  unsigned char resident = 0;
  const auto page = reinterpret_cast<std::uintptr_t>(data) / 4096 * 4096;
  return mincore(reinterpret_cast<void*>(page), 4096, &resident) == 0 || errno != ENOMEM;
}

/// Where a block of so many bytes was, which is back in the keep.
const std::byte* borrowed(std::size_t bytes) {
  const LargeBlock block(bytes);
  EXPECT_GE(block.size(), bytes);
  std::memset(block.data(), 1, bytes);
  return block.data();
}

TEST(LargeMemory, WhatNobodyNeedsIsNotKept) { EXPECT_FALSE(is_mapped(borrowed(20 * kMiB))); }

TEST(LargeMemory, WhatSomebodyNeedsIsKept) {
  const LargeNeed need(20 * kMiB);
  const std::byte* const first = borrowed(20 * kMiB);
  EXPECT_TRUE(is_mapped(first));
  EXPECT_EQ(borrowed(20 * kMiB), first);
  EXPECT_EQ(borrowed(17 * kMiB), first) << "it has room for less";
}

TEST(LargeMemory, BlocksBeginAtAHugePageAndHoldAllTheirBytes) {
  const LargeNeed need(20 * kMiB + 1);
  const LargeBlock block(20 * kMiB + 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % (2 * kMiB), 0U);
  EXPECT_EQ(block.size(), 22 * kMiB);
  std::memset(block.data(), 1, block.size());
}

TEST(LargeMemory, TwoAtOnceAreApart) {
  const LargeNeed need(18 * kMiB);
  const std::byte *a = nullptr, *b = nullptr;
  {
    const LargeBlock first(18 * kMiB), second(18 * kMiB);
    a = first.data();
    b = second.data();
    EXPECT_GE(a < b ? b - a : a - b, static_cast<std::ptrdiff_t>(18 * kMiB));
  }
  EXPECT_TRUE(is_mapped(a));
  EXPECT_TRUE(is_mapped(b));
}

TEST(LargeMemory, ALargerBlockTakesThePlaceOfASmaller) {
  const LargeNeed small(18 * kMiB), large(40 * kMiB);
  const std::byte* const before = borrowed(18 * kMiB);
  {
    // Elsewhere than the smaller one, which is gone while this one is there.
    const LargeBlock block(40 * kMiB);
    EXPECT_TRUE(!is_mapped(before) || (before >= block.data() && before < block.data() + block.size()));
  }
  const std::byte* const after = borrowed(40 * kMiB);
  EXPECT_EQ(borrowed(18 * kMiB), after);
}

TEST(LargeMemory, TheNeedsEndGivesBackWhatIsTooLargeForOthers) {
  const LargeNeed small(18 * kMiB);
  auto large = std::make_unique<const LargeNeed>(40 * kMiB);
  const std::byte *a = nullptr, *b = nullptr;
  {
    const LargeBlock first(18 * kMiB), second(40 * kMiB);
    a = first.data();
    b = second.data();
  }
  EXPECT_TRUE(is_mapped(b));
  large.reset();
  EXPECT_TRUE(is_mapped(a));
  EXPECT_FALSE(is_mapped(b));
}

TEST(LargeMemory, ABlockThatOutlivesItsNeedIsGivenBack) {
  auto need = std::make_unique<const LargeNeed>(18 * kMiB);
  const std::byte* at = nullptr;
  {
    const LargeBlock block(18 * kMiB);
    at = block.data();
    need.reset();
    EXPECT_TRUE(is_mapped(at));
  }
  EXPECT_FALSE(is_mapped(at));
}

TEST(LargeMemory, MoreThanThereIsIsEmpty) {
  const LargeBlock block(std::size_t{1} << 48);
  EXPECT_EQ(block.data(), nullptr);
  EXPECT_EQ(block.size(), 0U);
}

TEST(LargeMemory, ThreadsHaveBlocksOfTheirOwn) {
  const LargeNeed need(18 * kMiB);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 20; ++i) {
        const LargeBlock block(17 * kMiB + static_cast<std::size_t>(t) * 4096);
        ASSERT_NE(block.data(), nullptr);
        const auto mine = static_cast<std::byte>(t + 1);
        for (std::size_t at = 0; at < 17 * kMiB; at += 65536) block.data()[at] = mine;
        std::this_thread::yield();
        for (std::size_t at = 0; at < 17 * kMiB; at += 65536) ASSERT_EQ(block.data()[at], mine);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(LargeMemory, AForkedChildHasAKeepOfItsOwn) {
  const LargeNeed need(18 * kMiB);
  std::byte* const kept = const_cast<std::byte*>(borrowed(18 * kMiB));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const LargeBlock block(18 * kMiB);
    std::memset(block.data(), 2, 18 * kMiB);
    _exit(block.data() == kept ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const LargeBlock block(18 * kMiB);
  EXPECT_EQ(block.data(), kept);
  EXPECT_NE(block.data()[0], std::byte{2});
}

/// A program of one step outside the JIT that fills its temporaries.
Program filling(std::int64_t bytes) {
  Program program;
  program.arena_bytes = bytes;
  auto call = std::make_unique<CallStep>();
  call->outputs = {{Location::Kind::temporary, 0, 0}};
  call->call = [bytes](std::span<const void* const>, std::span<void* const> outputs) {
    std::memset(outputs[0], 1, static_cast<std::size_t>(bytes));
    return Status();
  };
  program.steps.push_back({nullptr, std::move(call)});
  program.large_need = large_need_of(program);
  return program;
}

std::int64_t faults_of_a_run(const Program& program) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_TRUE(run(program, {}, {}, nullptr, 1).ok());
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(LargeMemory, ThreadsKeepWhatSmallProgramsBorrow) {
  EXPECT_EQ(filling(16 * static_cast<std::int64_t>(kMiB)).large_need, nullptr);
}

TEST(LargeMemory, TheSecondRunOfALargeProgramTakesNoPages) {
  const Program program = filling(40 * static_cast<std::int64_t>(kMiB));
  ASSERT_NE(program.large_need, nullptr);
  ASSERT_GE(faults_of_a_run(program), 20) << "one a huge page at least";
  EXPECT_LT(faults_of_a_run(program), 10);
}

TEST(LargeMemory, ScratchOfTasksCounts) {
  Program program;
  auto tasks = std::make_unique<TaskStep>();
  tasks->scratch_bytes = 24 * static_cast<std::int64_t>(kMiB);
  program.steps.push_back({nullptr, nullptr, std::move(tasks)});
  EXPECT_NE(large_need_of(program), nullptr);
}

}  // namespace
}  // namespace tenfold::runtime

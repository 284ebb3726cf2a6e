// SPDX-License-Identifier: Apache-2.0
//
// CodeMemory: code runs, is never writable while executable, is bounded, comes back, and survives threads, fork() and
// systems that forbid writable pages to become executable. The "kernels" are a few hand-assembled bytes.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "jit/code.hpp"

namespace tenfold::jit {
namespace {

constexpr std::size_t kSlab = 65536;
constexpr int kSetMdwe = 65;  // PR_SET_MDWE, which the headers of Linux before 6.3 lack

/// Stores `value` at args->outputs[0]; padded with nops to `size` bytes.
std::vector<std::uint8_t> store(std::uint32_t value, std::size_t size = 0) {
  constexpr auto kOutputs = static_cast<std::int32_t>(offsetof(KernelArgs, outputs));
  // mov rax, [rdi + kOutputs]; mov dword [rax], value
  std::vector<std::uint8_t> code{0x48, 0x8B, 0x87, 0, 0, 0, 0, 0xC7, 0x00, 0, 0, 0, 0};
  std::memcpy(code.data() + 3, &kOutputs, sizeof kOutputs);
  std::memcpy(code.data() + 9, &value, 4);
  while (code.size() + 1 < size) code.push_back(0x90);
  code.push_back(0xC3);
  return code;
}

std::uint32_t call(const KernelCode& code) {
  std::uint32_t result = 0;
  KernelArgs args{};
  args.outputs[0] = &result;
  code.function()(&args);
  return result;
}

/// Lines of the process's memory map that are writable and executable at once, or writable views of code.
std::string offending_maps() {
  std::ifstream maps("/proc/self/maps");
  std::string bad;
  for (std::string line; std::getline(maps, line);) {
    const std::string rights = line.substr(line.find(' ') + 1, 4);
    const bool writable = rights.find('w') != std::string::npos;
    if (writable && (rights.find('x') != std::string::npos || line.find("tenfold-code") != std::string::npos))
      bad += line + "\n";
  }
  return bad;
}

/// KiB of the mapping of `code` that are in the page table.
int present_kib(const KernelCode& code) {
  std::ifstream maps("/proc/self/smaps");
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<std::uintptr_t>(code.bytes().data()) << '-';
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(begin.str())) here = true;
    if (here && line.starts_with("Rss:")) return std::stoi(line.substr(4));
  }
  return -1;
}

TEST(CodeMemory, PagesArePresentBeforeTheFirstCall) {
  CodeMemory memory;
  const auto code = memory.publish(store(7, 20000), 0, "five pages");
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_GE(present_kib(*code.value()), 20);
}

TEST(CodeMemory, RunsWhatItWasGiven) {
  CodeMemory memory;
  const auto first = memory.publish(store(7), 128, "seven");
  ASSERT_TRUE(first.ok()) << first.status().message();
  const auto second = memory.publish(store(8), 0, "eight");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(call(*first.value()), 7U);
  EXPECT_EQ(call(*second.value()), 8U);
  EXPECT_EQ(first.value()->name(), "seven");
  EXPECT_EQ(first.value()->scratch_bytes(), 128);
  const std::vector<std::uint8_t> want = store(7);
  EXPECT_TRUE(std::equal(want.begin(), want.end(), first.value()->bytes().begin(), first.value()->bytes().end()));
  EXPECT_EQ(memory.stats().kernels, 2U);
  EXPECT_EQ(memory.stats().mapped_bytes, kSlab) << "both fit one slab";
  EXPECT_EQ(memory.publish({}, 0, "none").status().code(), tenfold::Code::internal_error);
}

TEST(CodeMemory, KernelsAreAlignedAndInt3LiesBetweenThem) {
  CodeMemory memory;
  const auto a = memory.publish(store(1), 0, "a");
  const auto b = memory.publish(store(2), 0, "b");
  ASSERT_TRUE(a.ok() && b.ok());
  const std::uint8_t* const begin = a.value()->bytes().data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(begin) % 64, 0U);
  EXPECT_EQ(b.value()->bytes().data(), begin + 64);
  for (const std::uint8_t* p = begin + a.value()->bytes().size(); p < begin + 64; ++p) EXPECT_EQ(*p, 0xCC);
  for (const std::uint8_t* p = begin + 64 + b.value()->bytes().size(); p < begin + 4096; ++p) EXPECT_EQ(*p, 0xCC);
}

TEST(CodeMemory, LargeKernelsGetRoomOfTheirOwn) {
  CodeMemory memory;
  const auto small = memory.publish(store(1), 0, "small");
  const auto large = memory.publish(store(2, 200000), 0, "large");
  const auto next = memory.publish(store(3), 0, "next");
  ASSERT_TRUE(small.ok() && large.ok() && next.ok());
  EXPECT_EQ(call(*small.value()), 1U);
  EXPECT_EQ(call(*large.value()), 2U);
  EXPECT_EQ(call(*next.value()), 3U);
}

TEST(CodeMemory, SlabsAreFilledToTheEnd) {
  CodeMemory memory;
  std::vector<std::shared_ptr<const KernelCode>> kernels;
  for (std::uint32_t i = 0; i < 16; ++i) {
    auto code = memory.publish(store(i, 4096), 0, "page");
    ASSERT_TRUE(code.ok());
    kernels.push_back(std::move(code).value());
  }
  EXPECT_EQ(memory.stats().mapped_bytes, kSlab);
  const auto one_more = memory.publish(store(99), 0, "next slab");
  ASSERT_TRUE(one_more.ok());
  EXPECT_EQ(memory.stats().mapped_bytes, 2 * kSlab);
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(call(*kernels[i]), i);
  EXPECT_EQ(call(*one_more.value()), 99U);
}

TEST(CodeMemory, RefusesMoreThanItsBoundAndTakesItBackOnRelease) {
  CodeMemory memory(2 * kSlab);
  std::vector<std::shared_ptr<const KernelCode>> kernels;
  Status refused;
  while (refused.ok()) {
    auto code = memory.publish(store(5, 30000), 0, "k");
    if (code.ok())
      kernels.push_back(std::move(code).value());
    else
      refused = code.status();
    ASSERT_LE(memory.stats().mapped_bytes, 2 * kSlab);
    ASSERT_LE(kernels.size(), 4U);
  }
  EXPECT_EQ(kernels.size(), 4U);
  EXPECT_EQ(refused.code(), tenfold::Code::out_of_memory);
  EXPECT_NE(refused.message().find("131072"), std::string::npos) << refused.message();
  kernels.erase(kernels.begin(), kernels.begin() + 2);
  EXPECT_EQ(memory.stats().mapped_bytes, kSlab);
  EXPECT_EQ(memory.stats().used_bytes, 60000U);
  EXPECT_TRUE(memory.publish(store(6), 0, "again").ok());
  kernels.clear();
  EXPECT_EQ(memory.stats().kernels, 0U);
  EXPECT_EQ(memory.stats().used_bytes, 0U);
  EXPECT_EQ(memory.stats().mapped_bytes, kSlab) << "the slab that was being filled stays";
  EXPECT_TRUE(memory.publish(store(7, 2 * kSlab), 0, "all").ok()) << "but not in the way of what needs its room";
  EXPECT_EQ(CodeMemory(100).publish(store(1), 0, "k").status().code(), tenfold::Code::out_of_memory);
  EXPECT_TRUE(CodeMemory(5000).publish(store(1), 0, "k").ok()) << "a bound below a slab still gives pages";
}

TEST(CodeMemory, KernelsOutliveTheirMemory) {
  std::shared_ptr<const KernelCode> code;
  {
    CodeMemory memory;
    code = memory.publish(store(11), 0, "survivor").value();
  }
  EXPECT_EQ(call(*code), 11U);
}

TEST(CodeMemory, ThreadsPublishRunAndReleaseAndNothingIsEverWritableAndExecutable) {
  CodeMemory memory;
  const auto shared = memory.publish(store(77), 0, "shared");
  ASSERT_TRUE(shared.ok());
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  std::mutex lock;
  std::string bad;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);  // seeds 0 to 3
      std::vector<std::pair<std::uint32_t, std::shared_ptr<const KernelCode>>> mine;
      for (std::uint32_t i = 0; i < 200; ++i) {
        const std::uint32_t value = t * 1000000 + i;
        auto code = memory.publish(store(value, random() % 9000), 0, "k");
        if (!code.ok()) {
          wrong.fetch_add(1);
          continue;
        }
        mine.emplace_back(value, std::move(code).value());
        if (i % 4 == 0) {
          const std::string found = offending_maps();
          const std::lock_guard<std::mutex> hold(lock);
          bad += found;
        }
        const auto& [want, kernel] = mine[random() % mine.size()];
        if (call(*kernel) != want || call(*shared.value()) != 77) wrong.fetch_add(1);
        if (mine.size() > 20) mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(random() % mine.size()));
      }
    });
  threads.emplace_back([&] {
    while (!stop)
      if (call(*shared.value()) != 77) wrong.fetch_add(1);
  });
  for (std::size_t t = 0; t < 4; ++t) threads[t].join();
  stop = true;
  threads[4].join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(bad, "");
  EXPECT_EQ(memory.stats().kernels, 1U);
  EXPECT_EQ(memory.stats().mapped_bytes % 4096, 0U);
  EXPECT_LE(memory.stats().mapped_bytes, 2 * kSlab);
}

/// Runs `body` in a child and gives back its exit code, or 128 and more when it was killed.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(CodeMemory, ParentAndChildNeverWriteIntoEachOthersKernels) {
  CodeMemory memory;
  auto inherited = memory.publish(store(1), 0, "inherited").value();
  auto released_by_parent = memory.publish(store(2), 0, "released").value();
  int to_child[2], to_parent[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(to_parent), 0);
  char byte = 0;
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const auto own = memory.publish(store(3), 0, "child's");
    bool right = own.ok() && write(to_parent[1], "x", 1) == 1 && read(to_child[0], &byte, 1) == 1;
    right = right && call(*own.value()) == 3 && call(*inherited) == 1 && call(*released_by_parent) == 2;
    inherited.reset();
    released_by_parent.reset();
    _exit(right && memory.publish(store(4), 0, "later").ok() ? 0 : 1);
  }
  ASSERT_EQ(read(to_parent[0], &byte, 1), 1);
  released_by_parent.reset();
  const auto own = memory.publish(store(5), 0, "parent's").value();
  EXPECT_EQ(call(*own), 5U);
  inherited.reset();
  const auto another = memory.publish(store(6), 0, "parent's").value();
  ASSERT_EQ(write(to_child[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(call(*own), 5U);
  EXPECT_EQ(call(*another), 6U);
  for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(end);
}

TEST(CodeMemory, ForkWhileOtherThreadsPublishLeavesTheChildAWorkingLock) {
  CodeMemory memory;
  std::atomic<bool> stop{false};
  std::thread publisher([&] {
    while (!stop) static_cast<void>(memory.publish(store(1), 0, "k").ok());
  });
  int failed = 0;
  for (int i = 0; i < 100; ++i)
    failed += in_child([&] {
                const auto code = memory.publish(store(9), 0, "child's");
                return code.ok() && call(*code.value()) == 9 ? 0 : 1;
              }) != 0;
  stop = true;
  publisher.join();
  EXPECT_EQ(failed, 0);
}

TEST(CodeMemory, WorksWhereWritablePagesMayNeverBecomeExecutable) {
  constexpr int kNotOffered = 77;
  const int result = in_child([] {
    if (prctl(kSetMdwe, 1UL, 0UL, 0UL, 0UL) != 0) return kNotOffered;
    CodeMemory memory;
    const auto code = memory.publish(store(21), 0, "k");
    const auto large = memory.publish(store(22, 100000), 0, "large");
    return code.ok() && large.ok() && call(*code.value()) == 21 && call(*large.value()) == 22 ? 0 : 1;
  });
  if (result == kNotOffered) GTEST_SKIP() << "NOT RUN: this kernel has no PR_SET_MDWE";
  EXPECT_EQ(result, 0);
}

/// Makes the system refuse memfd_create from now on, and mprotect with PROT_EXEC as well if `everything`.
bool refuse_memfd(bool everything) {
  const auto word = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  const std::uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
  const std::uint32_t exec_bit = 4;
  std::vector<sock_filter> filter{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word(offsetof(seccomp_data, nr))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refused),
  };
  if (everything) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3));
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word(offsetof(seccomp_data, args) + 16)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, exec_bit, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, refused));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(CodeMemory, WithoutMemfdEachKernelHasPagesOfItsOwn) {
  EXPECT_EQ(in_child([] {
              if (!refuse_memfd(false)) return 2;
              CodeMemory memory;
              auto a = memory.publish(store(31), 0, "a");
              const auto b = memory.publish(store(32, 5000), 0, "b");
              if (!a.ok() || !b.ok() || call(*a.value()) != 31 || call(*b.value()) != 32) return 3;
              if (memory.stats().mapped_bytes != 3 * 4096) return 4;
              if (!offending_maps().empty()) return 5;
              a = Result<std::shared_ptr<const KernelCode>>(Status(tenfold::Code::internal_error, "dropped"));
              return memory.stats().mapped_bytes == 2 * 4096 ? 0 : 6;
            }),
            0);
}

TEST(CodeMemory, WithoutAnyExecutableMemoryItSaysSo) {
  EXPECT_EQ(in_child([] {
              if (!refuse_memfd(true)) return 2;
              CodeMemory memory;
              const auto code = memory.publish(store(1), 0, "k");
              if (code.ok() || code.status().code() != tenfold::Code::unsupported_target) return 3;
              if (code.status().message().find("no executable memory") == std::string::npos) return 4;
              return memory.stats().mapped_bytes == 0 ? 0 : 5;
            }),
            0);
}

}  // namespace
}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// What the C API tells: the version, the thread's last error, the log callback, and where memory comes from.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tests/capi/small_graph.hpp"

namespace tenfold::test {
namespace {

TEST(CReport, Version) {
  std::int32_t major = -1, minor = -1, patch = -1;
  EXPECT_OK(tenfold_version(&major, &minor, &patch));
  EXPECT_EQ(std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch), TENFOLD_VERSION);
  EXPECT_OK(tenfold_version(nullptr, nullptr, nullptr));
}

TEST(CReport, TheLastErrorBelongsToTheThread) {
  EXPECT_EQ(tenfold_graph_create(nullptr), tenfold_invalid_arguments);
  const std::string here = tenfold_last_error();
  EXPECT_EQ(here, "argument 'graph' is null");
  std::string first, second;
  std::thread([&] {
    first = tenfold_last_error();
    (void)tenfold_op_release(nullptr);
    second = tenfold_last_error();
  }).join();
  EXPECT_EQ(first, "");
  EXPECT_EQ(second, "argument 'handle' is null");
  EXPECT_EQ(tenfold_last_error(), here);
  EXPECT_OK(tenfold_version(nullptr, nullptr, nullptr));
  EXPECT_EQ(tenfold_last_error(), here) << "a call that succeeds leaves it";
}

TEST(CReport, LongMessagesAreCut) {
  const std::string kind(5000, 'k');
  tenfold_op_t op = nullptr;
  EXPECT_EQ(tenfold_op_create(&op, 0, kind.c_str(), nullptr), tenfold_unimplemented);
  const std::string message = tenfold_last_error();
  EXPECT_EQ(message.size(), 2047U);
  EXPECT_EQ(message.substr(message.size() - 4), "k...");
}

struct Log {
  std::mutex mutex;
  std::vector<std::pair<tenfold_log_level_t, std::string>> lines;
  static void take(void* context, tenfold_log_level_t level, const char* message) {
    auto* log = static_cast<Log*>(context);
    const std::lock_guard lock(log->mutex);
    log->lines.emplace_back(level, message);
  }
  bool has(tenfold_log_level_t level, const std::string& part) {
    for (const auto& [at, line] : lines)
      if (at == level && line.find(part) != std::string::npos) return true;
    return false;
  }
};

/// Fails once, compiles once for the reference evaluator; [rows, 3] may have been compiled before.
void make_noise(std::int64_t rows) {
  EXPECT_EQ(tenfold_graph_create(nullptr), tenfold_invalid_arguments);
  Handles h;
  make_reduction(h, "ReduceMax", {rows, 3}, {1});
  tenfold_compile_options_t options{};
  options.struct_size = sizeof options;
  options.isa = "reference";
  compile(h, &options);
}

TEST(CReport, TheLogHearsAsMuchAsItWants) {
  for (const tenfold_log_level_t level : {tenfold_log_none, tenfold_log_error, tenfold_log_warning, tenfold_log_info}) {
    Log log;
    ASSERT_OK(tenfold_set_log_callback(Log::take, &log, level));
    make_noise(1000 + level);
    ASSERT_OK(tenfold_set_log_callback(nullptr, nullptr, tenfold_log_info));
    make_noise(1100 + level);
    const std::size_t heard = log.lines.size();
    EXPECT_EQ(log.has(tenfold_log_error, "tenfold_graph_create: invalid_arguments: argument 'graph' is null"),
              level >= tenfold_log_error);
    EXPECT_EQ(log.has(tenfold_log_warning, "(ReduceMax) runs on the reference evaluator"),
              level >= tenfold_log_warning);
    EXPECT_EQ(log.has(tenfold_log_info, "compiled 1 ops for reference in "), level >= tenfold_log_info);
    EXPECT_EQ(heard, static_cast<std::size_t>(level));
  }
}

TEST(CReport, WhatTheCacheHasIsFoundAndWarnedOfOnce) {
  Log log;
  ASSERT_OK(tenfold_set_log_callback(Log::take, &log, tenfold_log_info));
  make_noise(1200);
  EXPECT_TRUE(log.has(tenfold_log_info, "compiled 1 ops for reference in "));
  log.lines.clear();
  make_noise(1200);
  ASSERT_OK(tenfold_set_log_callback(nullptr, nullptr, tenfold_log_none));
  EXPECT_TRUE(log.has(tenfold_log_info, "found 1 ops, compiled before, for reference in "));
  EXPECT_EQ(log.lines.size(), 2U) << "the failing call, and that";
}

TEST(CReport, TheLogHearsWhatATuningFileHasThatIsIgnored) {
  const std::string file = testing::TempDir() + "/tenfold_capi_" + std::to_string(getpid()) + ".tuning";
  std::ofstream(file) << "no entry\n";
  Log log;
  EXPECT_OK(tenfold_set_log_callback(&Log::take, &log, tenfold_log_warning));
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  tenfold_compile_options_t options{};
  options.struct_size = sizeof options;
  options.tuning_file = file.c_str();
  compile(h, &options);
  EXPECT_OK(tenfold_set_log_callback(nullptr, nullptr, tenfold_log_warning));
  EXPECT_TRUE(log.has(tenfold_log_warning, "is no tuning file"));
  const float in[6] = {1, 5, 2, 9, 0, 3};
  std::array<float, 2> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<float, 2>{5, 9}));
  std::remove(file.c_str());
}

TEST(CReport, TheLogMayCallAndFail) {
  static int depth = 0;
  const tenfold_log_callback_t callback = [](void*, tenfold_log_level_t, const char*) {
    if (++depth < 3) (void)tenfold_graph_create(nullptr);
  };
  ASSERT_OK(tenfold_set_log_callback(callback, nullptr, tenfold_log_error));
  EXPECT_EQ(tenfold_op_release(nullptr), tenfold_invalid_arguments);
  EXPECT_STREQ(tenfold_last_error(), "argument 'handle' is null") << "the message of the call that has failed last";
  ASSERT_OK(tenfold_set_log_callback(nullptr, nullptr, tenfold_log_none));
  EXPECT_EQ(depth, 3);
}

TEST(CReport, AChildLogsWhateverItsParentsThreadsDid) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "NOT RUN: the thread sanitizer does not follow forks of programs with threads";
#endif
  ASSERT_OK(tenfold_set_log_callback([](void*, tenfold_log_level_t, const char*) {}, nullptr, tenfold_log_error));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) (void)tenfold_op_release(nullptr);  // fails, and says so
  });
  for (int child = 0; child < 200; ++child) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      alarm(20);
      _exit(tenfold_op_release(nullptr) == tenfold_invalid_arguments ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    if (HasFailure()) break;
  }
  stop = true;
  other.join();
  ASSERT_OK(tenfold_set_log_callback(nullptr, nullptr, tenfold_log_none));
}

/// Gives memory and knows what is out.
struct Keeper {
  std::set<void*> out;
  int given = 0;
  bool full = false;
  std::size_t shift = 0;  ///< bytes off the alignment
  tenfold_allocator_t table() {
    return {sizeof(tenfold_allocator_t), this,
            [](void* context, std::size_t size, std::size_t alignment) -> void* {
              auto* keeper = static_cast<Keeper*>(context);
              if (keeper->full) return nullptr;
              void* memory = std::aligned_alloc(alignment, (size + 2 * alignment - 1) / alignment * alignment);
              keeper->out.insert(memory);
              ++keeper->given;
              return static_cast<char*>(memory) + keeper->shift;
            },
            [](void* context, void* memory) {
              auto* keeper = static_cast<Keeper*>(context);
              memory = static_cast<char*>(memory) - keeper->shift;
              EXPECT_EQ(keeper->out.erase(memory), 1U);
              std::free(memory);
            }};
  }
};

TEST(CReport, TextsAndBuffersComeFromTheAllocator) {
  Keeper keeper;
  const tenfold_allocator_t allocator = keeper.table();
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  compile(h);
  char *graph_text = nullptr, *explanation = nullptr;
  void* buffer = nullptr;
  const tenfold_logical_tensor_t x = tensor(0, tenfold_f32, {2, 3});
  EXPECT_OK(tenfold_graph_get_text(h.graph, &allocator, &graph_text));
  EXPECT_OK(tenfold_compiled_partition_get_explanation(h.compiled, &allocator, &explanation));
  EXPECT_OK(tenfold_buffer_create(&buffer, &x, &allocator));
  EXPECT_EQ(keeper.given, 3);
  EXPECT_EQ(keeper.out, (std::set<void*>{graph_text, explanation, buffer}));
  for (void* memory : {static_cast<void*>(graph_text), static_cast<void*>(explanation), buffer})
    EXPECT_OK(tenfold_memory_release(memory, &allocator));
  EXPECT_TRUE(keeper.out.empty());
  EXPECT_OK(tenfold_memory_release(nullptr, &allocator));
}

TEST(CReport, AnAllocatorWithoutMemory) {
  Keeper keeper;
  keeper.full = true;
  const tenfold_allocator_t allocator = keeper.table();
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  char* text = nullptr;
  void* buffer = nullptr;
  const tenfold_logical_tensor_t x = tensor(0, tenfold_f32, {2, 3});
  EXPECT_EQ(tenfold_graph_get_text(h.graph, &allocator, &text), tenfold_out_of_memory);
  EXPECT_EQ(tenfold_buffer_create(&buffer, &x, &allocator), tenfold_out_of_memory);
  EXPECT_NE(std::string(tenfold_last_error()).find("64 bytes"), std::string::npos) << tenfold_last_error();
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(buffer, nullptr);
}

TEST(CReport, AnAllocatorThatMisalignsGetsItsMemoryBack) {
  Keeper keeper;
  keeper.shift = 8;
  const tenfold_allocator_t allocator = keeper.table();
  void* buffer = nullptr;
  const tenfold_logical_tensor_t x = tensor(0, tenfold_f32, {2, 3});
  EXPECT_EQ(tenfold_buffer_create(&buffer, &x, &allocator), tenfold_invalid_arguments);
  EXPECT_EQ(keeper.given, 1);
  EXPECT_TRUE(keeper.out.empty());
  EXPECT_EQ(buffer, nullptr);
}

}  // namespace
}  // namespace tenfold::test

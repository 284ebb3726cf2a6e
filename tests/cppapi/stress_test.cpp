// SPDX-License-Identifier: Apache-2.0
//
// Many threads, many shapes, forks, and libdnnl and libtorch beside Tenfold. The loop over shapes is as long as
// docs/cpp_api.md promises, and short under sanitizers; TENFOLD_TEST_SHAPES makes it as long as one likes.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/cppapi/small_cases.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TENFOLD_SANITIZED 1
#else
#define TENFOLD_SANITIZED 0
#endif

namespace tenfold::test {
namespace {

partition max_of_rows(std::int64_t rows, std::int64_t columns) {
  return graph_of({reduce_max(0, f32(0, {rows, columns}), open_f32(1), 1)}).get_partitions().at(0);
}

/// Whether executing gives the right numbers: row r holds r at one place, and less elsewhere.
bool runs(const compiled_partition& compiled, std::int64_t rows, std::int64_t columns, int threads) {
  std::vector<float> in(static_cast<std::size_t>(rows * columns), -1.0F), out(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r)
    in[static_cast<std::size_t>(r * columns + r % columns)] = static_cast<float>(r);
  stream s(cpu());
  s.set_threads(threads);
  compiled.execute(s, {on(f32(0, {rows, columns}), in)}, {on(f32(1, {rows}), out)});
  for (std::int64_t r = 0; r < rows; ++r)
    if (out[static_cast<std::size_t>(r)] != static_cast<float>(r)) return false;
  return true;
}

void on_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
  for (std::thread& one : threads) one.join();
}

TEST(CppStress, SixteenThreadsExecuteOnePartition) {
  const compiled_partition compiled = compile(max_of_rows(512, 640));
  std::atomic<int> wrong{0};
  on_threads(16, [&](int t) {
    for (int round = 0; round < 8; ++round)
      if (!runs(compiled, 512, 640, t % 3)) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CppStress, CompilingEvictingAndResizingAtOnce) {
  const int before = graph::get_compiled_partition_cache_capacity();
  graph::set_compiled_partition_cache_capacity(2);
  std::atomic<int> wrong{0};
  on_threads(8, [&](int t) {
    for (int round = 0; round < 12; ++round) {
      const std::int64_t rows = 3 + (t + round) % 5;
      if (!runs(compile(max_of_rows(rows, 16)), rows, 16, 1)) ++wrong;
      if (t == 0) graph::set_compiled_partition_cache_capacity(round % 3);
    }
  });
  EXPECT_EQ(wrong, 0);
  graph::set_compiled_partition_cache_capacity(before);
}

TEST(CppStress, AnEntryIsEvictedWhileOthersExecuteIt) {
  const int before = graph::get_compiled_partition_cache_capacity();
  graph::set_compiled_partition_cache_capacity(1);
  std::atomic<int> wrong{0};
  on_threads(16, [&](int t) {
    for (int round = 0; round < 12; ++round) {
      const std::int64_t rows = 3 + (t + round) % 2;
      const compiled_partition compiled = compile(max_of_rows(rows, 24));
      std::int32_t entries = 0;
      if (tenfold_get_compiled_partition_cache_use(&entries, nullptr) != tenfold_success || entries > 1) ++wrong;
      for (int run = 0; run < 3; ++run)
        if (!runs(compiled, rows, 24, 1)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  graph::set_compiled_partition_cache_capacity(before);
}

TEST(CppStress, FiftyForksAfterWarmUp) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "NOT RUN: the thread sanitizer does not follow forks of programs with threads";
#endif
  const compiled_partition compiled = compile(max_of_rows(256, 1024));
  ASSERT_TRUE(runs(compiled, 256, 1024, 1));
  int failed = 0;
  for (int child = 0; child < 50; ++child) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      // The child compiles, too: its caches are copies, not shared with the parent's.
      const bool right = runs(compiled, 256, 1024, 1) && runs(compile(max_of_rows(child + 2, 40)), child + 2, 40, 1);
      _exit(right ? 0 : 1);
    }
    int state = 0;
    ASSERT_EQ(waitpid(pid, &state, 0), pid);
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) ++failed;
  }
  EXPECT_EQ(failed, 0);
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(CppStress, DistinctShapesStayWithinTheCachesBound) {
  const char* const given = std::getenv("TENFOLD_TEST_SHAPES");
  const std::int64_t shapes = given != nullptr ? std::atoll(given) : TENFOLD_SANITIZED ? 600 : 20000;
  std::size_t before = 0;
  ASSERT_EQ(tenfold_get_compiled_partition_cache_bytes(&before), tenfold_success);
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  ASSERT_EQ(tenfold_set_compiled_partition_cache_bytes(kBytes), tenfold_success);
  const int count_before = graph::get_compiled_partition_cache_capacity();
  graph::set_compiled_partition_cache_capacity(1 << 20);
  ASSERT_TRUE(compile(max_of_rows(3, 5)));
  const std::int64_t start = resident_bytes();
  std::size_t most = 0;
  for (std::int64_t i = 0; i < shapes; ++i) {
    const compiled_partition compiled = compile(max_of_rows(2 + i / 100, 70 + i % 100));
    std::size_t now = 0;
    ASSERT_EQ(tenfold_get_compiled_partition_cache_use(nullptr, &now), tenfold_success);
    most = std::max(most, now);
  }
  EXPECT_LE(most, kBytes);
  EXPECT_GT(most, kBytes / 8) << "the loop fills some of it";
  if (!TENFOLD_SANITIZED) {
    EXPECT_LE(resident_bytes() - start, static_cast<std::int64_t>(kBytes) + (std::int64_t{16} << 20));
  }
  RecordProperty("grown_bytes", std::to_string(resident_bytes() - start));
  std::int32_t count = 0;
  ASSERT_EQ(tenfold_get_compiled_partition_cache_use(&count, nullptr), tenfold_success);
  RecordProperty("entries", std::to_string(count));
  graph::set_compiled_partition_cache_capacity(count_before);
  ASSERT_EQ(tenfold_set_compiled_partition_cache_bytes(before), tenfold_success);
}

TEST(CppStress, ShapesOfOneGraphShareItsWeights) {
  constexpr std::int64_t kColumns = std::int64_t{1} << 20, kShapes = 16;
  constexpr std::int64_t kWeightBytes = kColumns * 4;
  Graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::Add, {f32(0, {TENFOLD_UNKNOWN_DIM, kColumns}), f32(1, {kColumns})}, {open_f32(2)}));
  g.add_constant(f32(1, {kColumns}), std::vector<float>(static_cast<std::size_t>(kColumns), 0.5F).data());
  g.finalize();
  const partition part = g.get_partitions().at(0);
  std::vector<compiled_partition> compiled{part.compile({f32(0, {1, kColumns})}, {}, cpu())};
  const std::int64_t start = resident_bytes();
  for (std::int64_t rows = 2; rows <= kShapes; ++rows)
    compiled.push_back(part.compile({f32(0, {rows, kColumns})}, {}, cpu()));
  if (!TENFOLD_SANITIZED) {
    EXPECT_LT(resident_bytes() - start, kWeightBytes * kShapes / 2);
  }
  std::vector<float> in(kColumns * 2, 1.0F), out(in.size());
  stream s(cpu());
  compiled[1].execute(s, {on(f32(0, {2, kColumns}), in)}, {on(f32(2, {2, kColumns}), out)});
  EXPECT_EQ(out, std::vector<float>(in.size(), 1.5F));
}

/// A function of a library that is loaded by name; null when it has none of the name.
template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Row r of a product is r times the ones of the other matrix, 64 of them.
bool multiplies(const compiled_partition& product) {
  std::vector<float> x(8 * 64), ones(64 * 16, 1.0F), y(8 * 16);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i / 64);
  stream s(cpu());
  product.execute(s, {on(f32(0, {8, 64}), x), on(f32(1, {64, 16}), ones)}, {on(f32(2, {8, 16}), y)});
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i] != 64 * static_cast<float>(i / 16)) return false;
  return true;
}

compiled_partition matmul() {
  return compile(graph_of({op(0, op::kind::MatMul, {f32(0, {8, 64}), f32(1, {64, 16})}, {open_f32(2)}, "product")})
                     .get_partitions()
                     .at(0));
}

/// Tenfold with kernels of its own and with a product, which oneDNN runs where Tenfold was built with it.
bool tenfold_runs() { return runs(compile(max_of_rows(9, 31)), 9, 31, 0) && multiplies(matmul()); }

TEST(CppStress, BesideLibdnnl) {
  ASSERT_TRUE(tenfold_runs());
  void* const onednn = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (onednn == nullptr) GTEST_SKIP() << "NOT RUN: libdnnl.so.2 is not installed";
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "dnnl_graph_op_create"), nullptr) << "nothing of oneDNN's is defined by Tenfold";
  const auto sgemm = find<int(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                              const float*, std::int64_t, float, float*, std::int64_t)>(onednn, "dnnl_sgemm");
  ASSERT_NE(sgemm, nullptr);
  for (int round = 0; round < 4; ++round) {
    const std::vector<float> a(16 * 32, 2.0F), b(32 * 8, 3.0F);
    std::vector<float> c(16 * 8, 0.0F);
    EXPECT_EQ(sgemm('N', 'N', 16, 8, 32, 1.0F, a.data(), 32, b.data(), 8, 0.0F, c.data(), 8), 0);
    EXPECT_EQ(c, std::vector<float>(16 * 8, 192.0F));
    EXPECT_TRUE(tenfold_runs());
  }
  EXPECT_EQ(dlclose(onednn), 0);
  EXPECT_TRUE(tenfold_runs());
}

/// The names that libtorch_cpu.so goes by: Debian's package gives it a version.
void* load_torch() {
  for (const char* name : {"libtorch_cpu.so", "libtorch_cpu.so.1.13"})
    if (void* const torch = dlopen(name, RTLD_NOW | RTLD_GLOBAL); torch != nullptr) return torch;
  return nullptr;
}

TEST(CppStress, BesideLibtorch) {
  ASSERT_TRUE(tenfold_runs());
  void* const torch = load_torch();
  if (torch == nullptr) GTEST_SKIP() << "NOT RUN: libtorch_cpu.so is not there, or cannot be loaded (libtorch1.13)";
  const auto set_num_threads = find<void(int)>(torch, "_ZN2at15set_num_threadsEi");  // at::set_num_threads(int)
  const auto get_num_threads = find<int()>(torch, "_ZN2at15get_num_threadsEv");
  ASSERT_NE(set_num_threads, nullptr);
  ASSERT_NE(get_num_threads, nullptr);
  for (const int threads : {2, 1}) {
    set_num_threads(threads);
    EXPECT_EQ(get_num_threads(), threads);
    EXPECT_TRUE(tenfold_runs());
    EXPECT_EQ(get_num_threads(), threads) << "Tenfold leaves the host's number of threads as it was";
  }
}

}  // namespace
}  // namespace tenfold::test

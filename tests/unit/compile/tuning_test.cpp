// SPDX-License-Identifier: Apache-2.0
//
// Tuning files: what is read, what is ignored and why, and that every schedule which one may ask for gives the bits of
// the heuristic's.
#include "compile/tuning.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "schedule/neighbours.hpp"

namespace tenfold::compiler {
namespace {

constexpr const char* kCpu = "a CPU";

graph::Graph core_graph(const std::string& text) {
  Result<graph::Graph> graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const Status status = graph::run_pipeline(graph.value());
  EXPECT_TRUE(status.ok()) << status.message();
  return graph.value();
}

graph::Graph reduction(const std::string& kind, const std::string& dtype, const std::string& in,
                       const std::string& axes, const std::string& out) {
  return core_graph("graph {\n  %0 = input : " + dtype + "[" + in + "]\n  %1 = onednn." + kind +
                    " \"r\" (%0) {axes = [" + axes + "], keep_dims = false} : " + dtype + "[" + out +
                    "]\n  output %1\n}\n");
}

target::Target avx2(int cores) {
  target::Target target;
  target.isa = target.native = target::Isa::avx2;
  target.cores = cores;
  return target;
}

KernelReport first_kernel(const graph::Graph& graph, const target::Target& target) {
  const Result<Compiled> compiled = compile(graph, target);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.value().regions.at(0).kernels.at(0);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " in " << text;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

graph::Graph arg_max(const std::string& dtype, const std::string& in, const std::string& axis, const std::string& out) {
  return core_graph("graph {\n  %0 = input : " + dtype + "[" + in + "]\n  %1 = onnx.ArgMax \"a\" (%0) {axis = " + axis +
                    ", keepdims = 0} : s64[" + out + "]\n  output %1\n}\n");
}

/// A legal entry for columns of f32, and the graph that it is for.
struct Sample {
  graph::Graph graph = reduction("ReduceMax", "f32", "64, 4096", "0", "4096");
  target::Target target = avx2(1);
  KernelReport kernel = first_kernel(graph, target);
  schedule::Schedule other = schedule::neighbours(kernel.spec, kernel.schedule).at(0);
  std::string line = print(TuningRecord{kCpu, "2026-01-01", 1, 1.25, kernel.spec, other});

  /// The schedule that the graph is compiled with under this file, and the notices.
  std::string scheduled(const std::string& text, std::vector<std::string>* notices = nullptr) const {
    const Tuning tuning = read_tuning(text, kCpu);
    const Result<Compiled> compiled = compile(graph, target, {.tuning = &tuning});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    if (notices != nullptr) {
      *notices = tuning.notices;
      notices->insert(notices->end(), compiled.value().notices.begin(), compiled.value().notices.end());
    }
    return schedule::print(compiled.value().regions.at(0).kernels.at(0).schedule);
  }
};

TEST(TuningFile, AnEntryIsUsedForItsKernelAlone) {
  const Sample sample;
  ASSERT_NE(sample.other, sample.kernel.schedule);
  std::vector<std::string> notices;
  EXPECT_EQ(sample.scheduled(sample.line, &notices), schedule::print(sample.other));
  EXPECT_TRUE(notices.empty());
  const Tuning tuning = read_tuning(sample.line, kCpu);
  EXPECT_EQ(tuning.find(sample.kernel.spec, target::Isa::avx2, 2), nullptr) << "another number of cores";
  EXPECT_EQ(tuning.find(sample.kernel.spec, target::Isa::avx512_core, 1), nullptr);
  const KernelReport other = first_kernel(reduction("ReduceMax", "f32", "65, 4096", "0", "4096"), sample.target);
  EXPECT_EQ(tuning.find(other.spec, target::Isa::avx2, 1), nullptr) << "another shape";
}

TEST(TuningFile, AnEntryIsUsedForTheKernelOfASelection) {
  const Sample sample{core_graph(
      "graph {\n  %0 = input : f32[64, 32000]\n  %1, %2 = core.top_k (%0) {axis = 1, k = 50, largest = true} : "
      "f32[64,50], s64[64,50]\n  output %1, %2\n}\n")};
  std::vector<std::string> notices;
  EXPECT_EQ(sample.scheduled(sample.line, &notices), schedule::print(sample.other));
  EXPECT_TRUE(notices.empty());
}

TEST(TuningFile, FilesAreMergedAndTheLaterCounts) {
  const Sample sample;
  const std::string back = print(TuningRecord{kCpu, "2026-01-02", 1, 1.1, sample.kernel.spec, sample.kernel.schedule});
  EXPECT_EQ(sample.scheduled("\n" + sample.line + "\r\n" + back), schedule::print(sample.kernel.schedule));
  EXPECT_EQ(sample.scheduled(back + sample.line), schedule::print(sample.other));
}

TEST(TuningFile, HostileEntriesAreIgnoredWithANotice) {
  const Sample sample;
  const std::string before = schedule::print(sample.kernel.schedule), wanted = schedule::print(sample.other);
  const auto with_schedule = [&](const std::string& text) { return replaced(sample.line, wanted, text); };
  struct Row {
    std::string line, says;
  };
  const std::vector<Row> rows = {
      {"nonsense", "no JSON object"},
      {"[]", "no JSON object"},
      {"{", "no JSON object"},
      {std::string(50000, '['), "no JSON object"},
      {"{\"a\":" + std::string(30000, '[') + std::string(30000, ']') + "}", "schema is not"},
      {"\xff\xfe{}", "no JSON object"},
      {std::string(70000, ' ') + "{}", "at most 65536"},
      {"{}", "schema is not"},
      {replaced(sample.line, "tenfold.tuning/1", "tenfold.tuning/2"), "schema is not"},
      {replaced(sample.line, "\"version\":1", "\"version\":0"), "it is stale"},
      {replaced(sample.line, "\"version\":1", "\"version\":18446744073709551615"), "it is stale"},
      {replaced(sample.line, "\"version\":1", "\"version\":\"1\""), "wrong type"},
      {replaced(sample.line, kCpu, "another CPU"), "another CPU"},
      {replaced(sample.line, "\"cores\":1", "\"cores\":0"), "cores is 0"},
      {replaced(sample.line, "\"cores\":1", "\"cores\":-9223372036854775808"), "cores is -"},
      {replaced(sample.line, "\"cores\":1", "\"cores\":1e300"), "wrong type"},
      {replaced(sample.line, "\"kernel\":\"kernel", "\"kernel\":\"colonel"), "its kernel cannot be read"},
      {replaced(sample.line, "\"schedule\":\"", "\"schedule\":\"x"), "its schedule cannot be read"},
      {replaced(sample.line, "\"schedule\"", "\"scheduel\""), "is missing"},
      {with_schedule("avx2 rows level=1 unroll=2"), "no neighbour"},
      {with_schedule("avx2 columns level=99 rows=4 columns=1024"), "no neighbour"},
      {with_schedule("avx2 columns level=1 rows=4 columns=1024 tile=0:0"), "no neighbour"},
      {with_schedule("avx2 columns level=1 rows=4 columns=1024 tile=7:-1"), "no neighbour"},
      {with_schedule("avx2 columns level=1 rows=4 columns=1024 split=0:16"), "no neighbour"},
      {with_schedule("avx2 columns level=1 rows=4 columns=2147483647"), "no neighbour"},
  };
  for (const Row& row : rows) {
    std::vector<std::string> notices;
    EXPECT_EQ(sample.scheduled(row.line, &notices), before) << row.line.substr(0, 200);
    ASSERT_EQ(notices.size(), 1U) << row.line.substr(0, 200);
    EXPECT_NE(notices[0].find(row.says), std::string::npos) << notices[0];
  }
}

TEST(TuningFile, NoticesAreBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "nonsense\n";
  EXPECT_LE(read_tuning(text, kCpu).notices.size(), 17U);
}

TEST(TuningFile, RandomDamageNeverCrashes) {
  const Sample sample;
  const std::uint32_t seed = 20260102;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string text = sample.line;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 20);
      } else {
        text[at] = static_cast<char>(random());
      }
      if (text.empty()) text = " ";
    }
    const Tuning tuning = read_tuning(text, kCpu);
    const Result<Compiled> compiled = compile(sample.graph, sample.target, {.tuning = &tuning});
    ASSERT_TRUE(compiled.ok()) << text;
    const schedule::Schedule& used = compiled.value().regions[0].kernels[0].schedule;
    EXPECT_TRUE(schedule::is_neighbour(sample.kernel.spec, sample.kernel.schedule, used)) << text;
  }
}

TEST(TuningFile, MissingFilesAreNamed) {
  const auto loaded = load_tuning("no_such_folder/no_such_file.tuning");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), Code::invalid_file);
  EXPECT_NE(loaded.status().message().find("no_such_file.tuning"), std::string::npos);
}

/// Removes what a test has written.
struct Folder {
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("tenfold_tuning_" + std::to_string(getpid()));
};

TEST(TuningFile, WhatIsNoRegularFileIsNotWaitedFor) {
  const Folder folder;
  const std::string pipe = folder.path / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder.path.string(), std::string("/dev/zero")}) {
    const auto loaded = load_tuning(path);
    ASSERT_FALSE(loaded.ok()) << path;
    EXPECT_EQ(loaded.status().message(), "tuning file '" + path + "' is no regular file");
  }
}

TEST(TuningFile, TheFilesThatWereUsedLastAreRemembered) {
  const Folder folder;
  const auto notices = [&](int file, const std::string& text) {
    const std::string path = folder.path / std::to_string(file);
    if (!text.empty()) std::ofstream(path) << text;
    const auto loaded = load_tuning(path);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    return loaded.ok() ? loaded.value()->notices.size() : 0;
  };
  for (int file = 0; file < 16; ++file) EXPECT_EQ(notices(file, "no entry\n"), 1U);
  EXPECT_EQ(notices(0, "\n"), 1U) << "is not read again";
  EXPECT_EQ(notices(16, "no entry\n"), 1U) << "takes the place of 1";
  EXPECT_EQ(notices(0, ""), 1U);
  EXPECT_EQ(notices(1, "\n"), 0U) << "is read again";
}

/// What the graph's one output holds under this tuning, its input filled from the seed, ties and all.
std::string bits(const graph::Graph& graph, const target::Target& target, const Tuning* tuning) {
  const Result<Compiled> compiled = compile(graph, target, {.tuning = tuning});
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return {};
  const auto bytes = [&](graph::ValueId value) {
    return static_cast<std::size_t>(span_bytes(graph::desc_of(graph.values[value])).value());
  };
  std::vector<std::uint8_t> in(bytes(graph.inputs[0]) + 64), out(bytes(graph.outputs[0]) + 64, 0x5A);
  std::mt19937 random(7);
  const bool is_float = graph.values[graph.inputs[0]].dtype == DType::f32;
  for (std::size_t i = 0; i + 4 <= in.size(); i += 4) {
    const float value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 7;
    auto word = static_cast<std::uint32_t>(random());
    if (is_float) std::memcpy(&word, &value, sizeof word);
    std::memcpy(in.data() + i, &word, sizeof word);
  }
  const void* const inputs[] = {in.data()};
  void* const outputs[] = {out.data()};
  const Status status = runtime::run(compiled.value().program, inputs, outputs, nullptr, 1);
  EXPECT_TRUE(status.ok()) << status.message();
  return std::string(out.begin(), out.end());
}

TEST(Tuned, EveryNeighbourGivesTheSameBits) {
  if (target::host().value().native < target::Isa::avx2) GTEST_SKIP() << "NOT RUN: no AVX2";
  const std::string softmax =
      "graph {\n  %0 = input : f32[61, 130]\n  %1 = onednn.SoftMax \"s\" (%0) {axis = AXIS} : f32[61, 130]\n"
      "  output %1\n}\n";
  const std::vector<graph::Graph> graphs = {
      reduction("ReduceMax", "f32", "37, 1031", "1", "37"),
      reduction("ReduceSum", "f32", "37, 1031", "1", "37"),
      reduction("ReduceMax", "f32", "67, 2063", "0", "2063"),
      reduction("ReduceSum", "f32", "67, 2063", "0", "2063"),
      reduction("ReduceMean", "bf16", "67, 2063", "0", "2063"),
      core_graph("graph {\n  %0 = input : s8[67, 2063]\n  %1 = core.reduce \"r\" (%0) {reduction = \"max\", axes = "
                 "[0], keep_dims = "
                 "false} : s8[2063]\n  output %1\n}\n"),
      core_graph("graph {\n  %0 = input : s64[67, 519]\n  %1 = core.reduce \"r\" (%0) {reduction = \"min\", axes = "
                 "[0], keep_dims = "
                 "false} : s64[519]\n  output %1\n}\n"),
      reduction("ReduceSum", "f32", "9, 33, 517", "1", "9, 517"),
      reduction("ReduceMin", "f32", "5000, 7", "1", "5000"),
      reduction("ReduceMax", "f32", "5000, 7", "0", "7"),
      core_graph(replaced(softmax, "AXIS", "1")),
      core_graph(replaced(softmax, "AXIS", "0")),
      arg_max("f32", "67, 2063", "0", "2063"),
      arg_max("f32", "37, 1031", "1", "37"),
      arg_max("bf16", "37, 1031", "1", "37"),
      arg_max("s8", "37, 1031", "1", "37"),
      arg_max("f32", "5000, 7", "1", "5000"),
      arg_max("bf16", "5000, 7", "0", "7")};
  std::size_t count = 0;
  for (const graph::Graph& graph : graphs)
    for (const int cores : {1, 2}) {
      const target::Target target = avx2(cores);
      const std::string expected = bits(graph, target, nullptr);
      const Result<Compiled> compiled = compile(graph, target);
      ASSERT_TRUE(compiled.ok());
      for (const RegionReport& region : compiled.value().regions)
        for (const KernelReport& kernel : region.kernels)
          for (const schedule::Schedule& schedule : schedule::neighbours(kernel.spec, kernel.schedule)) {
            Tuning tuning;
            tuning.add(kernel.spec, cores, schedule);
            ++count;
            EXPECT_EQ(bits(graph, target, &tuning) == expected, true) << schedule::print(schedule) << "\nnot\n"
                                                                      << schedule::print(kernel.schedule) << "\nof\n"
                                                                      << kernel::print(kernel.spec);
          }
    }
  EXPECT_GT(count, 100U);
}

}  // namespace
}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
//
// Whole graph files, from text to outputs, held against the reference evaluator as `tenfold run --check` does it: each
// on every instruction-set level of the machine, the reference included, with 1 and 2 threads.
//
// A file is out of scope when it holds an op that the op tables lack; any other file must be legal and right. Files of
// very many products are not run, as the reference evaluator sums each of them three times in double (the result, its
// bound, and the reference level): TENFOLD_TEST_EXHAUSTIVE=1 runs them too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/read/json.hpp"
#include "schemas/op_table.hpp"
#include "target/target.hpp"
#include "tenfold/tenfold.hpp"
#include "tools/compare.hpp"
#include "tools/graph_file.hpp"
#include "tools/run_inputs.hpp"
#include "tools/test_case.hpp"

namespace tenfold::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 1;
/// Stands for each dim that a file leaves open.
constexpr std::int64_t kBoundDim = 7;
/// Above this many input elements a program is not run twice for nothing: the reference level is what results are held
/// against anyway, and where a level compiles to the same program as another (all of it on the reference evaluator,
/// which knows no threads), it stands for it.
constexpr std::int64_t kManyElements = std::int64_t{1} << 20;

/// Products of matrices and convolutions beyond which a file waits for the flag: ten seconds and more of the reference
/// evaluator. An element of an input, which is drawn and converted one by one, counts as several.
constexpr double kManyProducts = 2.5e9;
constexpr double kProductsPerElement = 20;

struct Tally {
  std::size_t not_run = 0;  ///< for their products
  std::size_t passed = 0, failed = 0, runs = 0;
  std::map<std::string, std::size_t> out_of_scope;  ///< by the first op that the tables lack
};

/// The kind of the first op that the tables lack.
std::optional<std::string> unknown_op(const graph::Graph& graph) {
  for (const graph::Op& op : graph.ops)
    if (schemas::find_op(op.dialect, op.kind) == nullptr) return op.kind;
  return std::nullopt;
}

double elements_of(const graph::Value& value) {
  double count = 1;
  for (const std::int64_t dim : value.shape) count *= static_cast<double>(dim);
  return value.ranked && graph::is_static(value) ? count : 0;
}

/// Multiplications of the graph's MatMuls and convolutions, roughly (those of a convolution as if nothing were padded),
/// and what its inputs count as.
double products_of(const graph::Graph& graph) {
  double count = 0;
  for (const graph::ValueId v : graph.inputs) count += kProductsPerElement * elements_of(graph.values[v]);
  for (const graph::Op& op : graph.ops) {
    if (op.kind.find("Conv") == std::string::npos && op.kind != "MatMul") continue;
    const graph::Value& a = graph.values[op.inputs[0]];
    const graph::Value& b = graph.values[op.inputs[1]];
    const graph::Value& out = graph.values[op.outputs[0]];
    if (b.shape.empty() || a.shape.empty()) continue;
    if (op.kind == "MatMul") {
      const bool transposed = graph::attribute_or<bool>(op, "transpose_a", false) && a.shape.size() > 1;
      count += elements_of(out) * static_cast<double>(transposed ? a.shape[a.shape.size() - 2] : a.shape.back());
      continue;
    }
    const double largest = std::max({elements_of(a), elements_of(b), elements_of(out)});
    const double channels = static_cast<double>(*std::max_element(b.shape.begin(), b.shape.end()));
    count += largest * std::min(elements_of(b), elements_of(out)) / channels;
  }
  return count;
}

GivenInputs bind_open_dims(const graph::Graph& graph) {
  GivenInputs given;
  for (const graph::ValueId v : graph.inputs) {
    const graph::Value& value = graph.values[v];
    if (!value.ranked || graph::is_static(value)) continue;
    Dims shape = value.shape;
    std::replace(shape.begin(), shape.end(), kUnknownDim, kBoundDim);
    given.shapes.emplace_back(value.id, shape);
  }
  return given;
}

std::vector<std::string> levels_of_this_machine() {
  std::vector<std::string> names;
  for (const target::IsaRow& row : target::all_isas())
    if (target::host_capped(row.isa).ok()) names.emplace_back(row.name);
  return names;
}

/// One file on all levels. The first run's inputs and what is expected of them serve all.
class FileRun {
 public:
  FileRun(Graph graph, std::string path)
      : graph_(std::move(graph)), path_(std::move(path)), given_(bind_open_dims(graph_.ir())) {}

  /// How many programs were run; all failures are GoogleTest's.
  std::size_t run() {
    for (const std::string& level : levels_of_this_machine())
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(path_ + " on " + level + ", " + std::to_string(threads) + " threads, seed " +
                     std::to_string(kSeed));
        const Status status = run_level(level, threads);
        // A type that nothing here computes in is a limit, and its message names it.
        if (status.code() == Code::unsupported_dtype) {
          unsupported_ = status.message();
          return runs_;
        }
        if (!status.ok()) ADD_FAILURE() << status.message();
      }
    return runs_;
  }

  /// Why it was not run; empty when it was.
  const std::string& unsupported() const { return unsupported_; }

 private:
  Status run_level(const std::string& level, int threads) {
    CompileOptions options;
    options.target = level;
    options.threads = threads;
    options.input_shapes = given_.shapes;
    const Result<CompiledPartition> partition = compile(graph_, options);
    if (!partition.ok()) return partition.status();
    if (input_infos_.empty())
      if (Status s = fill(partition.value()); !s.ok()) return s;
    if (elements() > kManyElements && (level == "reference" || seen_before(partition.value()))) return {};
    std::vector<Tensor> outputs;
    if (Status s = execute(partition.value(), outputs); !s.ok()) return s;
    for (const Comparison& c : compare_outputs(*expected_, output_infos_, outputs))
      EXPECT_EQ(c.outside, 0) << "output " << c.id << ": " << c.outside << " of " << c.elements << ", first "
                              << c.first_outside;
    ++runs_;
    return {};
  }

  /// What explain() says after its first line, which names the target, tells programs apart.
  bool seen_before(const CompiledPartition& partition) {
    const std::string text = partition.explain();
    const std::string program = text.substr(text.find('\n') + 1);
    const bool compiled = program.find(" kernel") != std::string::npos;
    if (!compiled && std::find(seen_.begin(), seen_.end(), program) != seen_.end()) return true;
    seen_.push_back(program);
    return false;
  }

  Status fill(const CompiledPartition& partition) {
    input_infos_ = partition.inputs();
    Result<std::vector<FilledInput>> inputs = make_inputs(graph_.ir(), input_infos_, given_, kSeed);
    if (!inputs.ok()) return inputs.status();
    inputs_ = std::move(inputs).value();
    return {};
  }

  std::int64_t elements() const {
    std::int64_t count = 0;
    for (const TensorInfo& info : input_infos_) count += numel(info.desc.shape).value();
    return count;
  }

  Status execute(const CompiledPartition& partition, std::vector<Tensor>& outputs) {
    std::vector<const void*> sources;
    std::vector<const Tensor*> tensors;
    for (const FilledInput& input : inputs_) {
      sources.push_back(input.tensor.data());
      tensors.push_back(&input.tensor);
    }
    Result<std::vector<TensorInfo>> infos = partition.query_outputs(sources.data(), sources.size());
    if (!infos.ok()) return infos.status();
    output_infos_ = std::move(infos).value();
    std::vector<void*> targets;
    for (const TensorInfo& info : output_infos_) {
      Result<Tensor> tensor = make_tensor(info.desc);
      if (!tensor.ok()) return tensor.status();
      outputs.push_back(std::move(tensor).value());
      targets.push_back(outputs.back().data());
    }
    if (!expected_) {
      Result<Expected> expected = evaluate_expected(graph_.ir(), input_infos_, tensors, output_infos_);
      if (!expected.ok()) return expected.status();
      expected_ = std::move(expected).value();
    }
    return partition.execute(sources.data(), sources.size(), targets.data(), targets.size());
  }

  Graph graph_;
  std::string path_;
  GivenInputs given_;
  std::vector<TensorInfo> input_infos_, output_infos_;
  std::vector<FilledInput> inputs_;
  std::optional<Expected> expected_;
  std::vector<std::string> seen_;
  std::size_t runs_ = 0;
  std::string unsupported_;
};

void run_file(const fs::path& path, Tally& tally) {
  SCOPED_TRACE(path.string());
  const Result<std::string> text = read_text_file(path.string());
  ASSERT_TRUE(text.ok()) << text.status().message();
  const Result<graph::Graph> read = graph::read_json(text.value());
  ASSERT_TRUE(read.ok()) << read.status().message();
  if (const auto kind = unknown_op(read.value())) {
    ++tally.out_of_scope[*kind];
    return;
  }
  const Result<Graph> graph = Graph::from_json(text.value());
  // A limit of ours that verify() names.
  if (graph.status().code() == Code::unsupported_op) {
    std::printf("out of scope: %s: %s\n", path.filename().c_str(), graph.status().message().c_str());
    ++tally.out_of_scope["limit"];
    return;
  }
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const char* const all = std::getenv("TENFOLD_TEST_EXHAUSTIVE");
  if (const double products = products_of(graph.value().ir()); products > kManyProducts && all == nullptr) {
    std::printf("NOT RUN: %s: %.1f G products (TENFOLD_TEST_EXHAUSTIVE=1)\n", path.filename().c_str(), products * 1e-9);
    ++tally.not_run;
    return;
  }
  FileRun file(graph.value(), path.string());
  const int failures_before = ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  tally.runs += file.run();
  if (!file.unsupported().empty()) {
    std::printf("out of scope: %s: %s\n", path.filename().c_str(), file.unsupported().c_str());
    ++tally.out_of_scope["dtype"];
    return;
  }
  const int failures = ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  ++(failures > failures_before ? tally.failed : tally.passed);
}

Tally run_directory(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  keep_freed_memory();
  Tally tally;
  for (const fs::path& file : files) run_file(file, tally);
  std::size_t out = 0;
  std::string kinds;
  for (const auto& [kind, count] : tally.out_of_scope) {
    out += count;
    kinds += (kinds.empty() ? " (" : ", ") + kind + " " + std::to_string(count);
  }
  std::printf("%s: %zu passed in %zu runs, %zu failed, %zu left out, %zu out of scope by op%s\n", directory.c_str(),
              tally.passed, tally.runs, tally.failed, tally.not_run, out, kinds.empty() ? "" : (kinds + ")").c_str());
  return tally;
}

TEST(Graphs, OursRunOnEveryLevel) {
  const Tally tally = run_directory(fs::path(TENFOLD_SOURCE_DIR) / "tests/data/graphs");
  EXPECT_TRUE(tally.out_of_scope.empty());
  EXPECT_GT(tally.passed, 0U);
}

/// A folder of the corpus, and how many of its files must have been run and passed: more as ops are added, never fewer.
/// All of them but those left out for their products, and one in `pattern` that is a limit of ours.
struct Folder {
  const char* name;
  std::size_t least_passed;
};
constexpr Folder kFolders[] = {{"complex_fusion", 23}, {"op", 50}, {"pattern", 78}};

class Corpus : public ::testing::TestWithParam<Folder> {};

TEST_P(Corpus, RunsOnEveryLevel) {
  const char* const given = std::getenv("TENFOLD_CORPUS");
  const fs::path directory =
      (given != nullptr ? fs::path(given) : fs::path(TENFOLD_SOURCE_DIR) / "../shared/corpus/onednn-graph") /
      GetParam().name;
  if (!fs::is_directory(directory)) {
    std::printf("NOT RUN: no corpus at %s (set TENFOLD_CORPUS)\n", directory.c_str());
    GTEST_SKIP() << "NOT RUN: no corpus";
  }
  EXPECT_GE(run_directory(directory).passed, GetParam().least_passed);
}

INSTANTIATE_TEST_SUITE_P(OneDnn, Corpus, ::testing::ValuesIn(kFolders),
                         [](const auto& folder) { return std::string(folder.param.name); });

}  // namespace
}  // namespace tenfold::tools

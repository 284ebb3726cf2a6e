// SPDX-License-Identifier: Apache-2.0
//
// Finds the cases of `tenfold test`, and runs those that are graph files: with random inputs, against the reference
// evaluator, as `run --check` does.
#include "tools/test_case.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "graph/ir/graph.hpp"
#include "graph/read/json.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tools/compare.hpp"
#include "tools/graph_file.hpp"
#include "tools/outputs.hpp"
#include "tools/run_inputs.hpp"

namespace tenfold::tools {

namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = "model.onnx";
constexpr std::uint64_t kSeed = 1;

/// Takes `path` as a case, when it is one.
bool take(const fs::path& path, std::vector<TestCase>& cases) {
  std::error_code error;
  if (fs::is_regular_file(path / kModel, error)) {
    cases.push_back({path.string(), true});
  } else if (path.filename() == kModel && fs::is_regular_file(path, error)) {
    cases.push_back({path.has_parent_path() ? path.parent_path().string() : ".", true});
  } else if (path.extension() == ".json" && fs::is_regular_file(path, error)) {
    cases.push_back({path.string(), false});
  } else {
    return false;
  }
  return true;
}

Status unknown_inputs(const graph::Graph& graph) {
  for (const graph::ValueId v : graph.inputs)
    if (!graph::is_static(graph.values[v]))
      return Status(Code::unsupported_shape, "the file leaves the shapes of inputs open");
  return Status();
}

std::vector<std::string> op_kinds(const graph::Graph& graph) {
  std::vector<std::string> kinds;
  for (const graph::Op& op : graph.ops)
    if (std::find(kinds.begin(), kinds.end(), op.kind) == kinds.end()) kinds.push_back(op.kind);
  return kinds;
}

Status run_and_compare(const Graph& graph, const TestOptions& options) {
  if (Status s = unknown_inputs(graph.ir()); !s.ok()) return s;
  CompileOptions compile_options;
  compile_options.target = options.target;
  compile_options.threads = options.threads;
  const Result<CompiledPartition> partition = compile(graph, compile_options);
  if (!partition.ok()) return partition.status();
  const std::vector<TensorInfo>& infos = partition.value().inputs();
  Result<std::vector<FilledInput>> inputs = make_inputs(graph.ir(), infos, {}, kSeed);
  if (!inputs.ok()) return inputs.status();
  std::vector<const void*> arguments;
  std::vector<const Tensor*> tensors;
  for (const FilledInput& input : inputs.value()) {
    arguments.push_back(input.tensor.data());
    tensors.push_back(&input.tensor);
  }
  const Result<Outputs> outputs = make_outputs(partition.value(), arguments);
  if (!outputs.ok()) return outputs.status();
  if (Status s = execute(partition.value(), arguments, outputs.value()); !s.ok()) return s;
  const std::vector<TensorInfo>& output_infos = outputs.value().infos;
  const Result<Expected> expected = evaluate_expected(graph.ir(), infos, tensors, output_infos);
  if (!expected.ok()) return expected.status();
  for (const Comparison& c : compare_outputs(expected.value(), output_infos, outputs.value().tensors))
    if (c.outside > 0)
      return Status(Code::internal_error, "output " + std::to_string(c.id) + ": " + std::to_string(c.outside) + " of " +
                                              std::to_string(c.elements) + " elements are outside the bound, first " +
                                              c.first_outside);
  return Status();
}

}  // namespace

Result<std::vector<TestCase>> find_test_cases(const std::vector<std::string>& paths) {
  std::vector<TestCase> cases;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) return Status(Code::invalid_file, "'" + path + "': no such file or directory");
    const std::size_t before = cases.size();
    if (!take(path, cases) && fs::is_directory(path, error)) {
      fs::recursive_directory_iterator entries(path, fs::directory_options::skip_permission_denied, error);
      for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error))
        if (take(entries->path(), cases)) entries.disable_recursion_pending();
      if (error) return Status(Code::invalid_file, "'" + path + "': " + error.message());
    }
    if (cases.size() == before)
      return Status(Code::invalid_file,
                    "'" + path + "': no folder with " + kModel +
                        " and no *.json here (`run --check` is for graphs without expected outputs)");
    std::sort(cases.begin() + static_cast<std::ptrdiff_t>(before), cases.end(),
              [](const TestCase& a, const TestCase& b) { return a.path < b.path; });
  }
  return cases;
}

TestResult result_of(const Status& status) {
  if (status.ok()) return {};
  switch (status.code()) {
    case Code::unsupported_op:
    case Code::unsupported_dtype:
    case Code::unsupported_shape:
    case Code::unsupported_target: return {Verdict::unsupported, status.message(), {}};
    default: return {Verdict::failed, std::string(to_string(status.code())) + ": " + status.message(), {}};
  }
}

TestResult run_graph_case(const std::string& path, const TestOptions& options) {
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return result_of(text.status());
  // Read once more by itself: a graph that is refused has ops all the same.
  const Result<graph::Graph> as_written = graph::read_json(text.value());
  const Result<Graph> graph = Graph::from_json(text.value());
  TestResult result = result_of(graph.ok() ? run_and_compare(graph.value(), options) : graph.status());
  if (as_written.ok()) result.ops = op_kinds(as_written.value());
  return result;
}

void keep_freed_memory() noexcept {
  mallopt(M_ARENA_MAX, 1);  // others than the first one are given back, or too small
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace tenfold::tools

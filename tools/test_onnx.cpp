// SPDX-License-Identifier: Apache-2.0
//
// One folder in the layout of ONNX's node tests: model.onnx, and in each test_data_set_N the tensors input_I.pb and
// output_I.pb. Compared as ONNX's own runner does (onnx/backend/test/runner): floats within 1e-3 of the expected value
// plus 1e-7, NaN equal to NaN, everything else exactly.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "graph/eval/eval.hpp"
#include "graph/ir/graph.hpp"
#include "graph/read/onnx.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tools/graph_file.hpp"
#include "tools/outputs.hpp"
#include "tools/report.hpp"
#include "tools/tensor.hpp"
#include "tools/test_case.hpp"

namespace tenfold::tools {

namespace {

namespace fs = std::filesystem;

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

/// input_0.pb, input_1.pb, ... of a data set, as long as there are any.
Result<std::vector<graph::Value>> read_tensors(const fs::path& folder, const std::string& role) {
  std::vector<graph::Value> values;
  std::error_code error;
  while (true) {
    const fs::path path = folder / (role + "_" + std::to_string(values.size()) + ".pb");
    if (!fs::exists(path, error)) return values;
    const Result<std::string> bytes = read_onnx_file(path.string());
    if (!bytes.ok()) return bytes.status();
    Result<graph::Value> value = graph::read_onnx_tensor(bytes.value());
    if (!value.ok()) return value.status().about(path.filename().string());
    values.push_back(std::move(value).value());
  }
}

/// The tensor for a graph input: of its name, or at its position where the data set's names are others.
const graph::Value* pick(const std::vector<graph::Value>& given, const graph::Value& input, std::size_t position) {
  for (const graph::Value& value : given)
    if (!value.name.empty() && value.name == input.name) return &value;
  return position < given.size() ? &given[position] : nullptr;
}

bool is_close(double got, double expected, double relative) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::fabs(got - expected) <= kAbsolute + relative * std::fabs(expected);
}

Status differ(const std::string& what) { return Status(Code::internal_error, what); }

/// Older data sets keep bf16 tensors as the u16 of their bits: where a bf16 is wanted, u16 data are that. They were
/// made by truncation where the operator rounds, so they are good to one last place only.
constexpr double kTruncatedBf16 = 0x1p-7;
DType data_dtype(const graph::Value& data, DType wanted) {
  return wanted == DType::bf16 && data.dtype == DType::u16 ? DType::bf16 : data.dtype;
}

Status compare(const std::string& name, const Tensor& got, const graph::Value& expected) {
  TensorDesc wanted = graph::desc_of(expected);
  wanted.dtype = data_dtype(expected, got.desc.dtype);
  if (got.desc.dtype != wanted.dtype || got.desc.shape != wanted.shape)
    return differ("output " + name + " is " + desc_text(got.desc) + ", expected " + desc_text(wanted));
  const double relative = expected.dtype == wanted.dtype ? kRelative : kTruncatedBf16;
  std::int64_t wrong = 0;
  std::string first;
  const auto size = static_cast<std::size_t>(byte_size(wanted.dtype));
  for_each_element(got.desc, [&](std::int64_t index, std::int64_t offset) {
    const double a = graph::load_real(wanted.dtype, got.data(), offset);
    const double b = graph::load_real(wanted.dtype, expected.data.data(), index);
    const bool same = is_floating(wanted.dtype)
                          ? is_close(a, b, relative)
                          : std::memcmp(static_cast<const char*>(got.data()) + static_cast<std::size_t>(offset) * size,
                                        expected.data.data() + static_cast<std::size_t>(index) * size, size) == 0;
    if (same || wrong++ > 0) return;
    std::array<char, 120> text{};
    std::snprintf(text.data(), text.size(), "element %lld: got %.9g, expected %.9g", static_cast<long long>(index), a,
                  b);
    first = text.data();
  });
  if (wrong == 0) return Status();
  return differ("output " + name + ": " + std::to_string(wrong) + " elements differ, first " + first);
}

Status run_data_set(const Graph& graph, const fs::path& folder, const TestOptions& options) {
  const Result<std::vector<graph::Value>> given = read_tensors(folder, "input");
  if (!given.ok()) return given.status();
  const Result<std::vector<graph::Value>> expected = read_tensors(folder, "output");
  if (!expected.ok()) return expected.status();
  const graph::Graph& ir = graph.ir();
  CompileOptions compile_options;
  compile_options.target = options.target;
  compile_options.threads = options.threads;
  std::vector<Tensor> tensors;
  std::vector<const void*> arguments;
  for (std::size_t i = 0; i < ir.inputs.size(); ++i) {
    const graph::Value& input = ir.values[ir.inputs[i]];
    const graph::Value* value = pick(given.value(), input, i);
    if (value == nullptr) return differ("the data set has no tensor for input '" + input.name + "'");
    const DType dtype = data_dtype(*value, input.dtype);
    if (dtype != input.dtype)
      return differ("input '" + input.name + "' is " + std::string(to_string(input.dtype)) + ", its data are " +
                    std::string(to_string(value->dtype)));
    Result<Tensor> tensor = make_tensor({dtype, value->shape, {}});
    if (!tensor.ok()) return tensor.status();
    if (!value->data.empty()) std::memcpy(tensor.value().data(), value->data.data(), value->data.size());
    tensors.push_back(std::move(tensor).value());
    arguments.push_back(tensors.back().data());
    compile_options.input_shapes.emplace_back(input.id, value->shape);
  }
  const Result<CompiledPartition> partition = compile(graph, compile_options);
  if (!partition.ok()) return partition.status();
  const Result<Outputs> outputs = make_outputs(partition.value(), arguments);
  if (!outputs.ok()) return outputs.status();
  const std::vector<Tensor>& results = outputs.value().tensors;
  if (expected.value().empty() || results.size() < expected.value().size())
    return differ("the data set has " + std::to_string(expected.value().size()) + " outputs, the graph " +
                  std::to_string(results.size()));
  if (Status s = execute(partition.value(), arguments, outputs.value()); !s.ok()) return s;
  for (std::size_t i = 0; i < expected.value().size(); ++i)
    if (Status s = compare("'" + ir.values[ir.outputs[i]].name + "'", results[i], expected.value()[i]); !s.ok())
      return s;
  return Status();
}

Status run_data_sets(const Graph& graph, const std::string& folder, const TestOptions& options) {
  std::vector<fs::path> sets;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("test_data_set_")) sets.push_back(entry.path());
  if (sets.empty()) return Status(Code::invalid_file, "there is no test_data_set_* beside the model");
  std::sort(sets.begin(), sets.end());
  for (const fs::path& set : sets)
    if (Status s = run_data_set(graph, set, options); !s.ok()) return s;
  return Status();
}

}  // namespace

TestResult run_onnx_case(const std::string& folder, const TestOptions& options) {
  const Result<std::string> bytes = read_onnx_file((fs::path(folder) / "model.onnx").string());
  if (!bytes.ok()) return result_of(bytes.status());
  const Result<std::vector<std::string>> ops = graph::onnx_op_types(bytes.value());
  if (!ops.ok()) return result_of(ops.status());
  const Result<Graph> graph = Graph::from_onnx(bytes.value());
  TestResult result = result_of(graph.ok() ? run_data_sets(graph.value(), folder, options) : graph.status());
  result.ops = ops.value();
  return result;
}

}  // namespace tenfold::tools

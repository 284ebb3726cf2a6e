// SPDX-License-Identifier: Apache-2.0
//
// The examples of the op documents of ReduceMax (oneDNN's and ONNX's), ArgMax and Max, in every version in which they
// are legal and every dtype that the version takes: through the public API, on the best instruction set and on the
// reference, and through the evaluator on the graph as written. Where a document has random data, so has this.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "graph/eval/eval.hpp"
#include "schemas/op_table.hpp"
#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

/// A tensor as a document writes it.
struct Array {
  Dims shape;
  std::vector<double> values;
};

struct Case {
  std::string kind;
  std::string attributes;     ///< JSON
  std::vector<Array> inputs;  ///< of the op's dtype
  Array expected;
  std::vector<std::int64_t> axes;  ///< a second input, known while compiling or not
  bool has_axes = false;
  DType output = DType::undef;  ///< undef: the inputs'
  std::string dialect = "onnx";
  DType axes_dtype = DType::s64;
};

std::vector<std::byte> bytes_of(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(byte_size(dtype)));
  for (std::size_t i = 0; i < values.size(); ++i)
    graph::store_real(dtype, bytes.data(), static_cast<std::int64_t>(i), values[i]);
  return bytes;
}

template <class List>
std::string list_text(const List& list) {
  std::string text;
  for (const auto element : list) text += (text.empty() ? "" : ", ") + std::to_string(element);
  return "[" + text + "]";
}

std::string record(int id, DType dtype, const std::string& rest) {
  return R"({"id": )" + std::to_string(id) + R"(, "dtype": ")" + std::string(to_string(dtype)) + "\"" + rest + "}";
}

/// The graph file of one op; its output's shape is for infer() to find.
std::string file_of(const Case& c, int opset, DType dtype, bool axes_known) {
  std::string inputs;
  int id = 0;
  for (const Array& array : c.inputs)
    inputs += (id > 0 ? ", " : "") + record(id, dtype, ", \"shape\": " + list_text(array.shape)), ++id;
  if (c.has_axes)
    inputs += ", " + record(id++, c.axes_dtype,
                            ", \"shape\": [" + std::to_string(c.axes.size()) + "]" +
                                (axes_known ? ", \"property_type\": \"constant\", \"data\": " + list_text(c.axes)
                                            : std::string()));
  const std::string version = c.dialect == "onnx" ? R"("opset": )" + std::to_string(opset) + ", " : "";
  return R"({"dialect": ")" + c.dialect + "\", " + version + R"("graph": [{"id": 0, "kind": ")" + c.kind +
         R"(", "attrs": {)" + c.attributes + R"(}, "inputs": [)" + inputs + R"(], "outputs": [)" +
         record(id, c.output == DType::undef ? dtype : c.output, ", \"shape\": [" + std::to_string(kUnknownDim) + "]") +
         "]}]}";
}

void expect_values(const Case& c, DType dtype, const void* data, const std::string& where) {
  for (std::size_t i = 0; i < c.expected.values.size(); ++i)
    EXPECT_EQ(graph::load_real(dtype, data, static_cast<std::int64_t>(i)), c.expected.values[i])
        << where << " at " << i;
}

/// Both targets, and the evaluator.
void run(const Case& c, int opset, DType dtype, bool axes_known) {
  const std::string where =
      c.kind + "@" + std::to_string(opset) + " " + std::string(to_string(dtype)) + (axes_known ? "" : " late axes");
  const Result<Graph> graph = Graph::from_json(file_of(c, opset, dtype, axes_known));
  ASSERT_TRUE(graph.ok()) << where << ": " << graph.status().message();
  std::vector<std::vector<std::byte>> memory;
  for (const Array& array : c.inputs) memory.push_back(bytes_of(dtype, array.values));
  const std::vector<double> axes(c.axes.begin(), c.axes.end());
  if (c.has_axes && !axes_known) memory.push_back(bytes_of(c.axes_dtype, axes));
  std::vector<const void*> inputs;
  for (const auto& bytes : memory) inputs.push_back(bytes.data());
  const DType output = c.output == DType::undef ? dtype : c.output;
  std::vector<std::byte> out(c.expected.values.size() * static_cast<std::size_t>(byte_size(output)));

  for (const char* target : {"", "reference"}) {
    CompileOptions options;
    options.target = target;
    const Result<CompiledPartition> compiled = compile(graph.value(), options);
    ASSERT_TRUE(compiled.ok()) << where << ": " << compiled.status().message();
    const auto infos = compiled.value().query_outputs(inputs.data(), inputs.size());
    ASSERT_TRUE(infos.ok()) << where << ": " << infos.status().message();
    ASSERT_EQ(infos.value()[0].desc.shape, c.expected.shape) << where;
    ASSERT_EQ(infos.value()[0].desc.dtype, output) << where;
    void* outputs[] = {out.data()};
    const Status status = compiled.value().execute(inputs.data(), inputs.size(), outputs, 1);
    ASSERT_TRUE(status.ok()) << where << ": " << status.message();
    expect_values(c, output, out.data(), where + " on '" + target + "'");
  }

  std::vector<graph::ConstTensor> tensors;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) tensors.push_back({{dtype, c.inputs[i].shape, {}}, inputs[i]});
  if (c.has_axes && !axes_known)
    tensors.push_back({{c.axes_dtype, {static_cast<std::int64_t>(c.axes.size())}, {}}, inputs.back()});
  const graph::MutableTensor result[] = {{{output, c.expected.shape, {}}, out.data()}};
  const Status status = graph::evaluate(graph.value().ir(), tensors, result);
  ASSERT_TRUE(status.ok()) << where << ": " << status.message();
  expect_values(c, output, out.data(), where + " evaluated");
}

/// In every version from `first` to `last` (0: the newest) and each of its dtypes.
void run_versions(const Case& c, int first, int last = 0) {
  const schemas::OpDesc* desc = schemas::find_op(schemas::Dialect::onnx, c.kind);
  ASSERT_NE(desc, nullptr);
  int versions = 0;
  for (const schemas::OpVersion& version : desc->versions) {
    if (version.since_version < first || (last != 0 && version.since_version > last)) continue;
    ++versions;
    for (const DTypeRow& row : kDTypes)
      if ((version.constraints[version.inputs[0].constraint].allowed & schemas::bit(row.dtype)) != 0 &&
          row.dtype != DType::boolean)
        for (const bool known : {true, false})
          if (known || c.has_axes) run(c, version.since_version, row.dtype, known);
  }
  EXPECT_GT(versions, 0);
}

std::string integer(const std::string& name, std::int64_t value) {
  return "\"" + name + R"(": {"type": "s64", "value": )" + std::to_string(value) + "}";
}

std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  return "\"" + name + R"(": {"type": "s64[]", "value": )" + list_text(values) + "}";
}

/// Whole numbers, so that every dtype holds them; ties are likely.
Array random_array(Dims shape, std::mt19937& random) {
  Array array{std::move(shape), {}};
  for (std::int64_t i = 0; i < numel(array.shape).value(); ++i)
    array.values.push_back(static_cast<double>(random() % 20));
  return array;
}

/// The elements of a [a, b, c] array along its middle dim, for each of a x c.
std::vector<std::vector<double>> along_middle(const Array& array) {
  std::vector<std::vector<double>> rows;
  const auto at = [&](std::int64_t i) { return array.values[static_cast<std::size_t>(i)]; };
  const std::int64_t b = array.shape[1], c = array.shape[2];
  for (std::int64_t i = 0; i < array.shape[0]; ++i)
    for (std::int64_t k = 0; k < c; ++k) {
      rows.emplace_back();
      for (std::int64_t j = 0; j < b; ++j) rows.back().push_back(at((i * b + j) * c + k));
    }
  return rows;
}

const Array kData{{3, 2, 2}, {5, 1, 20, 2, 30, 1, 40, 2, 55, 1, 60, 2}};

/// ReduceMax of `data` with the axes where the versions have them: an attribute below 18, an input since.
void reduce_max(const Array& data, const std::vector<std::int64_t>& axes, bool keep, const Array& expected, int first) {
  Case c{"ReduceMax", integers("axes", axes) + ", " + integer("keepdims", keep), {data}, expected, {}};
  run_versions(c, first, 13);
  c.attributes = integer("keepdims", keep);
  c.axes = axes;
  c.has_axes = true;
  run_versions(c, 18);
}

TEST(SpecExamples, ReduceMaxDoNotKeepDims) { reduce_max(kData, {1}, false, {{3, 2}, {20, 2, 40, 2, 60, 2}}, 1); }

TEST(SpecExamples, ReduceMaxKeepDims) { reduce_max(kData, {1}, true, {{3, 1, 2}, {20, 2, 40, 2, 60, 2}}, 1); }

TEST(SpecExamples, ReduceMaxNegativeAxes) { reduce_max(kData, {-2}, true, {{3, 1, 2}, {20, 2, 40, 2, 60, 2}}, 11); }

TEST(SpecExamples, ReduceMaxDefaultAxes) {
  run_versions({"ReduceMax", integer("keepdims", 1), {kData}, {{1, 1, 1}, {60}}, {}}, 1);
}

TEST(SpecExamples, ReduceMaxOfRandomData) {
  const unsigned seed = 31;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 5; ++round) {
    const Array data = random_array({3, 2, 2}, random);
    Array kept{{3, 1, 2}, {}}, all{{1, 1, 1}, {0}};
    for (const auto& row : along_middle(data)) kept.values.push_back(*std::max_element(row.begin(), row.end()));
    all.values[0] = *std::max_element(data.values.begin(), data.values.end());
    reduce_max(data, {1}, true, kept, 1);
    reduce_max(data, {-2}, true, kept, 11);
    reduce_max(data, {1}, false, {{3, 2}, kept.values}, 1);
    run_versions({"ReduceMax", integer("keepdims", 1), {data}, all, {}}, 1);
  }
}

Case arg_max(const Array& data, const std::string& attributes, const Array& expected) {
  Case c{"ArgMax", attributes, {data}, expected, {}};
  c.output = DType::s64;
  return c;
}

TEST(SpecExamples, ArgMax) {
  const Array data{{2, 2}, {2, 1, 3, 10}};
  const std::string keep = integer("keepdims", 1), drop = integer("keepdims", 0);
  run_versions(arg_max(data, integer("axis", 1) + ", " + drop, {{2}, {0, 1}}), 1);
  run_versions(arg_max(data, integer("axis", 1) + ", " + keep, {{2, 1}, {0, 1}}), 1);
  run_versions(arg_max(data, keep, {{1, 2}, {1, 1}}), 1);
  run_versions(arg_max(data, integer("axis", -1) + ", " + keep, {{2, 1}, {0, 1}}), 11);
}

TEST(SpecExamples, ArgMaxSelectsTheLastIndex) {
  const Array data{{2, 2}, {2, 2, 3, 10}};
  const std::string last = ", " + integer("select_last_index", 1), keep = integer("keepdims", 1) + last,
                    drop = integer("keepdims", 0) + last;
  run_versions(arg_max(data, integer("axis", 1) + ", " + drop, {{2}, {1, 1}}), 12);
  run_versions(arg_max(data, integer("axis", 1) + ", " + keep, {{2, 1}, {1, 1}}), 12);
  run_versions(arg_max(data, keep, {{1, 2}, {1, 1}}), 12);
  run_versions(arg_max(data, integer("axis", -1) + ", " + keep, {{2, 1}, {1, 1}}), 12);
}

TEST(SpecExamples, ArgMaxOfRandomData) {
  const unsigned seed = 32;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 5; ++round) {
    const Array data = random_array({2, 3, 4}, random);
    Array first{{2, 1, 4}, {}}, last{{2, 1, 4}, {}};
    for (const auto& row : along_middle(data)) {
      first.values.push_back(static_cast<double>(std::max_element(row.begin(), row.end()) - row.begin()));
      const auto from_end = std::max_element(row.rbegin(), row.rend()) - row.rbegin();
      last.values.push_back(static_cast<double>(static_cast<std::int64_t>(row.size()) - 1 - from_end));
    }
    const std::string select = ", " + integer("select_last_index", 1);
    run_versions(arg_max(data, integer("axis", 1), first), 1);
    run_versions(arg_max(data, integer("axis", -2), first), 11);
    run_versions(arg_max(data, integer("axis", 1) + ", " + integer("keepdims", 0), {{2, 4}, first.values}), 1);
    run_versions(arg_max(data, integer("axis", 1) + select, last), 12);
    run_versions(arg_max(data, integer("axis", -2) + ", " + integer("keepdims", 0) + select, {{2, 4}, last.values}),
                 12);
  }
}

TEST(SpecExamples, Max) {
  const Array a{{3}, {3, 2, 1}}, b{{3}, {1, 4, 4}}, c{{3}, {2, 5, 3}};
  run_versions({"Max", "", {a, b, c}, {{3}, {3, 5, 4}}, {}}, 1);
  run_versions({"Max", "", {a}, a, {}}, 1);
  run_versions({"Max", "", {a, b}, {{3}, {3, 4, 4}}, {}}, 1);
}

/// What oneDNN's document says in words.
TEST(SpecExamples, OneDnnsReduceMax) {
  const Array src{{3, 4}, {1, 7, 3, 0, 5, 2, 9, 4, 8, 6, 0, 11}};
  const auto check = [&](const std::vector<std::int64_t>& axes, bool keep, const Array& expected) {
    const std::string keep_dims = R"("keep_dims": {"type": "bool", "value": )" + std::to_string(keep) + "}";
    Case c{"ReduceMax", integers("axes", axes) + ", " + keep_dims, {src}, expected, {}};
    c.dialect = "onednn";
    c.axes_dtype = DType::s32;
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) run(c, 0, dtype, true);
    c.attributes = keep_dims;
    c.axes = axes;
    c.has_axes = true;
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
      for (const bool known : {true, false}) run(c, 0, dtype, known);
  };
  check({0}, true, {{1, 4}, {8, 7, 9, 11}});
  check({0}, false, {{4}, {8, 7, 9, 11}});
  check({-1}, true, {{3, 1}, {7, 9, 11}});
  check({0, 1}, false, {{}, {11}});
  check({-1, 0}, true, {{1, 1}, {11}});
  check({}, false, src);
}

}  // namespace
}  // namespace tenfold

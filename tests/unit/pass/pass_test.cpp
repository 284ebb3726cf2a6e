// SPDX-License-Identifier: Apache-2.0
//
// The pipeline as a whole: its order, that core graphs are its fixed points, and that no op of the tables is forgotten.
#include "graph/pass/pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "graph/text/text.hpp"
#include "schemas/op_table.hpp"

namespace tenfold::graph {
namespace {

Graph read(const std::string& text) {
  Result<Graph> graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? graph.value() : Graph{};
}

TEST(Pipeline, ShowsEachPassToTheObserver) {
  Graph graph = read("graph { %0 = input : f32[2,3] %1 = onednn.ReduceMax (%0) {axes = [1]} : f32[*] }");
  std::vector<std::string> passes;
  std::vector<std::string> texts;
  ASSERT_TRUE(run_pipeline(graph, [&](std::string_view pass, const Graph& now) {
                passes.emplace_back(pass);
                texts.push_back(print(now));
              }).ok());
  EXPECT_EQ(passes, (std::vector<std::string>{"verify", "infer", "fold-shapes", "canonicalize", "decompose",
                                              "fold-axes", "simplify", "fold-constants", "eliminate", "verify"}));
  EXPECT_NE(texts[0].find("f32[*]"), std::string::npos);
  EXPECT_NE(texts[1].find("onednn.ReduceMax"), std::string::npos);
  EXPECT_EQ(texts[1].find("f32[*]"), std::string::npos);
  EXPECT_NE(texts[3].find("core.reduce"), std::string::npos);
  EXPECT_EQ(texts.back(), print(graph));
}

TEST(Pipeline, StopsAtTheFirstFailure) {
  Graph graph = read("graph { %0 = input : f32[2,3] %1 = onednn.TypeCast (%0) : undef[*] }");
  int passes = 0;
  EXPECT_FALSE(run_pipeline(graph, [&](std::string_view, const Graph&) { ++passes; }).ok());
  EXPECT_EQ(passes, 1);
}

DType first_of(schemas::DTypeSet allowed) {
  for (const DTypeRow& row : kDTypes)
    if ((allowed & schemas::bit(row.dtype)) != 0) return row.dtype;
  return DType::undef;
}

/// The value that a required attribute, or one that all ONNX's Constants need, has in graph_of().
Attribute value_of(const schemas::AttrDesc& attribute) {
  if (attribute.type == schemas::AttrType::s64) return std::int64_t{1};
  if (attribute.type != schemas::AttrType::string) return 0.5;
  return std::string(attribute.allowed.empty() ? "FLOAT" : attribute.allowed[0]);
}

/// Whether the ops of a category become one core op each, of any input. The others have tests of their own.
bool is_one_for_one(const schemas::OpDesc& desc) {
  for (const std::string_view category :
       {"reduction", "unary", "binary", "variadic", "select", "conversion", "other", "map"})
    if (desc.category == category) return desc.name != "GenIndex" && desc.name != "Dropout" && desc.name != "Wildcard";
  return false;
}

/// A smallest legal graph of one version of an ONNX op.
Graph onnx_graph_of(const schemas::OpDesc& desc, const schemas::OpVersion& version) {
  Graph graph;
  Op op;
  op.kind = std::string(desc.name);
  op.name = "it";
  op.id = 42;
  op.dialect = Dialect::onnx;
  op.opset = version.since_version;
  for (const schemas::PortDesc& port : version.inputs) {
    if (port.optional) continue;
    Value value;
    value.id = static_cast<std::int64_t>(graph.values.size());
    value.dtype = first_of(version.constraints[port.constraint].allowed);
    value.ranked = true;
    value.shape = {2, 3};
    op.inputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back(value);
  }
  Value result;
  result.id = static_cast<std::int64_t>(graph.values.size());
  op.outputs = {static_cast<ValueId>(graph.values.size())};
  graph.values.push_back(result);
  for (const schemas::AttrDesc& attribute : version.attributes)
    if (attribute.required) op.attributes.push_back({std::string(attribute.name), value_of(attribute)});
  if (desc.name == "Constant") op.attributes = {{"value_float", 0.5}};
  if (desc.name == "Mod") op.attributes = {{"fmod", std::int64_t{1}}};
  graph.ops.push_back(op);
  connect(graph);
  return graph;
}

TEST(Canonicalize, KnowsEveryVersionOfEveryOnnxOpOfTheTables) {
  int count = 0;
  for (const schemas::OpDesc& desc : schemas::all_ops()) {
    if (desc.dialect != Dialect::onnx || !is_one_for_one(desc)) continue;
    for (const schemas::OpVersion& version : desc.versions) {
      SCOPED_TRACE(std::string(desc.name) + "-" + std::to_string(version.since_version));
      Graph graph = onnx_graph_of(desc, version);
      const Status status = run_pipeline(graph);
      if (desc.name == "Constant") {
        // Below version 12 its value is a tensor, which graph files write as data.
        EXPECT_EQ(status.ok(), version.since_version >= 12) << status.message();
        continue;
      }
      ++count;
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(graph.ops.size(), 1u);
      EXPECT_EQ(graph.ops[0].dialect, Dialect::core);
      EXPECT_EQ(graph.ops[0].opset, 0);
      EXPECT_EQ(describe(graph.ops[0]), "op 42 'it' (" + std::string(desc.name) + ")");
      const Graph once = graph;
      ASSERT_TRUE(run_pipeline(graph).ok());
      EXPECT_TRUE(graph == once) << print(once) << print(graph);
    }
  }
  EXPECT_GE(count, 250);
}

/// A smallest legal graph of one oneDNN op.
Graph graph_of(const schemas::OpDesc& desc) {
  const schemas::OpVersion& version = desc.versions.back();
  Graph graph;
  Op op;
  op.kind = std::string(desc.name);
  op.name = "it";
  op.id = 42;
  const auto add = [&](const schemas::PortDesc& port, bool output) {
    Value value;
    value.id = static_cast<std::int64_t>(graph.values.size());
    value.dtype =
        version.constraints[port.constraint].allowed == schemas::bit(DType::boolean) ? DType::boolean : DType::f32;
    if (output && desc.name == "TypeCast") value.dtype = DType::bf16;
    value.ranked = !output;
    if (!output) value.shape = {3};
    graph.values.push_back(value);
    (output ? op.outputs : op.inputs).push_back(static_cast<ValueId>(graph.values.size() - 1));
  };
  for (const schemas::PortDesc& port : version.inputs)
    if (!port.optional) add(port, false);
  for (const schemas::PortDesc& port : version.outputs) add(port, true);
  for (const schemas::AttrDesc& attribute : version.attributes)
    if (attribute.required) op.attributes.push_back({std::string(attribute.name), 0.5});
  if (desc.category == "reduction") op.attributes.push_back({"axes", std::vector<std::int64_t>{0}});
  graph.ops.push_back(op);
  connect(graph);
  return graph;
}

TEST(Canonicalize, KnowsEveryOnednnOpOfTheTables) {
  int count = 0;
  for (const schemas::OpDesc& desc : schemas::all_ops()) {
    if (desc.dialect != Dialect::onednn || !is_one_for_one(desc)) continue;
    ++count;
    Graph graph = graph_of(desc);
    const Status status = run_pipeline(graph);
    ASSERT_TRUE(status.ok()) << desc.name << ": " << status.message();
    if (desc.name == "End") {
      EXPECT_TRUE(graph.ops.empty());
      continue;
    }
    ASSERT_EQ(graph.ops.size(), 1u) << desc.name;
    EXPECT_EQ(graph.ops[0].dialect, Dialect::core) << desc.name;
    EXPECT_EQ(graph.ops[0].id, 42);
    EXPECT_EQ(describe(graph.ops[0]), "op 42 'it' (" + std::string(desc.name) + ")");
  }
  EXPECT_GE(count, 39);
}

TEST(Pipeline, CoreGraphsAreFixedPoints) {
  for (const schemas::OpDesc& desc : schemas::all_ops()) {
    if (desc.dialect != Dialect::onednn || !is_one_for_one(desc)) continue;
    Graph graph = graph_of(desc);
    ASSERT_TRUE(run_pipeline(graph).ok());
    const Graph once = graph;
    ASSERT_TRUE(run_pipeline(graph).ok()) << desc.name;
    EXPECT_TRUE(graph == once) << desc.name << "\n" << print(once) << print(graph);
  }
}

TEST(FoldAxes, KeepsConstantsThatOthersUse) {
  Graph graph = read(R"(graph {
    %0 = input : f32[2,3]
    %5 = constant : s32[1] = [1]
    %1 = onednn.ReduceMax (%0, %5) : f32[*]
    %2 = onednn.Subtract (%5, %5) : s32[1]
  })");
  const Status status = run_pipeline(graph);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(graph.values.size(), 4u);
  EXPECT_EQ(graph.ops[0].inputs.size(), 1u);
}

/// The lines of a graph that uses every form of op; mutants are made by exchanging words among them.
const std::vector<std::string> kLines = {
    "%0 = input : f32[2,3,4]",
    "%1 = input : f32[3]",
    "%2 = constant : s32[2] = [1, -1]",
    "%3 = input : s32[?]",
    "%4 = onednn.BiasAdd (%0, %1) {data_format = \"NCX\"} : f32[*]",
    "%5 = onednn.PReLU (%4, %1) {data_format = \"NCX\", per_channel_broadcast = true} : f32[2,3,4]{1,2,6}",
    "%6 = onednn.ReduceMax (%5, %2) {axes = []} : f32[2]",
    "%7 = onednn.ReduceSum (%5) {axes = [0, 2], keep_dims = true} : f32[1,3,1]",
    "%8 = onednn.GreaterEqual (%5, %7) : boolean[?,3,4]",
    "%9 = onednn.Select (%8, %5, %7) {auto_broadcast = \"numpy\"} : undef[*]",
    "%10 = onednn.TypeCast (%9) : bf16[*]",
    "%11 = onednn.ReduceMean (%9, %3) {keep_dims = true} : f32[2,3,1]",
    "%12 = core.reshape (%9) {shape = [6, -1]} : f32[*]",
    "onednn.End (%12)",
    "%13 = input : f32[4]",
    "%14, %15 = onednn.SoftMax (%0) {axis = -1, mode = \"inf_as_zero\"} : f32[2,3,4], f32[2,3,1]",
    "%16, %17, %18 = onednn.LayerNorm (%0, %13, %13) {epsilon = 0.5, keep_stats = true} : f32[2,3,4], f32[2,3], "
    "f32[2,3]",
    "%19 = onednn.GroupNorm (%4) {groups = 3, use_affine = false, keep_stats = false, data_format = \"NCX\"} : f32[*]",
    "%20 = onnx.Softmax@11 (%14) {axis = 1} : undef[*]",
    "%21 = onnx.BatchNormalization (%0, %1, %1, %1, %1) {epsilon = 0.5} : f32[2,3,4]",
};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(Pipeline, AnswersWhateverItIsGiven) {
  const unsigned seed = 5;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 engine(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(engine() % n); };
  int readable = 0;
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::vector<std::string>> lines;
    for (const std::string& line : kLines) lines.push_back(words_of(line));
    for (std::size_t n = 0; n < 1 + below(3); ++n) {
      auto& line = lines[below(lines.size())];
      const auto& other = lines[below(lines.size())];
      // Words at the same place of two lines are mostly of one sort, so that many mutants can be read.
      const std::size_t place = below(std::min(line.size(), other.size()));
      line[place] = other[place];
    }
    std::string text = "graph {\n";
    for (const auto& line : lines) {
      for (const std::string& word : line) text += word + " ";
      text += "\n";
    }
    Result<Graph> graph = parse(text + "}");
    if (!graph.ok()) continue;
    ++readable;
    const Status status = run_pipeline(graph.value());
    if (status.ok()) {
      ++accepted;
      EXPECT_TRUE(parse(print(graph.value())).ok()) << text;
    } else {
      EXPECT_NE(status.code(), Code::internal_error) << status.message() << "\n" << text;
      EXPECT_EQ(status.message().back(), ')') << status.message() << "\n" << text;
    }
  }
  EXPECT_GT(readable, 1000);
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace tenfold::graph

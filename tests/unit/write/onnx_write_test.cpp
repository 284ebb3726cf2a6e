// SPDX-License-Identifier: Apache-2.0
//
// The ONNX writer: a graph that the reader gave comes back as it was, to the last bit of its constants; what a model
// cannot hold is refused by name.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/read/onnx.hpp"
#include "graph/text/text.hpp"
#include "graph/write/onnx.hpp"

namespace tenfold::graph {
namespace {

/// Adds a value, its id its index.
ValueId add(Graph& graph, std::string name, DType dtype, Dims shape) {
  Value value;
  value.id = static_cast<std::int64_t>(graph.values.size());
  value.name = std::move(name);
  value.dtype = dtype;
  value.ranked = true;
  value.shape = std::move(shape);
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

ValueId add_constant(Graph& graph, std::string name, DType dtype, Dims shape, std::size_t bytes) {
  const ValueId id = add(graph, std::move(name), dtype, std::move(shape));
  Value& value = graph.values[id];
  value.is_constant = true;
  value.property = Property::constant;
  std::vector<std::byte> data;
  for (std::size_t i = 0; i < bytes; ++i) data.push_back(static_cast<std::byte>(dtype == DType::boolean ? 1 : i));
  value.data = std::move(data);
  return id;
}

void add_op(Graph& graph, std::string kind, std::vector<ValueId> inputs, ValueId output,
            std::vector<NamedAttribute> attributes = {}) {
  Op op;
  op.id = static_cast<std::int64_t>(graph.ops.size());
  op.dialect = Dialect::onnx;
  op.kind = std::move(kind);
  op.opset = 18;
  op.attributes = std::move(attributes);
  op.inputs = std::move(inputs);
  op.outputs = {output};
  graph.values[output].producer = static_cast<OpId>(graph.ops.size());
  graph.ops.push_back(std::move(op));
}

void expect_same_again(const Graph& graph) {
  const Result<std::string> bytes = write_onnx(graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const Result<Graph> again = read_onnx(bytes.value());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(again.value() == graph) << print(graph) << print(again.value());
}

/// y = Abs(x).
Graph small() {
  Graph graph;
  const ValueId x = add(graph, "x", DType::f32, {2}), y = add(graph, "y", DType::f32, {2});
  add_op(graph, "Abs", {x}, y);
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

TEST(OnnxWrite, GraphsComeBackAsTheyWere) {
  Graph graph;
  const ValueId x = add(graph, "x", DType::f32, {kUnknownDim, 3, kUnknownDim});
  graph.values[x].dim_names = {"batch", "", ""};
  const ValueId unused = add(graph, "unused", DType::s64, {});
  const ValueId high = add_constant(graph, "high", DType::f32, {}, 4);
  const ValueId a = add(graph, "a", DType::f32, {kUnknownDim, 3, kUnknownDim}), b = add(graph, "b", DType::f32, {2}),
                c = add(graph, "c", DType::undef, {}), d = add(graph, "d", DType::boolean, {});
  graph.values[c].ranked = false;
  graph.values[d].ranked = false;
  add_op(graph, "Clip", {x, kNone, high}, a);
  graph.ops[0].name = "clip_0";
  add_op(graph, "Anything", {a}, b,
         {{"i", std::int64_t{-5}},
          {"f", 0.5},
          {"s", std::string("text\0more", 9)},
          {"is", std::vector<std::int64_t>{1, -2}},
          {"fs", std::vector<double>{0.25, -4}},
          {"none", std::vector<double>{}}});
  add_op(graph, "Other", {b, x}, c);
  add_op(graph, "Last", {c}, d);
  graph.inputs = {x, unused};
  graph.outputs = {d, a};
  expect_same_again(graph);
}

TEST(OnnxWrite, ConstantsOfEveryDTypeKeepTheirBits) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == DType::undef) continue;
    SCOPED_TRACE(row.name);
    Graph graph;
    const auto size = static_cast<std::size_t>(6 * row.bits + 7) / 8;
    const ValueId full = add_constant(graph, "full", row.dtype, {2, 3}, size);
    const ValueId none = add_constant(graph, "none", row.dtype, {0, 3}, 0);
    const ValueId y = add(graph, "y", row.dtype, {2, 3});
    add_op(graph, "Anything", {full, none}, y);
    graph.outputs = {y};
    expect_same_again(graph);
  }
}

TEST(OnnxWrite, AGraphWithoutOpsHasOnlyConstants) {
  Graph graph;
  const ValueId c = add_constant(graph, "c", DType::f32, {2}, 8);
  graph.outputs = {c};
  expect_same_again(graph);
}

TEST(OnnxWrite, WhatNobodyUsesIsLeftOut) {
  Graph graph = small();
  add_constant(graph, "nobody", DType::f32, {1}, 4);
  const Result<std::string> bytes = write_onnx(graph);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes.value().find("nobody"), std::string::npos);
}

TEST(OnnxWrite, WhatAModelCannotHoldIsNamed) {
  const auto message = [](const Graph& graph, Code code) {
    const Result<std::string> bytes = write_onnx(graph);
    EXPECT_EQ(bytes.status().code(), code);
    return bytes.status().message();
  };
  Graph graph = small();
  graph.ops[0].dialect = Dialect::onednn;
  EXPECT_EQ(message(graph, Code::unsupported_op), "op 0 (Abs): it is no op of ONNX");
  graph = small();
  graph.ops[0].opset = 0;
  EXPECT_NE(message(graph, Code::invalid_graph).find("op 0 (Abs): it is of opset 0"), std::string::npos);
  graph = small();
  add_op(graph, "Neg", {1}, add(graph, "z", DType::f32, {2}));
  graph.ops[1].opset = 13;
  EXPECT_NE(message(graph, Code::invalid_graph).find("op 1 (Neg): it is of opset 13, the first op of 18"),
            std::string::npos);
  graph = small();
  graph.values[1].dtype = DType::undef;
  EXPECT_EQ(message(graph, Code::unsupported_dtype), "tensor 1 'y' is undef, which no model can say");
}

}  // namespace
}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// A reduction or a scalar function of a dialect is a row in several tables. Without its row in one of them an op runs
// on the reference evaluator, or nowhere, or, over no axes, as something else; here each is found to have them all.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "compile/compile.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "schemas/op_table.hpp"

namespace tenfold::compiler {
namespace {

std::string some_value(const schemas::AttrDesc& attribute) {
  if (attribute.name == "min") return "-1.0";
  if (!attribute.allowed.empty()) return '"' + std::string(attribute.allowed[0]) + '"';
  return attribute.type == schemas::AttrType::s64 ? "1" : "1.0";
}

/// The newest version of the op, of one input [4, 8], its output's shape left open.
std::string one_op(const schemas::OpDesc& op, std::string attributes) {
  for (const schemas::AttrDesc& attribute : op.versions.back().attributes)
    if (attribute.required && attributes.find(attribute.name) == std::string::npos)
      attributes += (attributes.empty() ? "" : ", ") + std::string(attribute.name) + " = " + some_value(attribute);
  const std::string in = op.name == "Not" ? "boolean" : op.name.starts_with("Bitwise") ? "s32" : "f32";
  const std::string out = op.name.starts_with("Is") ? "boolean" : op.name.starts_with("Arg") ? "s64" : in;
  const std::string opset = op.dialect == schemas::Dialect::onnx ? "@" + std::to_string(schemas::newest_opset()) : "";
  return "graph {\n  %0 = input : " + in + "[4,8]\n  %1 = " + std::string(to_string(op.dialect)) + "." +
         std::string(op.name) + opset + " \"it\" (%0) {" + attributes + "} : " + out + "[*]\n  output %1\n}\n";
}

Result<graph::Graph> core_form(const std::string& text) {
  Result<graph::Graph> graph = graph::parse(text);
  if (!graph.ok()) return graph;
  const Status status = graph::run_pipeline(graph.value());
  return status.ok() ? std::move(graph) : Result<graph::Graph>(status);
}

bool is_of_tables(const schemas::OpDesc& op) {
  return op.dialect != schemas::Dialect::core && (op.category == "reduction" || op.category == "unary");
}

TEST(CoveredOps, EachHasARowInTheEvaluatorACoreFormAndAKernel) {
  int seen = 0;
  for (const schemas::OpDesc& op : schemas::all_ops()) {
    if (!is_of_tables(op)) continue;
    SCOPED_TRACE(std::string(to_string(op.dialect)) + "." + std::string(op.name));
    ++seen;
    const std::string text =
        one_op(op, op.category == "reduction" && op.dialect == schemas::Dialect::onednn ? "axes = [1]" : "");
    const Result<graph::Graph> written = graph::parse(text);
    ASSERT_TRUE(written.ok()) << written.status().message() << "\n" << text;
    EXPECT_TRUE(graph::can_evaluate(written.value().ops[0])) << "no row in graph/eval/op_rows.cpp";
    const Result<graph::Graph> graph = core_form(text);
    ASSERT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
    target::Target target;
    target.isa = target.native = target::Isa::avx2;
    const Result<Compiled> compiled = compile(graph.value(), target);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << text;
    for (const RegionReport& region : compiled.value().regions)
      EXPECT_NE(region.kind, RegionReport::Kind::reference) << region.reason << "\n" << text;
  }
  EXPECT_GT(seen, 70);
}

/// A row of graph/pass/core_form.cpp says what a reduction does to an element alone.
TEST(CoveredOps, ReductionsOverNoAxesDoToElementsWhatTheReferenceDoes) {
  int seen = 0;
  for (const schemas::OpDesc& op : schemas::all_ops()) {
    if (op.dialect != schemas::Dialect::onnx || op.category != "reduction" || op.name.starts_with("Arg")) continue;
    ++seen;
    const std::string text = one_op(op, "noop_with_empty_axes = 1");
    Result<graph::Graph> written = graph::parse(text);
    ASSERT_TRUE(written.ok()) << written.status().message() << "\n" << text;
    written.value().values[written.value().outputs[0]].shape = {4, 8};
    written.value().values[written.value().outputs[0]].ranked = true;
    const Result<graph::Graph> graph = core_form(text);
    ASSERT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
    std::array<float, 32> x{}, expected{}, got{};
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.25F - 3;
    const TensorDesc desc{DType::f32, {4, 8}, {}};
    const graph::ConstTensor in{desc, x.data()};
    const graph::MutableTensor reference{desc, expected.data()}, core{desc, got.data()};
    Status status = graph::evaluate(written.value(), {&in, 1}, {&reference, 1});
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << text;
    status = graph::evaluate(graph.value(), {&in, 1}, {&core, 1});
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << graph::print(graph.value());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool same = got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]));
      EXPECT_TRUE(same) << op.name << " of " << x[i] << " is " << got[i] << ", not " << expected[i];
    }
  }
  EXPECT_EQ(seen, 10);
}

}  // namespace
}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
//
// Bodies whose nodes use the one before twice: what asks a question of each way to a node, and not of each node, is
// still at it when the test's time is over.
#include <gtest/gtest.h>

#include <string>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"

namespace tenfold::compiler {
namespace {

constexpr int kDepth = 40;
const std::string kRow = "f32[64, 1024]", kTotal = "f32[64, 1]";

/// Writes a graph op by op; values have numbers.
class Text {
 public:
  int op(const std::string& kind, const std::string& operands, const std::string& attributes, const std::string& type) {
    text_ += "  %" + std::to_string(next_) + " = " + kind + " \"o" + std::to_string(next_) + "\" (" + operands + ")" +
             attributes + " : " + type + "\n";
    return next_++;
  }
  int reduce(const std::string& reduction, int of) {
    return op("core.reduce", "%" + std::to_string(of),
              " {reduction = \"" + reduction + "\", axes = [1], keep_dims = true}", kTotal);
  }
  int binary(const std::string& kind, int a, int b) {
    return op("onednn." + kind, "%" + std::to_string(a) + ", %" + std::to_string(b), "", kRow);
  }
  std::string finish(int output) const {
    return "graph {\n  %0 = input : " + kRow + "\n" + text_ + "  output %" + std::to_string(output) + "\n}\n";
  }

 private:
  std::string text_;
  int next_ = 1;
};

void expect_kernels(const std::string& text) {
  Result<graph::Graph> graph = graph::parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
  const Status status = graph::run_pipeline(graph.value());
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << text;
  for (const target::Isa isa : {target::Isa::avx2, target::Isa::avx512_core}) {
    target::Target target;
    target.isa = target.native = isa;
    const Result<Compiled> compiled = compile(graph.value(), target);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    for (const RegionReport& region : compiled.value().regions) EXPECT_FALSE(region.kernels.empty());
  }
}

TEST(DeepGraphs, QuotientsOfThemselves) {
  Text text;
  const int exponential = text.op("onednn.Exp", "%0", "", kRow);
  int last = text.binary("Divide", exponential, text.reduce("sum", exponential));
  for (int i = 0; i < kDepth; ++i) last = text.binary("Divide", last, last);
  expect_kernels(text.finish(last));
}

TEST(DeepGraphs, SumsOfTwoProductsRoundedAtTheEnd) {
  Text text;
  const int difference = text.binary("Subtract", 0, text.reduce("max", 0));
  const int exponential = text.op("onednn.Exp", "%" + std::to_string(difference), "", kRow);
  int last = text.binary("Divide", exponential, text.reduce("sum", exponential));
  for (int i = 0; i < kDepth; ++i)
    last = text.binary("Add", text.binary("Add", last, last), text.binary("Multiply", last, last));
  last = text.op("onednn.TypeCast", "%" + std::to_string(last), "", "bf16[64, 1024]");
  expect_kernels(text.finish(last));
}

}  // namespace
}  // namespace tenfold::compiler

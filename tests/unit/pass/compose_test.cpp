// SPDX-License-Identifier: Apache-2.0
//
// The builder of decompositions: shapes and dtypes of what it makes, and which value each output of the composite is.
#include "graph/pass/compose.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/eval/eval.hpp"
#include "graph/text/text.hpp"

namespace tenfold::graph {
namespace {

/// What `make` makes of the only op of `text`, as a graph that obeys the rules.
template <class Make>
std::string composed(const std::string& text, Make make) {
  Result<Graph> parsed = parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Graph graph = parsed.value();
  const Op source = graph.ops[0];
  Composer composer(graph);
  composer.begin(source);
  make(composer, source);
  graph.ops = composer.finish();
  const Status status = verify(graph);
  EXPECT_TRUE(status.ok()) << status.message() << "\n" << print(graph);
  return print(graph);
}

const std::string kSource = R"(graph {
  %0 = input : bf16[2,?]
  %5 = input : f32[2]
  %1, %2 = onednn.Thing #3 "it" (%0, %5) : bf16[2,?], f32[2,1]
})";

TEST(Composer, GivesShapesAndDtypes) {
  EXPECT_EQ(composed(kSource,
                     [](Composer& make, const Op& op) {
                       const ValueId x = make.widen(op.inputs[0]);
                       const ValueId sum = make.reduce("sum", x, {1});
                       const ValueId low = make.compare("less", {x, make.along(op.inputs[1], 0, 2)});
                       make.give(0, make.select(low, sum, make.map("mul", 2.0, x)));
                       make.give(1, sum);
                       make.give(2, x);
                     }),
            R"(graph {
  %0 = input : bf16[2,?]
  %5 = input : f32[2]
  %10 = constant : f32[] property constant = [2]
  %6 = core.cast #4 "it" (%0) {source_kind = "Thing", source_id = 3} : f32[2,?]
  %2 = core.reduce #5 "it" (%6) {reduction = "sum", keep_dims = true, axes = [1], source_kind = "Thing", source_id = 3} : f32[2,1]
  %8 = core.reshape #6 "it" (%5) {shape = [2, 1], source_kind = "Thing", source_id = 3} : f32[2,1]
  %9 = core.map #7 "it" (%6, %8) {function = "less", source_kind = "Thing", source_id = 3} : boolean[2,?]
  %11 = core.map #8 "it" (%10, %6) {function = "mul", source_kind = "Thing", source_id = 3} : f32[2,?]
  %12 = core.select #9 "it" (%9, %2, %11) {source_kind = "Thing", source_id = 3} : f32[2,?]
  %1 = core.cast #3 "it" (%12) {source_kind = "Thing"} : bf16[2,?]
  output %1, %2
}
)");
}

TEST(Composer, MakesConstantsOfEveryDtype) {
  Result<Graph> parsed = parse(kSource);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  Graph graph = parsed.value();
  const Op source = graph.ops[0];
  Composer composer(graph);
  composer.begin(source);
  const std::vector<double> numbers{1, 0, 1};
  for (const DTypeRow& row : kDTypes) {
    if (row.kind == DTypeKind::none) continue;
    const ConstantData one = graph.values[composer.constant(1, row.dtype)].data;
    ASSERT_EQ(one.size(), static_cast<std::size_t>(byte_size(row.dtype))) << row.name;
    EXPECT_EQ(load_real(row.dtype, one.data(), 0), 1.0) << row.name;
    const ConstantData three = graph.values[composer.list(numbers, row.dtype, {3})].data;
    ASSERT_EQ(three.size(), static_cast<std::size_t>((3 * row.bits + 7) / 8)) << row.name;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_EQ(load_real(row.dtype, three.data(), static_cast<std::int64_t>(i)), numbers[i]) << row.name;
  }
}

TEST(Composer, CopiesWhatIsNotItsOwnToGive) {
  // An input, a constant, and a value that is an output already.
  const std::string text = R"(graph {
  %0 = input : f32[]
  %1, %2, %3, %4 = onednn.Thing (%0) : f32[], f32[], f32[], f32[]
})";
  EXPECT_EQ(composed(text,
                     [](Composer& make, const Op& op) {
                       const ValueId x = op.inputs[0];
                       make.give(0, make.reshape(make.cast(make.reduce("sum", x, {}), DType::f32), {}));
                       make.give(1, make.constant(1, DType::f32));
                       const ValueId root = make.map("sqrt", {x});
                       make.give(2, root);
                       make.give(3, root);
                     }),
            R"(graph {
  %0 = input : f32[]
  %6 = constant : f32[] property constant = [1]
  %1 = core.map (%0) {function = "identity", source_kind = "Thing"} : f32[]
  %2 = core.map #2 (%6) {function = "identity", source_kind = "Thing", source_id = 0} : f32[]
  %3 = core.map #3 (%0) {function = "sqrt", source_kind = "Thing", source_id = 0} : f32[]
  %4 = core.map #4 (%3) {function = "identity", source_kind = "Thing", source_id = 0} : f32[]
  output %1, %2, %3, %4
}
)");
}

TEST(Composer, ForgetsWhatIsDropped) {
  Graph graph = parse(kSource).value();
  const Graph before = graph;
  Composer make(graph);
  make.begin(before.ops[0]);
  make.give(0, make.widen(before.ops[0].inputs[0]));
  make.drop();
  EXPECT_TRUE(graph == before);
  make.begin(before.ops[0]);
  EXPECT_TRUE(make.finish().empty());
}

TEST(Composer, KnowsWhatAReshapeCanSay) {
  EXPECT_TRUE(Composer::is_expressible({2, kUnknownDim}));
  EXPECT_TRUE(Composer::is_expressible({2, 0}));
  EXPECT_FALSE(Composer::is_expressible({kUnknownDim, kUnknownDim}));
  EXPECT_FALSE(Composer::is_expressible({0, kUnknownDim})) << "any number is left for the open dim";
  EXPECT_FALSE(Composer::is_expressible(Dims(13, 1)));
}

}  // namespace
}  // namespace tenfold::graph

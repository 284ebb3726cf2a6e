// SPDX-License-Identifier: Apache-2.0
//
// Several steps in one program give what each gives alone, and share what is a row's.
#include "jit/stage/side_by_side.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "jit/function/functions.hpp"
#include "jit/lane/emit.hpp"
#include "lane_interpreter.hpp"

namespace tenfold::jit {
namespace {

constexpr std::size_t kLanes = 16;
using Lanes = std::array<float, kLanes>;

/// An element less a row's value, its exponential to an output, and that added to a set.
StageProgram step_of_softmax() {
  LaneBuilder builder;
  StageProgram made;
  made.inputs = {{StagePlace::Kind::operand, 0}, {StagePlace::Kind::saved, 0}, {StagePlace::Kind::set, 0}};
  const Lane e = scaled_exp_of_negative(builder.input(0, LaneType::f32) - builder.input(1, LaneType::f32));
  builder.result(e);
  builder.result(builder.input(2, LaneType::f32) + e);
  made.results = {{StagePlace::Kind::operand, 1}, {StagePlace::Kind::set, 0}};
  made.lanes = builder.finish();
  return made;
}

Lanes value_of(const StagePlace& place) {
  Lanes lanes{};
  for (std::size_t i = 0; i < kLanes; ++i)
    lanes[i] = place.kind == StagePlace::Kind::saved
                   ? 3.0F + static_cast<float>(place.step)
                   : 2.5F - 0.37F * static_cast<float>(i) - static_cast<float>(place.step);
  return lanes;
}

std::vector<Lanes> run(const StageProgram& program) {
  std::vector<Lanes> inputs, results(program.results.size());
  for (const StagePlace& place : program.inputs) inputs.push_back(value_of(place));
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Lanes& lanes : inputs) from.push_back(lanes.data());
  for (Lanes& lanes : results) to.push_back(lanes.data());
  interpret(program.lanes, kLanes, from, to);
  return results;
}

TEST(SideBySide, GivesWhatEachStepGives) {
  for (const int steps : {2, 4}) {
    const StageProgram one = step_of_softmax(), program = side_by_side(one, steps);
    const std::vector<Lanes> all = run(program);
    ASSERT_EQ(program.results.size(), static_cast<std::size_t>(steps) * one.results.size());
    for (int step = 0; step < steps; ++step) {
      StageProgram alone = one;
      for (StagePlace& place : alone.inputs) place.step = place.kind == StagePlace::Kind::saved ? 0 : step;
      const std::vector<Lanes> expected = run(alone);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(step) * expected.size() + i;
        EXPECT_EQ(program.results[at].step, step);
        EXPECT_EQ(program.results[at].kind, one.results[i].kind);
        EXPECT_EQ(all[at], expected[i]);
      }
    }
  }
}

TEST(SideBySide, ColumnsHaveTheirOwnValues) {
  const StageProgram one = step_of_softmax(), two = columns_side_by_side(one);
  EXPECT_EQ(std::ranges::count(two.inputs, StagePlace::Kind::saved, &StagePlace::kind), 2);
  const std::vector<Lanes> both = run(two);
  for (int step = 0; step < 2; ++step) {
    StageProgram alone = one;
    for (StagePlace& place : alone.inputs) place.step = step;
    const std::vector<Lanes> expected = run(alone);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(both[static_cast<std::size_t>(step) * expected.size() + i], expected[i]);
  }
}

TEST(SideBySide, SharesWhatIsARows) {
  const StageProgram one = step_of_softmax(), two = side_by_side(one);
  EXPECT_EQ(std::ranges::count(two.inputs, StagePlace::Kind::saved, &StagePlace::kind), 1);
  EXPECT_EQ(std::ranges::count(two.inputs, StagePlace::Kind::operand, &StagePlace::kind), 2);
  EXPECT_EQ(constants_by_use(one.lanes).size(), constants_by_use(two.lanes).size());
  const auto is_constant = [](const LaneNode& node) { return node.op == LaneOp::constant; };
  EXPECT_EQ(std::ranges::count_if(two.lanes.nodes, is_constant), std::ranges::count_if(one.lanes.nodes, is_constant));
}

TEST(SideBySide, SharesOperandsThatRepeat) {
  const StageProgram one = step_of_softmax();
  const StageProgram four = side_by_side(one, 4, [](int operand) { return operand == 0; });
  EXPECT_EQ(std::ranges::count(four.inputs, StagePlace::Kind::operand, &StagePlace::kind), 1);
  EXPECT_EQ(std::ranges::count(four.inputs, StagePlace::Kind::set, &StagePlace::kind), 4);
  EXPECT_EQ(four.results.size(), 8U);
}

/// x at both ends of a long chain and early in it: the last use alone is far from the one before.
TEST(SideBySide, ReadsInputsAgainMuchLater) {
  LaneBuilder builder;
  StageProgram one;
  one.inputs = {{StagePlace::Kind::operand, 0}};
  const Lane x = builder.input(0, LaneType::f32);
  Lane value = x * 0.5;
  for (int i = 0; i < 12; ++i) value = value * value + value * 0.25;
  builder.result((value + x) * x);
  one.results = {{StagePlace::Kind::operand, 1}};
  one.lanes = builder.finish();
  const StageProgram again = reading_again(one);
  const auto reads = [](const StageProgram& program) {
    return std::ranges::count(program.lanes.nodes, LaneOp::input, &LaneNode::op);
  };
  EXPECT_EQ(reads(one), 1);
  EXPECT_EQ(reads(again), 2);
  EXPECT_EQ(again.inputs, one.inputs);
  EXPECT_EQ(run(again), run(one));
  EXPECT_EQ(vectors_needed(one.lanes, {false}), 3);
  EXPECT_EQ(vectors_needed(again.lanes, {false}), 2);
  EXPECT_EQ(vectors_needed(side_by_side(one).lanes, {false, false}), 6);
  EXPECT_EQ(vectors_needed(side_by_side(again).lanes, std::vector<bool>(4, false)), 4);
}

/// Of four steps two at a time, each from the former's place.
TEST(SideBySide, JoinsPairsOfFourSteps) {
  LaneBuilder builder;
  StageProgram one;
  one.inputs = {{StagePlace::Kind::operand, 0}};
  const Lane x = builder.input(0, LaneType::f32);
  builder.result(canonical_nan(x * x));
  one.results = {{StagePlace::Kind::operand, 1}};
  one.lanes = builder.finish();
  const StageProgram four = with_joined_results(
      side_by_side(one, 4), [](int) { return true; }, [](int) { return false; });
  ASSERT_EQ(four.results.size(), 2U);
  for (int pair = 0; pair < 2; ++pair) {
    const auto at = static_cast<std::size_t>(pair);
    EXPECT_EQ(four.results[at].kind, StagePlace::Kind::joined);
    EXPECT_EQ(four.results[at].step, 2 * pair);
    const LaneNode& join = four.lanes.nodes[static_cast<std::size_t>(four.lanes.results[at])];
    for (int half = 0; half < 2; ++half) {
      const LaneNode& square = four.lanes.nodes[static_cast<std::size_t>(join.args[static_cast<std::size_t>(half)])];
      ASSERT_EQ(square.op, LaneOp::multiply);
      const LaneNode& input = four.lanes.nodes[static_cast<std::size_t>(square.args[0])];
      EXPECT_EQ(four.inputs[input.immediate].step, 2 * pair + half);
    }
  }
}

/// Two outputs, of which the second one's results are joined: they are not made canonical.
TEST(SideBySide, JoinsResultsOfTwoSteps) {
  LaneBuilder builder;
  StageProgram one;
  one.inputs = {{StagePlace::Kind::operand, 0}};
  const Lane x = builder.input(0, LaneType::f32);
  builder.result(canonical_nan(x * x));
  builder.result(canonical_nan(x + x));
  one.results = {{StagePlace::Kind::operand, 1}, {StagePlace::Kind::operand, 2}};
  one.lanes = builder.finish();
  const StageProgram two = with_joined_results(
      side_by_side(one), [](int operand) { return operand == 2; }, [](int) { return true; });
  ASSERT_EQ(two.results.size(), 3U);
  EXPECT_EQ(std::ranges::count(two.results, StagePlace::Kind::operand, &StagePlace::kind), 2);
  const auto joined = std::ranges::find(two.results, StagePlace::Kind::joined, &StagePlace::kind);
  ASSERT_NE(joined, two.results.end());
  EXPECT_EQ(joined->index, 2);
  EXPECT_EQ(std::ranges::count(two.lanes.nodes, LaneOp::select, &LaneNode::op), 2);
  const int node = two.lanes.results[static_cast<std::size_t>(joined - two.results.begin())];
  const LaneNode& join = two.lanes.nodes[static_cast<std::size_t>(node)];
  ASSERT_EQ(join.op, LaneOp::join_bf16);
  EXPECT_EQ(join.immediate, 0U) << "a sum is rounded";
  for (int step = 0; step < 2; ++step) {
    const LaneNode& sum = two.lanes.nodes[static_cast<std::size_t>(join.args[static_cast<std::size_t>(step)])];
    ASSERT_EQ(sum.op, LaneOp::add);
    const LaneNode& input = two.lanes.nodes[static_cast<std::size_t>(sum.args[0])];
    EXPECT_EQ(two.inputs[input.immediate].step, step);
  }
}

/// A number in place of NaNs is no canonical form, and nothing rounds a constant.
TEST(SideBySide, JoinsNumbersInPlaceOfNansAsTheyAre) {
  LaneBuilder builder;
  StageProgram one;
  one.inputs = {{StagePlace::Kind::operand, 0}};
  const Lane x = builder.input(0, LaneType::f32);
  builder.result(select(is_nan(x), 0.0, x));
  builder.result(canonical_nan(builder.constant(LaneType::f32, 3)));
  one.results = {{StagePlace::Kind::operand, 1}, {StagePlace::Kind::operand, 2}};
  one.lanes = builder.finish();
  const StageProgram two = with_joined_results(
      side_by_side(one), [](int) { return true; }, [](int) { return false; });
  EXPECT_EQ(std::ranges::count(two.results, StagePlace::Kind::joined, &StagePlace::kind), 1);
  const auto join = std::ranges::find(two.lanes.nodes, LaneOp::join_bf16, &LaneNode::op);
  ASSERT_NE(join, two.lanes.nodes.end());
  EXPECT_EQ(two.lanes.nodes[static_cast<std::size_t>(join->args[0])].op, LaneOp::select);
}

/// What was loaded as bf16, or chosen from such, is bf16 as it is.
TEST(SideBySide, KnowsWhatNeedsNoRounding) {
  const auto joined_as = [](const auto& of, bool is_bf16) {
    LaneBuilder builder;
    StageProgram one;
    one.inputs = {{StagePlace::Kind::operand, 0}, {StagePlace::Kind::operand, 1}};
    builder.result(canonical_nan(of(builder.input(0, LaneType::f32), builder.input(1, LaneType::f32))));
    one.results = {{StagePlace::Kind::operand, 2}};
    one.lanes = builder.finish();
    const StageProgram two = with_joined_results(
        side_by_side(one), [](int) { return true; }, [=](int operand) { return operand == 0 || is_bf16; });
    return std::ranges::find(two.lanes.nodes, LaneOp::join_bf16, &LaneNode::op)->immediate;
  };
  const auto larger = [](Lane x, Lane y) { return select(x < y, y, x); };
  EXPECT_EQ(joined_as(larger, true), kExactJoin);
  EXPECT_EQ(joined_as(larger, false), 0U);
  EXPECT_EQ(joined_as([](Lane x, Lane) { return x; }, false), kExactJoin);
  EXPECT_EQ(joined_as([](Lane x, Lane) { return abs(x); }, false), kExactJoin);
  EXPECT_EQ(joined_as([](Lane x, Lane) { return select(x < 0.5, 0.5, x); }, false), kExactJoin);
  EXPECT_EQ(joined_as([](Lane x, Lane) { return select(x < 0.5, 0.3, x); }, false), 0U) << "0.3 is no bf16";
  EXPECT_EQ(joined_as([](Lane x, Lane y) { return x * y; }, true), 0U);
}

}  // namespace
}  // namespace tenfold::jit

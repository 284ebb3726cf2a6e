// SPDX-License-Identifier: Apache-2.0
//
// The effort that the function table tells the cost model and the scheduler, against what a function's lanes are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "function_cases.hpp"

namespace tenfold::jit {
namespace {

using kernel::Effort;

/// An operation or a few; a polynomial takes more.
constexpr int kMostOfLight = 10;

struct Lanes {
  int operations = 0;
  bool divides = false;
};

Lanes lanes_of(const FunctionCase& c, DType dtype) {
  Lanes lanes;
  for (const LaneNode& node : program_of(c, dtype).nodes) {
    if (node.op == LaneOp::input || node.op == LaneOp::constant) continue;
    ++lanes.operations;
    lanes.divides = lanes.divides || node.op == LaneOp::divide || node.op == LaneOp::sqrt;
  }
  return lanes;
}

/// Of reals where there is a function of reals; of the constants that make it longest.
std::map<Function, Lanes> longest_lanes() {
  std::map<Function, Lanes> longest;
  for (const FunctionCase& c : all_cases()) {
    const Lanes lanes = lanes_of(c, has_function(c.function, DType::f32) ? DType::f32 : DType::s32);
    Lanes& most = longest[c.function];
    if (lanes.operations >= most.operations) most = lanes;
  }
  return longest;
}

TEST(Effort, IsWhatTheLanesTake) {
  for (const auto& [function, lanes] : longest_lanes()) {
    const kernel::FunctionRow& row = kernel::row(function);
    SCOPED_TRACE(std::string(row.name) + ": " + std::to_string(lanes.operations) + " operations" +
                 (lanes.divides ? ", a division among them" : ""));
    const Effort effort = lanes.operations > kMostOfLight ? Effort::polynomial
                          : lanes.divides                 ? Effort::division
                                                          : Effort::light;
    EXPECT_EQ(row.effort, effort);
  }
}

}  // namespace
}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// Which passes of columns go up the rows: none that sums, and of the others each beside one that goes down.
#include "jit/stage/pass_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::jit {
namespace {

using Order = std::vector<bool>;

Order order_of(const std::string& body, const std::string& out = "[4096, 1]") {
  const Result<kernel::KernelSpec> spec = kernel::parse(
      "kernel\nspace reduced 1024, kept 4096\nin x0 f32 [4096, 1]\nout y0 f32 " + out + "\n%0 = load x0\n" + body);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  schedule::Schedule schedule;
  schedule.nest = schedule::Nest::staged_columns;
  schedule.vector_level = 1;
  const Result<Stages> stages = find_stages(spec.value(), schedule);
  EXPECT_TRUE(stages.ok()) << stages.status().message();
  return find_backward_passes(stages.value());
}

constexpr bool kDown = false, kUp = true;

TEST(PassOrder, WhatStoresElementsGoesUpBehindAReduction) {
  EXPECT_EQ(order_of("%1 = reduce max %0\n%2 = sub %0 %1\nstore y0 %2\n"), (Order{kDown, kUp}));
  EXPECT_EQ(order_of("%1 = reduce sum %0\n%2 = sub %0 %1\nstore y0 %2\n"), (Order{kDown, kUp}));
}

TEST(PassOrder, SumsAndProductsGoDownAndTheirNeighboursUp) {
  EXPECT_EQ(order_of("%1 = reduce max %0\n%2 = sub %0 %1\n%3 = abs %2\n%4 = reduce sum %3\n%5 = div %3 %4\n"
                     "store y0 %5\n"),
            (Order{kUp, kDown, kUp}));
  EXPECT_EQ(order_of("%1 = reduce prod %0\n%2 = sub %0 %1\n%3 = abs %2\n%4 = reduce sum %3\n%5 = sub %3 %4\n"
                     "store y0 %5\n"),
            (Order{kDown, kDown, kUp}));
}

TEST(PassOrder, ExponentialsAreSummedAsTheirMaximumIsFound) {
  EXPECT_EQ(order_of("%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n%4 = reduce sum %3\n%5 = div %3 %4\n"
                     "store y0 %5\n"),
            (Order{kDown, kUp}));
}

TEST(PassOrder, ExtremesAloneTakeTurns) {
  EXPECT_EQ(order_of("%1 = reduce max %0\n%2 = sub %0 %1\n%3 = reduce min %2\n%4 = sub %2 %3\nstore y0 %4\n"),
            (Order{kDown, kUp, kDown}));
}

TEST(PassOrder, OnePassGoesDown) {
  EXPECT_EQ(order_of("%1 = reduce max %0\n%2 = reduce min %0\n%3 = sub %1 %2\nstore y0 %3\n", "[0, 1]"),
            (Order{kDown}));
}

}  // namespace
}  // namespace tenfold::jit

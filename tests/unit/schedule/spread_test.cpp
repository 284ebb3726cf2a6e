// SPDX-License-Identifier: Apache-2.0
//
// Which elementwise kernels take short rows as one.
#include "schedule/spread.hpp"

#include <gtest/gtest.h>

#include "specs.hpp"

namespace tenfold::schedule {
namespace {

KernelSpec sum_of(const std::string& space, const std::string& x, const std::string& y, const std::string& out,
                  const std::string& dtype = "f32") {
  const Result<KernelSpec> spec =
      kernel::parse("kernel\nspace " + space + "\nin x0 " + dtype + " " + x + "\nin x1 " + dtype + " " + y +
                    "\nout y0 " + dtype + " " + out + "\n%0 = load x0\n%1 = load x1\n%2 = add %0 %1\nstore y0 %2\n");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.value();
}

TEST(Spread, ShortRowsBesideWhatRepeatsAreJoined) {
  const std::string space = "kept 1000, kept 3";
  EXPECT_EQ(spread_width(sum_of(space, "[3, 1]", "[0, 1]", "[3, 1]")), 3) << "a row";
  EXPECT_EQ(spread_width(sum_of(space, "[3, 1]", "[1, 0]", "[3, 1]")), 3) << "an element of each row";
  EXPECT_EQ(spread_width(sum_of(space, "[3, 1]", "[7, 0]", "[3, 1]")), 3) << "with gaps";
  EXPECT_EQ(spread_width(sum_of(space, "[0, 1]", "[1, 0]", "[3, 1]")), 3) << "all of them";
  EXPECT_EQ(spread_width(sum_of(space, "[3, 1]", "[1, 1000]", "[3, 1]")), 0) << "the other way round";
  EXPECT_EQ(spread_width(sum_of(space, "[4, 1]", "[0, 1]", "[3, 1]")), 0) << "gaps between rows";
  EXPECT_EQ(spread_width(sum_of(space, "[3, 1]", "[0, 1]", "[4, 1]")), 0) << "gaps between rows that are stored";
  EXPECT_EQ(spread_width(sum_of(space, "[3, 1]", "[3, 1]", "[3, 1]")), 0) << "nothing repeats";
  EXPECT_EQ(spread_width(sum_of("kept 31, kept 3", "[3, 1]", "[0, 1]", "[3, 1]")), 0) << "few rows";
  EXPECT_EQ(spread_width(sum_of("kept 1000, kept 127", "[127, 1]", "[0, 1]", "[127, 1]")), 127);
  EXPECT_EQ(spread_width(sum_of("kept 1000, kept 128", "[128, 1]", "[0, 1]", "[128, 1]")), 0) << "long rows";
  EXPECT_EQ(spread_width(sum_of("kept 1000, kept 64", "[64, 1]", "[0, 1]", "[64, 1]")), 64);
  EXPECT_EQ(spread_width(sum_of("kept 1000, kept 64", "[64, 1]", "[1, 0]", "[64, 1]")), 0) << "whole steps";
}

TEST(Spread, PartsAreWholeRowsAndWholeSteps) {
  for (const int width : {2, 3, 7, 16, 31, 100, 127}) {
    const std::string row = std::to_string(width);
    const KernelSpec spec = sum_of("kept 100000, kept " + row, "[" + row + ", 1]", "[0, 1]", "[" + row + ", 1]");
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 4));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    EXPECT_EQ(schedule.width, width);
    EXPECT_EQ(schedule.columns % width, 0);
    EXPECT_EQ(schedule.columns % 16, 0);
    EXPECT_EQ(parse(print(schedule)).value(), schedule);
    EXPECT_EQ(schedule.tile.level, 0);
    EXPECT_EQ(schedule.tile.grain % 64, 0) << "tasks begin with lines";
    Schedule broken = schedule;
    broken.columns += width;
    EXPECT_FALSE(check(spec, broken).ok());
    broken = schedule;
    broken.width = 0;
    EXPECT_FALSE(check(spec, broken).ok());
    broken = schedule;
    broken.tile = {1, 1};
    EXPECT_FALSE(check(spec, broken).ok());
  }
}

TEST(Spread, WhatIsMovedIsCountedOnce) {
  const KernelSpec spec = sum_of("kept 4, kept 1000, kept 3", "[3000, 3, 1]", "[0, 0, 1]", "[3000, 3, 1]");
  const KernelSpec in_line = joined(spec);
  EXPECT_EQ(in_line.levels, (std::vector<kernel::Level>{{4, false}, {3000, false}}));
  EXPECT_EQ(in_line.inputs[0].strides, (std::vector<std::int64_t>{3000, 1}));
  EXPECT_EQ(in_line.inputs[1].strides, (std::vector<std::int64_t>{0, 0}));
}

}  // namespace
}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
//
// Which nest bodies that go by the order of a line get: lanes across lines, or across lines that are turned.
#include "schedule/ordered.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/schedule/specs.hpp"

namespace tenfold::schedule {
namespace {

/// `places` 0: a scan.
KernelSpec ordered(const std::string& dtype, const std::string& space, const std::string& strides, int places,
                   const std::string& how = "") {
  const std::string out = places == 0 ? strides : space.starts_with("kept") ? "[8, 0]" : "[0, 1]";
  std::string text = "kernel\nspace " + space + "\nin x0 " + dtype + " " + strides + "\n", body = "%0 = load x0\n";
  for (int i = 0; i < std::max(1, places); ++i) text += "out y" + std::to_string(i) + " " + dtype + " " + out + "\n";
  if (places == 0) body += "%1 = scan " + how + "%0\nstore y0 %1\n";
  for (int i = 0; i < places; ++i) body += "%" + std::to_string(i + 1) + " = rank max " + std::to_string(i) + " %0\n";
  for (int i = 0; i < places; ++i) body += "store y" + std::to_string(i) + " %" + std::to_string(i + 1) + "\n";
  const Result<KernelSpec> spec = kernel::parse(text + body);
  EXPECT_TRUE(spec.ok()) << spec.status().message() << text << body;
  return spec.value();
}

std::string chosen(const KernelSpec& spec, target::Isa isa = target::Isa::avx2) {
  const Schedule schedule = choose(spec, machine(isa, 1));
  EXPECT_TRUE(check(spec, schedule).ok()) << check(spec, schedule).message();
  return print(schedule);
}

TEST(Ordered, LanesRunAlongNeighboursOrAcrossLines) {
  EXPECT_EQ(chosen(ordered("f32", "reduced 100, kept 300", "[300, 1]", 0)),
            "avx2 staged_columns level=1 rows=4 columns=2048 tile=1:128");
  // A piece of 128 of 1000 elements would leave 104: 125 leave none.
  EXPECT_EQ(chosen(ordered("f32", "kept 300, reduced 1000", "[1000, 1]", 0, "reverse ")),
            "avx2 staged_columns level=0 rows=4 ahead=1 columns=16 width=125 tile=0:80");
  EXPECT_EQ(chosen(ordered("f64", "kept 300, reduced 64", "[64, 1]", 0, "reverse ")),
            "avx2 staged_columns level=0 rows=4 columns=16 width=64 tile=0:80");
  EXPECT_EQ(chosen(ordered("f32", "kept 300, reduced 100", "[200, 2]", 0)),
            "avx2 staged_columns level=0 rows=4 columns=2048 tile=0:128")
      << "elements apart are not turned";
}

/// From their first element on, where a line fills vectors, and has its elements side by side.
TEST(Ordered, SumsHaveLanesAlongTheirLines) {
  EXPECT_EQ(chosen(ordered("f32", "kept 300, reduced 1000", "[1000, 1]", 0)),
            "avx2 staged_rows level=1 unroll=1 tile=0:75");
  EXPECT_EQ(chosen(ordered("f32", "kept 300, reduced 32", "[32, 1]", 0, "exclusive ")),
            "avx2 staged_rows level=1 unroll=1 tile=0:256");
  const auto in_lanes = [](const char* dtype, const char* space, const char* strides, int places,
                           const char* how = "") {
    return scans_in_lanes(ordered(dtype, space, strides, places, how));
  };
  EXPECT_TRUE(in_lanes("f64", "kept 300, reduced 16", "[16, 1]", 0));
  EXPECT_FALSE(in_lanes("f64", "kept 300, reduced 15", "[15, 1]", 0)) << "too short";
  EXPECT_FALSE(in_lanes("s32", "kept 300, reduced 31", "[31, 1]", 0)) << "too short";
  EXPECT_FALSE(in_lanes("f32", "kept 300, reduced 100", "[100, 1]", 0, "reverse "));
  EXPECT_FALSE(in_lanes("f32", "kept 300, reduced 100", "[200, 2]", 0)) << "elements apart";
  EXPECT_FALSE(in_lanes("f32", "reduced 100, kept 300", "[300, 1]", 0)) << "lines apart";
  EXPECT_FALSE(in_lanes("f32", "kept 300, reduced 100", "[100, 1]", 2)) << "places, not sums";
}

TEST(Ordered, LinesInLanesTakeAStepAtATime) {
  const KernelSpec spec = ordered("f32", "kept 300, reduced 1000", "[1000, 1]", 0);
  Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
  schedule.unroll = 2;
  EXPECT_FALSE(check(spec, schedule).ok()) << "a second set would not know what is before it";
  const Result<Schedule> across = parse("avx2 staged_columns level=0 rows=4 columns=16 width=125");
  ASSERT_TRUE(across.ok());
  EXPECT_FALSE(check(spec, across.value()).ok()) << "other bits";
}

TEST(Ordered, LongLinesAskWhoEnters) {
  const auto skips = [](int lines, int extent, int places, target::Isa isa) {
    const std::string space = "kept " + std::to_string(lines) + ", reduced " + std::to_string(extent);
    return choose(ordered("f32", space, "[" + std::to_string(extent) + ", 1]", places), machine(isa, 1)).skips;
  };
  EXPECT_FALSE(skips(64, 1000, 5, target::Isa::avx2)) << "of 16 lanes some element nearly always enters";
  EXPECT_TRUE(skips(64, 1280, 5, target::Isa::avx2));
  EXPECT_TRUE(skips(64, 1280, 5, target::Isa::avx512_core));
  EXPECT_TRUE(skips(2, 500, 5, target::Isa::avx2));
  EXPECT_FALSE(skips(64, 100000, 2, target::Isa::avx2)) << "two places cost no more than to ask";
}

/// What rows of a sweep share is not worth what AVX-512's steps that are left out would cost.
TEST(Ordered, ManyPlacesTakeRowsOneByOne) {
  const KernelSpec many = ordered("f32", "kept 64, reduced 4096", "[4096, 1]", 8);
  EXPECT_EQ(choose(many, machine(target::Isa::avx512_core, 1)).rows_at_once, 1);
  EXPECT_EQ(choose(many, machine(target::Isa::avx2, 1)).rows_at_once, 4);
}

TEST(Ordered, WhatHasNoPlacesSkipsNothing) {
  const KernelSpec scan = ordered("f32", "kept 300, reduced 64", "[64, 1]", 0, "reverse ");
  Schedule schedule = choose(scan, machine(target::Isa::avx2, 1));
  schedule.skips = true;
  EXPECT_EQ(check(scan, schedule).message(), "schedule: no step can be left out");
}

TEST(Ordered, LinesMakeTasks) {
  const Schedule rows =
      choose(ordered("f32", "kept 4096, reduced 1000", "[1000, 1]", 3), machine(target::Isa::avx2, 2));
  EXPECT_EQ(rows.tile.level, 0);
  EXPECT_EQ(rows.tile.grain % rows.columns, 0) << "whole tiles";
  EXPECT_LE(rows.tile.grain, 1024);
  const Schedule columns =
      choose(ordered("f32", "reduced 1000, kept 4096", "[4096, 1]", 3), machine(target::Isa::avx2, 2));
  EXPECT_EQ(columns.tile.level, 1);
  EXPECT_EQ(columns.tile.grain % 64, 0);
  // 49 columns are no whole lines; 32 blocks of them are.
  const Schedule blocks =
      choose(ordered("f32", "kept 32, reduced 1000, kept 49", "[49000, 49, 1]", 0), machine(target::Isa::avx2, 2));
  EXPECT_EQ(blocks.tile.level, 0);
}

}  // namespace
}  // namespace tenfold::schedule

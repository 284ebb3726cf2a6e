// SPDX-License-Identifier: Apache-2.0
//
// Which indices of columns remember sweeps, and search their rows in the end (Schedule::searches).
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/neighbours.hpp"
#include "schedule/schedule.hpp"
#include "specs.hpp"

namespace tenfold::schedule {
namespace {

/// With 512 KiB of L2, 256 Ki f32 of which are all it has.
std::string chosen(const std::string& dtype, int rows, int row) {
  const KernelSpec spec = index_of_columns(dtype, rows, row);
  target::Target target = machine(target::Isa::avx2, 1);
  target.l2_bytes = 512 << 10;
  const Schedule schedule = choose(spec, target);
  EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
  return print(schedule);
}

bool searches(const std::string& dtype, int rows, int row) {
  return chosen(dtype, rows, row).find(" searches=1") != std::string::npos;
}

TEST(Searches, TallTilesInL2) {
  EXPECT_EQ(chosen("f32", 512, 64), "avx2 columns level=1 rows=8 searches=1 columns=4096");
  EXPECT_FALSE(searches("f32", 511, 64));
  EXPECT_TRUE(searches("f32", 512, 256));
  EXPECT_FALSE(searches("f32", 513, 256)) << "more than L2 has";
  EXPECT_TRUE(searches("f32", 8192, 256)) << "so many rows that it does not matter";
  EXPECT_TRUE(searches("bf16", 1024, 256));
  EXPECT_FALSE(searches("bf16", 1023, 256)) << "keys come cheaper row by row";
}

TEST(Searches, NarrowColumnsInManyGroups) {
  EXPECT_EQ(chosen("s8", 32768, 8), "avx2 columns level=1 rows=8 searches=1 columns=256 width=8");
  EXPECT_FALSE(searches("s8", 32767, 8)) << "one less than 1024 groups of 32 rows";
  EXPECT_EQ(chosen("bf16", 1 << 20, 13), "avx2 columns level=1 rows=8 searches=1 columns=208 width=13");
  EXPECT_EQ(chosen("f32", 1 << 16, 16), "avx2 columns level=1 rows=8 searches=1 columns=64 width=16")
      << "whole vector steps";
}

TEST(Searches, NotBeyondL2WhereAVX512TakesStepsAsFast) {
  const auto searches = [](const char* dtype, int rows, target::Isa isa) {
    target::Target target = machine(isa, 1);
    target.l2_bytes = 512 << 10;
    const KernelSpec spec = index_of_columns(dtype, rows, 5);
    const Schedule schedule = choose(spec, target);
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.searches;
  };
  EXPECT_TRUE(searches("f32", 26214, target::Isa::avx512_core)) << "L2 has them";
  EXPECT_FALSE(searches("f32", 26215, target::Isa::avx512_core));
  EXPECT_TRUE(searches("f32", 26215, target::Isa::avx2));
  EXPECT_TRUE(searches("bf16", 1 << 20, target::Isa::avx512_core)) << "keys";
}

TEST(Searches, NothingButTheFirstOfEqualsOfOneTensor) {
  for (const char* dtype : {"u32", "s64", "u64"}) EXPECT_FALSE(searches(dtype, 4096, 8)) << dtype;
  const auto made = [](const std::string& space, const std::string& strides, const std::string& reduce) {
    const Result<KernelSpec> spec = kernel::parse("kernel\nspace " + space + "\nin x0 f32 " + strides +
                                                  "\nout y0 s64 " + (space[0] == 'k' ? "[64, 0, 1]" : "[0, 1]") +
                                                  "\n%0 = load x0\n%1 = " + reduce + " %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return choose(spec.value(), machine(target::Isa::avx2, 1)).searches;
  };
  EXPECT_TRUE(made("reduced 1024, kept 64", "[64, 1]", "reduce argmax"));
  EXPECT_FALSE(made("reduced 1024, kept 64", "[64, 1]", "reduce argmax last"));
  EXPECT_FALSE(made("reduced 1024, kept 64", "[128, 2]", "reduce argmax")) << "elements apart";
  EXPECT_TRUE(made("kept 16, reduced 2048, kept 64", "[131072, 64, 1]", "reduce argmax")) << "blocks that L2 has each";
}

TEST(Searches, AreVariedByTheTuner) {
  const KernelSpec spec = index_of_columns("f32", 512, 64);
  const Schedule searched = choose(spec, machine(target::Isa::avx2, 1));
  ASSERT_TRUE(searched.searches);
  const std::vector<Schedule> others = neighbours(spec, searched);
  EXPECT_TRUE(std::ranges::any_of(others, [](const Schedule& s) { return !s.searches && s.rows_at_once == 4; }));
  EXPECT_FALSE(std::ranges::any_of(others, [](const Schedule& s) { return !s.searches && s.rows_at_once == 8; }));
  const KernelSpec narrow = index_of_columns("s8", 1 << 17, 8);
  const Schedule groups = choose(narrow, machine(target::Isa::avx2, 1));
  ASSERT_TRUE(groups.searches);
  EXPECT_TRUE(std::ranges::any_of(neighbours(narrow, groups), [](const Schedule& s) { return !s.searches; }));
}

TEST(Searches, AreLegalOnlyInSweepsOfOneLevel) {
  const KernelSpec index = index_of_columns("f32", 512, 64), narrow = index_of_columns("f32", 512, 8);
  const auto is_legal = [](const KernelSpec& spec, const std::string& schedule) {
    return check(spec, parse("avx2 columns level=1 " + schedule).value()).ok();
  };
  EXPECT_TRUE(is_legal(index, "rows=8 searches=1 columns=64"));
  EXPECT_TRUE(is_legal(index, "rows=4 searches=1 columns=64"));
  EXPECT_FALSE(is_legal(index, "rows=2 searches=1 columns=64"));
  EXPECT_FALSE(is_legal(index, "rows=8 columns=64")) << "eight rows have numbers of their own only there";
  EXPECT_FALSE(is_legal(narrow, "rows=4 searches=1 columns=16 width=8")) << "steps in registers";
  const KernelSpec max = spec_of("max", "f32", "reduced 512, kept 64", "[64, 1]", "[0, 1]");
  EXPECT_FALSE(is_legal(max, "rows=8 searches=1 columns=64"));
}

}  // namespace
}  // namespace tenfold::schedule

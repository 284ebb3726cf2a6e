// SPDX-License-Identifier: Apache-2.0
//
// What the heuristic chooses where what is beyond L2 is far away (target::L3::far).
#include <gtest/gtest.h>

#include "schedule/schedule.hpp"
#include "specs.hpp"

namespace tenfold::schedule {
namespace {

target::Target xeon(target::Isa isa = target::Isa::avx2) {
  target::Target target = machine(isa, 1);
  target.l1_bytes = 48 << 10;
  target.l2_bytes = 2 << 20;
  target.l3_bytes = 260 << 20;
  target.l3 = target::L3::far;
  return target;
}

target::Target near() {
  target::Target target = xeon();
  target.l3 = target::L3::near;
  return target;
}

Schedule chosen(const KernelSpec& spec, const target::Target& target) {
  const Schedule schedule = choose(spec, target);
  EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
  return schedule;
}

KernelSpec max_of_columns(const std::string& dtype, int rows, int row) {
  return spec_of("max", dtype, columns_of(rows, row), "[" + std::to_string(row) + ", 1]", "[0, 1]");
}

TEST(FarCache, TilesOfIndicesDoNotAskAheadInL3) {
  const target::Target avx512 = xeon(target::Isa::avx512_core);
  const auto asks = [](const std::string& dtype, int rows, const target::Target& target) {
    return chosen(index_of_columns(dtype, rows, 1024), target).ahead;
  };
  EXPECT_TRUE(asks("f32", 511, xeon())) << "L2 has them";
  EXPECT_FALSE(asks("f32", 512, xeon())) << "sweeps that are searched";
  EXPECT_FALSE(asks("bf16", 511, xeon())) << "keys";
  EXPECT_FALSE(asks("f32", 513, xeon()));
  EXPECT_FALSE(asks("f32", 8192, xeon())) << "all that a process counts on of L3";
  EXPECT_TRUE(asks("f32", 8193, xeon()));
  EXPECT_FALSE(asks("f64", 1024, xeon()));
  EXPECT_TRUE(asks("s32", 1024, xeon()));
  EXPECT_FALSE(asks("s32", 1024, avx512));
  EXPECT_TRUE(asks("bf16", 2048, xeon())) << "keys";
  EXPECT_TRUE(asks("f32", 2049, near())) << "from a quarter on";
}

TEST(FarCache, FewLongRowsOfMemoryAskAheadWithAvx2) {
  const auto asks = [](const std::string& dtype, int row, const target::Target& target) {
    return chosen(max_of_columns(dtype, 3, row), target).ahead;
  };
  EXPECT_TRUE(asks("f32", 3 << 20, xeon()));
  EXPECT_TRUE(asks("bf16", 6 << 20, xeon()));
  EXPECT_FALSE(asks("f32", 2 << 20, xeon())) << "L3 has them";
  EXPECT_FALSE(asks("s8", 12 << 20, xeon())) << "bytes";
  EXPECT_FALSE(asks("f32", 3 << 20, xeon(target::Isa::avx512_core)));
  EXPECT_FALSE(asks("f32", 3 << 20, near()));
  EXPECT_TRUE(chosen(index_of_columns("f32", 2, 8 << 20), xeon()).ahead);
}

TEST(FarCache, ShortRowsOfCellsAndWithGapsAskAheadInL2) {
  const auto cells = [](const std::string& monoid, int blocks, int count, int cell, const target::Target& target) {
    const std::string inner = std::to_string(cell), block = std::to_string(count * cell);
    return chosen(spec_of(monoid, "f32",
                          "kept " + std::to_string(blocks) + ", reduced " + std::to_string(count) + ", kept " + inner,
                          "[" + block + ", " + inner + ", 1]", "[" + inner + ", 0, 1]"),
                  target)
        .ahead;
  };
  EXPECT_TRUE(cells("max", 4096, 7, 2, xeon()));
  EXPECT_TRUE(cells("sum", 2000, 10, 4, xeon()));
  EXPECT_TRUE(cells("sum", 1 << 20, 10, 4, xeon()));
  EXPECT_FALSE(cells("sum", 2000, 11, 4, xeon())) << "rows long enough to be seen coming";
  EXPECT_FALSE(cells("max", 100, 7, 2, xeon())) << "L1 has them";
  EXPECT_TRUE(cells("max", 4096, 7, 2, near())) << "words do on other machines";
  EXPECT_FALSE(cells("sum", 1 << 20, 10, 4, near())) << "in L2 alone";
  const auto gaps = [](const std::string& dtype, int pitch, int rows = 4096) {
    return chosen(spec_of("max", dtype, "kept " + std::to_string(rows) + ", reduced 13",
                          "[" + std::to_string(pitch) + ", 1]", "[1, 0]"),
                  xeon())
        .ahead;
  };
  EXPECT_TRUE(gaps("f32", 20));
  EXPECT_FALSE(gaps("f32", 20, 1 << 16)) << "gaps beyond L2 take longer than rows";
  EXPECT_FALSE(gaps("f32", 13)) << "no gap";
  EXPECT_FALSE(gaps("f32", 48));
  EXPECT_FALSE(gaps("bf16", 20)) << "narrow elements wait for their arithmetic";
}

TEST(FarCache, RowsThatAreOnlyReadTakeTurnsBeyondTheCaches) {
  const auto log_sum_exp = [](int rows, int row, const target::Target& target) {
    return chosen(staged_spec("kept " + std::to_string(rows) + ", reduced " + std::to_string(row),
                              "[" + std::to_string(row) + ", 1]", "[1, 0]",
                              "%3 = sub %0 %2\n%4 = exp %3\n%5 = reduce sum %4\n%6 = log %5\n%7 = add %6 %2\n"
                              "store y0 %7\n"),
                  target)
        .rows_at_once;
  };
  EXPECT_EQ(log_sum_exp(4096, 1024, xeon()), 4);
  EXPECT_EQ(log_sum_exp(4096, 1024, near()), 1);
  EXPECT_EQ(log_sum_exp(1024, 4096, xeon()), 1) << "too long";
}

}  // namespace
}  // namespace tenfold::schedule

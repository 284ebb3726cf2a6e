// SPDX-License-Identifier: Apache-2.0
//
// What the heuristic chooses where what is beyond L2 is late (target::L3::late).
#include <gtest/gtest.h>

#include "schedule/schedule.hpp"
#include "specs.hpp"

namespace tenfold::schedule {
namespace {

target::Target zen3() { return machine_of_kind(target::L3::late, 512 << 10); }

std::string levels_of(const std::string& outer, int rows, const std::string& inner, int columns) {
  return outer + " " + std::to_string(rows) + ", " + inner + " " + std::to_string(columns);
}
std::string strides_of(int columns) { return "[" + std::to_string(columns) + ", 1]"; }

std::string chosen_rows(const target::Target& target, int rows, int columns, const std::string& rest,
                        const std::string& out) {
  const KernelSpec spec = staged_spec(levels_of("kept", rows, "reduced", columns), strides_of(columns), out, rest);
  const Schedule schedule = choose(spec, target);
  EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
  return print(schedule);
}

TEST(LateCache, RowsThatAreWrittenAskForTheNextOneAndGoAroundFromThreeQuartersOn) {
  const auto chosen = [](int rows, int columns) {
    return chosen_rows(zen3(), rows, columns, "%3 = sub %0 %2\nstore y0 %3\n", strides_of(columns));
  };
  const std::string rows = "avx2 staged_rows level=1 unroll=2 ";
  EXPECT_EQ(chosen(1024, 1024), rows + "rows=2 tile=0:256") << "near enough";
  EXPECT_EQ(chosen(1500, 1024), rows + "ahead=1 tile=0:375");
  EXPECT_EQ(chosen(3071, 1024), rows + "ahead=1 tile=0:768");
  EXPECT_EQ(chosen(3072, 1024), rows + "ahead=1 early=1 around=1 tile=0:768");
  EXPECT_EQ(chosen(8192, 512), rows + "rows=2 ahead=1 early=1 around=1 tile=0:2048");
  EXPECT_EQ(chosen(1024, 4096), rows + "ahead=1 around=1 tile=0:256") << "rows that are long enough";
  EXPECT_EQ(chosen(8192, 1024), rows + "ahead=1 around=1 runs=1 tile=0:2048") << "from memory";
  target::Target zen4 = zen3();
  zen4.l3 = target::L3::near;
  EXPECT_EQ(chosen_rows(zen4, 3071, 1024, "%3 = sub %0 %2\nstore y0 %3\n", "[1024, 1]"), rows + "tile=0:768");
}

TEST(LateCache, DearRowsThatAreKeptGoAroundAsWell) {
  const auto chosen = [](int rows, int columns) {
    return chosen_rows(zen3(), rows, columns,
                       "%3 = sub %0 %2\n%4 = exp %3\n%5 = reduce sum %4\n%6 = div %4 %5\nstore y0 %6\n",
                       strides_of(columns));
  };
  const std::string rows = "avx2 staged_rows level=1 unroll=2 ";
  EXPECT_EQ(chosen(3072, 1024), rows + "ahead=1 early=1 around=1 keep=16384 tile=0:768");
  EXPECT_EQ(chosen(2048, 1024), rows + "ahead=1 keep=16384 tile=0:512");
  EXPECT_EQ(chosen(16384, 1024), rows + "ahead=1 early=1 around=1 keep=16384 tile=0:4096") << "from memory";
}

TEST(LateCache, FourRowsThatAreButReadTakeTurns) {
  const std::string log_sum_exp = "%3 = sub %0 %2\n%4 = exp %3\n%5 = reduce sum %4\n%6 = log %5\nstore y0 %6\n";
  EXPECT_EQ(chosen_rows(zen3(), 4096, 1024, log_sum_exp, "[1, 0]"),
            "avx2 staged_rows level=1 unroll=2 rows=4 ahead=1 keep=16384 tile=0:1024");
}

TEST(LateCache, OnePassAsksWithinTheLastCache) {
  const auto asks = [](int rows, int columns, int inputs) {
    const std::string strides = strides_of(columns);
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace " + levels_of("kept", rows, "reduced", columns) + "\nin x0 f32 " + strides +
                      (inputs == 2 ? "\nin x1 f32 " + strides : "") + "\nout y0 f32 [1, 0]\n%0 = load x0\n%1 = " +
                      (inputs == 2 ? "load x1\n%2 = max %0 %1" : "abs %0\n%2 = mul %1 %1") +
                      "\n%3 = reduce max %2\n%4 = reduce sum %2\n%5 = add %3 %4\nstore y0 %5\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    const Schedule schedule = choose(spec.value(), zen3());
    EXPECT_EQ(schedule.nest, Nest::staged_rows);
    EXPECT_TRUE(check(spec.value(), schedule).ok()) << print(schedule);
    return schedule.runs ? std::string("runs") : schedule.ahead ? "next" : "";
  };
  EXPECT_EQ(asks(4096, 1024, 1), "next");
  EXPECT_EQ(asks(4096, 1024, 2), "next");
  EXPECT_EQ(asks(1024, 1024, 1), "");
  EXPECT_EQ(asks(8192, 1024, 2), "") << "from memory, in two streams";
  EXPECT_EQ(asks(8192, 1024, 1), "runs");
  EXPECT_EQ(asks(65536, 256, 1), "") << "short rows";
}

TEST(LateCache, OneRowOfWhatIsExactIsFourRuns) {
  const auto runs = [](const char* monoid, const char* dtype, int extent) {
    const KernelSpec spec = spec_of(monoid, dtype, "reduced " + std::to_string(extent), "[1]", "[0]");
    const Schedule schedule = choose(spec, zen3());
    EXPECT_TRUE(check(spec, schedule).ok());
    return schedule.rows_at_once;
  };
  EXPECT_EQ(runs("max", "f32", 2 << 20), 4);
  EXPECT_EQ(runs("max", "s32", 2 << 20), 4);
  EXPECT_EQ(runs("max", "f32", 1 << 20), 1);
  EXPECT_EQ(runs("sum", "f32", 2 << 20), 1) << "runs decide bits";
}

TEST(LateCache, RowsComeFourAtATimeWhereItIsNearlyFull) {
  const auto chosen = [](const char* monoid, const char* dtype, int rows) {
    const KernelSpec spec = spec_of(monoid, dtype, levels_of("kept", rows, "reduced", 1024), "[1024, 1]", "[1, 0]");
    const Schedule schedule = choose(spec, zen3());
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return std::string(schedule.ahead ? "in turns, " : "") + std::to_string(schedule.rows_at_once);
  };
  EXPECT_EQ(chosen("sum", "f32", 4096), "in turns, 4");
  EXPECT_EQ(chosen("sum", "f32", 3072), "1") << "near enough";
  EXPECT_EQ(chosen("max", "f32", 4608), "2") << "a step of each";
  EXPECT_EQ(chosen("max", "f32", 4609), "in turns, 4");
  EXPECT_EQ(chosen("max", "s32", 4096), "4") << "a step of each";
  EXPECT_EQ(chosen("max", "s32", 3072), "2");
}

TEST(LateCache, ColumnsComeInTilesOfFourPages) {
  const auto columns = [](const char* monoid, int rows, int extent) {
    return choose(spec_of(monoid, "f32", levels_of("reduced", rows, "kept", extent), strides_of(extent), "[0, 1]"),
                  zen3())
        .columns;
  };
  EXPECT_EQ(columns("sum", 1024, 4096), 4096);
  EXPECT_EQ(columns("sum", 1024, 2048), 2048);
  EXPECT_EQ(columns("max", 1024, 4096), 4096);
}

TEST(LateCache, RowsOfTwoPagesOrOfACacheThatIsNearlyFullComeEightAtATime) {
  const auto rows = [](const char* dtype, int count, int extent) {
    return choose(spec_of("max", dtype, levels_of("reduced", count, "kept", extent), strides_of(extent), "[0, 1]"),
                  zen3())
        .rows_at_once;
  };
  EXPECT_EQ(rows("f32", 1024, 1048), 8);
  EXPECT_EQ(rows("bf16", 1024, 3000), 8);
  EXPECT_EQ(rows("s64", 1024, 1024), 8);
  EXPECT_EQ(rows("s8", 1024, 1024), 4);
  EXPECT_EQ(rows("s32", 3072, 1024), 2) << "just three eighths";
  EXPECT_EQ(rows("s32", 3073, 1024), 8);
  EXPECT_EQ(rows("f32", 3072, 1024), 4);
  EXPECT_EQ(rows("f32", 3073, 1024), 8);
}

TEST(LateCache, OutputsOfColumnsKeepWhatIsExpensive) {
  const auto chosen = [](const target::Target& target, int rows, int columns) {
    const KernelSpec spec =
        staged_spec(levels_of("reduced", rows, "kept", columns), strides_of(columns), strides_of(columns),
                    "%3 = sub %0 %2\n%4 = exp %3\n%5 = reduce sum %4\n%6 = div %4 %5\nstore y0 %6\n");
    return print(choose(spec, target));
  };
  std::string columns = "avx2 staged_columns level=1 rows=4 ";
  EXPECT_EQ(chosen(zen3(), 100, 40000), columns + "columns=1024") << "near enough";
  EXPECT_EQ(chosen(zen3(), 1024, 4096), columns + "serpentine=1 columns=1024") << "just the last cache";
  EXPECT_EQ(chosen(zen3(), 2048, 4096), columns + "ahead=1 around=1 serpentine=1 keep=2048 part=256 columns=1024");
  target::Target zen4 = zen3();
  zen4.l3 = target::L3::near;
  columns = "avx2 staged_columns level=1 rows=8 ";
  EXPECT_EQ(chosen(zen4, 100, 26000), columns + "keep=512 part=1024 columns=1024");
  EXPECT_EQ(chosen(zen4, 100, 40000), columns + "ahead=1 around=1 keep=512 part=1024 columns=1024");
  EXPECT_EQ(chosen(zen4, 1024, 4096), columns + "ahead=1 around=1 serpentine=1 keep=1024 part=512 columns=1024");
}

TEST(LateCache, TilesThatComputeLongAskForTheNextOne) {
  const auto chosen = [](const std::string& space, const std::string& in, const std::string& out) {
    const KernelSpec spec =
        staged_spec(space, in, out, "%3 = sub %0 %2\n%4 = exp %3\n%5 = reduce sum %4\nstore y0 %5\n");
    return print(choose(spec, zen3()));
  };
  const std::string columns = "avx2 staged_columns level=2 rows=4 ";
  EXPECT_EQ(chosen("kept 2, reduced 64, kept 1024", "[65536, 1024, 1]", "[1024, 0, 1]"),
            columns + "columns=256 tile=0:1");
  EXPECT_EQ(chosen("kept 4, reduced 64, kept 1024", "[65536, 1024, 1]", "[1024, 0, 1]"),
            columns + "ahead=1 columns=256 tile=0:1");
}

/// Columns whose last pass computes exponentials again: a softmax of powers.
TEST(LateCache, PowersGoAroundFromThreeQuartersOn) {
  const auto around = [](const target::Target& target, int rows) {
    const Result<KernelSpec> spec = kernel::parse("kernel\nspace reduced " + std::to_string(rows) +
                                                  ", kept 4096\nin x0 f32 [4096, 1]\nout y0 f32 [4096, 1]\n"
                                                  "%0 = load x0\n%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n"
                                                  "%4 = reduce sum %3\n%5 = div %3 %4\nstore y0 %5\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return choose(spec.value(), target).around;
  };
  EXPECT_FALSE(around(zen3(), 767));
  EXPECT_TRUE(around(zen3(), 768));
  target::Target others = zen3();
  others.l3 = target::L3::near;
  EXPECT_FALSE(around(others, 1023));
  EXPECT_TRUE(around(others, 1024));
  others.l3 = target::L3::fast;
  EXPECT_FALSE(around(others, 960));
  EXPECT_TRUE(around(others, 961));
}

TEST(LateCache, ColumnsThatAreButReadAskFromHalfOfItOn) {
  const auto chosen = [](int rows, int columns, const std::string& rest) {
    const KernelSpec spec =
        staged_spec(levels_of("reduced", rows, "kept", columns), strides_of(columns), "[0, 1]", rest);
    return print(choose(spec, zen3()));
  };
  const std::string sum = "%3 = reduce sum %0\n%4 = add %2 %3\nstore y0 %4\n",
                    exponentials = "%3 = neg %0\n%4 = exp %3\n%5 = reduce sum %4\n%6 = add %2 %5\nstore y0 %6\n",
                    columns = "avx2 staged_columns level=1 ", ends = "columns=4096";
  EXPECT_EQ(chosen(4095, 1024, sum), columns + "rows=8 " + ends) << "near enough";
  EXPECT_EQ(chosen(4096, 1024, sum), columns + "rows=4 ahead=1 " + ends) << "rows of a page meet in one set";
  EXPECT_EQ(chosen(8192, 512, sum), columns + "rows=8 ahead=1 " + ends);
  EXPECT_EQ(chosen(2048, 2048, sum), columns + "rows=8 " + ends) << "longer rows";
  EXPECT_EQ(chosen(2047, 2048, exponentials), columns + "rows=4 " + ends);
  EXPECT_EQ(chosen(2048, 2048, exponentials), columns + "rows=4 ahead=1 " + ends);
}

TEST(LateCache, RowsInRegistersAskWhatMemoryDelivers) {
  const auto asks = [](const char* op, const char* dtype, int rows, int columns) {
    return choose(spec_of(op, dtype, levels_of("reduced", rows, "kept", columns), strides_of(columns), "[0, 1]"),
                  zen3())
        .ahead;
  };
  EXPECT_TRUE(asks("max", "f32", 2, 8388608));
  EXPECT_TRUE(asks("sum", "s8", 4, 16777216));
  EXPECT_FALSE(asks("max", "f32", 2, 1 << 20)) << "the last cache holds it";
}

TEST(LateCache, PackedRowsAskAheadFromAQuarterOn) {
  const auto asks = [](int rows, int width) {
    const Schedule schedule =
        choose(spec_of("max", "f32", levels_of("kept", rows, "reduced", width), strides_of(width), "[1, 0]"), zen3());
    EXPECT_EQ(schedule.nest, Nest::packed);
    return schedule.ahead;
  };
  EXPECT_TRUE(asks(1 << 19, 8));
  EXPECT_FALSE(asks(1 << 18, 8)) << "near enough";
  EXPECT_TRUE(asks(1 << 17, 40));
  EXPECT_TRUE(asks(1 << 16, 80)) << "five eighths";
  EXPECT_FALSE(asks((1 << 16) + 1, 80)) << "long rows, from memory";
  EXPECT_TRUE(asks((1 << 17) + 1, 40));
  EXPECT_TRUE(asks(1 << 15, 160));
  EXPECT_FALSE(asks(30000, 161));
}

TEST(LateCache, IndicesOfColumnsNearByDoNotAskAhead) {
  const auto asks = [](int rows, int extent) {
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace " + levels_of("reduced", rows, "kept", extent) + "\nin x0 f32 " +
                      strides_of(extent) + "\nout y0 s64 [0, 1]\n%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return choose(spec.value(), zen3()).ahead;
  };
  EXPECT_FALSE(asks(256, 1024));
  EXPECT_FALSE(asks(2048, 1024));
  EXPECT_TRUE(asks(2049, 1024));
  EXPECT_TRUE(asks(8192, 64)) << "short rows";
}

TEST(LateCache, ShortRowsOfSmallBlocksAskAhead) {
  const auto asks = [](const std::string& monoid, int blocks, int rows, int columns, const char* dtype = "f32") {
    const std::string row = std::to_string(columns), block = std::to_string(rows * columns);
    const KernelSpec spec =
        spec_of(monoid, dtype, "kept " + std::to_string(blocks) + ", reduced " + std::to_string(rows) + ", kept " + row,
                "[" + block + ", " + row + ", 1]", "[" + row + ", 0, 1]");
    const Schedule schedule = choose(spec, zen3());
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    EXPECT_EQ(schedule.columns, 0);
    return schedule.ahead;
  };
  EXPECT_TRUE(asks("max", 50000, 9, 9));
  EXPECT_TRUE(asks("sum", 50000, 9, 9));
  EXPECT_FALSE(asks("max", 20000, 9, 9)) << "near enough";
  EXPECT_TRUE(asks("max", 8192, 8, 128));
  EXPECT_FALSE(asks("sum", 8192, 8, 128)) << "sums of longer rows";
  EXPECT_FALSE(asks("max", 8192, 8, 160)) << "long blocks";
  EXPECT_FALSE(asks("max", 500000, 4, 9, "s8")) << "rows of a few bytes";
}

TEST(LateCache, ElementsAroundItComeInRuns) {
  const auto chosen = [](const std::string& function, int elements, const std::string& dtype = "f32") {
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace kept " + std::to_string(elements) + "\nin x0 " + dtype + " [1]\nout y0 " + dtype +
                      " [1]\n%0 = load x0\n%1 = " + function + " %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    const Schedule schedule = choose(spec.value(), zen3());
    EXPECT_TRUE(check(spec.value(), schedule).ok());
    return std::string(schedule.runs ? "runs " : "") + (schedule.around ? "around" : "");
  };
  EXPECT_EQ(chosen("neg", 3 << 20), "runs around");
  EXPECT_EQ(chosen("neg", (3 << 20) - 4), "");
  EXPECT_EQ(chosen("exp", 3 << 20), "runs ");
  EXPECT_EQ(chosen("exp", 8 << 20), "runs around");
  EXPECT_EQ(chosen("neg", 12 << 20, "s8"), "runs around") << "in lanes as narrow";
  EXPECT_EQ(chosen("neg", 6 << 20, "bf16"), "runs around");
  EXPECT_EQ(chosen("sqrt", 8 << 20, "bf16"), "runs ") << "which rounds";
}

}  // namespace
}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
//
// What the heuristic chooses where the last cache is near (target::L3::near).
#include <gtest/gtest.h>

#include "schedule/schedule.hpp"
#include "specs.hpp"

namespace tenfold::schedule {
namespace {

target::Target zen4() { return machine_of_kind(target::L3::near, 1 << 20); }

/// Of exponentials along rows, or columns, and what `rest` makes of %4, these, and %5, their sum.
KernelSpec exponentials(const std::string& dtype, const std::string& space, int row, const std::string& out,
                        const std::string& rest) {
  const Result<KernelSpec> spec = kernel::parse(
      "kernel\nspace " + space + "\nin x0 " + dtype + " [" + std::to_string(row) + ", 1]\nout y0 " + dtype + " " + out +
      "\n%0 = load x0\n%1 = neg %0\n%2 = reduce max %1\n%3 = sub %1 %2\n%4 = exp %3\n%5 = reduce sum %4\n" + rest);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.value();
}

bool asks(const KernelSpec& spec) {
  const Schedule schedule = choose(spec, zen4());
  EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
  return schedule.ahead;
}

TEST(NearCache, RowsOfFunctionsAskForTheNextOneWhereTheyWaitForIt) {
  const auto rows_ask = [](const std::string& dtype, int rows, int row, bool stored, const std::string& rest) {
    return asks(exponentials(dtype, "kept " + std::to_string(rows) + ", reduced " + std::to_string(row), row,
                             stored ? "[" + std::to_string(row) + ", 1]" : "[1, 0]", rest));
  };
  const std::string log_sum = "%6 = log %5\nstore y0 %6\n";
  EXPECT_TRUE(rows_ask("f32", 1024, 4096, false, log_sum));
  EXPECT_FALSE(rows_ask("f32", 64, 4096, false, log_sum)) << "L2 has them";
  EXPECT_FALSE(rows_ask("f32", 4096, 1024, false, log_sum)) << "short rows";
  const std::string log_softmax = "%6 = log %5\n%7 = sub %3 %6\nstore y0 %7\n";
  EXPECT_TRUE(rows_ask("f32", 1024, 4096, true, log_softmax));
  EXPECT_FALSE(rows_ask("f32", 4096, 1024, true, log_softmax)) << "short rows";
  EXPECT_FALSE(rows_ask("f32", 512, 4096, true, log_softmax)) << "stored through the caches";
  const std::string softmax = "%6 = div %4 %5\nstore y0 %6\n";
  EXPECT_TRUE(rows_ask("f32", 1024, 4096, true, softmax));
  EXPECT_FALSE(rows_ask("f32", 512, 4096, true, softmax)) << "stored through the caches";
  EXPECT_TRUE(rows_ask("bf16", 1024, 4096, true, softmax));
  const auto far = [&](const char* dtype, int rows) {
    return choose(exponentials(dtype, "kept " + std::to_string(rows) + ", reduced 4096", 4096, "[4096, 1]", softmax),
                  zen4())
        .far;
  };
  EXPECT_TRUE(far("f32", 2048)) << "from memory";
  EXPECT_FALSE(far("f32", 2047));
  EXPECT_FALSE(far("bf16", 8192)) << "half as much";
  EXPECT_FALSE(rows_ask("bf16", 4096, 1024, true, softmax)) << "short rows";
}

TEST(NearCache, LongRowsOfBytesComeFourAtATime) {
  const auto rows = [](int row) {
    return choose(spec_of("max", "s8", columns_of(512, row), "[" + std::to_string(row) + ", 1]", "[0, 1]"), zen4())
        .rows_at_once;
  };
  EXPECT_EQ(rows(16383), 2);
  EXPECT_EQ(rows(16384), 4);
}

TEST(NearCache, WhatTheLastCacheHardlyHoldsComesInTheLongestRuns) {
  const auto columns = [](const char* monoid, const char* dtype, int rows, int row,
                          target::L3 kind = target::L3::near) {
    const KernelSpec spec = spec_of(monoid, dtype, columns_of(rows, row), "[" + std::to_string(row) + ", 1]", "[0, 1]");
    const Schedule schedule = choose(spec, machine_of_kind(kind, 1 << 20));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.columns;
  };
  EXPECT_EQ(columns("sum", "f32", 300, 20000), 65536);
  EXPECT_EQ(columns("sum", "f32", 300, 20000, target::L3::late), 8192);
  EXPECT_EQ(columns("sum", "f32", 100, 20000), 1024) << "no more than half of the last cache";
  EXPECT_EQ(columns("sum", "f32", 4000, 8192), 8192) << "rows no longer than a tile's";
  EXPECT_EQ(columns("sum", "bf16", 300, 400000), 65536);
  EXPECT_EQ(columns("sum", "f64", 150, 20000), 65536);
  EXPECT_EQ(columns("max", "f32", 300, 20000), 65536);
  EXPECT_EQ(columns("max", "s8", 600, 40000), 65536);
  EXPECT_EQ(columns("max", "bf16", 4000, 30000), 32768) << "whole rows";
}

TEST(NearCache, FewRowsOfMemoryAreNoStrips) {
  const auto columns = [](int rows, int row) {
    const KernelSpec spec = spec_of("sum", "f32", columns_of(rows, row), "[" + std::to_string(row) + ", 1]", "[0, 1]");
    return choose(spec, zen4()).columns;
  };
  EXPECT_EQ(columns(20, 400000), 64);
  EXPECT_EQ(columns(20, 500000), 65536);
}

TEST(NearCache, WhatGainsNothingByWiderRegistersSpeaksAvx2) {
  const auto isa = [](const char* monoid, const char* dtype, const std::string& space, const std::string& in,
                      const std::string& out, target::L3 kind = target::L3::near) {
    target::Target target = zen4();
    target.isa = target::Isa::avx512_core;
    target.l3 = kind;
    const KernelSpec spec = spec_of(monoid, dtype, space, in, out);
    const Schedule schedule = choose(spec, target);
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.isa;
  };
  constexpr target::Isa kAvx2 = target::Isa::avx2, kAvx512 = target::Isa::avx512_core;
  const std::string rows = "kept 4096, reduced 1024", columns = "reduced 4096, kept 1024";
  EXPECT_EQ(isa("sum", "f32", rows, "[1024, 1]", "[1, 0]"), kAvx2);
  EXPECT_EQ(isa("sum", "f32", rows, "[1024, 1]", "[1, 0]", target::L3::fast), kAvx512);
  EXPECT_EQ(isa("sum", "f32", "kept 4096, reduced 511", "[511, 1]", "[1, 0]"), kAvx512) << "masks end rows";
  EXPECT_EQ(isa("max", "f32", rows, "[1024, 1]", "[1, 0]"), kAvx512);
  EXPECT_EQ(isa("sum", "bf16", rows, "[1024, 1]", "[1, 0]"), kAvx512) << "conversions gain";
  EXPECT_EQ(isa("sum", "f32", columns, "[1024, 1]", "[0, 1]"), kAvx512);
  EXPECT_EQ(isa("sum", "f32", "reduced 65536, kept 1024", "[1024, 1]", "[0, 1]"), kAvx2) << "from memory";
  const auto blocks = [&](int reduced, int row) {
    const std::string pitch = std::to_string(row);
    return isa("sum", "f32", "kept 9000, " + columns_of(reduced, row),
               "[" + std::to_string(reduced * row) + ", " + pitch + ", 1]", "[" + pitch + ", 0, 1]");
  };
  EXPECT_EQ(blocks(17, 256), kAvx512) << "asked for";
  EXPECT_EQ(blocks(17, 255), kAvx2) << "short rows";
  EXPECT_EQ(blocks(16, 256), kAvx2) << "in registers";
  const std::string far = "kept 6400, reduced 6400", of_far = "[6400, 1]";
  EXPECT_EQ(isa("max", "f32", far, of_far, "[1, 0]"), kAvx2) << "from memory";
  EXPECT_EQ(isa("max", "f64", far, of_far, "[1, 0]"), kAvx2) << "from memory";
  EXPECT_EQ(isa("sum", "bf16", far, of_far, "[1, 0]"), kAvx2) << "from memory";
  EXPECT_EQ(isa("max", "bf16", far, of_far, "[1, 0]"), kAvx512) << "two to a word";
  EXPECT_EQ(isa("max", "f32", "kept 20000, reduced 2047", "[2047, 1]", "[1, 0]"), kAvx512) << "short rows";
  EXPECT_EQ(isa("max", "s32", rows, "[1024, 1]", "[1, 0]"), kAvx2) << "from L3";
  EXPECT_EQ(isa("sum", "s64", "kept 512, reduced 1024", "[1024, 1]", "[1, 0]"), kAvx512) << "near";
  EXPECT_EQ(isa("max", "f32", columns, "[2048, 2]", "[0, 1]"), kAvx2) << "every other element";
  EXPECT_EQ(isa("max", "f32", columns, "[3072, 3]", "[0, 1]"), kAvx512);
}

TEST(NearCache, OutputsOfSomeRowsTakeTurnsIfTheyReadMuch) {
  const auto turns = [](const char* dtype, int rows, int width) {
    const std::string level = std::to_string(width), outer = std::to_string(1000 * width);
    const KernelSpec spec = spec_of("sum", dtype, "reduced " + std::to_string(rows) + ", kept 1000, reduced " + level,
                                    "[" + outer + ", " + level + ", 1]", "[0, 1, 0]");
    const Schedule schedule = choose(spec, zen4());
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.turns > 0;
  };
  EXPECT_TRUE(turns("f32", 4, 4096));
  EXPECT_FALSE(turns("f32", 3, 100000)) << "which are streams";
  EXPECT_FALSE(turns("f32", 8, 1024));
  EXPECT_FALSE(turns("bf16", 4, 4096));
  EXPECT_TRUE(turns("f32", 16, 400));
  EXPECT_FALSE(turns("bf16", 16, 300));
}

TEST(NearCache, RowsOfBlocksAskForTheNextOne) {
  const auto blocks = [](const char* monoid, const char* dtype, int outer, int rows, int row) {
    const KernelSpec spec = spec_of(monoid, dtype, "kept " + std::to_string(outer) + ", " + columns_of(rows, row),
                                    "[" + std::to_string(rows * row) + ", " + std::to_string(row) + ", 1]",
                                    "[" + std::to_string(row) + ", 0, 1]");
    const Schedule schedule = choose(spec, zen4());
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    EXPECT_FALSE(schedule.blocks && schedule.ahead) << print(schedule);
    return schedule.blocks;
  };
  EXPECT_TRUE(blocks("max", "f32", 4096, 20, 384));
  EXPECT_FALSE(blocks("max", "f32", 100, 20, 384)) << "L3 has them";
  EXPECT_TRUE(blocks("sum", "f32", 200, 20, 200));
  EXPECT_FALSE(blocks("sum", "f32", 200, 49, 384)) << "long blocks that L3 has";
  EXPECT_TRUE(blocks("sum", "f32", 1000, 49, 384));
  EXPECT_FALSE(blocks("sum", "f32", 10, 20, 200)) << "L2 has them";
  EXPECT_FALSE(blocks("sum", "f32", 200, 300, 512)) << "too long";
  EXPECT_FALSE(blocks("sum", "f32", 100000, 49, 8)) << "read in order";
  EXPECT_FALSE(blocks("max", "bf16", 20000, 49, 56)) << "read in order";
  EXPECT_TRUE(blocks("max", "f32", 20000, 3, 384)) << "in registers";
  EXPECT_TRUE(blocks("max", "f32", 20000, 8, 384)) << "of memory, however many";
  EXPECT_FALSE(blocks("max", "f32", 1000, 8, 384)) << "which are many";
  EXPECT_FALSE(blocks("max", "f32", 200000, 3, 64)) << "short blocks";
}

TEST(NearCache, MemoryIsAskedFartherAhead) {
  const auto far = [](const char* monoid, const char* dtype, int rows, int row, const std::string& out = "[1, 0]") {
    const std::string width = std::to_string(row);
    const KernelSpec spec =
        spec_of(monoid, dtype, "kept " + std::to_string(rows) + ", reduced " + width, "[" + width + ", 1]", out);
    const Schedule schedule = choose(spec, zen4());
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.nest == Nest::packed && schedule.far;
  };
  EXPECT_TRUE(far("max", "s8", 600000, 31));
  EXPECT_FALSE(far("max", "s8", 500000, 31)) << "L3 has them";
  EXPECT_FALSE(far("max", "s8", 2000000, 20)) << "read in the order of memory, or nearly so";
  EXPECT_TRUE(far("max", "s8", 600000, 64));
  EXPECT_FALSE(far("max", "s8", 600000, 65)) << "rows one by one";
  EXPECT_TRUE(far("max", "bf16", 400000, 45));
  EXPECT_FALSE(far("max", "bf16", 400000, 49));
  EXPECT_FALSE(far("max", "s16", 400000, 45)) << "which rows take as fast";
  EXPECT_FALSE(far("sum", "bf16", 400000, 45)) << "in f32";
  const auto block_is_far = [](int outer, int rows, int row) {
    const KernelSpec spec = spec_of("sum", "f32", "kept " + std::to_string(outer) + ", " + columns_of(rows, row),
                                    "[" + std::to_string(rows * row) + ", " + std::to_string(row) + ", 1]",
                                    "[" + std::to_string(row) + ", 0, 1]");
    const Schedule schedule = choose(spec, zen4());
    EXPECT_TRUE(schedule.blocks) << print(schedule);
    return schedule.far;
  };
  EXPECT_TRUE(block_is_far(10000, 25, 32));
  EXPECT_FALSE(block_is_far(2000, 25, 32));
}

TEST(NearCache, LongRowsAndColumnsGoAroundFromFiveEighthsOn) {
  const auto rows_around = [](int rows, int row) {
    const std::string stride = std::to_string(row), strides = "[" + stride + ", 1]";
    return choose(staged_spec("kept " + std::to_string(rows) + ", reduced " + stride, strides, strides,
                              "%3 = sub %0 %2\nstore y0 %3\n"),
                  zen4())
        .around;
  };
  EXPECT_TRUE(rows_around(1280, 2048));
  EXPECT_FALSE(rows_around(1279, 2048));
  EXPECT_FALSE(rows_around(2560, 1024)) << "short rows";
  EXPECT_TRUE(rows_around(3072, 1024));
}

TEST(NearCache, OfSeveralCoresStoresGoThroughItLonger) {
  const auto around = [](const std::string& space, int row) {
    target::Target cores = zen4();
    cores.cores = 2;
    const std::string strides = "[" + std::to_string(row) + ", 1]";
    return choose(staged_spec(space, strides, strides, "%3 = sub %0 %2\nstore y0 %3\n"), cores).around;
  };
  EXPECT_FALSE(around("kept 1023, reduced 4096", 4096));
  EXPECT_TRUE(around("kept 1024, reduced 4096", 4096));
  EXPECT_FALSE(around("reduced 1023, kept 4096", 4096));
  EXPECT_TRUE(around("reduced 1024, kept 4096", 4096));
  EXPECT_FALSE(around("kept 7000, reduced 1024", 1024)) << "short rows";
  EXPECT_TRUE(around("kept 7168, reduced 1024", 1024));
  const auto blocks_around = [](int outer) {
    target::Target cores = zen4();
    cores.cores = 2;
    const std::string strides = "[65536, 1024, 1]";
    return choose(staged_spec("kept " + std::to_string(outer) + ", reduced 64, kept 1024", strides, strides,
                              "%3 = sub %0 %2\nstore y0 %3\n"),
                  cores)
        .around;
  };
  EXPECT_TRUE(blocks_around(48));
  EXPECT_FALSE(blocks_around(47));
}

TEST(NearCache, SoftmaxGoesAroundOverLongRowsAndTheFirstAxis) {
  const auto around = [](const std::string& space, int row) {
    return choose(exponentials("f32", space, row, "[" + std::to_string(row) + ", 1]", "%6 = div %4 %5\nstore y0 %6\n"),
                  zen4())
        .around;
  };
  EXPECT_TRUE(around("kept 1280, reduced 2048", 2048));
  EXPECT_FALSE(around("kept 1279, reduced 2048", 2048));
  EXPECT_FALSE(around("kept 8192, reduced 1024", 1024)) << "short rows";
  EXPECT_TRUE(around("reduced 100, kept 26240", 26240));
  EXPECT_FALSE(around("reduced 100, kept 26000", 26000));
}

TEST(NearCache, BlocksOfColumnsAreTilesThatAskForTheNextOne) {
  const auto chosen = [](int outer, int rows, int row) {
    const std::string stride = std::to_string(row), strides = "[" + std::to_string(rows * row) + ", " + stride + ", 1]";
    Schedule schedule = choose(staged_spec("kept " + std::to_string(outer) + ", " + columns_of(rows, row), strides,
                                           strides, "%3 = sub %0 %2\nstore y0 %3\n"),
                               zen4());
    schedule.tile = {};
    return print(schedule);
  };
  const std::string columns = "avx2 staged_columns level=2 rows=8 ahead=1 around=1 ";
  EXPECT_EQ(chosen(1000, 49, 256), columns + "columns=256");
  EXPECT_EQ(chosen(200, 49, 256), "avx2 staged_columns level=2 rows=8 columns=1024") << "stored through the caches";
  EXPECT_EQ(chosen(1000, 49, 384), columns + "columns=1024") << "long rows";
  EXPECT_EQ(chosen(1000, 100, 256), columns + "columns=1024") << "more than twice L1";
  EXPECT_EQ(chosen(4000, 80, 64), columns + "columns=1024") << "tiny rows";
}

TEST(NearCache, TwoInputsAskForTheNextRowsFromFiveEighthsOn) {
  const auto asks_and_rows = [](const std::string& space, const std::string& strides, const std::string& out) {
    const Result<KernelSpec> spec = kernel::parse("kernel\nspace " + space + "\nin x0 f32 " + strides + "\nin x1 f32 " +
                                                  strides + "\nout y0 f32 " + out +
                                                  "\n%0 = load x0\n%1 = load x1\n%2 = mul %0 %1\n%3 = reduce sum %2\n"
                                                  "store y0 %3\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    const Schedule schedule = choose(spec.value(), zen4());
    EXPECT_TRUE(check(spec.value(), schedule).ok()) << print(schedule);
    return std::string(schedule.ahead ? "asks, " : "") + std::to_string(schedule.rows_at_once);
  };
  EXPECT_EQ(asks_and_rows("reduced 640, kept 4096", "[4096, 1]", "[0, 1]"), "asks, 4");
  EXPECT_EQ(asks_and_rows("reduced 639, kept 4096", "[4096, 1]", "[0, 1]"), "4");
  EXPECT_EQ(asks_and_rows("kept 1100, reduced 49, kept 56", "[2744, 56, 1]", "[56, 0, 1]"), "4") << "tiny rows";
  EXPECT_EQ(asks_and_rows("kept 3000, reduced 20, kept 224", "[4480, 224, 1]", "[224, 0, 1]"), "asks, 4")
      << "rows that do not meet in L1";
  EXPECT_EQ(asks_and_rows("reduced 4096, kept 4096", "[4096, 1]", "[0, 1]"), "asks, 2");
}

TEST(NearCache, TilesOfWordsThatComputeLongAskForTheNextOne) {
  const auto columns_ask = [](const std::string& dtype) {
    return asks(exponentials(dtype, "reduced 64, kept 65536", 65536, "[0, 1]", "store y0 %5\n"));
  };
  EXPECT_TRUE(columns_ask("f32"));
  EXPECT_FALSE(columns_ask("bf16"));
}

}  // namespace
}  // namespace tenfold::schedule

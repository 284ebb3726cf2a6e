// SPDX-License-Identifier: Apache-2.0
//
// Schedules: text form, what the heuristic chooses, what check() refuses.
#include "schedule/schedule.hpp"

#include <gtest/gtest.h>

#include "schedule/apart.hpp"
#include "schedule/body.hpp"
#include "schedule/column_ends.hpp"
#include "specs.hpp"

namespace tenfold::schedule {
namespace {

TEST(Schedule, PrintsWhatItParses) {
  for (const char* text : {"avx2 rows level=1 unroll=4 tile=0:256", "avx2 packed level=1 width=13 tile=0:65536",
                           "avx2 columns level=1 rows=4 columns=1024 width=8", "avx2 flat level=0 around=1 tile=0:4096",
                           "avx2 staged_columns level=1 rows=8 keep=1024 part=512 columns=1024",
                           "avx2 staged_columns level=1 rows=8 stored=4 around=1 serpentine=1 columns=1024",
                           "avx512_core columns level=2 rows=4 ahead=1 columns=1024 tile=0:8 split=1:4096"}) {
    const Result<Schedule> schedule = parse(text);
    ASSERT_TRUE(schedule.ok()) << schedule.status().message();
    EXPECT_EQ(print(schedule.value()), text);
  }
}

TEST(Schedule, ParseNamesWhatIsWrong) {
  for (const char* text :
       {"avx3 rows", "avx2 diagonals level=1", "avx2 rows level=x", "avx2 rows tile=3", "avx2 rows up=1"})
    EXPECT_FALSE(parse(text).ok()) << text;
}

TEST(Schedule, PrintsWhatANestDoesNotHave) {
  for (const char* text :
       {"avx2 columns level=1 unroll=2 rows=4 columns=1024", "avx2 rows level=1 unroll=4 columns=64 width=8",
        "avx2 packed level=1 unroll=1 columns=16 width=13", "avx2 rows level=1 unroll=4 rows=0 keep=-1 tile=-1:8"})
    EXPECT_EQ(print(parse(text).value()), text);
}

TEST(Choose, RowsWhereTheReducedLevelIsContiguous) {
  const KernelSpec spec = spec_of("sum", "f32", "kept 4096, reduced 1024", "[1024, 1]", "[1, 0]");
  const Schedule schedule = choose(spec, machine(target::Isa::avx2, 2));
  EXPECT_EQ(schedule.nest, Nest::rows);
  EXPECT_EQ(schedule.vector_level, 1);
  EXPECT_EQ(schedule.unroll, kChainedUnroll);
  EXPECT_EQ(schedule.tile.level, 0);
  EXPECT_EQ(schedule.split.level, -1);
  EXPECT_TRUE(check(spec, schedule).ok());
}

TEST(Choose, ColumnsWhereAKeptLevelIsContiguous) {
  const KernelSpec spec =
      spec_of("max", "bf16", "kept 64, reduced 128, kept 1024", "[131072, 1024, 1]", "[1024, 0, 1]");
  const Schedule schedule = choose(spec, machine(target::Isa::avx2, 2));
  EXPECT_EQ(schedule.nest, Nest::columns);
  EXPECT_EQ(schedule.vector_level, 2);
  EXPECT_TRUE(check(spec, schedule).ok());
}

TEST(Choose, FewRowsStayInRegisters) {
  const KernelSpec spec = spec_of("sum", "f32", "reduced 16, kept 1024", "[1024, 1]", "[0, 1]");
  EXPECT_EQ(choose(spec, machine(target::Isa::avx2, 1)).columns, 0);
}

TEST(Choose, LongRowsInRegistersAskAheadWhereTheLastCacheIsFast) {
  target::Target fast = machine(target::Isa::avx2, 1);
  const auto asks = [&fast](const std::string& monoid, int rows, int columns) {
    const std::string width = std::to_string(columns);
    const KernelSpec spec =
        spec_of(monoid, "f32", "reduced " + std::to_string(rows) + ", kept " + width, "[" + width + ", 1]", "[0, 1]");
    const Schedule schedule = choose(spec, fast);
    EXPECT_EQ(schedule.columns, 0);
    EXPECT_TRUE(check(spec, schedule).ok());
    return schedule.ahead;
  };
  EXPECT_FALSE(asks("sum", 16, 65536)) << "no fast last cache";
  fast.l3 = target::L3::fast;
  EXPECT_TRUE(asks("sum", 16, 65536));
  EXPECT_TRUE(asks("max", 5, 200000));
  EXPECT_FALSE(asks("sum", 16, 1024)) << "short rows";
  EXPECT_FALSE(asks("sum", 16, 1 << 20)) << "beyond the last cache";
  fast.isa = target::Isa::avx512_core;
  EXPECT_TRUE(asks("sum", 16, 65536)) << "lines that meet";
  EXPECT_TRUE(asks("max", 5, 200000)) << "beyond L2";
  EXPECT_FALSE(asks("max", 5, 20000));
}

TEST(Choose, IndicesOfColumnsAskAheadFromAQuarterOfTheLastCacheOn) {
  target::Target fast = machine(target::Isa::avx2, 1);
  fast.l3_bytes = 32 << 20;
  const auto chosen = [&fast](int rows, int columns) {
    const std::string width = std::to_string(columns);
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace reduced " + std::to_string(rows) + ", kept " + width + "\nin x0 f32 [" + width +
                      ", 1]\nout y0 s64 [0, 1]\n%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return print(choose(spec.value(), fast));
  };
  const std::string rows = "avx2 columns level=1 rows=4 ";
  EXPECT_EQ(chosen(512, 4096), rows + "columns=1024");
  EXPECT_EQ(chosen(513, 4096), rows + "ahead=1 columns=4096");
  EXPECT_EQ(chosen(1024, 1023), rows + "ahead=1 columns=4096") << "rows that are not seen coming";
  fast.l3 = target::L3::fast;
  EXPECT_EQ(chosen(512, 4096), rows + "columns=2048");
  EXPECT_EQ(chosen(513, 4096), rows + "ahead=1 columns=1024");
  EXPECT_EQ(chosen(2049, 4096), rows + "ahead=1 columns=2048") << "from memory";
  EXPECT_EQ(chosen(2049, 4097), rows + "columns=16384") << "long rows";
}

TEST(Choose, LongRowsFromMemoryComeEightAtATime) {
  target::Target fast = machine(target::Isa::avx2, 1);
  fast.l3_bytes = 32 << 20;
  const auto chosen = [&fast](int rows, int columns) {
    const std::string width = std::to_string(columns);
    return print(choose(
        spec_of("max", "f32", "reduced " + std::to_string(rows) + ", kept " + width, "[" + width + ", 1]", "[0, 1]"),
        fast));
  };
  EXPECT_EQ(chosen(100, 300000), "avx2 columns level=1 rows=8 columns=65536");
  EXPECT_EQ(chosen(1000, 16384), "avx2 columns level=1 rows=8 columns=16384");
  EXPECT_EQ(chosen(1000, 4000), "avx2 columns level=1 rows=8 columns=2048") << "Zen 4's last cache has them";
  fast.l3 = target::L3::far;
  EXPECT_EQ(chosen(100, 300000), "avx2 columns level=1 rows=8 ahead=1 columns=1024");
  fast.l3 = target::L3::fast;
  EXPECT_EQ(chosen(1000, 4000), "avx2 columns level=1 rows=4 columns=4096");
  EXPECT_EQ(chosen(100, 300000), "avx2 columns level=1 rows=8 columns=16384");
  EXPECT_EQ(chosen(1000, 16384), "avx2 columns level=1 rows=8 columns=16384") << "whole ones";
  fast.isa = target::Isa::avx512_core;
  EXPECT_EQ(chosen(100, 300000), "avx512_core columns level=1 rows=8 columns=16384");
  EXPECT_EQ(chosen(1000, 16384), "avx512_core columns level=1 rows=4 columns=16384");
  EXPECT_EQ(chosen(256, 65536), "avx512_core columns level=1 rows=4 columns=16384") << "rows meet in the same sets";
}

TEST(Choose, RowsNearByComeEightAtATimeOnZen5) {
  target::Target fast = machine(target::Isa::avx2, 1);
  const auto chosen = [&fast](const char* dtype, int rows, int columns) {
    const std::string width = std::to_string(columns);
    return print(choose(
        spec_of("max", dtype, "reduced " + std::to_string(rows) + ", kept " + width, "[" + width + ", 1]", "[0, 1]"),
        fast));
  };
  EXPECT_EQ(chosen("f32", 100, 2048), "avx2 columns level=1 rows=2 columns=2048");
  fast.l3 = target::L3::fast;
  EXPECT_EQ(chosen("f32", 100, 2048), "avx2 columns level=1 rows=8 columns=2048");
  EXPECT_EQ(chosen("s8", 64, 256), "avx2 columns level=1 rows=8 columns=4096");
  EXPECT_EQ(chosen("s64", 128, 1024), "avx2 columns level=1 rows=4 columns=1024");
}

TEST(Choose, LongRowsOfDoublesAreAddedEightAtATime) {
  const auto rows_at_once = [](const char* monoid, int columns) {
    const std::string width = std::to_string(columns);
    return choose(spec_of(monoid, "f64", "reduced 100, kept " + width, "[" + width + ", 1]", "[0, 1]"),
                  machine(target::Isa::avx2, 1))
        .rows_at_once;
  };
  EXPECT_EQ(rows_at_once("sum", 256), 8);
  EXPECT_EQ(rows_at_once("prod", 1000), 8);
  EXPECT_EQ(rows_at_once("sum", 255), 1);
}

TEST(Choose, SumsOfFewLongRowsGoInStrips) {
  const auto columns_of = [](const char* monoid, const char* space, const char* in) {
    const KernelSpec spec = spec_of(monoid, "f32", space, in, "[0, 1]");
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.columns;
  };
  EXPECT_EQ(columns_of("sum", "reduced 17, kept 4100", "[4100, 1]"), 64);
  EXPECT_EQ(columns_of("sum", "reduced 32, kept 4100", "[4100, 1]"), 64);
  EXPECT_EQ(columns_of("sum", "reduced 33, kept 4100", "[4100, 1]"), 1024) << "too many rows";
  EXPECT_EQ(columns_of("sum", "reduced 17, kept 4096", "[4096, 1]"), 1024) << "rows in the same sets of L1";
  EXPECT_GT(columns_of("max", "reduced 17, kept 4100", "[4100, 1]"), 64) << "no chains";
}

TEST(Choose, ShortRowsSideBySideArePacked) {
  const auto nest_of = [](const char* monoid, const char* dtype, const char* space, const char* in, const char* out) {
    const KernelSpec spec = spec_of(monoid, dtype, space, in, out);
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 2));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.nest;
  };
  for (const char* dtype : {"f32", "bf16", "f64", "s8", "u64"}) {
    EXPECT_EQ(nest_of("sum", dtype, "kept 100, reduced 2", "[2, 1]", "[1, 0]"), Nest::packed) << dtype;
    EXPECT_EQ(nest_of("max", dtype, "kept 3, kept 100, reduced 63", "[6400, 63, 1]", "[100, 1, 0]"), Nest::packed);
  }
  EXPECT_EQ(nest_of("sum", "f32", "kept 100, reduced 200", "[200, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("sum", "f32", "kept 100, reduced 201", "[201, 1]", "[1, 0]"), Nest::rows) << "too wide";
  EXPECT_EQ(nest_of("max", "s8", "kept 128, reduced 1024", "[1024, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("max", "s8", "kept 128, reduced 1025", "[1025, 1]", "[1, 0]"), Nest::rows) << "too wide";
  EXPECT_EQ(nest_of("max", "f16", "kept 128, reduced 512", "[512, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("max", "f16", "kept 128, reduced 513", "[513, 1]", "[1, 0]"), Nest::rows) << "too wide";
  EXPECT_EQ(nest_of("max", "f16", "kept 100, reduced 400", "[400, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("max", "f16", "kept 100, reduced 401", "[401, 1]", "[1, 0]"), Nest::rows) << "12 rows twice";
  EXPECT_EQ(nest_of("sum", "f64", "kept 9, reduced 128", "[128, 1]", "[1, 0]"), Nest::packed) << "3 rows twice";
  EXPECT_EQ(nest_of("max", "s32", "kept 96, reduced 256", "[256, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("max", "s32", "kept 96, reduced 257", "[257, 1]", "[1, 0]"), Nest::rows) << "too wide";
  EXPECT_EQ(nest_of("sum", "f64", "kept 100, reduced 129", "[129, 1]", "[1, 0]"), Nest::rows) << "too wide";
  EXPECT_EQ(nest_of("sum", "bf16", "kept 8, reduced 128", "[128, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("sum", "bf16", "kept 100, reduced 201", "[201, 1]", "[1, 0]"), Nest::rows) << "too wide";
  EXPECT_EQ(nest_of("max", "bf16", "kept 16, reduced 64", "[64, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("max", "bf16", "kept 15, reduced 64", "[64, 1]", "[1, 0]"), Nest::rows) << "no block of long rows";
  EXPECT_EQ(nest_of("max", "bf16", "kept 15, reduced 63", "[63, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("max", "s16", "kept 15, reduced 64", "[64, 1]", "[1, 0]"), Nest::rows) << "nor of integers";
  EXPECT_EQ(nest_of("max", "s16", "kept 15, reduced 63", "[63, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("sum", "f32", "kept 7, reduced 8", "[8, 1]", "[1, 0]"), Nest::rows) << "too few";
  EXPECT_EQ(nest_of("sum", "f32", "kept 100, reduced 8", "[9, 1]", "[1, 0]"), Nest::packed) << "a gap after each row";
  EXPECT_EQ(nest_of("sum", "f32", "kept 100, reduced 8", "[512, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("sum", "f32", "kept 100, reduced 8", "[513, 1]", "[1, 0]"), Nest::staged_columns) << "far apart";
  EXPECT_EQ(nest_of("sum", "f32", "kept 100, reduced 8", "[7, 1]", "[1, 0]"), Nest::staged_columns) << "they overlap";
  EXPECT_EQ(nest_of("max", "s8", "kept 100, reduced 2", "[4, 1]", "[1, 0]"), Nest::packed) << "in one load";
  EXPECT_EQ(nest_of("max", "s8", "kept 100, reduced 2", "[9, 1]", "[1, 0]"), Nest::staged_columns) << "pairs alone";
  EXPECT_EQ(nest_of("max", "s8", "kept 100, reduced 3", "[9, 1]", "[1, 0]"), Nest::packed);
  EXPECT_EQ(nest_of("sum", "f32", "kept 100, reduced 8", "[8, 1]", "[2, 0]"), Nest::staged_columns) << "outputs apart";
  EXPECT_EQ(nest_of("sum", "f32", "reduced 3, kept 100, reduced 8", "[800, 8, 1]", "[0, 1, 0]"), Nest::rows);
}

TEST(Choose, RowsOfCellsArePacked) {
  const auto is_packed = [](const char* monoid, const std::string& dtype, int rows, int reduced, int kept, int gap = 0,
                            int outputs_apart = 0) {
    const auto text = [](int number) { return std::to_string(number); };
    const KernelSpec spec = spec_of(
        monoid, dtype, "kept " + text(rows) + ", reduced " + text(reduced) + ", kept " + text(kept),
        "[" + text(reduced * kept + gap) + ", " + text(kept) + ", 1]", "[" + text(kept + outputs_apart) + ", 0, 1]");
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    const bool packed = schedule.nest == Nest::packed;
    EXPECT_TRUE(!packed || schedule.width == reduced * kept) << print(schedule);
    return packed;
  };
  EXPECT_TRUE(is_packed("sum", "f32", 8, 2, 2));
  EXPECT_FALSE(is_packed("sum", "f32", 7, 2, 2)) << "too few";
  EXPECT_TRUE(is_packed("max", "bf16", 100, 30, 8));
  EXPECT_FALSE(is_packed("max", "bf16", 100, 30, 9)) << "columns fill their lanes";
  EXPECT_TRUE(is_packed("max", "f64", 100, 64, 3));
  EXPECT_FALSE(is_packed("max", "f64", 100, 65, 3)) << "each takes up four lanes";
  EXPECT_FALSE(is_packed("max", "f64", 100, 3, 5)) << "more than a register";
  EXPECT_TRUE(is_packed("sum", "f32", 100, 128, 3));
  EXPECT_FALSE(is_packed("sum", "f32", 100, 129, 3)) << "too long";
  EXPECT_TRUE(is_packed("max", "s8", 100, 512, 3));
  EXPECT_TRUE(is_packed("max", "f32", 100, 20, 4, 5)) << "a gap after each row";
  EXPECT_FALSE(is_packed("max", "f32", 100, 20, 4, 0, 1)) << "outputs apart";
}

TEST(Choose, IndicesOfCellsArePackedWhereLanesHoldTheirPlaces) {
  const auto is_packed = [](const std::string& dtype, int reduced, const std::string& extreme = "") {
    const KernelSpec spec =
        kernel::parse("kernel\nspace kept 100, reduced " + std::to_string(reduced) + ", kept 3\nin x0 " + dtype + " [" +
                      std::to_string(3 * reduced) + ", 3, 1]\nout y0 s64 [3, 0, 1]\n" +
                      (extreme.empty() ? "" : "out y1 " + dtype + " [3, 0, 1]\n") +
                      "%0 = load x0\n%1 = reduce argmax %0\n" + extreme + "store y0 %1\n" +
                      (extreme.empty() ? "" : "store y1 %2\n"))
            .value();
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.nest == Nest::packed;
  };
  EXPECT_TRUE(is_packed("f32", 128));
  EXPECT_FALSE(is_packed("f32", 129)) << "too long";
  EXPECT_TRUE(is_packed("s8", 128));
  EXPECT_FALSE(is_packed("s8", 129)) << "places beyond a byte's";
  EXPECT_FALSE(is_packed("f64", 20)) << "places of 64 bits";
  EXPECT_FALSE(is_packed("f32", 20, "%2 = reduce max %0\n")) << "the extreme as well";
}

TEST(Check, NoCellIsCut) {
  const KernelSpec spec = spec_of("max", "f32", "kept 100, reduced 20, kept 4", "[80, 4, 1]", "[4, 0, 1]");
  EXPECT_TRUE(check(spec, parse("avx2 packed level=1 width=80 tile=0:10").value()).ok());
  EXPECT_FALSE(check(spec, parse("avx2 packed level=1 width=80 tile=2:2").value()).ok());
  EXPECT_FALSE(check(spec, parse("avx2 packed level=1 width=20").value()).ok());
  EXPECT_FALSE(check(spec, parse("avx2 packed level=2 width=80").value()).ok());
}

TEST(Choose, IndicesOfShortRowsOf64BitsAreThoseOfColumns) {
  const auto nest_of = [](const std::string& dtype, int rows, int width) {
    const std::string row = std::to_string(width);
    const KernelSpec spec =
        kernel::parse("kernel\nspace kept " + std::to_string(rows) + ", reduced " + row + "\nin x0 " + dtype + " [" +
                      row + ", 1]\nout y0 s64 [1, 0]\n%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n")
            .value();
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.nest;
  };
  EXPECT_EQ(nest_of("f64", 1000, 2), Nest::columns);
  EXPECT_EQ(nest_of("s64", 1000, 4), Nest::columns);
  EXPECT_EQ(nest_of("s64", 1000, 5), Nest::staged_columns) << "turned";
  EXPECT_EQ(nest_of("f64", 1000, 24), Nest::staged_columns) << "turned";
  EXPECT_EQ(nest_of("s64", 500000, 10), Nest::columns) << "from memory";
  EXPECT_EQ(nest_of("s64", 1000, 25), Nest::rows);
  EXPECT_EQ(nest_of("s64", 7, 3), Nest::rows);
  EXPECT_EQ(nest_of("s32", 1000, 3), Nest::packed);
}

TEST(Choose, ColumnsThatFitOneStepAreNarrow) {
  const auto width_of = [](const char* dtype, const char* space, const char* in, const char* out) {
    const KernelSpec spec = spec_of("sum", dtype, space, in, out);
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 2));
    EXPECT_EQ(schedule.nest, Nest::columns);
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.width;
  };
  EXPECT_EQ(width_of("f32", "reduced 1000, kept 8", "[8, 1]", "[0, 1]"), 8);
  EXPECT_EQ(width_of("s8", "reduced 1000, kept 64", "[64, 1]", "[0, 1]"), 64);
  EXPECT_EQ(width_of("f32", "reduced 1000, kept 17", "[17, 1]", "[0, 1]"), 17) << "two steps";
  EXPECT_EQ(width_of("f32", "reduced 1000, kept 65", "[65, 1]", "[0, 1]"), 0) << "more than registers hold";
  EXPECT_EQ(width_of("s32", "reduced 1000, kept 65", "[65, 1]", "[0, 1]"), 65) << "in groups of 16 rows";
  EXPECT_EQ(width_of("s32", "reduced 63, kept 65", "[65, 1]", "[0, 1]"), 0) << "few groups";
  EXPECT_EQ(width_of("f32", "reduced 1000, kept 8", "[9, 1]", "[0, 1]"), 0) << "a gap after each row";
  EXPECT_EQ(width_of("f32", "reduced 16, kept 8", "[8, 1]", "[0, 1]"), 0) << "in registers anyway";
}

TEST(Choose, ColumnsEndWithAWholeStepWhereThereIsOne) {
  const auto ends = [](const std::string& monoid, const std::string& dtype, int columns, target::Isa isa, Cut tile) {
    const KernelSpec spec = spec_of(monoid, dtype, "reduced 5, kept " + std::to_string(columns), "[200, 1]", "[0, 1]");
    Schedule schedule = choose(spec, machine(isa, 1));
    EXPECT_EQ(schedule.nest, Nest::columns);
    schedule.tile = tile;
    return ends_whole(spec, lanes_of(spec, read_body(spec).value()), schedule);
  };
  EXPECT_TRUE(ends("max", "f32", 16, target::Isa::avx2, {}));
  EXPECT_TRUE(ends("max", "f32", 100, target::Isa::avx512_core, {}));
  EXPECT_TRUE(ends("sum", "f64", 100, target::Isa::avx512_core, {}));
  EXPECT_FALSE(ends("max", "f32", 15, target::Isa::avx2, {}));
  EXPECT_FALSE(ends("max", "s8", 63, target::Isa::avx2, {}));
  EXPECT_TRUE(ends("max", "s8", 64, target::Isa::avx2, {}));
  // By masks.
  EXPECT_FALSE(ends("max", "s8", 64, target::Isa::avx512_core, {}));
  EXPECT_FALSE(ends("sum", "f32", 100, target::Isa::avx512_core, {}));
  // Tasks cut the columns.
  EXPECT_FALSE(ends("max", "f32", 100, target::Isa::avx2, {.level = 1, .grain = 64}));
  EXPECT_TRUE(ends("max", "f32", 100, target::Isa::avx2, {.level = 0, .grain = 1}));
}

TEST(Choose, ColumnsOfLessThanAStepRunOverWhereBlocksFollow) {
  const auto over = [](const std::string& dtype, const std::string& space, const std::string& in,
                       const std::string& out, target::Isa isa = target::Isa::avx2) {
    const KernelSpec spec = spec_of("max", dtype, space, in, out);
    const Schedule schedule = choose(spec, machine(isa, 1));
    EXPECT_EQ(schedule.nest, Nest::columns);
    return runs_over(spec, lanes_of(spec, read_body(spec).value()), schedule);
  };
  EXPECT_TRUE(over("f32", "kept 100, reduced 5, kept 15", "[75, 15, 1]", "[15, 0, 1]"));
  EXPECT_TRUE(over("s8", "kept 100, reduced 5, kept 15", "[75, 15, 1]", "[15, 0, 1]"));
  EXPECT_FALSE(over("f32", "kept 100, reduced 5, kept 17", "[85, 17, 1]", "[17, 0, 1]")) << "ends whole";
  EXPECT_FALSE(over("f32", "kept 100, reduced 5, kept 16", "[80, 16, 1]", "[16, 0, 1]")) << "whole anyway";
  EXPECT_FALSE(over("f32", "kept 100, reduced 5, kept 15", "[80, 16, 1]", "[15, 0, 1]")) << "gaps after rows";
  EXPECT_FALSE(over("f32", "kept 100, reduced 5, kept 15", "[80, 15, 1]", "[15, 0, 1]")) << "gaps after blocks";
  EXPECT_FALSE(over("f32", "kept 100, reduced 5, kept 15", "[75, 15, 1]", "[16, 0, 1]")) << "outputs apart";
  EXPECT_FALSE(over("f32", "reduced 5, kept 15", "[15, 1]", "[0, 1]")) << "nothing follows";
  EXPECT_FALSE(over("s8", "kept 100, reduced 5, kept 15", "[75, 15, 1]", "[15, 0, 1]", target::Isa::avx512_core))
      << "by masks";
}

TEST(Choose, ColumnsGoAroundTheCachesWhereAllRowsAreLines) {
  const auto around = [](const std::string& space, const std::string& in, const std::string& out) {
    return choose(spec_of("sum", "f32", space, in, out), machine(target::Isa::avx2, 1)).around;
  };
  EXPECT_TRUE(around("kept 500000, reduced 6, kept 32", "[192, 32, 1]", "[32, 0, 1]"));
  EXPECT_FALSE(around("kept 500000, reduced 6, kept 24", "[144, 24, 1]", "[24, 0, 1]")) << "lines shared by rows";
  EXPECT_TRUE(around("reduced 6, kept 12000001", "[12000001, 1]", "[0, 1]")) << "one row";
}

TEST(Choose, NarrowColumnsOfIndicesAreStepsOrGroups) {
  const auto columns_of = [](const char* dtype, const char* space, const char* in) {
    const std::string text = std::string("kernel\nspace ") + space + "\nin x0 " + dtype + " " + in +
                             "\nout y0 s64 [0, 1]\n%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n";
    const KernelSpec spec = kernel::parse(text).value();
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return std::pair{schedule.width, schedule.columns};
  };
  const auto pair = [](int width, std::int64_t columns) { return std::pair{width, columns}; };
  EXPECT_EQ(columns_of("f32", "reduced 1000, kept 8", "[8, 1]"), pair(8, 16)) << "two rows a step";
  EXPECT_EQ(columns_of("s8", "reduced 1000, kept 8", "[8, 1]"), pair(8, 32)) << "four rows a step";
  EXPECT_EQ(columns_of("f32", "reduced 1000, kept 17", "[17, 1]"), pair(17, 272)) << "groups of 16 rows";
  EXPECT_EQ(columns_of("f32", "reduced 1000, kept 1024", "[1024, 1]").first, 0);
  EXPECT_EQ(columns_of("f32", "reduced 64, kept 32", "[32, 1]"), pair(0, 0)) << "two steps down all rows";
  EXPECT_EQ(columns_of("f32", "reduced 65, kept 15", "[15, 1]"), pair(15, 16)) << "more rows";
  EXPECT_NE(columns_of("f32", "reduced 64, kept 33", "[33, 1]").second, 0) << "more steps";
  EXPECT_EQ(columns_of("s8", "reduced 64, kept 64", "[64, 1]"), pair(0, 0)) << "32 lanes a step";
  EXPECT_NE(columns_of("s8", "reduced 64, kept 65", "[65, 1]").second, 0);
  EXPECT_NE(columns_of("f32", "reduced 64, kept 16", "[32, 2]").second, 0) << "elements apart";
  EXPECT_EQ(columns_of("f32", "reduced 143, kept 17", "[17, 1]").first, 0) << "8 groups are folded too often";
  EXPECT_EQ(columns_of("f32", "reduced 144, kept 17", "[17, 1]"), pair(17, 272)) << "a row would leave 15 lanes empty";
  EXPECT_EQ(columns_of("f32", "reduced 255, kept 100", "[100, 1]").first, 0) << "a row would leave 12";
  EXPECT_EQ(columns_of("f32", "reduced 256, kept 100", "[100, 1]"), pair(100, 400)) << "no more groups are asked for";
  EXPECT_EQ(columns_of("s8", "reduced 207, kept 20", "[20, 1]"), pair(20, 32)) << "a row is one step";
  EXPECT_EQ(columns_of("s8", "reduced 208, kept 20", "[20, 1]"), pair(20, 160)) << "groups of 8 rows";
}

TEST(Choose, AnInnermostReducedLevelMayStandApart) {
  using Levels = std::vector<int>;
  const auto apart = [](const char* monoid, const char* dtype, const char* space, const char* in, const char* out) {
    return levels_apart(spec_of(monoid, dtype, space, in, out));
  };
  const char* space = "kept 16, reduced 64, kept 64, reduced 64";
  const char* in = "[262144, 4096, 64, 1]";
  const char* out = "[64, 0, 1, 0]";
  for (const char* dtype : {"f32", "bf16", "f64", "s8"})
    for (const char* monoid : {"sum", "max"})
      EXPECT_EQ(apart(monoid, dtype, space, in, out), Levels{3}) << dtype << monoid;
  EXPECT_EQ(apart("argmax", "f32", space, in, out), Levels{}) << "an index does not say where it was";
  EXPECT_EQ(apart("sum", "f32", "kept 16, reduced 4, kept 64, reduced 256", "[65536, 16384, 256, 1]", out), Levels{})
      << "long rows";
  EXPECT_EQ(apart("sum", "f32", "reduced 16, kept 4096, reduced 64", "[262144, 64, 1]", "[0, 1, 0]"), Levels{0})
      << "the other way as many partial results as a sixteenth of the elements";
  EXPECT_EQ(
      apart("sum", "f32", "reduced 2, kept 2, reduced 3, kept 4, reduced 8", "[192, 96, 32, 8, 1]", "[0, 4, 0, 1, 0]"),
      (Levels{0, 2}));
  EXPECT_EQ(apart("sum", "f32", "reduced 16, kept 4096, reduced 201", "[823296, 201, 1]", "[0, 1, 0]"), Levels{})
      << "rows that are not packed";
  EXPECT_EQ(apart("sum", "f32", "reduced 64, kept 64, reduced 64, kept 64", "[262144, 4096, 64, 1]", "[0, 64, 0, 1]"),
            Levels{})
      << "long columns";
  const auto inside = [&](const char* dtype, const char* levels, const char* strides) {
    return apart("max", dtype, levels, strides, "[0, 3, 0, 1]");
  };
  EXPECT_EQ(inside("f32", "reduced 100, kept 24, reduced 12, kept 3", "[864, 36, 3, 1]"), Levels{2});
  EXPECT_EQ(inside("f32", "reduced 31, kept 24, reduced 12, kept 90", "[25920, 1080, 90, 1]"), Levels{}) << "few rows";
  EXPECT_EQ(inside("f32", "reduced 32, kept 24, reduced 16, kept 90", "[34560, 1440, 90, 1]"), Levels{}) << "in line";
  EXPECT_EQ(inside("s8", "reduced 32, kept 24, reduced 16, kept 300", "[115200, 4800, 300, 1]"), Levels{2});
  EXPECT_EQ(inside("f32", "reduced 2, kept 24, reduced 8, kept 8", "[1536, 64, 8, 1]"), Levels{2}) << "short blocks";
  EXPECT_EQ(inside("f32", "reduced 2, kept 24, reduced 9, kept 8", "[1728, 72, 8, 1]"), Levels{}) << "of 288 bytes";
  EXPECT_EQ(inside("f32", "reduced 3, kept 24, reduced 9, kept 8", "[1728, 72, 8, 1]"), Levels{2}) << "three of them";
  EXPECT_EQ(inside("f32", "reduced 2, kept 4, reduced 8, kept 8", "[256, 64, 8, 1]"), Levels{}) << "few blocks";
  EXPECT_EQ(apart("sum", "f32", "kept 2, reduced 2, kept 2, reduced 3", "[12, 6, 3, 1]", "[2, 0, 1, 0]"), Levels{})
      << "little work";
  EXPECT_EQ(apart("sum", "f32", "kept 65536, reduced 64", "[64, 1]", "[1, 0]"), Levels{}) << "one reduced level";
}

TEST(Choose, AFullReductionIsSplitByItsShapeAlone) {
  const KernelSpec spec = spec_of("sum", "f32", "reduced 4194304", "[1]", "[0]");
  const Schedule one = choose(spec, machine(target::Isa::avx2, 1));
  EXPECT_EQ(one.split.level, 0);
  EXPECT_EQ(one.split.grain % 1024, 0);
  for (const target::Isa isa : {target::Isa::avx2, target::Isa::avx512_core}) {
    for (const int cores : {1, 2, 3, 64}) {
      const Schedule other = choose(spec, machine(isa, cores));
      EXPECT_EQ(other.split, one.split);
      EXPECT_EQ(other.nest, one.nest);
      EXPECT_EQ(other.vector_level, one.vector_level);
    }
  }
}

TEST(Choose, RowsThatLieApartAreSplitBetweenRows) {
  const auto split = [](const char* monoid, int rows, std::int64_t l2_bytes) {
    const KernelSpec spec = spec_of(monoid, "f32", "reduced " + std::to_string(rows) + ", kept 3, reduced 50176",
                                    "[150528, 50176, 1]", "[0, 1, 0]");
    target::Target target = machine(target::Isa::avx2, 2);
    target.l2_bytes = l2_bytes;
    const Schedule schedule = choose(spec, target);
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.split;
  };
  for (const std::int64_t l2_bytes : {std::int64_t{1} << 20, std::int64_t{1} << 30})
    EXPECT_EQ(split("sum", 60, l2_bytes), (Cut{0, 8})) << "by the shape alone";
  EXPECT_EQ(split("sum", 8, 1 << 20), (Cut{0, 1}));
  EXPECT_EQ(split("sum", 7, 1 << 20).level, 2) << "too few for all pieces";
  EXPECT_EQ(split("max", 64, 1 << 20), (Cut{0, 32})) << "a piece for each core";
}

TEST(Choose, OneCoreDoesNotSplitWhatComesOutTheSameAnyway) {
  for (const char* dtype : {"f32", "s64"}) {
    const KernelSpec spec = spec_of("max", dtype, "reduced 4194304", "[1]", "[0]");
    EXPECT_EQ(choose(spec, machine(target::Isa::avx2, 1)).split.level, -1) << dtype;
    EXPECT_EQ(choose(spec, machine(target::Isa::avx2, 2)).split.level, 0) << dtype;
  }
}

/// Variance: two passes, the second of which waits for the first.
KernelSpec variance_of(const std::string& space, const std::string& in, const std::string& out) {
  const Result<KernelSpec> spec =
      kernel::parse("kernel\nspace " + space + "\nin x0 f32 " + in + "\nout y0 f32 " + out +
                    "\n%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\n%4 = sub %0 %3\n%5 = square %4\n"
                    "%6 = reduce sum %5\n%7 = div %6 %2\nstore y0 %7\n");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.value();
}

TEST(Choose, ShortRowsInStagesTakeTurns) {
  const auto rows = [](const KernelSpec& spec) {
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 2));
    EXPECT_EQ(schedule.nest, Nest::staged_rows);
    EXPECT_TRUE(check(spec, schedule).ok());
    return schedule.rows_at_once;
  };
  EXPECT_EQ(rows(variance_of("kept 4096, reduced 512", "[512, 1]", "[1, 0]")), 2);
  EXPECT_EQ(rows(variance_of("kept 4096, reduced 1024", "[1024, 1]", "[1, 0]")), 1);
  EXPECT_EQ(rows(variance_of("kept 1, reduced 128", "[128, 1]", "[1, 0]")), 1);
  EXPECT_EQ(rows(variance_of("reduced 128", "[1]", "[0]")), 1);
}

TEST(Check, RowsThatTakeTurnsNeedALevelOfThem) {
  const KernelSpec many = variance_of("kept 8, reduced 128", "[128, 1]", "[1, 0]"),
                   one = variance_of("reduced 128", "[1]", "[0]");
  EXPECT_TRUE(check(many, parse("avx2 staged_rows level=1 unroll=2 rows=4").value()).ok());
  EXPECT_FALSE(check(many, parse("avx2 staged_rows level=1 unroll=2 rows=8").value()).ok());
  EXPECT_FALSE(check(many, parse("avx2 staged_rows level=1 unroll=2 rows=0").value()).ok());
  EXPECT_TRUE(check(one, parse("avx2 staged_rows level=0 unroll=2").value()).ok());
  EXPECT_FALSE(check(one, parse("avx2 staged_rows level=0 unroll=2 rows=2").value()).ok());
  EXPECT_FALSE(check(one, parse("avx2 staged_rows level=0 unroll=2 ahead=1").value()).ok());
}

TEST(Choose, OutputsTakeTurnsWhereMemoryWouldBeReadOutOfOrder) {
  const auto chosen = [](const char* monoid, const std::string& space, const std::string& in, const std::string& out) {
    const KernelSpec spec = spec_of(monoid, "f32", space, in, out);
    Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok());
    schedule.tile = {};
    return print(schedule);
  };
  const std::string space = "reduced 80, kept 80, reduced 6400", in = "[512000, 6400, 1]", out = "[0, 1, 0]";
  EXPECT_EQ(chosen("sum", space, in, out), "avx2 rows level=2 unroll=4 turns=64");
  EXPECT_EQ(chosen("max", space, in, out), "avx2 rows level=2 unroll=2 turns=64");
  EXPECT_EQ(chosen("sum", space, "[6400, 512000, 1]", out), "avx2 rows level=2 unroll=4") << "what is kept is outside";
  EXPECT_EQ(chosen("sum", "reduced 16, kept 8, reduced 640", "[5120, 640, 1]", out), "avx2 rows level=2 unroll=4")
      << "L2 holds it";
  EXPECT_EQ(chosen("sum", "reduced 8, kept 500, reduced 1000", "[500000, 1000, 1]", out), "avx2 rows level=2 unroll=4")
      << "few rows are streams";
  EXPECT_EQ(chosen("max", "reduced 16, kept 4096, reduced 64", "[262144, 64, 1]", out), "avx2 rows level=2 unroll=2")
      << "few rows are streams";
  EXPECT_EQ(chosen("sum", "kept 80, reduced 80, reduced 6400", "[600000, 7000, 1]", "[1, 0, 0]"),
            "avx2 rows level=2 unroll=4");
}

TEST(Choose, FewerOutputsTakeTurnsWhereTheLastCacheIsFast) {
  target::Target fast = machine(target::Isa::avx2, 1);
  fast.l3 = target::L3::fast;
  const auto turns = [&fast](int rows, int width) {
    const std::string level = std::to_string(width), outer = std::to_string(500 * width);
    const KernelSpec spec = spec_of("sum", "f32", "reduced " + std::to_string(rows) + ", kept 500, reduced " + level,
                                    "[" + outer + ", " + level + ", 1]", "[0, 1, 0]");
    const Schedule schedule = choose(spec, fast);
    EXPECT_TRUE(check(spec, schedule).ok());
    return schedule.turns > 0;
  };
  EXPECT_TRUE(turns(4, 1000));
  EXPECT_TRUE(turns(8, 300));
  EXPECT_FALSE(turns(2, 2000)) << "rows of an output that are hardly apart";
  EXPECT_FALSE(turns(16, 100)) << "short rows";
  fast.isa = target::Isa::avx512_core;
  EXPECT_TRUE(turns(8, 500));
  EXPECT_FALSE(turns(8, 300));
  fast.l3 = target::L3::near;
  EXPECT_FALSE(turns(8, 1000));
  EXPECT_TRUE(turns(32, 100));
}

TEST(Choose, OneRowOfF32IsFourRunsWhereTheLastCacheIsFast) {
  target::Target fast = machine(target::Isa::avx2, 1);
  const auto runs = [&fast](const char* dtype, int extent) {
    const KernelSpec spec = spec_of("max", dtype, "reduced " + std::to_string(extent), "[1]", "[0]");
    const Schedule schedule = choose(spec, fast);
    EXPECT_TRUE(check(spec, schedule).ok());
    return schedule.rows_at_once;
  };
  EXPECT_EQ(runs("f32", 1 << 20), 1);
  fast.l3 = target::L3::fast;
  EXPECT_EQ(runs("f32", 1 << 20), 4);
  EXPECT_EQ(runs("f32", 1 << 16), 4) << "from L2 on";
  EXPECT_EQ(runs("f32", 1 << 12), 1) << "in L1";
  EXPECT_EQ(runs("bf16", 1 << 20), 1);
  fast.isa = target::Isa::avx512_core;
  EXPECT_EQ(runs("f32", 1 << 20), 4);
  EXPECT_EQ(runs("f32", 1 << 16), 1) << "in L2";
}

TEST(Choose, PackedBlocksOfShortRowsPrefetchWhatCachesDoNotHold) {
  target::Target one = machine(target::Isa::avx2, 1);
  one.l3_bytes = 32 << 20;
  const auto ahead = [&](std::int64_t rows, std::int64_t width) {
    const std::string row = std::to_string(width);
    const KernelSpec spec =
        spec_of("max", "f32", "kept " + std::to_string(rows) + ", reduced " + row, "[" + row + ", 1]", "[1, 0]");
    const Schedule schedule = choose(spec, one);
    EXPECT_EQ(schedule.nest, Nest::packed);
    return schedule.ahead;
  };
  EXPECT_TRUE(ahead(1 << 20, 8));
  EXPECT_FALSE(ahead(1 << 17, 8)) << "the last cache holds it";
  EXPECT_FALSE(ahead(1 << 18, 100)) << "long rows";
  one.l2_bytes = 2 << 20;
  one.l3 = target::L3::fast;
  EXPECT_TRUE(ahead(1 << 17, 8)) << "L2 does not";
  EXPECT_TRUE(ahead(1 << 17, 31));
  EXPECT_FALSE(ahead(1 << 15, 3));
  one.l3 = target::L3::far;
  EXPECT_TRUE(ahead(1 << 17, 8)) << "L2 does not";
  EXPECT_FALSE(ahead(1 << 17, 31)) << "long rows";
  EXPECT_FALSE(ahead(1 << 15, 8));
  EXPECT_TRUE(ahead(1 << 15, 3)) << "of the shortest rows, L1 does not";
}

TEST(Check, TurnsNeedOutputsInsideOfWhatIsReduced) {
  const KernelSpec inside = spec_of("sum", "f32", "reduced 3, kept 5, reduced 70", "[350, 70, 1]", "[0, 1, 0]"),
                   outside = spec_of("sum", "f32", "kept 5, reduced 70", "[70, 1]", "[1, 0]");
  EXPECT_TRUE(check(inside, parse("avx2 rows level=2 unroll=4 turns=4").value()).ok());
  EXPECT_FALSE(check(inside, parse("avx2 rows level=2 unroll=4 turns=65").value()).ok());
  EXPECT_FALSE(check(inside, parse("avx2 rows level=2 unroll=4 turns=-1").value()).ok());
  EXPECT_FALSE(check(outside, parse("avx2 rows level=1 unroll=4 turns=4").value()).ok());
  EXPECT_FALSE(check(inside, parse("avx2 columns level=1 rows=4 columns=64 turns=4").value()).ok());
  EXPECT_TRUE(check(inside, parse("avx2 columns level=1 rows=4 columns=64").value()).ok());
}

TEST(Check, BlocksAreAskedForInsideAKeptLevel) {
  const KernelSpec inside = spec_of("sum", "f32", "kept 5, reduced 70, kept 64", "[4480, 64, 1]", "[64, 0, 1]"),
                   far_apart = spec_of("sum", "f32", "kept 5, reduced 70, kept 64", "[4480000, 64, 1]", "[64, 0, 1]"),
                   alone = spec_of("sum", "f32", "reduced 70, kept 64", "[64, 1]", "[0, 1]");
  const auto legal = [](const KernelSpec& spec, const char* schedule) {
    return check(spec, parse(schedule).value()).ok();
  };
  EXPECT_TRUE(legal(inside, "avx2 columns level=2 rows=4 blocks=1 columns=64"));
  EXPECT_FALSE(legal(far_apart, "avx2 columns level=2 rows=4 blocks=1 columns=64"));
  EXPECT_FALSE(legal(alone, "avx2 columns level=1 rows=4 blocks=1 columns=64"));
}

TEST(Check, StreamsOfColumnsTakeTurnsInSumsOfElementsApart) {
  const auto column = [](const char* monoid, const char* dtype, const char* strides) {
    return spec_of(monoid, dtype, "reduced 100, kept 1000", strides, "[0, 1]");
  };
  const auto message = [](const KernelSpec& spec, const std::string& schedule) {
    return check(spec, parse("avx2 columns level=1 " + schedule).value()).message();
  };
  const KernelSpec sum = column("sum", "f32", "[3000, 3]");
  const std::string refused = "schedule: turns is 1 for streams of sums over tiles of columns whose elements lie apart";
  EXPECT_EQ(message(sum, "rows=4 columns=64 turns=1"), "");
  EXPECT_EQ(message(sum, "rows=4 columns=64 turns=2"), refused);
  EXPECT_EQ(message(column("sum", "f32", "[1000, 1]"), "rows=4 columns=64 turns=1"), refused);
  EXPECT_EQ(message(column("max", "f32", "[3000, 3]"), "rows=4 columns=64 turns=1"), refused);
  EXPECT_EQ(message(column("sum", "f64", "[3000, 3]"), "rows=8 columns=64 turns=1"), refused);
}

TEST(Choose, StreamsOfSumsOfElementsApartTakeTurnsOnZen5) {
  target::Target target = machine(target::Isa::avx2, 1);
  const auto chosen = [&target](const char* strides) {
    return print(choose(spec_of("sum", "f32", "reduced 100, kept 1000", strides, "[0, 1]"), target));
  };
  EXPECT_EQ(chosen("[3000, 3]"), "avx2 columns level=1 rows=4 columns=2048");
  target.l3 = target::L3::fast;
  EXPECT_EQ(chosen("[3000, 3]"), "avx2 columns level=1 rows=4 turns=1 columns=2048");
  EXPECT_EQ(chosen("[1000, 1]"), "avx2 columns level=1 rows=4 columns=2048") << "side by side";
}

TEST(Choose, ColumnsTooFewForPartialResultsAreCutNarrowWhereCachesHoldThem) {
  const KernelSpec small = spec_of("sum", "f32", "reduced 512, kept 512", "[512, 1]", "[0, 1]"),
                   large = spec_of("sum", "f32", "reduced 256, kept 4096", "[4096, 1]", "[0, 1]");
  EXPECT_EQ(choose(small, machine(target::Isa::avx2, 2)).tile, (Cut{1, 256}));
  EXPECT_EQ(choose(small, machine(target::Isa::avx2, 1)).tile, Cut{});
  EXPECT_EQ(choose(large, machine(target::Isa::avx2, 8)).tile, (Cut{1, 1024}));
}

TEST(Choose, SmallWorkIsNotCut) {
  const KernelSpec spec = spec_of("sum", "f32", "kept 8, reduced 128", "[128, 1]", "[1, 0]");
  const Schedule schedule = choose(spec, machine(target::Isa::avx2, 8));
  EXPECT_EQ(schedule.tile.level, -1);
  EXPECT_EQ(schedule.split.level, -1);
}

TEST(Choose, OneRowBeyondTheLastCacheIsFourRuns) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.cores = 1;
  const auto streams = [&machine](const std::string& monoid, const std::string& dtype, std::int64_t elements,
                                  int stride = 1) {
    const std::string space = "reduced " + std::to_string(elements);
    return choose(spec_of(monoid, dtype, space, "[" + std::to_string(stride) + "]", "[0]"), machine).rows_at_once;
  };
  const std::int64_t most = machine.last_cache_bytes() / 4;
  EXPECT_EQ(streams("max", "f32", most), 1);
  EXPECT_EQ(streams("max", "f32", most + 1), 4);
  EXPECT_EQ(streams("sum", "s32", most + 1), 4);
  const std::int64_t runs = (32 << 20) / 4;
  EXPECT_EQ(streams("sum", "f32", runs), 1);
  machine.l3_bytes = std::int64_t{1} << 40;
  EXPECT_EQ(streams("sum", "f32", runs + 1), 4) << "whatever the machine, as its order decides bits";
  machine.l3_bytes = 0;
  EXPECT_EQ(streams("sum", "f32", runs), 1);
  machine.l3_bytes = most * 4;
  EXPECT_EQ(streams("max", "f32", most + 1, 2), 1) << "with gaps";
  const KernelSpec row = spec_of("max", "f32", "reduced 4096", "[1]", "[0]");
  EXPECT_TRUE(check(row, parse("avx2 rows level=0 unroll=2 rows=4").value()).ok());
  EXPECT_FALSE(check(row, parse("avx2 rows level=0 unroll=2 rows=2").value()).ok());
}

TEST(Choose, RowsBeyondTheLastCacheAreFourStreams) {
  target::L3 l3 = target::L3::far;
  const auto streams = [&](const std::string& monoid, const std::string& dtype, int rows, int length) {
    target::Target small = machine(target::Isa::avx2, 1);
    small.l3_bytes = 0;
    small.l3 = l3;
    const std::string space = "kept " + std::to_string(rows) + ", reduced " + std::to_string(length);
    const KernelSpec spec = spec_of(monoid, dtype, space, "[" + std::to_string(length) + ", 1]", "[1, 0]");
    const Schedule schedule = choose(spec, small);
    EXPECT_TRUE(check(spec, schedule).ok());
    return schedule.rows_at_once;
  };
  EXPECT_EQ(streams("sum", "f32", 100, 1024), 4);
  EXPECT_EQ(streams("sum", "f64", 4, 1024), 4);
  EXPECT_EQ(streams("max", "bf16", 100, 1024), 4);
  EXPECT_EQ(streams("sum", "f32", 3, 1024), 1);
  EXPECT_EQ(streams("sum", "f32", 100, 200), 1) << "rows of less than 1 KiB";
  l3 = target::L3::near;
  EXPECT_EQ(streams("sum", "f32", 100, 1024), 4);
  EXPECT_EQ(streams("max", "s8", 100, 2048), 4);
  EXPECT_EQ(streams("max", "bf16", 100, 1024), 2) << "extremes with a set for each stream";
  const KernelSpec spec = spec_of("sum", "f32", "kept 8, reduced 1024", "[1024, 1]", "[1, 0]");
  EXPECT_TRUE(check(spec, parse("avx2 rows level=1 unroll=4 rows=4 ahead=1").value()).ok());
  EXPECT_FALSE(check(spec, parse("avx2 rows level=1 unroll=4 rows=4").value()).ok()) << "only runs come in order";
  EXPECT_FALSE(check(spec, parse("avx2 rows level=1 unroll=4 ahead=1").value()).ok());
  EXPECT_FALSE(check(spec, parse("avx2 rows level=1 unroll=4 rows=2 ahead=1").value()).ok());
  const KernelSpec apart = spec_of("sum", "f32", "kept 8, reduced 1024", "[2048, 2]", "[1, 0]");
  EXPECT_FALSE(check(apart, parse("avx2 rows level=1 unroll=4 rows=4 ahead=1").value()).ok());
}

TEST(Choose, RowsOfNarrowLanesThatNoCacheHoldsAreNotPacked) {
  const auto nest_of = [](const std::string& monoid, const std::string& dtype, int width, std::int64_t l3) {
    target::Target small = machine(target::Isa::avx2, 1);
    small.l2_bytes = small.l3_bytes = l3;
    const std::string row = std::to_string(width), to = monoid == "argmax" ? "s64" : dtype;
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace kept 32000, reduced " + row + "\nin x0 " + dtype + " [" + row + ", 1]\nout y0 " +
                      to + " [1, 0]\n%0 = load x0\n%1 = reduce " + monoid + " %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return choose(spec.value(), small).nest;
  };
  constexpr std::int64_t kFar = 1 << 16, kNear = 1 << 30;
  for (const char* dtype : {"bf16", "u16", "s8"}) {
    EXPECT_EQ(nest_of("max", dtype, 100, kNear), Nest::packed) << dtype;
    EXPECT_EQ(nest_of("max", dtype, 100, kFar), Nest::rows) << dtype;
    EXPECT_EQ(nest_of("max", dtype, 20, kFar), Nest::packed) << dtype << ", less than a line";
  }
  EXPECT_EQ(nest_of("max", "bf16", 300, kFar), Nest::packed) << "a row after the other";
  EXPECT_EQ(nest_of("max", "f32", 100, kFar), Nest::packed);
  EXPECT_EQ(nest_of("sum", "bf16", 100, kFar), Nest::packed) << "bits go by the shape";
  EXPECT_EQ(nest_of("argmax", "s8", 300, kNear), Nest::packed);
  EXPECT_EQ(nest_of("argmax", "s8", 300, kFar), Nest::rows);
  EXPECT_EQ(nest_of("argmax", "bf16", 300, kFar), Nest::packed);
}

TEST(Choose, IndicesOfLongRowsArePackedWhereTheMachineGains) {
  const auto nest_of = [](int kept, int reduced, const std::string& dtype, target::Target target) {
    const std::string row = std::to_string(reduced);
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace kept " + std::to_string(kept) + ", reduced " + row + "\nin x0 " + dtype + " [" +
                      row + ", 1]\nout y0 s64 [1, 0]\n%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return choose(spec.value(), target).nest;
  };
  target::Target wide = machine(target::Isa::avx512_core, 1);
  for (const std::string dtype : {"f32", "bf16", "u16"}) {
    EXPECT_EQ(nest_of(160, 1024, dtype, wide), Nest::packed) << dtype;
    EXPECT_EQ(nest_of(160, 1025, dtype, wide), Nest::rows) << dtype;
  }
  EXPECT_EQ(nest_of(160, 320, "s32", wide), Nest::packed);
  EXPECT_EQ(nest_of(160, 321, "s32", wide), Nest::rows);
  EXPECT_EQ(nest_of(160, 1000, "s8", wide), Nest::packed);
  EXPECT_EQ(nest_of(160, 1001, "s8", wide), Nest::rows);
  EXPECT_EQ(nest_of(40, 500, "bf16", wide), Nest::packed) << "8 rows twice";
  EXPECT_EQ(nest_of(33, 1000, "bf16", wide), Nest::rows) << "15 rows twice";
  wide.l3 = target::L3::far;
  EXPECT_EQ(nest_of(160, 200, "f32", wide), Nest::packed);
  EXPECT_EQ(nest_of(160, 201, "f32", wide), Nest::rows);
  EXPECT_EQ(nest_of(160, 1024, "bf16", wide), Nest::packed);
  wide.isa = target::Isa::avx2;
  EXPECT_EQ(nest_of(160, 1024, "f32", wide), Nest::packed);
}

TEST(Choose, LongRowsOfIndicesComeInGroupsOfSteps) {
  const auto unroll = [](const std::string& monoid, const std::string& dtype, int elements) {
    const std::string row = std::to_string(elements);
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace kept 7, reduced " + row + "\nin x0 " + dtype + " [" + row +
                      ", 1]\nout y0 s64 [1, 0]\n%0 = load x0\n%1 = reduce " + monoid + " %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    const Schedule schedule = choose(spec.value(), machine(target::Isa::avx2, 1));
    EXPECT_EQ(schedule.nest, Nest::rows);
    return schedule.unroll;
  };
  EXPECT_EQ(unroll("argmax", "f32", 384), 4);
  EXPECT_EQ(unroll("argmax", "f32", 383), 2);
  EXPECT_EQ(unroll("argmin", "f64", 192), 4);
  EXPECT_EQ(unroll("argmin", "f64", 191), 2);
  EXPECT_EQ(unroll("argmax", "s32", 1000), 4);
  EXPECT_EQ(unroll("argmax", "u32", 1000), 2) << "no extreme of these is one instruction everywhere";
}

TEST(Choose, StagedColumnsTakeEightRowsAndFewerColumnsWhereTheyWrite) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  const KernelSpec reads = staged_spec("reduced 1024, kept 4096", "[4096, 1]", "[0, 1]"),
                   writes = staged_spec("reduced 1024, kept 2048", "[2048, 1]", "[2048, 1]",
                                        "%3 = sub %0 %2\nstore y0 %3\n");
  EXPECT_EQ(print(choose(reads, machine)), "avx2 staged_columns level=1 rows=8 columns=4096");
  EXPECT_EQ(print(choose(writes, machine)), "avx2 staged_columns level=1 rows=8 serpentine=1 columns=1024");
  machine.cores = 8;
  EXPECT_EQ(print(choose(reads, machine)), "avx2 staged_columns level=1 rows=8 ahead=1 columns=4096 tile=1:512");
}

/// Threads take what is kept outside where columns are too few to be parted.
TEST(Choose, StagedColumnsOfShortRowsAreTiledOutside) {
  const auto tile = [](const std::string& space, const std::string& strides, int cores) {
    const Schedule schedule = choose(staged_spec(space, strides, strides, "%3 = sub %0 %2\nstore y0 %3\n"),
                                     machine(target::Isa::avx2, cores));
    EXPECT_EQ(schedule.nest, Nest::staged_columns);
    return std::pair(schedule.tile.level, schedule.tile.grain);
  };
  EXPECT_EQ(tile("kept 32, reduced 1000, kept 49", "[49000, 49, 1]", 2), std::pair(0, std::int64_t{4}));
  EXPECT_EQ(tile("kept 8, reduced 1000, kept 512", "[512000, 512, 1]", 2), std::pair(0, std::int64_t{1}));
  EXPECT_EQ(tile("kept 8, reduced 1000, kept 4096", "[4096000, 4096, 1]", 2), std::pair(2, std::int64_t{2048}))
      << "parts of long rows";
  EXPECT_EQ(tile("reduced 1000, kept 512", "[512, 1]", 2).first, -1) << "there is nothing outside";
}

TEST(Choose, ShortBlocksInStagesAreTurned) {
  const std::string writes = "%3 = div %1 %2\nstore y0 %3\n";
  const auto chosen = [](const KernelSpec& spec) {
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return print(schedule);
  };
  EXPECT_EQ(chosen(staged_spec("kept 1000, reduced 8", "[8, 1]", "[8, 1]", writes)),
            "avx2 staged_columns level=0 rows=8 columns=144 width=8");
  EXPECT_EQ(chosen(staged_spec("kept 1000, reduced 13", "[20, 1]", "[1, 0]")),
            "avx2 staged_columns level=0 rows=4 columns=160 width=13")
      << "rows may have gaps";
  EXPECT_EQ(chosen(staged_spec("kept 1000, reduced 64", "[64, 1]", "[64, 1]", writes)),
            "avx2 staged_columns level=0 rows=8 columns=16 width=64 tile=0:512");
  EXPECT_EQ(chosen(staged_spec("kept 1000, reduced 20, kept 4", "[80, 4, 1]", "[80, 4, 1]", writes)),
            "avx2 staged_columns level=0 rows=4 columns=16 width=80 tile=0:416");
  EXPECT_EQ(chosen(staged_spec("kept 1000, reduced 4, kept 3, reduced 5", "[60, 15, 5, 1]", "[3, 0, 1, 0]")),
            "avx2 staged_columns level=0 rows=4 columns=48 width=60 tile=0:576");
  EXPECT_EQ(chosen(staged_spec("kept 40, kept 2, reduced 8", "[20, 8, 1]", "[2, 1, 0]")),
            "avx2 staged_columns level=0 rows=8 columns=192 width=8");
  const auto turns = [](const KernelSpec& spec) { return choose(spec, machine(target::Isa::avx2, 1)).width > 0; };
  EXPECT_TRUE(turns(staged_spec("kept 1000, reduced 80", "[80, 1]", "[80, 1]", writes)));
  EXPECT_FALSE(turns(staged_spec("kept 1000, reduced 81", "[81, 1]", "[81, 1]", writes))) << "long rows";
  EXPECT_FALSE(turns(staged_spec("kept 100000, reduced 65", "[65, 1]", "[65, 1]", writes))) << "beyond the caches";
  EXPECT_FALSE(turns(staged_spec("kept 31, reduced 8", "[8, 1]", "[8, 1]", writes))) << "few of them";
  EXPECT_TRUE(turns(staged_spec("kept 1000, reduced 20, kept 8", "[160, 8, 1]", "[160, 8, 1]", writes)));
  const auto avx512 = [](int columns) {
    const std::string row = std::to_string(columns), strides = "[" + std::to_string(20 * columns) + ", " + row + ", 1]";
    return choose(staged_spec("kept 1000, reduced 20, kept " + row, strides, strides, "%3 = div %1 %2\nstore y0 %3\n"),
                  machine(target::Isa::avx512_core, 1))
               .width > 0;
  };
  EXPECT_TRUE(avx512(11));
  EXPECT_FALSE(avx512(12)) << "masks leave few lanes empty";
  EXPECT_TRUE(avx512(23));
  EXPECT_FALSE(avx512(24));
  EXPECT_TRUE(turns(staged_spec("kept 1000, reduced 20, kept 24", "[480, 24, 1]", "[480, 24, 1]", writes)));
  EXPECT_FALSE(turns(staged_spec("kept 1000, reduced 20, kept 25", "[500, 25, 1]", "[500, 25, 1]", writes)))
      << "columns that fill lanes";
  EXPECT_FALSE(turns(staged_spec("kept 1000, reduced 20, kept 16", "[320, 16, 1]", "[320, 16, 1]", writes)))
      << "columns of a whole step";
  EXPECT_FALSE(turns(staged_spec("kept 1000, reduced 400, kept 6", "[2400, 6, 1]", "[2400, 6, 1]", writes)))
      << "long blocks";
  EXPECT_FALSE(turns(staged_spec("kept 1000, reduced 8", "[16, 2]", "[8, 1]", writes))) << "elements with gaps";
  EXPECT_FALSE(turns(staged_spec("reduced 8, kept 1000, reduced 8", "[8000, 8, 1]", "[0, 1, 0]")))
      << "reduced outside, too";
}

TEST(Choose, ShortRowsOfMemoryAreRows) {
  const auto turns = [](int rows, int row, const std::string& rest, bool stored) {
    const std::string width = std::to_string(row);
    const KernelSpec spec = staged_spec("kept " + std::to_string(rows) + ", reduced " + width, "[" + width + ", 1]",
                                        stored ? "[" + width + ", 1]" : "[1, 0]", rest);
    EXPECT_TRUE(check(spec, choose(spec, machine(target::Isa::avx2, 1))).ok());
    return choose(spec, machine(target::Isa::avx2, 1)).nest == Nest::staged_columns;
  };
  const std::string less_max = "%3 = sub %0 %2\nstore y0 %3\n", exps = "%3 = sub %1 %2\n%4 = exp %3\nstore y0 %4\n",
                    sum = "%3 = sub %1 %2\n%4 = reduce sum %3\nstore y0 %4\n";
  EXPECT_TRUE(turns(160000, 24, less_max, true) && turns(240000, 24, less_max, true));
  EXPECT_TRUE(turns(160000, 25, less_max, true)) << "32 MB, which caches may hold";
  EXPECT_FALSE(turns(240000, 25, less_max, true));
  EXPECT_TRUE(turns(240000, 36, exps, true));
  EXPECT_FALSE(turns(240000, 37, exps, true));
  EXPECT_TRUE(turns(240000, 47, sum, false));
  EXPECT_FALSE(turns(240000, 48, sum, false));
  EXPECT_TRUE(turns(80000, 48, sum, false));
}

TEST(Check, OnlyShortBlocksAreTurned) {
  const KernelSpec rows = staged_spec("kept 1000, reduced 8", "[8, 1]", "[1, 0]"),
                   columns = staged_spec("reduced 8, kept 1000", "[1000, 1]", "[0, 1]");
  const auto fits = [](const KernelSpec& spec, const std::string& text) {
    return check(spec, parse("avx2 staged_columns " + text).value()).ok();
  };
  EXPECT_TRUE(fits(rows, "level=0 rows=8 columns=16 width=8"));
  EXPECT_FALSE(fits(rows, "level=0 rows=8 columns=16 width=9"));
  EXPECT_FALSE(fits(rows, "level=0 rows=8 ahead=1 columns=16 width=8"));
  EXPECT_FALSE(fits(columns, "level=1 rows=8 columns=16 width=8"));
  const KernelSpec blocks = staged_spec("kept 66, reduced 3, kept 3", "[9, 3, 1]", "[3, 0, 1]");
  EXPECT_TRUE(fits(blocks, "level=0 columns=16 width=9 tile=0:32"));
  EXPECT_FALSE(fits(blocks, "level=0 columns=16 width=9 tile=2:1")) << "code has built in what is inside";
}

TEST(Choose, PlainReductionsOfShortRowsAndNarrowBlocksFarApartAreTurned) {
  const auto turns = [](const std::string& monoid, const std::string& dtype, const std::string& space,
                        const std::string& in, const std::string& out) {
    const KernelSpec spec = spec_of(monoid, dtype, space, in, out);
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.nest == Nest::staged_columns;
  };
  const auto rows = [&](const std::string& monoid, const std::string& dtype, int width) {
    return turns(monoid, dtype, "kept 100, reduced " + std::to_string(width), "[5000, 1]", "[1, 0]");
  };
  EXPECT_TRUE(rows("sum", "f32", 32));
  EXPECT_FALSE(rows("sum", "f32", 33));
  EXPECT_TRUE(rows("max", "s8", 56));
  EXPECT_FALSE(rows("max", "bf16", 57));
  EXPECT_TRUE(rows("max", "f64", 16));
  EXPECT_FALSE(rows("sum", "f64", 17));
  const auto blocks = [&](const std::string& dtype, int count, int reduced, int kept) {
    const std::string row = std::to_string(kept);
    return turns("max", dtype,
                 "kept " + std::to_string(count) + ", reduced " + std::to_string(reduced) + ", kept " + row,
                 "[5000, " + row + ", 1]", "[" + row + ", 0, 1]");
  };
  EXPECT_TRUE(blocks("f32", 100, 53, 3));
  EXPECT_FALSE(blocks("f32", 100, 54, 3));
  EXPECT_TRUE(blocks("f32", 100, 20, 6));
  EXPECT_FALSE(blocks("f32", 100, 15, 7)) << "columns fill their lanes";
  EXPECT_TRUE(blocks("f32", 1 << 16, 12, 4));
  EXPECT_FALSE(blocks("f32", 1 << 16, 20, 4)) << "beyond the caches";
  EXPECT_TRUE(blocks("u8", 1 << 16, 51, 7));
  EXPECT_FALSE(blocks("f32", 31, 20, 2)) << "few blocks";
  EXPECT_TRUE(blocks("f64", 100, 20, 2));
  EXPECT_FALSE(blocks("f64", 100, 3, 4));
  EXPECT_TRUE(turns("sum", "f32", "kept 1000, reduced 4, kept 3, reduced 5", "[60, 15, 5, 1]", "[3, 0, 1, 0]"));
}

TEST(Choose, StagedColumnsTurnBackWhereATileOutgrowsTheCache) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l2_bytes = 1 << 20;
  const auto turns_back = [&machine](const std::string& columns, const std::string& rest) {
    const std::string strides = "[" + columns + ", 1]";
    return choose(staged_spec("reduced 1024, kept " + columns, strides, strides, rest), machine).serpentine;
  };
  const std::string written = "%3 = sub %0 %2\nstore y0 %3\n";
  EXPECT_TRUE(turns_back("257", written));
  EXPECT_FALSE(turns_back("256", written)) << "the tile stays in L2 whole";
  machine.l2_bytes = 1 << 19;
  EXPECT_TRUE(turns_back("256", written));
  const KernelSpec reads = staged_spec("reduced 1024, kept 4096", "[4096, 1]", "[0, 1]");
  EXPECT_FALSE(choose(reads, machine).serpentine) << "there is one pass";
}

TEST(Choose, StagedColumnsPrefetchFromHalfTheLastCacheOnWhereTheyOnlyRead) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l3_bytes = 32 << 20;
  const std::string plain = "avx2 staged_columns level=1 rows=8 columns=4096",
                    ahead = "avx2 staged_columns level=1 rows=8 ahead=1 columns=4096";
  EXPECT_EQ(print(choose(staged_spec("reduced 1024, kept 4096", "[4096, 1]", "[0, 1]"), machine)), plain);
  EXPECT_EQ(print(choose(staged_spec("reduced 1025, kept 4096", "[4096, 1]", "[0, 1]"), machine)), ahead);
}

TEST(Choose, NarrowTilesThatAreButReadAskForTheNextOne) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  const auto asks = [&](std::int64_t kept) {
    const std::string row = std::to_string(kept);
    return choose(staged_spec("reduced 64, kept " + row, "[" + row + ", 1]", "[0, 1]",
                              "%3 = sub %0 %2\n%4 = exp %3\n%5 = reduce sum %4\nstore y0 %5\n"),
                  machine)
        .ahead;
  };
  machine.l2_bytes = 1 << 20;
  EXPECT_TRUE(asks(1 << 14));
  machine.l3 = target::L3::far;
  EXPECT_TRUE(asks(1 << 14));
  EXPECT_FALSE(asks(1 << 12)) << "L2 holds it";
  machine.l3 = target::L3::fast;
  EXPECT_TRUE(asks(1 << 14));
}

TEST(Choose, SeveralInputsOfColumnsAreReadInOrderOrInPagesWhereTheLastCacheIsFast) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l3_bytes = 32 << 20;
  const auto chosen = [&](int inputs, const std::string& dtype, int rows, const std::string& row) {
    std::string text = "kernel\nspace reduced " + std::to_string(rows) + ", kept " + row + "\n";
    for (int i = 0; i < inputs; ++i) text += "in x" + std::to_string(i) + " " + dtype + " [" + row + ", 1]\n";
    text += "out y0 " + dtype + " [0, 1]\n";
    for (int i = 0; i < inputs; ++i) text += "%" + std::to_string(i) + " = load x" + std::to_string(i) + "\n";
    int last = inputs;
    text += "%" + std::to_string(last) + " = max %0 %1\n";
    for (int i = 2; i < inputs; ++i, ++last)
      text += "%" + std::to_string(last + 1) + " = max %" + std::to_string(last) + " %" + std::to_string(i) + "\n";
    text += "%" + std::to_string(last + 1) + " = reduce max %" + std::to_string(last) + "\nstore y0 %" +
            std::to_string(last + 1) + "\n";
    const Result<KernelSpec> spec = kernel::parse(text);
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return spec.ok() ? print(choose(spec.value(), machine)) : "";
  };
  EXPECT_EQ(chosen(2, "f32", 1024, "4096"), "avx2 staged_columns level=1 rows=2 ahead=1 columns=4096");
  EXPECT_EQ(chosen(3, "f32", 1024, "4096"), "avx2 staged_columns level=1 rows=2 ahead=1 columns=4096");
  machine.l3 = target::L3::fast;
  const std::string in_order = "avx2 staged_columns level=1 rows=4 columns=4096";
  EXPECT_EQ(chosen(2, "f32", 1024, "4096"), "avx2 staged_columns level=1 rows=2 ahead=1 columns=1024");
  EXPECT_EQ(chosen(2, "f32", 512, "4096"), in_order) << "the last cache has room";
  EXPECT_EQ(chosen(2, "f32", 16384, "256"), in_order) << "short rows";
  const Result<KernelSpec> two_sums = kernel::parse(
      "kernel\nspace reduced 1024, kept 4096\nin x0 f32 [4096, 1]\nin x1 f32 [4096, 1]\nout y0 f32 [0, 1]\n"
      "out y1 f32 [0, 1]\n%0 = load x0\n%1 = load x1\n%2 = mul %0 %1\n%3 = reduce sum %2\n%4 = reduce sum %1\n"
      "store y0 %3\nstore y1 %4\n");
  ASSERT_TRUE(two_sums.ok()) << two_sums.status().message();
  EXPECT_EQ(print(choose(two_sums.value(), machine)), in_order) << "two reductions";
  EXPECT_EQ(chosen(3, "f32", 1024, "4096"), in_order);
  EXPECT_EQ(chosen(3, "f32", 256, "4096"), "avx2 staged_columns level=1 rows=2 columns=4096");
  EXPECT_EQ(chosen(4, "f32", 1024, "4096"), "avx2 staged_columns level=1 rows=2 ahead=1 columns=4096");
  machine.isa = target::Isa::avx512_core;
  EXPECT_EQ(chosen(2, "f32", 1024, "4096"), "avx512_core staged_columns level=1 rows=4 columns=4096");
  EXPECT_EQ(chosen(2, "bf16", 2048, "4096"), "avx512_core staged_columns level=1 rows=2 ahead=1 columns=2048");
}

TEST(Choose, ShortRowsOfOnePassTakeTurnsWhereManyReductionsEndInARoot) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  const auto rows = [&](const std::string& count, const std::string& ends) {
    const Result<KernelSpec> spec = kernel::parse(
        "kernel\nspace kept 1000, reduced " + count + "\nin x0 f32 [" + count + ", 1]\nin x1 f32 [" + count +
        ", 1]\nout y0 f32 [1, 0]\n%0 = load x0\n%1 = load x1\n%2 = mul %0 %1\n%3 = reduce sum %2\n" + ends);
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return spec.ok() ? choose(spec.value(), machine).rows_at_once : 0;
  };
  const std::string cosine =
      "%4 = square %0\n%5 = reduce sum %4\n%6 = square %1\n%7 = reduce sum %6\n%8 = mul %5 %7\n%9 = sqrt %8\n"
      "%10 = div %3 %9\nstore y0 %10\n";
  EXPECT_EQ(rows("500", cosine), 4);
  EXPECT_EQ(rows("600", cosine), 1) << "long rows";
  EXPECT_EQ(rows("500", "%4 = sqrt %3\nstore y0 %4\n"), 1) << "one reduction";
}

TEST(Choose, AFastLastCacheIsReadInOrder) {
  target::Target machine;
  machine.isa = target::Isa::avx512_core;
  const auto chosen = [&](const std::string& monoid, const std::string& dtype, const std::string& levels,
                          const std::string& strides, const std::string& to) {
    return print(choose(spec_of(monoid, dtype, levels, strides, to), machine));
  };
  const auto rows = [&](const std::string& monoid, const std::string& dtype, const std::string& count) {
    return chosen(monoid, dtype, "kept " + count + ", reduced 1024", "[1024, 1]", "[1, 0]");
  };
  const auto columns = [&](const std::string& dtype, const std::string& count) {
    return chosen("max", dtype, "reduced " + count + ", kept 4096", "[4096, 1]", "[0, 1]");
  };
  const std::string in_turns = "avx512_core rows level=1 unroll=4 rows=4 ahead=1 tile=0:16384";
  machine.l3 = target::L3::far;
  EXPECT_EQ(rows("sum", "f32", "65536"), in_turns);
  EXPECT_EQ(rows("max", "f32", "65536"), in_turns);
  machine.l3 = target::L3::fast;
  EXPECT_EQ(rows("sum", "f32", "65536"), "avx512_core rows level=1 unroll=4 tile=0:16384");
  EXPECT_EQ(rows("max", "f32", "65536"), "avx512_core rows level=1 unroll=4 rows=2 tile=0:16384");
  EXPECT_EQ(columns("f32", "1024"), "avx512_core columns level=1 rows=4 columns=4096");
  EXPECT_EQ(columns("bf16", "1024"), "avx512_core columns level=1 rows=8 columns=8192");
  EXPECT_EQ(columns("f32", "16384"), "avx512_core columns level=1 rows=4 columns=16384");
  EXPECT_EQ(chosen("sum", "f32", "reduced 67108864", "[1]", "[0]"),
            "avx512_core rows level=0 unroll=4 rows=4 split=0:8388608");
}

TEST(Choose, OutputsOfFewRowsGoAroundTheCachesThatTheyFill) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l3_bytes = 32 << 20;
  const auto goes_around = [&](std::int64_t rows, std::int64_t columns) {
    const std::string row = std::to_string(columns);
    return choose(
               spec_of("max", "f32", "reduced " + std::to_string(rows) + ", kept " + row, "[" + row + ", 1]", "[0, 1]"),
               machine)
        .around;
  };
  EXPECT_TRUE(goes_around(3, 5 << 18)) << "five eighths of a near cache";
  EXPECT_FALSE(goes_around(3, (5 << 18) - 16));
  machine.l3 = target::L3::far;
  EXPECT_TRUE(goes_around(3, 4 << 20));
  EXPECT_FALSE(goes_around(3, (4 << 20) - 16));
  EXPECT_TRUE(goes_around(48, 1 << 20));
  EXPECT_FALSE(goes_around(49, 1 << 20)) << "outputs are hardly any part of what is moved";
  const auto few = [&](const std::string& monoid, const std::string& dtype) {
    return spec_of(monoid, dtype, "reduced 2, kept 67108864", "[67108864, 1]", "[0, 1]");
  };
  EXPECT_TRUE(choose(few("max", "bf16"), machine).around);
  EXPECT_FALSE(choose(few("sum", "bf16"), machine).around) << "a step of 16 lanes has half a line of them";
}

TEST(Choose, StagedColumnsTakeFewerRowsOfMoreInputs) {
  const Result<KernelSpec> two = kernel::parse(
      "kernel\nspace reduced 256, kept 4096\nin x0 f32 [4096, 1]\nin x1 f32 [4096, 1]\nout y0 f32 [0, 1]\n"
      "%0 = load x0\n%1 = load x1\n%2 = mul %0 %1\n%3 = reduce sum %2\nstore y0 %3\n");
  ASSERT_TRUE(two.ok()) << two.status().message();
  target::Target machine;
  machine.isa = target::Isa::avx2;
  EXPECT_EQ(print(choose(two.value(), machine)), "avx2 staged_columns level=1 rows=4 columns=4096");
  machine.l3_bytes = 8 << 20;
  EXPECT_EQ(print(choose(two.value(), machine)), "avx2 staged_columns level=1 rows=2 ahead=1 columns=4096");
}

TEST(Choose, StagedColumnsKeepWhatIsExpensiveAndReadAgain) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l3_bytes = 64 << 20;
  const auto chosen = [&](std::int64_t rows, const std::string& rest, const std::string& dtype = "f32") {
    const Result<KernelSpec> spec = kernel::parse(
        "kernel\nspace reduced " + std::to_string(rows) + ", kept 512\nin x0 " + dtype + " [512, 1]\nout y0 " + dtype +
        " [512, 1]\n%0 = load x0\n%1 = exp %0\n%2 = reduce sum %1\n" + rest + "store y0 %3\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return print(choose(spec.value(), machine));
  };
  const std::string divided = "%3 = div %1 %2\n",
                    plain = "avx2 staged_columns level=1 rows=8 serpentine=1 columns=1024",
                    first = "avx2 staged_columns level=1 rows=8 keep=";
  EXPECT_EQ(chosen(100, divided), first + "512 part=1024 columns=1024");
  EXPECT_EQ(chosen(1000, divided), plain) << "the output can";
  EXPECT_EQ(chosen(1000, "%3 = sub %0 %2\n"), plain) << "nothing expensive is read again";
  EXPECT_EQ(chosen(100, divided, "f64"), "avx2 staged_columns level=1 rows=8 columns=1024")
      << "scratch keeps elements of 32 bits";
  machine.l3_bytes = 1 << 20;
  machine.l3 = target::L3::far;
  EXPECT_EQ(chosen(1000, divided), "avx2 staged_columns level=1 rows=8 ahead=1 claim=1 serpentine=1 columns=1024")
      << "scratch would drive out what L2 has";
  EXPECT_EQ(chosen(2048, divided),
            "avx2 staged_columns level=1 rows=8 ahead=1 around=1 claim=1 serpentine=1 columns=1024")
      << "nothing keeps it";
  machine.isa = target::Isa::avx512_core;
  EXPECT_EQ(chosen(1000, divided),
            "avx512_core staged_columns level=1 rows=8 ahead=1 around=1 claim=1 serpentine=1 columns=1024")
      << "it is as soon computed again as an output is read";
  machine.isa = target::Isa::avx2;
  machine.l3 = target::L3::near;
  const std::string around = "avx2 staged_columns level=1 rows=8 ahead=1 around=1 serpentine=1 keep=";
  EXPECT_EQ(chosen(1000, divided), around + "1024 part=512 columns=1024") << "the output would fill the last cache";
  EXPECT_EQ(chosen(8192, divided), around + "8192 part=64 columns=1024");
  EXPECT_EQ(chosen(8193, divided), "avx2 staged_columns level=1 rows=8 ahead=1 serpentine=1 columns=1024")
      << "parts are too narrow";
  machine.l3 = target::L3::fast;
  EXPECT_EQ(
      chosen(1000, divided),
      "avx2 staged_columns level=1 rows=8 stored=8 ahead=1 around=1 serpentine=1 keep=1024 part=512 columns=1024");
  machine.isa = target::Isa::avx512_core;
  EXPECT_EQ(chosen(1000, divided),
            "avx512_core staged_columns level=1 rows=8 stored=8 ahead=1 around=1 serpentine=1 columns=1024")
      << "it is as soon computed again";
  machine.l3_bytes = 512 << 10;
  EXPECT_EQ(chosen(128, divided),
            "avx512_core staged_columns level=1 rows=8 stored=8 around=1 keep=512 part=1024 columns=1024")
      << "rows are few";
}

/// Elements of a matrix less the reduction of their row or column.
std::string chosen_for_differences(const target::Target& target, const std::string& rows, int extent,
                                   const std::string& columns, int width) {
  const std::string row = std::to_string(width), strides = "[" + row + ", 1]";
  return print(choose(staged_spec(rows + " " + std::to_string(extent) + ", " + columns + " " + row, strides, strides,
                                  "%3 = sub %0 %2\nstore y0 %3\n"),
                      target));
}

target::Target with_last_cache_of_32_mib() {
  target::Target target = machine(target::Isa::avx2, 1);
  target.l2_bytes = 1 << 20;
  target.l3_bytes = 32 << 20;
  return target;
}

TEST(Choose, StagedColumnsAreStoredEightRowsAtATimeWhereTheLastCacheIsFast) {
  target::Target machine = with_last_cache_of_32_mib();
  const auto chosen = [&machine](int rows, int columns) {
    return chosen_for_differences(machine, "reduced", rows, "kept", columns);
  };
  const std::string one_row = "avx2 staged_columns level=1 rows=8 ahead=1 around=1 serpentine=1 columns=1024";
  EXPECT_EQ(chosen(1024, 4096), one_row);
  EXPECT_EQ(chosen(640, 4096), one_row) << "five eighths of the last cache";
  EXPECT_EQ(chosen(639, 4096), "avx2 staged_columns level=1 rows=8 serpentine=1 columns=1024");
  machine.l3 = target::L3::fast;
  const std::string together = "avx2 staged_columns level=1 rows=8 stored=8 ";
  EXPECT_EQ(chosen(1024, 4096), together + "around=1 serpentine=1 columns=4096");
  EXPECT_EQ(chosen(768, 4096), together + "around=1 serpentine=1 columns=4096") << "three quarters of the last cache";
  EXPECT_EQ(chosen(767, 4096), "avx2 staged_columns level=1 rows=8 serpentine=1 columns=1024");
  EXPECT_EQ(chosen(64, 65536), together + "around=1 columns=1024") << "half of L2 has room for a tile";
  EXPECT_EQ(chosen(2048, 4096), together + "ahead=1 around=1 serpentine=1 columns=1024") << "rows come from memory";
}

TEST(Choose, StagedRowsAreStoredInTurnsWhereTheLastCacheIsFast) {
  target::Target machine = with_last_cache_of_32_mib();
  const auto chosen = [&machine](int rows, int columns) {
    return chosen_for_differences(machine, "kept", rows, "reduced", columns);
  };
  const std::string rows = "avx2 staged_rows level=1 unroll=2 ";
  EXPECT_EQ(chosen(16384, 256), rows + "rows=2 tile=0:4096") << "short rows go through the caches";
  machine.l3 = target::L3::fast;
  EXPECT_EQ(chosen(16384, 256), rows + "rows=2 ahead=1 early=1 around=1 tile=0:4096");
  EXPECT_EQ(chosen(32768, 128), rows + "rows=2 ahead=1 around=1 tile=0:8192") << "there is time enough";
  EXPECT_EQ(chosen(4096, 1024), rows + "rows=2 ahead=1 early=1 around=1 tile=0:1024");
  EXPECT_EQ(chosen(65536, 1024), rows + "ahead=1 early=1 around=1 tile=0:16384") << "from memory";
  EXPECT_EQ(chosen(2048, 2048), rows + "ahead=1 early=1 around=1 tile=0:512");
  EXPECT_EQ(chosen(1024, 4096), rows + "ahead=1 around=1 tile=0:256");
  EXPECT_EQ(chosen(1024, 1024), rows + "rows=2 ahead=1 tile=0:256") << "the caches hold it";
}

TEST(Choose, ARowsOwnValuesAreNoLinesOfASweep) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  const auto rows_of = [&machine](const std::string& strides) {
    const Result<KernelSpec> spec = kernel::parse(
        "kernel\nspace reduced 256, kept 4096\nin x0 f32 [4096, 1]\nin x1 f32 " + strides +
        "\nout y0 f32 [0, 1]\n%0 = load x0\n%1 = load x1\n%2 = mul %0 %1\n%3 = reduce sum %2\nstore y0 %3\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return choose(spec.value(), machine).rows_at_once;
  };
  EXPECT_EQ(rows_of("[4096, 1]"), 4);
  EXPECT_EQ(rows_of("[1, 0]"), 8);
}

TEST(Choose, CheapElementsGoAroundALastCacheThatTheyFill) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l3_bytes = 32 << 20;
  const auto flat = [](const std::string& function, std::int64_t elements, const std::string& dtype = "f32") {
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace kept " + std::to_string(elements) + "\nin x0 " + dtype + " [1]\nout y0 " + dtype +
                      " [1]\n%0 = load x0\n%1 = " + function + " %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return spec.value();
  };
  target::Target far = machine;
  far.l3 = target::L3::far;
  EXPECT_TRUE(choose(flat("neg", 4 << 20), far).around);
  EXPECT_FALSE(choose(flat("neg", (4 << 20) - 4), far).around);
  EXPECT_TRUE(choose(flat("neg", 3 << 20), machine).around) << "three quarters of it on AMD's";
  EXPECT_FALSE(choose(flat("neg", (3 << 20) - 4), machine).around);
  EXPECT_FALSE(choose(flat("exp", 4 << 20), machine).around);
  EXPECT_FALSE(choose(flat("floor", 8 << 20, "bf16"), machine).around) << "lines are for lanes of 32 bits";
  EXPECT_TRUE(choose(flat("neg", 8 << 20, "bf16"), machine).around) << "or for those that are as narrow as all values";
  const auto staged = [](const std::string& rest) {
    return staged_spec("reduced 1024, kept 4096", "[4096, 1]", "[4096, 1]", rest + "\n");
  };
  EXPECT_EQ(print(choose(staged("%3 = sub %0 %2\nstore y0 %3"), machine)),
            "avx2 staged_columns level=1 rows=8 ahead=1 around=1 serpentine=1 columns=1024");
  const KernelSpec long_rows = staged_spec("kept 4096, reduced 1024", "[1024, 1]", "[1024, 1]",
                                           "%3 = sub %0 %2\nstore y0 %3\n"),
                   short_rows =
                       staged_spec("kept 8192, reduced 512", "[512, 1]", "[512, 1]", "%3 = sub %0 %2\nstore y0 %3\n");
  EXPECT_EQ(print(choose(long_rows, machine)), "avx2 staged_rows level=1 unroll=2 around=1 tile=0:1024");
  EXPECT_EQ(print(choose(short_rows, machine)), "avx2 staged_rows level=1 unroll=2 rows=2 tile=0:2048");
  const auto rows_at_once = [&](const std::string& kept, const std::string& reduced) {
    const std::string strides = "[" + reduced + ", 1]";
    const KernelSpec rows =
        staged_spec("kept " + kept + ", reduced " + reduced, strides, strides, "%3 = sub %0 %2\nstore y0 %3\n");
    return choose(rows, machine).rows_at_once;
  };
  EXPECT_EQ(rows_at_once("1024", "1024"), 2) << "the caches hold all";
  EXPECT_EQ(rows_at_once("1032", "1024"), 1) << "the input is more than an eighth of the last cache";
  EXPECT_EQ(rows_at_once("512", "1025"), 1);
  EXPECT_TRUE(choose(staged("%3 = log %2\n%4 = sub %0 %3\nstore y0 %4"), machine).around)
      << "a row's value is expensive";
  EXPECT_FALSE(choose(staged("%3 = sub %0 %2\n%4 = tanh %3\nstore y0 %4"), machine).around);
}

TEST(Choose, StoresClaimLinesFromWhereTheCoreHasNoRoomForThem) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l2_bytes = 1 << 20;
  machine.l3 = target::L3::far;
  const auto claims = [&machine](std::int64_t elements, const std::string& dtype, const std::string& function = "neg") {
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace kept " + std::to_string(elements) + "\nin x0 " + dtype + " [1]\nout y0 " + dtype +
                      " [1]\n%0 = load x0\n%1 = " + function + " %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    return choose(spec.value(), machine).claim;
  };
  EXPECT_FALSE(claims(1 << 15, "f32"));
  EXPECT_TRUE(claims((1 << 15) + 1, "f32"));
  EXPECT_FALSE(claims(1 << 16, "bf16"));
  EXPECT_TRUE(claims((1 << 16) + 1, "bf16")) << "of any size, unlike those that go around";
  EXPECT_FALSE(claims(1 << 17, "f32", "exp")) << "what is expensive is not waited for";
  EXPECT_TRUE(claims((1 << 17) + 1, "f32", "exp"));
  EXPECT_FALSE(choose(staged_spec("kept 4096, reduced 1024", "[1024, 1]", "[1, 0]"), machine).claim)
      << "a result a row is no line";
  machine.l3 = target::L3::near;
  EXPECT_FALSE(claims(1 << 20, "f32"));
}

TEST(Choose, StagedRowsAskForTheNextRowWhereItIsFarAway) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l2_bytes = 1 << 20;
  machine.l3 = target::L3::far;
  const auto asks = [&machine](const std::string& space, const std::string& strides, const std::string& rest) {
    return choose(staged_spec(space, strides, strides, rest), machine).ahead;
  };
  const std::string again = "%3 = sub %0 %2\nstore y0 %3\n";
  EXPECT_TRUE(asks("kept 1024, reduced 1024", "[1024, 1]", again));
  EXPECT_FALSE(asks("kept 256, reduced 1024", "[1024, 1]", again)) << "the core has room for all rows";
  EXPECT_FALSE(asks("kept 64, reduced 65536", "[65536, 1]", again)) << "a row and the next one are too much";
  machine.l3 = target::L3::near;
  EXPECT_FALSE(asks("kept 1024, reduced 1024", "[1024, 1]", again));
}

TEST(Choose, ElementsComeInRunsBeyondAFarLastCacheAndCheapOnesBeyondANearOne) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l3_bytes = 1 << 20;
  machine.l3 = target::L3::far;
  const auto chosen = [&machine](int count, const std::string& dtype, const std::string& function = "neg") {
    const Result<KernelSpec> spec =
        kernel::parse("kernel\nspace kept " + std::to_string(count) + "\nin x0 " + dtype + " [1]\nout y0 " + dtype +
                      " [1]\n%0 = load x0\n%1 = " + function + " %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    const Schedule schedule = choose(spec.value(), machine);
    EXPECT_TRUE(check(spec.value(), schedule).ok());
    return schedule;
  };
  EXPECT_FALSE(chosen(1 << 17, "f32").runs) << "the last cache has room for input and output";
  EXPECT_TRUE(chosen((1 << 17) + 1, "f32").runs);
  EXPECT_TRUE(chosen((1 << 17) + 1, "f32").around);
  EXPECT_TRUE(chosen((1 << 18) + 1, "bf16").runs);
  EXPECT_TRUE(chosen((1 << 18) + 1, "bf16").around) << "its bits are all that is asked";
  EXPECT_TRUE(chosen(1 << 18, "f32", "exp").runs);
  machine.l3 = target::L3::near;
  EXPECT_TRUE(chosen(1 << 18, "f32").runs);
  EXPECT_FALSE(chosen(1 << 18, "f32", "exp").runs) << "expensive ones do not there";
  machine.l3 = target::L3::fast;
  EXPECT_FALSE(chosen(1 << 18, "f32").runs);
}

TEST(Choose, StagedRowsComeInRunsWhereTheyAreFarAway) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  machine.l2_bytes = 1 << 20;
  machine.l3_bytes = 32 << 20;
  machine.l3 = target::L3::far;
  const auto runs = [&machine](int rows, int length, const std::string& rest = "") {
    const std::string row = std::to_string(length), strides = "[" + row + ", 1]";
    const std::string space = "kept " + std::to_string(rows) + ", reduced " + row;
    const KernelSpec spec =
        rest.empty() ? staged_spec(space, strides, "[1, 0]") : staged_spec(space, strides, strides, rest);
    const Schedule schedule = choose(spec, machine);
    EXPECT_TRUE(check(spec, schedule).ok());
    EXPECT_LE(schedule.runs, schedule.ahead);
    return schedule.runs;
  };
  const std::string again = "%3 = sub %0 %2\nstore y0 %3\n";
  EXPECT_TRUE(runs(1024, 1024)) << "one pass over one input";
  EXPECT_FALSE(runs(256, 1024)) << "the core has room for all rows";
  EXPECT_FALSE(runs(1 << 14, 127)) << "short rows";
  EXPECT_FALSE(runs(8, 32768)) << "few rows";
  EXPECT_FALSE(runs(1024, 1024, again)) << "the last cache has what two passes read";
  EXPECT_TRUE(runs(8193, 1024, again));
  EXPECT_FALSE(runs(1024, 32769, again)) << "the next rows are too much";
  machine.l3 = target::L3::near;
  EXPECT_FALSE(runs(8193, 1024, again));

  const KernelSpec rows = staged_spec("kept 1024, reduced 1024", "[1024, 1]", "[1, 0]");
  EXPECT_TRUE(check(rows, parse("avx2 staged_rows level=1 unroll=2 ahead=1 runs=1").value()).ok());
  EXPECT_FALSE(check(rows, parse("avx2 staged_rows level=1 unroll=2 runs=1").value()).ok());
  EXPECT_FALSE(check(rows, parse("avx2 staged_rows level=1 unroll=2 rows=2 ahead=1 runs=1").value()).ok());
}

TEST(Choose, CountsOnAShareOfALargeLastCache) {
  target::Target machine;
  machine.l3_bytes = std::int64_t{260} << 20;
  machine.cores = 2;
  EXPECT_EQ(machine.last_cache_bytes(), 32 << 20);
  machine.cores = 4;
  EXPECT_EQ(machine.last_cache_bytes(), 64 << 20);
  machine.cores = 52;
  EXPECT_EQ(machine.last_cache_bytes(), machine.l3_bytes);
  machine.cores = 1;
  machine.l3_bytes = 8 << 20;
  EXPECT_EQ(machine.last_cache_bytes(), 8 << 20);
}

TEST(Choose, RowsOfExponentialsWaitInScratchWhereTheOutputGoesAroundAFarLastCache) {
  target::Target machine;
  machine.isa = target::Isa::avx2;
  const Result<KernelSpec> softmax = kernel::parse(
      "kernel\nspace kept 4096, reduced 1024\nin x0 f32 [1024, 1]\nout y0 f32 [1024, 1]\n%0 = load x0\n"
      "%1 = exp %0\n%2 = reduce sum %1\n%3 = div %1 %2\nstore y0 %3\n");
  ASSERT_TRUE(softmax.ok()) << softmax.status().message();
  EXPECT_EQ(print(choose(softmax.value(), machine)), "avx2 staged_rows level=1 unroll=2 keep=16384 tile=0:1024");
  machine.l3 = target::L3::far;
  EXPECT_EQ(print(choose(softmax.value(), machine)),
            "avx2 staged_rows level=1 unroll=2 ahead=1 trails=1 around=1 claim=1 keep=16384 tile=0:1024");
}

/// Of exponentials of words, from more than L2, a row at a time.
TEST(Choose, StoresOfExponentialsTrailWhereTheLastCacheIsFar) {
  const auto trails = [](std::int64_t rows, std::int64_t columns, const char* dtype, const char* element,
                         target::L3 l3 = target::L3::far) {
    const std::string extent = std::to_string(columns);
    const Result<KernelSpec> spec = kernel::parse(
        "kernel\nspace kept " + std::to_string(rows) + ", reduced " + extent + "\nin x0 " + dtype + " [" + extent +
        ", 1]\nout y0 " + dtype + " [" + extent + ", 1]\n%0 = load x0\n%1 = cast f32 %0\n%2 = " + element +
        " %1\n%3 = reduce sum %2\n%4 = div %2 %3\n%5 = cast " + dtype + " %4\nstore y0 %5\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    target::Target machine;
    machine.isa = target::Isa::avx2;
    machine.l3 = l3;
    return choose(spec.value(), machine).trails;
  };
  EXPECT_TRUE(trails(4096, 1024, "f32", "exp"));
  EXPECT_TRUE(trails(64, 32000, "f32", "exp"));
  EXPECT_FALSE(trails(4096, 1024, "f32", "exp", target::L3::near));
  EXPECT_FALSE(trails(64, 1024, "f32", "exp")) << "in L2";
  EXPECT_FALSE(trails(4096, 1024, "f32", "abs")) << "cheap";
  EXPECT_FALSE(trails(8192, 1024, "bf16", "exp")) << "bound by conversions";
  EXPECT_FALSE(trails(65536, 256, "f32", "exp")) << "in pairs";
}

TEST(Choose, SumsOfF16AddWhereProductsWaitForConversions) {
  const auto adds = [](const char* reduction, const char* dtype, const char* levels, const char* in, const char* out,
                       target::L3 l3) {
    target::Target machine;
    machine.isa = target::Isa::avx2;
    machine.l3 = l3;
    const Schedule schedule = choose(spec_of(reduction, dtype, levels, in, out), machine);
    EXPECT_NE(schedule.nest, Nest::packed);
    return schedule.adds;
  };
  const char* const rows[] = {"kept 8, reduced 4096", "[4096, 1]", "[1, 0]"};
  EXPECT_TRUE(adds("sum", "f16", rows[0], rows[1], rows[2], target::L3::far));
  EXPECT_TRUE(adds("sum", "f16", "reduced 128, kept 4096", "[4096, 1]", "[0, 1]", target::L3::far));
  EXPECT_FALSE(adds("sum", "f16", rows[0], rows[1], rows[2], target::L3::near));
  EXPECT_FALSE(adds("sum", "bf16", rows[0], rows[1], rows[2], target::L3::far));
  EXPECT_FALSE(adds("prod", "f16", rows[0], rows[1], rows[2], target::L3::far));
}

TEST(Check, RefusesWhatTheEmitterCannotFollow) {
  const KernelSpec rows = spec_of("sum", "f32", "kept 8, reduced 128", "[128, 1]", "[1, 0]");
  const KernelSpec columns = spec_of("sum", "f32", "reduced 128, kept 8", "[8, 1]", "[0, 1]");
  const KernelSpec packed = spec_of("sum", "f32", "kept 8, reduced 13", "[13, 1]", "[1, 0]");
  const KernelSpec staged_rows = staged_spec("kept 8, reduced 128", "[128, 1]", "[1, 0]"),
                   staged_columns = staged_spec("reduced 128, kept 8", "[8, 1]", "[0, 1]");
  const std::pair<const KernelSpec&, const char*> cases[] = {
      {staged_rows, "avx2 staged_rows level=1 unroll=2 rows=8"},
      {staged_columns, "avx2 staged_columns level=1 rows=3 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=16 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 around=1 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 stored=8 columns=512"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 stored=8"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 early=1"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 trails=1"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 early=1 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 keep=64 part=64 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 keep=128 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 part=64 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 keep=128 part=72 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 keep=128 part=1024 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 keep=1048576 part=64 columns=512"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 keep=128 part=64"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 part=-16"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 around=1"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 claim=1"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 claim=1 columns=512"},
      {staged_columns, "avx2 staged_columns level=1 rows=8 serpentine=1 columns=512"},
      {staged_rows, "avx2 staged_rows level=1 unroll=2 serpentine=1"},
      {columns, "avx2 columns level=1 rows=4 serpentine=1 columns=1024"},
      {columns, "avx2 columns level=1 rows=4 claim=1 columns=1024"},
      {columns, "avx2 columns level=1 rows=4 around=1 columns=1024"},
      {columns, "avx2 columns level=1 rows=4 adds=1 columns=1024"},
      {rows, "avx2 rows level=1 unroll=4 adds=1"},
      {rows, "avx2 rows level=7 unroll=4"},
      {rows, "avx2 rows level=0 unroll=4"},
      {rows, "avx2 rows level=1 unroll=2"},
      {rows, "avx2 rows level=1 unroll=3"},
      {rows, "reference rows level=1 unroll=4"},
      {rows, "avx2 columns level=1 rows=4 columns=1024"},
      {columns, "avx2 columns level=1 rows=3 columns=1024"},
      {columns, "avx2 columns level=1 rows=4 columns=1000"},
      {columns, "avx2 columns level=1 rows=2 ahead=1 columns=1024"},
      {columns, "avx2 columns level=1 rows=1 columns=0"},
      {columns, "avx2 columns level=1 rows=4 columns=1024 width=7"},
      {columns, "avx2 columns level=1 rows=4 ahead=1 columns=1024 width=8"},
      {rows, "avx2 packed level=1 width=129"},
      {packed, "avx2 packed level=1 width=12"},
      {packed, "avx2 packed level=1 around=1 width=13"},
      {packed, "avx2 packed level=1 width=13 split=1:4"},
      {packed, "reference packed level=1 width=13"},
  };
  for (const auto& [spec, text] : cases) {
    const Result<Schedule> schedule = parse(text);
    ASSERT_TRUE(schedule.ok()) << text;
    EXPECT_FALSE(check(spec, schedule.value()).ok()) << text;
  }
}

TEST(Check, RefusesWhatTheNestDoesNotHave) {
  const KernelSpec rows = spec_of("sum", "f32", "kept 8, reduced 128", "[128, 1]", "[1, 0]"),
                   columns = spec_of("sum", "f32", "reduced 128, kept 8", "[8, 1]", "[0, 1]"),
                   packed = spec_of("sum", "f32", "kept 8, reduced 13", "[13, 1]", "[1, 0]"),
                   staged_rows = staged_spec("kept 8, reduced 128", "[128, 1]", "[1, 0]"),
                   staged_columns = staged_spec("reduced 128, kept 8", "[8, 1]", "[0, 1]"),
                   flat = kernel::parse(
                              "kernel\nspace kept 4096\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\n"
                              "%1 = neg %0\nstore y0 %1\n")
                              .value();
  const struct {
    const KernelSpec& spec;
    const char* plain;
    std::vector<const char*> others;
  } cases[] = {
      {rows,
       "avx2 rows level=1",
       {"stored=8", "pilot=2", "early=1", "trails=1", "around=1", "claim=1", "serpentine=1", "searches=1", "runs=1",
        "keep=128", "part=16", "columns=64", "width=8"}},
      {columns,
       "avx2 columns level=1 rows=4 columns=1024",
       {"unroll=2", "stored=8", "pilot=2", "early=1", "trails=1", "claim=1", "serpentine=1", "runs=1", "keep=128",
        "part=16"}},
      {packed,
       "avx2 packed level=1 width=13",
       {"unroll=1", "rows=4", "stored=8", "pilot=2", "turns=4", "early=1", "trails=1", "adds=1", "around=1", "claim=1",
        "serpentine=1", "searches=1", "runs=1", "keep=16", "part=16", "columns=64", "split=1:4"}},
      {flat,
       "avx2 flat level=0",
       {"unroll=1", "rows=4", "stored=8", "pilot=2", "turns=4", "ahead=1", "early=1", "trails=1", "adds=1",
        "serpentine=1", "searches=1", "keep=16", "part=16"}},
      {staged_rows,
       "avx2 staged_rows level=1",
       {"stored=8", "turns=4", "adds=1", "serpentine=1", "searches=1", "part=16", "columns=64", "width=8",
        "split=1:4"}},
      {staged_columns,
       "avx2 staged_columns level=1 rows=8 columns=512",
       {"unroll=2", "pilot=2", "turns=4", "early=1", "trails=1", "adds=1", "searches=1", "runs=1", "split=0:4"}},
  };
  for (const auto& [spec, plain, others] : cases) {
    ASSERT_TRUE(check(spec, parse(plain).value()).ok()) << plain;
    for (const std::string field : others) {
      const Schedule schedule = parse(plain + (" " + field)).value();
      EXPECT_EQ(check(spec, schedule).message(), "schedule: " + field.substr(0, field.find('=')) + " is not for " +
                                                     std::string(to_string(schedule.nest)));
    }
  }
}

TEST(Choose, NoPieceOfAnExtremeBeginsWithinALine) {
  const auto grain = [](const std::string& monoid, const std::string& dtype) {
    const KernelSpec spec = spec_of(monoid, dtype, columns_of(80659, 13), "[13, 1]", "[0, 1]");
    return choose(spec, machine(target::Isa::avx2, 2)).split.grain;
  };
  EXPECT_EQ(grain("max", "s8"), 40384) << "64 rows are 13 lines";
  EXPECT_EQ(grain("sum", "s8"), 40384);
  EXPECT_EQ(grain("sum", "f32") % 16, 0) << "whole chains, in the order of which bits are";
  EXPECT_NE(grain("sum", "f32") % 64, 0);
}

TEST(Choose, NarrowExtremesBeyondL1AreReadWithoutCrossingLines) {
  const auto chosen = [](const std::string& monoid, const std::string& dtype, int rows, int row) {
    const std::string width = std::to_string(row);
    const KernelSpec spec = spec_of(monoid, dtype, columns_of(rows, row), "[" + width + ", 1]", "[0, 1]");
    const Schedule schedule = choose(spec, machine(target::Isa::avx2, 1));
    EXPECT_TRUE(check(spec, schedule).ok()) << print(schedule);
    return schedule.columns;
  };
  EXPECT_EQ(chosen("max", "f32", 945, 13), 16) << "48 KiB, a row of 16 lanes a step";
  EXPECT_EQ(chosen("max", "f32", 946, 13), 208) << "16 rows are 13 steps";
  EXPECT_EQ(chosen("max", "f32", 1 << 20, 4), 16) << "four rows a step, none of which crosses a line";
  EXPECT_EQ(chosen("sum", "s8", 1 << 20, 13), 1664) << "integers as well, in groups of more than they need";
}

TEST(Check, SaysHowManyColumnsATileHas) {
  const KernelSpec plain = spec_of("max", "f32", "reduced 128, kept 8", "[8, 1]", "[0, 1]"),
                   staged = staged_spec("reduced 128, kept 8", "[8, 1]", "[0, 1]");
  const auto said = [](const KernelSpec& spec, const std::string& nest, const char* columns) {
    return check(spec, parse("avx2 " + nest + " level=1 rows=4 columns=" + columns).value()).message();
  };
  for (const auto& [spec, nest] : {std::pair(plain, "columns"), std::pair(staged, "staged_columns")}) {
    EXPECT_EQ(said(spec, nest, "65536"), "");
    for (const char* columns : {"65552", "131072", "-1024"})
      EXPECT_EQ(said(spec, nest, columns), "schedule: columns is not from 0 to 65536") << nest;
  }
  EXPECT_EQ(said(plain, "columns", "1000"), "schedule: columns is not a multiple of the lanes");
  EXPECT_EQ(said(staged, "staged_columns", "1000"), "schedule: columns is not a multiple of 16");
}

TEST(Check, RefusesAFlatKernelThatReduces) {
  const Schedule flat = parse("avx2 flat level=1").value();
  for (const char* space : {"reduced 8, kept 128", "kept 8, kept 128"}) {
    const KernelSpec spec =
        spec_of("max", "f32", space, "[128, 1]", std::string(space)[0] == 'r' ? "[0, 1]" : "[128, 1]");
    EXPECT_EQ(check(spec, flat).message(), "schedule: a flat kernel reduces nothing") << space;
  }
}

TEST(Body, SaysWhatItCannotRun) {
  const KernelSpec plain = spec_of("max", "f32", "kept 8, reduced 128", "[128, 1]", "[1, 0]");
  EXPECT_TRUE(read_body(plain).ok());
  KernelSpec two = plain;
  two.body.push_back(two.body[1]);
  EXPECT_EQ(read_body(two).status().code(), Code::unsupported_op);
  KernelSpec none = plain;
  none.body.resize(1);
  none.stores = {{0, 0}};
  EXPECT_EQ(read_body(none).status().code(), Code::unsupported_op);
}

}  // namespace
}  // namespace tenfold::schedule

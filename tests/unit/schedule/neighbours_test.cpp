// SPDX-License-Identifier: Apache-2.0
//
// What a tuner may try: legal schedules that decide no bit, and nothing that a file could smuggle in.
#include "schedule/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/estimate.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

KernelSpec spec_of(const std::string& monoid, const std::string& dtype, const std::string& space, const std::string& in,
                   const std::string& out) {
  const Result<KernelSpec> spec =
      kernel::parse("kernel\nspace " + space + "\nin x0 " + dtype + " " + in + "\nout y0 " + dtype + " " + out +
                    "\n%0 = load x0\n%1 = reduce " + monoid + " %0\nstore y0 %1\n");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.value();
}

target::Target machine(int cores) {
  target::Target target;
  target.isa = target::Isa::avx2;
  target.cores = cores;
  return target;
}

std::vector<KernelSpec> specs() {
  return {spec_of("max", "f32", "kept 4096, reduced 1024", "[1024, 1]", "[1, 0]"),
          spec_of("sum", "f32", "kept 4096, reduced 1024", "[1024, 1]", "[1, 0]"),
          spec_of("max", "f32", "reduced 1024, kept 4096", "[4096, 1]", "[0, 1]"),
          spec_of("sum", "bf16", "reduced 1024, kept 4096", "[4096, 1]", "[0, 1]"),
          spec_of("sum", "f64", "reduced 64, kept 4096", "[4096, 1]", "[0, 1]"),
          spec_of("sum", "f32", "kept 65536, reduced 13", "[13, 1]", "[1, 0]"),
          spec_of("max", "s8", "reduced 65536, kept 8", "[8, 1]", "[0, 1]"),
          spec_of("sum", "f32", "reduced 1048576, kept 1", "[1, 1]", "[0, 1]")};
}

TEST(Neighbours, AreLegalAndDecideNoBit) {
  std::size_t count = 0;
  for (const KernelSpec& spec : specs())
    for (const int cores : {1, 2, 8}) {
      const Schedule base = choose(spec, machine(cores));
      for (const Schedule& schedule : neighbours(spec, base)) {
        SCOPED_TRACE(print(schedule) + " of\n" + kernel::print(spec));
        ++count;
        EXPECT_NE(schedule, base);
        EXPECT_TRUE(check(spec, schedule).ok());
        EXPECT_EQ(schedule.nest, base.nest);
        EXPECT_EQ(schedule.isa, base.isa);
        EXPECT_EQ(schedule.vector_level, base.vector_level);
        EXPECT_EQ(schedule.split, base.split);
        EXPECT_EQ(schedule.width, base.width);
        if (schedule.tile.level >= 0) {
          EXPECT_FALSE(spec.levels[static_cast<std::size_t>(schedule.tile.level)].reduced);
          EXPECT_GT(schedule.tile.grain, 0);
        }
        const Result<Schedule> again = parse(print(schedule));
        ASSERT_TRUE(again.ok());
        EXPECT_EQ(again.value(), schedule);
        EXPECT_TRUE(is_neighbour(spec, base, schedule));
      }
    }
  EXPECT_GT(count, 100U);
}

TEST(Neighbours, OfChainedSumsKeepTheChains) {
  const KernelSpec rows = spec_of("sum", "f32", "kept 4096, reduced 1024", "[1024, 1]", "[1, 0]");
  const Schedule base = choose(rows, machine(1));
  for (const Schedule& schedule : neighbours(rows, base)) EXPECT_EQ(schedule.unroll, base.unroll);
  const KernelSpec columns = spec_of("sum", "f32", "reduced 1024, kept 4096", "[4096, 1]", "[0, 1]");
  const Schedule columns_base = choose(columns, machine(1));
  for (const Schedule& schedule : neighbours(columns, columns_base))
    EXPECT_EQ(schedule.rows_at_once, columns_base.rows_at_once);
}

TEST(Neighbours, RowsInRegistersAskAheadOrDoNot) {
  const KernelSpec few = spec_of("sum", "f32", "reduced 8, kept 65536", "[65536, 1]", "[0, 1]");
  const Schedule base = choose(few, machine(1));
  ASSERT_EQ(base.columns, 0);
  const auto asks = [](const Schedule& schedule) { return schedule.columns == 0 && schedule.ahead; };
  EXPECT_FALSE(asks(base));
  EXPECT_GT(std::ranges::count_if(neighbours(few, base), asks), 0);
}

TEST(Neighbours, GoAroundTheCachesOrThroughThem) {
  const Result<KernelSpec> wide =
      kernel::parse("kernel\nspace kept 4096\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\n%1 = neg %0\nstore y0 %1\n");
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  const Schedule base = choose(wide.value(), machine(1));
  EXPECT_FALSE(base.around);
  const auto goes_around = [](const Schedule& schedule) { return schedule.around; };
  EXPECT_EQ(std::ranges::count_if(neighbours(wide.value(), base), goes_around), 2) << "with lines claimed and without";
  for (const KernelSpec& spec : specs())
    EXPECT_EQ(std::ranges::count_if(neighbours(spec, choose(spec, machine(1))), goes_around), 0) << kernel::print(spec);
}

TEST(Neighbours, NothingElseIsOne) {
  const KernelSpec spec = spec_of("max", "f32", "kept 64, reduced 1024, kept 256", "[262144, 256, 1]", "[256, 0, 1]");
  const Schedule base = choose(spec, machine(2));
  EXPECT_TRUE(is_neighbour(spec, base, base));
  for (const char* text :
       {"avx2 rows level=1 unroll=2", "avx2 columns level=2 rows=3 columns=1024",
        "avx2 columns level=2 rows=4 columns=7", "avx2 columns level=2 rows=4 columns=1024 tile=0:0",
        "avx2 columns level=2 rows=4 columns=1024 tile=0:-1", "avx2 columns level=2 rows=4 columns=1024 tile=1:8",
        "avx2 columns level=2 rows=4 columns=1024 tile=9:8",
        "avx2 columns level=2 rows=4 columns=1024 tile=0:9223372036854775807",
        "avx2 columns level=2 rows=4 columns=1024 split=1:16", "avx2 columns level=-1 rows=4 columns=1024",
        "avx2 columns level=99 rows=4 columns=1024", "avx2 columns level=2 rows=4 columns=1073741824",
        "avx512_core columns level=2 rows=4 columns=1024", "avx2 columns level=2 rows=4 columns=1024 keep=4096",
        "avx2 flat level=2", "avx2 packed level=2 width=13", "avx2 staged_rows level=1 unroll=1"}) {
    const Result<Schedule> hostile = parse(text);
    ASSERT_TRUE(hostile.ok()) << text;
    EXPECT_FALSE(is_neighbour(spec, base, hostile.value())) << text;
  }
}

TEST(Neighbours, ThePromisingOnesAreAPartOfThem) {
  for (const KernelSpec& spec : specs()) {
    const Schedule base = choose(spec, machine(2));
    const std::vector<Schedule> all = neighbours(spec, base), some = promising(spec, base, machine(2), 5);
    EXPECT_LE(some.size(), 5U);
    for (const Schedule& schedule : some) EXPECT_NE(std::find(all.begin(), all.end(), schedule), all.end());
  }
}

/// However many there are, each field is tried by itself.
TEST(Neighbours, TheNearestOnesComeFirst) {
  const Result<KernelSpec> softmax = kernel::parse(
      "kernel\nspace kept 4096, reduced 1024\nin x0 f32 [1024, 1]\nout y0 f32 [1024, 1]\n%0 = load x0\n"
      "%1 = exp %0\n%2 = reduce sum %1\n%3 = div %1 %2\nstore y0 %3\n");
  ASSERT_TRUE(softmax.ok()) << softmax.status().message();
  const KernelSpec& spec = softmax.value();
  const Schedule base = choose(spec, machine(2));
  constexpr std::size_t kMost = 24;
  ASSERT_GT(neighbours(spec, base).size(), kMost);
  const std::vector<Schedule> some = promising(spec, base, machine(2), kMost);
  const auto has = [&](const auto& change) {
    Schedule wanted = base;
    change(wanted);
    return std::ranges::find(some, wanted) != some.end();
  };
  EXPECT_TRUE(has([](Schedule& s) { s.rows_at_once = 2; }));
  EXPECT_TRUE(has([](Schedule& s) { s.ahead = !s.ahead; }));
  EXPECT_TRUE(has([](Schedule& s) { s.trails = !s.trails; }));
  EXPECT_TRUE(has([](Schedule& s) { s.around = !s.around; }));
  EXPECT_TRUE(has([](Schedule& s) { s.claim = !s.claim; }));
  EXPECT_TRUE(has([](Schedule& s) { s.keep = 0; }));
}

TEST(Estimate, SeesWhatIsHopeless) {
  const KernelSpec spec = spec_of("max", "f32", "reduced 4096, kept 4096", "[4096, 1]", "[0, 1]");
  const Schedule base = choose(spec, machine(1));
  Schedule slivers = base, tasks = base;
  slivers.columns = 64;
  slivers.rows_at_once = 1;
  tasks.tile = {1, 1};
  EXPECT_GT(estimate(spec, slivers, machine(1)), 1.3 * estimate(spec, base, machine(1)));
  EXPECT_GT(estimate(spec, tasks, machine(1)), estimate(spec, base, machine(1)));
}

}  // namespace
}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
//
// The harness of `tenfold bench` without a clock: which cases options and batch files stand for, what is noise, what
// the reports say, and that the plain loops compute what they claim.
#include "tools/bench/bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "tools/bench/lines.hpp"
#include "tools/bench/reduction.hpp"
#include "tools/bench/rivals.hpp"
#include "tools/bench/wildcard.hpp"

namespace tenfold::tools::bench {
namespace {

TEST(Wildcard, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches("Reduce*", "ReduceMax"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("R?duceM*x", "ReduceMax"));
  EXPECT_TRUE(matches("*a*a*", "banana"));
  EXPECT_TRUE(matches("**b", "aab"));
  EXPECT_FALSE(matches("Reduce*n", "ReduceMax"));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("a*b?", "ab"));
  // No blow-up: what a star has taken is never given back to the one before.
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(Lines, GapsMoveWithTheLinesThatElementsLieIn) {
  const auto moved = [](const Dims& shape, const Dims& strides, DType dtype = DType::f32) {
    return bytes_moved({dtype, shape, strides});
  };
  EXPECT_EQ(moved({}, {}), 4);
  EXPECT_EQ(moved({3, 5}, {}), 60) << "row-major";
  EXPECT_EQ(moved({3, 5}, {5, 1}), 60);
  EXPECT_EQ(moved({5, 3}, {1, 5}), 60) << "without gaps in another order";
  EXPECT_EQ(moved({0, 3}, {3, 1}), 0);
  EXPECT_EQ(moved({7}, {1}, DType::u4), 4);
  EXPECT_EQ(moved({100, 16}, {0, 1}), 64) << "one row a hundred times";
  EXPECT_EQ(moved({1000, 1000}, {2000, 2}), 1000 * 2000 * 4) << "every other element: all lines";
  EXPECT_EQ(moved({1000, 1000}, {3000, 3}), 1000 * 3000 * 4);
  EXPECT_EQ(moved({100}, {16}), 100 * 64) << "one element a line";
  EXPECT_EQ(moved({100}, {64}), 100 * 64) << "of four lines one";
  EXPECT_EQ(moved({64, 100}, {1, 64}), 64 * 100 * 4);
  EXPECT_EQ(moved({4096, 1000}, {1024, 1}), 4096 * 63 * 64) << "of 64 lines 63";
  EXPECT_EQ(moved({4, 13}, {20, 1}), 5 * 64) << "292 bytes";
  EXPECT_EQ(moved({2, 2}, {40, 15}), 3 * 64) << "bytes 0 and 60, 160 and 220: lines 0, 2 and 3";
}

std::vector<std::string> names(const Result<std::vector<Case>>& cases) {
  EXPECT_TRUE(cases.ok()) << cases.status().message();
  std::vector<std::string> all;
  if (cases.ok())
    for (const Case& what : cases.value()) all.push_back(name_of(what));
  return all;
}

TEST(Batch, ALineIsACrossProduct) {
  const auto cases = parse_line("--op ReduceMax,ReduceSum --dtype f32,bf16 --shape 8x16,4x4x4 --axes 0;0,1", {}, "");
  ASSERT_EQ(names(cases).size(), 16U);
  EXPECT_EQ(names(cases).front(), "ReduceMax f32 [8, 16] axes [0]");
  EXPECT_EQ(names(cases)[1], "ReduceMax f32 [8, 16] axes [0, 1]");
  EXPECT_EQ(names(cases).back(), "ReduceSum bf16 [4, 4, 4] axes [0, 1]");
}

TEST(Batch, WildcardsAndEverythingElse) {
  EXPECT_EQ(names(parse_line("--op=Arg* --shape=2x3x4 --axes=* # comment", {}, "")).size(), 6U);
  EXPECT_EQ(names(parse_line("--dtype * --shape 2x3", {}, "")).size(), 13U);
  EXPECT_EQ(
      names(parse_line("--shape 2x3 --strides 4x1 --axes all --cache warm,cold --threads 1,2 --keep-dims", {}, "")),
      (std::vector<std::string>{"ReduceMax f32 [2, 3] axes [0, 1] strides [4, 1] keep_dims",
                                "ReduceMax f32 [2, 3] axes [0, 1] strides [4, 1] keep_dims cold",
                                "ReduceMax f32 [2, 3] axes [0, 1] strides [4, 1] keep_dims threads 2",
                                "ReduceMax f32 [2, 3] axes [0, 1] strides [4, 1] keep_dims threads 2 cold"}));
  EXPECT_TRUE(names(parse_line("   \t # nothing", {}, "")).empty());
  CaseTexts defaults;
  defaults.dtype = "s8";
  EXPECT_EQ(names(parse_line("--shape 2x3", defaults, "")).front(), "ReduceMax s8 [2, 3] axes [1]");
}

TEST(Batch, BadLinesAreNamed) {
  struct Row {
    const char *line, *says;
  };
  for (const Row& row : {Row{"--op ReduceMx", "no reduction"},
                         {"--op Reduce*,Foo", "'Foo' is no reduction"},
                         {"--op", "--op has no value"},
                         {"--op=", "no reduction"},
                         {"ReduceMax", "options begin with --"},
                         {"--size 3", "there is no option '--size'"},
                         {"--", "there is no option '--'"},
                         {"--=3", "there is no option"},
                         {"--keep-dims=1", "takes no value"},
                         {"--dtype f33", "f32, f64, bf16"},
                         {"--dtype f32,,", "f32, f64, bf16"},
                         {"--shape 4x", "4096x1024"},
                         {"--shape 4x4,,", "4096x1024"},
                         {"--axes 0,", "separated by commas"},
                         {"--axes 99999999999999999999", "separated by commas"},
                         {"--axes **", "separated by commas"},
                         {"--strides 1", "--strides of rank 1 for a shape of rank 2"},
                         {"--op ArgMax --axes 0;0,1", "the one axis"},
                         {"--with-extreme", "ArgMax and ArgMin"},
                         {"--threads 0", "from 1 to 1024"},
                         {"--threads 1,x", "from 1 to 1024"},
                         {"--cache hot", "neither warm nor cold"},
                         {"--op ReduceMax --op ReduceMin", "--op stands twice"},
                         {"--keep-dims --keep-dims", "--keep-dims stands twice"},
                         {"--graph graphs --dtype bf16", "--dtype is for reductions, not for --graph"},
                         {"--with-extreme --graph graphs", "--with-extreme is for reductions"},
                         {"--graph graphs --shape 4x4", "--shape '4x4' names no input of a graph"},
                         {"--shape 0=4x4", "'0=4x4' is not a shape"},
                         {"--graph no_such_folder/*.json", "stands for no graph file"}}) {
    const auto cases = parse_line(row.line, {}, ".");
    ASSERT_FALSE(cases.ok()) << row.line;
    EXPECT_NE(cases.status().message().find(row.says), std::string::npos)
        << row.line << ": " << cases.status().message();
  }
  const auto cases = parse_batch("--op ReduceMax\n\n--axes x\n", {}, "");
  EXPECT_EQ(cases.status().message().rfind("line 3: ", 0), 0U) << cases.status().message();
  const auto twice = parse_batch("\n--axes 1 --axes 0\n", {}, "");
  EXPECT_EQ(twice.status().message().rfind("line 2: --axes", 0), 0U) << twice.status().message();
}

TEST(Batch, AByteOrderMarkIsNoOption) {
  EXPECT_EQ(names(parse_batch("\xEF\xBB\xBF--op ReduceSum --shape 2x3\n", {}, "")).size(), 1U);
  EXPECT_FALSE(parse_batch("\n\xEF\xBB\xBF--op ReduceSum\n", {}, "").ok());
}

TEST(Batch, DefaultsOfReductionsDoNotStopALineOfGraphs) {
  CaseTexts defaults;
  defaults.dtype = "bf16";
  const std::string data = std::string(TENFOLD_SOURCE_DIR) + "/tests/data";
  EXPECT_FALSE(names(parse_line("--graph graphs", defaults, data)).empty());
}

TEST(Batch, ShapesOfAGraphNameItsInputs) {
  const std::string data = std::string(TENFOLD_SOURCE_DIR) + "/tests/data/graphs";
  const auto cases = parse_line("--graph *.json --shape x=1x128,1=128;x=8x128,1=128", {}, data);
  const auto alone = parse_line("--graph *.json", {}, data);
  ASSERT_TRUE(cases.ok() && alone.ok());
  ASSERT_EQ(cases.value().size(), 2 * alone.value().size());
  EXPECT_TRUE(alone.value()[0].input_shapes.empty());
  EXPECT_EQ(cases.value()[0].input_shapes, (std::vector<std::string>{"x=1x128", "1=128"}));
  EXPECT_EQ(name_of(cases.value()[1]), cases.value()[1].graph + " x=8x128 1=128");
  CaseTexts defaults;
  defaults.shape = "64x64";
  EXPECT_TRUE(parse_line("--graph *.json", defaults, data).value()[0].input_shapes.empty()) << "that is of reductions";
}

TEST(Batch, TooMuchIsRefusedBeforeItIsMade) {
  std::string threads = "1", shapes = "2x2";
  for (int i = 0; i < 999; ++i) threads += ",1";
  for (int i = 0; i < 999; ++i) shapes += ",2x2";
  EXPECT_FALSE(parse_line("--shape " + shapes + " --threads " + threads, {}, "").ok());
  EXPECT_FALSE(parse_line("--op * --dtype * --shape " + shapes + " --axes 0", {}, "").ok());
}

TEST(Batch, RandomLinesNeverCrash) {
  const std::uint32_t seed = 20260101;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const std::string words[] = {"--op", "--dtype", "--shape", "--axes", "=",      "*",        "?",       ",",  ";",
                               "x",    "-",       "--",      "f32",    "Reduce", "Max",      "0",       "7",  "all",
                               "warm", " ",       " ",       "\t",     "#",      "\xff",     "--graph", "..", "/",
                               "-1",   "9x9",     "\r",      "\0",     "999",    "--strides"};
  int legal = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string line;
    for (auto n = random() % 8; n > 0; --n) line += words[random() % std::size(words)];
    const auto cases = parse_line(line, {}, ".");
    legal += cases.ok() ? 1 : 0;
    EXPECT_EQ(cases.ok(), cases.status().message().empty()) << line;
  }
  EXPECT_GT(legal, 0);
  EXPECT_LT(legal, 3000);
}

TEST(Batch, GraphsOfAFolder) {
  const std::string data = std::string(TENFOLD_SOURCE_DIR) + "/tests/data";
  const auto all = graph_files(data + "/graphs");
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_GE(all.value().size(), 4U);
  const auto some = parse_line("--graph graphs/ch*.json --threads 1,2", {}, data);
  EXPECT_EQ(names(some).size(), 2U * graph_files(data + "/graphs/ch*.json").value().size());
}

TEST(Batch, TheShippedFile) {
  std::ifstream file(std::string(TENFOLD_SOURCE_DIR) + "/tools/bench/reductions.txt");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto cases = parse_batch(text, {}, "");
  const std::vector<std::string> all = names(cases);
  EXPECT_GE(all.size(), 150U);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << "a case is there twice";
  std::set<std::string_view> seen;
  for (const Case& what : cases.value()) seen.insert(family_of(what));
  EXPECT_EQ(seen.size(), 6U) << "all families but graph";
}

TEST(Family, ByWhereTheReducedAxesLie) {
  const auto family = [](Dims shape, Dims axes) {
    Case what;
    what.shape = std::move(shape);
    what.axes = std::move(axes);
    return family_of(what);
  };
  EXPECT_EQ(family({4, 8}, {1}), "last");
  EXPECT_EQ(family({4, 8}, {-1}), "last");
  EXPECT_EQ(family({4, 8, 1}, {1}), "last");
  EXPECT_EQ(family({4, 8}, {0}), "first");
  EXPECT_EQ(family({4, 8, 2}, {1}), "middle");
  EXPECT_EQ(family({4, 8, 2}, {1, 2}), "several");
  EXPECT_EQ(family({4, 8, 2}, {0, 2}), "apart");
  EXPECT_EQ(family({4, 8, 2}, {2, 1, 0}), "full");
  EXPECT_EQ(family({}, {}), "full");
  EXPECT_EQ(family({4, 8}, {7}), "last") << "illegal, but named";
}

TEST(Noise, DifferencesInsideItHaveNoRank) {
  const Timing quiet = summarise("a", {1.0, 1.001, 1.002, 1.0}), same = summarise("b", {1.001, 1.0, 1.003, 1.002});
  EXPECT_DOUBLE_EQ(noise_of(quiet, same), 0.01) << "no machine is better than that";
  const Timing noisy = summarise("a", {1.0, 1.2, 1.1, 1.3}), other = summarise("b", {1.05, 1.4, 1.1, 1.2});
  // Least of halves: 1.0 and 1.2, 1.05 and 1.2: a fifth, and a half more.
  EXPECT_NEAR(noise_of(noisy, other), 0.3, 1e-12);
  EXPECT_EQ(rank(summarise("", {1.0}), summarise("", {1.25}), 0.3), 0);
  EXPECT_EQ(rank(summarise("", {1.0}), summarise("", {1.35}), 0.3), -1);
  EXPECT_EQ(rank(summarise("", {1.35}), summarise("", {1.0}), 0.3), 1);
}

TEST(Noise, LeastMedianAndSpread) {
  const Timing timing = summarise("a", {5, 1, 3, 2, 4});
  EXPECT_EQ(timing.least, 1);
  EXPECT_EQ(timing.median, 3);
  EXPECT_NEAR(timing.spread, 2.0 / 3, 1e-12);
  EXPECT_EQ(timing.batches, (std::vector<double>{5, 1, 3, 2, 4})) << "in the order they ran: halves are by time";
}

TEST(Measure, IsStoppedBetweenFirstCallsAndBetweenBatches) {
  int calls = 0, questions = 0, most = 0;
  const Contender one{"one", [&] { ++calls; }};
  MeasureOptions options;
  options.seconds = 3600;
  options.is_stopped = [&] { return ++questions > most; };
  EXPECT_TRUE(measure({one, one}, options).empty());
  EXPECT_EQ(calls, 0);
  most = 1;
  questions = 0;
  EXPECT_TRUE(measure({one, one}, options).empty());
  EXPECT_GT(calls, 0);
  // Two first calls, two batches: a round.
  most = 4;
  questions = 0;
  const std::vector<Timing> timings = measure({one, one}, options);
  ASSERT_EQ(timings.size(), 2U);
  for (const Timing& timing : timings) EXPECT_EQ(timing.batches.size(), 1U);
}

/// A run of two cases with made-up times: 1000 and 2000 bytes, the roof at 1 us.
BenchRun made_up_run() {
  BenchRun run;
  run.executable = "tenfold";
  run.date = "2026-01-01T00:00:00+00:00";
  run.host = "machine <&>";
  run.cpu = "a CPU";
  run.isa = "avx2";
  for (int i = 1; i <= 2; ++i) {
    CaseResult result;
    result.what.shape = {4, 8};
    result.what.axes = {i - 1};
    result.name = name_of(result.what);
    result.family = family_of(result.what);
    result.read_bytes = 1000 * i;
    result.timed = {{Role::roof, summarise("roof: one stream", {1e-6, 1.1e-6})},
                    {Role::tenfold, summarise("tenfold", {1.25e-6, 1.3e-6})},
                    {Role::again, summarise("tenfold again", {1.25e-6, 1.26e-6})},
                    {Role::rival, summarise("oneDNN jit:avx2", {2.5e-6 * i, 2.6e-6 * i})},
                    {Role::rival, summarise("loops -O3", {1.2505e-6, 1.4e-6})}};
    result.schedules = {"avx2 rows level=1 unroll=2"};
    result.roof = 1e-6;
    result.noise = 0.01;
    run.results.push_back(std::move(result));
  }
  CaseResult refused;
  refused.name = "ReduceMax f32 [4, 8] axes [9]";
  refused.family = "last";
  refused.not_run = "invalid_op: axis 9 <is> out of range";
  run.results.push_back(refused);
  return run;
}

TEST(Report, FamiliesCountWhatIsOutsideTheNoise) {
  const std::vector<FamilySummary> families = summarise_families(made_up_run().results);
  ASSERT_EQ(families.size(), 3U);
  EXPECT_EQ(families[0].family, "last");
  EXPECT_EQ(families[2].family, "all");
  EXPECT_EQ(families[2].cases, 2U);
  EXPECT_NEAR(families[2].of_roof, 0.8, 1e-12);
  ASSERT_EQ(families[2].versus.size(), 2U);
  EXPECT_EQ(families[2].versus[0].rival, "oneDNN");
  EXPECT_NEAR(families[2].versus[0].ratio, std::sqrt(2.0 * 4.0), 1e-9);
  EXPECT_EQ(families[2].versus[0].ahead, 2U);
  EXPECT_EQ(families[2].versus[1].ahead, 0U);
  EXPECT_EQ(families[2].versus[1].behind, 0U);
}

TEST(Report, TheTableRefusesToRankNoise) {
  const std::string table = case_table(made_up_run().results[0]);
  EXPECT_NE(table.find("2.00x\n"), std::string::npos) << table;
  EXPECT_NE(table.find("       =\n"), std::string::npos) << table;
  EXPECT_NE(table.find("differences within 1.0% are noise"), std::string::npos) << table;
  const std::string batch = batch_table(made_up_run());
  EXPECT_NE(batch.find("NOT RUN: invalid_op"), std::string::npos) << batch;
}

TEST(Report, JsonHasGoogleBenchmarksForm) {
  const Json json = google_json(made_up_run());
  EXPECT_EQ(json["schema"], "tenfold.bench/2");
  EXPECT_EQ(json["context"]["json_schema_version"], 1);
  EXPECT_EQ(json["benchmarks"].size(), 2U * 5U * 3U);
  for (const Json& entry : json["benchmarks"]) {
    for (const char* member : {"name", "run_name", "run_type", "real_time", "cpu_time", "time_unit", "iterations"})
      EXPECT_TRUE(entry.contains(member)) << member << " of " << entry.dump();
    EXPECT_EQ(entry["run_type"] == "aggregate", entry.contains("aggregate_name"));
  }
  const Json& ours = json["benchmarks"][3];
  EXPECT_EQ(ours["name"], "ReduceMax f32 [4, 8] axes [0]/tenfold");
  EXPECT_NEAR(ours["real_time"].get<double>(), 1250, 1e-9);
  EXPECT_NEAR(ours["of_roof"].get<double>(), 0.8, 1e-12);
  EXPECT_EQ(json["benchmarks"][4]["aggregate_name"], "median");
  EXPECT_EQ(json["not_run"].size(), 1U);
}

TEST(Report, ThePageIsWholeAndEscaped) {
  const std::string page = html_page(made_up_run());
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  EXPECT_NE(page.find("axis 9 &lt;is&gt; out of range"), std::string::npos);
  EXPECT_EQ(page.find("<is>"), std::string::npos);
  for (const char* link : {"http:", "https:", "<script", "url(", "src="})
    EXPECT_EQ(page.find(link), std::string::npos) << link << ": the page needs nothing but itself";
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_EQ(page.find("inf "), std::string::npos);
  BenchRun empty;
  EXPECT_NE(html_page(empty).find("No case ran"), std::string::npos);
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Report, LongNamesCostNoNumbers) {
  const BenchRun short_names = made_up_run();
  BenchRun run = made_up_run();
  const std::string folder(3000, 'd');
  for (CaseResult& result : run.results) {
    result.name = folder + "/" + result.name;
    if (!result.not_run.empty()) result.not_run += folder + " end";
    for (std::string& schedule : result.schedules) schedule += folder;
    result.absent = {folder};
  }
  const std::string batch = batch_table(run);
  EXPECT_EQ(lines(batch), lines(batch_table(short_names)));
  EXPECT_NE(batch.find(folder + " end\n"), std::string::npos);
  const std::string table = case_table(run.results[0]);
  EXPECT_EQ(lines(table), lines(case_table(short_names.results[0])) + 1);
  EXPECT_NE(table.find(folder + "/ReduceMax f32 [4, 8] axes [0], reads 0.001 MiB"), std::string::npos);
  const std::string page = html_page(run);
  const auto count = [&page](std::string_view tag) {
    std::size_t found = 0;
    for (std::size_t at = page.find(tag); at != std::string::npos; at = page.find(tag, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<circle"), 6U);
  EXPECT_EQ(count("GB/s</title></circle>"), count("<circle"));
}

/// What the loops leave for `what`, of f32 input.
std::vector<float> loop_result(const Case& what, std::size_t which) {
  std::vector<float> in(static_cast<std::size_t>(span_bytes(input_of(what)).value()) / sizeof(float));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  std::vector<float> out(in.size() * 2, -1);
  const auto loops = plain_loops({&what, input_of(what), kept_shape(what), in.data(), out.data()});
  EXPECT_TRUE(loops.ok()) << loops.status().message();
  if (loops.ok()) loops.value()[which].call();
  return out;
}

TEST(PlainLoops, ComputeWhatTheyClaim) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  Case what;
  what.shape = {3, 5, 4};
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 2}, Dims{1, 2}, Dims{0, 1, 2}})
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1"})
      for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        what.op = op;
        what.axes = axes;
        const std::vector<float> out = loop_result(what, which);
        const Dims kept = kept_shape(what), strides = row_major_strides(kept);
        std::vector<double> expected(static_cast<std::size_t>(numel(kept).value()), std::nan(""));
        for (int i = 0; i < 60; ++i) {
          const double x = i * 37 % 101 - 50;
          const std::int64_t at[] = {i / 20, i / 4 % 5, i % 4};
          std::size_t place = 0;
          for (std::size_t d = 0; d < 3; ++d)
            place += static_cast<std::size_t>((kept[d] == 1 ? 0 : at[d]) * strides[d]);
          double& sum = expected[place];
          const bool first = std::isnan(sum);
          if (what.op == "ReduceMax") sum = first ? x : std::max(sum, x);
          if (what.op == "ReduceMin") sum = first ? x : std::min(sum, x);
          if (what.op == "ReduceSum") sum = first ? x : sum + x;
          if (what.op == "ReduceL1") sum = (first ? 0 : sum) + std::fabs(x);
        }
        for (std::size_t o = 0; o < expected.size(); ++o)
          EXPECT_EQ(out[o], expected[o]) << name_of(what) << " output " << o;
      }
}

TEST(PlainLoops, ArgMaxTakesTheFirst) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  Case what;
  what.op = "ArgMax";
  what.shape = {4, 6};
  for (const std::int64_t axis : {0, 1}) {
    what.axes = {axis};
    const std::vector<float> out = loop_result(what, 0);
    const std::int64_t kept = axis == 0 ? 6 : 4, reduced = axis == 0 ? 4 : 6;
    for (std::int64_t o = 0; o < kept; ++o) {
      std::int64_t best = 0, found = 0;
      const auto value = [&](std::int64_t r) { return (axis == 0 ? r * 6 + o : o * 6 + r) * 37 % 101; };
      for (std::int64_t r = 1; r < reduced; ++r)
        if (value(r) > value(best)) best = r;
      std::memcpy(&found, out.data() + 2 * o, sizeof found);
      EXPECT_EQ(found, best) << "axis " << axis << " output " << o;
    }
  }
}

}  // namespace
}  // namespace tenfold::tools::bench

// SPDX-License-Identifier: Apache-2.0
//
// Rows that are read as streams, beside the same rows one after another: the bits are the same, whatever the streams
// leave over; so are those of chains whose rows, or elements, come from four runs. One long row of sums has streams of
// its own, whose order counts; there, each element counts once.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

using Elements = std::vector<std::byte>;

/// Over the last axis; `axes` of "[0, 1]" over both.
std::string reduction(const std::string& monoid, DType dtype, std::int64_t rows, std::int64_t length,
                      const std::string& axes = "[1]") {
  const bool arg = monoid.starts_with("arg"), all = axes != "[1]";
  const std::string type(to_string(dtype)), kept = all ? "[]" : "[" + std::to_string(rows) + "]";
  return "graph {\n %0 = input : " + type + "[" + std::to_string(rows) + "," + std::to_string(length) + "]\n %1 = " +
         (arg ? "core.arg_reduce (%0) {mode = \"" + monoid + "\", axis = 1, keep_dims = false, select_last = false}"
              : "core.reduce (%0) {reduction = \"" + monoid + "\", axes = " + axes + ", keep_dims = false}") +
         " : " + (arg ? "s64" : type) + kept + "\n output %1\n}\n";
}

/// Over the first and the last of three axes.
std::string reduction_apart(const std::string& monoid, DType dtype, int outer, int kept, int width) {
  const std::string type(to_string(dtype)), of = "," + std::to_string(kept);
  return "graph {\n %0 = input : " + type + "[" + std::to_string(outer) + of + "," + std::to_string(width) +
         "]\n %1 = core.reduce (%0) {reduction = \"" + monoid + "\", axes = [0, 2], keep_dims = false} : " + type +
         "[" + std::to_string(kept) + "]\n output %1\n}\n";
}

/// Over the last axis: variance, log-sum-exp, the greatest and least and their sum, softmax.
std::string chain(const std::string& kind, DType dtype, std::int64_t rows, std::int64_t length) {
  const std::string type(to_string(dtype)),
      n = std::to_string(rows), all = "[" + n + "," + std::to_string(length) + "]", row = " : f32[" + n + ",1]\n",
      wide = " : f32" + all + "\n";
  int next = 1;
  std::string text = "graph {\n %0 = input : " + type + all + "\n";
  const auto add = [&](const std::string& op, const std::string& of) {
    text += " %" + std::to_string(next) + " = core." + op + of;
    return "%" + std::to_string(next++);
  };
  const auto reduce = [&](const std::string& monoid, const std::string& x) {
    return add("reduce", " (" + x + ") {reduction = \"" + monoid + "\", axes = [1], keep_dims = true}" + row);
  };
  const auto map = [&](const std::string& function, const std::string& of, const std::string& shape) {
    return add("map", " (" + of + ") {function = \"" + function + "\"}" + shape);
  };
  const std::string x = add("cast", " (%0)" + wide);
  if (kind == "extremes") {
    const std::string greatest = reduce("max", x), least = reduce("min", x), sum = reduce("sum", x);
    return text + " output " + greatest + ", " + least + ", " + sum + "\n}\n";
  }
  if (kind == "variance") {
    const std::string off = map("sub", x + ", " + reduce("mean", x), wide);
    const std::string moment = reduce("mean", map("square", off, wide));
    return text + " output " + moment + "\n}\n";
  }
  const std::string greatest = reduce("max", x);
  const std::string powers = map("exp", map("sub", x + ", " + greatest, wide), wide);
  const std::string sum = reduce("sum", powers);
  const std::string end = kind == "softmax" ? map("div", powers + ", " + sum, wide)
                                            : map("add", map("log", sum, row) + ", " + greatest, row);
  return text + " output " + end + "\n}\n";
}

std::string exponentials(DType dtype, int count) {
  const std::string dims = "[" + std::to_string(count) + "]\n";
  const std::string own = " : " + std::string(to_string(dtype)) + dims, wide = " : f32" + dims;
  return "graph {\n %0 = input" + own + " %1 = core.cast (%0)" + wide + " %2 = core.map (%1) {function = \"exp\"}" +
         wide + " %3 = core.cast (%2)" + own + " output %3\n}\n";
}

void compile(const std::string& text, const target::Target& target, std::optional<compiler::Compiled>& made) {
  Result<graph::Graph> graph = graph::parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message() << text;
  ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
  Result<compiler::Compiled> compiled = compiler::compile(graph.value(), target);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  made.emplace(std::move(compiled.value()));
}

int streams_of(const compiler::Compiled& compiled) { return compiled.regions[0].kernels[0].schedule.rows_at_once; }

Elements run(const compiler::Compiled& compiled, target::Isa isa, Elements& in, std::size_t bytes,
             std::size_t outputs = 1) {
  Elements out(bytes * outputs);
  const Bytes from{in.data(), in.size()};
  std::vector<Bytes> to;
  for (std::size_t i = 0; i < outputs; ++i) to.push_back({out.data() + i * bytes, bytes});
  const Status status = run_at(compiled.program, isa, {&from, 1}, to);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

/// Small integers, which tie; of floats one in 2000 is no number, or an infinity, or a zero of either sign.
Elements input_of(DType dtype, std::int64_t count, bool special) {
  std::mt19937_64 random(test_seed());
  Elements in(static_cast<std::size_t>(count * byte_size(dtype)));
  constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(), 0.0, -0.0};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const bool other = special && is_floating(dtype) && bits % 2000 == 0;
    graph::store_real(dtype, in.data(), i, other ? kSpecial[bits / 2000 % 5] : static_cast<double>(bits >> 40 & 63));
  }
  return in;
}

TEST(Streams, RowsInStreamsHaveTheBitsOfRowsOneByOne) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  struct Subject {
    const char* monoid;
    DType dtype;
  };
  constexpr Subject kSubjects[] = {
      {"sum", DType::f32},  {"sum", DType::bf16},   {"mean", DType::f16},   {"sum", DType::f64},   {"l2", DType::f32},
      {"prod", DType::f32}, {"max", DType::f32},    {"min", DType::bf16},   {"max", DType::f64},   {"sum", DType::s32},
      {"max", DType::u8},   {"argmax", DType::f32}, {"argmin", DType::f64}, {"argmax", DType::s32}};
  for (const target::Isa isa : all_levels()) {
    target::Target plain, small;
    plain.isa = small.isa = isa;
    small.l2_bytes = small.l3_bytes = 0;
    small.l3 = target::L3::far;
    for (const Subject& subject : kSubjects)
      for (const auto& [rows, length] : {std::pair<int, int>{4, 1024}, {5, 1025}, {131, 1100}, {7, 2047}, {11, 4999}}) {
        SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + subject.monoid + " of " +
                     std::string(to_string(subject.dtype)) + " [" + std::to_string(rows) + ", " +
                     std::to_string(length) + "], seed " + std::to_string(test_seed()));
        const std::string text = reduction(subject.monoid, subject.dtype, rows, length);
        std::optional<compiler::Compiled> streams, one_by_one;
        compile(text, small, streams);
        compile(text, plain, one_by_one);
        ASSERT_TRUE(streams && one_by_one);
        EXPECT_EQ(streams_of(*streams), 4);
        EXPECT_LT(streams_of(*one_by_one), 4);
        for (const bool special : {false, true}) {
          Elements in = input_of(subject.dtype, std::int64_t{rows} * length, special);
          const std::size_t bytes = static_cast<std::size_t>(rows) * 8;
          EXPECT_TRUE(run(*streams, isa, in, bytes) == run(*one_by_one, isa, in, bytes));
        }
      }
  }
}

/// Of one input of `count` elements, in runs and in order; outputs have so many bytes each.
void expect_same_bits(const std::string& text, target::Isa isa, DType dtype, std::int64_t count, std::size_t bytes,
                      std::size_t outputs) {
  target::Target plain, small;
  plain.isa = small.isa = isa;
  small.l2_bytes = small.l3_bytes = 0;
  small.l3 = target::L3::far;
  std::optional<compiler::Compiled> runs, in_order;
  compile(text, small, runs);
  compile(text, plain, in_order);
  ASSERT_TRUE(runs && in_order);
  ASSERT_EQ(runs->regions.size(), 1U);
  EXPECT_TRUE(runs->regions[0].kernels[0].schedule.runs);
  EXPECT_FALSE(in_order->regions[0].kernels[0].schedule.runs);
  for (const bool special : {false, true}) {
    Elements in = input_of(dtype, count, special);
    EXPECT_TRUE(run(*runs, isa, in, bytes, outputs) == run(*in_order, isa, in, bytes, outputs));
  }
}

TEST(Streams, ChainsInRunsHaveTheBitsOfRowsInOrder) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  for (const target::Isa isa : all_levels())
    for (const std::string kind : {"extremes", "variance", "logsumexp", "softmax"})
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const auto& [rows, length] : {std::pair<int, int>{16, 512}, {19, 513}, {133, 700}, {23, 2047}}) {
          SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + kind + " of " + std::string(to_string(dtype)) +
                       " [" + std::to_string(rows) + ", " + std::to_string(length) + "], seed " +
                       std::to_string(test_seed()));
          const std::size_t bytes =
              static_cast<std::size_t>(rows) * 4 * static_cast<std::size_t>(kind == "softmax" ? length : 1);
          expect_same_bits(chain(kind, dtype, rows, length), isa, dtype, std::int64_t{rows} * length, bytes,
                           kind == "extremes" ? 3 : 1);
        }
}

TEST(Streams, ElementsInRunsHaveTheBitsOfElementsInOrder) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  for (const target::Isa isa : all_levels())
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const int count : {16, 511, 512, 640, 1024, 5000, 20001}) {
        SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + std::to_string(count) + " of " +
                     std::string(to_string(dtype)) + ", seed " + std::to_string(test_seed()));
        expect_same_bits(exponentials(dtype, count), isa, dtype, count,
                         static_cast<std::size_t>(count) * static_cast<std::size_t>(byte_size(dtype)), 1);
      }
}

/// What it gives of elements whose sums are exact.
Elements reduced_apart(const std::string& monoid, DType dtype, int outer, int kept, int width, const Elements& in) {
  Elements out(static_cast<std::size_t>(kept * byte_size(dtype)));
  for (std::int64_t k = 0; k < kept; ++k) {
    double value = 0;
    for (std::int64_t i = 0; i < outer; ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        const double x = graph::load_real(dtype, in.data(), (i * kept + k) * width + j);
        value = monoid == "max" ? std::max(value, x) : value + x;
      }
    graph::store_real(dtype, out.data(), k, value);
  }
  return out;
}

TEST(Streams, OutputsInTurnsHaveTheBitsOfOutputsOneByOne) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  struct Shape {
    int outer, kept, width;
    bool pieces;  ///< of sums, along the outer axis
  };
  constexpr Shape kShapes[] = {{17, 70, 515, false}, {4, 17, 8200, false}, {9, 3, 10007, true}, {40, 15, 1000, true}};
  for (const target::Isa isa : all_levels())
    for (const std::string monoid : {"sum", "max"})
      for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::s32})
        for (const auto& [outer, kept, width, pieces] : kShapes) {
          SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + monoid + " of " + std::string(to_string(dtype)) +
                       " [" + std::to_string(outer) + ", " + std::to_string(kept) + ", " + std::to_string(width) +
                       "], seed " + std::to_string(test_seed()));
          target::Target plain, small;
          plain.isa = small.isa = isa;
          plain.l2_bytes = 64 << 20;
          small.l2_bytes = 0;
          const std::string text = reduction_apart(monoid, dtype, outer, kept, width);
          std::optional<compiler::Compiled> in_turns, one_by_one;
          compile(text, small, in_turns);
          compile(text, plain, one_by_one);
          ASSERT_TRUE(in_turns && one_by_one);
          EXPECT_GT(in_turns->regions[0].kernels[0].schedule.turns, 0);
          EXPECT_EQ(one_by_one->regions[0].kernels[0].schedule.turns, 0);
          if (monoid == "sum" && is_floating(dtype)) {
            EXPECT_EQ(in_turns->regions[0].kernels[0].schedule.split.level, pieces ? 0 : -1);
          }
          const std::size_t bytes = static_cast<std::size_t>(kept * byte_size(dtype));
          for (const bool special : {false, true}) {
            Elements in = input_of(dtype, std::int64_t{outer} * kept * width, special);
            const Elements out = run(*in_turns, isa, in, bytes);
            EXPECT_TRUE(out == run(*one_by_one, isa, in, bytes));
            if (!special && dtype != DType::f16) {
              EXPECT_TRUE(out == reduced_apart(monoid, dtype, outer, kept, width, in));
            }
          }
        }
}

TEST(Streams, RunsOfOneRowCountEachElementOnce) {
  for (const target::Isa isa : native_levels())
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
      // A little more than 32 MiB: whole runs, and what they leave over.
      const std::int64_t length = (std::int64_t{32} << 20) / byte_size(dtype) + 1237;
      Elements in = input_of(dtype, length, false);
      double sum = 0;
      for (std::int64_t i = 0; i < length; ++i) sum += graph::load_real(dtype, in.data(), i);
      for (const bool in_turns : {true, false}) {
        SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + std::string(to_string(dtype)) +
                     (in_turns ? "" : ", one run after another"));
        target::Target target;
        target.isa = isa;
        target.l3 = in_turns ? target::L3::near : target::L3::fast;
        std::optional<compiler::Compiled> compiled;
        compile(reduction("sum", dtype, 1, length, "[0, 1]"), target, compiled);
        ASSERT_TRUE(compiled.has_value());
        EXPECT_EQ(streams_of(*compiled), 4);
        const Elements out = run(*compiled, isa, in, static_cast<std::size_t>(byte_size(dtype)));
        Elements expected(out.size());
        graph::store_real(dtype, expected.data(), 0, sum);
        EXPECT_TRUE(out == expected) << graph::load_real(dtype, out.data(), 0) << " instead of " << sum;
      }
    }
}

TEST(Streams, RunsOfOneRowHaveTheSameBitsOnAllLevelsInTurnsAndOneAfterAnother) {
  const std::int64_t length = (std::int64_t{32} << 20) / 4 + 70001;
  std::mt19937_64 random(test_seed());
  Elements in(static_cast<std::size_t>(length) * 4);
  for (std::int64_t i = 0; i < length; ++i)
    graph::store_real(DType::f32, in.data(), i, static_cast<double>(random() >> 40) * 0x1p-20 - 7);
  std::optional<Elements> first;
  for (const target::Isa isa : native_levels())
    for (const bool in_turns : {true, false}) {
      target::Target target;
      target.isa = isa;
      target.l3 = in_turns ? target::L3::near : target::L3::fast;
      std::optional<compiler::Compiled> compiled;
      compile(reduction("sum", DType::f32, 1, length, "[0, 1]"), target, compiled);
      ASSERT_TRUE(compiled.has_value());
      EXPECT_EQ(streams_of(*compiled), 4) << "they decide bits";
      EXPECT_EQ(compiled->regions[0].kernels[0].schedule.ahead, in_turns);
      const Elements out = run(*compiled, isa, in, 4);
      if (!first) first = out;
      EXPECT_TRUE(out == *first) << target::to_string(isa) << (in_turns ? "" : ", one run after another") << ", seed "
                                 << test_seed();
    }
}

}  // namespace
}  // namespace tenfold::numeric

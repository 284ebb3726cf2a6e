// SPDX-License-Identifier: Apache-2.0
//
// Rows whose last pass trails, that is, stores a row while the next one is computed: bits are those of rows that end
// before the next one begins, from one row to several, in one run or in more, with the rows' own values as an output,
// with gaps between rows, and in place; and nothing is touched that is not the kernel's.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "compile/tuning.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "prepared_case.hpp"
#include "schedule/neighbours.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

struct Shape {
  std::int64_t outer, rows, columns, gap;  ///< elements between rows of the input
};

/// One tensor of rows and, of a norm, a scale for the rows of each outer index, which keeps these apart.
struct Case {
  std::string text;
  std::size_t bytes = 0;         ///< of an element of the tensors
  std::vector<std::size_t> out;  ///< elements of each output
};

Case case_of(const std::string& what, const std::string& dtype, const Shape& s) {
  const auto dims = [](std::int64_t outer, std::int64_t rows, std::int64_t columns) {
    return "[" + std::to_string(outer) + "," + std::to_string(rows) + "," + std::to_string(columns) + "]";
  };
  const std::string pitch = std::to_string(s.columns + s.gap),
                    strides = "{" + std::to_string(s.rows * (s.columns + s.gap)) + "," + pitch + ",1}\n";
  const std::string all = " : f32" + dims(s.outer, s.rows, s.columns) + "\n",
                    row = " : f32" + dims(s.outer, s.rows, 1) + "\n",
                    own = " : " + dtype + dims(s.outer, s.rows, s.columns);
  const auto reduce = [&](const std::string& from, const std::string& how) {
    return " = core.reduce (" + from + ") {reduction = \"" + how + "\", keep_dims = true, axes = [2]}" + row;
  };
  const auto map = [](const std::string& args, const std::string& function, const std::string& type) {
    return " = core.map (" + args + ") {function = \"" + function + "\"}" + type;
  };
  const auto count = static_cast<std::size_t>(s.outer * s.rows);
  Case c{"graph {\n %0 = input" + own + strides + " %1 = core.cast (%0)" + all, dtype == "f32" ? 4U : 2U, {}};
  const std::string cast = " = core.cast (%9)" + own + "\n";
  if (what == "norm") {
    const std::string scale = " : f32" + dims(s.outer, 1, s.columns) + "\n";
    c.text += " %20 = input" + scale + " %2" + reduce("%1", "mean") + " %3" + map("%1, %2", "sub", all) + " %4" +
              map("%3", "square", all) + " %5" + reduce("%4", "mean") + " %6" + map("%5", "sqrt", row) + " %7" +
              map("%3, %6", "div", all) + " %9" + map("%7, %20", "mul", all) + " %10" + cast + " output %10, %6\n}\n";
    c.out = {count * static_cast<std::size_t>(s.columns), count};
    return c;
  }
  c.text += " %2" + reduce("%1", "max");
  c.out = {count * static_cast<std::size_t>(s.columns)};
  if (what == "scaled") {
    c.text += " %9" + map("%1, %2", "div", all) + " %10" + cast + " output %10\n}\n";
    return c;
  }
  c.text += " %3" + map("%1, %2", "sub", all) + " %4" + map("%3", "exp", all) + " %5" + reduce("%4", "sum");
  if (what == "softmax") {
    c.text += " %9" + map("%4, %5", "div", all) + " %10" + cast + " output %10\n}\n";
  } else {
    c.text += " %6" + map("%5", "log", row) + " %9" + map("%3, %6", "sub", all) + " %10" + cast + " output %10\n}\n";
  }
  return c;
}

struct Kernels {
  compiler::Compiled trails, plain;
};

/// Compiled with the heuristic's schedule, or its neighbour, with and without.
void compile(const std::string& text, target::Isa isa, bool around, std::optional<Kernels>& made) {
  Result<graph::Graph> graph = graph::parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message() << text;
  ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
  target::Target target;
  target.isa = isa;
  if (around) target.l2_bytes = target.l3_bytes = 0;
  Result<compiler::Compiled> chosen = compiler::compile(graph.value(), target);
  ASSERT_TRUE(chosen.ok()) << chosen.status().message();
  ASSERT_EQ(chosen.value().regions.size(), 1U);
  ASSERT_EQ(chosen.value().regions[0].kernels.size(), 1U);
  const auto& kernel = chosen.value().regions[0].kernels[0];
  const auto compiled_with = [&](bool trails) {
    schedule::Schedule schedule = kernel.schedule;
    schedule.rows_at_once = 1;
    schedule.early = schedule.runs = false;
    schedule.trails = trails;
    EXPECT_TRUE(schedule::check(kernel.spec, schedule).ok()) << print(schedule);
    // Beside the heuristic's own in this alone.
    compiler::Tuning tuning;
    tuning.add(kernel.spec, target.cores, schedule);
    return compiler::compile(graph.value(), target, {.tuning = &tuning});
  };
  Result<compiler::Compiled> trails = compiled_with(true), plain = compiled_with(false);
  ASSERT_TRUE(trails.ok() && plain.ok());
  ASSERT_TRUE(trails.value().regions[0].kernels[0].schedule.trails)
      << print(trails.value().regions[0].kernels[0].schedule);
  ASSERT_FALSE(plain.value().regions[0].kernels[0].schedule.trails);
  made.emplace(Kernels{std::move(trails).value(), std::move(plain).value()});
}

using Elements = std::vector<std::byte>;

/// Elements about 0, some rows of equal ones, and in every fourth row something that is no ordinary number.
Elements elements(std::size_t bytes, bool f16, std::size_t count, std::size_t columns, std::mt19937_64& random) {
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(), 1e30F};
  Elements made(count * bytes);
  bool equal = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % columns == 0) equal = random() % 8 == 0;
    float value = equal ? 2.5F : static_cast<float>(static_cast<double>(random() >> 16) * 0x1p-44 - 8);
    if (random() % (4 * columns) == 0) value = kSpecial[random() % std::size(kSpecial)];
    std::uint32_t pattern = 0;
    std::memcpy(&pattern, &value, 4);
    if (f16) pattern = ((pattern >> 16 & 0x8000) | (0x3000 + (static_cast<std::uint32_t>(random()) & 0x1fff))) << 16;
    std::memcpy(made.data() + i * bytes, reinterpret_cast<const std::byte*>(&pattern) + (4 - bytes), bytes);
  }
  return made;
}

class Trailing : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Trailing, GivesTheBitsOfRowsThatEndFirst) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const auto& [what_name, dtype_name] = GetParam();
  const std::string what = what_name, dtype = dtype_name;
  std::mt19937_64 random(test_seed());
  std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  for (const target::Isa isa : all_levels())
    for (const std::int64_t columns : {130, 144, 512, 527, 1000, 2049})
      for (const Shape& shape :
           {Shape{1, 2, columns, 0}, Shape{1, 7, columns, 5}, Shape{3, 2, columns, 0}, Shape{2, 3, columns, 16}}) {
        const bool around = random() % 2 == 0;
        SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + std::to_string(shape.outer) + " times " +
                     std::to_string(shape.rows) + " rows of " + std::to_string(columns) + ", gap " +
                     std::to_string(shape.gap) + (around ? ", around" : ""));
        const Case c = case_of(what, dtype, shape);
        std::optional<Kernels> kernels;
        compile(c.text, isa, around, kernels);
        ASSERT_TRUE(kernels.has_value());
        const auto pitch = static_cast<std::size_t>(columns + shape.gap);
        const std::size_t count =
            static_cast<std::size_t>(shape.outer * shape.rows - 1) * pitch + static_cast<std::size_t>(columns);
        Elements in = elements(c.bytes, dtype == "f16", count, pitch, random);
        Elements scale = elements(4, false, static_cast<std::size_t>(shape.outer * columns), 4000, random);
        const auto run = [&](const compiler::Compiled& compiled, std::vector<Elements>& out, bool emulated = false) {
          std::vector<Bytes> from{{in.data(), in.size()}}, to;
          if (what == "norm") from.push_back({scale.data(), scale.size()});
          for (Elements& bytes : out) to.push_back({bytes.data(), bytes.size()});
          const Status status =
              emulated ? emulated_run(compiled.program, isa, from, to) : run_at(compiled.program, isa, from, to);
          ASSERT_TRUE(status.ok()) << status.message();
        };
        std::vector<Elements> expected, got;
        for (std::size_t i = 0; i < c.out.size(); ++i) expected.emplace_back(c.out[i] * (i == 0 ? c.bytes : 4));
        got = expected;
        run(kernels->plain, expected);
        run(kernels->trails, got);
        ASSERT_TRUE(expected == got);
        if (columns < 150) {
          for (Elements& bytes : got) std::fill(bytes.begin(), bytes.end(), std::byte{0});
          run(kernels->trails, got, true);
          ASSERT_TRUE(expected == got) << "emulated";
        }
        if (shape.gap > 0 || what == "norm") continue;
        std::vector<Bytes> both{{in.data(), in.size()}};
        ASSERT_TRUE(run_at(kernels->trails.program, isa, both, both).ok());
        ASSERT_TRUE(expected[0] == in) << "in place";
      }
}

INSTANTIATE_TEST_SUITE_P(Rows, Trailing,
                         ::testing::Combine(::testing::Values("softmax", "log_softmax", "norm", "scaled"),
                                            ::testing::Values("f32", "bf16", "f16")),
                         [](const auto& at) {
                           return std::string(std::get<0>(at.param)) + "_" + std::get<1>(at.param);
                         });

}  // namespace
}  // namespace tenfold::numeric

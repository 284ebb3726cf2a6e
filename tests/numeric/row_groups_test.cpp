// SPDX-License-Identifier: Apache-2.0
//
// Rows in groups of four, of which one program takes the ends, a lane each: bits are those of rows that come alone,
// whatever is left for the last group, and whether results are a row's or its elements'.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <span>

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
  std::int64_t rows, columns;
};

/// Two outputs: the elements, centred and scaled, or of a log-sum-exp nothing but its rows; and a value of the rows.
std::string graph_of(const std::string& what, const std::string& dtype, const Shape& shape) {
  const auto dims = [&](std::int64_t columns) {
    return "[" + std::to_string(shape.rows) + "," + std::to_string(columns) + "]\n";
  };
  const std::string all = " : f32" + dims(shape.columns), row = " : f32" + dims(1),
                    own = " : " + dtype + dims(shape.columns), own_row = " : " + dtype + dims(1);
  const auto reduce = [&](const std::string& from, const std::string& how) {
    return " = core.reduce (" + from + ") {reduction = \"" + how + "\", keep_dims = true, axes = [1]}" + row;
  };
  const auto map = [](const std::string& args, const std::string& function, const std::string& type) {
    return " = core.map (" + args + ") {function = \"" + function + "\"}" + type;
  };
  const std::string begin = "graph {\n %0 = input" + own + " %1 = core.cast (%0)" + all;
  if (what == "normalize")
    return begin + " %2" + reduce("%1", "mean") + " %3" + map("%1, %2", "sub", all) + " %4" + map("%3", "square", all) +
           " %5" + reduce("%4", "mean") + " %6" + map("%5", "sqrt", row) + " %7" + map("%3, %6", "div", all) +
           " %8 = core.cast (%7)" + own + " %9 = core.cast (%6)" + own_row + " output %8, %9\n}\n";
  return begin + " %2" + reduce("%1", "max") + " %3" + map("%1, %2", "sub", all) + " %4" + map("%3", "exp", all) +
         " %5" + reduce("%4", "sum") + " %6" + map("%5", "log", row) + " %7" + map("%6, %2", "add", row) +
         " %8 = core.cast (%7)" + own_row + " output %8, %2\n}\n";
}

struct Kernels {
  compiler::Compiled grouped, alone;
};

void compile(const std::string& text, target::Isa isa, std::optional<Kernels>& made) {
  Result<graph::Graph> graph = graph::parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message() << text;
  ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
  target::Target target;
  target.isa = isa;
  Result<compiler::Compiled> grouped = compiler::compile(graph.value(), target);
  ASSERT_TRUE(grouped.ok()) << grouped.status().message();
  ASSERT_EQ(grouped.value().regions.size(), 1U);
  ASSERT_EQ(grouped.value().regions[0].kernels.size(), 1U);
  const auto& kernel = grouped.value().regions[0].kernels[0];
  ASSERT_EQ(kernel.schedule.rows_at_once, 4) << print(kernel.schedule);
  schedule::Schedule alone = kernel.schedule;
  alone.rows_at_once = 1;
  ASSERT_TRUE(schedule::is_neighbour(kernel.spec, kernel.schedule, alone));
  compiler::Tuning tuning;
  tuning.add(kernel.spec, target.cores, alone);
  Result<compiler::Compiled> plain = compiler::compile(graph.value(), target, {.tuning = &tuning});
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_EQ(plain.value().regions[0].kernels[0].schedule.rows_at_once, 1);
  made.emplace(Kernels{std::move(grouped.value()), std::move(plain.value())});
}

using Elements = std::vector<std::byte>;

Status run(const compiler::Compiled& compiled, target::Isa isa, Elements& in, std::array<Elements, 2>& out) {
  const Bytes from{in.data(), in.size()};
  const Bytes to[] = {{out[0].data(), out[0].size()}, {out[1].data(), out[1].size()}};
  return run_at(compiled.program, isa, {&from, 1}, to);
}

/// Elements about 0, some rows of equal ones, and in every fourth row or so something that is no ordinary number.
Elements input_of(const std::string& dtype, const Shape& shape, std::mt19937_64& random) {
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(), 0x1p-140F};
  const std::size_t bytes = dtype == "f32" ? 4 : 2;
  Elements in;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const bool equal = random() % 8 == 0;
    const std::uint64_t special = random() % 4 == 0 ? random() % static_cast<std::uint64_t>(shape.columns) : ~0ULL;
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      float value = equal ? 2.5F : static_cast<float>(static_cast<double>(random() >> 16) * 0x1p-44 - 8);
      if (static_cast<std::uint64_t>(column) == special) value = kSpecial[random() % std::size(kSpecial)];
      std::uint32_t pattern = 0;
      std::memcpy(&pattern, &value, 4);
      if (dtype == "f16")
        pattern = ((pattern >> 16 & 0x8000) | (0x3000 + (static_cast<std::uint32_t>(random()) & 0x1fff))) << 16;
      const auto* first = reinterpret_cast<const std::byte*>(&pattern) + (4 - bytes);
      in.insert(in.end(), first, first + bytes);
    }
  }
  return in;
}

class RowGroups : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(RowGroups, GiveWhatRowsGiveAlone) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const auto& [what, dtype_name] = GetParam();
  const std::string dtype = dtype_name;
  std::mt19937_64 random(test_seed());
  std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  const std::size_t bytes = dtype == "f32" ? 4 : 2;
  for (const target::Isa isa : all_levels())
    for (const std::int64_t columns : {2, 15, 16, 33, 64, 100, 256})
      for (const std::int64_t rows : {2, 3, 4, 5, 7, 8, 13}) {
        const Shape shape{rows, columns};
        SCOPED_TRACE(std::string(target::to_string(isa)) + ", rows " + std::to_string(rows) + " of " +
                     std::to_string(columns));
        std::optional<Kernels> kernels;
        compile(graph_of(what, dtype, shape), isa, kernels);
        ASSERT_TRUE(kernels.has_value());
        Elements in = input_of(dtype, shape, random);
        const auto outputs = [&]() -> std::array<Elements, 2> {
          const auto count = static_cast<std::size_t>(rows);
          if (std::string(what) == "normalize") return {Elements(in.size()), Elements(count * bytes)};
          return {Elements(count * bytes), Elements(count * 4)};
        };
        std::array<Elements, 2> expected = outputs(), got = outputs();
        ASSERT_TRUE(run(kernels->alone, isa, in, expected).ok());
        ASSERT_TRUE(run(kernels->grouped, isa, in, got).ok());
        ASSERT_TRUE(expected == got);
      }
}

INSTANTIATE_TEST_SUITE_P(Rows, RowGroups,
                         ::testing::Combine(::testing::Values("normalize", "log_sum_exp"),
                                            ::testing::Values("f32", "bf16", "f16")),
                         [](const auto& at) {
                           return std::string(std::get<0>(at.param)) + "_" + std::get<1>(at.param);
                         });

}  // namespace
}  // namespace tenfold::numeric

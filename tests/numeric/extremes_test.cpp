// SPDX-License-Identifier: Apache-2.0
//
// The maximum, or the minimum, of rows beside their sum, in one kernel, to the bit: of zeros of both signs, of rows of
// one sign, of NaNs with and without a sign, and of infinities, in tails as well; and by itself, along any axis, of
// elements and of their magnitudes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

/// Of a floating dtype, elements as bits.
struct Format {
  const char* name;
  std::size_t bytes;
  std::uint64_t sign, infinity, canonical_nan;
};
constexpr Format kFormats[] = {{"f32", 4, 0x80000000, 0x7f800000, 0x7fc00000},
                               {"bf16", 2, 0x8000, 0x7f80, 0x7fc0},
                               {"f16", 2, 0x8000, 0x7c00, 0x7e00},
                               {"f64", 8, 0x8000000000000000, 0x7ff0000000000000, 0x7ff8000000000000}};

enum class Kind : std::uint8_t { any, positive, negative, zeros, nan, signed_nan, infinities };
constexpr Kind kKinds[] = {Kind::any, Kind::positive,   Kind::negative,  Kind::zeros,
                           Kind::nan, Kind::signed_nan, Kind::infinities};

std::uint64_t draw(const Format& format, Kind kind, std::mt19937_64& random) {
  const std::uint64_t bits = random(), sign = (bits & 1) != 0 ? format.sign : 0, finite = (bits >> 1) % format.infinity;
  switch (kind) {
    case Kind::positive: return finite;
    case Kind::negative: return format.sign | finite;
    case Kind::zeros: return sign;
    case Kind::infinities: return sign | ((bits >> 1) % 8 == 0 ? format.infinity : finite);
    default: return sign | finite;
  }
}

std::vector<std::uint64_t> draw_row(const Format& format, Kind kind, std::size_t columns, std::mt19937_64& random) {
  std::vector<std::uint64_t> row(columns);
  for (std::uint64_t& bits : row) bits = draw(format, kind, random);
  const std::uint64_t payload = 1 + random() % (format.sign - format.infinity - 1);
  if (kind == Kind::nan) row[random() % columns] = format.infinity + payload;
  if (kind == Kind::signed_nan) row[random() % columns] = format.sign + format.infinity + payload;
  return row;
}

/// IEEE 754-2019 maximum or minimum, in the order of bits.
std::uint64_t extreme_of(const Format& format, const std::vector<std::uint64_t>& row, bool max) {
  const auto key = [&](std::uint64_t bits) {
    const auto magnitude = static_cast<std::int64_t>(bits & (format.sign - 1));
    return (bits & format.sign) != 0 ? -1 - magnitude : magnitude;
  };
  const auto is_nan = [&](std::uint64_t bits) { return (bits & (format.sign - 1)) > format.infinity; };
  if (std::ranges::any_of(row, is_nan)) return format.canonical_nan;
  return max ? *std::ranges::max_element(row, {}, key) : *std::ranges::min_element(row, {}, key);
}

using Extremes = std::tuple<int, bool>;  // which format, and whether the maximum
std::string name_of(const Extremes& of) {
  return std::string(std::get<1>(of) ? "max_" : "min_") + kFormats[std::get<0>(of)].name;
}

class ExtremesOf : public ::testing::TestWithParam<Extremes> {};

TEST_P(ExtremesOf, RowsBesideTheirSum) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const Format& format = kFormats[std::get<0>(GetParam())];
  const bool max = std::get<1>(GetParam());
  std::mt19937_64 random(test_seed());
  std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  for (const target::Isa isa : all_levels())
    for (const std::size_t columns : {65U, 79U, 128U, 257U, 1000U}) {
      constexpr std::size_t kRows = 4 * std::size(kKinds);
      const auto type = [&](std::size_t of) {
        return std::string(" : ") + format.name + "[" + std::to_string(kRows) + "," + std::to_string(of) + "]\n";
      };
      const auto reduce = [&](const char* how) {
        return std::string(" = core.reduce (%0) {reduction = \"") + how + "\", keep_dims = true, axes = [1]}" + type(1);
      };
      Result<graph::Graph> graph = graph::parse("graph {\n %0 = input" + type(columns) + " %1" + reduce("sum") + " %2" +
                                                reduce(max ? "max" : "min") + " output %1, %2\n}\n");
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
      target::Target target;
      target.isa = isa;
      compiler::RowPieces one_kernel;
      one_kernel.plain_apart = false;
      const Result<compiler::Compiled> compiled = compiler::compile(graph.value(), target, {.pieces = one_kernel});
      ASSERT_TRUE(compiled.ok()) << compiled.status().message();
      ASSERT_EQ(compiled.value().regions.size(), 1U);
      ASSERT_EQ(compiled.value().regions[0].kernels.size(), 1U);
      ASSERT_EQ(compiled.value().regions[0].kernels[0].schedule.nest, schedule::Nest::staged_rows);

      std::vector<std::byte> in(kRows * columns * format.bytes), sums(kRows * format.bytes), extremes(sums.size());
      std::vector<std::uint64_t> expected;
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::vector<std::uint64_t> bits = draw_row(format, kKinds[row % std::size(kKinds)], columns, random);
        expected.push_back(extreme_of(format, bits, max));
        for (std::size_t i = 0; i < columns; ++i)
          std::memcpy(in.data() + (row * columns + i) * format.bytes, &bits[i], format.bytes);
      }
      const Bytes from{in.data(), in.size()};
      const Bytes to[] = {{sums.data(), sums.size()}, {extremes.data(), extremes.size()}};
      ASSERT_TRUE(run_at(compiled.value().program, isa, {&from, 1}, to).ok());
      for (std::size_t row = 0; row < kRows; ++row) {
        std::uint64_t got = 0;
        std::memcpy(&got, extremes.data() + row * format.bytes, format.bytes);
        ASSERT_EQ(got, expected[row]) << target::to_string(isa) << ", row " << row << " of " << columns;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, ExtremesOf, ::testing::Combine(::testing::Values(0, 1, 2), ::testing::Bool()),
                         [](const auto& at) { return name_of(at.param); });

/// Rows, columns and blocks of them, the reduced dim in the middle.
struct Place {
  std::size_t outer, reduced, inner;
};
constexpr Place kPlaces[] = {{20, 7, 1},  {20, 49, 1},  {33, 100, 1},  {5, 300, 1}, {3, 1000, 1}, {1, 4100, 1},
                             {1, 40, 65}, {1, 9, 1000}, {1, 700, 3},   {7, 33, 17}, {40, 20, 4},  {40, 3, 2},
                             {3, 65, 33}, {1, 17, 16},  {100, 13, 13}, {1, 3, 67},  {1, 15, 40},  {2, 2, 200}};

/// And whether of magnitudes. The greatest one is one of bits without a sign, above which NaNs are. (The least one is a
/// body in stages.)
using Anywhere = std::tuple<int, bool, bool>;

class ExtremesAlong : public ::testing::TestWithParam<Anywhere> {};

TEST_P(ExtremesAlong, AnyAxis) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const Format& format = kFormats[std::get<0>(GetParam())];
  const bool max = std::get<1>(GetParam()), magnitudes = std::get<2>(GetParam());
  std::mt19937_64 random(test_seed());
  std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  for (const target::Isa isa : all_levels())
    for (const auto& [outer, reduced, inner] : kPlaces) {
      const std::string type = std::string(format.name) + "[" + std::to_string(outer) + ",";
      const std::string whole = type + std::to_string(reduced) + "," + std::to_string(inner) + "]";
      Result<graph::Graph> graph = graph::parse(
          "graph {\n %0 = input : " + whole +
          (magnitudes ? "\n %1 = core.map (%0) {function = \"abs\"} : " + whole : std::string()) +
          "\n %2 = core.reduce (" + (magnitudes ? "%1" : "%0") + ") {reduction = \"" + (max ? "max" : "min") +
          "\", keep_dims = true, axes = [1]} : " + type + "1," + std::to_string(inner) + "]\n output %2\n}\n");
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
      target::Target target;
      target.isa = isa;
      const Result<compiler::Compiled> compiled = compiler::compile(graph.value(), target);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message();
      ASSERT_EQ(compiled.value().regions.size(), 1U);
      std::vector<std::byte> in(outer * reduced * inner * format.bytes), out(outer * inner * format.bytes);
      std::vector<std::uint64_t> expected(outer * inner);
      for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t c = 0; c < inner; ++c) {
          const Kind kind = kKinds[random() % std::size(kKinds)];
          std::vector<std::uint64_t> bits = draw_row(format, kind, reduced, random);
          for (std::size_t i = 0; i < reduced; ++i)
            std::memcpy(in.data() + ((o * reduced + i) * inner + c) * format.bytes, &bits[i], format.bytes);
          if (magnitudes)
            for (std::uint64_t& element : bits) element &= ~format.sign;
          expected[o * inner + c] = extreme_of(format, bits, max);
        }
      const Bytes from{in.data(), in.size()}, to{out.data(), out.size()};
      ASSERT_TRUE(run_at(compiled.value().program, isa, {&from, 1}, {&to, 1}).ok());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        std::uint64_t got = 0;
        std::memcpy(&got, out.data() + i * format.bytes, format.bytes);
        ASSERT_EQ(got, expected[i]) << target::to_string(isa) << ", output " << i << " of " << whole << ", "
                                    << schedule::print(compiled.value().regions[0].kernels[0].schedule);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, ExtremesAlong, ::testing::Combine(::testing::Values(0, 1, 2, 3), ::testing::Bool(), ::testing::Bool()),
    [](const auto& at) {
      return name_of({std::get<0>(at.param), std::get<1>(at.param)}) + (std::get<2>(at.param) ? "_of_magnitudes" : "");
    });

}  // namespace
}  // namespace tenfold::numeric

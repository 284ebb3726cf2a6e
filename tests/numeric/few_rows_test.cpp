// SPDX-License-Identifier: Apache-2.0
//
// Columns of up to 16 rows of 16 bits, which are added up in registers, several vector steps side by side where there
// are so many: row by row in f32, rounded once, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "sum_run.hpp"

namespace tenfold::numeric {
namespace {

/// So many blocks of rows, one behind the other.
constexpr std::int64_t kBlocks = 3;

struct Case {
  DType dtype;
  std::int64_t rows, columns;
};

/// Numbers of both signs, one in 300 of them none, infinite or a zero with a sign.
std::vector<std::byte> draw(const Case& drawn, std::mt19937_64& random) {
  constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(), 0.0, -0.0};
  std::normal_distribution<double> normal;
  const std::int64_t count = kBlocks * drawn.rows * drawn.columns;
  std::vector<std::byte> elements(static_cast<std::size_t>(count * byte_size(drawn.dtype)));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    graph::store_real(drawn.dtype, elements.data(), i, bits % 300 == 0 ? kSpecial[bits / 300 % 5] : normal(random));
  }
  return elements;
}

std::vector<std::byte> expected(const Case& drawn, const std::vector<std::byte>& elements) {
  std::vector<std::byte> sums(static_cast<std::size_t>(kBlocks * drawn.columns * byte_size(drawn.dtype)));
  for (std::int64_t block = 0; block < kBlocks; ++block)
    for (std::int64_t column = 0; column < drawn.columns; ++column) {
      float sum = 0;
      for (std::int64_t row = 0; row < drawn.rows; ++row)
        sum += static_cast<float>(
            graph::load_real(drawn.dtype, elements.data(), (block * drawn.rows + row) * drawn.columns + column));
      graph::store_real(drawn.dtype, sums.data(), block * drawn.columns + column,
                        std::isnan(sum) ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(sum));
    }
  return sums;
}

TEST(FewRows, OfAnyNumberOfColumns) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  std::mt19937_64 random(test_seed());
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const std::int64_t rows : {1, 2, 7, 16})
      for (const std::int64_t columns : {15, 16, 31, 32, 33, 48, 63, 64, 65, 80, 96, 112, 127, 128, 144, 203}) {
        const Case drawn{dtype, rows, columns};
        const graph::Graph sum = sum_over(dtype, {kBlocks, rows, columns}, 1);
        std::vector<std::byte> in = draw(drawn, random);
        const std::vector<std::byte> wanted = expected(drawn, in);
        for (const target::Isa isa : all_levels()) {
          SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + std::string(to_string(dtype)) + ", " +
                       std::to_string(rows) + " rows of " + std::to_string(columns) + ", seed " +
                       std::to_string(test_seed()));
          target::Target target;
          target.isa = isa;
          const Result<compiler::Compiled> compiled = compiler::compile(sum, target);
          ASSERT_TRUE(compiled.ok()) << compiled.status().message();
          std::vector<std::byte> out(wanted.size());
          const Bytes from{in.data(), in.size()}, to{out.data(), out.size()};
          const Status status = run_at(compiled.value().program, isa, {&from, 1}, {&to, 1});
          ASSERT_TRUE(status.ok()) << status.message();
          ASSERT_TRUE(out == wanted);
        }
      }
}

}  // namespace
}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
//
// Elementwise kernels of short rows, which are taken as one beside what repeats along them, or from row to row
// (schedule/spread.hpp): every width, numbers of rows around those that are spread at a time, one tensor of rows and
// several, each dtype, on every level, in buffers that end, or begin, at pages that cannot be touched.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <random>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

struct Space {
  std::int64_t outer, rows, width;
};

std::string dims(std::int64_t outer, std::int64_t rows, std::int64_t width) {
  return "[" + std::to_string(outer) + "," + std::to_string(rows) + "," + std::to_string(width) + "]";
}

/// Which operands there are beside the elements; many: rows that leave scratch little room for each.
constexpr int kMany = 6;
enum class Beside : std::uint8_t { columns, rows, both, many };

int row_operands(Beside beside) { return beside == Beside::rows ? 0 : beside == Beside::many ? kMany : 1; }
bool has_elements_of_rows(Beside beside) { return beside == Beside::rows || beside == Beside::both; }

/// min(max(x, columns), rows): exact in every type.
std::string graph_of(DType dtype, const Space& s, Beside beside) {
  const std::string type = " : " + std::string(to_string(dtype)), all = type + dims(s.outer, s.rows, s.width) + "\n";
  std::string text = "graph {\n %0 = input" + all, last = "%0";
  int next = 1;
  const auto take = [&](const std::string& function, const std::string& of) {
    const std::string operand = "%" + std::to_string(next++), value = "%" + std::to_string(next++);
    text += " " + operand + " = input" + type + of + "\n " + value + " = core.map (" + last + ", " + operand +
            ") {function = \"" + function + "\"}" + all;
    last = value;
  };
  for (int i = 0; i < row_operands(beside); ++i) take("max", dims(s.outer, 1, s.width));
  if (has_elements_of_rows(beside)) take("min", dims(s.outer, s.rows, 1));
  return text + " output " + last + "\n}\n";
}

class Spread : public ::testing::TestWithParam<DType> {
 protected:
  std::unique_ptr<GuardedBuffer> filled(std::int64_t elements, GuardedBuffer::Guard guard) {
    auto buffer = std::make_unique<GuardedBuffer>(static_cast<std::size_t>(elements * byte_size(GetParam())), guard);
    for (std::int64_t i = 0; i < elements; ++i)
      graph::store_real(GetParam(), buffer->data(), i, static_cast<double>(random_() % 100));
    return buffer;
  }

  void check(const Space& s, Beside beside, target::Isa isa, GuardedBuffer::Guard guard) {
    const std::string text = graph_of(GetParam(), s, beside);
    Result<graph::Graph> graph = graph::parse(text);
    ASSERT_TRUE(graph.ok()) << graph.status().message() << text;
    ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
    target::Target target;
    target.isa = isa;
    const Result<compiler::Compiled> compiled = compiler::compile(graph.value(), target);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    ASSERT_EQ(compiled.value().regions.at(0).kernels.size(), 1U);
    joined_ += compiled.value().regions[0].kernels[0].schedule.width == s.width ? 1 : 0;
    const std::int64_t all = s.outer * s.rows * s.width;
    const auto x = filled(all, guard), columns = filled(s.outer * s.width, guard),
               rows = filled(s.outer * s.rows, guard);
    GuardedBuffer y(static_cast<std::size_t>(all * byte_size(GetParam())), guard);
    std::fill_n(y.data(), y.size(), GuardedBuffer::kCanary);
    std::vector<Bytes> from{{x->data(), x->size()}};
    for (int i = 0; i < row_operands(beside); ++i) from.push_back({columns->data(), columns->size()});
    if (has_elements_of_rows(beside)) from.push_back({rows->data(), rows->size()});
    const Bytes to{y.data(), y.size()};
    const Status status = run_at(compiled.value().program, isa, from, {&to, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(y.canary_intact());
    const auto real = [](const GuardedBuffer& buffer, std::int64_t i) {
      return graph::load_real(GetParam(), buffer.data(), i);
    };
    for (std::int64_t i = 0; i < all; ++i) {
      double wanted = real(*x, i);
      if (row_operands(beside) > 0)
        wanted = std::max(wanted, real(*columns, i / (s.rows * s.width) * s.width + i % s.width));
      if (has_elements_of_rows(beside)) wanted = std::min(wanted, real(*rows, i / s.width));
      ASSERT_EQ(real(y, i), wanted) << "element " << i << " at " << target::to_string(isa) << "\n" << text;
    }
    ++runs_;
  }

  std::mt19937_64 random_{test_seed()};
  std::int64_t runs_ = 0, joined_ = 0;
};

TEST_P(Spread, ElementsMeetWhatRepeats) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  constexpr std::int64_t kRows[] = {32, 33, 47, 63, 200, 341, 342, 343, 513, 700};
  constexpr Beside kBeside[] = {Beside::columns, Beside::rows, Beside::both, Beside::many};
  std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  std::uint64_t turn = 0;
  for (const target::Isa isa : all_levels()) {
    const std::vector<target::Isa> native = native_levels();
    const bool is_native = std::find(native.begin(), native.end(), isa) != native.end();
    for (std::int64_t width = 2; width <= 130; width += is_native || width < 20 ? 1 : 13)
      for (const Beside beside : kBeside) {
        const Space s{turn % 3 == 0 ? 2 : 1, kRows[turn % std::size(kRows)], width};
        const auto guard = turn % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
        ASSERT_NO_FATAL_FAILURE(check(s, beside, isa, guard));
        ++turn;
      }
  }
  std::printf("%lld runs, in %lld of which rows were joined\n", static_cast<long long>(runs_),
              static_cast<long long>(joined_));
  EXPECT_GT(joined_, runs_ / 2);
}

INSTANTIATE_TEST_SUITE_P(All, Spread,
                         ::testing::Values(DType::f32, DType::bf16, DType::f16, DType::f64, DType::s8, DType::u8,
                                           DType::s16, DType::s32, DType::s64),
                         [](const auto& dtype) { return std::string(to_string(dtype.param)); });

}  // namespace
}  // namespace tenfold::numeric

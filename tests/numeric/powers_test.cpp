// SPDX-License-Identifier: Apache-2.0
//
// Sums of exponentials that columns make in the pass of the maximum, of e^x where that is near 0, and by a second look
// where it is not: columns of either kind side by side, about where one becomes the other, masked, infinite and without
// numbers, against long double; equal bits on every level, and beside other columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "prepared_case.hpp"
#include "schedule/stage_traits.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

using Real = long double;

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN(),
                kMax = std::numeric_limits<float>::max();

/// What a column is like: its elements are drawn from `low` to `high`, and every so many of them are another value.
struct Kind {
  float low, high;
  float other = 0;
  std::size_t every = 0;  ///< 0: never
};
constexpr Kind kKinds[] = {
    {-3, 3},
    {40, 59.5F},
    {59.9F, 60},
    {59, 60.25F},
    {60, 88},
    {9000, 9100},
    {-59, -30},
    {-60, -60},
    {-70, -60.5F},
    {-1e6F, -9e5F},
    {-3, 3, -kInf, 2},
    {-3, 3, -kMax, 3},
    {-1e9F, -1e9F, 2, 200},  // masked but for a few
    {-kInf, -kInf},
    {-kInf, -kInf, 1, 211},
    {-3, 3, kInf, 97},
    {-3, 3, kNan, 251},
    {kNan, kNan},
    {-100, 60},
    {-kMax, -kMax},
    {60, 60},
};

enum class What : std::uint8_t { softmax, log_softmax, log_sum_exp };

struct Shape {
  std::int64_t outer, rows, columns;
  std::size_t count() const { return static_cast<std::size_t>(outer * rows * columns); }
};

std::string text_of(What what, DType of, const Shape& s) {
  const std::string dtype(to_string(of));
  const auto dims = [&](std::int64_t rows) {
    return "[" + std::to_string(s.outer) + "," + std::to_string(rows) + "," + std::to_string(s.columns) + "]";
  };
  const std::string in = "graph {\n %0 = input : " + dtype + dims(s.rows) + "\n";
  if (what == What::log_sum_exp)
    return in + " %1 = core.reduce (%0) {reduction = \"log_sum_exp\", axes = [1], keep_dims = true} : " + dtype +
           dims(1) + "\n output %1\n}\n";
  const std::string op = what == What::softmax ? "SoftMax" : "LogSoftmax";
  return in + " %1 = onednn." + op + " (%0) {axis = 1} : " + dtype + dims(s.rows) + "\n output %1\n}\n";
}

class Values {
 public:
  Values(DType dtype, std::size_t count) : bytes(count * static_cast<std::size_t>(byte_size(dtype))), dtype_(dtype) {}

  void set(std::size_t i, float value) { graph::store_real(dtype_, bytes.data(), static_cast<std::int64_t>(i), value); }
  Real operator[](std::size_t i) const { return graph::load_real(dtype_, bytes.data(), static_cast<std::int64_t>(i)); }
  /// How much the dtype may have to round `x`.
  Real rounding(Real x) const {
    const int digits = dtype_ == DType::f32    ? 24
                       : dtype_ == DType::bf16 ? 8
                                               : 11,
              least = dtype_ == DType::f16 ? -13 : -125;
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::ldexp(Real{1}, std::max(exponent, least) - digits);
  }

  std::vector<std::byte> bytes;

 private:
  DType dtype_;
};

compiler::Compiled compiled(const std::string& text, target::Isa isa) {
  Result<graph::Graph> graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message() << text;
  if (!graph.ok()) return {};
  EXPECT_TRUE(graph::run_pipeline(graph.value()).ok());
  target::Target target;
  target.isa = isa;
  Result<compiler::Compiled> made = compiler::compile(graph.value(), target);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? std::move(made).value() : compiler::Compiled();
}

/// Whether a kernel of it sums powers.
bool sums_powers(const compiler::Compiled& of) {
  for (const compiler::RegionReport& region : of.regions)
    for (const auto& kernel : region.kernels)
      if (kernel.schedule.nest == schedule::Nest::staged_columns)
        for (const int max : schedule::maxima_in_one_pass(kernel.spec))
          if (max >= 0) return true;
  return false;
}

Values run(const compiler::Compiled& program, target::Isa isa, const Values& in, DType dtype, std::size_t count) {
  Values out(dtype, count), from = in;
  const Bytes in_bytes{from.bytes.data(), from.bytes.size()}, out_bytes{out.bytes.data(), out.bytes.size()};
  const Status status = run_at(program.program, isa, {&in_bytes, 1}, {&out_bytes, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

bool is_near(Real got, Real expected, Real most) {
  if (std::isnan(expected)) return std::isnan(got);
  return got == expected || std::fabs(got - expected) <= most;
}

/// Judges one column of what came out: its elements at first, first + step, ...
void judge(What what, const Values& in, const Values& out, std::size_t first, std::size_t first_out, std::size_t step,
           std::size_t rows) {
  Real max = -kInf, sum = 0;
  bool any_nan = false;
  for (std::size_t i = 0; i < rows; ++i) {
    max = std::fmax(max, in[first + i * step]);
    any_nan = any_nan || std::isnan(in[first + i * step]);
  }
  for (std::size_t i = 0; i < rows; ++i) sum += std::exp(in[first + i * step] - max);
  const Real unit = 0x1p-23L;
  if (what == What::log_sum_exp) {
    const Real expected = any_nan ? Real{kNan} : std::isinf(max) ? max : max + std::log(sum);
    const Real most = unit * (std::fabs(expected) + std::log(sum) + 1) + out.rounding(expected);
    ASSERT_TRUE(is_near(out[first_out], expected, most))
        << static_cast<double>(out[first_out]) << " for " << static_cast<double>(expected);
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const Real less = in[first + i * step] - max, got = out[first + i * step];
    const bool none = any_nan || std::isinf(max);
    const Real expected = none ? Real{kNan} : what == What::softmax ? std::exp(less) / sum : less - std::log(sum);
    const Real wide = what == What::softmax
                          ? (expected > 0 ? expected * (4 + std::fabs(less)) : Real{0}) * unit
                          : unit * (2 + (std::isinf(less) ? Real{0} : std::fabs(less)) + std::log(sum));
    ASSERT_TRUE(is_near(got, expected, wide + out.rounding(expected)))
        << "row " << i << ": " << static_cast<double>(got) << " for " << static_cast<double>(expected);
  }
}

class Powers : public ::testing::TestWithParam<std::tuple<What, DType>> {};

TEST_P(Powers, AreTheExponentialsOfAnyColumn) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const auto& [what, dtype] = GetParam();
  // Where exponentials are stored, only what no cache is likely to hold.
  const std::vector<Shape> shapes =
      what == What::softmax ? std::vector<Shape>{{1, 1037, 2064}, {3, 300, 2500}}
                            : std::vector<Shape>{{1, 256, 37}, {2, 257, 16}, {1, 1100, 100}, {1, 300, 2000}};
  for (const Shape& shape : shapes) {
    std::mt19937_64 random(case_seed(test_name(), static_cast<std::uint64_t>(shape.rows)));
    SCOPED_TRACE("rows " + std::to_string(shape.rows) + ", columns " + std::to_string(shape.columns) + ", seed " +
                 std::to_string(test_seed()));
    Values in(dtype, shape.count());
    const auto columns = static_cast<std::size_t>(shape.columns), rows = static_cast<std::size_t>(shape.rows);
    const std::size_t shift = random() % std::size(kKinds);
    // A tile of near columns alone, and tiles of all kinds.
    const auto kind_of = [&](std::size_t column) {
      return kKinds[column < columns / 2 ? (column + shift) % std::size(kKinds) : 0];
    };
    for (std::size_t i = 0; i < shape.count(); ++i) {
      const Kind kind = kind_of(i % columns);
      const float part = static_cast<float>(random() >> 40) * 0x1p-24F;
      const bool other = kind.every > 0 && (i / columns) % kind.every == kind.every - 1;
      const float drawn = kind.low == kind.high ? kind.low : kind.low + (kind.high - kind.low) * part;
      in.set(i, other ? kind.other : drawn);
    }
    const std::size_t results =
        what == What::log_sum_exp ? static_cast<std::size_t>(shape.outer) * columns : shape.count();
    const std::string text = text_of(what, dtype, shape);
    std::vector<std::byte> bits;
    for (const target::Isa isa : all_levels()) {
      if (shape.count() > 100000 && std::ranges::count(native_levels(), isa) == 0) continue;
      SCOPED_TRACE(target::to_string(isa));
      const compiler::Compiled made = compiled(text, isa);
      ASSERT_TRUE(sums_powers(made));
      const Values out = run(made, isa, in, dtype, results);
      if (!bits.empty()) {
        EXPECT_TRUE(bits == out.bytes) << "other bits than on the level before";
        continue;
      }
      bits = out.bytes;
      for (std::size_t column = 0; column < columns; ++column)
        for (std::size_t outer = 0; outer < static_cast<std::size_t>(shape.outer); ++outer) {
          SCOPED_TRACE("column " + std::to_string(column) + " of kind " +
                       std::to_string((column + shift) % std::size(kKinds)));
          judge(what, in, out, outer * rows * columns + column, outer * columns + column, columns, rows);
          if (HasFatalFailure()) return;
        }
    }
  }
}

TEST_P(Powers, DoNotShowWhatOtherColumnsHold) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const auto& [what, dtype] = GetParam();
  const Shape shape = what == What::softmax ? Shape{1, 1040, 2048} : Shape{1, 300, 48};
  const target::Isa isa = native_levels().empty() ? target::Isa::avx2 : native_levels().back();
  const compiler::Compiled made = compiled(text_of(what, dtype, shape), isa);
  ASSERT_TRUE(sums_powers(made));
  std::mt19937_64 random(case_seed(test_name(), 0));
  Values in(dtype, shape.count());
  for (std::size_t i = 0; i < shape.count(); ++i) in.set(i, static_cast<float>(random() >> 40) * 0x1p-20F - 8);
  const std::size_t columns = static_cast<std::size_t>(shape.columns),
                    results = what == What::log_sum_exp ? columns : shape.count();
  const Values alone = run(made, isa, in, dtype, results);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape.rows); ++row) in.set(row * columns + 5, 1000);
  const Values beside = run(made, isa, in, dtype, results);
  for (std::size_t i = 0; i < results; ++i) {
    if (i % columns != 5) {
      ASSERT_EQ(alone[i], beside[i]) << i;
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<What, DType>>& info) {
  constexpr const char* kNames[] = {"softmax", "log_softmax", "log_sum_exp"};
  return kNames[static_cast<std::size_t>(std::get<0>(info.param))] + std::string("_") +
         std::string(to_string(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(Columns, Powers,
                         ::testing::Combine(::testing::Values(What::softmax, What::log_softmax, What::log_sum_exp),
                                            ::testing::Values(DType::f32, DType::bf16, DType::f16)),
                         name_of);

}  // namespace
}  // namespace tenfold::numeric

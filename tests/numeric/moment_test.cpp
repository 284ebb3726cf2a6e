// SPDX-License-Identifier: Apache-2.0
//
// Mean and centred second moment of the same elements, which kernels make in one pass (jit/stage/centred.hpp), along
// rows where these are neither short nor very long: rows that defeat formulas which cancel, lengths around the chains
// and the doublings, special values, other bodies.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "graph/eval/bound.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "neighbour.hpp"
#include "prepared_case.hpp"
#include "runtime/program.hpp"
#include "settings.hpp"
#include "target/target.hpp"

namespace tenfold::numeric {
namespace {

using Real = long double;
using Row = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kLengths[] = {1,  2,   3,   7,   15,  16,  17,   31,   32,   33,  48,
                                     64, 100, 128, 129, 511, 512, 1000, 2065, 4096, 4100};
constexpr std::int64_t kColumns[] = {5, 16, 37};

/// How the elements of a set lie: one apart from the next, side by side, or a few side by side and those apart.
enum class Lie : std::uint8_t { columns, rows, apart };

/// Of so many elements, those side by side, so that kernels have columns of 16 and more: else one.
std::int64_t side_by_side(std::int64_t length) {
  for (const std::int64_t few : {16, 8, 7, 5, 4, 3, 2})
    if (length % few == 0 && length >= 16 * few) return few;
  return 1;
}

/// Variances of `columns` sets of `length` elements, and their means; of a function of the input's elements, where one
/// is named.
class Variance {
 public:
  Variance(std::int64_t length, std::int64_t columns, Lie lie, const std::string& element = "")
      : length_(length), columns_(columns), inner_(lie == Lie::apart ? side_by_side(length) : 1), lie_(lie) {
    const bool rows = lie == Lie::rows;
    const std::string whole = "f32[" + (rows ? dims(columns, 1, length) : dims(length / inner_, columns, inner_)) + "]";
    const std::string row = "f32[" + (rows ? dims(columns, 1, 1) : dims(1, columns, 1)) + "]";
    const std::string mean =
        std::string(" {reduction = \"mean\", axes = [") + (rows ? "1, 2" : "0, 2") + "], keep_dims = true} : " + row;
    const std::string text = "graph {\n %0 = input : " + whole + "\n %1 = core.map (%0) {function = \"" +
                             (element.empty() ? "abs" : element) + "\"} : " + whole + "\n %2 = core.reduce (%" +
                             (element.empty() ? "0" : "1") + ")" + mean + "\n %3 = core.map (%" +
                             (element.empty() ? "0" : "1") + ", %2) {function = \"sub\"} : " + whole +
                             "\n %4 = core.map (%3, %3) {function = \"mul\"} : " + whole + "\n %5 = core.reduce (%4)" +
                             mean + "\n output %5, %2\n}\n";
    Result<graph::Graph> parsed = graph::parse(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
    if (!parsed.ok()) return;
    const Status status = graph::run_pipeline(parsed.value());
    EXPECT_TRUE(status.ok()) << status.message();
    core_ = std::move(parsed).value();
    compiled_ = compiled_for(target::host().value());
  }

  compiler::Compiled compiled_for(const target::Target& target) const {
    Result<compiler::Compiled> compiled = compiler::compile(core_, target, {.fuse = true});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    if (!compiled.ok()) return {};
    EXPECT_EQ(compiled.value().regions.size(), 1U);
    return std::move(compiled).value();
  }

  /// Element i of what one variance is of.
  void run(const std::function<float(std::int64_t i, std::int64_t column)>& element) {
    in_.resize(static_cast<std::size_t>(length_ * columns_));
    for (std::int64_t c = 0; c < columns_; ++c)
      for (std::int64_t i = 0; i < length_; ++i) in_[at(i, c)] = element(i, c);
    run(compiled_);
  }

  void run(const compiler::Compiled& compiled) {
    variances.assign(static_cast<std::size_t>(columns_), -1);
    means = variances;
    const void* const inputs[] = {in_.data()};
    void* const outputs[] = {variances.data(), means.data()};
    const Status status = runtime::run(compiled.program, inputs, outputs, nullptr, 1);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// The same elements again, on a level that the CPU may lack.
  void run_emulated(target::Isa isa) {
    target::Target target = target::host().value();
    target.isa = isa;
    const Bytes inputs[] = {{in_.data(), in_.size() * sizeof(float)}};
    const Bytes outputs[] = {{variances.data(), variances.size() * sizeof(float)},
                             {means.data(), means.size() * sizeof(float)}};
    const Status status = emulated_run(compiled_for(target).program, isa, inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// The same elements again, by another schedule; false when there are not so many.
  bool run_neighbour(std::uint64_t pick) {
    const auto made = compile_neighbour(core_, target::host().value(), compiled_, pick);
    if (!made || !made->ok()) return false;
    run(made->value());
    return true;
  }

  std::vector<float> variances, means;

 private:
  std::size_t at(std::int64_t i, std::int64_t c) const {
    return static_cast<std::size_t>(lie_ == Lie::rows ? c * length_ + i
                                                      : (i / inner_ * columns_ + c) * inner_ + i % inner_);
  }
  static std::string dims(std::int64_t a, std::int64_t b, std::int64_t c) {
    return std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c);
  }

  std::int64_t length_, columns_, inner_;
  Lie lie_;
  graph::Graph core_;
  compiler::Compiled compiled_;
  std::vector<float> in_;
};

struct Moments {
  Real mean = 0, variance = 0;
};
Moments exact(const Row& row) {
  Moments m;
  for (const float x : row) m.mean += Real{x};
  m.mean /= static_cast<Real>(row.size());
  for (const float x : row) m.variance += (Real{x} - m.mean) * (Real{x} - m.mean);
  m.variance /= static_cast<Real>(row.size());
  return m;
}

double mean_bound(const Row& row) {
  graph::Magnitude magnitude;
  for (const float x : row) magnitude.add(static_cast<double>(x));
  return graph::reduction_bound("mean", magnitude, DType::f32);
}

bool has_kernels() { return target::host().ok() && target::host().value().isa != target::Isa::reference; }

/// Rows that are hard on a formula: by index and a normal number.
struct Shape {
  const char* name;
  std::function<float(std::int64_t i, double normal)> element;
};
const Shape kShapes[] = {
    {"normal", [](std::int64_t, double z) { return static_cast<float>(z); }},
    {"far", [](std::int64_t, double z) { return static_cast<float>(1000 + 1e-3 * z); }},
    {"first apart", [](std::int64_t i, double z) { return static_cast<float>(i == 0 ? 1e6 : z); }},
    {"second apart", [](std::int64_t i, double z) { return static_cast<float>(i == 1 ? -1e6 : z); }},
    {"seventeenth apart", [](std::int64_t i, double z) { return static_cast<float>(i == 16 ? 1e6 : z); }},
    {"last apart", [](std::int64_t i, double z) { return static_cast<float>(i % 1000 == 999 ? 1e6 : z); }},
    {"ramp", [](std::int64_t i, double z) { return static_cast<float>(static_cast<double>(i) + 1e-3 * z); }},
    {"blocks", [](std::int64_t i, double z) { return static_cast<float>((i / 16 % 2 == 0 ? 7 : -7) + 1e-2 * z); }},
    {"step", [](std::int64_t i, double z) { return static_cast<float>((i < 32 ? 1e4 : -1e4) + z); }},
    {"one", [](std::int64_t i, double z) { return static_cast<float>(i == 0 ? z : 0); }},
    {"padded", [](std::int64_t i, double z) { return static_cast<float>(i < 40 ? z : 0); }},
    {"padded far", [](std::int64_t i, double z) { return static_cast<float>(i < 200 ? 5 + 1e-2 * z : 0); }},
};

class Moment : public ::testing::TestWithParam<Lie> {};

/// What a mean is off by whose square is added to the moment: in two passes what rounding it to f32 has left, and of
/// pieces apart, whose means are of sums in f32, 17 units of it.
Real mean_rounding(Lie lie) {
  switch (lie) {
    case Lie::columns: return 0;
    case Lie::rows: return 0x1p-22L;
    case Lie::apart: return 0;
  }
  return 0;
}

TEST_P(Moment, HoldsOnRowsThatDefeatCancellingFormulas) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const Shape& shape : kShapes)
    for (const std::int64_t length : kLengths)
      for (const std::int64_t columns : kColumns) {
        std::mt19937_64 random(case_seed(shape.name, static_cast<std::uint64_t>(length * 100 + columns)));
        std::normal_distribution<double> normal;
        std::vector<Row> rows(static_cast<std::size_t>(columns));
        Variance variance(length, columns, GetParam());
        variance.run([&](std::int64_t i, std::int64_t c) {
          rows[static_cast<std::size_t>(c)].push_back(shape.element(i, normal(random)));
          return rows[static_cast<std::size_t>(c)].back();
        });
        for (std::size_t c = 0; c < rows.size(); ++c) {
          const Moments want = exact(rows[c]);
          const Real rounding = std::fabs(want.mean) * mean_rounding(GetParam());
          const Real bound = 24 * 0x1p-24L * want.variance + rounding * rounding + 0x1p-149L;
          const auto got_mean = static_cast<double>(variance.means[c]);
          EXPECT_TRUE(graph::agree(DType::f32, static_cast<double>(static_cast<float>(want.mean)), got_mean,
                                   mean_bound(rows[c])))
              << shape.name << ", length " << length << ", mean " << got_mean << " for " << want.mean << ", seed "
              << test_seed();
          EXPECT_LE(std::fabs(static_cast<Real>(variance.variances[c]) - want.variance), bound)
              << shape.name << ", length " << length << ", column " << c << " of " << columns << ", seed "
              << test_seed();
        }
      }
}

/// Whether it is one pass.
bool has_pilot(Lie lie, std::int64_t length) { return lie != Lie::rows || (length >= 512 && length <= 4096); }

/// In two passes only where the mean is exact.
TEST_P(Moment, OfEqualElementsIsZero) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const std::int64_t length : kLengths) {
    const bool any = has_pilot(GetParam(), length);
    Variance variance(length, 16, GetParam());
    variance.run([&](std::int64_t, std::int64_t c) {
      return std::ldexp(any ? 1.0F + 0.37F * static_cast<float>(c) : 1.0F, static_cast<int>(c) * 15 - 120);
    });
    for (const float v : variance.variances) EXPECT_EQ(v, 0) << length;
  }
}

TEST_P(Moment, OfHugeElementsIsInfiniteAndNeverNan) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const std::int64_t length : {2, 16, 40, 200, 512, 1024, 1500}) {
    const bool any = has_pilot(GetParam(), length);  // in two passes, the sum's own chains must not overflow
    Variance variance(length, 3, GetParam());
    variance.run([&](std::int64_t i, std::int64_t c) {
      const float sign = i % 2 == 0 ? 1.0F : -1.0F;
      if (c == 0 && any) return 3e38F * sign;
      return c == 1 ? 1e25F * sign : i == 1 ? 3e38F : -1e30F;
    });
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(variance.variances[c], kInf) << length << " " << c;
  }
}

/// Whose sums overflow as well, though not their means: pieces of narrow columns know that all are numbers.
TEST_P(Moment, OfHugeElementsInARowIsInfiniteInNarrowColumns) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  if (GetParam() != Lie::columns) GTEST_SKIP() << "NOT RUN: sums that overflow with their chains";
  for (const std::int64_t length : {1024, 1500, 4096}) {
    Variance variance(length, 3, GetParam());
    variance.run(
        [&](std::int64_t i, std::int64_t c) { return (c == 0 ? 3e38F : 1e38F) * (2 * i < length ? 1.0F : -1.0F); });
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(variance.variances[c], kInf) << length;
      EXPECT_LE(std::fabs(variance.means[c]), 1e35F) << length;
    }
  }
}

/// Squares that f32 has no number for, of elements whose mean it has.
TEST_P(Moment, OfTinyElementsIsNotNegative) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const std::int64_t length : {16, 100, 512, 3000}) {
    Variance variance(length, 5, GetParam());
    std::mt19937_64 random(case_seed("tiny", static_cast<std::uint64_t>(length)));
    std::normal_distribution<float> normal;
    variance.run([&](std::int64_t, std::int64_t c) {
      constexpr float kScales[] = {1e-25F, 1e-40F, 1e-22F};
      return c < 3 ? normal(random) * kScales[c] : c == 3 ? 1.1558e-20F : 1.34e-25F;
    });
    for (const float v : variance.variances) EXPECT_TRUE(!std::isnan(v) && !std::signbit(v)) << length << " " << v;
  }
}

/// What the regions of a core graph with one input give, and how many kernels they have.
std::size_t run_core(const std::string& text, const void* input, const std::vector<void*>& outputs) {
  const Result<graph::Graph> parsed = graph::parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return 0;
  const Result<compiler::Compiled> compiled = compiler::compile(parsed.value(), target::host().value(), {.fuse = true});
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return 0;
  const void* const inputs[] = {input};
  const Status status = runtime::run(compiled.value().program, inputs, outputs, nullptr, 1);
  EXPECT_TRUE(status.ok()) << status.message();
  return compiled.value().regions[0].kernels.size();
}

/// Of a softmax, whose exponentials scratch keeps from pass to pass: the pilot reads them there, too.
TEST_P(Moment, OfKeptElements) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  if (GetParam() == Lie::apart) GTEST_SKIP() << "NOT RUN: scratch keeps nothing of these";
  const bool across = GetParam() == Lie::columns;
  for (const std::size_t length : {2U, 5U, 17U, 33U, 50U, 63U, 100U})
    for (const std::size_t rows : {2U, 3U, 16U, 37U, 64U}) {
      const std::string whole = across ? "f32[" + std::to_string(length) + "," + std::to_string(rows) + "]"
                                       : "f32[" + std::to_string(rows) + "," + std::to_string(length) + "]";
      const std::string row = across ? "f32[1," + std::to_string(rows) + "]" : "f32[" + std::to_string(rows) + ",1]";
      const auto reduced = [&](const std::string& how) {
        return " {reduction = \"" + how + "\", axes = [" + std::string(across ? "0" : "1") +
               "], keep_dims = true} : " + row;
      };
      const auto map = [&](const std::string& function) { return " {function = \"" + function + "\"} : " + whole; };
      const std::string text = "graph {\n %0 = input : " + whole + "\n %1 = core.reduce (%0)" + reduced("max") +
                               "\n %2 = core.map (%0, %1)" + map("sub") + "\n %3 = core.map (%2)" + map("exp") +
                               "\n %4 = core.reduce (%3)" + reduced("sum") + "\n %5 = core.map (%3, %4)" + map("div") +
                               "\n %6 = core.reduce (%5)" + reduced("mean") + "\n %7 = core.map (%5, %6)" + map("sub") +
                               "\n %8 = core.map (%7, %7)" + map("mul") + "\n %9 = core.reduce (%8)" + reduced("mean") +
                               "\n output %9\n}\n";
      std::vector<float> in(rows * length), variances(rows);
      std::mt19937_64 random(case_seed("kept", length * 100 + rows));
      std::normal_distribution<float> normal(10, 2);
      for (float& x : in) x = normal(random);
      ASSERT_GT(run_core(text, in.data(), {variances.data()}), 0U);
      for (std::size_t r = 0; r < rows; ++r) {
        Row elements;
        Real sum = 0;
        for (std::size_t i = 0; i < length; ++i) {
          elements.push_back(std::exp(in[across ? i * rows + r : r * length + i] - 10));
          sum += Real{elements.back()};
        }
        const auto want = static_cast<double>(exact(elements).variance / (sum * sum));
        // Elements are rounded, which of nearly equal ones is a good part of what they differ by.
        EXPECT_NEAR(variances[r], want, want * 1e-4 + 2 * std::sqrt(want) * 0x1p-23 + 1e-12)
            << length << " elements, row " << r << " of " << rows << ", seed " << test_seed();
      }
    }
}

/// The variance of what is left of the elements when their mean is taken off, beside the first one's: two pairs of
/// which one's moment and the other's sum are of one pass.
TEST(MomentsOfPieces, OfDeviationsBesideTheirOwn) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const bool across : {true, false}) {
    const std::string whole = across ? "f32[3000,5]" : "f32[2,300000]", row = across ? "f32[1,5]" : "f32[2,1]";
    const std::string mean =
        " {reduction = \"mean\", axes = [" + std::string(across ? "0" : "1") + "], keep_dims = true} : " + row;
    const std::string sub = " {function = \"sub\"} : " + whole, mul = " {function = \"mul\"} : " + whole;
    const std::string text = "graph {\n %0 = input : " + whole + "\n %1 = core.reduce (%0)" + mean +
                             "\n %2 = core.map (%0, %1)" + sub + "\n %3 = core.map (%2, %2)" + mul +
                             "\n %4 = core.reduce (%3)" + mean + "\n %5 = core.reduce (%2)" + mean +
                             "\n %6 = core.map (%2, %5)" + sub + "\n %7 = core.map (%6, %6)" + mul +
                             "\n %8 = core.reduce (%7)" + mean + "\n output %4, %8\n}\n";
    const std::size_t rows = across ? 5 : 2, length = across ? 3000 : 300000;
    std::vector<float> in(rows * length), first(rows), second(rows);
    std::mt19937_64 random(case_seed("deviations", across ? 0 : 1));
    std::normal_distribution<float> normal(5, 1);
    for (float& x : in) x = normal(random);
    ASSERT_GT(run_core(text, in.data(), {first.data(), second.data()}), 0U);
    for (std::size_t r = 0; r < rows; ++r) {
      Row elements;
      for (std::size_t i = 0; i < length; ++i) elements.push_back(in[across ? i * rows + r : r * length + i]);
      const double want = static_cast<double>(exact(elements).variance);
      EXPECT_NEAR(first[r], want, 1e-5) << r;
      EXPECT_NEAR(second[r], want, 1e-5) << r;
    }
  }
}

/// Rows in pieces, whose sum overflows f32, and whose mean and root mean square do not.
TEST(MeanOfPieces, StaysWideUntilItIsDivided) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  constexpr std::size_t kElements = 1300 * 26;
  const std::string text = R"(graph {
 %0 = input : f32[1300,26]
 %1 = core.map (%0, %0) {function = "mul"} : f32[1300,26]
 %2 = core.reduce (%1) {reduction = "mean", axes = [0], keep_dims = true} : f32[1,26]
 %3 = core.map (%2) {function = "sqrt"} : f32[1,26]
 %4 = core.map (%0, %3) {function = "div"} : f32[1300,26]
 output %4
})";
  const std::vector<float> in(kElements, 1e18F);
  std::vector<float> out(in.size());
  ASSERT_GT(run_core(text, in.data(), {out.data()}), 1U) << "it is not in pieces";
  for (const float v : out) ASSERT_NEAR(v, 1, 1e-6);
}

TEST_P(Moment, IsNanBesideInfinityAndNan) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const std::int64_t length : {1, 3, 16, 17, 100, 513, 1024, 4000})
    for (const std::int64_t place : {std::int64_t{0}, length / 2, length - 1}) {
      Variance variance(length, 4, GetParam());
      variance.run([&](std::int64_t i, std::int64_t c) {
        if (i != place) return static_cast<float>(i + c);
        return c == 0 ? kInf : c == 1 ? -kInf : c == 2 ? kNan : 5.0F;
      });
      for (std::size_t c = 0; c < 3; ++c) EXPECT_TRUE(std::isnan(variance.variances[c])) << length << " " << c;
      EXPECT_FALSE(std::isnan(variance.variances[3])) << length;
    }
}

TEST_P(Moment, OfAnyElementExpression) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const std::int64_t length : {1, 20, 300, 1000}) {
    Variance variance(length, 20, GetParam(), "exp");
    std::vector<Row> rows(20);
    variance.run([&](std::int64_t i, std::int64_t c) {
      const float x = static_cast<float>((i * 7 + c) % 13) * 0.25F;
      rows[static_cast<std::size_t>(c)].push_back(static_cast<float>(std::exp(static_cast<double>(x))));
      return x;
    });
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const Moments want = exact(rows[c]);
      EXPECT_NEAR(variance.variances[c], static_cast<double>(want.variance), static_cast<double>(want.variance) * 1e-5)
          << length;
      EXPECT_NEAR(variance.means[c], static_cast<double>(want.mean), static_cast<double>(want.mean) * 1e-6) << length;
    }
  }
}

TEST_P(Moment, HasTheSameBitsOnEveryLevelAndByEverySchedule) {
  if (!has_kernels()) GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  for (const std::int64_t length : {5, 16, 40, 161, 700, 2050})
    for (const std::int64_t columns : kColumns) {
      std::mt19937_64 random(case_seed("levels", static_cast<std::uint64_t>(length * 100 + columns)));
      std::normal_distribution<float> normal(3);
      Variance variance(length, columns, GetParam());
      variance.run([&](std::int64_t, std::int64_t) { return normal(random); });
      const std::vector<float> variances = variance.variances, means = variance.means;
      for (const target::Isa isa : all_levels()) {
        variance.run_emulated(isa);
        EXPECT_EQ(variance.variances, variances) << target::to_string(isa) << ", seed " << test_seed();
        EXPECT_EQ(variance.means, means) << target::to_string(isa) << ", seed " << test_seed();
      }
      for (std::uint64_t pick = 0; pick < 12; ++pick) {
        if (!variance.run_neighbour(pick)) break;
        EXPECT_EQ(variance.variances, variances) << "schedule " << pick << ", seed " << test_seed();
        EXPECT_EQ(variance.means, means) << "schedule " << pick << ", seed " << test_seed();
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Axes, Moment, ::testing::Values(Lie::columns, Lie::rows, Lie::apart), [](const auto& lie) {
  return lie.param == Lie::columns ? "Columns" : lie.param == Lie::rows ? "Rows" : "Apart";
});

}  // namespace
}  // namespace tenfold::numeric

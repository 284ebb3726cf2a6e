// SPDX-License-Identifier: Apache-2.0
//
// How far softmax, the norms and their kin are from the truth, in units in the last place, fused as they are compiled,
// against long double formulas that share no code with the evaluator. The bounds below are the table of
// docs/numerics.md; TENFOLD_TEST_CASES=3 measures on the sample that the table was made from.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "runtime/program.hpp"
#include "settings.hpp"
#include "target/target.hpp"

namespace tenfold::numeric {
namespace {

using Real = long double;
using Row = std::vector<Real>;

/// What a row gives, and the magnitude that errors in it are held against.
struct Truth {
  Row results;
  Real scale = 0;
};

constexpr std::int64_t kElements = 4096;  ///< of each tensor, or one row where that is longer
constexpr std::int64_t kLengths[] = {3, 16, 100, 1000, 4096, 60000, 600001};  ///< the last in pieces
const Real kEpsilon = static_cast<Real>(1e-5F);

template <typename Of>
Real total(const Row& row, const Of& of) {
  Real sum = 0;
  for (const Real x : row) sum += of(x);
  return sum;
}
Real mean(const Row& row) {
  return total(row, [](Real x) { return x; }) / static_cast<Real>(row.size());
}
Real variance(const Row& row) {
  const Real centre = mean(row);
  return total(row, [&](Real x) { return (x - centre) * (x - centre); }) / static_cast<Real>(row.size());
}
Real log_sum_exp(const Row& row) {
  const Real top = *std::max_element(row.begin(), row.end());
  return top + std::log(total(row, [&](Real x) { return std::exp(x - top); }));
}
template <typename Of>
Row each(const Row& row, const Of& of) {
  Row result;
  result.reserve(row.size());
  for (const Real x : row) result.push_back(of(x));
  return result;
}

Real greatest(const Row& row) {
  Real most = 0;
  for (const Real x : row) most = std::max(most, std::fabs(x));
  return most;
}
Truth scaled(Row results) {
  const Real scale = greatest(results);
  return {std::move(results), scale};
}

Truth softmax(const Row& row) {
  const Real all = log_sum_exp(row);
  return scaled(each(row, [&](Real x) { return std::exp(x - all); }));
}
Truth log_softmax(const Row& row) {
  const Real all = log_sum_exp(row);
  return scaled(each(row, [&](Real x) { return x - all; }));
}
/// The greatest element and the logarithm of the sum, which is 1 or more and rounded, may cancel.
Truth log_sum_exp_of(const Row& row) {
  const Real all = log_sum_exp(row), top = *std::max_element(row.begin(), row.end());
  return {{all}, std::max({std::fabs(all), std::fabs(top), Real{1}})};
}
/// The square of the mean's own rounding to f32 is in it.
Truth variance_of(const Row& row) {
  const Real exact = variance(row), top = greatest(row);
  return {{exact}, std::max(exact, top * top * 0x1p-24L)};
}
/// The mean, which is rounded to f32, may be far greater than the deviation.
Truth centred(const Row& row, Real deviation) {
  const Real centre = mean(row);
  Truth truth = scaled(each(row, [&](Real x) { return (x - centre) / deviation; }));
  truth.scale = std::max(truth.scale, greatest(row) / deviation);
  return truth;
}
Truth norm(const Row& row) { return centred(row, std::sqrt(variance(row) + kEpsilon)); }
Truth mean_variance(const Row& row) { return centred(row, std::sqrt(variance(row)) + static_cast<Real>(1e-9F)); }
Truth rms(const Row& row) {
  const Real squares = total(row, [](Real x) { return x * x; }) / static_cast<Real>(row.size());
  const Real root = std::sqrt(squares + kEpsilon);
  return scaled(each(row, [&](Real x) { return x / root; }));
}
Truth l2(const Row& row) {
  const Real length = std::sqrt(total(row, [](Real x) { return x * x; }));
  return scaled(each(row, [&](Real x) { return x / length; }));
}

/// The greatest errors: in units of each result, and in units of its row's Truth::scale.
struct Errors {
  double own = 0;
  double scale = 0;
};

/// How the elements of a row lie: side by side, one apart from the next, or a few side by side and those apart.
enum class Lie : std::uint8_t { last_axis, first_axis, apart };

/// One line of the table. 0 bounds nothing: near a zero of the formula no unit of the result's own is small enough.
struct Subject {
  const char* name;
  /// With T for the dtype, S for the shape, R for that of a row's result and A for the axes; %9 is the result. C, of
  /// rows whose elements lie apart: dims whose last one are channels, of as many groups as G says.
  const char* text;
  Truth (*exact)(const Row& row);
  Errors f32, narrow;
  std::vector<Lie> lies{Lie::last_axis, Lie::first_axis};
};
const std::vector<Lie> kAll{Lie::last_axis, Lie::first_axis, Lie::apart};

const Subject kSubjects[] = {
    {"softmax", "%9 = onednn.SoftMax (%0) {axis = A} : T[S]", softmax, {50, 18}, {0.51, 0.51}},
    {"log-softmax", "%9 = onednn.LogSoftmax (%0) {axis = A} : T[S]", log_softmax, {0, 3}, {0, 0.51}},
    {"log-sum-exp",
     "%9 = core.reduce (%0) {reduction = \"log_sum_exp\", axes = [A], keep_dims = true} : T[R]",
     log_sum_exp_of,
     {0, 3},
     {0, 0.51},
     kAll},
    {"variance",
     "%1 = core.cast (%0) : f32[S]\n %2 = core.reduce (%1) {reduction = \"mean\", axes = [A], keep_dims = true} : "
     "f32[R]\n %3 = core.map (%1, %2) {function = \"sub\"} : f32[S]\n %4 = core.map (%3) {function = \"square\"} : "
     "f32[S]\n %5 = core.reduce (%4) {reduction = \"mean\", axes = [A], keep_dims = true} : f32[R]\n %9 = core.cast "
     "(%5) : T[R]",
     variance_of,
     {0, 5},
     {0, 0.51},
     kAll},
    {"LayerNorm",
     "%9 = onednn.LayerNorm (%0) {keep_stats = false, use_affine = false} : T[S]",
     norm,
     {0, 5},
     {0, 0.51},
     {Lie::last_axis}},
    {"RMSNorm", "%9 = onednn.RMSNorm (%0) {} : T[S]", rms, {10, 10}, {0.51, 0.51}, {Lie::last_axis}},
    {"GroupNorm, InstanceNorm",
     "%1 = core.reshape (%0) {shape = [G]} : T[G]\n %2 = onednn.GroupNorm (%1) {groups = 2, keep_stats = false, "
     "use_affine = false, data_format = \"NCX\"} : T[G]\n %9 = core.reshape (%2) {shape = [S]} : T[S]",
     norm,
     {0, 5},
     {0, 0.51},
     {Lie::last_axis}},
    {"GroupNorm, channels last",
     "%1 = core.reshape (%0) {shape = [C]} : T[C]\n %2 = onednn.GroupNorm (%1) {groups = G, keep_stats = false, "
     "use_affine = false, data_format = \"NXC\"} : T[C]\n %9 = core.reshape (%2) {shape = [S]} : T[S]",
     norm,
     {0, 5},
     {0, 0.51},
     {Lie::apart}},
    {"MeanVarianceNormalization",
     "%9 = onnx.MeanVarianceNormalization (%0) {axes = [A]} : T[S]",
     mean_variance,
     {0, 5},
     {0, 0.51},
     kAll},
    {"LpNormalization, p = 2", "%9 = onnx.LpNormalization (%0) {axis = A} : T[S]", l2, {10, 10}, {0.51, 0.51}},
};

/// Ordinary numbers; wide ones; a mean that dwarfs the deviation; magnitudes of any size; one element above the rest.
constexpr int kDistributions = 5;
double drawn(int distribution, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  switch (distribution) {
    case 0: return normal(random);
    case 1: return std::uniform_real_distribution<double>(-10, 10)(random);
    case 2: return 100 + normal(random);
    case 3: return normal(random) * std::exp2(std::uniform_real_distribution<double>(-12, 3)(random));
    default: return random() % 512 == 0 ? 30 : normal(random);
  }
}

/// The distance between `x` and the next number of `dtype` further from 0.
Real unit(DType dtype, Real x) {
  const int digits = dtype == DType::f32 ? 24 : dtype == DType::bf16 ? 8 : 11;
  const int least = dtype == DType::f16 ? -13 : -125;
  int exponent = 0;
  std::frexp(x, &exponent);
  // A power of two by the bits of its exponent, as every element asks for one.
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + std::max(exponent, least) - digits) << 52);
}

class Measurement {
 public:
  Measurement(const Subject& subject, DType dtype, Lie lie, std::int64_t length)
      : subject_(subject), dtype_(dtype), lie_(lie), length_(length) {
    rows_ = std::max<std::int64_t>(2, kElements / length) / 2 * 2;
    if (lie == Lie::apart) inner_ = side_by_side(length);
    std::string text = std::string("graph {\n %0 = input : T[S]\n ") + subject.text + "\n output %9\n}\n";
    put(text, "T[S]", type(dims(length)));
    put(text, "T[R]", type(dims(1)));
    put(text, "T[G]", type({rows_ / 2, 2, length}));
    put(text, "f32[S]", "f32[" + list(dims(length)) + "]");
    put(text, "f32[R]", "f32[" + list(dims(1)) + "]");
    put(text, "[S]", "[" + list(dims(length)) + "]");
    put(text, "[G]", "[" + list({rows_ / 2, 2, length}) + "]");
    put(text, "T[C]", type(channels_last()));
    put(text, "[C]", "[" + list(channels_last()) + "]");
    put(text, "= G", "= " + std::to_string(rows_));
    const std::string axis = lie == Lie::last_axis ? "1" : "0";
    put(text, "[A]", lie == Lie::apart ? "[0, 2]" : "[" + axis + "]");
    put(text, "= A", "= " + axis);
    Result<graph::Graph> parsed = graph::parse(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
    if (!parsed.ok()) return;
    const Status status = graph::run_pipeline(parsed.value());
    EXPECT_TRUE(status.ok()) << status.message() << "\n" << text;
    Result<compiler::Compiled> compiled = compiler::compile(parsed.value(), target::host().value(), {.fuse = true});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << text;
    if (!compiled.ok()) return;
    for (const compiler::RegionReport& region : compiled.value().regions)
      EXPECT_FALSE(region.kernels.empty()) << "on the reference: " << region.reason << "\n" << text;
    compiled_ = std::move(compiled).value();
  }

  bool ready() const { return compiled_.has_value(); }

  void run(int distribution, std::mt19937_64& random, Errors& worst) const {
    const auto count = static_cast<std::size_t>(rows_ * length_);
    const auto size = static_cast<std::size_t>(byte_size(dtype_));
    std::vector<std::byte> in(count * size), out(count * size);
    for (std::size_t i = 0; i < count; ++i)
      graph::store_real(dtype_, in.data(), static_cast<std::int64_t>(i), drawn(distribution, random));
    const void* const inputs[] = {in.data()};
    void* const outputs[] = {out.data()};
    const Status status = runtime::run(compiled_->program, inputs, outputs, nullptr, 1);
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::int64_t r = 0; r < rows_; ++r) {
      Row row;
      row.reserve(static_cast<std::size_t>(length_));
      for (std::int64_t i = 0; i < length_; ++i) row.push_back(graph::load_real(dtype_, in.data(), at(r, i, length_)));
      const Truth exact = subject_.exact(row);
      const auto results = static_cast<std::int64_t>(exact.results.size());
      const Real unit_of_scale = unit(dtype_, exact.scale);
      for (std::int64_t i = 0; i < results; ++i) {
        const Real want = exact.results[static_cast<std::size_t>(i)];
        const Real error = std::fabs(static_cast<Real>(graph::load_real(dtype_, out.data(), at(r, i, results))) - want);
        worst.own = std::max(worst.own, static_cast<double>(error / unit(dtype_, want)));
        worst.scale = std::max(worst.scale, static_cast<double>(error / unit_of_scale));
      }
    }
  }

 private:
  /// Of so many elements, those side by side where rows are cut into columns; else one.
  static std::int64_t side_by_side(std::int64_t length) {
    for (const std::int64_t few : {16, 4})
      if (length % few == 0 && length >= 16 * few) return few;
    return 1;
  }
  Dims dims(std::int64_t along) const {
    const std::int64_t inner = along == 1 ? 1 : inner_;
    switch (lie_) {
      case Lie::last_axis: return {rows_, along};
      case Lie::first_axis: return {along, rows_};
      case Lie::apart: return {along / inner, rows_, inner};
    }
    return {};
  }
  Dims channels_last() const { return {1, length_ / inner_, rows_ * inner_}; }
  std::int64_t at(std::int64_t row, std::int64_t i, std::int64_t along) const {
    const std::int64_t inner = along == 1 ? 1 : inner_;
    return lie_ == Lie::last_axis ? row * along + i : (i / inner * rows_ + row) * inner + i % inner;
  }
  static std::string list(const Dims& dims) {
    std::string text;
    for (const std::int64_t dim : dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
    return text;
  }
  std::string type(const Dims& dims) const { return std::string(to_string(dtype_)) + "[" + list(dims) + "]"; }
  static void put(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
      text.replace(at, what.size(), by);
  }

  const Subject& subject_;
  DType dtype_;
  Lie lie_;
  std::int64_t length_, rows_ = 0, inner_ = 1;
  std::optional<compiler::Compiled> compiled_;
};

class PublishedErrors : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PublishedErrors, Hold) {
  if (!target::host().ok() || target::host().value().isa == target::Isa::reference)
    GTEST_SKIP() << "NOT RUN: this CPU has no kernels";
  const Subject& subject = kSubjects[GetParam()];
  const std::int64_t samples = scaled_cases(1);
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    Errors worst;
    for (const Lie lie : subject.lies) {
      for (const std::int64_t length : kLengths) {
        const Measurement measurement(subject, dtype, lie, length);
        ASSERT_TRUE(measurement.ready());
        for (std::int64_t s = 0; s < samples * kDistributions; ++s) {
          std::mt19937_64 random(case_seed(subject.name, static_cast<std::uint64_t>(s)));
          measurement.run(static_cast<int>(s % kDistributions), random, worst);
        }
      }
    }
    std::printf("%-26s %-4s %8.2f of its own, %6.2f of its scale\n", subject.name,
                std::string(to_string(dtype)).c_str(), worst.own, worst.scale);
    const Errors& bound = dtype == DType::f32 ? subject.f32 : subject.narrow;
    EXPECT_TRUE(bound.own <= 0 || worst.own <= bound.own) << to_string(dtype) << ", seed " << test_seed();
    EXPECT_LE(worst.scale, bound.scale) << to_string(dtype) << ", seed " << test_seed();
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedErrors, ::testing::Range<std::size_t>(0, std::size(kSubjects)),
                         [](const auto& subject) {
                           std::string name = kSubjects[subject.param].name;
                           std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace tenfold::numeric

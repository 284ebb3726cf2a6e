// SPDX-License-Identifier: Apache-2.0
//
// The error bound of elementwise functions: kernels that are off by as many units as the table says stay within it,
// alone and in chains; kernels that are off by more, or that miss a special value, do not.
#include "graph/eval/bound_function.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <random>
#include <set>

#include "graph/eval/bound.hpp"
#include "graph/eval/element.hpp"
#include "tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Precision kPlain{DType::f32, DType::f32};

double value_of(const FunctionRow& row, const std::vector<double>& x, const Parameters& parameters = {}) {
  return row.real(x, parameters);
}

double bound_of(std::string_view name, const std::vector<double>& x, Precision precision = kPlain,
                const Parameters& parameters = {}) {
  const std::vector<double> exact(x.size(), 0);
  return function_bound(*find_function(name), parameters, precision, x, exact);
}

/// Whether a kernel may give `got` for name(x), whose reference is rounded to f32.
bool accepts(std::string_view name, double x, double got) {
  const double value = value_of(*find_function(name), {x});
  return agree(DType::f32, static_cast<double>(round_to(DType::f32, value)), got, bound_of(name, {x}));
}

TEST(FunctionBound, TranscendentalsHaveFourUnitsAndSingleStepsNone) {
  const std::set<std::string_view> four = {
      "acos",      "acosh", "asin", "asinh", "atan", "atanh", "celu", "cos",      "cosh",  "elu", "erf",  "exp",
      "gelu_tanh", "log",   "mish", "pow",   "selu", "sin",   "sinh", "softplus", "swish", "tan", "tanh", "sigmoid"};
  const std::set<std::string_view> several = {"gelu_erf", "hardsigmoid", "hardswish", "softsign", "squared_difference"};
  std::size_t transcendental = 0;
  for (const FunctionRow& row : all_functions()) {
    transcendental += four.count(row.name);
    if (four.count(row.name) == 1) {
      EXPECT_EQ(row.ulps, 4) << row.name;
    } else if (several.count(row.name) == 1) {
      EXPECT_GE(row.ulps, 1) << row.name;
    } else {
      EXPECT_EQ(row.ulps, row.name == "leakyrelu" ? 0.5 : 0) << row.name;
    }
  }
  EXPECT_EQ(transcendental, four.size());
  EXPECT_EQ(find_function("gelu_erf")->ulps, 6);
}

/// Where that is more than what f32 may be off by, and of 16 bits alone.
TEST(FunctionBound, BriefFunctionsHaveMoreUnitsOf16Bits) {
  for (const char* name : {"erf", "gelu_erf", "gelu_tanh", "tanh"}) {
    const FunctionRow& row = *find_function(name);
    for (const DType dtype : {DType::bf16, DType::f16}) EXPECT_EQ(ulps_of(row, dtype), kBriefUlps) << name;
    for (const DType dtype : {DType::f32, DType::f64}) EXPECT_EQ(ulps_of(row, dtype), row.ulps) << name;
    const double single = bound_of(name, {0.75}, {DType::f32, DType::f32});
    EXPECT_GT(bound_of(name, {0.75}, {DType::f32, DType::bf16}), 20 * single) << name;
    EXPECT_LT(bound_of(name, {0.75}, {DType::f32, DType::f16}), ulp(DType::f16, 0.75) / 50) << name;
  }
  EXPECT_EQ(ulps_of(*find_function("exp"), DType::bf16), 4);
}

/// The value that a kernel of `row` may give: the exact one, off by `units`, in f32 and then in `dtype`.
double kernel_model(const FunctionRow& row, const std::vector<double>& x, const Parameters& parameters, double units,
                    DType dtype) {
  const double value = value_of(row, x, parameters);
  const double off = units == 0 ? value : value + units * ulp(DType::f32, value);  // -0 + 0 is +0
  const auto near = static_cast<double>(round_to(DType::f32, off));
  return static_cast<double>(round_to(dtype, near));
}

TEST(FunctionBound, HoldsForModelsOfKernelsAndNoFurther) {
  const unsigned seed = 91;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> off(-1, 1);
  const Parameters parameters{.alpha = 0.75, .beta = 0.5, .gamma = 1.25, .min = -1, .max = 1, .dtype = DType::f32};
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto rows = all_functions();
    const FunctionRow& row = rows[random() % rows.size()];
    if (row.real == nullptr) continue;
    const DType dtypes[] = {DType::f32, DType::bf16, DType::f16};
    const DType dtype = dtypes[random() % 3];
    std::vector<double> x(row.arity.least);
    const double scale = std::ldexp(1.0, static_cast<int>(random() % 12) - 6);
    for (double& argument : x) argument = static_cast<double>(round_to(dtype, scale * normal(random)));
    const std::vector<double> exact(x.size(), 0);
    const double value = value_of(row, x, parameters);
    const auto expected = static_cast<double>(round_to(dtype, value));
    const double bound = function_bound(row, parameters, {DType::f32, dtype}, x, exact);
    ASSERT_TRUE(std::isfinite(bound)) << row.name;
    const double good = kernel_model(row, x, parameters, row.ulps < 1 ? 0 : row.ulps * off(random), dtype);
    ASSERT_TRUE(agree(dtype, expected, good, bound))
        << row.name << " of " << x[0] << " is " << expected << ", got " << good << " bound " << bound << " seed "
        << seed << " round " << round;
    if (dtype != DType::f32 || row.name == "hardsigmoid" || value == 0 || !std::isfinite(expected)) continue;
    const double bad = kernel_model(row, x, parameters, row.ulps < 1 ? 1.1 : row.ulps + 2.1, dtype);
    // Across a power of two the last place is worth another amount.
    if (ulp(DType::f32, bad) != ulp(DType::f32, value)) continue;
    if (row.ulps == 0.0 || row.ulps >= 1) {
      ASSERT_FALSE(agree(dtype, expected, bad, bound)) << row.name << " of " << x[0] << " round " << round;
      ++refused;
    }
  }
  EXPECT_GT(refused, 4000);
}

TEST(FunctionBound, SpecialValuesAreExact) {
  for (const char* name : {"tanh", "erf", "sin", "tan", "asinh", "atan", "gelu_erf", "gelu_tanh", "mish", "softsign"})
    for (const double zero : {0.0, -0.0}) EXPECT_EQ(bound_of(name, {zero}), 0) << name;
  EXPECT_EQ(bound_of("log", {0}), 0);
  EXPECT_EQ(bound_of("log", {kInf}), 0);
  EXPECT_EQ(bound_of("exp", {-kInf}), 0);
  EXPECT_EQ(bound_of("sigmoid", {-kInf}), 0);
  EXPECT_EQ(bound_of("pow", {0, -1}), 0);
  for (const FunctionRow& row : all_functions()) {
    if (row.real == nullptr || row.arity.least != 1 || !std::isnan(value_of(row, {kNan}))) continue;
    EXPECT_EQ(bound_of(row.name, {kNan}), 0) << row.name;
    EXPECT_FALSE(accepts(row.name, kNan, 1)) << row.name;
    EXPECT_TRUE(accepts(row.name, kNan, -kNan)) << row.name;
  }
  EXPECT_FALSE(accepts("log", -1, 0)) << "NaN it must be";
  EXPECT_FALSE(accepts("tanh", -0.0, 0.0));
}

TEST(FunctionBound, SaturatesWithRoom) {
  EXPECT_TRUE(accepts("tanh", 20, 1 - 0x1p-24));
  EXPECT_TRUE(accepts("tanh", kInf, 1));
  EXPECT_FALSE(accepts("tanh", 20, 1 - 0x1p-20));
  // Where the value underflows, units are those of the subnormals, not parts of the value.
  EXPECT_TRUE(accepts("sigmoid", -103, 3 * 0x1p-149));
  EXPECT_TRUE(accepts("sigmoid", -200, 4 * 0x1p-149));
  EXPECT_TRUE(accepts("sigmoid", -2000, 0));
  EXPECT_FALSE(accepts("sigmoid", -200, 0x1p-140));
  EXPECT_FALSE(accepts("sigmoid", -89, 0)) << "nothing is flushed";
}

TEST(FunctionBound, EndsAtTheOverflowThreshold) {
  const double last = 0x1.62e42ep6;  // exp of it is FLT_MAX, but for 80 units
  EXPECT_TRUE(accepts("exp", last, std::exp(last)));
  EXPECT_FALSE(accepts("exp", last, kInf));
  EXPECT_TRUE(accepts("exp", 0x1.62e430p6, kInf));
  EXPECT_TRUE(accepts("exp", 0x1.62e430p6, static_cast<double>(FLT_MAX))) << "3 units below";
  EXPECT_FALSE(accepts("exp", 0x1.62e432p6, static_cast<double>(FLT_MAX)));
  EXPECT_FALSE(accepts("exp", 1000, static_cast<double>(FLT_MAX)));
  const auto half = [](double x, double got) {
    const auto expected = static_cast<double>(round_to(DType::f16, std::exp(x)));
    return agree(DType::f16, expected, got, bound_of("exp", {x}, {DType::f32, DType::f16}));
  };
  EXPECT_TRUE(half(std::log(65520.0), kInf)) << "halfway between the last number and infinity";
  EXPECT_TRUE(half(std::log(65520.0), 65504));
  EXPECT_FALSE(half(std::log(65480.0), kInf));
  EXPECT_FALSE(half(std::log(65540.0), 65504));
}

TEST(FunctionBound, OfTheOtherArithmetics) {
  const Precision whole{DType::undef, DType::s32}, wide{DType::f64, DType::f64}, brain{DType::f32, DType::bf16};
  EXPECT_EQ(bound_of("pow", {3, 4}, whole), 0);
  EXPECT_DOUBLE_EQ(bound_of("exp", {1}, wide, {.dtype = DType::f64}), 8 * 0x1p-51);
  EXPECT_GT(bound_of("exp", {709.9}, wide, {.dtype = DType::f64}), 0) << "the reference may have overflowed first";
  EXPECT_EQ(bound_of("leakyrelu", {-3}, kPlain, {.alpha = 0.1}), 0);
  EXPECT_EQ(bound_of("leakyrelu", {-3}, wide, {.alpha = 0.1}), 0);
  EXPECT_GT(bound_of("leakyrelu", {-3}, brain, {.alpha = 0.1}), 0) << "is rounded twice";
  EXPECT_GE(bound_of("hardsigmoid", {-2.5}, kPlain, {.alpha = 0.2, .beta = 0.5}), 0x1p-24) << "the sum cancels";
}

/// The tails, where an argument's rounding is magnified, against long double's.
TEST(FunctionBound, TheReferencesTailsAreWithinAUnitOfF64) {
  const auto near = [](double got, long double exact) {
    EXPECT_LE(std::fabs(static_cast<long double>(got) - exact), static_cast<long double>(ulp(DType::f64, got)));
  };
  const Parameters wide{.beta = 0.7, .dtype = DType::f64};
  for (double x = -37; x < 5; x += 0.37) {
    const long double y = x;
    near(value_of(*find_function("gelu_erf"), {x}, wide), y / 2 * std::erfc(-y / std::sqrt(2.0L)));
    near(value_of(*find_function("softplus"), {x}, wide), std::log1p(std::exp(y * 0.7)) / 0.7);
    if (x < -15) continue;
    const long double u = 2 * std::sqrt(2 / std::acos(-1.0L)) * (y + 0.044715L * y * y * y);
    near(value_of(*find_function("gelu_tanh"), {x}, wide), y / (1 + std::exp(-u)));
  }
}

TEST(FunctionBound, NothingIsStatedAcrossAPole) {
  const auto of = [](const char* name, std::vector<double> x, std::vector<double> error) {
    return function_bound(*find_function(name), {}, kPlain, x, error);
  };
  EXPECT_EQ(of("reciprocal", {1}, {2}), kInf);
  EXPECT_EQ(of("div", {1, 0.5}, {0, 0.5}), kInf);
  EXPECT_EQ(of("pow", {1, -1}, {2, 0}), kInf);
  EXPECT_EQ(of("pow", {-0.0, 0.999}, {0, 0.001}), kInf);
  EXPECT_EQ(of("pow", {kInf, -1e-9}, {0, 1e-8}), kInf);
  EXPECT_EQ(of("log", {1}, {2}), kInf);
  EXPECT_NEAR(of("reciprocal", {2}, {1}), 0.5, 1e-6);
  EXPECT_NEAR(of("div", {1, 2}, {0.5, 0}), 0.25, 1e-6);
}

/// x -> exp -> divide by a constant -> log -> tanh, of which the kernels' stand-ins each miss by as much as they may.
TEST(EvaluateWithBounds, HoldsForChainsOfFunctions) {
  const unsigned seed = 92;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> off(-1, 1);
  const std::vector<std::string> kinds = {"Exp", "Softplus", "Sigmoid", "Tanh", "Log", "Sqrt", "Erf", "Mish", "Atan"};
  const std::vector<std::string> names = {"exp", "softplus", "sigmoid", "tanh", "log", "sqrt", "erf", "mish", "atan"};
  int stated = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const DType dtypes[] = {DType::f32, DType::bf16, DType::f16};
    const DType dtype = dtypes[random() % 3];
    Graph graph;
    for (std::int64_t id = 0; id < 4; ++id) {
      Value value;
      value.id = id;
      value.dtype = dtype;
      value.ranked = true;
      value.shape = {1};
      graph.values.push_back(value);
    }
    Tensor in(dtype, {1}, {3 * off(random)}), out(dtype, {1});
    double got = in.at(0);
    for (ValueId k = 0; k < 3; ++k) {
      const std::size_t choice = random() % kinds.size();
      graph.ops.push_back(make_op(Dialect::onnx, kinds[choice]));
      graph.ops.back().inputs = {k};
      graph.ops.back().outputs = {k + 1};
      const FunctionRow& row = *find_function(names[choice]);
      got = kernel_model(row, {got}, {.dtype = dtype}, row.ulps * off(random), dtype);
    }
    graph.inputs = {0};
    graph.outputs = {3};
    const ConstTensor inputs[] = {in.in()};
    const MutableTensor outputs[] = {out.out()};
    std::vector<std::vector<double>> bounds;
    ASSERT_TRUE(evaluate_with_bounds(graph, inputs, outputs, bounds).ok());
    const double bound = bounds[0].empty() ? 0 : bounds[0][0];
    ASSERT_TRUE(agree(dtype, out.at(0), got, bound))
        << graph.ops[0].kind << graph.ops[1].kind << graph.ops[2].kind << " of " << in.at(0) << ": " << out.at(0)
        << " got " << got << " bound " << bound << " seed " << seed << " round " << round;
    if (!std::isfinite(bound) || !std::isfinite(out.at(0))) continue;
    ++stated;
    const double wrong = out.at(0) + 2 * bound + 4 * ulp(dtype, out.at(0)) + 1e-30;
    refused += agree(dtype, out.at(0), static_cast<double>(round_to(dtype, wrong)), bound) ? 0 : 1;
  }
  EXPECT_GT(stated, 1000);
  EXPECT_GT(refused, stated * 9 / 10) << "a bound that accepts anything is none";
}

TEST(FunctionBound, AnErrorMayTurnTheSignOfAZero) {
  const std::vector<double> x{-0.1}, error{0.2};
  const double bound = function_bound(*find_function("round"), {}, kPlain, x, error);
  EXPECT_TRUE(agree(DType::f32, -0.0, 0.0, bound));
  EXPECT_FALSE(agree(DType::f32, -0.0, 1.0, bound));
}

/// The floor of what is just below 0, or of 0: the arctangent of -1 is rounded, as that of 0 is not.
TEST(FunctionBound, AZeroWithAnErrorHasTheRoundingsOfItsOtherEnd) {
  const std::vector<double> x{0}, error{1};
  const double bound = function_bound(*find_function("atan"), {}, kPlain, x, error);
  EXPECT_TRUE(agree(DType::f32, 0, std::nextafter(std::atan(-1.0F), -1.0F), bound));
  EXPECT_FALSE(agree(DType::f32, 0, -0.7854, bound));
}

TEST(FunctionBound, AnInfinityWithAnErrorMayBeANumber) {
  const std::vector<double> x{kInf, kInf}, exact{0, 0}, off{0x1p104, 0x1p104};
  EXPECT_EQ(function_bound(*find_function("sub"), {}, kPlain, x, exact), 0) << "inf - inf is a NaN";
  EXPECT_EQ(function_bound(*find_function("sub"), {}, kPlain, x, off), kInf) << "as numbers they may be equal";
}

TEST(FunctionBound, ANaNWithAnErrorMayBeANumber) {
  const std::vector<double> x{kNan}, error{1}, none{0};
  EXPECT_EQ(function_bound(*find_function("abs"), {}, kPlain, x, error), kInf);
  EXPECT_EQ(function_bound(*find_function("abs"), {}, kPlain, x, none), 0);
}

TEST(FunctionBound, WholeNumbersThatMayWrapAreAnyNumber) {
  const Precision whole{DType::undef, DType::s32};
  const std::vector<double> x{48000, 48000}, small{46000, 46000}, error{100, 100}, none{0, 0};
  EXPECT_EQ(function_bound(*find_function("mul"), {}, whole, small, none), 0);
  EXPECT_EQ(function_bound(*find_function("mul"), {}, whole, std::vector<double>{300, 300}, std::vector<double>{1, 1}),
            601);
  EXPECT_EQ(function_bound(*find_function("mul"), {}, whole, small, std::vector<double>{500, 500}), kInf)
      << "46500 squared is beyond 2^31";
  EXPECT_TRUE(std::isfinite(function_bound(*find_function("mul"), {}, whole, x, error)))
      << "all of the squares about 48000 have wrapped once";
}

TEST(FunctionBound, BitsOfAWholeNumberThatIsOffAreAnyNumber) {
  const Precision whole{DType::undef, DType::s32};
  const std::vector<double> x{12, 5}, error{1, 0}, none{0, 0};
  for (const std::string_view name : {"bitwise_and", "bitwise_or", "bitwise_xor", "bit_shift"}) {
    EXPECT_EQ(function_bound(*find_function(name), {}, whole, x, error), kInf) << name;
    EXPECT_EQ(function_bound(*find_function(name), {}, whole, x, none), 0) << name;
  }
}

/// Softmax's gradient overflows on the way, and may be anything; so may a gradient that is made of it.
TEST(EvaluateWithBounds, NothingIsStatedOfGradientsOfWhatNothingIsStatedOf) {
  for (const std::string kind :
       {"SoftPlusBackward", "EluBackward", "SigmoidBackward", "GELUBackward", "TanhBackward"}) {
    Graph graph;
    for (std::int64_t id = 0; id < 5; ++id) {
      Value value;
      value.id = id;
      value.dtype = DType::f32;
      value.ranked = true;
      value.shape = {2};
      graph.values.push_back(value);
    }
    graph.ops.push_back(make_op(Dialect::onednn, "SoftMaxBackward", {{"axis", std::int64_t{0}}}));
    graph.ops.push_back(make_op(Dialect::onednn, kind));
    if (kind == "EluBackward") graph.ops.back().attributes = {{"alpha", 1.0}, {"use_dst", false}};
    if (kind == "SigmoidBackward" || kind == "TanhBackward") graph.ops.back().attributes = {{"use_dst", false}};
    graph.ops[0].inputs = {0, 1};
    graph.ops[0].outputs = {2};
    graph.ops[1].inputs = {2, 3};
    graph.ops[1].outputs = {4};
    graph.inputs = {0, 1, 3};
    graph.outputs = {4};
    const Tensor gradient(DType::f32, {2}, {6, 4}), softmax(DType::f32, {2}, {3e38, -3e38}),
        more(DType::f32, {2}, {6, 4});
    Tensor out(DType::f32, {2});
    const ConstTensor inputs[] = {gradient.in(), softmax.in(), more.in()};
    const MutableTensor outputs[] = {out.out()};
    std::vector<std::vector<double>> bounds;
    const Status status = evaluate_with_bounds(graph, inputs, outputs, bounds);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(bounds[0].size(), 2U) << kind;
    for (const double bound : bounds[0]) EXPECT_EQ(bound, kInf) << kind;
  }
}

}  // namespace
}  // namespace tenfold::graph

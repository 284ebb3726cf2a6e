// SPDX-License-Identifier: Apache-2.0
//
// The error bound: a model of the kernels' arithmetic stays within it, slightly wrong results do not.
#include "graph/eval/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <limits>
#include <random>

#include "graph/eval/doubt.hpp"
#include "graph/eval/element.hpp"
#include "tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What a kernel does, by docs/numerics.md: 16 lanes, each with chains of 16 terms in f32 and the rest in f64.
double kernel_model(const std::string& reduction, DType dtype, const std::vector<double>& x) {
  const bool product = reduction == "prod";
  double lanes[16];
  for (std::size_t lane = 0; lane < 16; ++lane) {
    double total = product ? 1 : 0;
    for (std::size_t start = lane; start < x.size(); start += 16 * kChain) {
      float chain = product ? 1.0F : 0.0F;
      for (std::size_t i = start; i < x.size() && i < start + 16 * kChain; i += 16) {
        const auto value = static_cast<float>(x[i]);
        if (product)
          chain *= value;
        else
          chain += reduction == "l1" ? std::fabs(value) : reduction == "l2" ? value * value : value;
      }
      total = product ? total * static_cast<double>(chain) : total + static_cast<double>(chain);
    }
    lanes[lane] = total;
  }
  for (std::size_t step = 8; step > 0; step /= 2)
    for (std::size_t i = 0; i < step; ++i) lanes[i] = product ? lanes[i] * lanes[i + step] : lanes[i] + lanes[i + step];
  double result = lanes[0];
  if (reduction == "mean") result /= static_cast<double>(x.size());
  if (reduction == "l2") result = std::sqrt(result);
  return static_cast<double>(round_to(dtype, static_cast<Real>(static_cast<float>(result))));
}

struct Outcome {
  double expected;
  double bound;
};

Outcome reference(const std::string& reduction, const Tensor& in) {
  Tensor out(in.desc().dtype, {});
  EXPECT_TRUE(run_op(make_reduce(reduction, {0}), {in.in()}, out).ok());
  Magnitude magnitude;
  for (const double value : in.values()) magnitude.add(value);
  return {out.at(0), reduction_bound(reduction, magnitude)};
}

TEST(Bound, HoldsForAModelOfTheKernels) {
  const unsigned seed = 77;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const DType dtypes[] = {DType::f32, DType::bf16, DType::f16};
    const DType dtype = dtypes[random() % 3];
    const std::vector<std::string> reductions = {"sum", "l1", "l2", "mean", "prod"};
    const std::string reduction = reductions[random() % reductions.size()];
    const auto n = static_cast<std::int64_t>(1 + random() % (round % 10 == 0 ? 3000 : 100));
    const double scale = std::ldexp(1.0, static_cast<int>(random() % 20) - 10);
    const double offset = random() % 2 == 0 ? 0 : 2;
    Tensor in(dtype, {n});
    for (std::int64_t i = 0; i < n; ++i)
      in.set(i, reduction == "prod" ? std::exp2(normal(random) * 0.25) : scale * (normal(random) + offset));
    const Outcome outcome = reference(reduction, in);
    const double got = kernel_model(reduction, dtype, in.values());
    compared += std::isinf(outcome.bound) ? 0 : 1;
    ASSERT_TRUE(agree(dtype, outcome.expected, got, outcome.bound))
        << reduction << " " << to_string(dtype) << " n " << n << " expected " << outcome.expected << " got " << got
        << " bound " << outcome.bound << " seed " << seed << " round " << round;
    // Off by the bound and two more ulps than rounding can explain: refused.
    const double off = std::fabs(outcome.expected) + outcome.bound + 3 * ulp(dtype, outcome.expected);
    if (std::isfinite(outcome.bound) && std::isfinite(outcome.expected)) {
      const auto wrong = static_cast<double>(round_to(dtype, std::copysign(off, outcome.expected)));
      if (std::fabs(wrong - outcome.expected) > outcome.bound + 2 * ulp(dtype, wrong)) {
        ASSERT_FALSE(agree(dtype, outcome.expected, wrong, outcome.bound)) << reduction << " round " << round;
      }
    }
  }
  EXPECT_GT(compared, 2500);
}

TEST(Bound, HoldsForSubnormalSquares) {
  Tensor in(DType::f32, {40}, std::vector<double>(40, 3e-23));
  const Outcome outcome = reference("l2", in);
  EXPECT_TRUE(agree(DType::f32, outcome.expected, kernel_model("l2", DType::f32, in.values()), outcome.bound));
  EXPECT_FALSE(agree(DType::f32, outcome.expected, 2 * outcome.expected, outcome.bound));
}

TEST(Bound, NothingIsStatedWhereAChainMayOverflow) {
  Magnitude large;
  for (int i = 0; i < 16; ++i) large.add(3e37);
  EXPECT_TRUE(std::isinf(reduction_bound("sum", large)));
  EXPECT_TRUE(std::isinf(reduction_bound("l2", large)));
  EXPECT_EQ(reduction_bound("max", large), 0);
  Magnitude many;
  for (int i = 0; i < 1000; ++i) many.add(1e36);
  EXPECT_TRUE(std::isfinite(reduction_bound("sum", many))) << "16 of them stay within f32";
  EXPECT_TRUE(std::isinf(reduction_bound("prod", many)));
  Magnitude product;
  for (int i = 0; i < 15; ++i) product.add(200);
  EXPECT_TRUE(std::isfinite(reduction_bound("prod", product)));
  for (int i = 0; i < 15; ++i) product.add(1e-3);
  EXPECT_TRUE(std::isinf(reduction_bound("prod", product))) << "15 of 1e-3 leave f32, whatever is beside them";
}

TEST(Bound, SpecialValuesAreExact) {
  for (const char* reduction : {"sum", "mean", "l1", "l2", "prod", "max"}) {
    Magnitude magnitude;
    magnitude.add(3);
    magnitude.add(kInf);
    EXPECT_EQ(reduction_bound(reduction, magnitude), 0) << reduction;
    EXPECT_EQ(reduction_bound(reduction, Magnitude()), 0) << reduction;
  }
}

TEST(Bound, FromTotals) {
  EXPECT_DOUBLE_EQ(reduction_bound("sum", 8, 8, 4), 17 * 8 * 0x1p-24);
  EXPECT_DOUBLE_EQ(reduction_bound("l1", 8, 8, 4), 17 * 8 * 0x1p-24);
  EXPECT_DOUBLE_EQ(reduction_bound("mean", 8, 2, 4), 17 * 2 * 0x1p-24);
  EXPECT_DOUBLE_EQ(reduction_bound("prod", 0, 2, 4), 6 * 2 * 0x1p-24);
  EXPECT_NEAR(reduction_bound("l2", 0, 2, 4), 2 * 9 * 0x1p-24, 2 * 0x1p-24);
  EXPECT_EQ(reduction_bound("min", 8, 8, 4), 0);
}

TEST(Bound, OfLogarithmsAndSquares) {
  const unsigned seed = 78;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 300; ++round) {
    const auto n = static_cast<std::int64_t>(1 + random() % 200);
    Tensor in(DType::f32, {n});
    for (std::int64_t i = 0; i < n; ++i) in.set(i, 20 * normal(random));
    // All in f32, as no kernel is worse: first the greatest, then one chain of terms.
    float greatest = -FLT_MAX, sum = 0, squares = 0;
    for (const double x : in.values()) greatest = std::max(greatest, static_cast<float>(x));
    for (const double x : in.values()) {
      sum += std::exp(static_cast<float>(x) - greatest);
      squares += static_cast<float>(x) * static_cast<float>(x);
    }
    const Outcome log = reference("log_sum_exp", in), square = reference("sum_square", in);
    const auto got = static_cast<double>(greatest + std::log(sum));
    ASSERT_TRUE(agree(DType::f32, log.expected, got, log.bound)) << "seed " << seed << " round " << round;
    ASSERT_FALSE(agree(DType::f32, log.expected, got * 1.001 + 0.001, log.bound)) << "seed " << seed;
    ASSERT_TRUE(n > 17 || agree(DType::f32, square.expected, static_cast<double>(squares), square.bound));
    ASSERT_FALSE(agree(DType::f32, square.expected, square.expected * 1.0001, square.bound)) << "seed " << seed;
  }
  Magnitude cancels;
  cancels.add(1);
  cancels.add(-1);
  EXPECT_TRUE(std::isinf(reduction_bound("log_sum", cancels)));
  Magnitude few;
  few.add(-kInf);
  few.add(5);
  EXPECT_EQ(reduction_bound("log_sum", few), 0);
  EXPECT_GT(reduction_bound("log_sum_exp", few), 0) << "-inf adds nothing, but the rest is rounded";
  few.add(kInf);
  EXPECT_EQ(reduction_bound("log_sum_exp", few), 0);
  EXPECT_NEAR(reduction_bound("log_sum", 8, std::log(8.0), 4), (17 + 4 * std::log(8.0) + 2) * 0x1p-24, 0x1p-40);
}

TEST(Bound, KnowsTheElementsDtype) {
  Magnitude m;
  for (int i = 0; i < 16; ++i) m.add(3e37);
  for (const char* reduction : {"sum", "l1", "l2", "mean", "prod", "sum_square", "log_sum"})
    for (const DType dtype : {DType::s8, DType::u32, DType::s64, DType::u64, DType::boolean})
      EXPECT_EQ(reduction_bound(reduction, m, dtype), 0) << reduction;
  EXPECT_GT(reduction_bound("log_sum_exp", m, DType::s32), 0) << "may truncate to the neighbour";
  EXPECT_DOUBLE_EQ(reduction_bound("sum", m, DType::f64), 18 * 0x1p-53 * m.sum()) << "and f32's range is no matter";
}

TEST(Agree, WithoutABoundAsksForTheSameNumber) {
  EXPECT_TRUE(agree(DType::f32, 1, 1, 0));
  EXPECT_FALSE(agree(DType::f32, 1, 1 + 0x1p-23, 0));
  EXPECT_FALSE(agree(DType::f32, 0.0, -0.0, 0));
  EXPECT_TRUE(agree(DType::f32, kNan, -kNan, 0));
  EXPECT_FALSE(agree(DType::f32, kNan, 1, 0));
  EXPECT_FALSE(agree(DType::f32, 1, kNan, 0.5));
  EXPECT_TRUE(agree(DType::f32, kInf, kInf, 0));
  EXPECT_FALSE(agree(DType::f32, kInf, -kInf, 0));
  EXPECT_TRUE(agree(DType::f32, 1, kNan, kInf));
}

TEST(Agree, AllowsTheRoundingOfTheOutput) {
  EXPECT_TRUE(agree(DType::bf16, 1, 1 + 0x1p-7, 1e-6)) << "a tie may fall to either side";
  EXPECT_FALSE(agree(DType::bf16, 1, 1 + 0x1p-6, 1e-6));
  EXPECT_TRUE(agree(DType::bf16, 1, 1 - 0x1p-8, 1e-6));
  EXPECT_FALSE(agree(DType::bf16, 1, 1 - 0x1p-6, 1e-6));
  EXPECT_TRUE(agree(DType::f32, 1, 1 + 0x1p-22, 0x1p-23));
  EXPECT_FALSE(agree(DType::f32, 1, 1 + 0x1p-20, 0x1p-23));
}

TEST(Agree, AllowsOverflowThatTheBoundExplains) {
  EXPECT_TRUE(agree(DType::f16, 65504, kInf, 1));
  EXPECT_TRUE(agree(DType::f16, kInf, 65504, 1));
  EXPECT_TRUE(agree(DType::f16, -kInf, -65504, 1));
  EXPECT_FALSE(agree(DType::f16, kInf, 65440, 1));
  EXPECT_FALSE(agree(DType::f16, 65440, kInf, 1));
  EXPECT_FALSE(agree(DType::f16, kInf, -kInf, 1));
  EXPECT_FALSE(agree(DType::f16, -kInf, kInf, 1));
  EXPECT_TRUE(agree(DType::f32, FLT_MAX, kInf, 0x1p103));
}

/// Of a product of exponentials, the last of them infinite.
double bound_of_product(double exponent) {
  Graph graph;
  for (const Dims& shape : {Dims{2}, Dims{2}, Dims{}}) {
    Value v;
    v.id = static_cast<std::int64_t>(graph.values.size());
    v.dtype = DType::f32;
    v.ranked = true;
    v.shape = shape;
    graph.values.push_back(std::move(v));
  }
  for (ValueId from : {ValueId{0}, ValueId{1}}) {
    Op op = from == 0 ? make_op(Dialect::onnx, "Exp") : make_reduce("prod", {0});
    op.inputs = {from};
    op.outputs = {from + 1};
    graph.ops.push_back(std::move(op));
  }
  graph.inputs = {0};
  graph.outputs = {2};
  Tensor in(DType::f32, {2}, {exponent, kInf}), out(DType::f32, {});
  const ConstTensor inputs[] = {in.in()};
  const MutableTensor outputs[] = {out.out()};
  std::vector<std::vector<double>> bounds;
  const Status status = evaluate_with_bounds(graph, inputs, outputs, bounds);
  EXPECT_TRUE(status.ok()) << status.message();
  return bounds.size() == 1 && bounds[0].size() == 1 ? bounds[0][0] : -1;
}

TEST(EvaluateWithBounds, NothingIsStatedOfAProductOfAnInfinityAndWhatMayBeZero) {
  EXPECT_EQ(bound_of_product(-103.2), kInf) << "the least subnormal, or 0";
  EXPECT_LT(bound_of_product(1), 1e-5);
}

/// sum of rows, then abs, then a cast to bf16, beside a plain relu of the input.
TEST(EvaluateWithBounds, CarriesErrorsThroughTheGraph) {
  Graph graph;
  const auto value = [&](DType dtype, Dims shape) {
    Value v;
    v.id = static_cast<std::int64_t>(graph.values.size());
    v.dtype = dtype;
    v.ranked = true;
    v.shape = std::move(shape);
    graph.values.push_back(std::move(v));
    return static_cast<ValueId>(graph.values.size() - 1);
  };
  const ValueId x = value(DType::f32, {2, 4}), sum = value(DType::f32, {2}), abs = value(DType::f32, {2}),
                cast = value(DType::bf16, {2}), most = value(DType::bf16, {}), relu = value(DType::f32, {2, 4});
  const auto op = [&](Op o, ValueId in, ValueId out) {
    o.inputs = {in};
    o.outputs = {out};
    graph.ops.push_back(std::move(o));
  };
  op(make_reduce("sum", {1}), x, sum);
  op(make_op(Dialect::onednn, "Abs"), sum, abs);
  op(make_op(Dialect::onednn, "TypeCast"), abs, cast);
  op(make_reduce("max", {0}), cast, most);
  op(make_op(Dialect::onednn, "ReLU"), x, relu);
  graph.inputs = {x};
  graph.outputs = {sum, cast, most, relu};
  Tensor in(DType::f32, {2, 4}, {1, 2, 3, 4, -10, -20, -30, -40});
  Tensor a(DType::f32, {2}), b(DType::bf16, {2}), c(DType::bf16, {}), d(DType::f32, {2, 4});
  const ConstTensor inputs[] = {in.in()};
  const MutableTensor outputs[] = {a.out(), b.out(), c.out(), d.out()};
  std::vector<std::vector<double>> bounds;
  const Status s = evaluate_with_bounds(graph, inputs, outputs, bounds);
  ASSERT_TRUE(s.ok()) << s.message();
  ASSERT_EQ(bounds.size(), 4U);
  ASSERT_EQ(bounds[0].size(), 2U);
  EXPECT_DOUBLE_EQ(bounds[0][0], 170 * 0x1p-24);
  EXPECT_DOUBLE_EQ(bounds[0][1], 1700 * 0x1p-24);
  ASSERT_EQ(bounds[1].size(), 2U);
  EXPECT_NEAR(bounds[1][1], bounds[0][1] + 2 * ulp(DType::f32, 100), 1e-12);
  ASSERT_EQ(bounds[2].size(), 1U);
  EXPECT_GE(bounds[2][0], ulp(DType::bf16, 100)) << "the cast's rounding may have gone either way";
  EXPECT_LE(bounds[2][0], 1.1 * ulp(DType::bf16, 100));
  EXPECT_TRUE(bounds[3].empty()) << "no reduction before it: the same bits";
  EXPECT_TRUE(same_values(b.values(), {10, 100}));
}

std::vector<double> bounds_of(const Op& op, const std::vector<Tensor>& inputs, DType dtype, Dims shape) {
  Graph graph;
  const auto value = [&](DType type, Dims dims) {
    Value v;
    v.id = static_cast<std::int64_t>(graph.values.size());
    v.dtype = type;
    v.ranked = true;
    v.shape = std::move(dims);
    graph.values.push_back(std::move(v));
    return static_cast<ValueId>(graph.values.size() - 1);
  };
  graph.ops.push_back(op);
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) {
    graph.inputs.push_back(value(tensor.desc().dtype, tensor.desc().shape));
    graph.ops[0].inputs.push_back(graph.inputs.back());
    in.push_back(tensor.in());
    if (op.kind == "Clip" && inputs.size() == 2 && in.size() == 1) graph.ops[0].inputs.push_back(kNone);
  }
  graph.outputs = {value(dtype, shape)};
  graph.ops[0].outputs = graph.outputs;
  Tensor out(dtype, std::move(shape));
  const MutableTensor outputs[] = {out.out()};
  std::vector<std::vector<double>> bounds;
  const Status s = evaluate_with_bounds(graph, in, outputs, bounds);
  EXPECT_TRUE(s.ok()) << s.message();
  return s.ok() ? bounds[0] : std::vector<double>{kNan};
}

TEST(EvaluateWithBounds, ErrorsAreRoundedToo) {
  // Where erf is a little below 1 a kernel's may be 1, and its floor too: of two of three, whose mean is then rounded.
  Graph graph;
  for (int i = 0; i < 4; ++i) {
    Value value;
    value.id = i;
    value.dtype = DType::f32;
    value.ranked = true;
    if (i < 3) value.shape = {3};
    graph.values.push_back(std::move(value));
  }
  for (const char* kind : {"Erf", "Floor"}) graph.ops.push_back(make_op(Dialect::onnx, kind));
  graph.ops.push_back(make_reduce("mean", {0}));
  for (std::size_t i = 0; i < 3; ++i) {
    graph.ops[i].inputs = {static_cast<ValueId>(i)};
    graph.ops[i].outputs = {static_cast<ValueId>(i + 1)};
  }
  graph.inputs = {0};
  graph.outputs = {3};
  const Tensor in(DType::f32, {3}, {3.9, 3.9, 0.5});
  Tensor out(DType::f32, {});
  const ConstTensor inputs[] = {in.in()};
  const MutableTensor outputs[] = {out.out()};
  std::vector<std::vector<double>> bounds;
  const Status s = evaluate_with_bounds(graph, inputs, outputs, bounds);
  ASSERT_TRUE(s.ok()) << s.message();
  ASSERT_EQ(out.at(0), 0);
  ASSERT_EQ(bounds[0].size(), 1U);
  EXPECT_GE(bounds[0][0], static_cast<double>(2.0F / 3.0F));
  EXPECT_LE(bounds[0][0], 2.0 / 3 * (1 + 0x1p-18));
}

TEST(EvaluateWithBounds, FoldsRoundAndTheRestIsExact) {
  const Tensor a(DType::f32, {2}, {1, -2}), b(DType::f32, {1}, {4}), c(DType::s32, {2}, {1, 2});
  const auto sum = bounds_of(make_op(Dialect::onnx, "Sum"), {a, b, a}, DType::f32, {2});
  ASSERT_EQ(sum.size(), 2U);
  EXPECT_DOUBLE_EQ(sum[1], 4 * 8 * 0x1p-24);
  const auto exact = [](const std::vector<double>& bounds) {
    return std::all_of(bounds.begin(), bounds.end(), [](double bound) { return bound == 0; });
  };
  EXPECT_TRUE(exact(bounds_of(make_op(Dialect::onnx, "Sum"), {a, b}, DType::f32, {2})));
  EXPECT_TRUE(exact(bounds_of(make_op(Dialect::onnx, "Max"), {a, b, a}, DType::f32, {2})));
  EXPECT_TRUE(exact(bounds_of(make_op(Dialect::onnx, "Mean"), {c, c, c}, DType::s32, {2})));
  EXPECT_TRUE(exact(bounds_of(make_op(Dialect::onnx, "ArgMax"), {a}, DType::s64, {1})));
  EXPECT_TRUE(exact(bounds_of(make_op(Dialect::onnx, "ReduceSum"), {c}, DType::s32, {1})));
  EXPECT_TRUE(exact(bounds_of(make_op(Dialect::onnx, "Clip"), {a, Tensor(DType::f32, {}, {0})}, DType::f32, {2})))
      << "with its least bound left out";
}

TEST(Doubt, OfWhatNothingIsStatedOfIsPassedOn) {
  using Number = Doubt<false>;
  const Number unknown(Real{3}, kInf), exact(Real{-3}), zero(Real{0}), infinite(Real{kInf});
  for (const Number& made : {unknown * exact, exact * unknown, unknown * zero, zero * unknown, unknown + exact,
                             unknown / exact, exact / unknown, unknown * infinite})
    EXPECT_EQ(made.error, kInf) << static_cast<double>(made.value);
  EXPECT_EQ((infinite * exact).error, 0) << "an infinity that inputs decided is exact";
}

}  // namespace
}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the reference: values, axes forms, special values, empty sets, strides and integers.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> reduce_all(const char* reduction, DType dtype, const std::vector<double>& x) {
  Tensor in(dtype, {static_cast<std::int64_t>(x.size())}, x);
  Tensor out(dtype, {});
  const Status s = run_op(make_reduce(reduction, {0}), {in.in()}, out);
  EXPECT_TRUE(s.ok()) << s.message();
  return out.values();
}

TEST(Reduce, AllSevenOverALeadingAxis) {
  const std::vector<double> x = {1, -2, 3, 4, 5, -6};
  Tensor in(DType::f32, {2, 3}, x);
  const std::pair<const char*, std::vector<double>> rows[] = {
      {"l1", {5, 7, 9}},    {"l2", {std::sqrt(17.0), std::sqrt(29.0), std::sqrt(45.0)}},
      {"max", {4, 5, 3}},   {"mean", {2.5, 1.5, -1.5}},
      {"min", {1, -2, -6}}, {"prod", {4, -10, -18}},
      {"sum", {5, 3, -3}},
  };
  for (const auto& [reduction, expected] : rows) {
    Tensor out(DType::f32, {3});
    ASSERT_TRUE(run_op(make_reduce(reduction, {0}), {in.in()}, out).ok());
    std::vector<double> rounded;
    for (const double value : expected) rounded.push_back(static_cast<double>(static_cast<float>(value)));
    EXPECT_TRUE(same_values(out.values(), rounded)) << reduction;
  }
}

TEST(Reduce, TheDialectsOpsAreTheSame) {
  Tensor in(DType::f32, {2, 3}, {1, -2, 3, 4, 5, -6});
  const std::pair<const char*, const char*> names[] = {
      {"ReduceL1", "l1"},   {"ReduceL2", "l2"},     {"ReduceMax", "max"}, {"ReduceMean", "mean"},
      {"ReduceMin", "min"}, {"ReduceProd", "prod"}, {"ReduceSum", "sum"}};
  for (const auto& [kind, reduction] : names) {
    Tensor a(DType::f32, {2, 1});
    Tensor b(DType::f32, {2, 1});
    const Op op = make_op(Dialect::onednn, kind, {{"axes", std::vector<std::int64_t>{-1}}, {"keep_dims", true}});
    ASSERT_TRUE(can_evaluate(op));
    ASSERT_TRUE(run_op(op, {in.in()}, a).ok());
    ASSERT_TRUE(run_op(make_reduce(reduction, {1}, true), {in.in()}, b).ok());
    EXPECT_EQ(a.bytes(), b.bytes()) << kind;
  }
}

/// With noop_with_empty_axes, and of rank 0.
TEST(Reduce, AnElementAloneIsNotAddedToAnything) {
  const auto alone = [](const char* kind, DType dtype, double x, const Dims& shape) {
    Tensor in(dtype, shape, {x}), out(dtype, shape);
    const Op op = make_op(Dialect::onnx, kind, {{"noop_with_empty_axes", std::int64_t{shape.empty() ? 0 : 1}}});
    const Status s = run_op(op, {in.in()}, out);
    EXPECT_TRUE(s.ok()) << s.message();
    return out.values()[0];
  };
  for (const Dims& shape : {Dims{}, Dims{1}}) {
    for (const char* const kind : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceProd"})
      for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16})
        EXPECT_TRUE(std::signbit(alone(kind, dtype, -0.0, shape))) << kind << to_string(dtype);
    for (const char* const kind : {"ReduceL1", "ReduceL2"}) {
      EXPECT_FALSE(std::signbit(alone(kind, DType::f32, -0.0, shape))) << kind;
      EXPECT_EQ(alone(kind, DType::s64, -4e9, shape), 4e9) << kind << ", whose square wraps";
      EXPECT_EQ(alone(kind, DType::s32, -0x1p31, shape), -0x1p31) << kind << ", which has no magnitude";
      EXPECT_EQ(alone(kind, DType::f64, -1.5e200, shape), 1.5e200) << kind;
    }
    EXPECT_EQ(alone("ReduceSumSquare", DType::s32, 3, shape), 9);
    EXPECT_EQ(alone("ReduceLogSum", DType::f64, 1, shape), 0);
    EXPECT_EQ(alone("ReduceLogSumExp", DType::f64, 1e300, shape), 1e300);
  }
}

TEST(Reduce, EmptySets) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    const std::pair<const char*, double> rows[] = {{"l1", 0},     {"l2", 0},   {"max", -kInf}, {"mean", kNan},
                                                   {"min", kInf}, {"prod", 1}, {"sum", 0}};
    for (const auto& [reduction, expected] : rows) {
      Tensor in(dtype, {2, 0, 3});
      Tensor out(dtype, {2, 3});
      ASSERT_TRUE(run_op(make_reduce(reduction, {1}), {in.in()}, out).ok());
      EXPECT_TRUE(same_values(out.values(), std::vector<double>(6, expected))) << reduction;
      Tensor kept(dtype, {0, 3});
      ASSERT_TRUE(run_op(make_reduce(reduction, {0}), {in.in()}, kept).ok());
      EXPECT_TRUE(kept.values().empty());
    }
  }
  EXPECT_TRUE(same_values(reduce_all("max", DType::s8, {}), {-128}));
  EXPECT_TRUE(same_values(reduce_all("min", DType::u16, {}), {65535}));
}

TEST(Reduce, SpecialValues) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    EXPECT_TRUE(same_values(reduce_all("max", dtype, {-kInf, -kInf}), {-kInf}));
    EXPECT_TRUE(same_values(reduce_all("max", dtype, {kNan, 5, kInf}), {kNan}));
    EXPECT_TRUE(same_values(reduce_all("min", dtype, {5, kNan, -kInf}), {kNan}));
    EXPECT_TRUE(same_values(reduce_all("max", dtype, {-0.0, 0.0, -0.0}), {0.0}));
    EXPECT_TRUE(same_values(reduce_all("max", dtype, {-0.0, -0.0}), {-0.0}));
    EXPECT_TRUE(same_values(reduce_all("min", dtype, {0.0, -0.0}), {-0.0}));
    EXPECT_TRUE(same_values(reduce_all("sum", dtype, {-0.0, -0.0}), {0.0}));
    EXPECT_TRUE(same_values(reduce_all("l1", dtype, {-0.0}), {0.0}));
    EXPECT_TRUE(same_values(reduce_all("sum", dtype, {kInf, 1, kInf}), {kInf}));
    EXPECT_TRUE(same_values(reduce_all("sum", dtype, {kInf, -kInf}), {kNan}));
    EXPECT_TRUE(same_values(reduce_all("prod", dtype, {-0.0, 2}), {-0.0}));
    EXPECT_TRUE(same_values(reduce_all("prod", dtype, {0, kInf}), {kNan}));
    EXPECT_TRUE(same_values(reduce_all("l2", dtype, {-kInf, 3}), {kInf}));
    EXPECT_TRUE(same_values(reduce_all("mean", dtype, {-kInf, 3}), {-kInf}));
  }
}

TEST(Reduce, LongSumsAreExactAndNothingOverflowsOnTheWay) {
  std::vector<double> x(100001, 1);
  x[0] = 0x1p90;
  x[70000] = -0x1p90;
  EXPECT_TRUE(same_values(reduce_all("sum", DType::f32, x), {99999}));
  EXPECT_TRUE(same_values(reduce_all("l2", DType::f32, {3e38, 0}), {static_cast<double>(3e38F)}));
  EXPECT_TRUE(same_values(reduce_all("l2", DType::f64, {0x3p600, 0x4p600}), {0x5p600}));
  std::vector<double> wild(4000, 0x1p100);
  std::fill(wild.begin() + 2000, wild.end(), -0x1p-100);
  EXPECT_TRUE(same_values(reduce_all("prod", DType::f32, wild), {1}));
  EXPECT_TRUE(same_values(reduce_all("prod", DType::f32, std::vector<double>(4000, 0x1p100)), {kInf}));
  EXPECT_TRUE(same_values(reduce_all("prod", DType::f32, std::vector<double>(4001, -0x1p-100)), {-0.0}));
  EXPECT_TRUE(same_values(reduce_all("sum", DType::f32, {3e38, 3e38, -3e38}), {static_cast<double>(3e38F)}));
}

TEST(Reduce, NoAxesIsTheIdentity) {
  for (const char* reduction : {"l1", "l2", "max", "mean", "min", "prod", "sum"}) {
    Tensor in(DType::f32, {3}, {-1, -0.0, kNan});
    Tensor out(DType::f32, {3});
    ASSERT_TRUE(run_op(make_reduce(reduction, {}), {in.in()}, out).ok());
    EXPECT_TRUE(same_values(out.values(), {-1, -0.0, kNan})) << reduction;
    Tensor scalar(DType::f32, {}, {-3});
    Tensor scalar_out(DType::f32, {});
    ASSERT_TRUE(run_op(make_reduce(reduction, {}, true), {scalar.in()}, scalar_out).ok());
    EXPECT_TRUE(same_values(scalar_out.values(), {-3})) << reduction;
  }
}

TEST(Reduce, AxesComeFromATensorToo) {
  Tensor in(DType::f32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Op op = make_op(Dialect::onednn, "ReduceSum", {{"keep_dims", std::int64_t{1}}});
  for (const DType dtype : {DType::s32, DType::s64}) {
    Tensor axes(dtype, {2}, {-1, 0}, {3});
    Tensor out(DType::f32, {1, 2, 1});
    const Status s = run_op(op, {in.in(), axes.in()}, out);
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_TRUE(same_values(out.values(), {14, 22}));
  }
  Tensor none(DType::s32, {0});
  Tensor out(DType::f32, {2, 2, 2});
  ASSERT_TRUE(run_op(op, {in.in(), none.in()}, out).ok());
  EXPECT_EQ(out.bytes(), in.bytes());
  Tensor real(DType::f32, {1}, {0});
  EXPECT_EQ(run_op(op, {in.in(), real.in()}, out).code(), Code::invalid_dtype);
}

TEST(Reduce, BadAxesAreRefusedByRule) {
  Tensor in(DType::f32, {2, 3});
  Tensor out(DType::f32, {2});
  const auto message = [&](std::vector<std::int64_t> axes) {
    const Status s = run_op(make_reduce("max", std::move(axes)), {in.in()}, out);
    EXPECT_EQ(s.code(), Code::invalid_op);
    return s.message();
  };
  EXPECT_EQ(message({2}), "op 7 'it' (reduce): axis 2 is out of range [-2, 1] for rank 2 (reduce.C3)");
  EXPECT_NE(message({-3}).find("reduce.C3"), std::string::npos);
  EXPECT_NE(message({std::numeric_limits<std::int64_t>::min()}).find("reduce.C3"), std::string::npos);
  EXPECT_NE(message({1, -1}).find("reduce.C4"), std::string::npos);
}

TEST(Reduce, WrongOutputsAreRefused) {
  Tensor in(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor wrong(DType::f32, {3});
  EXPECT_EQ(run_op(make_reduce("max", {1}), {in.in()}, wrong).code(), Code::invalid_shape);
  Tensor right(DType::f32, {2});
  EXPECT_EQ(run_op(make_reduce("median", {1}), {in.in()}, right).code(), Code::invalid_op);
  EXPECT_FALSE(can_evaluate(make_reduce("median", {1})));
  MutableTensor repeated = right.out();
  repeated.desc.strides = {0};
  const ConstTensor inputs[] = {in.in()};
  const Status s = evaluate_op(make_reduce("max", {1}), inputs, std::span(&repeated, 1));
  EXPECT_EQ(s.code(), Code::invalid_shape);
  ConstTensor null = in.in();
  null.data = nullptr;
  EXPECT_EQ(run_op(make_reduce("max", {1}), {null}, right).code(), Code::invalid_argument);
  ConstTensor small = in.in();
  small.desc.dtype = DType::f8_e4m3;
  EXPECT_EQ(run_op(make_reduce("max", {1}), {small}, right).code(), Code::unsupported_dtype);
}

TEST(Reduce, IntegersAreExactAndWrap) {
  EXPECT_TRUE(same_values(reduce_all("sum", DType::s8, {100, 100, 100}), {300 - 256}));
  EXPECT_TRUE(same_values(reduce_all("prod", DType::u8, {16, 17}), {272 - 256}));
  EXPECT_TRUE(same_values(reduce_all("max", DType::s16, {-5, -7}), {-5}));
  EXPECT_TRUE(same_values(reduce_all("min", DType::u32, {4294967295.0, 7}), {7}));
  EXPECT_TRUE(same_values(reduce_all("mean", DType::s32, {-3, -4}), {-3}));
  EXPECT_TRUE(same_values(reduce_all("l1", DType::s32, {-3, -4}), {7}));
  EXPECT_TRUE(same_values(reduce_all("l2", DType::s32, {-3, -4}), {5}));
  EXPECT_TRUE(same_values(reduce_all("max", DType::boolean, {0, 1, 0}), {1}));
  EXPECT_TRUE(same_values(reduce_all("min", DType::boolean, {1, 1}), {1}));
  const std::int64_t values[] = {(std::int64_t{1} << 60) + 1, (std::int64_t{1} << 60) + 2};
  std::int64_t sum = 0;
  const ConstTensor in{{DType::s64, {2}, {}}, values};
  const MutableTensor out{{DType::s64, {}, {}}, &sum};
  ASSERT_TRUE(evaluate_op(make_reduce("sum", {0}), std::span(&in, 1), std::span(&out, 1)).ok());
  EXPECT_EQ(sum, (std::int64_t{1} << 61) + 3);
}

TEST(Reduce, StridesMayPermuteGapAndRepeat) {
  const unsigned seed = 20240607;
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> digit(-9, 9);
  for (int round = 0; round < 200; ++round) {
    Dims shape(1 + random() % 4);
    for (std::int64_t& dim : shape) dim = 1 + random() % 4;
    std::vector<double> x(static_cast<std::size_t>(numel(shape).value()));
    for (double& value : x) value = digit(random);
    Tensor dense(DType::f32, shape, x);

    // Strides of a permuted tensor with gaps.
    Dims strides(shape.size());
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::int64_t step = 1 + random() % 2;
    for (const std::size_t dim : order) {
      strides[dim] = step;
      step = step * shape[dim] + random() % 3;
    }
    Tensor strided(DType::f32, shape, x, strides);
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (random() % 2 == 0) axes.push_back(static_cast<std::int64_t>(i));
    if (axes.empty()) axes.push_back(-1);
    Dims out_shape = shape;
    for (const std::int64_t axis : axes) out_shape[axis < 0 ? shape.size() - 1 : static_cast<std::size_t>(axis)] = 1;
    Dims out_strides = row_major_strides(out_shape);
    for (std::int64_t& stride : out_strides) stride *= 2;
    Tensor a(DType::f32, out_shape);
    Tensor b(DType::f32, out_shape, {}, out_strides);
    ASSERT_TRUE(run_op(make_reduce("sum", axes, true), {dense.in()}, a).ok());
    ASSERT_TRUE(run_op(make_reduce("sum", axes, true), {strided.in()}, b).ok());
    ASSERT_TRUE(same_values(b.values(), a.values())) << "seed " << seed << " round " << round;
    double total = 0;
    for (const double value : a.values()) total += value;
    ASSERT_EQ(total, std::accumulate(x.begin(), x.end(), 0.0)) << "seed " << seed << " round " << round;
    // Gaps of the output keep what was there.
    for (std::size_t i = 4; i + 4 <= b.bytes().size(); i += 8) ASSERT_EQ(b.bytes()[i], std::byte{0x5a});
  }
  Tensor one(DType::f32, {1}, {2.5});
  ConstTensor repeated = one.in();
  repeated.desc = {DType::f32, {3, 1000}, {0, 0}};
  Tensor out(DType::f32, {3});
  ASSERT_TRUE(run_op(make_reduce("sum", {1}), {repeated}, out).ok());
  EXPECT_TRUE(same_values(out.values(), {2500, 2500, 2500}));
}

}  // namespace
}  // namespace tenfold::graph

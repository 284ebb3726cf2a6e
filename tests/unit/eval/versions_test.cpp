// SPDX-License-Identifier: Apache-2.0
//
// ONNX's ops as written, before any pass: the defaults and the broadcasting of the version that their opset sees.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "numeric_types.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Op onnx(const char* kind, int opset, std::vector<NamedAttribute> attributes = {}) {
  Op op = make_op(Dialect::onnx, kind, std::move(attributes));
  op.opset = opset;
  return op;
}

double of(const Op& op, double x) {
  const Tensor in(DType::f64, {}, {x});
  return result_of(op, {in.in()}, DType::f64, {}).at(0);
}

TEST(Versions, SeluHasHadOtherDefaults) {
  const auto old_alpha = static_cast<double>(1.6732F), old_gamma = static_cast<double>(1.0507F);
  for (const int opset : {1, 5}) {
    EXPECT_DOUBLE_EQ(of(onnx("Selu", opset), 2), 2 * old_gamma);
    EXPECT_DOUBLE_EQ(of(onnx("Selu", opset), -1), old_gamma * old_alpha * std::expm1(-1.0));
  }
  for (const int opset : {0, 6, 22})
    EXPECT_DOUBLE_EQ(of(onnx("Selu", opset), 2), 2 * static_cast<double>(1.05070102214813232421875F)) << opset;
  EXPECT_DOUBLE_EQ(of(onnx("Selu", 1, {{"gamma", 3.0}}), 2), 6);
}

TEST(Versions, ClipHasBoundsAsAttributesUpTo10) {
  const auto most = static_cast<double>(FLT_MAX);
  for (const int opset : {6, 10}) {
    EXPECT_EQ(of(onnx("Clip", opset), 1e300), most) << "the default is f32's greatest number";
    EXPECT_EQ(of(onnx("Clip", opset), -kInf), -most);
    EXPECT_EQ(of(onnx("Clip", opset, {{"max", 2.0}}), 5), 2);
    EXPECT_EQ(of(onnx("Clip", opset, {{"max", 2.0}}), -kInf), -most);
    EXPECT_EQ(of(onnx("Clip", opset, {{"min", -2.0}, {"max", 2.0}}), -5), -2);
  }
  for (const int opset : {1, 5, 11, 0}) EXPECT_EQ(of(onnx("Clip", opset), 1e300), 1e300) << opset;
  EXPECT_EQ(of(onnx("Clip", 1, {{"min", 1.0}}), kInf), kInf);
}

TEST(Versions, TwoInputsBroadcastWhenToldToBelow7) {
  const Tensor a(DType::f32, {2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Tensor row(DType::f32, {2}, {10, 20}), middle(DType::f32, {3}, {10, 20, 30}), first(DType::f32, {2}, {10, 20}),
      two(DType::f32, {2, 3}, {10, 20, 30, 40, 50, 60}), one(DType::f32, {}, {100}), flat(DType::f32, {1, 2}, {10, 20});
  const auto add = [&](const Tensor& b, std::vector<NamedAttribute> attributes) {
    return result_of(onnx("Add", 6, std::move(attributes)), {a.in(), b.in()}, DType::f32, {2, 3, 2}).values();
  };
  const NamedAttribute on{"broadcast", std::int64_t{1}};
  const auto from = [](std::int64_t axis) { return NamedAttribute{"axis", axis}; };
  EXPECT_TRUE(same_values(add(row, {on}), {10, 21, 12, 23, 14, 25, 16, 27, 18, 29, 20, 31}));
  EXPECT_TRUE(same_values(add(one, {on}), {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111}));
  EXPECT_TRUE(same_values(add(middle, {on, from(1)}), {10, 11, 22, 23, 34, 35, 16, 17, 28, 29, 40, 41}));
  EXPECT_TRUE(same_values(add(first, {on, from(0)}), {10, 11, 12, 13, 14, 15, 26, 27, 28, 29, 30, 31}));
  EXPECT_TRUE(same_values(add(two, {on, from(0)}), {10, 11, 22, 23, 34, 35, 46, 47, 58, 59, 70, 71}));
  EXPECT_TRUE(same_values(add(flat, {on, from(1)}), {10, 21, 12, 23, 14, 25, 16, 27, 18, 29, 20, 31}));

  Tensor out(DType::f32, {2, 3, 2});
  const auto code = [&](const Op& op, const Tensor& b) { return run_op(op, {a.in(), b.in()}, out).code(); };
  EXPECT_EQ(code(onnx("Add", 6), row), Code::invalid_shape) << "not unless told to";
  EXPECT_EQ(code(onnx("Add", 6, {on}), middle), Code::invalid_shape);
  EXPECT_EQ(code(onnx("Add", 6, {on, from(2)}), two), Code::invalid_shape);
  EXPECT_EQ(code(onnx("Add", 6, {on, from(-1)}), row), Code::invalid_shape);
  EXPECT_EQ(code(onnx("Add", 7), row), Code::ok);
  EXPECT_EQ(run_op(onnx("Add", 6, {on}), {row.in(), a.in()}, out).code(), Code::invalid_shape) << "one way only";
}

TEST(Versions, VariadicOpsBroadcastSince8) {
  const Tensor a(DType::f32, {2, 2}, {1, 2, 3, 4}), b(DType::f32, {2}, {3, 0});
  for (const char* kind : {"Max", "Min", "Sum", "Mean"}) {
    Tensor out(DType::f32, {2, 2});
    for (const int opset : {1, 6, 7})
      EXPECT_EQ(run_op(onnx(kind, opset), {a.in(), b.in()}, out).code(), Code::invalid_shape) << kind << opset;
    EXPECT_TRUE(run_op(onnx(kind, 6), {a.in(), a.in()}, out).ok()) << kind;
    EXPECT_TRUE(run_op(onnx(kind, 8), {a.in(), b.in()}, out).ok()) << kind;
  }
}

TEST(Versions, SlopesLieAlongDim1Below7) {
  const Tensor x(DType::f32, {1, 2, 2}, {-1, -2, -3, -4}), slope(DType::f32, {2}, {10, 100});
  const auto prelu = [&](int opset) {
    return result_of(onnx("PRelu", opset), {x.in(), slope.in()}, DType::f32, {1, 2, 2}).values();
  };
  EXPECT_TRUE(same_values(prelu(6), {-10, -20, -300, -400}));
  EXPECT_TRUE(same_values(prelu(7), {-10, -200, -30, -400}));
}

}  // namespace
}  // namespace tenfold::graph

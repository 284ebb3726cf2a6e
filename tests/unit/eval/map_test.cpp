// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops of the reference: both dialects' spellings, broadcasting, channels, dtypes, select, cast, reshape.
#include <gtest/gtest.h>

#include <limits>

#include "tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Map, EveryDialectOpEqualsItsCoreFunction) {
  struct Pair {
    const char* kind;
    const char* function;
    int arity;
  };
  const Pair pairs[] = {{"Abs", "abs", 1},
                        {"Clamp", "clamp", 1},
                        {"Elu", "elu", 1},
                        {"Exp", "exp", 1},
                        {"GELU", "gelu_erf", 1},
                        {"HardSigmoid", "hardsigmoid", 1},
                        {"HardSwish", "hardswish", 1},
                        {"LeakyReLU", "leakyrelu", 1},
                        {"Log", "log", 1},
                        {"Mish", "mish", 1},
                        {"Pow", "pow", 1},
                        {"ReLU", "relu", 1},
                        {"Reciprocal", "reciprocal", 1},
                        {"Round", "round", 1},
                        {"Sigmoid", "sigmoid", 1},
                        {"SoftPlus", "softplus", 1},
                        {"Sqrt", "sqrt", 1},
                        {"Square", "square", 1},
                        {"Tanh", "tanh", 1},
                        {"Add", "add", 2},
                        {"BiasAdd", "add", 2},
                        {"Divide", "div", 2},
                        {"GreaterEqual", "greater_equal", 2},
                        {"Maximum", "max", 2},
                        {"Minimum", "min", 2},
                        {"Multiply", "mul", 2},
                        {"PReLU", "prelu", 2},
                        {"SquaredDifference", "squared_difference", 2},
                        {"Subtract", "sub", 2}};
  Tensor a(DType::f32, {4}, {-2.5, -0.25, 0.75, 3});
  Tensor b(DType::f32, {4}, {0.5, -1, 2, 3});
  for (const Pair& pair : pairs) {
    std::vector<NamedAttribute> attributes = {{"alpha", 0.3}, {"beta", 1.5}, {"min", -1.0}, {"max", 1.0}};
    const DType to = std::string(pair.kind) == "GreaterEqual" ? DType::boolean : DType::f32;
    std::vector<ConstTensor> inputs = {a.in()};
    if (pair.arity == 2) inputs.push_back(b.in());
    Tensor x(to, {4});
    Tensor y(to, {4});
    const Op op = make_op(Dialect::onednn, pair.kind, attributes);
    attributes.push_back({"function", std::string(pair.function)});
    const Op core = make_op(Dialect::core, "map", attributes);
    ASSERT_TRUE(can_evaluate(op) && can_evaluate(core)) << pair.kind;
    Status s = run_op(op, inputs, x);
    ASSERT_TRUE(s.ok()) << s.message();
    s = run_op(core, inputs, y);
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(x.bytes(), y.bytes()) << pair.kind;
  }
}

TEST(Map, GeluHasTwoModes) {
  Tensor x(DType::f32, {1}, {1});
  const auto gelu = [&](const Op& op) {
    Tensor y(DType::f32, {1});
    EXPECT_TRUE(run_op(op, {x.in()}, y).ok());
    return y.at(0);
  };
  const double by_erf = static_cast<double>(0.84134474606854293F);
  const double by_tanh = static_cast<double>(0.84119199060827670F);
  const std::string erf = "gelu_erf", tanh = "gelu_tanh";
  EXPECT_EQ(gelu(make_op(Dialect::onednn, "GELU")), by_erf);
  EXPECT_EQ(gelu(make_op(Dialect::onednn, "GELU", {{"mode", tanh}})), by_tanh);
  EXPECT_EQ(gelu(make_op(Dialect::core, "map", {{"function", std::string("gelu")}, {"mode", tanh}})), by_tanh);
  EXPECT_EQ(gelu(make_op(Dialect::core, "map", {{"function", erf}})), by_erf);
  EXPECT_FALSE(can_evaluate(make_op(Dialect::onednn, "GELU", {{"mode", std::string("gelu_fast")}})));
}

TEST(Map, AttributesAreF32AndMustBeThere) {
  Tensor x(DType::f64, {1}, {-1});
  Tensor y(DType::f64, {1});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "LeakyReLU", {{"alpha", 0.1}}), {x.in()}, y).ok());
  EXPECT_EQ(y.at(0), -static_cast<double>(0.1F));
  const Status s = run_op(make_op(Dialect::onednn, "LeakyReLU"), {x.in()}, y);
  EXPECT_EQ(s.code(), Code::invalid_op);
  EXPECT_EQ(s.message(), "op 7 'it' (LeakyReLU): attribute 'alpha' is missing or not a number");
  EXPECT_TRUE(run_op(make_op(Dialect::onednn, "SoftPlus"), {x.in()}, y).ok()) << "beta has a default";
}

TEST(Map, BroadcastsAsNumpyUnlessToldNotTo) {
  Tensor a(DType::f32, {2, 1, 3}, {1, 2, 3, 4, 5, 6});
  Tensor b(DType::f32, {2, 1}, {10, 20});
  Tensor out(DType::f32, {2, 2, 3});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Add"), {a.in(), b.in()}, out).ok());
  EXPECT_TRUE(same_values(out.values(), {11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26}));
  Tensor scalar(DType::f32, {}, {1});
  Tensor same_shape(DType::f32, {2, 1, 3});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Subtract"), {scalar.in(), a.in()}, same_shape).ok());
  EXPECT_TRUE(same_values(same_shape.values(), {0, -1, -2, -3, -4, -5}));
  Tensor empty(DType::f32, {2, 0, 3});
  Tensor empty_out(DType::f32, {2, 0, 3});
  EXPECT_TRUE(run_op(make_op(Dialect::onednn, "Add"), {a.in(), empty.in()}, empty_out).ok());
  const Op strict = make_op(Dialect::onednn, "Add", {{"auto_broadcast", std::string("none")}});
  EXPECT_EQ(run_op(strict, {a.in(), b.in()}, out).code(), Code::invalid_shape);
  Tensor odd(DType::f32, {4});
  const Status s = run_op(make_op(Dialect::onednn, "Add"), {a.in(), odd.in()}, out);
  EXPECT_EQ(s.message(), "op 7 'it' (Add): shapes [2, 1, 3] and [4] do not broadcast");
}

TEST(Map, BiasesAndSlopesRunAlongTheChannel) {
  Tensor x(DType::f32, {1, 2, 2}, {-1, -2, -3, -4});
  Tensor c(DType::f32, {2}, {10, 100});
  Tensor y(DType::f32, {1, 2, 2});
  const NamedAttribute ncx{"data_format", std::string("NCX")};
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "BiasAdd"), {x.in(), c.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {9, 98, 7, 96}));
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "BiasAdd", {ncx}), {x.in(), c.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {9, 8, 97, 96}));
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "PReLU", {ncx}), {x.in(), c.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {-10, -20, -300, -400}));
  const Op plain = make_op(Dialect::onednn, "PReLU", {ncx, {"per_channel_broadcast", false}});
  ASSERT_TRUE(run_op(plain, {x.in(), c.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {-10, -200, -30, -400}));
  Tensor one(DType::f32, {1}, {2});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "PReLU", {ncx}), {x.in(), one.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {-2, -4, -6, -8}));
}

TEST(Map, OneDimHasNoSecondThatChannelsWouldBe) {
  Tensor x(DType::f32, {2}, {-1, -2});
  Tensor c(DType::f32, {2}, {10, 100});
  Tensor y(DType::f32, {2});
  const NamedAttribute ncx{"data_format", std::string("NCX")};
  for (const char* kind : {"BiasAdd", "PReLU"}) {
    EXPECT_EQ(run_op(make_op(Dialect::onednn, kind, {ncx}), {x.in(), c.in()}, y).code(), Code::invalid_shape) << kind;
    EXPECT_TRUE(run_op(make_op(Dialect::onednn, kind), {x.in(), c.in()}, y).ok()) << kind;
  }
  Tensor one(DType::f32, {1}, {2});
  EXPECT_TRUE(run_op(make_op(Dialect::onednn, "PReLU", {ncx}), {x.in(), one.in()}, y).ok());
  const Op backward = make_op(Dialect::onednn, "BiasAddBackward", {ncx});
  EXPECT_EQ(run_op(backward, {x.in()}, y).code(), Code::invalid_shape);
  const ConstTensor inputs[] = {x.in(), c.in(), x.in()};
  Tensor by_slope(DType::f32, {2});
  const MutableTensor outputs[] = {y.out(), by_slope.out()};
  const Status status = evaluate_op(make_op(Dialect::onednn, "PReLUBackward", {ncx}), inputs, outputs);
  EXPECT_EQ(status.code(), Code::invalid_shape);
}

TEST(Map, DtypesMixAndIntegersStayExact) {
  Tensor a(DType::s32, {2}, {2147483647, -5});
  Tensor b(DType::s32, {2}, {1, 7});
  Tensor sum(DType::s32, {2});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Add"), {a.in(), b.in()}, sum).ok());
  EXPECT_TRUE(same_values(sum.values(), {-2147483648.0, 2}));
  Tensor truth(DType::boolean, {2});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "GreaterEqual"), {a.in(), b.in()}, truth).ok());
  EXPECT_TRUE(same_values(truth.values(), {1, 0}));
  Tensor half(DType::bf16, {2}, {0.5, 0.5});
  Tensor mixed(DType::f32, {2});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Subtract"), {b.in(), half.in()}, mixed).ok());
  EXPECT_TRUE(same_values(mixed.values(), {0.5, 6.5}));
  EXPECT_EQ(run_op(make_op(Dialect::onednn, "Exp"), {a.in()}, sum).code(), Code::unsupported_dtype);
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Divide"), {b.in(), a.in()}, sum).ok());
  EXPECT_TRUE(same_values(sum.values(), {0, -1}));
}

TEST(Map, ArityAndKindsAreChecked) {
  Tensor a(DType::f32, {1});
  Tensor out(DType::f32, {1});
  EXPECT_EQ(run_op(make_op(Dialect::onednn, "Add"), {a.in()}, out).code(), Code::invalid_op);
  EXPECT_EQ(run_op(make_op(Dialect::onednn, "Abs"), {}, out).code(), Code::invalid_op);
  EXPECT_EQ(run_op(make_op(Dialect::onednn, "Wildcard"), {a.in(), a.in()}, out).code(), Code::unsupported_op);
  EXPECT_FALSE(can_evaluate(make_op(Dialect::onednn, "Wildcard")));
  EXPECT_FALSE(can_evaluate(make_op(Dialect::onnx, "ReLU"))) << "another dialect's spelling";
  const Op end = make_op(Dialect::onednn, "End");
  const ConstTensor inputs[] = {a.in()};
  EXPECT_TRUE(evaluate_op(end, inputs, {}).ok());
}

TEST(Select, BroadcastsItsCondition) {
  Tensor condition(DType::boolean, {2, 1}, {1, 0});
  Tensor a(DType::f32, {2, 2}, {1, 2, 3, kNan});
  Tensor b(DType::f32, {2}, {-1, -0.0});
  Tensor out(DType::f32, {2, 2});
  for (const auto& op : {make_op(Dialect::onednn, "Select"), make_op(Dialect::core, "select")}) {
    ASSERT_TRUE(run_op(op, {condition.in(), a.in(), b.in()}, out).ok());
    EXPECT_TRUE(same_values(out.values(), {1, 2, -1, -0.0}));
  }
}

TEST(Cast, RoundsOnce) {
  Tensor x(DType::f32, {3}, {1.00390625, 1.01171875, kNan});
  Tensor y(DType::bf16, {3});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "TypeCast"), {x.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {1, 1.015625, kNan}));
  Tensor n(DType::s32, {3});
  ASSERT_TRUE(run_op(make_op(Dialect::core, "cast"), {x.in()}, n).ok());
  EXPECT_TRUE(same_values(n.values(), {1, 1, 0}));
  Tensor wrong(DType::bf16, {1, 3});
  EXPECT_EQ(run_op(make_op(Dialect::core, "cast"), {x.in()}, wrong).code(), Code::invalid_shape);
}

TEST(Reshape, KeepsRowMajorOrder) {
  Tensor x(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  Tensor y(DType::f32, {3, 2}, {}, {1, 4});
  ASSERT_TRUE(run_op(make_op(Dialect::core, "reshape"), {x.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {1, 2, 3, 4, 5, 6}));
  Tensor wrong(DType::f32, {5});
  EXPECT_EQ(run_op(make_op(Dialect::core, "reshape"), {x.in()}, wrong).code(), Code::invalid_shape);
}

}  // namespace
}  // namespace tenfold::graph

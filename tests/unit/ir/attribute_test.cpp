// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/attribute.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tenfold::graph {
namespace {

Op op_of(Dialect dialect, const char* kind, int opset = 0) {
  Op op;
  op.dialect = dialect;
  op.kind = kind;
  op.opset = opset;
  return op;
}

TEST(Attribute, TheOpsetOfOnnxAlonePicksTheVersion) {
  EXPECT_EQ(version_of(op_of(Dialect::onnx, "Softmax", 12))->since_version, 11);
  EXPECT_EQ(version_of(op_of(Dialect::onnx, "Softmax"))->since_version, 13);
  EXPECT_EQ(version_of(op_of(Dialect::onnx, "RMSNormalization", 22)), nullptr);
  EXPECT_EQ(version_of(op_of(Dialect::onnx, "SoftMax")), nullptr) << "another dialect's spelling";
  // What was ONNX's may keep its opset.
  EXPECT_NE(version_of(op_of(Dialect::core, "map", 9)), nullptr);
}

TEST(Attribute, DefaultsAreTheVersions) {
  Op op = op_of(Dialect::onnx, "Softmax", 12);
  EXPECT_EQ(integer_attribute(op, "axis"), 1);
  op.opset = 13;
  EXPECT_EQ(integer_attribute(op, "axis"), -1);
  op.attributes = {{"axis", std::int64_t{2}}};
  EXPECT_EQ(integer_attribute(op, "axis"), 2);
  EXPECT_EQ(integer_attribute(op, "colour"), 0);
  EXPECT_EQ(integer_attribute(op_of(Dialect::onnx, "SoftMax"), "axis"), 0) << "no such op";
}

TEST(Attribute, NumbersAreThoseOfF32) {
  Op op = op_of(Dialect::onednn, "SoftPlus");
  EXPECT_EQ(f32_attribute(op, "beta"), 1);
  op.attributes = {{"beta", 0.1}};
  EXPECT_EQ(f32_attribute(op, "beta"), static_cast<double>(0.1F));
  EXPECT_EQ(f32_attribute(op, "beta", 3), static_cast<double>(0.1F));
  EXPECT_EQ(f32_attribute(op_of(Dialect::onnx, "LeakyRelu"), "alpha"), static_cast<double>(0.01F));

  const Op core = op_of(Dialect::core, "map");
  EXPECT_EQ(f32_attribute(core, "alpha"), 0);
  EXPECT_EQ(f32_attribute(core, "alpha", 0.2), static_cast<double>(0.2F));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(f32_attribute(core, "max", kInfinity), kInfinity);
}

}  // namespace
}  // namespace tenfold::graph

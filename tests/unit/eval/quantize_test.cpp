// SPDX-License-Identifier: Apache-2.0
//
// Quantization of both dialects as the reference computes it: ties, saturation, NaN, and where scales lie.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Numbers run(const Op& op, const std::vector<Tensor>& inputs, DType to) {
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  Tensor result(to, inputs[0].desc().shape);
  const Status status = run_op(op, in, result);
  EXPECT_TRUE(status.ok()) << status.message();
  return result.values();
}

Op onnx(const std::string& kind, std::vector<NamedAttribute> attributes = {}) {
  return make_op(Dialect::onnx, kind, std::move(attributes));
}

Tensor f32(Dims shape, const Numbers& numbers) { return {DType::f32, std::move(shape), numbers}; }

TEST(Quantize, AddsTheZeroPointBeforeOrAfterRounding) {
  // x / scale is 0.5, 1.5, 2.5: to 0, 2, 2 and 1 added; or 1.5, 2.5, 3.5 rounded.
  const Tensor x = f32({3}, {0.25, 0.75, 1.25});
  const Op one =
      make_op(Dialect::onednn, "Quantize", {{"scales", Numbers{0.5}}, {"zps", std::vector<std::int64_t>{1}}});
  EXPECT_TRUE(same_values(run(one, {x}, DType::s8), {2, 2, 4}));
  const Tensor scale = f32({}, {0.5});
  const Tensor zero(DType::s8, {}, {1});
  EXPECT_TRUE(same_values(run(onnx("QuantizeLinear"), {x, scale, zero}, DType::s8), {1, 3, 3}));
}

TEST(Quantize, SaturatesAndMakesNanZero) {
  const Tensor x = f32({6}, {-1e30, 1e30, kInfinity, -kInfinity, std::nan(""), -0.4});
  const Op op = make_op(Dialect::onednn, "Quantize", {{"scales", Numbers{1}}});
  EXPECT_TRUE(same_values(run(op, {x}, DType::s8), {-128, 127, 127, -128, 0, 0}));
  EXPECT_TRUE(same_values(run(op, {x}, DType::u8), {0, 255, 255, 0, 0, 0}));
  const Tensor scale = f32({}, {1});
  EXPECT_TRUE(same_values(run(onnx("QuantizeLinear"), {x, scale, Tensor(DType::s16, {}, {0})}, DType::s16),
                          {-32768, 32767, 32767, -32768, 0, 0}));
}

TEST(Quantize, ByChannelsBlocksAndGroups) {
  const Tensor x = f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Op channels = make_op(Dialect::onednn, "Quantize",
                              {{"qtype", "per_channel"}, {"axis", std::int64_t{0}}, {"scales", Numbers{1, 0.5}}});
  EXPECT_TRUE(same_values(run(channels, {x}, DType::u8), {1, 2, 3, 4, 10, 12, 14, 16}));
  // Blocks of 3: the last has one element.
  const Tensor scales = f32({2, 2}, {1, 0.5, 0.25, 2});
  const Op blocks = onnx("QuantizeLinear", {{"axis", std::int64_t{-1}}, {"block_size", std::int64_t{3}}});
  EXPECT_TRUE(same_values(run(blocks, {x, scales}, DType::u8), {1, 2, 3, 8, 20, 24, 28, 4}));

  const Tensor q(DType::u8, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor zero(DType::s32, {1, 2}, {1, 300});
  const Tensor group = Tensor(DType::f16, {1, 2}, {0.5, 2});
  const Op groups = make_op(Dialect::onednn, "DynamicDequantize",
                            {{"qtype", "per_group"}, {"group_shape", std::vector<std::int64_t>{2, 2}}});
  EXPECT_TRUE(same_values(run(groups, {q, group, zero}, DType::f16), {0, 0.5, -594, -592, 2, 2.5, -586, -584}));
}

TEST(Quantize, Dynamically) {
  const auto expect = [](const Numbers& numbers, const Numbers& y, double scale, double zero) {
    const Tensor x = f32({static_cast<std::int64_t>(numbers.size())}, numbers);
    Tensor result(DType::u8, x.desc().shape);
    Tensor found_scale(DType::f32, {});
    Tensor found_zero(DType::u8, {});
    const std::vector<ConstTensor> inputs{x.in()};
    const std::vector<MutableTensor> outputs{result.out(), found_scale.out(), found_zero.out()};
    const Status status = evaluate_op(onnx("DynamicQuantizeLinear"), inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(same_values(result.values(), y));
    EXPECT_EQ(found_scale.at(0), scale);
    EXPECT_EQ(found_zero.at(0), zero);
  };
  // The range is that of the elements and 0.
  expect({2, 510}, {1, 255}, 2, 0);
  expect({-510, -2}, {0, 254}, 2, 255);
  expect({-100, 155, 0.5}, {0, 255, 100}, 1, 100);
  expect({0, 0}, {0, 0}, 0, 0);
  expect({}, {}, 0, 0);
}

TEST(Quantize, RefusesWhatDoesNotFit) {
  const Tensor x = f32({2, 3}, {});
  Tensor y(DType::s8, {2, 3});
  const Op op = make_op(Dialect::onednn, "Quantize", {{"qtype", "per_channel"}, {"scales", Numbers{1, 2}}});
  EXPECT_EQ(run_op(op, {x.in()}, y).code(), Code::invalid_shape);
}

TEST(Quantize, F8SaturatesAndKeepsNan) {
  const auto expect = [](DType dtype, const std::vector<double>& x, const std::vector<double>& bits) {
    const Tensor in = f32({static_cast<std::int64_t>(x.size())}, x);
    Tensor out(dtype, in.desc().shape), back(DType::f32, in.desc().shape);
    ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Quantize", {{"scales", Numbers{2}}}), {in.in()}, out).ok());
    std::vector<double> got;
    for (const std::byte byte : out.bytes()) got.push_back(static_cast<double>(byte));
    EXPECT_EQ(got, bits) << to_string(dtype);
    ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Dequantize", {{"scales", Numbers{2}}}), {out.in()}, back).ok());
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(same(back.at(static_cast<std::int64_t>(i)), 2 * out.at(static_cast<std::int64_t>(i))));
  };
  // 1, -1.5, a tie to even, half the least subnormal (to even: 0) and a bit more, the greatest, beyond it, -0, NaN.
  expect(DType::f8_e4m3, {2, -3, 2.125, 0x1p-9, 0x1.2p-9, 896, 1e9, -0.0, std::nan("")},
         {0x38, 0xbc, 0x38, 0, 1, 0x7e, 0x7e, 0x80, 0x7f});
  expect(DType::f8_e5m2, {2, -3, 2.25, 0x1p-16, 0x1.2p-16, 114688, 1e9, -0.0, std::nan("")},
         {0x3c, 0xbe, 0x3c, 0, 1, 0x7b, 0x7b, 0x80, 0x7e});
}

/// ONNX's formula is the same for every dtype, and so undone by its inverse.
TEST(Quantize, ZeroPointsOfF8AreAddedAndSubtracted) {
  const Tensor x = f32({2}, {1, 3}), scale = f32({}, {1});
  for (const DType dtype : {DType::f8_e4m3, DType::f8_e5m2}) {
    const Tensor zero(dtype, {}, {2});
    Tensor out(dtype, {2}), back(DType::f32, {2});
    Op op = make_op(Dialect::onnx, "QuantizeLinear", {});
    op.opset = 19;
    ASSERT_TRUE(run_op(op, {x.in(), scale.in(), zero.in()}, out).ok());
    EXPECT_EQ(out.at(0), 3);
    EXPECT_EQ(out.at(1), 5);
    op.kind = "DequantizeLinear";
    ASSERT_TRUE(run_op(op, {out.in(), scale.in(), zero.in()}, back).ok());
    EXPECT_EQ(back.at(0), 1);
    EXPECT_EQ(back.at(1), 3);
  }
}

TEST(Quantize, F8OverflowsWithoutSaturation) {
  const Tensor x = f32({4}, {1, 1e9, -1e9, std::nan("")}), scale = f32({}, {1});
  const auto expect = [&](DType dtype, const std::vector<double>& bits) {
    Op op = make_op(Dialect::onnx, "QuantizeLinear", {{"saturate", std::int64_t{0}}});
    op.opset = 19;
    Tensor out(dtype, {4});
    ASSERT_TRUE(run_op(op, {x.in(), scale.in()}, out).ok());
    std::vector<double> got;
    for (const std::byte byte : out.bytes()) got.push_back(static_cast<double>(byte));
    EXPECT_EQ(got, bits) << to_string(dtype);
  };
  expect(DType::f8_e4m3, {0x38, 0x7f, 0x7f, 0x7f});
  expect(DType::f8_e5m2, {0x3c, 0x7c, 0xfc, 0x7e});
}

TEST(Quantize, FourBitsAreTwoInAByte) {
  Tensor low(DType::s4, {3}, {-8, 7, -1});
  EXPECT_EQ(low.bytes().size(), 2U);
  EXPECT_EQ(low.bytes()[0], std::byte{0x78});
  Tensor back(DType::f32, {3});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Dequantize", {{"scales", Numbers{0.5}}}), {low.in()}, back).ok());
  EXPECT_TRUE(same_values(back.values(), {-4, 3.5, -0.5}));
  Tensor high(DType::u4, {4});
  const Tensor x = f32({4}, {3, 100, -5, std::nan("")});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "Quantize", {{"scales", Numbers{1}}}), {x.in()}, high).ok());
  EXPECT_TRUE(same_values(high.values(), {3, 15, 0, 0}));
}

}  // namespace
}  // namespace tenfold::graph

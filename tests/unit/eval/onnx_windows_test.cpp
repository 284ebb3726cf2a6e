// SPDX-License-Identifier: Apache-2.0
//
// ONNX's products of matrices, convolutions and pools as the reference computes them: what they have beyond oneDNN's
// ops of the same meaning. (Those have tests of their own; ONNX's published cases are run by tests/conformance.)
#include <gtest/gtest.h>

#include "numeric_types.hpp"

namespace tenfold::graph {
namespace {

using Values = std::vector<double>;
using Integers = std::vector<std::int64_t>;
constexpr std::int64_t kOne = 1;

Op onnx(const char* kind, std::vector<NamedAttribute> attributes = {}) {
  return make_op(Dialect::onnx, kind, std::move(attributes));
}

const Tensor kFirst(DType::f32, {2, 2}, {1, 2, 3, 4}), kSecond(DType::f32, {2, 2}, {5, 6, 7, 8});

TEST(OnnxMatMul, WholeNumbersWrap) {
  const Tensor a(DType::s32, {1, 2}, {0x7fffffff, 2}), b(DType::s32, {2, 1}, {2, 1});
  EXPECT_EQ(result_of(onnx("MatMul"), {a.in(), b.in()}, DType::s32, {1, 1}).values(), (Values{0}));
  const Tensor c(DType::u64, {2}, {3, 4}), d(DType::u64, {3, 2, 2}, {1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3});
  EXPECT_EQ(result_of(onnx("MatMul"), {c.in(), d.in()}, DType::u64, {3, 2}).values(), (Values{3, 4, 6, 8, 9, 12}));
}

TEST(OnnxGemm, HasFactors) {
  const Tensor row(DType::f32, {2}, {1, -1});
  const Op both = onnx("Gemm", {{"alpha", 0.5}, {"beta", 4.0}, {"transA", kOne}});
  EXPECT_EQ(result_of(both, {kFirst.in(), kSecond.in(), row.in()}, DType::f32, {2, 2}).values(),
            (Values{17, 11, 23, 18}));
  EXPECT_EQ(result_of(onnx("Gemm", {{"beta", 4.0}}), {kFirst.in(), kSecond.in()}, DType::f32, {2, 2}).values(),
            (Values{19, 22, 43, 50}));
}

TEST(OnnxGemm, OfWholeNumbersTakesWholeFactors) {
  const Tensor a(DType::s64, {1, 2}, {1, 2}), b(DType::s64, {2, 1}, {3, 4}), c(DType::s64, {}, {5});
  const auto gemm = [&](double alpha) { return onnx("Gemm", {{"alpha", alpha}, {"beta", -1.0}}); };
  EXPECT_EQ(result_of(gemm(2), {a.in(), b.in(), c.in()}, DType::s64, {1, 1}).values(), (Values{17}));
  Tensor out(DType::s64, {1, 1});
  EXPECT_EQ(run_op(gemm(0.5), {a.in(), b.in(), c.in()}, out).code(), Code::unsupported_op);
}

const Tensor kImage(DType::f32, {1, 1, 3, 4}, {1, 2, 9, 4, 5, 9, 7, 8, 3, 3, 3, 3});

Status pooled(const Op& op, Tensor& values, Tensor& indices) {
  const ConstTensor in[] = {kImage.in()};
  const MutableTensor out[] = {values.out(), indices.out()};
  return evaluate_op(op, in, out);
}

TEST(OnnxMaxPool, TellsWhereTheFirstOfEqualsIs) {
  for (const bool columns_first : {false, true}) {
    const Op op =
        onnx("MaxPool", {{"kernel_shape", Integers{2, 2}}, {"storage_order", std::int64_t{columns_first ? 1 : 0}}});
    Tensor values(DType::f32, {1, 1, 2, 3}), indices(DType::s64, {1, 1, 2, 3});
    ASSERT_TRUE(pooled(op, values, indices).ok());
    EXPECT_EQ(values.values(), (Values{9, 9, 9, 9, 9, 8}));
    // Row by row 2 is the 9 above; column by column that is 6, and the 9 below it 4.
    EXPECT_EQ(indices.values(), columns_first ? (Values{4, 6, 6, 4, 4, 10}) : (Values{5, 2, 2, 5, 5, 7}));
  }
}

TEST(OnnxMaxPool, OfBytes) {
  const Tensor bytes(DType::s8, {1, 1, 3}, {-128, -5, -7});
  const Op op = onnx("MaxPool", {{"kernel_shape", Integers{2}}});
  EXPECT_EQ(result_of(op, {bytes.in()}, DType::s8, {1, 1, 2}).values(), (Values{-5, -5}));
}

TEST(OnnxPool, CountsNoWindowThatBeginsInThePadsAtTheEnd) {
  // By rounding up there would be windows at 0, 2 and 4; the last begins in the pad.
  const Tensor line(DType::f32, {1, 1, 4}, {1, 2, 3, 4});
  const Op op =
      onnx("MaxPool",
           {{"kernel_shape", Integers{1}}, {"strides", Integers{2}}, {"pads", Integers{0, 1}}, {"ceil_mode", kOne}});
  EXPECT_EQ(result_of(op, {line.in()}, DType::f32, {1, 1, 2}).values(), (Values{1, 3}));
}

TEST(OnnxAveragePool, CountsPadsButNotWhatIsBeyondThem) {
  const Tensor line(DType::f32, {1, 1, 4}, {12, 24, 36, 48});
  const Op op = onnx("AveragePool", {{"kernel_shape", Integers{4}},
                                     {"strides", Integers{3}},
                                     {"pads", Integers{1, 1}},
                                     {"count_include_pad", kOne},
                                     {"ceil_mode", kOne}});
  // pad 12 24 36 | 36 48 pad (beyond): four, then three.
  EXPECT_EQ(result_of(op, {line.in()}, DType::f32, {1, 1, 2}).values(), (Values{18, 28}));
}

TEST(OnnxAveragePool, HasDilations) {
  const Tensor line(DType::f32, {1, 1, 5}, {1, 2, 3, 4, 5});
  const Op op = onnx("AveragePool", {{"kernel_shape", Integers{2}}, {"dilations", Integers{3}}});
  EXPECT_EQ(result_of(op, {line.in()}, DType::f32, {1, 1, 2}).values(), (Values{2.5, 3.5}));
}

TEST(OnnxConvTranspose, PadsFollowFromTheShape) {
  const Tensor line(DType::f32, {1, 1, 2}, {1, 10}), weights(DType::f32, {1, 1, 3}, {1, 2, 3});
  const auto of = [&](std::int64_t length, const char* mode) {
    const Op op = onnx("ConvTranspose",
                       {{"strides", Integers{2}}, {"output_shape", Integers{length}}, {"auto_pad", std::string(mode)}});
    return result_of(op, {line.in(), weights.in()}, DType::f32, {1, 1, length}).values();
  };
  // Unpadded it is 1 2 13 20 30; the odd pad is at the end under SAME_UPPER, else at the beginning.
  EXPECT_EQ(of(5, "NOTSET"), (Values{1, 2, 13, 20, 30}));
  EXPECT_EQ(of(4, "NOTSET"), (Values{2, 13, 20, 30}));
  EXPECT_EQ(of(4, "SAME_UPPER"), (Values{1, 2, 13, 20}));
  EXPECT_EQ(of(2, "SAME_LOWER"), (Values{13, 20}));
  EXPECT_EQ(of(7, "NOTSET"), (Values{1, 2, 13, 20, 30, 0, 0}));
}

}  // namespace
}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// The storage types f8, s4 and u4 where they are cast, asked about and moved.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();

void expect(const Op& op, const Tensor& input, DType dtype, const Dims& shape, const Numbers& numbers) {
  Tensor result(dtype, shape);
  const Status status = run_op(op, {input.in()}, result);
  ASSERT_TRUE(status.ok()) << op.kind << ": " << status.message();
  EXPECT_TRUE(same_values(result.values(), numbers)) << op.kind << " to " << to_string(dtype);
}

TEST(Narrow, CastsToF8SaturateUnlessToldNotTo) {
  const Tensor x(DType::f32, {5}, {1, 1e9, -1e9, kInf, std::nan("")});
  expect(make_op(Dialect::onnx, "Cast"), x, DType::f8_e4m3, {5}, {1, 448, -448, 448, std::nan("")});
  expect(make_op(Dialect::core, "cast"), x, DType::f8_e5m2, {5}, {1, 57344, -57344, 57344, std::nan("")});
  const Op plain = make_op(Dialect::onnx, "Cast", {{"saturate", std::int64_t{0}}});
  expect(plain, x, DType::f8_e4m3, {5}, {1, std::nan(""), std::nan(""), std::nan(""), std::nan("")});
  expect(plain, x, DType::f8_e5m2, {5}, {1, kInf, -kInf, kInf, std::nan("")});
  Tensor infinite(DType::f8_e5m2, {2}, {kInf, 2});
  expect(make_op(Dialect::onnx, "Identity"), infinite, DType::f8_e5m2, {2}, {kInf, 2});
  expect(make_op(Dialect::onnx, "IsInf"), infinite, DType::boolean, {2}, {1, 0});
  expect(make_op(Dialect::onnx, "Cast"), infinite, DType::f32, {2}, {kInf, 2});
}

TEST(Narrow, CastsToFourBitsAsToOtherIntegers) {
  const Tensor x(DType::f32, {5}, {1.9, -1.9, 100, -100, std::nan("")});
  expect(make_op(Dialect::onnx, "Cast"), x, DType::s4, {5}, {1, -1, 7, -8, 0});
  expect(make_op(Dialect::onnx, "Cast"), x, DType::u4, {5}, {1, 0, 15, 0, 0});
  const Tensor whole(DType::s32, {4}, {7, 8, -1, 18});
  expect(make_op(Dialect::onnx, "Cast"), whole, DType::s4, {4}, {7, -8, -1, 2});
  expect(make_op(Dialect::onnx, "Cast"), whole, DType::u4, {4}, {7, 8, 15, 2});
  const Tensor four(DType::s4, {3}, {-8, 7, -1});
  expect(make_op(Dialect::onnx, "Cast"), four, DType::u8, {3}, {248, 7, 255});
  expect(make_op(Dialect::onnx, "Cast"), four, DType::s64, {3}, {-8, 7, -1});
  expect(make_op(Dialect::onnx, "Cast"), four, DType::f16, {3}, {-8, 7, -1});
}

TEST(Narrow, Moves) {
  for (const DType dtype : {DType::s4, DType::u4, DType::f8_e4m3, DType::f8_e5m2}) {
    const Tensor x(dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    expect(make_op(Dialect::onnx, "Transpose"), x, dtype, {3, 2}, {1, 4, 2, 5, 3, 6});
    expect(make_op(Dialect::core, "transpose", {{"permutation", Integers{1, 0}}}), x, dtype, {3, 2},
           {1, 4, 2, 5, 3, 6});
    expect(make_op(Dialect::onnx, "Flatten", {{"axis", std::int64_t{0}}}), x, dtype, {1, 6}, {1, 2, 3, 4, 5, 6});
    expect(make_op(Dialect::core, "map", {{"function", "identity"}}), x, dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    expect(make_op(Dialect::onnx, "Shape"), x, DType::s64, {2}, {2, 3});
  }
}

TEST(Narrow, ComputesNothing) {
  const Tensor x(DType::f8_e4m3, {2}, {1, 2});
  Tensor result(DType::f8_e4m3, {2});
  const Status status = run_op(make_op(Dialect::onnx, "Neg"), {x.in()}, result);
  EXPECT_EQ(status.code(), Code::unsupported_dtype);
  EXPECT_EQ(status.message(), "op 7 'it' (Neg): input 0 is f8_e4m3, in which the reference cannot compute");
}

}  // namespace
}  // namespace tenfold::graph

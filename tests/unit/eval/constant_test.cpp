// SPDX-License-Identifier: Apache-2.0
//
// onnx.Constant, evaluated as an op.
#include <gtest/gtest.h>

#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

TEST(Constant, GivesItsAttribute) {
  const auto expect_value = [](const char* name, Attribute value, DType dtype, const Dims& shape,
                               const Numbers& numbers) {
    Tensor result(dtype, shape);
    const Status status = run_op(make_op(Dialect::onnx, "Constant", {{name, std::move(value)}}), {}, result);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(same_values(result.values(), numbers)) << name;
  };
  expect_value("value_float", 2.5, DType::f32, {}, {2.5});
  expect_value("value_floats", Numbers{1, 0.5}, DType::f32, {2}, {1, 0.5});
  expect_value("value_int", std::int64_t{-5}, DType::s64, {}, {-5});
  expect_value("value_ints", Integers{3, 4, 5}, DType::s64, {3}, {3, 4, 5});
  expect_value("value_floats", Numbers{}, DType::f32, {0}, {});
}

}  // namespace
}  // namespace tenfold::graph

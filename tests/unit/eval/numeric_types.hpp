// SPDX-License-Identifier: Apache-2.0
//
// Tensors of exact elements for the tests of the evaluator: Tensor's doubles cannot tell 2^53 from 2^53 + 1.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/eval/element.hpp"
#include "tensors.hpp"

namespace tenfold::graph {

inline constexpr DType kFloating[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
inline constexpr DType kIntegers[] = {DType::s8,  DType::u8,  DType::s16, DType::u16,
                                      DType::s32, DType::u32, DType::s64, DType::u64};

inline Tensor exact(DType dtype, Dims shape, const std::vector<Integer>& values) {
  Tensor tensor(dtype, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i)
    store_integer(dtype, tensor.out().data, static_cast<std::int64_t>(i), values[i]);
  return tensor;
}

inline std::int64_t exact_at(const Tensor& tensor, std::int64_t index) {
  return static_cast<std::int64_t>(load_integer(tensor.desc().dtype, tensor.in().data, index));
}

/// Runs the op and gives its only output; a failure is a failed expectation and an output as it was.
inline Tensor result_of(const Op& op, const std::vector<ConstTensor>& inputs, DType dtype, Dims shape) {
  Tensor output(dtype, std::move(shape));
  const Status s = run_op(op, inputs, output);
  EXPECT_TRUE(s.ok()) << s.message();
  return output;
}

}  // namespace tenfold::graph

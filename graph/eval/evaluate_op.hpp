// SPDX-License-Identifier: Apache-2.0
//
// The families of ops that eval.cpp sends each op to. Tensors have passed its checks: dtypes with elements, sound
// strides, data where there are elements.
#pragma once

#include <span>
#include <string_view>

#include "graph/eval/eval.hpp"
#include "graph/eval/op_rows.hpp"

namespace tenfold::graph {

bool is_reduction(std::string_view name) noexcept;
bool is_arg_reduction(std::string_view name) noexcept;

Status evaluate_reduce(const Op& op, std::string_view reduction, std::span<const ConstTensor> inputs,
                       const MutableTensor& output);
Status evaluate_arg_reduce(const Op& op, std::string_view mode, const ConstTensor& input, const MutableTensor& output);
Status evaluate_map(const Op& op, const OpRow& row, std::string_view function, std::span<const ConstTensor> inputs,
                    const MutableTensor& output);
Status evaluate_select(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs,
                       const MutableTensor& output);

/// Of tensors of one shape. What becomes f8 stops at its greatest finite numbers, but with ONNX's `saturate` = 0.
Status evaluate_cast(const Op& op, const ConstTensor& input, const MutableTensor& output);

/// Element by element in row-major order, with conversion; the shapes need only have as many elements.
Status evaluate_copy(const Op& op, const ConstTensor& input, const MutableTensor& output);

/// invalid_shape unless `output` has the shape `expected`.
Status expect_shape(const Op& op, const MutableTensor& output, const Dims& expected);

}  // namespace tenfold::graph

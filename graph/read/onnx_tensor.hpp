// SPDX-License-Identifier: Apache-2.0
//
// ONNX's tensors and tensor types in the terms of the graph: dtypes, shapes with symbolic dims, and the elements of
// initializers, wherever in a TensorProto, or outside of it, they stand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "graph/read/onnx.hpp"
#include "tenfold/status.hpp"

namespace onnx {
class TensorProto;
class ValueInfoProto;
}  // namespace onnx

namespace tenfold::graph {

/// What a model's constants may take, and what they have taken.
struct OnnxBudget {
  const OnnxOptions& options;
  std::size_t used = 0;
};

/// unsupported_dtype for strings, complex numbers and what came after us; invalid_dtype for UNDEFINED. `what` names the
/// tensor in messages.
Result<DType> onnx_dtype(int data_type, const std::string& what);

/// The tensor as a constant (without id), its elements row-major.
Result<Value> onnx_constant(const onnx::TensorProto& tensor, const std::string& what, OnnxBudget& budget);

/// Dtype and shape that `info` gives to `value`. unsupported_dtype for sequences, maps, optionals and sparse tensors.
Status read_value_info(const onnx::ValueInfoProto& info, const std::string& what, Value& value);

}  // namespace tenfold::graph

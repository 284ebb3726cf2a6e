// SPDX-License-Identifier: Apache-2.0
//
// Heavy ops (MatMul, Convolution, ...) stay what they are, but f32: those of 16-bit floats become casts to f32, the op
// in f32, and a cast back. So their products are summed in f32 on every CPU, and the casts fuse with what is before and
// after them. A bias that no library adds on the way becomes an addition of its own. So do the factors of
// ONNX's Gemm become multiplications, where they are not 1.
#include <algorithm>
#include <string_view>
#include <vector>

#include "graph/ir/attribute.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/ir/twin.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

bool is_narrow(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

/// One element a column of what MatMul gives, as far as is known, and more than one column: rows of one element do not
/// lie densely, and with a bias they cannot be taken for a column.
bool is_row(const Dims& bias, const Dims& result) {
  return !bias.empty() && !result.empty() && bias.back() == result.back() && bias.back() != kUnknownDim &&
         bias.back() != 1 && std::all_of(bias.begin(), bias.end() - 1, [](std::int64_t extent) { return extent == 1; });
}

/// Libraries read the elements of a bias one after the other, whatever its strides are.
bool is_dense(const Value& bias) { return bias.strides.empty() || bias.shape.back() == 1 || bias.strides.back() == 1; }

bool adds_bias_apart(const Composer& make, const Op& op) {
  if (op.inputs.size() < 3 || op.inputs[2] == kNone) return false;
  const bool takes_bias = op.kind == "MatMul" || op.kind == "Convolution" || op.kind == "ConvTranspose";
  if (takes_bias && !is_dense(make.graph().values[op.inputs[2]])) return true;
  if (op.kind == "MatMul") return !is_row(make.shape(op.inputs[2]), make.shape(op.outputs[0]));
  return op.kind == "ConvTranspose";
}

/// The bias so that it broadcasts to the result.
ValueId bias_of(Composer& make, const Op& op, ValueId bias) {
  if (op.kind == "MatMul") return bias;
  const std::size_t rank = make.shape(op.outputs[0]).size();
  return make.along(bias, channel_dim(op, rank), rank);
}

}  // namespace

bool decompose_heavy(Composer& make, const Op& op) {
  const auto narrow = [&](ValueId v) { return v != kNone && is_narrow(make.dtype(v)); };
  const bool apart = adds_bias_apart(make, op);
  if (!apart && std::none_of(op.inputs.begin(), op.inputs.end(), narrow) &&
      std::none_of(op.outputs.begin(), op.outputs.end(), narrow))
    return false;
  std::vector<ValueId> inputs;
  for (const ValueId v : op.inputs) inputs.push_back(narrow(v) ? make.cast(v, DType::f32) : v);
  const ValueId bias = apart ? inputs[2] : kNone;
  if (apart) inputs.resize(2);
  std::vector<DType> dtypes;
  for (const ValueId v : op.outputs)
    dtypes.push_back(narrow(v) ? DType::f32 : v == kNone ? DType::undef : make.dtype(v));
  std::vector<ValueId> outputs = make.again(inputs, dtypes);
  if (apart) outputs[0] = make.map("add", {outputs[0], bias_of(make, op, bias)});
  for (std::size_t i = 0; i < outputs.size(); ++i) make.give(i, outputs[i]);
  return true;
}

bool decompose_gemm(Composer& make, const Op& op) {
  if (make.dtype(op.inputs[0]) != DType::f32 && !is_narrow(make.dtype(op.inputs[0]))) return false;
  std::vector<ValueId> inputs;
  for (const ValueId v : op.inputs)
    if (v != kNone) inputs.push_back(make.cast(v, DType::f32));
  const ValueId c = inputs.size() > 2 ? inputs[2] : kNone;
  inputs.resize(2);
  ValueId result = make.again(inputs, {DType::f32}, onednn_twin(op, {})->op)[0];
  const auto times = [&](ValueId x, std::string_view name) {
    const double factor = f32_attribute(op, name);
    return factor == 1 ? x : make.map("mul", x, factor);
  };
  result = times(result, "alpha");
  if (c != kNone) result = make.map("add", {result, times(c, "beta")});
  make.give(0, result);
  return true;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// The evaluator's door for single ops: checks of the tensors, then dispatch by the op's row.
#include "graph/eval/eval.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "graph/eval/composite.hpp"
#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/functions.hpp"
#include "graph/eval/narrow.hpp"
#include "graph/eval/op_rows.hpp"
#include "graph/eval/run.hpp"
#include "graph/eval/shapes.hpp"

namespace tenfold::graph {
namespace {

/// Whether the op may be given the storage types: those that go between them and what is computed in, ask what an
/// element is, or move it.
bool takes_narrow(const Op& op) {
  static constexpr std::string_view kFunctions[] = {"identity", "isinf", "isnan"};
  static constexpr std::string_view kKinds[] = {"Quantize",
                                                "Dequantize",
                                                "DynamicQuantize",
                                                "DynamicDequantize",
                                                "QuantizeLinear",
                                                "DequantizeLinear",
                                                "Cast",
                                                "CastLike",
                                                "cast",
                                                "Identity",
                                                "IsInf",
                                                "IsNaN",
                                                "Flatten",
                                                "Reshape",
                                                "reshape",
                                                "Squeeze",
                                                "Unsqueeze",
                                                "Transpose",
                                                "transpose",
                                                "Shape",
                                                "Size"};
  if (op.kind == "map")
    return std::find(std::begin(kFunctions), std::end(kFunctions), attribute_or<std::string>(op, "function", "")) !=
           std::end(kFunctions);
  return std::find(std::begin(kKinds), std::end(kKinds), op.kind) != std::end(kKinds);
}

Status check_tensor(const Op& op, const char* role, std::size_t index, const TensorDesc& desc, const void* data,
                    bool narrow) {
  const std::string where = std::string(role) + " " + std::to_string(index);
  if (!has_elements(desc.dtype) && !(is_narrow(desc.dtype) && narrow))
    return fail(op, Code::unsupported_dtype,
                where + " is " + std::string(to_string(desc.dtype)) + ", in which the reference cannot compute");
  const Result<std::int64_t> bytes = span_bytes(desc);
  if (!bytes.ok()) return fail(op, bytes.status().about(where));
  if (bytes.value() > 0 && data == nullptr) return fail(op, Code::invalid_argument, where + " has no data");
  return {};
}

Status check_output(const Op& op, std::size_t index, const MutableTensor& output, bool narrow) {
  const TensorDesc& desc = output.desc;
  if (Status s = check_tensor(op, "output", index, desc, output.data, narrow); !s.ok()) return s;
  for (std::size_t d = 0; d < desc.strides.size(); ++d)
    if (desc.strides[d] == 0 && desc.shape[d] > 1)
      return fail(op, Code::invalid_shape,
                  "output " + std::to_string(index) + " has stride 0 along a dim of " + std::to_string(desc.shape[d]) +
                      ", which only inputs may have");
  return {};
}

Status check_counts(const Op& op, const OpRow& row, std::size_t inputs, std::size_t outputs) {
  const std::size_t wanted = row.family == Family::end ? 0 : 1;
  if (outputs != wanted)
    return fail(op, Code::invalid_op, std::to_string(outputs) + " outputs, not " + std::to_string(wanted));
  if (inputs == 0) return fail(op, Code::invalid_op, "it has no input");
  if (row.family == Family::reduce && inputs > 2)
    return fail(op, Code::invalid_op, std::to_string(inputs) + " inputs for a reduction, which takes 1 or 2");
  if (row.family == Family::arg_reduce && inputs > 1)
    return fail(op, Code::invalid_op, std::to_string(inputs) + " inputs for an arg-reduction, which takes 1");
  return {};
}

/// Only the axes of a reduction and the bounds of a clip may be left out.
bool may_be_missing(const OpRow& row, std::string_view name, std::size_t index) {
  return index > 0 && (row.family == Family::reduce || (row.family == Family::map && name == "clip"));
}

}  // namespace

Status expect_shape(const Op& op, const MutableTensor& output, const Dims& expected) {
  if (output.desc.shape == expected) return {};
  return fail(op, Code::invalid_shape, "the output must have shape " + tenfold::to_string(expected));
}

bool can_evaluate(const Op& op) noexcept {
  if (find_composite(op) != nullptr) return true;
  const OpRow* row = find_op_row(op);
  if (row == nullptr) return false;
  const std::string name = function_name(op, *row);
  switch (row->family) {
    case Family::reduce: return is_reduction(name);
    case Family::arg_reduce: return is_arg_reduction(name);
    case Family::map:
    case Family::channel_map: return find_function(name) != nullptr;
    default: return true;
  }
}

Status evaluate_op(const Op& op, std::span<const ConstTensor> inputs, std::span<const MutableTensor> outputs) {
  const CompositeRow* composite = find_composite(op);
  const OpRow* row = composite == nullptr ? find_op_row(op) : nullptr;
  if (row == nullptr && composite == nullptr)
    return fail(op, Code::unsupported_op, "the reference evaluator does not know it");
  std::string name;
  if (row != nullptr) {
    if (Status s = check_counts(op, *row, inputs.size(), outputs.size()); !s.ok()) return s;
    name = function_name(op, *row);
  }
  const bool narrow = takes_narrow(op);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_missing(inputs[i]) && (row == nullptr ? i > 0 : may_be_missing(*row, name, i))) continue;
    if (Status s = check_tensor(op, "input", i, inputs[i].desc, inputs[i].data, narrow); !s.ok()) return s;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (Status s = check_output(op, i, outputs[i], narrow); !s.ok()) return s;
  if (composite != nullptr) return evaluate_composite(*composite, op, inputs, outputs);
  switch (row->family) {
    case Family::reduce: return evaluate_reduce(op, name, inputs, outputs[0]);
    case Family::arg_reduce: return evaluate_arg_reduce(op, name, inputs[0], outputs[0]);
    case Family::map:
    case Family::channel_map: return evaluate_map(op, *row, name, inputs, outputs[0]);
    case Family::select: return evaluate_select(op, *row, inputs, outputs[0]);
    case Family::cast:
      if (Status s = expect_shape(op, outputs[0], inputs[0].desc.shape); !s.ok()) return s;
      return evaluate_cast(op, inputs[0], outputs[0]);
    case Family::reshape: return evaluate_copy(op, inputs[0], outputs[0]);
    case Family::end: return {};
  }
  return {};
}

Status evaluate(const Graph& graph, std::span<const ConstTensor> inputs, std::span<const MutableTensor> outputs) {
  return run_graph(graph, inputs, outputs, nullptr);
}

}  // namespace tenfold::graph

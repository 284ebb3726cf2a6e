// SPDX-License-Identifier: Apache-2.0
//
// Rules on the values of ONNX's attributes that the op tables cannot say: flags are integers there, dtypes are numbers
// of TensorProto.DataType (onnx.proto), and a Constant has its value in one of several attributes.
#include <algorithm>
#include <string>
#include <string_view>

#include "graph/check/quantize.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"

namespace tenfold::graph {
namespace {

constexpr std::string_view kFlags[] = {"keepdims",
                                       "noop_with_empty_axes",
                                       "select_last_index",
                                       "broadcast",
                                       "fmod",
                                       "detect_negative",
                                       "detect_positive",
                                       "saturate",
                                       "allowzero",
                                       "exclusive",
                                       "reverse",
                                       "largest",
                                       "sorted",
                                       "is_test",
                                       "spatial",
                                       "training_mode",
                                       "transA",
                                       "transB",
                                       "ceil_mode",
                                       "storage_order",
                                       "count_include_pad"};

struct DTypeNumber {
  std::int64_t number;
  std::string_view name;
  DType dtype;
};

constexpr DTypeNumber kNumbers[] = {
    {1, "FLOAT", DType::f32},
    {2, "UINT8", DType::u8},
    {3, "INT8", DType::s8},
    {4, "UINT16", DType::u16},
    {5, "INT16", DType::s16},
    {6, "INT32", DType::s32},
    {7, "INT64", DType::s64},
    {9, "BOOL", DType::boolean},
    {10, "FLOAT16", DType::f16},
    {11, "DOUBLE", DType::f64},
    {12, "UINT32", DType::u32},
    {13, "UINT64", DType::u64},
    {16, "BFLOAT16", DType::bf16},
    {17, "FLOAT8E4M3FN", DType::f8_e4m3},
    {19, "FLOAT8E5M2", DType::f8_e5m2},
    {21, "UINT4", DType::u4},
    {22, "INT4", DType::s4},
};

Status check_cast_target(const Op& op) {
  if (onnx_cast_target(op) != DType::undef) return {};
  const Attribute& to = *find_attribute(op, "to");
  const auto* number = std::get_if<std::int64_t>(&to);
  return refuse(Code::unsupported_dtype, op,
                "attribute 'to' is " +
                    (number != nullptr ? std::to_string(*number) : "'" + std::get<std::string>(to) + "'") +
                    ", which is no dtype of this version; FLOAT is 1, INT64 is 7, BFLOAT16 is 16",
                "cast.T3");
}

Status check_constant(const Graph& graph, const Op& op) {
  if (op.attributes.size() != 1)
    return refuse(Code::invalid_op, op,
                  std::to_string(op.attributes.size()) +
                      " attributes give its value, must be one; a tensor is written as 'data' of the tensor that "
                      "takes its place",
                  "onnx.K2");
  const std::string& name = op.attributes[0].name;
  const DType dtype = name.starts_with("value_float") ? DType::f32 : DType::s64;
  const DType given = graph.values[op.outputs[0]].dtype;
  if (given == DType::undef || given == dtype) return {};
  return refuse(Code::invalid_dtype, op,
                "attribute '" + name + "' makes it " + std::string(to_string(dtype)) + ", but " +
                    describe(graph.values[op.outputs[0]]) + " is " + std::string(to_string(given)),
                "onnx.K3");
}

/// onnx.K4: the dtype that a quotient has before it is quantised.
Status check_precision(const Op& op) {
  const auto number = attribute_or<std::int64_t>(op, "precision", 0);
  if (number == 0 || is_floating(onnx_dtype(number))) return {};
  return refuse(
      Code::invalid_op, op,
      "attribute 'precision' is " + std::to_string(number) + ", must be that of a float: FLOAT is 1, FLOAT16 10",
      "onnx.K4");
}

}  // namespace

DType onnx_dtype(std::int64_t number) noexcept {
  const auto* row =
      std::find_if(std::begin(kNumbers), std::end(kNumbers), [&](const DTypeNumber& r) { return r.number == number; });
  return row == std::end(kNumbers) ? DType::undef : row->dtype;
}

DType onnx_cast_target(const Op& op) {
  const auto number = attribute_or<std::int64_t>(op, "to", 0);
  const auto name = attribute_or<std::string>(op, "to", "");
  const auto* row = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                 [&](const DTypeNumber& r) { return r.number == number || r.name == name; });
  return row == std::end(kNumbers) ? DType::undef : row->dtype;
}

Status check_onnx_attributes(const Graph& graph, const Op& op) {
  if (op.dialect != Dialect::onnx) return {};
  for (const std::string_view name : kFlags) {
    const auto value = attribute_or<std::int64_t>(op, name, 0);
    if (value != 0 && value != 1)
      return refuse(Code::invalid_op, op,
                    "attribute '" + std::string(name) + "' is " + std::to_string(value) + ", must be 0 or 1",
                    "onnx.K1");
  }
  if (op.kind == "Cast") return check_cast_target(op);
  if (op.kind == "QuantizeLinear") return check_precision(op);
  return op.kind == "Constant" ? check_constant(graph, op) : Status();
}

}  // namespace tenfold::graph

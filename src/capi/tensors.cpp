// SPDX-License-Identifier: Apache-2.0
//
// Logical tensors to values and back; see tensors.hpp.
#include "capi/tensors.hpp"

#include <string>
#include <utility>

namespace tenfold::capi {

namespace {

constexpr std::pair<tenfold_data_type_t, DType> kDataTypes[] = {
    {tenfold_f16, DType::f16},         {tenfold_bf16, DType::bf16},       {tenfold_f32, DType::f32},
    {tenfold_s32, DType::s32},         {tenfold_s8, DType::s8},           {tenfold_u8, DType::u8},
    {tenfold_f64, DType::f64},         {tenfold_boolean, DType::boolean}, {tenfold_f8_e5m2, DType::f8_e5m2},
    {tenfold_f8_e4m3, DType::f8_e4m3}, {tenfold_s4, DType::s4},           {tenfold_u4, DType::u4},
    {tenfold_s64, DType::s64},         {tenfold_s16, DType::s16},         {tenfold_u16, DType::u16},
    {tenfold_u32, DType::u32},         {tenfold_u64, DType::u64},
};
static_assert(std::size(kDataTypes) + 1 == kDTypes.size());  // all but undef

tenfold_data_type_t number_of_dtype(DType dtype) {
  for (const auto& [number, known] : kDataTypes)
    if (known == dtype) return number;
  return tenfold_data_type_undef;
}

/// The enumerators have the same numbers on both sides.
Result<graph::Property> property_of(const tenfold_logical_tensor_t& tensor, const std::string& what) {
  if (tensor.property < tenfold_property_undef || tensor.property > tenfold_property_host_scalar)
    return Status(Code::invalid_argument,
                  what + ": property is " + std::to_string(tensor.property) + "; properties are 0 to 3");
  return static_cast<graph::Property>(tensor.property);
}

Status check_layout(const tenfold_logical_tensor_t& tensor, const std::string& what) {
  if (tensor.layout_type < tenfold_layout_type_undef || tensor.layout_type > tenfold_layout_type_opaque)
    return Status(Code::invalid_argument,
                  what + ": layout_type is " + std::to_string(tensor.layout_type) + "; layouts are 0 to 3");
  if (tensor.layout_type == tenfold_layout_type_opaque)
    return Status(Code::unsupported_shape, what + ": opaque layouts are not supported; use any or strided");
  return {};
}

Status read_dims(const tenfold_logical_tensor_t& tensor, const std::string& what, graph::Value& value) {
  if (tensor.ndims == TENFOLD_UNKNOWN_NDIMS) return {};
  if (tensor.ndims < 0 || tensor.ndims > TENFOLD_MAX_NDIMS)
    return Status(Code::invalid_shape,
                  what + ": ndims is " + std::to_string(tensor.ndims) + "; it must be 0 to 12, or -1 (unknown)");
  value.ranked = true;
  value.shape.assign(tensor.dims, tensor.dims + tensor.ndims);
  TensorDesc judged{value.dtype, value.shape, {}};
  const bool strided = says_strides(tensor) && graph::is_static(value);
  if (strided) judged.strides.assign(tensor.strides, tensor.strides + tensor.ndims);
  const Result<std::int64_t> bytes = least_span_bytes(judged);
  if (!bytes.ok()) return bytes.status().about(what);
  if (strided && judged.strides != row_major_strides(value.shape)) value.strides = std::move(judged.strides);
  return {};
}

}  // namespace

bool says_strides(const tenfold_logical_tensor_t& tensor) {
  const std::int64_t* const end = tensor.strides + std::clamp(tensor.ndims, 0, TENFOLD_MAX_NDIMS);
  return tensor.layout_type == tenfold_layout_type_strided &&
         std::find(tensor.strides, end, TENFOLD_UNKNOWN_DIM) == end;
}

Result<DType> dtype_of(tenfold_data_type_t number) {
  for (const auto& [known, dtype] : kDataTypes)
    if (known == number) return dtype;
  return Status(Code::invalid_dtype, number == tenfold_data_type_undef
                                         ? "data_type is undef; it must be given"
                                         : "data_type is " + std::to_string(number) + ", which is no dtype's number");
}

Result<graph::Value> value_of(const tenfold_logical_tensor_t& tensor) {
  const std::string what = "tensor " + std::to_string(tensor.id);
  graph::Value value;
  if (tensor.id < 0) return Status(Code::invalid_argument, what + ": ids are at least 0");
  value.id = tensor.id;
  const Result<DType> dtype = dtype_of(tensor.data_type);
  if (!dtype.ok()) return dtype.status().about(what);
  value.dtype = dtype.value();
  const Result<graph::Property> property = property_of(tensor, what);
  if (!property.ok()) return property.status();
  value.property = property.value();
  if (Status status = check_layout(tensor, what); !status.ok()) return status;
  if (Status status = read_dims(tensor, what, value); !status.ok()) return status;
  return value;
}

tenfold_logical_tensor_t tensor_of(const graph::Value& value) {
  tenfold_logical_tensor_t tensor{};
  tensor.id = value.id;
  tensor.data_type = number_of_dtype(value.dtype);
  tensor.property = static_cast<tenfold_property_t>(value.property);
  tensor.layout_type = tenfold_layout_type_any;
  tensor.ndims = value.ranked ? static_cast<std::int32_t>(value.shape.size()) : TENFOLD_UNKNOWN_NDIMS;
  std::copy(value.shape.begin(), value.shape.end(), tensor.dims);
  if (!graph::is_static(value)) return tensor;
  tensor.layout_type = tenfold_layout_type_strided;
  const Dims strides = strides_of(graph::desc_of(value));
  std::copy(strides.begin(), strides.end(), tensor.strides);
  return tensor;
}

tenfold_logical_tensor_t tensor_of(const TensorInfo& info, graph::Property property) {
  graph::Value value;
  value.property = property;
  value.id = info.id;
  value.dtype = info.desc.dtype;
  // One open dim is how a TensorInfo says that the rank is not known either.
  value.ranked = info.desc.shape != Dims{kUnknownDim};
  if (value.ranked) value.shape = info.desc.shape;
  value.strides = info.desc.strides;
  return tensor_of(value);
}

Status give_tensors(const Ends& ends, const char* name, std::size_t count, tenfold_logical_tensor_t* tensors) {
  if (Status status = require_array(name, tensors, count, ends.infos.size()); !status.ok()) return status;
  for (std::size_t i = 0; i < count; ++i) tensors[i] = tensor_of(ends.infos[i], ends.properties[i]);
  return {};
}

}  // namespace tenfold::capi

// SPDX-License-Identifier: Apache-2.0
//
// See onnx_tensor.hpp. onnx.proto says of each data type which of the typed lists holds it; raw_data is little endian,
// as the machines are that we compile for.
#include "graph/read/onnx_tensor.hpp"

#include <onnx/onnx.pb.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/read/location.hpp"

namespace tenfold::graph {
namespace {

struct DTypeName {
  std::string_view name;
  std::optional<DType> dtype;
};

/// By onnx.proto's numbers; those above BFLOAT16 are of later releases than the .proto may be.
constexpr std::array<DTypeName, 24> kOnnxDTypes{{
    {"UNDEFINED", std::nullopt},
    {"FLOAT", DType::f32},
    {"UINT8", DType::u8},
    {"INT8", DType::s8},
    {"UINT16", DType::u16},
    {"INT16", DType::s16},
    {"INT32", DType::s32},
    {"INT64", DType::s64},
    {"STRING", std::nullopt},
    {"BOOL", DType::boolean},
    {"FLOAT16", DType::f16},
    {"DOUBLE", DType::f64},
    {"UINT32", DType::u32},
    {"UINT64", DType::u64},
    {"COMPLEX64", std::nullopt},
    {"COMPLEX128", std::nullopt},
    {"BFLOAT16", DType::bf16},
    {"FLOAT8E4M3FN", DType::f8_e4m3},
    {"FLOAT8E4M3FNUZ", std::nullopt},
    {"FLOAT8E5M2", DType::f8_e5m2},
    {"FLOAT8E5M2FNUZ", std::nullopt},
    {"UINT4", DType::u4},
    {"INT4", DType::s4},
    {"FLOAT4E2M1", std::nullopt},
}};

Status bad(const std::string& what, const std::string& message) {
  return Status(Code::invalid_file, what + ": " + message);
}

/// The elements of a typed list as T, whose range they must keep; `wanted` bytes. Counted before there is room for
/// them, as the list may have many more.
template <class T, class List>
Status read_list(const List& list, const std::string& what, DType dtype, std::size_t wanted,
                 std::vector<std::byte>& bytes) {
  using Element = typename List::value_type;
  if (static_cast<std::size_t>(list.size()) != wanted / sizeof(T))
    return bad(what, std::to_string(list.size()) + " elements in the list of its type, but its dims ask for " +
                         std::to_string(wanted / sizeof(T)));
  bytes.resize(static_cast<std::size_t>(list.size()) * sizeof(T));
  std::size_t at = 0;
  for (const Element element : list) {
    if constexpr (std::is_integral_v<Element>) {
      if (!std::in_range<T>(element))
        return bad(what, "element " + std::to_string(at) + ", " + std::to_string(element) +
                             ", is out of the range of " + std::string(to_string(dtype)));
      if (dtype == DType::boolean && element != 0 && element != 1)
        return bad(what, "element " + std::to_string(at) + ", " + std::to_string(element) + ", is no boolean");
    }
    const T value = static_cast<T>(element);
    std::memcpy(bytes.data() + at++ * sizeof(T), &value, sizeof(T));
  }
  return {};
}

Status read_typed(const onnx::TensorProto& tensor, const std::string& what, DType dtype, std::size_t wanted,
                  std::vector<std::byte>& bytes) {
  const auto& words = tensor.int32_data();
  switch (dtype) {
    case DType::f32: return read_list<float>(tensor.float_data(), what, dtype, wanted, bytes);
    case DType::f64: return read_list<double>(tensor.double_data(), what, dtype, wanted, bytes);
    case DType::s64: return read_list<std::int64_t>(tensor.int64_data(), what, dtype, wanted, bytes);
    case DType::u64: return read_list<std::uint64_t>(tensor.uint64_data(), what, dtype, wanted, bytes);
    case DType::u32: return read_list<std::uint32_t>(tensor.uint64_data(), what, dtype, wanted, bytes);
    case DType::s32: return read_list<std::int32_t>(words, what, dtype, wanted, bytes);
    case DType::s16: return read_list<std::int16_t>(words, what, dtype, wanted, bytes);
    case DType::s8: return read_list<std::int8_t>(words, what, dtype, wanted, bytes);
    case DType::u16:
    case DType::f16:
    case DType::bf16: return read_list<std::uint16_t>(words, what, dtype, wanted, bytes);
    // Of s4 and u4 two share an entry, as they do a byte.
    default: return read_list<std::uint8_t>(words, what, dtype, wanted, bytes);
  }
}

int typed_elements(const onnx::TensorProto& tensor) {
  return tensor.float_data_size() + tensor.int32_data_size() + tensor.int64_data_size() + tensor.double_data_size() +
         tensor.uint64_data_size();
}

Result<std::int64_t> external_number(const std::string& text, const std::string& key, const std::string& what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return bad(what, "its external data's '" + key + "' is " + shown(text) + ", not a number of at least 0");
  return value;
}

Result<std::string> read_external(const onnx::TensorProto& tensor, const std::string& what,
                                  const OnnxOptions& options) {
  std::string location;
  std::int64_t offset = 0, length = -1;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const Result<std::int64_t> number = external_number(entry.value(), entry.key(), what);
    if (!number.ok()) return number.status();
    (entry.key() == "offset" ? offset : length) = number.value();
  }
  if (location.empty()) return bad(what, "its data are external, but no location is given");
  if (!options.external_data)
    return bad(what, "its data are in the external file " + shown(location) +
                         ", and no folder is allowed to read such files from");
  Result<std::string> data = options.external_data(location, offset, length);
  if (!data.ok()) return data.status().about(what);
  return data;
}

Status read_raw(const std::string& raw, const std::string& what, DType dtype, std::int64_t wanted,
                std::vector<std::byte>& bytes) {
  if (raw.size() != static_cast<std::size_t>(wanted))
    return bad(what,
               std::to_string(raw.size()) + " bytes of data, but its dims and type ask for " + std::to_string(wanted));
  if (dtype == DType::boolean)
    for (std::size_t i = 0; i < raw.size(); ++i)
      if (static_cast<unsigned char>(raw[i]) > 1)
        return bad(what, "element " + std::to_string(i) + ", " + std::to_string(static_cast<unsigned char>(raw[i])) +
                             ", is no boolean");
  bytes.resize(raw.size());
  if (!raw.empty()) std::memcpy(bytes.data(), raw.data(), raw.size());
  return {};
}

/// The bytes of the elements, from wherever they are; `wanted` of them.
Status read_elements(const onnx::TensorProto& tensor, const std::string& what, std::int64_t wanted,
                     const OnnxOptions& options, DType dtype, std::vector<std::byte>& bytes) {
  const bool external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  if (static_cast<int>(external) + static_cast<int>(tensor.has_raw_data()) +
          static_cast<int>(typed_elements(tensor) > 0) >
      1)
    return bad(what, "its data are given in more than one way (raw_data, a typed list, external)");
  if (external) {
    const Result<std::string> data = read_external(tensor, what, options);
    if (!data.ok()) return data.status();
    return read_raw(data.value(), what, dtype, wanted, bytes);
  }
  if (tensor.has_raw_data()) return read_raw(tensor.raw_data(), what, dtype, wanted, bytes);
  return read_typed(tensor, what, dtype, static_cast<std::size_t>(wanted), bytes);
}

Status read_shape(const onnx::TensorShapeProto& shape, const std::string& what, Value& value) {
  value.ranked = true;
  value.shape.clear();
  value.dim_names.clear();
  bool named = false;
  for (const auto& dim : shape.dim()) {
    const bool known = dim.has_dim_value();
    if (known && dim.dim_value() < 0)
      return Status(Code::invalid_shape, what + ": dim " + std::to_string(value.shape.size()) + " is " +
                                             std::to_string(dim.dim_value()) +
                                             "; leave unknown dims without a value or name them");
    value.shape.push_back(known ? dim.dim_value() : kUnknownDim);
    value.dim_names.push_back(known ? "" : dim.dim_param());
    named = named || !value.dim_names.back().empty();
  }
  if (!named) value.dim_names.clear();
  const Result<std::int64_t> bytes = least_span_bytes({value.dtype, value.shape, {}});
  if (!bytes.ok()) return bytes.status().about(what);
  return {};
}

}  // namespace

Result<DType> onnx_dtype(int data_type, const std::string& what) {
  if (data_type == 0) return Status(Code::invalid_dtype, what + ": its element type is not given");
  if (data_type < 0 || data_type >= static_cast<int>(kOnnxDTypes.size()))
    return Status(Code::unsupported_dtype, what + ": element type " + std::to_string(data_type) + " is not known");
  const DTypeName& row = kOnnxDTypes[static_cast<std::size_t>(data_type)];
  if (!row.dtype)
    return Status(Code::unsupported_dtype, what + ": element type " + std::string(row.name) + " is not supported");
  return *row.dtype;
}

Result<Value> onnx_constant(const onnx::TensorProto& tensor, const std::string& what, OnnxBudget& budget) {
  const Result<DType> dtype = onnx_dtype(tensor.data_type(), what);
  if (!dtype.ok()) return dtype.status();
  if (tensor.has_segment()) return bad(what, "it is a segment of a tensor; give the whole");
  Value value;
  value.dtype = dtype.value();
  value.ranked = true;
  value.shape.assign(tensor.dims().begin(), tensor.dims().end());
  value.property = Property::constant;
  value.is_constant = true;
  const Result<std::int64_t> count = numel(value.shape);
  const Result<std::int64_t> wanted = span_bytes({value.dtype, value.shape, {}});
  for (const auto* size : {&count, &wanted})
    if (!size->ok()) return size->status().about(what);
  // Judged before anything is allocated; dims alone may promise much.
  budget.used += static_cast<std::size_t>(wanted.value());
  if (budget.used > budget.options.limits.constant_bytes)
    return bad(what, "the constants, " + std::to_string(budget.used) + " bytes so far, exceed the limit of " +
                         std::to_string(budget.options.limits.constant_bytes) + " bytes");
  std::vector<std::byte> bytes;
  if (Status s = read_elements(tensor, what, wanted.value(), budget.options, value.dtype, bytes); !s.ok()) return s;
  value.data = std::move(bytes);
  return value;
}

Status read_value_info(const onnx::ValueInfoProto& info, const std::string& what, Value& value) {
  const onnx::TypeProto& type = info.type();
  switch (type.value_case()) {
    case onnx::TypeProto::VALUE_NOT_SET: return {};
    case onnx::TypeProto::kTensorType: break;
    case onnx::TypeProto::kSequenceType: return Status(Code::unsupported_dtype, what + " is a sequence, not a tensor");
    case onnx::TypeProto::kMapType: return Status(Code::unsupported_dtype, what + " is a map, not a tensor");
    case onnx::TypeProto::kOptionalType: return Status(Code::unsupported_dtype, what + " is an optional, not a tensor");
    case onnx::TypeProto::kSparseTensorType:
      return Status(Code::unsupported_dtype, what + " is a sparse tensor; only dense ones are supported");
  }
  if (type.tensor_type().elem_type() != 0) {
    const Result<DType> dtype = onnx_dtype(type.tensor_type().elem_type(), what);
    if (!dtype.ok()) return dtype.status();
    value.dtype = dtype.value();
  }
  return type.tensor_type().has_shape() ? read_shape(type.tensor_type().shape(), what, value) : Status();
}

}  // namespace tenfold::graph

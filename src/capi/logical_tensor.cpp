// SPDX-License-Identifier: Apache-2.0
//
// Logical tensors: tenfold_logical_tensor_*.
#include <algorithm>

#include "capi/boundary.hpp"
#include "capi/tensors.hpp"

namespace tenfold::capi {

Status memory_size(const tenfold_logical_tensor_t& tensor, std::size_t& size) {
  const Result<graph::Value> value = value_of(tensor);
  if (!value.ok()) return value.status();
  const std::string what = "tensor " + std::to_string(tensor.id);
  if (!graph::is_static(value.value())) return Status(Code::invalid_shape, what + ": its dims are not all known");
  const Result<std::int64_t> bytes = span_bytes(graph::desc_of(value.value()));
  if (!bytes.ok()) return bytes.status().about(what);
  size = static_cast<std::size_t>(bytes.value());
  return {};
}

namespace {

/// Writes to `out` only when the tensor is one that an op could take.
Status give(const tenfold_logical_tensor_t& made, tenfold_logical_tensor_t* out) {
  const Result<graph::Value> value = value_of(made);
  if (!value.ok()) return value.status();
  *out = made;
  return {};
}

Status check_rank(std::int32_t ndims, std::int32_t least) {
  if (ndims >= least && ndims <= TENFOLD_MAX_NDIMS) return {};
  return Status(Code::invalid_shape, "ndims is " + std::to_string(ndims) + "; it must be " + std::to_string(least) +
                                         " to " + std::to_string(TENFOLD_MAX_NDIMS));
}

/// With open dims, without strides.
tenfold_logical_tensor_t open_tensor(std::int64_t id, tenfold_data_type_t data_type, std::int32_t ndims,
                                     tenfold_layout_type_t layout, tenfold_property_t property) {
  tenfold_logical_tensor_t tensor{};
  tensor.id = id;
  tensor.ndims = ndims;
  tensor.data_type = data_type;
  std::fill(tensor.dims, tensor.dims + std::max(ndims, std::int32_t{0}), TENFOLD_UNKNOWN_DIM);
  tensor.property = property;
  tensor.layout_type = layout;
  return tensor;
}

}  // namespace

}  // namespace tenfold::capi

using namespace tenfold;

tenfold_status_t tenfold_logical_tensor_init(tenfold_logical_tensor_t* tensor, int64_t id,
                                             tenfold_data_type_t data_type, int32_t ndims, tenfold_layout_type_t layout,
                                             tenfold_property_t property) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"tensor", tensor}}); !status.ok()) return status;
    if (Status status = capi::check_rank(ndims, TENFOLD_UNKNOWN_NDIMS); !status.ok()) return status;
    return capi::give(capi::open_tensor(id, data_type, ndims, layout, property), tensor);
  });
}

tenfold_status_t tenfold_logical_tensor_init_with_dims(tenfold_logical_tensor_t* tensor, int64_t id,
                                                       tenfold_data_type_t data_type, int32_t ndims,
                                                       const int64_t* dims, tenfold_layout_type_t layout,
                                                       tenfold_property_t property) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"tensor", tensor}}); !status.ok()) return status;
    if (Status status = capi::check_rank(ndims, 0); !status.ok()) return status;
    if (ndims > 0)
      if (Status status = capi::require({{"dims", dims}}); !status.ok()) return status;
    tenfold_logical_tensor_t made = capi::open_tensor(id, data_type, ndims, layout, property);
    if (ndims > 0) std::copy(dims, dims + ndims, made.dims);
    const Dims shape(made.dims, made.dims + ndims);
    if (layout == tenfold_layout_type_strided && numel(shape).ok()) {
      const Dims strides = row_major_strides(shape);
      std::copy(strides.begin(), strides.end(), made.strides);
    }
    return capi::give(made, tensor);
  });
}

tenfold_status_t tenfold_logical_tensor_init_with_strides(tenfold_logical_tensor_t* tensor, int64_t id,
                                                          tenfold_data_type_t data_type, int32_t ndims,
                                                          const int64_t* dims, const int64_t* strides,
                                                          tenfold_property_t property) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"tensor", tensor}}); !status.ok()) return status;
    if (Status status = capi::check_rank(ndims, 0); !status.ok()) return status;
    if (ndims > 0)
      if (Status status = capi::require({{"dims", dims}, {"strides", strides}}); !status.ok()) return status;
    tenfold_logical_tensor_t made = capi::open_tensor(id, data_type, ndims, tenfold_layout_type_strided, property);
    if (ndims > 0) {
      std::copy(dims, dims + ndims, made.dims);
      std::copy(strides, strides + ndims, made.strides);
    }
    return capi::give(made, tensor);
  });
}

tenfold_status_t tenfold_logical_tensor_get_mem_size(const tenfold_logical_tensor_t* tensor, size_t* size) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"tensor", tensor}, {"size", size}}); !status.ok()) return status;
    return capi::memory_size(*tensor, *size);
  });
}

tenfold_status_t tenfold_logical_tensor_is_equal(const tenfold_logical_tensor_t* left,
                                                 const tenfold_logical_tensor_t* right, int32_t* equal) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"left", left}, {"right", right}, {"equal", equal}}); !status.ok())
      return status;
    for (const tenfold_logical_tensor_t* tensor : {left, right})
      if (Status status = capi::check_rank(tensor->ndims, TENFOLD_UNKNOWN_NDIMS); !status.ok()) return status;
    const std::int32_t rank = std::max(left->ndims, std::int32_t{0});
    const bool strides_count = left->layout_type == tenfold_layout_type_strided;
    *equal = left->id == right->id && left->ndims == right->ndims && left->data_type == right->data_type &&
             left->property == right->property && left->layout_type == right->layout_type &&
             std::equal(left->dims, left->dims + rank, right->dims) &&
             (!strides_count || std::equal(left->strides, left->strides + rank, right->strides));
    return {};
  });
}

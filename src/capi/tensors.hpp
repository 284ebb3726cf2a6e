// SPDX-License-Identifier: Apache-2.0
//
// Between the C API's logical tensors and the library's own values.
#pragma once

#include <cstddef>
#include <span>

#include "capi/boundary.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tenfold.h"

namespace tenfold::capi {

/// What the caller says of a tensor; strides that are row-major are left empty. Refuses what no tensor can be: unknown
/// numbers, negative ids and dims, ranks above 12, sizes beyond 2^47 bytes (open dims count as 1), opaque layouts.
Result<graph::Value> value_of(const tenfold_logical_tensor_t& tensor);

/// Whether the tensor says strides: its layout is strided, and no stride is TENFOLD_UNKNOWN_DIM.
bool says_strides(const tenfold_logical_tensor_t& tensor);

/// The dtype of that number; invalid_dtype when there is none, or for undef.
Result<DType> dtype_of(tenfold_data_type_t number);

/// Bytes that a buffer for it must have.
Status memory_size(const tenfold_logical_tensor_t& tensor, std::size_t& size);

/// Known dims come with strides, in a strided layout.
tenfold_logical_tensor_t tensor_of(const graph::Value& value);
tenfold_logical_tensor_t tensor_of(const TensorInfo& info, graph::Property property);

/// The inputs or the outputs of a compiled partition, as many of the one as of the other.
struct Ends {
  std::span<const TensorInfo> infos;
  std::span<const graph::Property> properties;
};

/// Fills the caller's array of `count`, which must be as many as there are.
Status give_tensors(const Ends& ends, const char* name, std::size_t count, tenfold_logical_tensor_t* tensors);

}  // namespace tenfold::capi

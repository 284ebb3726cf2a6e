// SPDX-License-Identifier: Apache-2.0
//
// A tensor that owns its memory, and the walk over its elements in row-major order whatever its strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::tools {

struct Tensor {
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  TensorDesc desc;
  std::unique_ptr<void, Free> memory;  ///< span_bytes(desc), aligned to 64
  void* data() const { return memory.get(); }
};

/// Memory for `desc`, filled with 0xA5 so that what nobody writes is seen. out_of_memory when it is more than there
/// is (memory.hpp).
Result<Tensor> make_tensor(const TensorDesc& desc);

/// Calls visit(index, offset) for each element: its row-major index and its place in elements. Shape and strides must
/// have passed span_bytes().
template <class Visit>
void for_each_element(const TensorDesc& desc, Visit&& visit) {
  const Dims strides = strides_of(desc);
  const std::size_t rank = desc.shape.size();
  Dims at(rank, 0);
  std::int64_t count = 1;
  for (const std::int64_t dim : desc.shape) count *= dim;
  std::int64_t offset = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    visit(index, offset);
    for (std::size_t d = rank; d-- > 0;) {
      offset += strides[d];
      if (++at[d] < desc.shape[d]) break;
      offset -= at[d] * strides[d];
      at[d] = 0;
    }
  }
}

/// Copies all elements; the descs have the same dtype and shape, strides may differ.
void copy_elements(const TensorDesc& from_desc, const void* from, const TensorDesc& to_desc, void* to);

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// Memory of tensors; see tensor.hpp.
#include "tools/tensor.hpp"

#include <cstring>
#include <string>

#include "tools/memory.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

Result<Tensor> make_tensor(const TensorDesc& desc) {
  const Result<std::int64_t> span = span_bytes(desc);
  if (!span.ok()) return span.status().about(desc_text(desc));
  constexpr std::size_t kAlignment = 64;
  const auto bytes = (static_cast<std::size_t>(span.value()) / kAlignment + 1) * kAlignment;
  if (Status s = check_memory(desc_text(desc) + ": elements", static_cast<std::int64_t>(bytes)); !s.ok()) return s;
  Tensor tensor;
  tensor.desc = desc;
  tensor.memory.reset(std::aligned_alloc(kAlignment, bytes));
  if (tensor.memory == nullptr)
    return Status(Code::out_of_memory, desc_text(desc) + ": the system gives no " + std::to_string(bytes) + " bytes");
  // Pages that are touched are no longer available to the next tensor.
  std::memset(tensor.data(), 0xA5, bytes);
  return tensor;
}

void copy_elements(const TensorDesc& from_desc, const void* from, const TensorDesc& to_desc, void* to) {
  const auto size = static_cast<std::int64_t>(byte_size(from_desc.dtype));
  const Dims from_strides = strides_of(from_desc);
  const Dims& shape = to_desc.shape;
  for_each_element(to_desc, [&](std::int64_t index, std::int64_t offset) {
    std::int64_t from_offset = 0;
    for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) from_offset += index % shape[d] * from_strides[d];
    std::memcpy(static_cast<char*>(to) + offset * size, static_cast<const char*>(from) + from_offset * size,
                static_cast<std::size_t>(size));
  });
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
#include "graph/pass/constants.hpp"

#include "graph/eval/eval.hpp"

namespace tenfold::graph {

std::vector<std::byte> element_bytes(DType dtype, std::span<const double> numbers) {
  const std::size_t bits = static_cast<std::size_t>(row(dtype).bits);
  std::vector<std::byte> data((numbers.size() * bits + 7) / 8);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    store_real(dtype, data.data(), static_cast<std::int64_t>(i), numbers[i]);
  return data;
}

std::optional<double> scalar_of(const Value& value) {
  const Result<std::int64_t> count = numel(value.shape);
  if (!value.is_constant || value.data.empty() || !count.ok() || count.value() != 1) return std::nullopt;
  if (value.data.size() < static_cast<std::size_t>(byte_size(value.dtype))) return std::nullopt;
  return load_real(value.dtype, value.data.data(), 0);
}

}  // namespace tenfold::graph

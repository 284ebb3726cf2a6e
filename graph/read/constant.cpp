// SPDX-License-Identifier: Apache-2.0
//
// See constant.hpp. Numbers are rounded once, from double, to nearest even; going through f32 would round twice.
#include "graph/read/constant.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "graph/ir/half.hpp"
#include "graph/read/scalars.hpp"

namespace tenfold::graph {
namespace {

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

Status out_of_range(Item item, DType dtype) {
  return item.error(item.found() + " is out of the range of " + std::string(to_string(dtype)));
}

template <class T>
Status append_integer(Item item, DType dtype, std::vector<std::byte>& bytes) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (item.kind() == Kind::huge) {
      append<T>(bytes, item.huge());
      return {};
    }
  }
  Result<std::int64_t> value = read_integer(item);
  if (!value.ok()) return value.status();
  const bool fits = std::is_same_v<T, std::uint64_t>
                        ? value.value() >= 0
                        : value.value() >= static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
                              value.value() <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
  if (!fits) return out_of_range(item, dtype);
  append<T>(bytes, static_cast<T>(value.value()));
  return {};
}

Status append_real(Item item, DType dtype, std::vector<std::byte>& bytes) {
  Result<double> value = dtype == DType::f32 ? read_f32(item) : read_number(item);
  if (!value.ok()) return value.status();
  if (dtype == DType::f64) {
    append(bytes, value.value());
  } else if (dtype == DType::f32) {
    append(bytes, static_cast<float>(value.value()));
  } else {
    const bool is_bf16 = dtype == DType::bf16;
    const std::uint16_t bits = is_bf16 ? encode16<kBf16>(value.value()) : encode16<kF16>(value.value());
    const double rounded = is_bf16 ? decode16<kBf16>(bits) : decode16<kF16>(bits);
    if (std::isinf(rounded) && std::isfinite(value.value())) return out_of_range(item, dtype);
    append(bytes, bits);
  }
  return {};
}

Status append_element(Item item, DType dtype, std::vector<std::byte>& bytes) {
  switch (dtype) {
    case DType::f32:
    case DType::f64:
    case DType::bf16:
    case DType::f16: return append_real(item, dtype, bytes);
    case DType::s8: return append_integer<std::int8_t>(item, dtype, bytes);
    case DType::u8: return append_integer<std::uint8_t>(item, dtype, bytes);
    case DType::s16: return append_integer<std::int16_t>(item, dtype, bytes);
    case DType::u16: return append_integer<std::uint16_t>(item, dtype, bytes);
    case DType::s32: return append_integer<std::int32_t>(item, dtype, bytes);
    case DType::u32: return append_integer<std::uint32_t>(item, dtype, bytes);
    case DType::s64: return append_integer<std::int64_t>(item, dtype, bytes);
    case DType::u64: return append_integer<std::uint64_t>(item, dtype, bytes);
    case DType::boolean: {
      Result<bool> value = read_boolean(item);
      if (!value.ok()) return value.status();
      append<std::uint8_t>(bytes, value.value() ? 1 : 0);
      return {};
    }
    default: return item.error("inline data of dtype " + std::string(to_string(dtype)) + " is not supported");
  }
}

/// Two elements a byte, the first in its low half.
Result<std::vector<std::byte>> read_nibbles(Item data, DType dtype) {
  const std::int64_t least = dtype == DType::s4 ? -8 : 0, most = dtype == DType::s4 ? 7 : 15;
  std::vector<std::byte> bytes((data.size() + 1) / 2);
  std::size_t at = 0;
  for (const Item element : data) {
    Result<std::int64_t> value = read_integer(element);
    if (!value.ok()) return value.status();
    if (value.value() < least || value.value() > most) return out_of_range(element, dtype);
    const auto half = static_cast<std::byte>(value.value() & 15);
    bytes[at / 2] |= at % 2 == 0 ? half : half << 4;
    ++at;
  }
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> read_constant(Item data, DType dtype, std::int64_t count) {
  if (data.kind() != Kind::array) return mismatch(data, "a flat array of numbers");
  if (static_cast<std::int64_t>(data.size()) != count) {
    return data.error(std::to_string(data.size()) + " elements of constant data for a shape of " +
                      std::to_string(count));
  }
  if (dtype == DType::s4 || dtype == DType::u4) return read_nibbles(data, dtype);
  std::vector<std::byte> bytes;
  bytes.reserve(data.size() * static_cast<std::size_t>(byte_size(dtype)));
  for (const Item element : data)
    if (Status status = append_element(element, dtype, bytes); !status.ok()) return status;
  return bytes;
}

}  // namespace tenfold::graph

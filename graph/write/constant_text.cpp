// SPDX-License-Identifier: Apache-2.0
#include "graph/write/constant_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "graph/ir/half.hpp"

namespace tenfold::graph {
namespace {

/// As many elements as the reader takes in one list.
constexpr std::int64_t kMostElements = 1'000'000;

constexpr int kF32Digits = 9;

template <class Element>
Element load(const Value& value, std::size_t index) {
  Element element;
  std::memcpy(&element, value.data.data() + index * sizeof element, sizeof element);
  return element;
}

/// Two elements share a byte, the first in its low half.
int nibble(const Value& value, std::size_t index) {
  const int both = std::to_integer<int>(value.data[index / 2]), half = (index % 2 == 0 ? both : both >> 4) & 15;
  return value.dtype == DType::s4 && half >= 8 ? half - 16 : half;
}

std::string element_text(const Value& value, std::size_t index) {
  switch (value.dtype) {
    case DType::f64: return real_text(load<double>(value, index), kF64Digits);
    case DType::f32: return real_text(load<float>(value, index), kF32Digits);
    case DType::f16: return real_text(decode16<kF16>(load<std::uint16_t>(value, index)), kF32Digits);
    case DType::bf16: return real_text(decode16<kBf16>(load<std::uint16_t>(value, index)), kF32Digits);
    case DType::s4:
    case DType::u4: return std::to_string(nibble(value, index));
    case DType::s8: return std::to_string(load<std::int8_t>(value, index));
    case DType::s16: return std::to_string(load<std::int16_t>(value, index));
    case DType::u16: return std::to_string(load<std::uint16_t>(value, index));
    case DType::s32: return std::to_string(load<std::int32_t>(value, index));
    case DType::u32: return std::to_string(load<std::uint32_t>(value, index));
    case DType::s64: return std::to_string(load<std::int64_t>(value, index));
    case DType::u64: return std::to_string(load<std::uint64_t>(value, index));
    default: return std::to_string(load<std::uint8_t>(value, index));
  }
}

}  // namespace

std::string real_text(double value, int digits) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  std::array<char, 40> text{};
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
  std::string result(text.data(), end.ptr);
  // "-0" would be read as an integer, which has no such zero.
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return result;
}

Result<std::string> data_text(const Value& value) {
  const std::string what = "constant " + std::to_string(value.id);
  if (value.dtype == DType::f8_e5m2 || value.dtype == DType::f8_e4m3)
    return Status(Code::unsupported_dtype,
                  what + ": graph files hold no constants of " + std::string(to_string(value.dtype)));
  const Result<std::int64_t> count = numel(value.shape);
  if (!count.ok()) return count.status();
  if (count.value() > kMostElements)
    return Status(Code::unsupported_shape, what + " has " + std::to_string(count.value()) +
                                               " elements; graph files hold at most " + std::to_string(kMostElements));
  std::string text = ", \"data\": [";
  for (std::int64_t i = 0; i < count.value(); ++i) {
    if (i > 0) text += ", ";
    text += element_text(value, static_cast<std::size_t>(i));
  }
  return text + "]";
}

}  // namespace tenfold::graph

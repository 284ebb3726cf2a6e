// SPDX-License-Identifier: Apache-2.0
//
// See elements.hpp. f16 and bf16 are printed as the f32 of equal value; reading rounds a double to
// nearest even, once.
#include "graph/text/elements.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "graph/ir/half.hpp"

namespace tenfold::graph {
namespace {

constexpr std::uint64_t kF32Nan = 0x7fc00000, kF64Nan = 0x7ff8000000000000;

template <class T>
std::string decimal(T value) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

std::string hex(std::uint64_t bits) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, bits, 16);
  return "0x" + std::string(text, end.ptr);
}

std::uint64_t load_bits(const std::byte* at, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size);
  return bits;
}

void append_bits(std::uint64_t bits, std::size_t size, std::vector<std::byte>& data) {
  const std::size_t start = data.size();
  data.resize(start + size);
  std::memcpy(data.data() + start, &bits, size);
}

std::string print_floating(DType dtype, std::uint64_t bits) {
  const auto low = static_cast<std::uint16_t>(bits);
  const auto print = [bits](auto value, std::uint64_t canonical_nan) {
    if (!std::isnan(value)) return decimal(value);
    return bits == canonical_nan ? std::string("nan") : hex(bits);
  };
  switch (dtype) {
    case DType::f64: return print(std::bit_cast<double>(bits), kF64Nan);
    case DType::f32: return print(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), kF32Nan);
    case DType::bf16: return print(static_cast<float>(decode16<kBf16>(low)), kBf16.nan);
    case DType::f16: return print(static_cast<float>(decode16<kF16>(low)), kF16.nan);
    default: return hex(bits);
  }
}

std::string print_element(DType dtype, std::uint64_t bits) {
  const DTypeRow& r = row(dtype);
  switch (r.kind) {
    case DTypeKind::floating: return print_floating(dtype, bits);
    case DTypeKind::unsigned_integer: return decimal(bits);
    case DTypeKind::boolean: return bits > 1 ? hex(bits) : bits == 1 ? "true" : "false";
    case DTypeKind::signed_integer: {
      const int unused = 64 - r.bits;
      return decimal(static_cast<std::int64_t>(bits << unused) >> unused);
    }
    case DTypeKind::none: break;
  }
  return hex(bits);
}

template <class T>
bool read(std::string_view token, T& value, [[maybe_unused]] int radix = 10) {
  std::from_chars_result end{};
  if constexpr (std::is_floating_point_v<T>)
    end = std::from_chars(token.data(), token.data() + token.size(), value);
  else
    end = std::from_chars(token.data(), token.data() + token.size(), value, radix);
  return end.ec == std::errc() && end.ptr == token.data() + token.size();
}

/// f32 from text at once: by way of a double it would be rounded twice. Narrower floats overflow to infinity, as f32
/// rounds, but what is no f32 is none of them.
bool parse_floating(DType dtype, std::string_view token, std::uint64_t& bits) {
  if (dtype == DType::f32) {
    float value = 0;
    if (!read(token, value)) return false;
    bits = token == "nan" ? kF32Nan : std::bit_cast<std::uint32_t>(value);
    return true;
  }
  double value = 0;
  if (!read(token, value)) return false;
  if (dtype == DType::f64) {
    bits = token == "nan" ? kF64Nan : std::bit_cast<std::uint64_t>(value);
    return true;
  }
  if (std::isfinite(value) && std::fabs(value) > double{std::numeric_limits<float>::max()}) return false;
  if (dtype == DType::bf16) bits = encode16<kBf16>(value);
  if (dtype == DType::f16) bits = encode16<kF16>(value);
  return dtype == DType::bf16 || dtype == DType::f16;
}

bool parse_integer(const DTypeRow& r, std::string_view token, std::uint64_t& bits) {
  if (r.kind == DTypeKind::unsigned_integer) return read(token, bits) && (r.bits == 64 || bits >> r.bits == 0);
  std::int64_t value = 0;
  if (!read(token, value)) return false;
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max() >> (64 - r.bits);
  bits = static_cast<std::uint64_t>(value);
  return value >= -limit - 1 && value <= limit;
}

}  // namespace

bool elements_are_listable(const Value& value) {
  const DTypeRow& r = row(value.dtype);
  if (r.bits < 8 || !value.ranked) return false;
  const Result<std::int64_t> count = numel(value.shape);
  return count.ok() &&
         static_cast<std::uint64_t>(count.value()) * static_cast<std::uint64_t>(r.bits / 8) == value.data.size();
}

std::string print_elements(const Value& value) {
  const auto size = static_cast<std::size_t>(byte_size(value.dtype));
  std::string text = "[";
  for (std::size_t at = 0; at + size <= value.data.size(); at += size) {
    if (at != 0) text += ", ";
    text += print_element(value.dtype, load_bits(value.data.data() + at, size));
  }
  return text + "]";
}

bool parse_element(DType dtype, std::string_view token, std::vector<std::byte>& data) {
  const DTypeRow& r = row(dtype);
  std::uint64_t bits = 0;
  bool good = false;
  if (r.bits < 8) return false;
  if (token.substr(0, 2) == "0x") {
    good = read(token.substr(2), bits, 16) && (r.bits == 64 || bits >> r.bits == 0);
  } else if (r.kind == DTypeKind::floating) {
    good = parse_floating(dtype, token, bits);
  } else if (r.kind == DTypeKind::boolean) {
    good = token == "true" || token == "false";
    bits = token == "true" ? 1 : 0;
  } else {
    good = parse_integer(r, token, bits);
  }
  if (good) append_bits(bits, static_cast<std::size_t>(byte_size(dtype)), data);
  return good;
}

std::string print_real(double value) {
  if (std::isnan(value)) return "nan";
  std::string text = decimal(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Values are drawn as f32 and cut to the type, except for special bit patterns, which are the type's own.
#include "values.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "graph/eval/eval.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::array<std::string_view, kValuesCount> kNames{
    "normal", "positive", "integers", "ties",         "wide",        "denormal", "zeros",
    "cancel", "all -inf", "all +inf", "some special", "all special", "any bits"};

constexpr std::array<std::uint32_t, 18> kF32{0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffc12345,
                                             0x7fa00000, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000001,
                                             0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f800000};
constexpr std::array<std::uint32_t, 18> kBf16{0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7fff, 0xffd5, 0x7fa0, 0x7f80, 0xff80,
                                              0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x7f7f, 0xff7f, 0x3f80};
constexpr std::array<std::uint32_t, 18> kF16{0x7e00, 0xfe00, 0x7c01, 0xfc01, 0x7fff, 0xfe55, 0x7d00, 0x7c00, 0xfc00,
                                             0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3c00};

float number(Values values, DType dtype, std::mt19937_64& random) {
  const auto unit = [&] { return static_cast<float>(random() >> 40) * 0x1p-24F; };
  const auto integer = [&](int below) { return static_cast<float>(random() % static_cast<unsigned>(below)); };
  const float sign = random() % 2 == 0 ? 1.0F : -1.0F;
  switch (values) {
    case Values::positive: return 0.5F + unit();
    case Values::integers: return sign * integer(9);
    case Values::ties: return sign * (256 + integer(256)) * 0.5F + sign * (random() % 2 == 0 ? 0.0F : 0.25F);
    case Values::wide: {
      const int range = dtype == DType::f16 ? 14 : 120;
      return sign * std::ldexp(1 + unit(), static_cast<int>(random() % static_cast<unsigned>(2 * range)) - range);
    }
    case Values::denormal: {
      if (random() % 4 == 0) return sign * 0.0F;
      return sign * unit() * (dtype == DType::f16 ? 0x1p-14F : 0x1p-126F);
    }
    case Values::zeros: return sign * 0.0F;
    case Values::cancel: return random() % 3 == 0 ? unit() : sign * (dtype == DType::f16 ? 30000.0F : 1e30F);
    case Values::negative_infinity: return -INFINITY;
    case Values::positive_infinity: return INFINITY;
    default: return (unit() + unit() + unit() + unit() - 2) * 2;
  }
}

void put_bits(DType dtype, std::byte* at, std::uint32_t bits) {
  std::memcpy(at, &bits, static_cast<std::size_t>(byte_size(dtype)));
}

}  // namespace

std::string_view to_string(Values values) { return kNames[static_cast<std::size_t>(values)]; }

std::span<const std::uint32_t> special_bits(DType dtype) {
  if (dtype == DType::bf16) return kBf16;
  if (dtype == DType::f16) return kF16;
  return kF32;
}

void fill(Values values, DType dtype, std::byte* data, std::int64_t count, std::mt19937_64& random) {
  const auto special = special_bits(dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const at = data + i * byte_size(dtype);
    const bool is_special = values == Values::all_special || (values == Values::some_special && random() % 16 == 0);
    if (is_special)
      put_bits(dtype, at, special[random() % special.size()]);
    else if (values == Values::bits)
      put_bits(dtype, at, static_cast<std::uint32_t>(random()));
    else
      graph::store_real(dtype, at, 0, static_cast<double>(number(values, dtype, random)));
  }
}

}  // namespace tenfold::numeric

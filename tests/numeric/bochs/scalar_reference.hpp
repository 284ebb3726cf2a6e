// SPDX-License-Identifier: Apache-2.0
//
// What a reduction must give, one element after the other in double, from docs/numerics.md alone. It shares no code
// with jit/, nor with graph/eval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "drawn_case.hpp"

namespace tenfold::bochs {

/// A binary floating-point format of at most 32 bits.
struct Format {
  int exponent_bits, mantissa_bits, bias;
  std::uint32_t sign() const { return 1U << (exponent_bits + mantissa_bits); }
  std::uint32_t infinity() const { return ((1U << exponent_bits) - 1U) << mantissa_bits; }
  std::uint32_t smallest_normal() const { return 1U << mantissa_bits; }
  std::uint32_t canonical_nan() const { return infinity() | 1U << (mantissa_bits - 1); }
};
Format format_of(DType dtype);

double decode(DType dtype, std::uint32_t bits);
/// To f32 and from there to `dtype`, to nearest even both times; a NaN becomes the canonical one.
std::uint32_t encode(DType dtype, double value);

std::uint32_t load_bits(DType dtype, const std::byte* data, std::int64_t index);

/// What is wrong with the outputs, with the first such element; empty when nothing is. Where a chain may leave f32's
/// range, which the stated bound excludes, an element of a sum or product is not judged.
std::string judge(const DrawnCase& drawn, const Places& places, const std::byte* input, const std::byte* output);

}  // namespace tenfold::bochs

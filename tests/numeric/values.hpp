// SPDX-License-Identifier: Apache-2.0
//
// Data for numeric tests, by class: ordinary numbers and the ones that break kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

#include "tenfold/dtype.hpp"

namespace tenfold::numeric {

enum class Values : std::uint8_t {
  normal,             ///< bell-shaped around 0
  positive,           ///< in [0.5, 1.5], so that products stay finite
  integers,           ///< small ones, whose sums are exact
  ties,               ///< halves of the last place of the narrow types
  wide,               ///< any exponent
  denormal,           ///< below the type's normal range, with zeros
  zeros,              ///< of both signs
  cancel,             ///< huge ones that cancel, small ones that must survive
  negative_infinity,  ///< all -inf: what a wrong start value of Max shows on
  positive_infinity,
  some_special,  ///< ordinary, with one in sixteen special
  all_special,   ///< NaNs of both signs and with payloads, infinities, zeros, extremes, denormals
  bits,          ///< any bit pattern
};
inline constexpr int kValuesCount = 13;

std::string_view to_string(Values values);

/// Fills `count` elements of f32, bf16 or f16.
void fill(Values values, DType dtype, std::byte* data, std::int64_t count, std::mt19937_64& random);

/// The special bit patterns of a type, in the low bits.
std::span<const std::uint32_t> special_bits(DType dtype);

}  // namespace tenfold::numeric

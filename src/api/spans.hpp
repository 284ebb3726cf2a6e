// SPDX-License-Identifier: Apache-2.0
//
// Whether the buffers of a call meet, by their spans alone: what every call passes. Where they do, overlap.hpp says
// whether the tensors do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "api/specialisation.hpp"

namespace tenfold::api {

/// True when the spans of the two share a byte. Tensors with gaps may still lie in each other's; so after true ask
/// share_bytes().
inline bool spans_meet(const void* a, const OperandCheck& a_check, const void* b, const OperandCheck& b_check) {
  if (a_check.span_bytes == 0 || b_check.span_bytes == 0) return false;
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a), b_begin = reinterpret_cast<std::uintptr_t>(b);
  return a_begin < b_begin + static_cast<std::uintptr_t>(b_check.span_bytes) &&
         b_begin < a_begin + static_cast<std::uintptr_t>(a_check.span_bytes);
}

/// So many that each output should not be held against each operand: about where sorting takes as long.
inline bool has_many_pairs(std::size_t inputs, std::size_t outputs) noexcept {
  return outputs * (inputs + outputs) > 256;
}

/// True when no output's span meets another's, or an input's other than the one whose buffer it is and may be
/// (`in_place`, as Specialisation has it). Allocates when a thread's first call has so many outputs.
bool many_spans_are_apart(std::span<const OperandCheck> in_checks, const void* const* in,
                          std::span<const OperandCheck> out_checks, void* const* out,
                          std::span<const std::size_t> in_place) noexcept;

}  // namespace tenfold::api

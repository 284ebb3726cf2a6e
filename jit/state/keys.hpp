// SPDX-License-Identifier: Apache-2.0
//
// Keys of arg-reductions: signed lanes of twice an element's width, the element above and a code of its place below.
// The greatest (least) key of a row is that of the element that is asked for. How elements and places become such
// halves is said here; packed/keys.cpp and row_keys.cpp put them together, and column_keys.cpp has them
// side by side.
#pragma once

#include <cstdint>

#include "jit/vector/packed.hpp"

namespace tenfold::jit {

struct KeyRule {
  DType dtype = DType::f32;  ///< of the elements, which have 32 bits or fewer
  bool greatest = true;
  bool last = false;  ///< of equal ones (and of NaNs), not the first
};

/// True when codes are complements: of equals the first must have the greater code where the greatest key wins, the
/// last where the least does.
inline bool inverts_codes(const KeyRule& rule) { return rule.greatest != rule.last; }
inline std::uint64_t place_code(const KeyRule& rule, int place) {
  return inverts_codes(rule) ? ~static_cast<std::uint64_t>(place) : static_cast<std::uint64_t>(place);
}
inline IntegerOp key_op(const KeyRule& rule) {
  return rule.greatest ? IntegerOp::greatest_signed : IntegerOp::least_signed;
}
/// A signed lane that no other loses to.
inline std::uint64_t worst_key(const KeyRule& rule, int bytes) {
  const std::uint64_t least = std::uint64_t{1} << (8 * bytes - 1);
  return rule.greatest ? least : least - 1;
}

/// A register of elements, one that is free, and one that keeps the greatest magnitudes: above infinity's, there were
/// NaNs.
struct KeyPlaces {
  PackedVectors::Register elements = 0, spare = 0, seen = 0;
};

/// Elements to signed integers in the same order, -0 as +0; NaNs all alike before everything else where `exact`, and
/// anywhere otherwise.
void map_to_key_order(PackedVectors& v, const KeyRule& rule, const KeyPlaces& at, bool exact);

}  // namespace tenfold::jit

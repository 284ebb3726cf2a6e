// SPDX-License-Identifier: Apache-2.0
//
// Places: what the lanes of an arg-reduction have found, side by side in scratch, for lanes that are one column of
// several rows to meet. The first plane has extremes as signed integers, the second indices, the third, if there is
// one, the signs of zeros.
#pragma once

#include "jit/vector/vector.hpp"

namespace tenfold::jit {

struct PlaceRule {
  int lane_bits = 32;
  bool greatest = true;
  bool last = false;       ///< of equal ones, not the first
  bool has_signs = false;  ///< whose greatest (least) is wanted beside
  IntegerOp sign_op = IntegerOp::greatest_signed;

  int planes() const { return has_signs ? 3 : 2; }
};

struct Places {
  Memory first;
  int plane_bytes = 0;

  Memory plane(int number) const { return first + number * plane_bytes; }
};

/// The columns of `rows` rows that lie one after another in `from`, `width` lanes each, to one row in `to`, a vector at
/// a time. Indices count groups of so many rows, and become those of rows.
void emit_place_fold(VectorLayer& layer, const PlaceRule& rule, int width, int rows, const Places& from,
                     const Places& to);

}  // namespace tenfold::jit

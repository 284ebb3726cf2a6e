// SPDX-License-Identifier: Apache-2.0
#include "jit/state/keys.hpp"

namespace tenfold::jit {

void map_to_key_order(PackedVectors& v, const KeyRule& rule, const KeyPlaces& at, bool exact) {
  const int bytes = byte_size(rule.dtype);
  if (is_floating(rule.dtype)) {
    v.sign_to_integer(at.elements, at.spare, bytes);
    v.integer(IntegerOp::greatest_signed, at.seen, at.seen, at.spare, 8 * bytes);
    if (!exact) return;
    const std::uint64_t infinity = float_bits(rule.dtype).infinity;
    const std::uint64_t best = worst_key({rule.dtype, !rule.greatest, rule.last}, bytes);
    v.replace_beyond(at.elements, true, infinity, best, bytes);
    v.replace_beyond(at.elements, false, ~infinity + 1, best, bytes);
  } else if (row(rule.dtype).kind != DTypeKind::signed_integer) {
    v.flip_signs(at.elements, bytes);
  }
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
#include "jit/vector/integer_monoid.hpp"

#include <limits>

namespace tenfold::jit {

IntegerOp integer_op(kernel::Monoid monoid, DType dtype) {
  // Magnitudes of floats are bits without a sign: either order is theirs, and AVX2 compares signed ones in 64 bits.
  const bool is_signed = row(dtype).kind == DTypeKind::signed_integer || is_floating(dtype);
  switch (monoid) {
    case kernel::Monoid::sum: return IntegerOp::add;
    case kernel::Monoid::prod: return IntegerOp::multiply;
    case kernel::Monoid::max: return is_signed ? IntegerOp::greatest_signed : IntegerOp::greatest_unsigned;
    case kernel::Monoid::min:
    case kernel::Monoid::argmax:
    case kernel::Monoid::argmin: break;
  }
  return is_signed ? IntegerOp::least_signed : IntegerOp::least_unsigned;
}

std::uint64_t integer_identity(kernel::Monoid monoid, DType dtype) {
  if (is_floating(dtype)) return 0;
  const int bits = 8 * byte_size(dtype);
  const std::uint64_t ones = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  switch (integer_op(monoid, dtype)) {
    case IntegerOp::add:
    case IntegerOp::greatest_unsigned: return 0;
    case IntegerOp::multiply: return 1;
    case IntegerOp::greatest_signed: return sign;
    case IntegerOp::least_signed: return ones ^ sign;
    case IntegerOp::least_unsigned: break;
  }
  return dtype == DType::boolean ? 1 : ones;
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// The leaves of a block of packed rows whose place of the extreme is wanted, where keys are cheaper than registers of
// places (places.cpp): elements from memory to keys. A load takes 16 bytes from each half of the block's rows;
// unpacking it with the codes of places gives two registers of keys, which are combined on top of each other, and so
// are those of further loads. An element may be met twice, since its key is the same.
#include <algorithm>

#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

}  // namespace

/// One row in each half.
PackedBlock::Value PackedBlock::key_leaf(const Reg64& in, int index) {
  Value value{0, {}};
  for (int lane = 0; lane < lanes_; ++lane)
    value.rows[static_cast<std::size_t>(lane)] = index + lane / (lanes_ / 2) * (lanes_ / 2);
  const int each = kHalf / element_;
  for (int start = 0; start < width_; start += each) {
    const int first = std::max(0, std::min(start, width_ - each));
    const int low = index * row_bytes() + first * element_;
    const Register reg = take(), upper = take();
    v_.load_halves(reg, at(in, low, kBytes), at(in, low + lanes_ / 2 * row_bytes(), kHalf));
    PackedVectors::Bytes codes{}, bytes{};
    for (int byte = 0; byte < kBytes; ++byte) {
      const int place = std::min(first + byte % kHalf / element_, width_ - 1);
      const std::size_t at_byte = static_cast<std::size_t>(byte);
      codes[at_byte] = static_cast<std::uint8_t>(place_code(key_rule(), place) >> (8 * (byte % element_)));
      bytes[at_byte] = static_cast<std::uint8_t>((place - first) * element_ + byte % element_);
    }
    if (width_ < each) v_.shuffle_in_halves(reg, bytes);
    map_to_order(reg);
    v_.unpack_keys(reg, upper, codes, element_);
    combine(reg, upper, lane_);
    give(upper);
    if (start == 0) {
      value.reg = reg;
    } else {
      combine(value.reg, reg, lane_);
      give(reg);
    }
  }
  return value;
}

void PackedBlock::map_to_order(Register reg) {
  const Register spare = take();
  map_to_key_order(v_, key_rule(), {reg, spare, kLosers}, exact_);
  give(spare);
}

}  // namespace tenfold::jit

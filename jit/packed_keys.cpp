// SPDX-License-Identifier: Apache-2.0
//
// The leaves of a block of packed rows whose place of the extreme is wanted: elements from memory to keys. A load takes
// 16 bytes from each half of the block's rows; unpacking it with the codes of places gives two registers of keys.
// Where rows are longer than the lanes of half a register, these and those of further loads are combined on top of each
// other; otherwise they hold different rows, and are a leaf each. An element may be met twice, since its key is the
// same.
#include <algorithm>

#include "jit/packed_block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

constexpr int kHalf = PackedVectors::kBytes / 2;

}  // namespace

PackedBlock::Value PackedBlock::key_leaf(const Reg64& in, int index) {
  if (width_ > lanes_ / 2) return long_keys(in, index);
  if (!upper_keys_) return short_keys(in, index);
  Value value = std::move(*upper_keys_);
  upper_keys_.reset();
  return value;
}

/// One row in each half.
PackedBlock::Value PackedBlock::long_keys(const Reg64& in, int index) {
  Value value{0, {}};
  for (int lane = 0; lane < lanes_; ++lane) value.rows.push_back(index + lane / (lanes_ / 2) * (lanes_ / 2));
  const int each = kHalf / element_;
  for (int start = 0; start < width_; start += each) {
    const int first = std::max(0, std::min(start, width_ - each));
    const int low = index * row_bytes() + first * element_;
    const Register reg = take(), upper = take();
    v_.load_halves(reg, at(in, low, kHalf), at(in, low + lanes_ / 2 * row_bytes(), kHalf));
    PackedVectors::Bytes codes{}, bytes{};
    for (int byte = 0; byte < PackedVectors::kBytes; ++byte) {
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

/// In each half as many rows as its 16 bytes of elements hold; the keys of the later ones are the next leaf.
PackedBlock::Value PackedBlock::short_keys(const Reg64& in, int index) {
  const int segment = segment_ * element_, each = kHalf / segment;
  const int low = index / 2 * each * row_bytes(), high = low + lanes_ / 2 * row_bytes();
  Value value{take(), {}}, upper{take(), {}};
  for (int lane = 0; lane < lanes_; ++lane) {
    const int row = index / 2 * each + lane % (lanes_ / 2) / segment_ + lane / (lanes_ / 2) * (lanes_ / 2);
    value.rows.push_back(row);
    upper.rows.push_back(row + each / 2);
  }
  v_.load_halves(value.reg, at(in, low, kHalf), at(in, high, kHalf));
  PackedVectors::Bytes codes{}, bytes{};
  for (int byte = 0; byte < PackedVectors::kBytes; ++byte) {
    const int start = byte % kHalf / segment * row_bytes();
    const int place = std::min(byte % segment / element_, width_ - 1);
    const std::size_t at_byte = static_cast<std::size_t>(byte);
    codes[at_byte] = static_cast<std::uint8_t>(place_code(key_rule(), place) >> (8 * (byte % element_)));
    bytes[at_byte] = static_cast<std::uint8_t>(start + place * element_ + byte % element_);
  }
  if (width_ < segment_) v_.shuffle_in_halves(value.reg, bytes);
  map_to_order(value.reg);
  v_.unpack_keys(value.reg, upper.reg, codes, element_);
  upper_keys_ = std::move(upper);
  return value;
}

void PackedBlock::map_to_order(Register reg) {
  const Register spare = take();
  map_to_key_order(v_, key_rule(), {reg, spare, kLosers}, exact_);
  give(spare);
}

}  // namespace tenfold::jit

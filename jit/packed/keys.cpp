// SPDX-License-Identifier: Apache-2.0
//
// The leaves of a block of packed rows whose place of the extreme is wanted, where keys are cheaper than registers of
// places (places.cpp): elements from memory to keys. A load takes 16 bytes from each half of the block's rows;
// unpacking it with the codes of places gives two registers of keys, which are combined on top of each other, and so
// are those of further loads. An element may be met twice, since its key is the same. Keys of bytes have room for 256
// places: those of longer rows are made wider, part by part, by the number of the part.
#include <algorithm>
#include <optional>

#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

PackedVectors::Bytes complement(PackedVectors::Bytes bytes) {
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(~byte);
  return bytes;
}

}  // namespace

/// One row in each half.
PackedBlock::Value PackedBlock::key_leaf(const Reg64& in, int index) {
  Value value{0, {}};
  for (int lane = 0; lane < lanes_; ++lane)
    value.rows[static_cast<std::size_t>(lane)] = index + lane / (lanes_ / 2) * (lanes_ / 2);
  const bool in_parts = lane_ > 2 * element_;
  const int part = in_parts ? schedule::kPlacesOfByte : width_;
  for (int begin = 0; begin < width_; begin += part) {
    const Register keys = keys_of_part(in, index, begin, std::min(width_, begin + part));
    if (in_parts) widen_keys(keys, begin / part);
    if (begin == 0) {
      value.reg = keys;
    } else {
      combine(value.reg, keys, lane_);
      give(keys);
    }
  }
  return value;
}

/// Keys of twice the element's bytes, of the places from `begin` up to `end`, which they count from `begin`.
PackedBlock::Register PackedBlock::keys_of_part(const Reg64& in, int index, int begin, int end) {
  const int each = kHalf / element_, lane = 2 * element_;
  std::optional<Register> result;
  for (int start = begin; start < end; start += each) {
    // Where 16 bytes begin that are in the row.
    const int from = std::max(0, std::min(start, width_ - each)), first = std::max(begin, from);
    const int low = index * row_bytes() + from * element_;
    const Register reg = take(), upper = take();
    v_.load_halves(reg, at(in, low, kBytes), at(in, low + lanes_ / 2 * row_bytes(), kHalf));
    PackedVectors::Bytes codes{}, bytes{};
    for (int byte = 0; byte < kBytes; ++byte) {
      const int place = std::min(first + byte % kHalf / element_, end - 1);
      const std::size_t at_byte = static_cast<std::size_t>(byte);
      codes[at_byte] = static_cast<std::uint8_t>(place_code(key_rule(), place - begin) >> (8 * (byte % element_)));
      bytes[at_byte] = static_cast<std::uint8_t>((place - from) * element_ + byte % element_);
    }
    if (first > from || end - first < each) v_.shuffle_in_halves(reg, bytes);
    map_to_order(reg);
    v_.unpack_keys(reg, upper, codes, element_);
    combine(reg, upper, lane);
    give(upper);
    if (result) {
      combine(*result, reg, lane);
      give(reg);
    } else {
      result = reg;
    }
  }
  return *result;
}

/// Keys of an element and a place of a byte each, to those of an element above a place of 16 bits.
void PackedBlock::widen_keys(Register keys, int part) {
  PackedVectors::Bytes elements{}, parts{};
  for (int byte = 0; byte < kBytes; ++byte) {
    const bool is_element = byte % 2 == 1;
    elements[static_cast<std::size_t>(byte)] = is_element ? 0xff : 0;
    parts[static_cast<std::size_t>(byte)] =
        is_element ? static_cast<std::uint8_t>(place_code(key_rule(), part)) : std::uint8_t{0};
  }
  const Register places = take(), upper = take();
  v_.copy(places, keys);
  v_.keep_inside(places, complement(elements), parts);
  v_.and_bytes(keys, elements);
  v_.unpack_keys(keys, upper, places, 2);
  combine(keys, upper, lane_);
  give(upper);
  give(places);
}

void PackedBlock::map_to_order(Register reg) {
  const Register spare = take();
  map_to_key_order(v_, key_rule(), {reg, spare, kLosers}, exact_);
  give(spare);
}

}  // namespace tenfold::jit

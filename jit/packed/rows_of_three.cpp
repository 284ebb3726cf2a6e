// SPDX-License-Identifier: Apache-2.0
//
// Blocks of rows of three elements: coordinates, colours. Shuffles bring the first, second and third ones apart, so
// that registers meet whole.
#include <algorithm>
#include <array>

#include "jit/packed/block.hpp"

namespace tenfold::jit {

using Xbyak::Reg64;

/// Eight rows of three lanes fill three registers: first, second and third elements come apart in five shuffles, where
/// a register for each two rows, filled up to four lanes, would take eight loads and nine operations to meet. These
/// meet as lanes of four do: the first and the third, then the second, whose partner there is the start value.
PackedBlock::Register PackedBlock::rows_of_three(const Reg64& in) {
  std::array<Register, 3> parts{};
  for (int part = 0; part < 3; ++part) {
    parts[static_cast<std::size_t>(part)] = part_of_three(in, part);
    if (widened()) trail(part + 1, 3);
  }
  const auto [first, second, third] = parts;
  const Register late = take(), early = take();
  v_.shuffle_pair(late, second, third, {2, 3, 1, 2});
  v_.shuffle_pair(early, first, second, {1, 2, 0, 1});
  v_.shuffle_pair(first, first, late, {0, 3, 0, 2});
  v_.shuffle_pair(third, early, third, {1, 3, 0, 3});
  combine(first, third, lane_);
  v_.shuffle_pair(second, early, late, {0, 2, 1, 3});
  combine(first, second, lane_);
  for (const Register reg : {second, third, late, early}) give(reg);
  return first;
}

/// In each half four elements, one after another, of four rows.
PackedBlock::Register PackedBlock::part_of_three(const Reg64& in, int part) {
  const Register reg = take();
  const int low = part * 4 * element_, high = low + 12 * element_;
  if (input_ == DType::f16) {
    v_.load_widened_quarters(reg, at(in, low, 8), at(in, high, 8));
  } else {
    // Of bf16 the last ones of the block are the second ones of 16 bytes.
    const int late = widened() ? std::max(0, high + kHalf - input_bytes()) : 0;
    v_.load_halves(reg, at(in, low, kBytes), at(in, high - late, kHalf));
    if (widened()) {
      PackedVectors::Bytes bytes{};
      for (int byte = 0; byte < kBytes; ++byte)
        bytes[static_cast<std::size_t>(byte)] =
            byte % 4 < 2 ? PackedVectors::kZero
                         : static_cast<std::uint8_t>(byte % kHalf / 4 * 2 + byte % 2 + (byte < kHalf ? 0 : late));
      v_.shuffle_in_halves(reg, bytes);
    }
  }
  watch(reg);
  map(reg);
  return reg;
}

/// Sixteen rows of three words, eight in each half. Of three registers of a half, the words of one number in their rows
/// are never at the same place, so that two blends bring all eight together, and a rotation to their row's other ones.
PackedBlock::Value PackedBlock::rows_of_three_words(const Reg64& in) {
  std::array<Register, 3> loaded{}, parts{};
  for (int number = 0; number < 3; ++number) {
    const Register reg = take();
    v_.load_halves(reg, at(in, number * kHalf, kBytes), at(in, (number + 3) * kHalf, kHalf));
    watch(reg);
    map(reg);
    loaded[static_cast<std::size_t>(number)] = reg;
  }
  // Of each register the places of the words that are first in their row, second and third, by how far they are along.
  constexpr int kPlaces[3] = {0b01001001, 0b10010010, 0b00100100};
  for (int part = 0; part < 3; ++part) {
    const Register reg = take();
    v_.blend_words(reg, loaded[0], loaded[1], kPlaces[(part + 1) % 3]);
    v_.blend_words(reg, reg, loaded[2], kPlaces[(part + 2) % 3]);
    v_.rotate_words(reg, part);
    parts[static_cast<std::size_t>(part)] = reg;
  }
  for (const Register reg : loaded) give(reg);
  Value value{parts[0], {}};
  for (int lane = 0; lane < lanes_; ++lane)
    value.rows[static_cast<std::size_t>(lane)] = lane % 8 * 3 % 8 + lane / 8 * 8;
  for (const std::size_t part : {1, 2}) {
    combine(value.reg, parts[part], lane_);
    give(parts[part]);
  }
  return value;
}

}  // namespace tenfold::jit

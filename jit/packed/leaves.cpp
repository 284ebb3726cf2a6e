// SPDX-License-Identifier: Apache-2.0
//
// The leaves of a block of packed rows: rows, or several short ones, from memory to one register.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

}  // namespace

PackedBlock::Value PackedBlock::leaf(const Reg64& in, int index) {
  if (keys()) return key_leaf(in, index);
  if (widens_in_halves()) return pair_of_rows(in, index);
  if (segment_ < lanes_) return widened() ? short_rows_widened(in, index) : short_rows(in, index);
  const int number = number_of_leaf(index);
  Value value{row(in, number), {}};
  value.rows.fill(number);
  return value;
}

/// Rows of two lines and more are neighbours, in their order; of shorter ones those whose results need no sorting.
/// ReduceSum bf16 takes so, over the last axis of [8192, 100], 45 us instead of 55, of [61680, 17] 92 instead of 101.
PackedBlock::Value PackedBlock::pair_of_rows(const Reg64& in, int index) {
  constexpr int kLongRow = 128;
  if (row_bytes() >= kLongRow) return rows_in_halves(in, 2 * index, 2 * index + 1);
  return rows_in_halves(in, index, index + lanes_ / 2);
}

/// Rows in their order, as whoever fetches ahead guesses best so. But lanes of less than 32 bits cannot all change
/// places at once: of these halves meet first, and keep to their half of the rows.
int PackedBlock::number_of_leaf(int index) const { return lane_ >= 4 ? index : index / 2 + index % 2 * (rows() / 2); }

/// Two rows of more than half a register and no more than one: the first halves of both in one register and the second
/// ones in another, where they meet without a shuffle. Of neighbours, the end of one lies before the start of the next
/// as halves of a register do: the start of the first beside the end of the second, and what is between them.
PackedBlock::Value PackedBlock::rows_of_halves(const Reg64& in, int index) {
  const int half = lanes_ / 2, left = width_ - half;
  const int first = number_of_leaf(index), last = number_of_leaf(index + 1);
  const int low = first * row_bytes(), high = last * row_bytes();
  Value value{take(), {}};
  for (int lane = 0; lane < lanes_; ++lane) value.rows[static_cast<std::size_t>(lane)] = lane < half ? first : last;
  const Register second = take();
  const bool whole = idempotent() || left == half;  // what is taken twice changes no extreme
  if (last == first + 1 && whole && are_dense()) {
    v_.load(value.reg, at(in, low, kBytes));
    v_.load_upper(value.reg, at(in, high + row_bytes() - kBytes, kBytes));
    v_.load(second, at(in, high - kHalf, kBytes));
  } else {
    const int offset = (idempotent() ? left : half) * lane_;
    v_.load_halves(value.reg, at(in, low, kBytes), at(in, high, kHalf));
    v_.load_halves(second, at(in, low + offset, kBytes), at(in, high + offset, kHalf));
  }
  for (const Register reg : {value.reg, second}) watch(reg);
  if (!whole) fill(second, left, half);
  for (const Register reg : {value.reg, second}) map(reg);
  combine(value.reg, second, lane_);
  give(second);
  return value;
}

/// In each half as many rows as it holds, from `index` times that on; the upper half of the rows in the upper one.
PackedBlock::Value PackedBlock::short_rows(const Reg64& in, int index) {
  const int segment = segment_ * lane_, each = kHalf / segment;
  if (permutes_rows(2 * each)) return permuted_rows(in, index);
  Value value{take(), {}};
  for (int lane = 0; lane < lanes_; ++lane)
    value.rows[static_cast<std::size_t>(lane)] =
        index * each + lane % (lanes_ / 2) / segment_ + lane / (lanes_ / 2) * (rows() / 2);
  const int low = index * each * row_bytes(), high = low + rows() / 2 * row_bytes();
  v_.load_halves(value.reg, at(in, low, kBytes), at(in, high, kHalf));
  watch(value.reg);
  if (pads_cells() || (each > 1 && row_bytes() != segment)) {
    PackedVectors::Bytes bytes{};
    for (int byte = 0; byte < kBytes; ++byte)
      bytes[static_cast<std::size_t>(byte)] =
          source_of(byte % kHalf / segment * row_bytes(), byte % segment / lane_, byte % lane_);
    v_.shuffle_in_halves(value.reg, bytes);
    if (!idempotent() && identity() != 0) v_.or_bytes(value.reg, identity_past(width_, segment_));
  } else if (width_ < segment_) {
    fill(value.reg, width_, segment_);
  }
  map(value.reg);
  return value;
}

/// So many rows, one after another, are loaded as they lie, and lanes that have no element get one of the same row. How
/// the rows of a block lie is put right when they are one register (sort()).
bool PackedBlock::permutes_rows(int count) const {
  return v_.permutes_bytes() && !pads_cells() && (fills_segments() || idempotent()) &&
         (count - 1) * row_bytes() + width_ * element_ <= kBytes;
}

bool PackedBlock::fills_segments() const { return width_ == segment_ && row_bytes() == segment_ * lane_; }

PackedBlock::Value PackedBlock::permuted_rows(const Reg64& in, int index) {
  const int segment = segment_ * lane_, count = kBytes / segment;
  Value value{take(), {}};
  PackedVectors::Bytes bytes{};
  for (int byte = 0; byte < kBytes; ++byte) {
    value.rows[static_cast<std::size_t>(byte / lane_)] = index * count + byte / segment;
    bytes[static_cast<std::size_t>(byte)] =
        source_of(byte / segment * row_bytes(), byte % segment / lane_, byte % lane_);
  }
  const Memory rows = at(in, index * count * row_bytes(), kBytes);
  fills_segments() ? v_.load(value.reg, rows) : v_.load_permuted(value.reg, rows, bytes);
  watch(value.reg);
  map(value.reg);
  return value;
}

/// Pairs of elements are moved as one: shuffles bring those of the same number together, of all rows of the block, and
/// only then are they widened, the first ones by a shift and the second ones by a mask. So registers meet whole, in the
/// order of the tree, and the two of a pair last. Rows of 8 take 8 shuffles, of three ports, where four registers of
/// two rows each take 8 of two ports, and three times two operations to meet.
PackedBlock::Value PackedBlock::rows_of_pairs(const Reg64& in) {
  const int pairs = width_ / 2;
  std::vector<Register> firsts, seconds;
  for (int i = 0; i < pairs; ++i) {
    seconds.push_back(take());
    v_.load(seconds.back(), at(in, i * kBytes, kBytes));
  }
  // Registers i and i + 1 become what `lower` and `upper` take of both.
  const auto part = [&](std::size_t i, const std::array<int, 4>& lower, const std::array<int, 4>& upper) {
    const Register spare = take();
    v_.shuffle_pair(spare, seconds[i], seconds[i + 1], lower);
    v_.shuffle_pair(seconds[i + 1], seconds[i], seconds[i + 1], upper);
    give(seconds[i]);
    seconds[i] = spare;
  };
  LaneNumbers rows{0, 1, 2, 3, 4, 5, 6, 7};
  if (pairs == 2) rows = {0, 1, 4, 5, 2, 3, 6, 7};
  if (pairs == 4) {
    rows = {0, 2, 4, 6, 1, 3, 5, 7};
    for (const std::size_t i : {0, 2}) part(i, {0, 1, 0, 1}, {2, 3, 2, 3});
    std::swap(seconds[1], seconds[2]);
  }
  for (std::size_t i = 0; i + 1 < seconds.size(); i += 2) part(i, {0, 2, 0, 2}, {1, 3, 1, 3});
  for (const Register second : seconds) {
    firsts.push_back(take());
    v_.widen_pairs(firsts.back(), second);
    map(firsts.back());
    map(second);
    trail(static_cast<int>(firsts.size()), pairs);
  }
  for (std::size_t distance = seconds.size() / 2; distance > 0; distance /= 2)
    for (const std::vector<Register>& regs : {firsts, seconds})
      for (std::size_t i = 0; i < distance; ++i) combine(regs[i], regs[i + distance], lane_);
  combine(firsts[0], seconds[0], lane_);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    give(seconds[i]);
    if (i > 0) give(firsts[i]);
  }
  return {firsts[0], rows};
}

/// One row in each half: of 8 elements of both the first four are shuffled to the lanes of one register and the last
/// four to those of another, and are added there to what has the same four of the 16 lanes that a sum has. So what is
/// eight and four lanes apart is added where it is; lanes meet in the same order.
PackedBlock::Value PackedBlock::rows_in_halves(const Reg64& in, int low_row, int high_row) {
  const int half = lanes_ / 2, each = kHalf / element_;
  std::array<std::optional<Register>, kVirtualLanes / 4> fours;
  for (int first = 0; first < width_; first += each) {
    const Register loaded = take();
    v_.load_halves(loaded, at(in, low_row * row_bytes() + first * element_, kBytes),
                   at(in, high_row * row_bytes() + first * element_, kHalf));
    for (const int part : {1, 0}) {
      if (first + part * half >= width_) continue;
      PackedVectors::Bytes bytes{};
      for (int byte = 0; byte < kBytes; ++byte) {
        const int place = part * half + byte % kHalf / lane_;
        const bool is_there = byte % lane_ >= lane_ - element_ && first + place < width_;
        bytes[static_cast<std::size_t>(byte)] =
            is_there ? static_cast<std::uint8_t>(place * element_ + byte % element_) : PackedVectors::kZero;
      }
      const Register to = part == 0 ? loaded : take();
      v_.shuffle_in_halves(to, loaded, bytes);
      map(to);
      std::optional<Register>& four =
          fours[static_cast<std::size_t>(first % kVirtualLanes / half) + static_cast<std::size_t>(part)];
      if (four) {
        combine(*four, to, lane_);
        give(to);
      } else {
        four = to;
      }
    }
  }
  for (std::size_t distance = fours.size() / 2; distance > 0; distance /= 2)
    for (std::size_t i = 0; i < distance; ++i)
      if (fours[i + distance]) {
        combine(*fours[i], *fours[i + distance], lane_);
        give(*fours[i + distance]);
      }
  Value value{*fours[0], {}};
  for (int lane = 0; lane < lanes_; ++lane)
    value.rows[static_cast<std::size_t>(lane)] = lane < half ? low_row : high_row;
  return value;
}

/// As many rows as have 8 lanes, one after another.
PackedBlock::Value PackedBlock::short_rows_widened(const Reg64& in, int index) {
  const int each = lanes_ / segment_;
  Value value{take(), {}};
  for (int lane = 0; lane < lanes_; ++lane) value.rows[static_cast<std::size_t>(lane)] = index * each + lane / segment_;
  const Memory from = at(in, index * each * row_bytes(), kHalf);
  if (width_ == segment_ && !pads_cells() && (each == 1 || row_bytes() == segment_ * element_)) {
    v_.load_widened(value.reg, input_, from);
  } else {
    PackedVectors::Bytes bytes{};
    for (int byte = 0; byte < kHalf; ++byte) {
      const int lane = byte / element_;
      bytes[static_cast<std::size_t>(byte)] =
          source_of(lane / segment_ * row_bytes(), lane % segment_, byte % element_);
    }
    v_.load_spread_widened(value.reg, input_, from, bytes);
    if (identity() != 0) fill(value.reg, width_, segment_);
  }
  map(value.reg);
  return value;
}

/// A row of more than half a register, in one: what is past its first lanes is combined on top of them.
/// Sums deal their terms to 16 lanes, in the order of the elements; otherwise the order is free.
std::vector<PackedBlock::Register> PackedBlock::lanes_of_row(const Reg64& in, int number) {
  return lanes_of_row(in, number, 0, width_);
}

/// Of its lanes from `first` up to `end`, or to its own end.
std::vector<PackedBlock::Register> PackedBlock::lanes_of_row(const Reg64& in, int number, int first, int end) {
  const int ways = floats() ? kVirtualLanes / lanes_ : 1;
  std::vector<Register> lanes;
  for (int index = first / lanes_; index * lanes_ < std::min(end, width_); ++index) {
    const Register reg = piece(in, number, index);
    if (lanes.size() < static_cast<std::size_t>(ways)) {
      lanes.push_back(reg);
    } else {
      combine(lanes[static_cast<std::size_t>(index % ways)], reg, lane_);
      give(reg);
    }
  }
  return lanes;
}

PackedBlock::Register PackedBlock::row(const Reg64& in, int number) {
  if (loops_along_rows()) return long_row(in);
  std::vector<Register> lanes = lanes_of_row(in, number);
  for (std::size_t distance = std::bit_ceil(lanes.size()) / 2; distance > 0; distance /= 2) {
    for (std::size_t i = 0; i < distance && i + distance < lanes.size(); ++i) {
      combine(lanes[i], lanes[i + distance], lane_);
      give(lanes[i + distance]);
    }
    lanes.resize(std::min(lanes.size(), distance));
  }
  spread_cells(lanes[0]);
  return lanes[0];
}

PackedBlock::Register PackedBlock::piece(const Reg64& in, int number, int index) {
  int first = index * lanes_;
  const auto fits_a_load = [&] {
    const int bytes = (width_ - first) * element_;
    return identity() == 0 && !pads_cells() && (bytes == 4 || bytes == 8 || bytes == kHalf);
  };
  // An extreme may meet elements twice, so that its last piece ends where the row does; so does that of other integers,
  // which leaves out those that it has met.
  const bool leaves_out = kind_ == schedule::Lanes::integer && !pads_cells() && !fits_a_load();
  if (width_ >= lanes_ && (idempotent() || leaves_out)) first = std::min(first, width_ - lanes_);
  const int offset = number * row_bytes() + offset_of(first), bytes = (width_ - first) * element_;
  const Register reg = take();
  if (widened()) {
    v_.load_widened(reg, input_, at(in, offset, lanes_ * element_));
  } else if (fits_a_load()) {
    v_.load_first(reg, bytes, at(in, offset, bytes));
    map(reg);
    return reg;
  } else {
    v_.load(reg, at(in, offset, kBytes));
  }
  watch(reg);
  if (first + lanes_ > width_) fill(reg, (width_ - first) / cell_lanes_ * cell_, segment_);
  if (!idempotent() && first < index * lanes_) fill_first(reg, index * lanes_ - first);
  map(reg);
  return reg;
}

/// Where byte `byte` of lane `number` of a row comes from that starts `start` bytes on. A lane without an element has
/// nothing; of extremes, which change by no element that is taken twice, one of its column, or at least of its row.
std::uint8_t PackedBlock::source_of(int start, int number, int byte) const {
  const int column = number % cell_lanes_;
  if (number < width_ && column < cell_) return static_cast<std::uint8_t>(start + offset_of(number) + byte);
  if (!idempotent() && !places()) return PackedVectors::kZero;
  return static_cast<std::uint8_t>(start + offset_of(column < cell_ ? column : 0) + byte);
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// Blocks of packed rows whose place of the extreme is wanted: registers of elements, and beside each one of their
// places. Neighbouring lanes meet, as first ones and second ones of two registers, so that each lane stands for places
// one after another: of equals the one that comes first is known without a look at places. Rows of more than a register
// are combined on top of each other before, lane by lane; there places are looked at where lanes are equal. An element
// may be met twice, at its own place.
//
// Places are below zero, as a comparison says -1: what was no register of places becomes one by an addition. Shuffles,
// of two ports, bound all this: rows that lie as they are wanted are loaded 32 bytes at a time, and others as halves.
#include <algorithm>

#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

constexpr int kBytes = PackedVectors::kBytes;
constexpr int kHalf = kBytes / 2;

}  // namespace

/// Of each lane of `lane` bytes, that of `x` or of `y` which PackedVectors::part() brings to the first ones (`late`: to
/// the second ones).
PackedBlock::LaneNumbers PackedBlock::part_numbers(const LaneNumbers& x, const LaneNumbers& y, int bytes, int lane,
                                                   bool late) {
  LaneNumbers to{};
  for (int at = 0; at < kBytes; at += lane) {
    const int group = bytes == 4 ? kHalf : 2 * bytes, place = at % group / bytes;
    const int pair = bytes == 4 ? place % 2 : 0;
    const bool is_y = bytes == 4 ? place >= 2 : place == 1;
    const int from = at - at % group + (2 * pair + (late ? 1 : 0)) * bytes + at % bytes;
    to[static_cast<std::size_t>(at / lane)] = (is_y ? y : x)[static_cast<std::size_t>(from / lane)];
  }
  return to;
}

/// The register of places.
PackedBlock::Value PackedBlock::find(const Reg64& in) {
  const Found best = cell_ > 1 ? found_cells(in, 0, leaves()) : found_tree(in, 0, segment_);
  if (looks_at_bits()) v_.jump_unless_settled(best.elements, kLosers, float_bits(input_).infinity, lane_, unsettled_);
  give(best.elements);
  Value value{*best.places, best.rows};
  if (are_side_by_side() && lane_ < 4) {
    v_.swap_quarters(value.reg);
    const auto rows = value.rows.begin();
    std::swap_ranges(rows + lanes_ / 4, rows + lanes_ / 2, rows + lanes_ / 2);
  }
  return value;
}

/// `count` leaves from `first` on.
PackedBlock::Found PackedBlock::found_tree(const Reg64& in, int first, int count) {
  if (count == 1) return loops_over_leaves() ? stored_row(first) : found_row(in, first);
  Found x = found_tree(in, first, count / 2), y = found_tree(in, first + count / 2, count / 2);
  const int bytes = count == lanes_ ? kHalf : std::min(4, lane_ * count / 2);
  const auto part_registers = [&](Register& early, Register& late) {
    const Register to = take();
    v_.part(to, early, late, bytes);
    give(early);
    early = to;
  };
  part_registers(x.elements, y.elements);
  if (x.places) {
    part_registers(*x.places, *y.places);
  } else {
    const LaneNumbers early = part_numbers(x.first, y.first, bytes, lane_, false);
    y.first = part_numbers(x.first, y.first, bytes, lane_, true);
    x.first = early;
  }
  x.rows = part_numbers(x.rows, y.rows, bytes, lane_, false);
  take_better(x, std::move(y), width_ <= segment_, count < segment_ || looks_at_bits());
  return x;
}

/// What is past a leaf's first load combined on top of it.
PackedBlock::Found PackedBlock::found_row(const Reg64& in, int index) {
  Found best = found_leaf(in, index, 0);
  if (loops_along_rows()) find_along(in, best);
  for (int piece = 1 + pieces_in_loop(); piece * segment_ < width_; ++piece)
    take_better(best, found_leaf(in, index, piece), true, true);
  return best;
}

/// `piece` registers on in a row; or in each half as many rows as its 16 bytes hold, or one of `piece` 16 bytes on.
PackedBlock::Found PackedBlock::found_leaf(const Reg64& in, int index, int piece) {
  const bool whole = segment_ == lanes_;
  const int half = lanes_ / 2, each = whole ? 1 : half / segment_;
  const int start = std::max(0, std::min(piece * segment_, width_ - segment_));
  Found found{take(), {}, {}, {}};
  // Of each half the row, and the first place.
  std::array<int, 2> rows{}, places{start, start};
  if (whole) {
    rows = {index, index};
    places[1] = width_ < lanes_ ? width_ - half : start + half;
  } else if (are_side_by_side()) {
    rows = {2 * index * each, (2 * index + 1) * each};
  } else {
    rows = {index * each, index * each + half};
  }
  for (int lane = 0, row = 0, place = 0; lane < lanes_; ++lane) {
    if (lane == half) row = place = 0;
    const std::size_t part = lane < half ? 0 : 1;
    found.first[static_cast<std::size_t>(lane)] = places[part] + std::min(place, width_ - 1);
    found.rows[static_cast<std::size_t>(lane)] = rows[part] + row;
    if (++place == segment_) place = 0, ++row;
  }
  const int low = rows[0] * row_bytes() + places[0] * lane_, high = rows[1] * row_bytes() + places[1] * lane_;
  if (high == low + kHalf) {
    v_.load(found.elements, at(in, low, kBytes));
  } else {
    v_.load_halves(found.elements, at(in, low, kBytes), at(in, high, kHalf));
  }
  if (width_ < segment_ && !whole) v_.shuffle_in_halves(found.elements, spread_rows());
  map_found(found.elements);
  return found;
}

/// To integers of the elements' order, or to their bits as such.
void PackedBlock::map_found(Register elements) {
  if (looks_at_bits()) {
    if (!maximum()) v_.flip_signs(elements, lane_);
    v_.integer(IntegerOp::greatest_unsigned, kLosers, kLosers, elements, 8 * lane_);
  } else {
    const Register spare = take();
    map_to_key_order(v_, key_rule(), {elements, spare, kLosers}, exact_);
    give(spare);
  }
}

/// Where each byte of a half comes from where rows, one after another, have a segment each; past its end a row has its
/// last lane again.
PackedVectors::Bytes PackedBlock::spread_rows() const {
  PackedVectors::Bytes bytes{};
  for (int byte = 0; byte < kBytes; ++byte) {
    const int lane = byte % kHalf / lane_, row = lane / segment_, place = std::min(lane % segment_, width_ - 1);
    bytes[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(row * row_bytes() + place * lane_ + byte % lane_);
  }
  return bytes;
}

/// The better lanes of both. All places of `early` come before those of `late` where these are `in_order`. Where no
/// more is to come, elements are not `kept`.
void PackedBlock::take_better(Found& early, Found late, bool in_order, bool kept) {
  // The least is the greatest with all signs turned over.
  const bool greatest = maximum() || looks_at_bits();
  if (!in_order) take_earlier_of_equals(early, late);
  const Register mask = take();
  const bool strict = !body_.last || !in_order;
  v_.beats(mask, (strict ? late : early).elements, (strict ? early : late).elements, greatest, lane_);
  if (!early.places) {
    early.places = place_register(early.first, late.first, mask, strict);
  } else if (!late.places) {
    v_.blend(*early.places, place_bytes(late.first), mask, strict);
  } else if (strict) {
    v_.blend(*early.places, *late.places, mask);
    give(*late.places);
  } else {
    v_.blend(*late.places, *early.places, mask);
    std::swap(*early.places, *late.places);
    give(*late.places);
  }
  give(mask);
  if (kept)
    v_.integer(greatest ? IntegerOp::greatest_signed : IntegerOp::least_signed, early.elements, early.elements,
               late.elements, 8 * lane_);
  give(late.elements);
}

/// Where elements are equal, the earlier place (or the later one) for `early`. Below zero the earlier is the greater.
void PackedBlock::take_earlier_of_equals(const Found& early, const Found& late) {
  const Register equal = take(), place = take();
  v_.equal(equal, late.elements, early.elements, lane_);
  v_.integer(body_.last ? IntegerOp::least_signed : IntegerOp::greatest_signed, place, *early.places, *late.places,
             8 * lane_);
  v_.blend(*early.places, place, equal);
  give(place);
  give(equal);
}

/// The places of lanes of which the later ones won (`wins`), or the earlier ones, where the mask is set.
PackedBlock::Register PackedBlock::place_register(const LaneNumbers& early, const LaneNumbers& late, Register mask,
                                                  bool wins) {
  bool next = wins;
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes_); ++lane)
    next = next && late[lane] == early[lane] + 1;
  const Register to = take();
  if (next) {
    v_.add_bytes(to, mask, place_bytes(early), lane_);
  } else {
    v_.choose(to, mask, place_bytes(wins ? late : early), place_bytes(wins ? early : late));
  }
  return to;
}

PackedVectors::Bytes PackedBlock::place_bytes(const LaneNumbers& places) const {
  PackedVectors::Bytes bytes{};
  for (int byte = 0; byte < kBytes; ++byte)
    bytes[static_cast<std::size_t>(byte)] =
        static_cast<std::uint8_t>(-places[static_cast<std::size_t>(byte / lane_)] >> (8 * (byte % lane_)));
  return bytes;
}

}  // namespace tenfold::jit

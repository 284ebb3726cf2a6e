// SPDX-License-Identifier: Apache-2.0
//
// Blocks of rows of cells whose places of the extremes are wanted: registers of elements, and beside each one of their
// places, as in places.cpp. A row's registers are combined on top of each other, lane by lane, where later ones hold
// later places. Lanes of a column are not neighbours that part() would tell apart, so registers meet as those of other
// reductions do, elements and places alike, and of equals the places are looked at.
#include <algorithm>

#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

}  // namespace

/// `count` leaves from `first` on, as tree().
PackedBlock::Found PackedBlock::found_cells(const Reg64& in, int first, int count) {
  if (count == 1) return loops_over_leaves() ? stored_row(first) : found_row_of_cells(in, first);
  Found x = found_cells(in, first, count / 2), y = found_cells(in, first + count / 2, count / 2);
  const int bytes = segment_ / count * lane_;
  v_.copy(y.elements, v_.meet(x.elements, y.elements, bytes));
  v_.copy(*y.places, v_.meet(*x.places, *y.places, bytes));
  for (int lane = 0; lane < lanes_; ++lane)
    if ((lane & (bytes / lane_)) != 0) x.rows[static_cast<std::size_t>(lane)] = y.rows[static_cast<std::size_t>(lane)];
  take_better(x, std::move(y), false, count < leaves() || looks_at_bits());
  return x;
}

/// A row, or several short ones, in a register, whose cells have their lanes to themselves; with places.
PackedBlock::Found PackedBlock::found_row_of_cells(const Reg64& in, int index) {
  Found best = width_ < lanes_ ? found_short_cells(in, index) : found_piece_of_cells(in, number_of_leaf(index), 0);
  for (int first = lanes_; first < width_; first += lanes_)
    take_better(best, found_piece_of_cells(in, number_of_leaf(index), std::min(first, width_ - lanes_)), true, true);
  if (!best.places) {
    best.places = take();
    v_.load_constant(*best.places, place_bytes(best.first));
  }
  if (width_ >= lanes_) {
    spread_cells(best.elements);
    spread_cells(*best.places);
  }
  return best;
}

/// The register of a row whose first cell is that of lane `first`; cells lie side by side, as in memory.
PackedBlock::Found PackedBlock::found_piece_of_cells(const Reg64& in, int number, int first) {
  Found found{take(), {}, {}, {}};
  found.rows.fill(number);
  const int cells = lanes_ / cell_lanes_;
  for (int lane = 0; lane < lanes_; ++lane)
    found.first[static_cast<std::size_t>(lane)] = first / cell_lanes_ + std::min(lane / cell_, cells - 1);
  v_.load(found.elements, at(in, number * row_bytes() + offset_of(first), kBytes));
  map_found(found.elements);
  return found;
}

/// Less than a register: in each half as many rows as it has segments, or the first and the last cells of one.
PackedBlock::Found PackedBlock::found_short_cells(const Reg64& in, int index) {
  const int half = lanes_ / 2, segment = segment_ * lane_;
  const bool whole = segment_ == lanes_;
  const int each = whole ? 1 : kHalf / segment;
  const int low_row = whole ? number_of_leaf(index) : index * each, high_row = whole ? low_row : low_row + rows() / 2;
  const int late = whole ? width_ - half : 0;  // where the upper half begins
  Found found{take(), {}, {}, {}};
  for (int lane = 0; lane < lanes_; ++lane) {
    const int in_half = lane % half, number = whole ? in_half : in_half % segment_;
    const int place = (number < width_ ? number : 0) / cell_lanes_ + (lane < half ? 0 : late / cell_lanes_);
    found.first[static_cast<std::size_t>(lane)] = place;
    found.rows[static_cast<std::size_t>(lane)] = (lane < half ? low_row : high_row) + (whole ? 0 : in_half / segment_);
  }
  v_.load_halves(found.elements, at(in, low_row * row_bytes(), kBytes),
                 at(in, high_row * row_bytes() + offset_of(late), kHalf));
  if (pads_cells() || width_ < std::min(segment_, half) || (each > 1 && row_bytes() != segment)) {
    PackedVectors::Bytes bytes{};
    for (int byte = 0; byte < kBytes; ++byte)
      bytes[static_cast<std::size_t>(byte)] = source_of(whole ? 0 : byte % kHalf / segment * row_bytes(),
                                                        (whole ? byte % kHalf : byte % segment) / lane_, byte % lane_);
    v_.shuffle_in_halves(found.elements, bytes);
  }
  map_found(found.elements);
  return found;
}

/// No more than the block's places, by way of scratch: of narrow lanes each half's are at its start (sort()).
void PackedBlock::store_places_of_cells(const Reg64& out, Register result) {
  const int scratch = frame::kRecords + leaves_bytes(), of_half = lanes_ / 2 * byte_size(output_);
  const bool in_halves = lane_ < 4 && rows() > 1;
  const int bytes = in_halves ? output_bytes() / 2 : output_bytes();
  v_.store_places(code_.rbp + scratch, result, lane_, output_);
  for (int run = 0; run < (in_halves ? 2 : 1); ++run)
    for (int from = 0; from < bytes; from += kBytes) {
      v_.load(result, code_.rbp + (scratch + run * of_half + from));
      v_.store_first(out + (run * bytes + from), result, std::min(kBytes, bytes - from));
    }
}

}  // namespace tenfold::jit

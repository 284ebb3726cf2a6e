// SPDX-License-Identifier: Apache-2.0
//
// Rows of cells, few elements side by side that are reduced each to its own result: where a block of packed rows goes
// other ways for them. A cell has a power of two of lanes. While a row is combined, cells that do not fill theirs lie
// side by side in registers as in memory; what comes of it is spread to their lanes, and results are stored without the
// lanes between.
#include <array>
#include <vector>

#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

}  // namespace

/// Of a row's register, whose cells are side by side as in memory: each goes to the lanes that it has to itself.
void PackedBlock::spread_cells(Register reg) {
  if (!pads_cells() || cell_lanes_ == lanes_) return;
  std::array<std::uint32_t, 8> dwords{};
  if (lane_ >= 4) {
    for (int dword = 0; dword < 8; ++dword)
      dwords[static_cast<std::size_t>(dword)] =
          static_cast<std::uint32_t>(offset_of(dword * 4 / lane_) / element_ * (lane_ / 4) + dword % (lane_ / 4));
    return v_.permute_dwords(reg, dwords);
  }
  // The cells of the upper half come to it whole, with as much as two bytes before them.
  const int upper = offset_of(lanes_ / 2);
  for (int dword = 0; dword < 8; ++dword)
    dwords[static_cast<std::size_t>(dword)] = static_cast<std::uint32_t>(dword < 4 ? dword : upper / 4 + dword - 4);
  v_.permute_dwords(reg, dwords);
  PackedVectors::Bytes bytes{};
  for (int byte = 0; byte < kBytes; ++byte)
    bytes[static_cast<std::size_t>(byte)] = source_of(byte < kHalf ? 0 : upper % 4, byte % kHalf / lane_, byte % lane_);
  v_.shuffle_in_halves(reg, bytes);
}

/// Rows of cells: what the lanes of a column have meets in f64, of the block's rows a register of f32 in the end.
PackedBlock::Register PackedBlock::cells_in_f64(const Reg64& in) {
  std::array<Register, 2> halves{};
  if (cell_lanes_ == lanes_) {
    halves = row_of_wide_cells(in);
  } else {
    for (const int half : {0, 1}) halves[static_cast<std::size_t>(half)] = half_of_cells(in, half);
  }
  for (const Register half : halves) finish_sums(half, 8);
  v_.narrow(halves[0], halves[0], halves[1]);
  give(halves[1]);
  Value value{halves[0], {}};
  for (int lane = 0; lane < lanes_; ++lane) value.rows[static_cast<std::size_t>(lane)] = lane / cell_lanes_;
  sort(value);
  return value.reg;
}

/// A row's eight lanes in f64, in two registers: what is eight lanes apart has met, in f32 where rows are not the
/// longest. Of these each lane's chain goes to its total in f64.
std::array<PackedBlock::Register, 2> PackedBlock::row_of_wide_cells(const Reg64& in, int number) {
  std::vector<Register> lanes;
  if (all_levels_in_f64()) {
    for (int first = 0; first < width_; first += kVirtualLanes * schedule::kChain) {
      for (const Register reg : lanes_of_row(in, number, first, first + kVirtualLanes * schedule::kChain)) {
        spread_cells(reg);
        lanes.push_back(reg);
      }
    }
  } else {
    lanes = {row(in, number)};
  }
  std::array<Register, 2> halves{};
  for (const Register reg : lanes) {
    const Register upper = take();
    v_.widen(reg, upper, reg);
    if (reg == lanes[0]) {
      halves = {reg, upper};
      continue;
    }
    combine(halves[0], reg, 8);
    combine(halves[1], upper, 8);
    give(reg);
    give(upper);
  }
  return halves;
}

/// One row of cells of four lanes, or two of cells of two lanes: half of a block.
PackedBlock::Register PackedBlock::half_of_cells(const Reg64& in, int half) {
  const auto row_of_four = [&](int number) {
    const auto [low, high] = row_of_wide_cells(in, number);
    combine(low, high, 8);
    give(high);
    return low;
  };
  if (cell_lanes_ == lanes_ / 2) return row_of_four(half);
  Register first = 0, second = 0;
  if (three_levels_in_f64()) {
    first = row_of_four(2 * half);
    second = row_of_four(2 * half + 1);
  } else {
    first = row(in, 2 * half);
    second = row(in, 2 * half + 1);
    combine(first, v_.meet(first, second, kHalf), 4);
    v_.widen(first, second, first);
  }
  combine(first, v_.meet(first, second, kHalf), 8);
  give(second);
  return first;
}

/// No more than the block's results, as sort() has left them.
void PackedBlock::store_cells(const Reg64& out, Register result) {
  const int bytes = output_bytes();
  if (kind_ == schedule::Lanes::chained_f32) {
    v_.narrow32(result, output_);
    v_.store_first(out, result, bytes);
  } else if (lane_ >= 4 || rows() == 1) {
    v_.store_first(out, result, bytes);
  } else {
    v_.store_first(out, result, bytes / 2);
    v_.store_first_of_upper(out + bytes / 2, result, bytes / 2);
  }
}

}  // namespace tenfold::jit

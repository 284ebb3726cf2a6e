// SPDX-License-Identifier: Apache-2.0
#include "schedule/packed.hpp"

#include <algorithm>
#include <bit>

#include "schedule/arg_body.hpp"
#include "schedule/broken.hpp"
#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Fewer rows than this are no stream; the rows nest takes them.
constexpr std::int64_t kLeastRows = 8;
/// Nor are fewer than a block of lanes of 8 or 16 bits, where rows are longer than this: they would all be copied.
constexpr int kMostWidthOfFewRows = 63;
/// Where rows have more bytes, those that the last block repeats may be one in so many, of indices, which gain more,
/// one in fewer; but of sums of floats, whose bits should not depend on it, any.
constexpr int kMostBytesOfRepeated = 800, kRowsOfRepeated = 10, kIndicesOfRepeated = 3;

/// Rows of narrow lanes that no cache holds, or hardly so, come in the order of halves of a block, and bytes whose
/// place is wanted in pairs of rows, which memory is slow to follow, from so many bytes a row on; up to the end, where
/// a block takes row after row.
constexpr int kLeastFarBytes = 60, kLeastFarIndexBytes = 160;

/// Rows of cells are as long as the lanes that they take up, which are those of so many registers at most.
constexpr int kMostRegistersOfCells = 64;

/// Places are in lanes as wide as elements, of which all layers compare 32 bits, and below zero.
constexpr int kMostCellsOfBytes = 128;

bool has_packed_places(const ReduceBody& body, DType dtype, const PackedRows& rows) {
  const int bytes = byte_size(dtype);
  return !body.stores_extreme && bytes <= 4 && (rows.cell == 1 || bytes > 1 || rows.count <= kMostCellsOfBytes);
}

bool has_packed_cells(const KernelSpec& spec, const ReduceBody& body, const PackedRows& rows) {
  const DType dtype = spec.inputs[0].dtype;
  const Lanes lanes = lanes_of(spec, body);
  if (body.divide_by_count && body.square_root) return false;
  if (gives_index(lanes) ? !has_packed_places(body, dtype, rows) : spec.outputs[0].dtype != dtype) return false;
  const int of_register = kPackedBytes / packed_lane_bytes(lanes, dtype, rows);
  const int of_cell = lanes_of_cell(rows.cell);
  return of_cell <= of_register && rows.count * of_cell <= kMostRegistersOfCells * of_register;
}

/// Rows with gaps are as far apart as lets those of a block be copied, gaps and all, which the last ones are.
constexpr std::int64_t kMostPitch = 4096, kMostBytesOfBlock = 16 << 10;

/// Pairs of narrow elements, and four bytes whose place is wanted, are not worth the half of a register that they have.
constexpr int kLeastOfNarrow = 3, kLeastOfIndexOfBytes = 5;

bool has_packed_gaps(const KernelSpec& spec, Lanes lanes, const PackedRows& rows) {
  const int element = byte_size(spec.inputs[0].dtype), pitch_bytes = rows.pitch * element;
  const bool alone = element <= 2 && 2 * pitch_bytes > kPackedBytes / 2;
  const int least = gives_index(lanes) && element == 1 ? kLeastOfIndexOfBytes : kLeastOfNarrow;
  const int rows_of_block = kPackedBytes / packed_lane_bytes(lanes, spec.inputs[0].dtype, rows);
  return !(alone && rows.width() < least) && rows_of_block * pitch_bytes <= kMostBytesOfBlock;
}

bool has_packed_body(const KernelSpec& spec, const ReduceBody& body, const PackedRows& rows) {
  const Lanes lanes = lanes_of(spec, body);
  if (rows.pitch > rows.width() && !has_packed_gaps(spec, lanes, rows)) return false;
  if (rows.cell > 1) return has_packed_cells(spec, body, rows);
  if (rows.count > most_packed_width(lanes, spec.inputs[0].dtype)) return false;
  if (gives_index(lanes)) return has_packed_places(body, spec.inputs[0].dtype, rows);
  if (body.divide_by_count && body.square_root) return false;
  // Sums may be handed on in f64 (schedule/apart.hpp).
  return lanes == Lanes::chained_f32 || spec.outputs[0].dtype == spec.inputs[0].dtype;
}

bool asks_ahead_of(const KernelSpec& spec, const target::Target& target) {
  const Machine::Packed& machine = machine_of(target).packed;
  const std::int64_t read = kernel::bytes_read(spec);
  if (machine.asks != kNever) return machine.asks.reached_by(read, target);
  const std::int64_t written = kernel::kept_count(spec) * byte_size(spec.outputs[0].dtype);
  return 4 * (read + written) > 3 * target.l2_bytes;
}

/// Rows that are read so slowly that lines are asked for in L2 as well, from so many bytes on: those of a few bytes,
/// short ones of cells, wherever they lie, and short ones with gaps, which beyond L2 would be asked for in vain. Narrow
/// elements with gaps, and places, wait for their arithmetic.
constexpr std::int64_t kTinyRowBytes = 12, kLooseRowBytes = 160, kLeastSlowBytes = 48 << 10;

bool is_read_slowly(const KernelSpec& spec, const PackedRows& rows, const target::Target& target) {
  const Machine::Packed& machine = machine_of(target).packed;
  const std::int64_t element = byte_size(spec.inputs[0].dtype), row_bytes = rows.pitch * element;
  const std::int64_t read = kernel::bytes_read(spec);
  if (read <= kLeastSlowBytes) return false;
  if (machine.tiny_rows_ask && row_bytes <= kTinyRowBytes) return true;
  const bool words_in_l2 = element >= 4 && read <= target.l2_bytes;
  const bool has_gaps = rows.pitch > rows.width(), loose = has_gaps ? words_in_l2 : rows.cell > 1;
  const bool asks =
      machine.loose_rows_ask || (machine.loose_words_ask_in_l2 && words_in_l2 && is_floating(spec.inputs[0].dtype));
  return asks && row_bytes <= kLooseRowBytes && loose && !has_arg_reduction(spec);
}

/// What the last cache hardly holds is asked for as memory is (Machine::Packed).
bool asks_far(const KernelSpec& spec, const target::Target& target) {
  return machine_of(target).packed.asks_far && 2 * kernel::bytes_read(spec) > target.last_cache_bytes();
}

/// Rows that come in the order of halves of a block gain by that, if they are so long, and by being packed up to so
/// many bytes: of lanes of one byte, of two, of floats in these, and bytes whose place is wanted.
struct FarBytes {
  std::int64_t least, most;
};
constexpr FarBytes kFarBytes{28, 64}, kFarPairs{48, kLeastFarBytes - 1}, kFarHalfFloats{48, 96},
    kFarIndices{48, kLeastFarIndexBytes - 1};

bool gains_by_asking_far(const KernelSpec& spec, Lanes lanes, const PackedRows& rows) {
  const DType dtype = spec.inputs[0].dtype;
  const int lane = packed_lane_bytes(lanes, dtype, rows), bytes = rows.pitch * byte_size(dtype);
  if (rows.cell > 1 || lane > 2 || (gives_index(lanes) && byte_size(dtype) > 1)) return false;
  const FarBytes& of = gives_index(lanes)   ? kFarIndices
                       : lane == 1          ? kFarBytes
                       : is_floating(dtype) ? kFarHalfFloats
                                            : kFarPairs;
  return of.least <= bytes && bytes <= of.most;
}

/// Rows up to this long have places beside elements, and those of 16 bits beyond the others.
constexpr int kMostWidthBesidePlaces = 8, kMostWidthOfFloatKeys = 31, kMostWidthOfWordKeys = 47;

bool takes_keys(DType input, int width) {
  if (byte_size(input) > 2 || width <= kMostWidthBesidePlaces) return false;
  return byte_size(input) == 1 || width <= (is_floating(input) ? kMostWidthOfFloatKeys : kMostWidthOfWordKeys);
}

}  // namespace

/// The last two levels are rows side by side, and all of one, or the last three: cells of one; outputs are side by side
/// as well.
PackedRows packed_rows(const KernelSpec& spec) {
  const auto reduced = [](const kernel::Level& level) { return level.reduced; };
  if (spec.levels.size() < 2 || std::ranges::count_if(spec.levels, reduced) != 1) return {};
  const std::size_t cells = spec.levels.back().reduced ? 0 : 1;
  if (spec.levels.size() < 2 + cells) return {};
  const std::size_t level = spec.levels.size() - 1 - cells;
  const std::int64_t count = spec.levels[level].extent, cell = cells == 0 ? 1 : spec.levels.back().extent;
  if (!spec.levels[level].reduced || count < kLeastPackedWidth || count > kMostPackedWidth || cell > kMostCell ||
      (cells > 0 && cell < 2))
    return {};
  const std::vector<std::int64_t>& in = spec.inputs[0].strides;
  const std::vector<std::int64_t>& out = spec.outputs[0].strides;
  const std::int64_t pitch = in[level - 1];
  if (in.back() != 1 || in[level] != cell || pitch < count * cell || pitch > kMostPitch || out[level - 1] != cell ||
      (cells > 0 && out.back() != 1))
    return {};
  return {static_cast<int>(level), static_cast<int>(count), static_cast<int>(cell), static_cast<int>(pitch)};
}

int lanes_of_cell(int cell) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(cell))); }

int additions_in_f32(int width, int lanes_of_cell) {
  constexpr int kLanes = 16;
  return (width + kLanes - 1) / kLanes - 1 + std::countr_zero(static_cast<unsigned>(kLanes / lanes_of_cell));
}

void choose_packed_asks(const KernelSpec& spec, Lanes lanes, const target::Target& target, Schedule& schedule) {
  const Machine::Packed& machine = machine_of(target).packed;
  const PackedRows rows = packed_rows(spec);
  const std::int64_t row_bytes = rows.pitch * byte_size(spec.inputs[0].dtype);
  const bool has_room = 8 * kernel::bytes_read(spec) <= 5 * target.last_cache_bytes();
  const std::int64_t most = has_room ? machine.cached_row_bytes : machine.row_bytes;
  schedule.far = asks_far(spec, target) && gains_by_asking_far(spec, lanes, rows);
  schedule.ahead =
      schedule.far || is_read_slowly(spec, rows, target) || (row_bytes <= most && asks_ahead_of(spec, target));
}

/// A rows nest takes some 40 cycles to end a row, and AVX2 as many again for a tail of bytes, which it has no masks
/// for. So the longer rows are, the less they gain, and wide lanes, of which a block has few rows, the least.
std::int64_t most_packed_width(Lanes lanes, DType input) {
  if (lanes == Lanes::chained_f32) return kMostPackedSum;
  switch (byte_size(input)) {
    case 1: return gives_index(lanes) ? 1000 : kMostPackedWidth;
    case 2: return gives_index(lanes) ? kMostPackedWidth : 512;
    case 4: return gives_index(lanes) ? (is_floating(input) ? kMostPackedWidth : 320) : 256;
    default: return 128;
  }
}

bool packs(const KernelSpec& spec, const ReduceBody& body) {
  const PackedRows packed = packed_rows(spec);
  if (!packed.found() || !has_packed_body(spec, body, packed)) return false;
  const std::int64_t rows = kernel::level(spec, packed.level - 1).extent;
  if (packed.cell > 1) return rows >= kLeastRows;
  const Lanes lanes = lanes_of(spec, body);
  const DType dtype = spec.inputs[0].dtype;
  const int lane = packed_lane_bytes(lanes, dtype, packed), of_block = kPackedBytes / lane;
  const std::int64_t repeated = (of_block - rows % of_block) % of_block;
  const int least_of_repeated = gives_index(lanes) ? kIndicesOfRepeated : is_exact(lanes) ? kRowsOfRepeated : 0;
  if (packed.count * byte_size(dtype) > kMostBytesOfRepeated && least_of_repeated * repeated > rows) return false;
  return rows >= (lane <= 2 && packed.count > kMostWidthOfFewRows ? of_block : kLeastRows);
}

bool pays_to_pack(const KernelSpec& spec, Lanes lanes, const target::Target& target) {
  const PackedRows rows = packed_rows(spec);
  const int element = byte_size(spec.inputs[0].dtype), lane = packed_lane_bytes(lanes, spec.inputs[0].dtype, rows);
  if (rows.cell > 1) return true;
  if (gives_index(lanes) && element == 4)
    return target.isa == target::Isa::avx2 || rows.count <= machine_of(target).packed.index_width;
  if (4 * kernel::bytes_read(spec) <= 3 * target.last_cache_bytes()) return true;
  const int bytes = rows.count * element;
  if (gives_index(lanes)) return element > 1 || bytes < kLeastFarIndexBytes;
  if (asks_far(spec, target) && gains_by_asking_far(spec, lanes, rows)) return true;
  return lane > 2 || bytes < kLeastFarBytes || bytes > kMostBytesByHalves;
}

Status check_packed(const KernelSpec& spec, const ReduceBody& body, const Schedule& schedule) {
  const PackedRows packed = packed_rows(spec);
  if (!packed.found()) return broken("packed rows are short, contiguous and side by side");
  if (!has_packed_body(spec, body, packed)) return broken("packed rows of another body");
  if (schedule.vector_level != packed.level || schedule.width != packed.width())
    return broken("width is not that of the rows");
  if (schedule.tile.level > packed.level) return broken("a cell is cut");
  if (schedule.far && !schedule.ahead) return broken("far is for blocks that ask ahead");
  return {};
}

int packed_lane_bytes(Lanes lanes, DType input, const PackedRows& rows) {
  if (gives_index(lanes)) {
    if (rows.cell > 1 || !takes_keys(input, rows.count)) return byte_size(input);
    return byte_size(input) == 1 && rows.count > kPlacesOfByte ? 4 : 2 * byte_size(input);
  }
  return lanes == Lanes::chained_f32 ? 4 : byte_size(input);
}

}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
#include "schedule/packed.hpp"

#include <algorithm>

#include "schedule/broken.hpp"
#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Fewer rows than this are no stream; the rows nest takes them.
constexpr std::int64_t kLeastRows = 8;
/// Nor are fewer than a block of extremes of 16-bit floats, where rows are long: they would all be copied.
constexpr std::int64_t kLeastLongRows = 16, kMostWidthOfFewRows = 63;

/// The last two levels are rows side by side, and all of one; outputs are side by side as well.
bool has_packed_levels(const KernelSpec& spec) {
  if (spec.levels.size() < 2) return false;
  const std::size_t last = spec.levels.size() - 1;
  const auto reduced = [](const kernel::Level& level) { return level.reduced; };
  if (std::ranges::count_if(spec.levels, reduced) != 1 || !spec.levels[last].reduced) return false;
  const std::int64_t width = spec.levels[last].extent;
  if (width < kLeastPackedWidth) return false;
  const kernel::Operand& in = spec.inputs[0];
  return in.strides[last] == 1 && in.strides[last - 1] == width && spec.outputs[0].strides[last - 1] == 1;
}

bool has_packed_body(const KernelSpec& spec, const ReduceBody& body) {
  const Lanes lanes = lanes_of(spec, body);
  if (spec.levels.back().extent > most_packed_width(lanes, spec.inputs[0].dtype)) return false;
  // Places are in lanes as wide as elements, of which all layers compare 32 bits.
  if (gives_index(lanes)) return !body.stores_extreme && byte_size(spec.inputs[0].dtype) <= 4;
  if (body.divide_by_count && body.square_root) return false;
  // Sums may be handed on in f64 (schedule/apart.hpp).
  return lanes == Lanes::chained_f32 || spec.outputs[0].dtype == spec.inputs[0].dtype;
}

/// Rows so short are read so slowly that lines are asked for in L2 as well, from so many bytes on.
constexpr std::int64_t kTinyRowBytes = 12, kLeastTinyBytes = 48 << 10;

bool asks_ahead_of(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target) {
  const Machine::Packed& machine = machine_of(target).packed;
  const std::int64_t read = kernel::bytes_read(spec);
  if (machine.asks != kNever) return machine.asks.reached_by(read, target);
  const std::int64_t written = kernel::kept_count(spec) * byte_size(spec.outputs[0].dtype);
  return 4 * (read + written) > 3 * target.l2_bytes ||
         (machine.tiny_rows_ask && row_bytes <= kTinyRowBytes && read > kLeastTinyBytes);
}

/// Rows up to this long have places beside elements, and those of 16 bits beyond the others.
constexpr int kMostWidthBesidePlaces = 8, kMostWidthOfFloatKeys = 31, kMostWidthOfWordKeys = 47;

bool takes_keys(DType input, int width) {
  if (byte_size(input) > 2 || width <= kMostWidthBesidePlaces) return false;
  return byte_size(input) == 1 || width <= (is_floating(input) ? kMostWidthOfFloatKeys : kMostWidthOfWordKeys);
}

}  // namespace

bool packed_asks_ahead(const KernelSpec& spec, const target::Target& target) {
  const Machine::Packed& machine = machine_of(target).packed;
  const std::int64_t row_bytes = spec.levels.back().extent * byte_size(spec.inputs[0].dtype);
  const bool has_room = 8 * kernel::bytes_read(spec) <= 5 * target.last_cache_bytes();
  return row_bytes <= (has_room ? machine.cached_row_bytes : machine.row_bytes) &&
         asks_ahead_of(spec, row_bytes, target);
}

/// A rows nest takes some 40 cycles to end a row, and AVX2 as many again for a tail of bytes, which it has no masks
/// for. Rows that are longer still gain as well where elements are bytes, in code of tens of KiB. Places of bytes are
/// bytes.
std::int64_t most_packed_width(Lanes lanes, DType input) {
  if (lanes == Lanes::chained_f32) return kMostPackedSum;
  switch (byte_size(input)) {
    case 1: return gives_index(lanes) ? 256 : kMostPackedWidth;
    case 2: return 256;
    case 4: return 200;
    default: return 128;
  }
}

bool packs(const KernelSpec& spec, const ReduceBody& body) {
  if (!has_packed_levels(spec) || !has_packed_body(spec, body)) return false;
  const Lanes lanes = lanes_of(spec, body);
  const std::int64_t width = spec.levels.back().extent, rows = spec.levels[spec.levels.size() - 2].extent;
  const DType dtype = spec.inputs[0].dtype;
  const bool as_words = is_floating(dtype) && packed_lane_bytes(lanes, dtype, static_cast<int>(width)) == 2;
  const bool copies_all = as_words && !gives_index(lanes) && width > kMostWidthOfFewRows;
  return rows >= (copies_all ? kLeastLongRows : kLeastRows);
}

Status check_packed(const KernelSpec& spec, const ReduceBody& body, const Schedule& schedule) {
  if (!has_packed_levels(spec)) return broken("packed rows are short, contiguous and side by side");
  if (!has_packed_body(spec, body)) return broken("packed rows of another body");
  const int last = static_cast<int>(spec.levels.size()) - 1;
  if (schedule.vector_level != last || schedule.width != spec.levels.back().extent)
    return broken("width is not that of the rows");
  return {};
}

int packed_lane_bytes(Lanes lanes, DType input, int width) {
  if (gives_index(lanes)) return (takes_keys(input, width) ? 2 : 1) * byte_size(input);
  return lanes == Lanes::chained_f32 ? 4 : byte_size(input);
}

}  // namespace tenfold::schedule

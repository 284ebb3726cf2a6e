// SPDX-License-Identifier: Apache-2.0
#include "schedule/packed.hpp"

#include <algorithm>

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Fewer rows than this are no stream; the rows nest takes them.
constexpr std::int64_t kLeastRows = 8;
/// Nor are fewer than a block of extremes of 16-bit floats, where rows are long: they would all be copied. ReduceMax
/// bf16 [8, 100] takes 66 ns row by row, 165 so; [15, 64] 117 and 85, [16, 100] 116 and 53.
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

/// Blocks of rows of up to a line ask for lines ahead of themselves where the last cache does not hold the tensor, or
/// hardly so. ReduceMax f32 in rows of 8, 64 MiB, reaches 0.96 of the roof, without 0.86; of 17 0.77 and 0.76; of 100
/// 0.73 and 0.93. What the caches hold comes faster without: of 4 MiB ReduceSum in rows of 8 0.86, with 0.73, ReduceMax
/// in rows of 100 0.91 and 0.69. But where the last cache is far away, lines are asked for from three quarters of L2
/// on: on a Xeon with 2 MiB of it rows of 8 take, with AVX-512, ReduceSum f16 [131072, 8] 0.79 of the time, ReduceMax
/// bf16 0.77, s8 of 2.4 MB 0.92, f32 [61000, 8] 0.91, [131072, 8] the same; [80659, 13] of bf16 0.83.
/// Rows of up to 12 bytes gain in L2 as well, s8 of 64 KiB and more 0.9 to 0.93, f32 [100000, 2] and [80659, 3] 0.87;
/// others lose as often.
/// So they are on Zen 5, whose L3 gives 110 GB/s to who asks in time, and in longer rows: of 4 MiB of f32 ReduceSum in
/// rows of 3 takes 0.8 of the time, of 8 0.8, of 13 0.83, of 31 0.85, ReduceMax 0.95, 0.9, 0.86 and 1, of 17 0.9, bf16
/// in rows of 8 and 13 0.8 to 0.97.
/// And on Zen 3 from a quarter of its L3 on, in rows that are longer still: of 16 MiB of f32 in rows of 8 ReduceMax
/// takes 0.63, ReduceL1 0.65, of 17 0.62, of 31 0.7, of 40 0.78, f64 in rows of 16 0.65, ArgMax 0.62 to 0.78; of 8 MiB
/// and less as long as unasked. Longer rows gain as well, but not from memory: of 16 MiB of f32 in rows of 48 to 64
/// ReduceMax takes 0.75, ReduceSum and ArgMax 0.7 to 0.85, of 80 to 130 0.8 to 0.95, of 200 as long; of 24 MiB 1.07.
constexpr std::int64_t kAheadRowBytes = 64, kFastAheadRowBytes = 128, kLateAheadRowBytes = 160, kLateLongRowBytes = 640,
                       kAheadPart = 2, kLateAheadPart = 4, kNearRowBytes = 12, kNearBytes = 48 << 10;

bool asks_ahead_of(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target) {
  const std::int64_t read = kernel::bytes_read(spec);
  if (target.late_l3()) return read > target.last_cache_bytes() / kLateAheadPart;
  if (!target.far_l3() && !target.fast_l3()) return read > target.last_cache_bytes() / kAheadPart;
  const std::int64_t written = kernel::kept_count(spec) * byte_size(spec.outputs[0].dtype);
  return 4 * (read + written) > 3 * target.l2_bytes ||
         (target.far_l3() && row_bytes <= kNearRowBytes && read > kNearBytes);
}

/// Rows up to this long have places beside elements, and those of 16 bits beyond the others. ArgMax over the last axis
/// of a million bf16 elements, in rows of 8, reaches 0.55 of the roof beside places and 0.45 as keys, of 17 0.26 and
/// 0.28, of 32 0.51 and 0.48; of u16, in rows of 7, 0.44 and 0.42, of 17 0.29 and 0.39, of 32 0.48 and 0.55, of 63 0.59
/// and 0.40; of s8 in rows of 48 0.48 and 0.61, of 63 as much.
constexpr int kMostWidthBesidePlaces = 8, kMostWidthOfFloatKeys = 31, kMostWidthOfWordKeys = 47;

bool takes_keys(DType input, int width) {
  if (byte_size(input) > 2 || width <= kMostWidthBesidePlaces) return false;
  return byte_size(input) == 1 || width <= (is_floating(input) ? kMostWidthOfFloatKeys : kMostWidthOfWordKeys);
}

}  // namespace

bool packed_asks_ahead(const KernelSpec& spec, const target::Target& target) {
  const std::int64_t row_bytes = spec.levels.back().extent * byte_size(spec.inputs[0].dtype);
  const bool stays = 8 * kernel::bytes_read(spec) <= 5 * target.last_cache_bytes();
  const std::int64_t most = target.late_l3()   ? (stays ? kLateLongRowBytes : kLateAheadRowBytes)
                            : target.fast_l3() ? kFastAheadRowBytes
                                               : kAheadRowBytes;
  return row_bytes <= most && asks_ahead_of(spec, row_bytes, target);
}

/// A rows nest takes some 40 cycles to end a row, and AVX2 as many again for a tail of bytes, which it has no masks
/// for. On Zen 5, us, AVX2 and AVX-512, as rows and packed: ReduceMax s8 [2048, 200] 34 and 8.8, 3.8 and 3.8; [500,
/// 500] 9.0 and 3.8, 2.2 and 2.2; bf16 [2048, 200] 15.8 and 17.5, 13.0 and 10.3, [2048, 256] 15.0 and 21.5, 18.3
/// and 17.9; f32 [2048, 130] 23 and 21, 12 and 15, [2048, 200] 21 and 25, 20 and 20, [2048, 256] 24 and 28, 27 and 24;
/// ArgMax s8 [2048, 200] 47 and 46, 6.4 and 6.3. Longer rows of bytes gain as well, in code of tens of KiB. Places of
/// bytes are bytes. ReduceSum f32 [2048, 130] 18 and 19, 12 and 11, [2048, 200] 21 and 28, 19 and 19, [2048, 256] 26
/// and 25, 23 and 23; bf16 [2048, 200] 22 and 19, 16 and 16, [2048, 256] 21 and 20, 21 and 21, f16 19 and 18, 24
/// and 24.
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
  const auto broken = [](const std::string& what) { return Status(Code::internal_error, "schedule: " + what); };
  if (schedule.isa == target::Isa::reference) return {Code::unsupported_target, "the reference target has no kernels"};
  if (spec.levels.size() > kernel::kMaxLevels) return broken("too many levels");
  if (!has_packed_levels(spec)) return broken("packed rows are short, contiguous and side by side");
  if (!has_packed_body(spec, body)) return broken("packed rows of another body");
  const int last = static_cast<int>(spec.levels.size()) - 1;
  if (schedule.vector_level != last || schedule.width != spec.levels.back().extent)
    return broken("width is not that of the rows");
  if (schedule.split.level >= 0) return broken("packed rows are split");
  return {};
}

int packed_lane_bytes(Lanes lanes, DType input, int width) {
  if (gives_index(lanes)) return (takes_keys(input, width) ? 2 : 1) * byte_size(input);
  return lanes == Lanes::chained_f32 ? 4 : byte_size(input);
}

}  // namespace tenfold::schedule

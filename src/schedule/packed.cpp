// SPDX-License-Identifier: Apache-2.0
#include "schedule/packed.hpp"

#include <algorithm>

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Fewer rows than this are no stream; the rows nest takes them.
constexpr std::int64_t kLeastRows = 8;

/// The last two levels are rows side by side, and all of one; outputs are side by side as well.
bool has_packed_levels(const KernelSpec& spec) {
  if (spec.levels.size() < 2) return false;
  const std::size_t last = spec.levels.size() - 1;
  const auto reduced = [](const kernel::Level& level) { return level.reduced; };
  if (std::ranges::count_if(spec.levels, reduced) != 1 || !spec.levels[last].reduced) return false;
  const std::int64_t width = spec.levels[last].extent;
  if (width < kLeastPackedWidth || width > kMostPackedWidth) return false;
  const kernel::Operand& in = spec.inputs[0];
  return in.strides[last] == 1 && in.strides[last - 1] == width && spec.outputs[0].strides[last - 1] == 1;
}

bool has_packed_body(const KernelSpec& spec, const ReduceBody& body) {
  const Lanes lanes = lanes_of(spec, body);
  const bool widened = gives_index(lanes) || (is_floating(spec.inputs[0].dtype) && byte_size(spec.inputs[0].dtype) < 4);
  if (widened && spec.levels.back().extent > kMostPackedWidthWidened) return false;
  // Keys have twice the bits of their elements (docs/kernels.md); no vector compares 128 at once.
  if (gives_index(lanes)) return !body.stores_extreme && byte_size(spec.inputs[0].dtype) <= 4;
  if (body.divide_by_count && body.square_root) return false;
  // Partial results of a split, which are f64, have one element a row and more.
  if (lanes == Lanes::chained_f32) return spec.outputs[0].dtype != DType::f64;
  return spec.outputs[0].dtype == spec.inputs[0].dtype;
}

/// Blocks of rows of up to a line ask for lines ahead of themselves where the last cache does not hold the tensor, or
/// hardly so. ReduceMax f32 in rows of 8, 64 MiB, reaches 0.96 of the roof, without 0.86; of 17 0.77 and 0.76; of 100
/// 0.73 and 0.93. What the caches hold comes faster without: of 4 MiB ReduceSum in rows of 8 0.86, with 0.73, ReduceMax
/// in rows of 100 0.91 and 0.69.
constexpr std::int64_t kAheadRowBytes = 64, kAheadPart = 2;

}  // namespace

bool packed_asks_ahead(const KernelSpec& spec, const target::Target& target) {
  return kernel::bytes_read(spec) > target.l3_bytes / kAheadPart &&
         spec.levels.back().extent * byte_size(spec.inputs[0].dtype) <= kAheadRowBytes;
}

bool packs(const KernelSpec& spec, const ReduceBody& body) {
  return has_packed_levels(spec) && has_packed_body(spec, body) &&
         spec.levels[spec.levels.size() - 2].extent >= kLeastRows;
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

int packed_lane_bytes(Lanes lanes, DType input) {
  if (gives_index(lanes)) return 2 * byte_size(input);
  return lanes == Lanes::chained_f32 ? 4 : byte_size(input);
}

}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers come from: docs/measurements.md.
#include "schedule/next_block.hpp"

#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Longer blocks are never asked for.
constexpr std::int64_t kMostAskedBlock = 512 << 10;
/// A block that is asked for takes no more than this part of L2.
constexpr std::int64_t kBlockPart = 8;
/// Shorter blocks are seen coming: longer ones of extremes of 16 bits, and of indices.
constexpr std::int64_t kLeastBlock = 2048, kLeastOfPairs = 4096, kLeastOfPlaces = 12000;
/// Sums ask for blocks of up to so much wherever they come from, but for L2.
constexpr std::int64_t kMostNearBlock = 20 << 10;
/// Rows in registers: so long, and few of them, or of 16 bits, and in L3 no longer ones than these. From memory blocks.
constexpr std::int64_t kLeastDirectRow = 512, kMostNearDirectRow = 4096, kLeastFarDirectBlock = 1536;
constexpr std::int64_t kFewRows = 3;

/// The last cache delivers no more of it for certain.
bool is_far(std::int64_t bytes, const target::Target& target) { return 8 * bytes > 5 * target.last_cache_bytes(); }

bool rows_in_registers_ask(const KernelSpec& spec, int vector_level, std::int64_t block, const target::Target& target) {
  const std::int64_t element = byte_size(spec.inputs[0].dtype), bytes = kernel::bytes_read(spec);
  const std::int64_t row_bytes = element * kernel::level(spec, vector_level).extent;
  const std::int64_t rows = kernel::reduced_count(spec);
  if (is_far(bytes, target)) return block >= kLeastFarDirectBlock;
  if (row_bytes < kLeastDirectRow) return false;
  const bool gains = (element <= 2 || rows <= kFewRows) && row_bytes < kMostNearDirectRow;
  return gains && bytes > 4 * target.l2_bytes;
}

/// Narrow columns are read in order where what they have seen is in registers.
bool is_read_in_order(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const int step = lanes_per_step(lanes, spec.inputs[0].dtype);
  return schedule.width > 0 && (lanes == Lanes::chained_f32 ? schedule.width <= step : schedule.columns <= 2 * step);
}

bool asks_for_blocks(const KernelSpec& spec, Lanes lanes, const Schedule& schedule, const target::Target& target) {
  const std::int64_t block = next_block_bytes(spec, schedule.vector_level), bytes = kernel::bytes_read(spec);
  if (schedule.columns == 0) return rows_in_registers_ask(spec, schedule.vector_level, block, target);
  if (is_read_in_order(spec, lanes, schedule)) return false;
  if (gives_index(lanes)) return schedule.width == 0 && block >= kLeastOfPlaces && bytes > target.last_cache_bytes();
  const bool pairs = byte_size(spec.inputs[0].dtype) == 2;
  if (lanes != Lanes::chained_f32) return block >= (pairs ? kLeastOfPairs : kLeastBlock) && is_far(bytes, target);
  return block >= kLeastBlock && (is_far(bytes, target) || (block <= kMostNearBlock && bytes > target.l2_bytes));
}

}  // namespace

std::int64_t next_block_bytes(const KernelSpec& spec, int vector_level) {
  int outside = vector_level - 1;
  while (outside >= 0 && kernel::level(spec, outside).reduced) --outside;
  if (outside < 0) return 0;
  const kernel::Operand& input = spec.inputs[0];
  const std::int64_t bytes = byte_size(input.dtype) * input.strides[static_cast<std::size_t>(outside)];
  return bytes > 0 && bytes <= kMostAskedBlock ? bytes : 0;
}

bool may_ask_for_blocks(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const std::int64_t block = next_block_bytes(spec, vector_level);
  return machine_of(target).columns.blocks_ask && block > 0 && kBlockPart * block <= target.l2_bytes;
}

void choose_blocks(const KernelSpec& spec, Lanes lanes, const target::Target& target, Schedule& schedule) {
  schedule.blocks =
      may_ask_for_blocks(spec, schedule.vector_level, target) && asks_for_blocks(spec, lanes, schedule, target);
  schedule.far = schedule.blocks && is_far(kernel::bytes_read(spec), target);
}

}  // namespace tenfold::schedule

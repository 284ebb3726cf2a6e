// SPDX-License-Identifier: Apache-2.0
#include "schedule/isa.hpp"

#include "schedule/machine.hpp"
#include "schedule/next_block.hpp"

namespace tenfold::schedule {
namespace {

/// Shorter rows end faster with masks; of extremes, what is gained by the order of reading.
constexpr std::int64_t kLeastRow = 512, kLeastRowOfMemory = 2048;
constexpr std::int64_t kLeastColumns = 256;

/// Sums that no conversions keep busy; integers from L3 on; words, and all sums, that memory delivers.
bool rows_speak_avx2(const kernel::KernelSpec& spec, Lanes lanes, std::int64_t extent, const target::Target& target) {
  const DType dtype = spec.inputs[0].dtype;
  const bool sums = lanes == Lanes::chained_f32, words = byte_size(dtype) >= 4;
  if (extent < kLeastRow) return false;
  if (sums && (dtype == DType::f32 || dtype == DType::f16)) return true;
  const std::int64_t bytes = kernel::bytes_read(spec), last_cache = target.last_cache_bytes();
  if (lanes == Lanes::integer && words && 3 * bytes > last_cache) return true;
  return (sums ? dtype == DType::bf16 : words) && extent >= kLeastRowOfMemory && bytes > 2 * last_cache;
}

/// Columns of blocks that ask for the next one have the order of reading in hand, and gain by half as many steps.
bool asks_in_tiles(const kernel::KernelSpec& spec, std::int64_t columns, int vector_level,
                   const target::Target& target) {
  return columns >= kLeastColumns && kernel::reduced_count(spec) > kChain &&
         may_ask_for_blocks(spec, vector_level, target);
}

}  // namespace

bool speaks_avx2(const kernel::KernelSpec& spec, Lanes lanes, int vector_level, const target::Target& target) {
  if (!machine_of(target).avx512_in_halves || target.isa == target::Isa::avx2) return false;
  const DType dtype = spec.inputs[0].dtype;
  if (dtype == DType::f32 && spec.inputs[0].strides[static_cast<std::size_t>(vector_level)] == 2) return true;
  const kernel::Level& level = kernel::level(spec, vector_level);
  if (level.reduced) return rows_speak_avx2(spec, lanes, level.extent, target);
  const bool sums_of_memory =
      lanes == Lanes::chained_f32 && dtype == DType::f32 && kernel::bytes_read(spec) > target.last_cache_bytes();
  return sums_of_memory && !asks_in_tiles(spec, level.extent, vector_level, target);
}

}  // namespace tenfold::schedule

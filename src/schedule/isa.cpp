// SPDX-License-Identifier: Apache-2.0
#include "schedule/isa.hpp"

#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

/// Shorter rows end faster with masks; of extremes, what is gained by the order of reading.
constexpr std::int64_t kLeastRow = 512, kLeastRowOfMemory = 2048;

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

}  // namespace

bool speaks_avx2(const kernel::KernelSpec& spec, Lanes lanes, int vector_level, const target::Target& target) {
  if (!machine_of(target).avx512_in_halves || target.isa == target::Isa::avx2) return false;
  const DType dtype = spec.inputs[0].dtype;
  if (dtype == DType::f32 && spec.inputs[0].strides[static_cast<std::size_t>(vector_level)] == 2) return true;
  const kernel::Level& level = kernel::level(spec, vector_level);
  if (level.reduced) return rows_speak_avx2(spec, lanes, level.extent, target);
  return lanes == Lanes::chained_f32 && dtype == DType::f32 && kernel::bytes_read(spec) > target.last_cache_bytes();
}

}  // namespace tenfold::schedule

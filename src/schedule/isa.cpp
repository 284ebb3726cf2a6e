// SPDX-License-Identifier: Apache-2.0
#include "schedule/isa.hpp"

#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

/// Shorter rows end faster with masks.
constexpr std::int64_t kLeastRowOfAvx2 = 512;

}  // namespace

bool speaks_avx2(const kernel::KernelSpec& spec, Lanes lanes, int vector_level, const target::Target& target) {
  if (!machine_of(target).avx512_in_halves || target.isa == target::Isa::avx2) return false;
  const DType dtype = spec.inputs[0].dtype;
  if (dtype == DType::f32 && spec.inputs[0].strides[static_cast<std::size_t>(vector_level)] == 2) return true;
  if (lanes != Lanes::chained_f32) return false;
  const kernel::Level& level = kernel::level(spec, vector_level);
  if (level.reduced) return level.extent >= kLeastRowOfAvx2 && (dtype == DType::f32 || dtype == DType::f16);
  return dtype == DType::f32 && kernel::bytes_read(spec) > target.last_cache_bytes();
}

}  // namespace tenfold::schedule

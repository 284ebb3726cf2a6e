// SPDX-License-Identifier: Apache-2.0
//
// A tuning is what carries the schedules into the compiler, as it does for users.
#include "neighbour.hpp"

#include "compile/tuning.hpp"
#include "schedule/neighbours.hpp"

namespace tenfold::numeric {

std::optional<Result<compiler::Compiled>> compile_neighbour(const graph::Graph& core, const target::Target& target,
                                                            const compiler::Compiled& chosen, std::uint64_t pick) {
  compiler::Tuning tuning;
  for (const compiler::RegionReport& region : chosen.regions) {
    for (const compiler::KernelReport& kernel : region.kernels) {
      const std::vector<schedule::Schedule> all = schedule::neighbours(kernel.spec, kernel.schedule);
      if (!all.empty()) tuning.add(kernel.spec, target.cores, all[pick % all.size()]);
    }
  }
  if (tuning.size() == 0) return std::nullopt;
  return compiler::compile(core, target, {.tuning = &tuning});
}

}  // namespace tenfold::numeric

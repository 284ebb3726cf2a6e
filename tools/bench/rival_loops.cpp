// SPDX-License-Identifier: Apache-2.0
//
// Puts a case into the form of the plain loops: dims of 1 dropped, neighbours of a kind merged, as somebody would who
// writes the loops for one case.
#include <memory>
#include <utility>

#include "tools/bench/plain_loops.hpp"
#include "tools/bench/rivals.hpp"

namespace tenfold::tools::bench {
namespace {

struct Level {
  std::int64_t extent, in_stride, out_stride;
  bool reduced;
};

std::vector<Level> merged_levels(const RivalCase& rival) {
  const Dims in = strides_of(rival.in), out = row_major_strides(rival.kept_shape);
  std::vector<Level> levels;
  for (std::size_t dim = 0; dim < rival.in.shape.size(); ++dim) {
    const std::int64_t extent = rival.in.shape[dim];
    if (extent == 1) continue;
    const bool reduced = rival.kept_shape[dim] != extent;
    const Level level{extent, in[dim], reduced ? 0 : out[dim], reduced};
    if (!levels.empty() && levels.back().reduced == reduced && levels.back().in_stride == in[dim] * extent) {
      Level& before = levels.back();
      before = {before.extent * extent, level.in_stride, level.out_stride, reduced};
    } else {
      levels.push_back(level);
    }
  }
  while (levels.size() < 2) levels.insert(levels.begin(), {1, 0, 0, false});
  return levels;
}

/// The nest with the memory that it needs beside its operands.
struct OwnedNest {
  PlainNest nest;
  std::vector<std::byte> running, shifts;
};

std::shared_ptr<OwnedNest> make_nest(const RivalCase& rival, const std::vector<Level>& levels) {
  auto owned = std::make_shared<OwnedNest>();
  PlainNest& nest = owned->nest;
  nest.in = rival.data;
  nest.out = rival.out;
  nest.levels = static_cast<int>(levels.size());
  nest.outputs = nest.count = 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    nest.extent[i] = levels[i].extent;
    nest.in_stride[i] = levels[i].in_stride;
    nest.out_stride[i] = levels[i].out_stride;
    nest.reduced[i] = levels[i].reduced;
    (levels[i].reduced ? nest.count : nest.outputs) *= levels[i].extent;
  }
  owned->running.resize(static_cast<std::size_t>(nest.outputs) * 16);
  owned->shifts.resize(static_cast<std::size_t>(nest.outputs) * 8);
  nest.running = owned->running.data();
  nest.shifts = owned->shifts.data();
  return owned;
}

}  // namespace

Result<std::vector<Contender>> plain_loops(const RivalCase& rival) {
  if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0)
    return Status(Code::unsupported_target, "they are compiled for AVX2 and FMA");
  if (rival.what->with_extreme) return Status(Code::unsupported_op, "nobody wrote them for two outputs");
  if (rival.what->threads > 1) return Status(Code::unsupported_op, "they run on one thread");
  const std::string dtype(to_string(rival.in.dtype));
  const PlainLoop strict = plain_loop_strict(rival.what->op.c_str(), dtype.c_str());
  const PlainLoop fast = plain_loop_fast(rival.what->op.c_str(), dtype.c_str());
  if (strict == nullptr || fast == nullptr)
    return Status(Code::unsupported_op, "nobody wrote them for " + rival.what->op + " of " + dtype);
  const std::vector<Level> levels = merged_levels(rival);
  if (levels.size() > kMostPlainLevels) return Status(Code::unsupported_shape, "too many levels");
  const std::shared_ptr<OwnedNest> owned = make_nest(rival, levels);
  return std::vector<Contender>{{"loops -O3", [owned, strict] { strict(owned->nest); }},
                                {"loops -O3 -ffast-math", [owned, fast] { fast(owned->nest); }}};
}

}  // namespace tenfold::tools::bench

// SPDX-License-Identifier: Apache-2.0
#include "schedule/neighbours.hpp"

#include <algorithm>

#include "schedule/body.hpp"
#include "schedule/levels.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Columns of a tile that may be asked for: a row of accumulators, and no more than a page of the widest lanes.
constexpr std::int64_t kLeastColumns = 64, kMostColumns = 16384;

const kernel::Level& level_of(const KernelSpec& spec, int level) {
  return spec.levels[static_cast<std::size_t>(level)];
}

/// Whether the reductions give the same bits in any order: extremes and integers do, and indices, as ties go by them.
bool is_exact(const KernelSpec& spec) {
  if (const Result<ReduceBody> body = read_body(spec); body.ok()) {
    const Lanes lanes = lanes_of(spec, body.value());
    return is_exact(lanes) || gives_index(lanes);
  }
  return std::none_of(spec.body.begin(), spec.body.end(), [](const kernel::Node& node) {
    return node.kind == kernel::Node::Kind::reduce && node.monoid != kernel::Monoid::max &&
           node.monoid != kernel::Monoid::min;
  });
}

std::vector<Cut> tiles_of(const KernelSpec& spec, const Schedule& base) {
  if (base.split.level >= 0) return {base.tile};
  std::vector<Cut> tiles{base.tile};
  if (base.tile.level >= 0) tiles.push_back({});
  // Where the heuristic cuts none: the widest kept one that lanes do not run along.
  const int level = base.tile.level >= 0 ? base.tile.level : widest_level(spec, false, base.vector_level);
  if (level < 0) return tiles;
  const std::int64_t extent = level_of(spec, level).extent;
  // Of the vector level only whole pages, so that no tile ends inside a vector that another begins.
  const std::int64_t unit = level == base.vector_level ? 1024 : 1;
  for (const std::int64_t pieces : {2, 4, 8, 16, 32, 64}) {
    const std::int64_t grain = ((extent - 1) / pieces / unit + 1) * unit;
    if (extent > 0 && grain < extent) tiles.push_back({level, grain});
  }
  return tiles;
}

std::vector<int> unrolls_of(const KernelSpec& spec, const Schedule& base) {
  const bool varies = (base.nest == Nest::rows || base.nest == Nest::staged_rows) && is_exact(spec);
  return varies ? std::vector<int>{1, 2, 4} : std::vector<int>{base.unroll};
}

std::vector<int> rows_of(const KernelSpec& spec, const Schedule& base) {
  // Runs of one row decide the bits of a sum.
  const bool bits = spec.levels.size() == 1 && !is_exact(spec);
  if (base.nest == Nest::staged_rows || (base.nest == Nest::rows && !bits)) return {1, 2, 4};
  const bool varies = base.nest == Nest::staged_columns ||
                      (base.nest == Nest::columns && base.columns > 0 && base.width == 0 && is_exact(spec));
  return varies ? std::vector<int>{1, 2, 4, 8} : std::vector<int>{base.rows_at_once};
}

/// A few turns, as with many outputs there are more than one round of them.
std::vector<int> turns_of(const Schedule& base) {
  return base.nest == Nest::rows ? std::vector<int>{base.turns, 0, 4, 64} : std::vector<int>{0};
}

std::vector<std::int64_t> columns_of(const Schedule& base) {
  std::vector<std::int64_t> columns{base.columns};
  if (base.columns == 0 || base.width != 0) return columns;
  for (std::int64_t less = base.columns / 2; less >= kLeastColumns && less >= base.columns / 8; less /= 2)
    columns.push_back(less);
  for (std::int64_t more = base.columns * 2; more <= kMostColumns && more <= base.columns * 8; more *= 2)
    columns.push_back(more);
  return columns;
}

std::vector<bool> aheads_of(const Schedule& base) {
  const bool varies = (base.nest == Nest::columns && base.width == 0) || is_staged(base.nest) ||
                      base.nest == Nest::packed || base.nest == Nest::rows;
  return varies ? std::vector<bool>{false, true} : std::vector<bool>{base.ahead};
}

/// Whether stores go around the caches, and how many rows of a tile then do so at a time.
struct Around {
  bool around;
  int stored;
};

std::vector<Around> arounds_of(const Schedule& base) {
  if (base.nest == Nest::staged_columns) return {{false, 1}, {true, 1}, {true, 8}};
  const bool varies = base.nest == Nest::flat || base.nest == Nest::columns || is_staged(base.nest);
  return varies ? std::vector<Around>{{false, 1}, {true, 1}} : std::vector<Around>{{false, 1}};
}

std::vector<bool> claims_of(const Schedule& base) {
  return base.nest == Nest::flat || is_staged(base.nest) ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

std::vector<bool> serpentines_of(const Schedule& base) {
  return base.nest == Nest::staged_columns ? std::vector<bool>{base.serpentine, !base.serpentine}
                                           : std::vector<bool>{false};
}

std::vector<std::int64_t> keeps_of(const Schedule& base) {
  return base.keep > 0 ? std::vector<std::int64_t>{base.keep, 0} : std::vector<std::int64_t>{0};
}

/// Calls `see` with every candidate, legal or not and perhaps twice, until it returns true; whether it did.
template <class See>
bool any_candidate(const KernelSpec& spec, const Schedule& base, const See& see) {
  Schedule candidate = base;
  for (const int turns : turns_of(base)) {
    candidate.turns = turns;
    if (see(candidate)) return true;
  }
  candidate.turns = base.turns;
  for (const bool serpentine : serpentines_of(base)) {
    candidate.serpentine = serpentine;
    if (see(candidate)) return true;
  }
  candidate.serpentine = base.serpentine;
  candidate.early = !base.early;
  if (see(candidate)) return true;
  candidate.early = base.early;
  candidate.runs = !base.runs;
  candidate.ahead = base.nest == Nest::staged_rows;
  candidate.rows_at_once = 1;
  if ((base.nest == Nest::staged_rows || base.nest == Nest::flat) && see(candidate)) return true;
  candidate = base;
  const std::vector<Cut> tiles = tiles_of(spec, base);
  const std::vector<int> all_rows = rows_of(spec, base);
  const std::vector<std::int64_t> all_columns = columns_of(base), keeps = keeps_of(base);
  const std::vector<Around> arounds = arounds_of(base);
  for (const int unroll : unrolls_of(spec, base))
    for (const int rows : all_rows)
      for (const std::int64_t columns : all_columns)
        for (const bool ahead : aheads_of(base))
          for (const auto& [around, stored] : arounds)
            for (const bool claim : claims_of(base))
              for (const std::int64_t keep : keeps)
                for (const Cut& tile : tiles) {
                  candidate.claim = claim;
                  candidate.runs = base.runs && (base.nest == Nest::flat || (ahead && rows == 1));
                  candidate.unroll = unroll;
                  candidate.rows_at_once = rows;
                  candidate.columns = columns;
                  candidate.ahead = ahead;
                  candidate.early = ahead && base.early;
                  candidate.around = around;
                  candidate.stored = stored;
                  candidate.keep = keep;
                  candidate.part = keep > 0 ? base.part : 0;
                  candidate.tile = tile;
                  if (see(candidate)) return true;
                }
  return false;
}

}  // namespace

std::vector<Schedule> neighbours(const KernelSpec& spec, const Schedule& base) {
  std::vector<Schedule> found;
  any_candidate(spec, base, [&](const Schedule& candidate) {
    if (candidate != base && std::find(found.begin(), found.end(), candidate) == found.end() &&
        check(spec, candidate).ok())
      found.push_back(candidate);
    return false;
  });
  return found;
}

bool is_neighbour(const KernelSpec& spec, const Schedule& base, const Schedule& wanted) {
  const auto is_wanted = [&](const Schedule& candidate) { return candidate == wanted; };
  return wanted == base || (any_candidate(spec, base, is_wanted) && check(spec, wanted).ok());
}

}  // namespace tenfold::schedule

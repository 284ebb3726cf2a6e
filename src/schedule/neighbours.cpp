// SPDX-License-Identifier: Apache-2.0
#include "schedule/neighbours.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include "schedule/body.hpp"
#include "schedule/columns.hpp"
#include "schedule/levels.hpp"
#include "schedule/narrow.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Columns of a tile that may be tried: a row of accumulators at least, and 64 KiB of f32 at most.
constexpr std::int64_t kLeastTriedColumns = 64, kMostTriedColumns = 16384;

/// Whether the reductions give the same bits in any order: extremes do, integers where they are all that
/// is made, and indices, as ties go by them.
bool is_exact(const KernelSpec& spec) {
  if (const Result<ReduceBody> body = read_body(spec); body.ok()) {
    const Lanes lanes = lanes_of(spec, body.value());
    return is_exact(lanes) || gives_index(lanes);
  }
  return std::none_of(spec.body.begin(), spec.body.end(), [](const kernel::Node& node) {
    return node.kind == kernel::Node::Kind::reduce && !kernel::is_order_free(node.monoid);
  });
}

std::vector<Cut> tiles_of(const KernelSpec& spec, const Schedule& base) {
  if (base.split.level >= 0) return {base.tile};
  std::vector<Cut> tiles{base.tile};
  if (base.tile.level >= 0) tiles.push_back({});
  // Where the heuristic cuts none: the widest kept one that lanes do not run along.
  const int level = base.tile.level >= 0 ? base.tile.level : widest_level(spec, false, base.vector_level);
  if (level < 0) return tiles;
  const std::int64_t extent = kernel::level(spec, level).extent;
  // Of the vector level only whole pages, so that no tile ends inside a vector that another begins.
  const std::int64_t unit = level == base.vector_level ? kPageElements : 1;
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
  const bool in_order = is_exact(spec) || spec.inputs[0].dtype == DType::f64;
  const bool varies = base.nest == Nest::staged_columns ||
                      (base.nest == Nest::columns && base.columns > 0 && base.width == 0 && in_order);
  return varies ? std::vector<int>{1, 2, 4, 8} : std::vector<int>{base.rows_at_once};
}

/// A few turns, as with many outputs there are more than one round of them.
std::vector<int> turns_of(const Schedule& base) {
  if (base.nest == Nest::columns) return {base.turns, 0, 1};
  return base.nest == Nest::rows ? std::vector<int>{base.turns, 0, 4, 64} : std::vector<int>{0};
}

std::vector<std::int64_t> columns_of(const Schedule& base) {
  std::vector<std::int64_t> columns{base.columns};
  if (base.columns == 0 || base.width != 0) return columns;
  for (std::int64_t less = base.columns / 2; less >= kLeastTriedColumns && less >= base.columns / 8; less /= 2)
    columns.push_back(less);
  for (std::int64_t more = base.columns * 2; more <= kMostTriedColumns && more <= base.columns * 8; more *= 2)
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
  friend bool operator==(const Around&, const Around&) = default;
};

std::vector<Around> arounds_of(const Schedule& base) {
  if (base.nest == Nest::staged_columns) return {{false, 1}, {true, 1}, {true, 8}};
  const bool varies = base.nest == Nest::flat || base.nest == Nest::columns || is_staged(base.nest);
  return varies ? std::vector<Around>{{false, 1}, {true, 1}} : std::vector<Around>{{false, 1}};
}

std::vector<bool> claims_of(const Schedule& base) {
  return base.nest == Nest::flat || is_staged(base.nest) ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

std::vector<bool> trails_of(const Schedule& base) {
  return base.nest == Nest::staged_rows ? std::vector<bool>{base.trails, !base.trails} : std::vector<bool>{false};
}

std::vector<bool> serpentines_of(const Schedule& base) {
  return base.nest == Nest::staged_columns ? std::vector<bool>{base.serpentine, !base.serpentine}
                                           : std::vector<bool>{false};
}

std::vector<std::int64_t> keeps_of(const Schedule& base) {
  return base.keep > 0 ? std::vector<std::int64_t>{base.keep, 0} : std::vector<std::int64_t>{0};
}

/// One value of a field, or of fields that go together.
using Change = std::function<void(Schedule&)>;
/// Different values of a field.
using Axis = std::vector<Change>;

template <class Values, class Set>
Axis axis(const Values& values, Set set) {
  Axis changes;
  for (auto value = values.begin(); value != values.end(); ++value)
    if (std::find(values.begin(), value, *value) == value)
      changes.emplace_back([value = *value, set](Schedule& schedule) { set(schedule, value); });
  return changes;
}

/// Fields that vary with all the others, the innermost last: no field is of two axes.
std::vector<Axis> axes_of(const KernelSpec& spec, const Schedule& base) {
  return {axis(unrolls_of(spec, base), [](Schedule& s, int unroll) { s.unroll = unroll; }),
          axis(rows_of(spec, base), [](Schedule& s, int rows) { s.rows_at_once = rows; }),
          axis(columns_of(base), [](Schedule& s, std::int64_t columns) { s.columns = columns; }),
          axis(aheads_of(base), [](Schedule& s, bool ahead) { s.ahead = ahead; }),
          axis(arounds_of(base),
               [](Schedule& s, const Around& of) {
                 s.around = of.around;
                 s.stored = of.stored;
               }),
          axis(claims_of(base), [](Schedule& s, bool claim) { s.claim = claim; }),
          axis(trails_of(base), [](Schedule& s, bool trails) { s.trails = trails; }),
          axis(keeps_of(base), [](Schedule& s, std::int64_t keep) { s.keep = keep; }),
          axis(tiles_of(spec, base), [](Schedule& s, const Cut& tile) { s.tile = tile; })};
}

/// The fields that follow from those.
void settle(const Schedule& base, Schedule& candidate) {
  candidate.runs = base.runs && (base.nest == Nest::flat || (candidate.ahead && candidate.rows_at_once == 1));
  candidate.early = candidate.ahead && base.early;
  candidate.far = base.far && (candidate.ahead || candidate.blocks);
  candidate.part = candidate.keep > 0 ? base.part : 0;
}

/// Columns that remember rows remember sweeps, and the other way round.
void switch_searches(const KernelSpec& spec, Schedule& schedule) {
  schedule.searches = !schedule.searches;
  schedule.rows_at_once = schedule.searches ? kSearchedRows : kChainedStreams;
  const Result<ReduceBody> body = read_body(spec);
  if (schedule.width == 0 || !body.ok()) return;
  const Lanes lanes = lanes_of(spec, body.value());
  schedule.columns = narrow_columns(spec, lanes, schedule.vector_level, schedule.searches).columns;
}

/// Those that vary alone, beside the base's others: legal or not, and perhaps twice.
std::vector<Schedule> lone_changes(const KernelSpec& spec, const Schedule& base) {
  std::vector<Schedule> changed;
  const auto add = [&](const Change& change) {
    changed.push_back(base);
    change(changed.back());
  };
  for (const int turns : turns_of(base)) add([turns](Schedule& s) { s.turns = turns; });
  for (const bool serpentine : serpentines_of(base)) add([serpentine](Schedule& s) { s.serpentine = serpentine; });
  if (base.nest == Nest::columns) add([&spec](Schedule& s) { switch_searches(spec, s); });
  if (base.nest == Nest::columns)
    add([](Schedule& s) {
      s.blocks = !s.blocks;
      s.ahead = false;
      s.far = false;
    });
  add([](Schedule& s) { s.far = !s.far; });
  add([](Schedule& s) { s.early = !s.early; });
  add([](Schedule& s) { s.adds = !s.adds; });
  if (base.nest == Nest::staged_rows || base.nest == Nest::flat)
    add([](Schedule& s) {
      s.runs = !s.runs;
      s.ahead = s.nest == Nest::staged_rows;
      s.rows_at_once = 1;
    });
  return changed;
}

/// Calls `see` with every combination of the axes' values, each once.
template <class See>
void each_product(std::span<const Axis> axes, const Schedule& base, Schedule candidate, const See& see) {
  if (axes.empty()) {
    settle(base, candidate);
    see(candidate);
    return;
  }
  for (const Change& change : axes[0]) {
    change(candidate);
    each_product(axes.subspan(1), base, candidate, see);
  }
}

/// Whether `wanted` is such a combination.
bool is_product(std::span<const Axis> axes, const Schedule& base, const Schedule& wanted) {
  Schedule candidate = base;
  for (const Axis& axis : axes) {
    const auto value = std::find_if(axis.begin(), axis.end(), [&wanted](const Change& change) {
      Schedule changed = wanted;
      change(changed);
      return changed == wanted;
    });
    if (value == axis.end()) return false;
    (*value)(candidate);
  }
  settle(base, candidate);
  return candidate == wanted;
}

bool contains(const std::vector<Schedule>& schedules, const Schedule& wanted) {
  return std::find(schedules.begin(), schedules.end(), wanted) != schedules.end();
}

}  // namespace

std::vector<Schedule> neighbours(const KernelSpec& spec, const Schedule& base) {
  std::vector<Schedule> found;
  const auto add = [&](const Schedule& candidate) {
    if (check(spec, candidate).ok()) found.push_back(candidate);
  };
  std::vector<Schedule> seen{base};
  for (const Schedule& candidate : lone_changes(spec, base)) {
    if (contains(seen, candidate)) continue;
    seen.push_back(candidate);
    add(candidate);
  }
  each_product(axes_of(spec, base), base, base, [&](const Schedule& candidate) {
    if (!contains(seen, candidate)) add(candidate);
  });
  return found;
}

bool is_neighbour(const KernelSpec& spec, const Schedule& base, const Schedule& wanted) {
  if (wanted == base) return true;
  const bool varies = contains(lone_changes(spec, base), wanted) || is_product(axes_of(spec, base), base, wanted);
  return varies && check(spec, wanted).ok();
}

}  // namespace tenfold::schedule

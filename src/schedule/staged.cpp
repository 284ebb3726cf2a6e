// SPDX-License-Identifier: Apache-2.0
#include "schedule/staged.hpp"

#include <algorithm>

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// A task reads at least this much, so that handing it out (0.2 us) stays below a hundredth of its time.
constexpr std::int64_t kTaskBytes = 128 << 10;
/// Of a body of several passes, what a tile of columns reads should stay in the last cache from one pass to the next;
/// rows of less than 4 KiB would be slow to stream.
constexpr std::int64_t kTileBytes = 4096 << 10;
constexpr std::int64_t kMostColumns = 1024;
constexpr std::int64_t kLeastColumns = 64;
/// Bodies of no more nodes, with a single reduction, take two sets side by side, which hides latencies.
constexpr std::size_t kShortBody = 5;

/// The level whose elements are neighbours in the first input that moves, or else the innermost.
int choose_vector_level(const KernelSpec& spec) {
  const int last = static_cast<int>(spec.levels.size()) - 1;
  for (int level = last; level >= 0; --level)
    if (spec.inputs[0].strides[static_cast<std::size_t>(level)] == 1) return level;
  return last;
}

/// How often elements are read: once more for all that waits for a reduction.
int pass_count(const KernelSpec& spec) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  std::vector<int> pass;
  for (const kernel::Node& node : spec.body) {
    int own = 0;
    for (const int arg : node.args) own = std::max(own, pass[static_cast<std::size_t>(arg)]);
    pass.push_back(own + (node.kind == kernel::Node::Kind::reduce ? 1 : 0));
  }
  int count = 0;
  for (std::size_t i = 0; i < pass.size(); ++i)
    if (spec.body[i].kind == kernel::Node::Kind::reduce) count = std::max(count, pass[i]);
  for (const kernel::Store& store : spec.stores)
    if (const auto node = static_cast<std::size_t>(store.node); !per_row[node]) count = std::max(count, pass[node] + 1);
  return count;
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Cut choose_tile(const KernelSpec& spec, const Schedule& schedule, int cores) {
  int level = -1;
  for (int l = 0; l < static_cast<int>(spec.levels.size()); ++l) {
    if (spec.levels[static_cast<std::size_t>(l)].reduced) continue;
    if (level < 0 ||
        spec.levels[static_cast<std::size_t>(l)].extent > spec.levels[static_cast<std::size_t>(level)].extent)
      level = l;
  }
  if (level < 0) return {};
  const std::int64_t extent = spec.levels[static_cast<std::size_t>(level)].extent;
  if (extent == 0) return {};
  const std::int64_t bytes = kernel::kept_count(spec) * kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  const std::int64_t unit_bytes = std::max<std::int64_t>(1, bytes / extent);
  std::int64_t grain = std::max(divide_up(extent, 4 * std::int64_t{cores}), divide_up(kTaskBytes, unit_bytes));
  if (level == schedule.vector_level) grain = divide_up(grain, schedule.columns) * schedule.columns;
  if (grain >= extent) return {};
  return {level, grain};
}

}  // namespace

Schedule choose_staged(const KernelSpec& spec, const target::Target& target) {
  Schedule schedule;
  schedule.isa = target.isa;
  schedule.vector_level = choose_vector_level(spec);
  if (spec.levels[static_cast<std::size_t>(schedule.vector_level)].reduced) {
    schedule.nest = Nest::staged_rows;
    const auto is_reduce = [](const kernel::Node& node) { return node.kind == kernel::Node::Kind::reduce; };
    const bool single = std::count_if(spec.body.begin(), spec.body.end(), is_reduce) == 1;
    schedule.unroll = single && spec.body.size() <= kShortBody ? 2 : 1;
  } else {
    schedule.nest = Nest::staged_columns;
    const std::int64_t row_bytes =
        std::max<std::int64_t>(1, kernel::reduced_count(spec)) * byte_size(spec.inputs[0].dtype);
    const std::int64_t fitting = pass_count(spec) > 1 ? kTileBytes / row_bytes / 16 * 16 : kMostColumns;
    schedule.columns = std::clamp(fitting, kLeastColumns, kMostColumns);
  }
  schedule.tile = choose_tile(spec, schedule, target.cores);
  return schedule;
}

Status check_staged(const KernelSpec& spec, const Schedule& schedule) {
  const auto broken = [](const std::string& what) { return Status(Code::internal_error, "schedule: " + what); };
  const int levels = static_cast<int>(spec.levels.size());
  if (schedule.isa == target::Isa::reference) return {Code::unsupported_target, "the reference target has no kernels"};
  if (levels > kernel::kMaxLevels) return broken("too many levels");
  if (schedule.vector_level < 0 || schedule.vector_level >= levels) return broken("no such vector level");
  const bool reduced = spec.levels[static_cast<std::size_t>(schedule.vector_level)].reduced;
  if (reduced != (schedule.nest == Nest::staged_rows)) return broken("the vector level is not of the nest's kind");
  if (schedule.split.level >= 0) return broken("a body in stages is split");
  if (spec.inputs.size() > static_cast<std::size_t>(kernel::kMaxInputs) ||
      spec.outputs.size() > static_cast<std::size_t>(kernel::kMaxOutputs))
    return {Code::unsupported_shape, "too many operands for one kernel"};
  if (reduced && schedule.unroll != 1 && schedule.unroll != 2 && schedule.unroll != 4)
    return broken("unroll is not 1, 2 or 4");
  if (!reduced && (schedule.columns < 16 || schedule.columns % 16 != 0 || schedule.columns > (1 << 16)))
    return broken("columns is not a multiple of 16");
  return {};
}

}  // namespace tenfold::schedule

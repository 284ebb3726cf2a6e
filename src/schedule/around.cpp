// SPDX-License-Identifier: Apache-2.0
#include "schedule/around.hpp"

#include <algorithm>
#include <vector>

#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// What is moved leaves L1 for good from this part of L2 on. Cheap elements that are stored in the order of memory
/// claim lines from there, as that brings L2's lines to L1 as well; others where L2 has no room for them.
constexpr std::int64_t kNearPart = 4;

constexpr std::int64_t kLine = 64;
/// Rows that count as long (Machine::Stores), as columns do.
constexpr std::int64_t kLongRowBytes = 8192;
/// Columns of so many rows at most store their outputs around the caches, where so many times the last cache is moved.
constexpr std::int64_t kFewRows = 48;
constexpr std::int64_t kCachesOfColumns = 2;

/// Whether a step of it fills lines: in lanes of 32 bits or more, or as narrow as it is.
bool fills_lines(const KernelSpec& spec, const kernel::Operand& output) {
  return byte_size(output.dtype) >= 4 || (kernel::is_elementwise(spec) && kernel::narrow_bytes(spec) > 0);
}

bool is_element(const kernel::Operand& output, int vector_level, const KernelSpec& spec) {
  if (output.strides[static_cast<std::size_t>(vector_level)] != 1) return false;
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (spec.levels[level].reduced && output.strides[level] == 0) return false;
  return true;
}

/// Whether each row of an output begins on a line if the first one does.
bool rows_begin_on_lines(const KernelSpec& spec, const kernel::Operand& output, int vector_level) {
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (static_cast<int>(level) != vector_level && output.strides[level] * byte_size(output.dtype) % kLine != 0)
      return false;
  return true;
}

/// Whether all do of what may go around. Kernels store through the caches where they do not.
bool lies_on_lines(const KernelSpec& spec, int vector_level) {
  return std::all_of(spec.outputs.begin(), spec.outputs.end(), [&](const kernel::Operand& output) {
    return !fills_lines(spec, output) || !is_element(output, vector_level, spec) ||
           rows_begin_on_lines(spec, output, vector_level);
  });
}

bool stores_expensive_elements(const KernelSpec& spec) {
  const std::vector<bool> expensive = kernel::expensive_elements(spec);
  return std::any_of(spec.stores.begin(), spec.stores.end(),
                     [&](const kernel::Store& store) { return bool{expensive[static_cast<std::size_t>(store.node)]}; });
}

bool has_long_rows(const KernelSpec& spec, int vector_level) {
  return kernel::level(spec, vector_level).extent * byte_size(spec.outputs[0].dtype) >= kLongRowBytes;
}

}  // namespace

bool may_go_around(const KernelSpec& spec, int vector_level) {
  return std::any_of(spec.outputs.begin(), spec.outputs.end(), [&](const kernel::Operand& output) {
    return fills_lines(spec, output) && is_element(output, vector_level, spec);
  });
}

bool kept_rows_go_around(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const Machine::Stores& machine = machine_of(target).stores;
  return machine.kept_rows_around || (machine.kept_long_rows_around && has_long_rows(spec, vector_level));
}

bool pays_around(const KernelSpec& spec, int vector_level, const target::Target& target, Expensive expensive) {
  const Machine::Stores& machine = machine_of(target).stores;
  const bool rows = kernel::level(spec, vector_level).reduced, others = rows || expensive == Expensive::through;
  const bool is_long = !rows || has_long_rows(spec, vector_level);
  const bool inside = !rows && kernel::outermost(spec, false) < vector_level;
  const Share& least = others && (kernel::is_elementwise(spec) || !is_long) ? machine.around
                       : others && inside                                   ? machine.blocks_around
                       : others                                             ? machine.long_rows_around
                       : expensive == Expensive::kept                       ? machine.kept_columns_around
                                                                            : machine.powers_around;
  return may_go_around(spec, vector_level) && lies_on_lines(spec, vector_level) &&
         least.reached_by(kernel::bytes_moved(spec), target) &&
         (expensive != Expensive::through || !stores_expensive_elements(spec));
}

bool may_store_columns_around(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const auto level = static_cast<std::size_t>(schedule.vector_level);
  const std::int64_t step = lanes_per_step(lanes, spec.inputs[0].dtype);
  // A last step that is taken with columns before it would go through the caches where these have gone around them.
  const std::int64_t columns = spec.levels[level].extent;
  if (columns % step != 0 && columns != kernel::kept_count(spec)) return false;
  return schedule.width == 0 && lanes != Lanes::keys && kernel::reduced_count(spec) <= kFewRows &&
         std::all_of(spec.outputs.begin(), spec.outputs.end(), [&](const kernel::Operand& output) {
           return output.strides[level] == 1 && step * byte_size(output.dtype) % kLine == 0 &&
                  rows_begin_on_lines(spec, output, schedule.vector_level);
         });
}

bool pays_to_store_columns_around(const KernelSpec& spec, Lanes lanes, const Schedule& schedule,
                                  const target::Target& target) {
  constexpr Share kOfNarrowElements{kCachesOfColumns, 1};
  const bool words = byte_size(spec.outputs[0].dtype) >= 4;
  const Share& least = words ? machine_of(target).stores.columns_around : kOfNarrowElements;
  return may_store_columns_around(spec, lanes, schedule) && least.reached_by(kernel::bytes_moved(spec), target);
}

bool may_claim(const KernelSpec& spec, int vector_level) {
  return std::any_of(spec.outputs.begin(), spec.outputs.end(),
                     [&](const kernel::Operand& output) { return is_element(output, vector_level, spec); });
}

bool pays_to_claim(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const bool in_order = kernel::is_elementwise(spec) || kernel::level(spec, vector_level).reduced;
  const std::int64_t most =
      in_order && !stores_expensive_elements(spec) ? target.l2_bytes / kNearPart : target.l2_bytes;
  return machine_of(target).stores.claims && kernel::bytes_moved(spec) > most && may_claim(spec, vector_level);
}

}  // namespace tenfold::schedule

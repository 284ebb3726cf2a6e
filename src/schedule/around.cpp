// SPDX-License-Identifier: Apache-2.0
//
// Measured, f32 [1024, 4096] (32 MiB read and written, as much as the last cache): -x 1029 us through the caches, 764
// around them; x + y 2061 and 1316; x / max |x| over axis 0 1822 and 1393; RMSNorm over axis 1 1513
// and 866, of [4096, 1024] 922 and 869. [33554432]: -x 12.5 ms and 9.0. Where 16 MiB are moved, nothing is won, and the
// next kernel would find its input in the cache; nor is it of rows that take turns.
//
// Elsewhere (a Xeon of 2 MiB L2 and a slow L3, f32 [4096, 1024]): x / max |x| 2066 us through the caches with lines
// claimed, 1380 around them; RMSNorm 2240 and 1415.
//
// Claimed lines, on that Xeon: x / max |x| of f32 [4096, 1024] takes 2755 us without and 2125 with; LayerNorm 2880 and
// 2300, softmax 3030 and 2320, of bf16 2710 and 2190. A loop that stores 16 MiB takes 1470 us, with them 740. Of cheap
// elements that are stored in the order of memory claims bring L2's lines to L1 as well: with them |x| takes 0.95 of
// the time where 1 MiB is moved, 0.89 of 1.5 MiB, RMSNorm 0.91 of both; but softmax of 1 MiB 1.03, x / max |x| over
// axis 0 1.11.
//
// exp(x) is bound by its arithmetic: 1599 us through the caches, which take a store at a time, 1948 around them.
// Elements of 16 bits are, too, where rounding takes a few operations: -x of bf16 [8388608] 1330 us and 1486.
#include "schedule/around.hpp"

#include <algorithm>
#include <vector>

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;
using kernel::Node;

/// What is moved leaves L1 for good from this part of L2 on.
constexpr std::int64_t kNearPart = 4;

constexpr std::int64_t kLine = 64;
/// Columns of so many rows at most store their outputs around the caches, where so many times the last cache is moved.
/// On the same Xeon, AVX2 and AVX-512, ms: ReduceMax f32 over axis 0 of [2, 16777216] 13.6 and 12.5, around them 11.2
/// and 9.9, ArgMax 20.5 and 18.7, 14.6 and 10.9; ReduceSum of [8, 8388608] 18.6 and 17.3, 17.1 and 15.6, of [40,
/// 1638400] 17.9 and 16.4, 16.6 and 15.0, of [64, 1048576] 17.4 and 16.5, 17.4 and 15.4; of 48 MiB, moved for the max
/// of [2, 4194304], nothing is won.
constexpr std::int64_t kFewRows = 48;
constexpr std::int64_t kCachesOfColumns = 2;

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
    return byte_size(output.dtype) < 4 || !is_element(output, vector_level, spec) ||
           rows_begin_on_lines(spec, output, vector_level);
  });
}

std::int64_t bytes_moved(const KernelSpec& spec) {
  const std::int64_t elements = kernel::kept_count(spec) * kernel::reduced_count(spec);
  std::int64_t bytes = 0;
  for (const std::vector<kernel::Operand>* operands : {&spec.inputs, &spec.outputs})
    for (const kernel::Operand& operand : *operands) {
      std::int64_t own = byte_size(operand.dtype) * elements;
      for (std::size_t level = 0; level < spec.levels.size(); ++level)
        if (operand.strides[level] == 0) own /= std::max<std::int64_t>(1, spec.levels[level].extent);
      bytes += own;
    }
  return bytes;
}

/// Whether an element that is stored takes a polynomial to compute, after the last reduction before it.
bool stores_dear_elements(const KernelSpec& spec) {
  const bool is_flat = kernel::is_elementwise(spec);
  const std::vector<bool> per_row = kernel::per_row(spec);
  std::vector<bool> expensive;
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    const Node& node = spec.body[i];
    const bool is_own = kernel::is_expensive(node);
    expensive.push_back((is_flat || !per_row[i]) &&
                        (is_own || std::any_of(node.args.begin(), node.args.end(), [&](int arg) {
                           return bool{expensive[static_cast<std::size_t>(arg)]};
                         })));
  }
  return std::any_of(spec.stores.begin(), spec.stores.end(),
                     [&](const kernel::Store& store) { return bool{expensive[static_cast<std::size_t>(store.node)]}; });
}

/// What columns keep in scratch is not read again: on Zen 5 softmax of [960, 4096] (30 MiB) takes 1.02 to 1.10 around,
/// of [1000, 4000] 0.83 to 0.92. On Zen 3, of what an output keeps, of [768, 4096] 1.18, and where just the last cache
/// is moved, [1024, 4096], [256, 16384], [64, 65536], 1.2 to 1.3; of [300, 20000] as much, of [2048, 4096] 0.9.
std::int64_t least_moved_by_kept_columns(const target::Target& target) {
  const std::int64_t cache = target.last_cache_bytes();
  if (target.late_l3()) return cache + 1;
  return target.fast_l3() ? cache - cache / 16 + 1 : cache;
}

}  // namespace

/// Where the last cache is fast, stores around it pay from three quarters of it on, as it is never one core's alone. On
/// Zen 5, AVX2 and AVX-512, where 24 MiB of 32 are moved, f32: x * x 0.70 and 0.73 of the time, x + y 0.73 and 0.56 (of
/// [512, 4096]), over the last axis of [3072, 1024] x / max |x| 0.73 and 0.69, RMSNorm 0.76 and 0.60, LayerNorm 0.84
/// and 0.71, over the first of [768, 4096] 0.71, 0.73 and 0.72, of [1000, 4000] 0.55 to 0.7. Where 16 MiB are moved, a
/// tenth to a seventh is won or lost, and the next kernel would find its input in the cache.
/// On Zen 3 as well, of the time through the caches, where 24 MiB are moved: |x| 0.77, x + y 0.79; over the last axis
/// of [3072, 1024], of what takes the next row with it, x / max |x| 0.70, RMSNorm 0.67, LayerNorm 0.69, softmax 0.9;
/// over the first of [768, 4096] 0.86, 0.88 and 0.87.
std::int64_t least_moved_around(const target::Target& target) {
  const std::int64_t cache = target.last_cache_bytes();
  return target.fast_l3() || target.late_l3() ? cache - cache / 4 : cache;
}

bool may_go_around(const KernelSpec& spec, int vector_level) {
  return std::any_of(spec.outputs.begin(), spec.outputs.end(), [&](const kernel::Operand& output) {
    return byte_size(output.dtype) >= 4 && is_element(output, vector_level, spec);
  });
}

bool pays_around(const KernelSpec& spec, int vector_level, const target::Target& target, bool kept) {
  const bool columns_keep = kept && !spec.levels[static_cast<std::size_t>(vector_level)].reduced;
  return may_go_around(spec, vector_level) && lies_on_lines(spec, vector_level) &&
         bytes_moved(spec) >= (columns_keep ? least_moved_by_kept_columns(target) : least_moved_around(target)) &&
         (kept || !stores_dear_elements(spec));
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
  return may_store_columns_around(spec, lanes, schedule) &&
         bytes_moved(spec) >= kCachesOfColumns * target.last_cache_bytes();
}

bool may_claim(const KernelSpec& spec, int vector_level) {
  return std::any_of(spec.outputs.begin(), spec.outputs.end(),
                     [&](const kernel::Operand& output) { return is_element(output, vector_level, spec); });
}

bool pays_to_claim(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const bool in_order = kernel::is_elementwise(spec) || spec.levels[static_cast<std::size_t>(vector_level)].reduced;
  const std::int64_t most = in_order && !stores_dear_elements(spec) ? target.l2_bytes / kNearPart : target.l2_bytes;
  return target.far_l3() && bytes_moved(spec) > most && may_claim(spec, vector_level);
}

}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/transposed.hpp"

#include <algorithm>
#include <optional>

#include "schedule/turned.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;
using kernel::Operand;

/// Fewer lanes, and fewer elements, are not worth a tile.
constexpr std::int64_t kLeastRows = 32, kLeastElements = 1024;
/// Blocks that a longer level is cut into: whole lines. The last one is the longer for what is left.
constexpr std::int64_t kBlock = 64;

/// The level that lanes run along, and that of the blocks.
struct Levels {
  std::size_t rows, block;
};

std::size_t neighbours(const Operand& operand) {
  return static_cast<std::size_t>(std::find(operand.strides.begin(), operand.strides.end(), 1) -
                                  operand.strides.begin());
}

bool all_operands(const KernelSpec& spec, const auto& test) {
  return std::ranges::all_of(spec.inputs, test) && std::ranges::all_of(spec.outputs, test);
}

/// Whether lanes find each operand's elements side by side, or all the same, or turned.
bool fits(const KernelSpec& spec, const Levels& levels) {
  return spec.levels[levels.rows].extent >= kLeastRows && all_operands(spec, [&](const Operand& operand) {
           const std::int64_t along = operand.strides[levels.rows];
           return along == 0 || along == 1 || operand.strides[levels.block] == 1;
         });
}

std::optional<Levels> find_levels(const KernelSpec& spec) {
  const std::size_t along = neighbours(spec.outputs[0]);
  if (along == spec.levels.size()) return std::nullopt;
  const auto turned = std::ranges::find_if(spec.inputs, [&](const Operand& input) {
    return input.strides[along] != 0 && input.strides[along] != 1 && neighbours(input) < spec.levels.size();
  });
  if (turned == spec.inputs.end()) return std::nullopt;
  const std::size_t other = neighbours(*turned);
  const Levels as_stored{along, other}, as_read{other, along};
  const auto is_whole = [&](const Levels& levels) {
    return spec.levels[levels.block].extent <= schedule::kMostTransposed;
  };
  // Blocks that need not be cut, and as many rows as there may be.
  const bool by_input =
      is_whole(as_read) && (!is_whole(as_stored) || spec.levels[other].extent > spec.levels[along].extent);
  const Levels first = by_input ? as_read : as_stored, second = by_input ? as_stored : as_read;
  return fits(spec, first) ? std::optional(first) : fits(spec, second) ? std::optional(second) : std::nullopt;
}

/// Blocks of `length` elements of the block level, from `first` on.
CutKernel part_of(const KernelSpec& spec, const Levels& levels, std::int64_t first, std::int64_t blocks,
                  std::int64_t length) {
  CutKernel part{spec, {}, {}};
  const auto is_own = [&](std::size_t level) { return level == levels.rows || level == levels.block; };
  const auto put = [&](const std::vector<Operand>& from, std::vector<Operand>& to, std::vector<Place>& places) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::vector<std::int64_t>& strides = from[i].strides;
      const std::int64_t stride = strides[levels.block];
      places.push_back({Place::Kind::operand, static_cast<int>(i), first * stride * byte_size(from[i].dtype)});
      to[i].strides.clear();
      for (std::size_t level = 0; level < strides.size(); ++level)
        if (!is_own(level)) to[i].strides.push_back(strides[level]);
      if (blocks > 1) to[i].strides.push_back(length * stride);
      to[i].strides.push_back(strides[levels.rows]);
      to[i].strides.push_back(stride);
    }
  };
  part.spec.levels.clear();
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (!is_own(level)) part.spec.levels.push_back(spec.levels[level]);
  if (blocks > 1) part.spec.levels.push_back({blocks, false});
  part.spec.levels.push_back(spec.levels[levels.rows]);
  part.spec.levels.push_back({length, true});
  put(spec.inputs, part.spec.inputs, part.reads);
  put(spec.outputs, part.spec.outputs, part.writes);
  return part;
}

}  // namespace

KernelCut transposed_parts(const KernelSpec& spec) {
  if (!kernel::is_elementwise(spec) || spec.levels.size() >= kernel::kMaxLevels ||
      kernel::kept_count(spec) < kLeastElements)
    return {};
  const std::optional<Levels> levels = find_levels(spec);
  if (!levels) return {};
  const std::int64_t extent = spec.levels[levels->block].extent;
  KernelCut cut;
  if (extent <= schedule::kMostTransposed) {
    cut.kernels.push_back(part_of(spec, *levels, 0, 1, extent));
  } else {
    const std::int64_t rest = extent % kBlock, blocks = extent / kBlock - (rest > 0 ? 1 : 0);
    cut.kernels.push_back(part_of(spec, *levels, 0, blocks, kBlock));
    if (rest > 0) cut.kernels.push_back(part_of(spec, *levels, blocks * kBlock, 1, kBlock + rest));
  }
  const bool turn = std::ranges::all_of(cut.kernels, [](const CutKernel& part) {
    return kernel::check(part.spec).ok() && schedule::turned_levels(part.spec).found();
  });
  return turn ? cut : KernelCut();
}

}  // namespace tenfold::compiler

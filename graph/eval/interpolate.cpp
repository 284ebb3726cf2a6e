// SPDX-License-Identifier: Apache-2.0
//
// Interpolate: along each spatial dim, an element of the result lies somewhere between two of the source. It takes up
// the nearer one, or both by their distance. Positions are quotients of whole numbers, which are kept as such, so that
// which element is nearer is exact; of two as near, the later one is taken, as oneDNN's rounding does.
#include "graph/eval/interpolate.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/eval/separable.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/window.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

constexpr std::int64_t kMostDim = std::int64_t{1} << 30;

/// The position `over` / `under` in the source.
struct Position {
  std::int64_t over = 0, under = 1;
};

Position position_of(std::int64_t at, std::int64_t from, std::int64_t to, bool aligns_corners) {
  if (!aligns_corners) return {(2 * at + 1) * from - to, 2 * to};
  return to == 1 ? Position{0, 1} : Position{at * (from - 1), to - 1};
}

std::int64_t floor_of(std::int64_t over, std::int64_t under) { return over / under - (over % under < 0 ? 1 : 0); }

SumsAlongDim interpolate_along(std::size_t dim, std::int64_t from, std::int64_t to, bool nearest, bool aligns_corners) {
  SumsAlongDim sums{dim, to, {}};
  const auto clamped = [from](std::int64_t index) { return std::clamp<std::int64_t>(index, 0, from - 1); };
  for (std::int64_t at = 0; from > 0 && at < to; ++at) {
    const Position position = position_of(at, from, to, aligns_corners);
    if (nearest) {
      sums.terms.push_back({clamped(floor_of(2 * position.over + position.under, 2 * position.under)), at});
      continue;
    }
    const std::int64_t below = floor_of(position.over, position.under);
    const auto part = static_cast<double>(position.over - below * position.under) / static_cast<double>(position.under);
    // In f32, a position is off by a few roundings of itself.
    const double slack = 4 * 0x1p-24 * static_cast<double>(std::max<std::int64_t>(1, below + 1));
    sums.terms.push_back({clamped(below), at, 1 - part, slack});
    sums.terms.push_back({clamped(below + 1), at, part, slack});
  }
  return sums;
}

struct InterpolatePlan {
  Dims source;  ///< the forward op's
  Dims result;
  std::size_t first = 1;  ///< spatial dim
};

/// Spatial dims by `sizes`, the tensor of them, or `scales`, of which the whole part of the product counts.
Result<Dims> wanted_sizes(const Op& op, Inputs inputs, std::size_t index, const Dims& source) {
  Result<Dims> sizes = given_shape(op, "sizes", inputs, index);
  if (!sizes.ok() || !sizes.value().empty()) return sizes;
  const auto scales = attribute_or<std::vector<double>>(op, "scales", {});
  Dims scaled;
  for (std::size_t i = 0; i < scales.size() && i < source.size(); ++i) {
    const auto product = static_cast<double>(static_cast<float>(source[i]) * static_cast<float>(scales[i]));
    scaled.push_back(product > 0 && product < static_cast<double>(kMostDim) ? static_cast<std::int64_t>(product) : -1);
  }
  return scaled;
}

Result<InterpolatePlan> plan_interpolate(const Op& op, Inputs inputs) {
  const bool backward = op.kind == "InterpolateBackward";
  const std::size_t wanted = backward ? 2 : 1;
  if (inputs.size() < wanted || inputs.size() > wanted + 1 || is_missing(inputs[wanted - 1]))
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs");
  InterpolatePlan plan{inputs[0].desc.shape, {}, first_spatial_dim(op)};
  if (plan.source.size() < 3) return fail(op, Code::invalid_shape, "the rank must be at least 3");
  const DataLayout layout = data_layout(op, plan.source);
  const Result<Dims> sizes = wanted_sizes(op, inputs, wanted, layout.spatial);
  if (!sizes.ok()) return sizes.status();
  const auto in_range = [](std::int64_t dim) { return dim >= 0 && dim <= kMostDim; };
  if (sizes.value().size() != layout.spatial.size() ||
      !std::all_of(sizes.value().begin(), sizes.value().end(), in_range) ||
      !std::all_of(layout.spatial.begin(), layout.spatial.end(), in_range))
    return fail(op, Code::invalid_op, "sizes or scales do not fit the source");
  plan.result = data_shape(op, layout.batch, layout.channels, sizes.value());
  if (backward && inputs[1].desc.shape != plan.result)
    return fail(op, Code::invalid_shape, "its inputs do not fit together");
  return plan;
}

Separable sums_of(const Op& op, const InterpolatePlan& plan) {
  const bool backward = op.kind == "InterpolateBackward";
  const bool nearest = attribute_or<std::string>(op, "mode", "nearest") == "nearest";
  const bool aligned = attribute_or<std::string>(op, "coordinate_transformation_mode", "half_pixel") == "align_corners";
  Separable sums{backward ? plan.result : plan.source, {}};
  for (std::size_t dim = plan.first; dim < plan.first + plan.source.size() - 2; ++dim) {
    SumsAlongDim step = interpolate_along(dim, plan.source[dim], plan.result[dim], nearest, aligned);
    sums.steps.push_back(backward ? reversed(step, plan.source[dim]) : std::move(step));
  }
  return sums;
}

/// What is interpolated: the source, or the gradient.
std::size_t operand_of(const Op& op) { return op.kind == "InterpolateBackward" ? 1 : 0; }

}  // namespace

Result<std::vector<Dims>> interpolate_shapes(const Op& op, Inputs inputs) {
  Result<InterpolatePlan> plan = plan_interpolate(op, inputs);
  if (!plan.ok()) return plan.status();
  return std::vector<Dims>{operand_of(op) == 1 ? plan.value().source : plan.value().result};
}

Status evaluate_interpolate(const Op& op, Inputs inputs, Outputs outputs) {
  return evaluate_separable(sums_of(op, plan_interpolate(op, inputs).value()), inputs[operand_of(op)], outputs[0]);
}

Result<std::vector<Bounds>> bound_interpolate(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                              Outputs) {
  const std::size_t operand = operand_of(op);
  return std::vector<Bounds>{
      bound_separable(sums_of(op, plan_interpolate(op, inputs).value()), inputs[operand], input_bounds[operand])};
}

}  // namespace tenfold::graph

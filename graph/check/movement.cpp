// SPDX-License-Identifier: Apache-2.0
//
// See movement.hpp: permutations, slices and splits, read from either dialect's attributes and operands.
#include "graph/check/movement.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

/// Versions in which ONNX's ops have as inputs what were attributes before.
constexpr int kSliceInputs = 10;
constexpr int kNumOutputs = 18;  ///< the version from which a Split without sizes says how many parts it makes

bool is_core(const Op& op) { return op.dialect == Dialect::core; }

Integers list(const Op& op, std::string_view name) { return attribute_or<Integers>(op, name, {}); }

/// One operand of a Slice; nullopt: known at run time only.
struct Bounds {
  std::optional<Integers> starts, ends, axes, steps;
};

Result<std::optional<Bounds>> slice_bounds(const Graph& graph, const Op& op) {
  Bounds bounds;
  if (version_of(op)->since_version < kSliceInputs) {
    bounds.starts = list(op, "starts");
    bounds.ends = list(op, "ends");
    if (find_attribute(op, "axes") != nullptr) bounds.axes = list(op, "axes");
    return std::optional(std::move(bounds));
  }
  std::optional<Integers>* const targets[] = {&bounds.starts, &bounds.ends, &bounds.axes, &bounds.steps};
  for (std::size_t i = 0; i < 4; ++i) {
    Result<std::optional<Integers>> read = known_integers(graph, op, 1 + i);
    if (!read.ok()) return read.status();
    if (!read.value() && has_input(op, 1 + i)) return std::optional<Bounds>();
    *targets[i] = std::move(read).value();
  }
  return std::optional(std::move(bounds));
}

std::int64_t clamped(std::int64_t value, std::int64_t low, std::int64_t high) {
  return std::max(low, std::min(high, value));
}

/// How many elements a step takes from `start` on, before `end`, along a dim of `extent`; `start` becomes the first. As
/// ONNX says and Python does not, a start before the first element is the first, backwards too.
std::int64_t cut(std::int64_t& start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (start < 0) start = start < -extent ? 0 : start + extent;
  if (end < 0) end = end < -extent ? -1 : end + extent;
  if (step > 0) {
    start = clamped(start, 0, extent);
    end = clamped(end, 0, extent);
    return end > start ? (end - start - 1) / step + 1 : 0;
  }
  start = clamped(start, -1, extent - 1);
  end = clamped(end, -1, extent - 1);
  // The magnitude of the least integer is none of its own. A step of 0 has been refused.
  const std::uint64_t back = 0 - static_cast<std::uint64_t>(step);
  const auto taken = static_cast<std::uint64_t>(start - end - 1) / back;  // NOLINT(clang-analyzer-core.DivideZero)
  return start > end ? static_cast<std::int64_t>(taken) + 1 : 0;
}

Result<SlicePlan> core_slice(const Op& op, const Dims& source) {
  SlicePlan plan{list(op, "starts"), list(op, "steps"), list(op, "shape"), true};
  const auto wrong = [&](const std::string& text) {
    return refuse(Code::invalid_shape, op,
                  "starts " + show_dims(plan.starts) + ", steps " + show_dims(plan.steps) + " and shape " +
                      show_dims(plan.shape) + " for src " + show_dims(source) + ": " + text,
                  "move.V4");
  };
  if (plan.starts.size() != source.size() || plan.steps.size() != source.size() || plan.shape.size() != source.size())
    return wrong("each must have one entry a dim");
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (plan.shape[i] < 0) return wrong("a dim is negative");
    if (plan.shape[i] == 0 || source[i] == kUnknownDim) continue;
    const std::int64_t limit = std::int64_t{1} << 48;
    const bool sane = plan.steps[i] > -limit && plan.steps[i] < limit && plan.shape[i] < limit && plan.starts[i] >= 0;
    const __int128 last = static_cast<__int128>(plan.shape[i] - 1) * plan.steps[i] + plan.starts[i];
    if (!sane || plan.starts[i] >= source[i] || last < 0 || last >= source[i])
      return wrong("dim " + std::to_string(i) + " leaves the input");
  }
  return plan;
}

Result<SlicePlan> onnx_slice(const Op& op, const Dims& source, Bounds& bounds) {
  const std::size_t count = bounds.starts->size();
  if (!bounds.axes) {
    bounds.axes.emplace();
    for (std::size_t i = 0; i < count; ++i) bounds.axes->push_back(static_cast<std::int64_t>(i));
  }
  if (!bounds.steps) bounds.steps.emplace(count, 1);
  if (bounds.ends->size() != count || bounds.axes->size() != count || bounds.steps->size() != count)
    return refuse(Code::invalid_op, op,
                  "starts, ends, axes and steps have " + std::to_string(count) + ", " +
                      std::to_string(bounds.ends->size()) + ", " + std::to_string(bounds.axes->size()) + " and " +
                      std::to_string(bounds.steps->size()) + " elements, must have as many",
                  "move.V4");
  const auto rank = static_cast<std::int64_t>(source.size());
  if (const Result<Integers> axes = normalize_axes(*bounds.axes, static_cast<int>(rank), describe(op)); !axes.ok())
    return axes.status();
  SlicePlan plan{Integers(source.size(), 0), Integers(source.size(), 1), source, true};
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t axis = (*bounds.axes)[i];
    const auto dim = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    const std::int64_t step = (*bounds.steps)[i];
    if (step == 0) return refuse(Code::invalid_op, op, "the step of axis " + std::to_string(axis) + " is 0", "move.V4");
    if (source[dim] == kUnknownDim) {
      plan.exact = false;
      continue;
    }
    std::int64_t start = (*bounds.starts)[i];
    plan.shape[dim] = cut(start, (*bounds.ends)[i], step, source[dim]);
    // Nothing is taken then, wherever it would begin; and one element needs no step.
    plan.starts[dim] = plan.shape[dim] == 0 ? 0 : start;
    plan.steps[dim] = plan.shape[dim] <= 1 ? 1 : step;
  }
  return plan;
}

/// Parts of equal size, the last one smaller where that does not come out even (since version 18).
Result<Integers> equal_parts(const Op& op, std::int64_t extent, std::int64_t parts) {
  const std::int64_t size = extent / parts + (extent % parts != 0 ? 1 : 0);
  Integers sizes(static_cast<std::size_t>(parts), size);
  sizes.back() = extent - size * (parts - 1);
  const bool uneven = sizes.back() != size;
  if (sizes.back() >= 0 && (!uneven || find_attribute(op, "num_outputs") != nullptr)) return sizes;
  return refuse(Code::invalid_shape, op,
                "a dim of " + std::to_string(extent) + " does not split into " + std::to_string(parts) + " parts",
                "move.V5");
}

}  // namespace

Result<Integers> permutation_of(const Op& op, std::size_t rank) {
  const char* const name = is_core(op) ? "permutation" : op.dialect == Dialect::onednn ? "order" : "perm";
  Integers permutation = list(op, name);
  if (op.dialect == Dialect::onnx && find_attribute(op, name) == nullptr) {
    for (std::size_t i = rank; i-- > 0;) permutation.push_back(static_cast<std::int64_t>(i));
    return permutation;
  }
  std::vector<bool> seen(rank, false);
  bool whole = permutation.size() == rank;
  for (std::size_t i = 0; i < permutation.size() && whole; ++i) {
    std::int64_t& dim = permutation[i];
    // Only oneDNN counts from the end here.
    if (dim < 0 && op.dialect == Dialect::onednn) dim += static_cast<std::int64_t>(rank);
    whole = dim >= 0 && dim < static_cast<std::int64_t>(rank) && !seen[static_cast<std::size_t>(dim)];
    if (whole) seen[static_cast<std::size_t>(dim)] = true;
  }
  if (whole) return permutation;
  return refuse(Code::invalid_op, op,
                "attribute '" + std::string(name) + "' " + show_dims(list(op, name)) + " does not name each of the " +
                    std::to_string(rank) + " dims once",
                "move.V1");
}

Result<std::optional<SlicePlan>> slice_plan(const Graph& graph, const Op& op) {
  const Value& source = graph.values[op.inputs[0]];
  if (!source.ranked) return std::optional<SlicePlan>();
  if (is_core(op)) {
    Result<SlicePlan> plan = core_slice(op, source.shape);
    if (!plan.ok()) return plan.status();
    return std::optional(std::move(plan).value());
  }
  Result<std::optional<Bounds>> bounds = slice_bounds(graph, op);
  if (!bounds.ok()) return bounds.status();
  if (!bounds.value()) return std::optional<SlicePlan>();
  Result<SlicePlan> plan = onnx_slice(op, source.shape, *bounds.value());
  if (!plan.ok()) return plan.status();
  return std::optional(std::move(plan).value());
}

Result<std::optional<SplitPlan>> split_plan(const Graph& graph, const Op& op) {
  const Value& source = graph.values[op.inputs[0]];
  if (!source.ranked) return std::optional<SplitPlan>();
  const std::int64_t written = attribute_or<std::int64_t>(op, "axis", 0);
  const Result<Integers> axis = normalize_axes({written}, static_cast<int>(source.shape.size()), describe(op));
  if (!axis.ok()) return axis.status();
  const auto dim = static_cast<std::size_t>(axis.value()[0]);
  const std::int64_t extent = source.shape[dim];
  const auto parts = static_cast<std::int64_t>(op.outputs.size());
  if (const std::int64_t asked = attribute_or<std::int64_t>(op, "num_outputs", parts); asked != parts)
    return refuse(Code::invalid_op, op,
                  "num_outputs is " + std::to_string(asked) + ", but it has " + std::to_string(parts) + " outputs",
                  "move.V5");
  const bool counted = find_attribute(op, "num_outputs") != nullptr;
  if (op.dialect == Dialect::onnx && version_of(op)->since_version >= kNumOutputs && counted == has_input(op, 1))
    return refuse(Code::invalid_op, op,
                  std::string(counted ? "both num_outputs and split are" : "neither num_outputs nor split is") +
                      " given, must be one of them",
                  "move.V5");
  std::optional<Integers> sizes;
  if (find_attribute(op, "split") != nullptr) sizes = list(op, "split");
  if (has_input(op, 1)) {
    if (is_floating(graph.values[op.inputs[1]].dtype))
      return refuse(Code::unsupported_op, op, "takes the sizes of parts as an attribute, not as an input of floats",
                    "move.V6");
    Result<std::optional<Integers>> read = known_integers(graph, op, 1);
    if (!read.ok()) return read.status();
    if (!read.value()) return std::optional<SplitPlan>();
    sizes = std::move(read).value();
  }
  if (extent == kUnknownDim && !sizes) return std::optional<SplitPlan>();
  if (!sizes) {
    Result<Integers> equal = equal_parts(op, extent, parts);
    if (!equal.ok()) return equal.status();
    return std::optional(SplitPlan{dim, std::move(equal).value()});
  }
  const bool negative = std::any_of(sizes->begin(), sizes->end(), [](std::int64_t size) { return size < 0; });
  const Result<std::int64_t> most =
      negative || sizes->empty() ? Result<std::int64_t>(0) : numel({*std::max_element(sizes->begin(), sizes->end())});
  std::int64_t sum = 0;
  if (!negative && most.ok())
    for (const std::int64_t size : *sizes) sum += size;
  if (negative || !most.ok() || sizes->size() != op.outputs.size() || (extent != kUnknownDim && sum != extent))
    return refuse(Code::invalid_shape, op,
                  "split " + show_dims(*sizes) + " does not cut a dim of " +
                      (extent == kUnknownDim ? "?" : std::to_string(extent)) + " into " + std::to_string(parts) +
                      " outputs",
                  "move.V5");
  return std::optional(SplitPlan{dim, std::move(*sizes)});
}

DimRange dim_range(const Op& op, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  const auto wrapped = [&](std::int64_t dim) { return clamped(dim < 0 ? dim + count : dim, 0, count); };
  const std::int64_t first = wrapped(attribute_or<std::int64_t>(op, "start", 0));
  const std::int64_t last = wrapped(attribute_or<std::int64_t>(op, "end", count));
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(std::max(first, last))};
}

}  // namespace tenfold::graph

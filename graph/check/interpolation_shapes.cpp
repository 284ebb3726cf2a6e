// SPDX-License-Identifier: Apache-2.0
//
// Interpolate and its backward op: the spatial dims of the result by their sizes or by scales.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/movement.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/check/window.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

using Shape = std::optional<Dims>;
using Reals = std::vector<double>;

constexpr std::int64_t kMostDim = std::int64_t{1} << 30;

/// resample.I2: one source of sizes, with an entry for each spatial dim.
Result<Dims> wanted_dims(const Graph& graph, const Op& op, std::size_t index, const Dims& spatial) {
  const auto sizes = attribute_or<Dims>(op, "sizes", {});
  const auto scales = attribute_or<Reals>(op, "scales", {});
  const bool has_tensor = has_input(op, index);
  if ((sizes.empty() ? 0 : 1) + (scales.empty() ? 0 : 1) + (has_tensor ? 1 : 0) != 1)
    return refuse(Code::invalid_op, op,
                  std::to_string(sizes.size()) + " sizes, " + std::to_string(scales.size()) + " scales and " +
                      (has_tensor ? "a" : "no") + " tensor of sizes; exactly one of them may be given",
                  "resample.I2");
  Dims wanted = sizes;
  if (has_tensor) {
    Result<std::optional<Integers>> known = known_integers(graph, op, index);
    if (!known.ok()) return known.status();
    if (!known.value()) return Dims(spatial.size(), kUnknownDim);
    wanted = std::move(*known.value());
  }
  if (!scales.empty() && scales.size() == spatial.size())
    for (std::size_t i = 0; i < spatial.size(); ++i) {
      // The whole part of the product in f32, as oneDNN computes it.
      const float product = static_cast<float>(spatial[i]) * static_cast<float>(scales[i]);
      const bool fits = product >= 0 && product <= static_cast<float>(kMostDim);
      wanted.push_back(spatial[i] == kUnknownDim ? kUnknownDim : fits ? static_cast<std::int64_t>(product) : -1);
    }
  if (wanted.size() == spatial.size()) return wanted;
  return refuse(Code::invalid_op, op,
                std::to_string(scales.empty() ? wanted.size() : scales.size()) +
                    (scales.empty() ? " sizes" : " scales") + " for " + std::to_string(spatial.size()) +
                    " spatial dims",
                "resample.I2");
}

}  // namespace

Result<std::vector<Shape>> infer_interpolation_shapes(const Graph& graph, const Op& op) {
  const bool backward = op.kind == "InterpolateBackward";
  const Value& source = graph.values[op.inputs[0]];
  if (!source.ranked) return std::vector<Shape>{std::nullopt};
  if (source.shape.size() < 3)
    return refuse(Code::invalid_shape, op,
                  "src " + show_shape(source) + " has no batch, channels and spatial dims; its rank must be at least 3",
                  "resample.I1");
  const Dims spatial = spatial_dims(op, source.shape);
  const Result<Dims> wanted = wanted_dims(graph, op, backward ? 2 : 1, spatial);
  if (!wanted.ok()) return wanted.status();
  for (const Dims* dims : {&spatial, &wanted.value()})
    for (const std::int64_t dim : *dims)
      if (dim != kUnknownDim && (dim < 1 || dim > kMostDim))
        return refuse(Code::invalid_shape, op,
                      "spatial dims " + show_dims(spatial) + " would become " + show_dims(wanted.value()) +
                          "; they must be in [1, " + std::to_string(kMostDim) + "]",
                      "resample.I3");
  Dims result = data_shape(op, source.shape[0], source.shape[channel_dim(op, source.shape.size())], wanted.value());
  if (!backward) return std::vector<Shape>{std::move(result)};
  const Value& gradient = graph.values[op.inputs[1]];
  if (!gradient.ranked || may_agree(gradient.shape, result)) return std::vector<Shape>{source.shape};
  return refuse(
      Code::invalid_shape, op,
      "diff_dst is " + show_shape(gradient) + ", but src " + show_shape(source) + " becomes " + show_dims(result),
      "resample.I4");
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// What oneDNN's elementwise backward ops make of their inputs' shapes: a gradient has the shape of what it is taken by.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

using Shape = std::optional<Dims>;

Shape shape_of(const Value& value) { return value.ranked ? Shape(value.shape) : std::nullopt; }

/// The gradient of a bias: the channels of diff_dst.
Result<Shape> bias_shape(const Op& op, const Value& gradient) {
  if (!gradient.ranked) return Shape(Dims{kUnknownDim});
  const std::size_t rank = gradient.shape.size();
  if (has_channels(op, rank)) return Shape(Dims{gradient.shape[channel_dim(op, rank)]});
  return refuse(Code::invalid_shape, op,
                "diff_dst " + show_shape(gradient) + " has no channels by data_format '" +
                    std::string(channels_last(op) ? "NXC" : "NCX") + "'",
                "shape.E5");
}

}  // namespace

Result<std::vector<std::optional<Dims>>> infer_backward_shapes(const Graph& graph, const Op& op) {
  const Value& first = graph.values[op.inputs[0]];
  if (op.inputs.size() == 1) {
    Result<Shape> shape = bias_shape(op, first);
    if (!shape.ok()) return shape.status();
    return std::vector<Shape>{std::move(shape).value()};
  }
  const Value& gradient = graph.values[op.inputs.back()];
  if (first.ranked && gradient.ranked && !may_agree(first.shape, gradient.shape))
    return refuse(Code::invalid_shape, op,
                  "diff_dst is " + show_shape(gradient) + ", but what the op had was " + show_shape(first) +
                      "; they must be of the same shape",
                  "shape.E9");
  if (op.inputs.size() == 2) return std::vector<Shape>{shape_of(first)};
  Result<Shape> shape = infer_shape(graph, op, Form::prelu);
  if (!shape.ok()) return shape.status();
  return std::vector<Shape>{std::move(shape).value(), shape_of(graph.values[op.inputs[1]])};
}

}  // namespace tenfold::graph

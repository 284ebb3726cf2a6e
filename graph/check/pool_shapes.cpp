// SPDX-License-Identifier: Apache-2.0
//
// Pools and their backward ops: a window for each element of the result, or of its gradient.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/check/window.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/ir/twin.hpp"

namespace tenfold::graph {
namespace {

using Shape = std::optional<Dims>;

/// What the windows of the forward op slide over; nullopt: its rank is not known.
Result<Shape> source_shape(const Graph& graph, const Op& op) {
  const Value& first = graph.values[op.inputs[0]];
  if (!first.ranked) return Shape();
  if (first.shape.size() < 3)
    return refuse(Code::invalid_shape, op,
                  show_shape(first) + " has no batch, channels and spatial dims; the rank must be at least 3",
                  "pool.P1");
  if (op.kind != "AvgPoolBackward") return Shape(first.shape);
  Result<Shape> given = shape_operand(graph, op, "src_shape", 1, first.shape.size());
  if (!given.ok() || given.value()) return given;
  return refuse(Code::invalid_op, op, "nothing says the shape of the source; give src_shape", "pool.P2");
}

/// pool.P3: the gradient of a backward op, which does not say how the forward one rounded.
Status check_gradient(const Graph& graph, const Op& op, const Dims& source, const WindowFacts& facts) {
  if (op.kind != "AvgPoolBackward" && op.kind != "MaxPoolBackward") return {};
  const Value& gradient = graph.values[op.inputs[op.kind == "MaxPoolBackward" ? 1 : 0]];
  if (!gradient.ranked) return {};
  Dims expected;
  for (const bool rounds_up : {true, false}) {
    WindowFacts windows = facts;
    const Result<Dims> counts = count_windows(op, spatial_dims(op, source), rounds_up, windows);
    if (!counts.ok()) return counts.status();
    expected = data_shape(op, source[0], source[channel_dim(op, source.size())], counts.value());
    if (may_agree(gradient.shape, expected)) return {};
  }
  return refuse(Code::invalid_shape, op,
                "diff_dst is " + show_shape(gradient) + ", but windows over " + show_dims(source) + " give " +
                    show_dims(expected),
                "pool.P3");
}

}  // namespace

Result<std::vector<Shape>> infer_pool_shapes(const Graph& graph, const Op& op) {
  if (op.dialect == Dialect::onnx) {
    const Value& data = graph.values[op.inputs[0]];
    if (!data.ranked) return std::vector<Shape>(2);
    if (data.shape.size() > 2)
      if (Status s = check_onnx_windows(op, data.shape.size() - 2); !s.ok()) return s;
    Result<std::vector<Shape>> shapes = infer_pool_shapes(graph, onednn_twin(op, {&data.shape, 1})->op);
    // MaxPool's indices lie as what they point to.
    if (shapes.ok()) shapes.value().push_back(shapes.value().front());
    return shapes;
  }
  Result<Shape> source = source_shape(graph, op);
  if (!source.ok()) return source.status();
  if (!source.value()) return std::vector<Shape>{std::nullopt};
  Dims& shape = *source.value();
  Result<WindowFacts> facts = read_windows(op, shape.size() - 2);
  if (!facts.ok()) return facts.status();
  if (Status s = check_gradient(graph, op, shape, facts.value()); !s.ok()) return s;
  if (op.kind == "AvgPoolBackward" || op.kind == "MaxPoolBackward") return std::vector<Shape>{std::move(shape)};
  const bool rounds_up = attribute_or<std::string>(op, "rounding_type", "floor") == "ceil";
  const Result<Dims> counts = count_windows(op, spatial_dims(op, shape), rounds_up, facts.value());
  if (!counts.ok()) return counts.status();
  return std::vector<Shape>{data_shape(op, shape[0], shape[channel_dim(op, shape.size())], counts.value())};
}

Result<WindowFacts> pool_windows(const Graph& graph, const Op& op) {
  const Result<Shape> source = source_shape(graph, op);
  if (!source.ok()) return source.status();
  if (!source.value()) return refuse(Code::invalid_shape, op, "the source is not ranked", "pool.P1");
  Result<WindowFacts> facts = read_windows(op, source.value()->size() - 2);
  if (!facts.ok()) return facts;
  // For the pads that auto_pad sets.
  if (const Result<Dims> counts = count_windows(op, spatial_dims(op, *source.value()), false, facts.value());
      !counts.ok())
    return counts.status();
  return facts;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// What each op makes of its inputs' shapes: one function a form. Unknown dims and ranks go through; a zero dim is a dim
// like any other.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/movement.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

using Shape = std::optional<Dims>;  ///< nullopt: not even the rank is known

const Value& input(const Graph& graph, const Op& op, std::size_t i) { return graph.values[op.inputs[i]]; }

Shape shape_of(const Value& value) { return value.ranked ? Shape(value.shape) : std::nullopt; }

/// ONNX before NumPy's broadcasting: B runs along A's dims from `axis` on, by default along the last ones.
Result<Shape> legacy_shape(const Graph& graph, const Op& op) {
  const Value& a = input(graph, op, 0);
  const Value& b = input(graph, op, 1);
  if (!a.ranked || !b.ranked) return shape_of(a);
  const auto rank = static_cast<std::int64_t>(a.shape.size());
  const auto length = static_cast<std::int64_t>(b.shape.size());
  const std::int64_t axis = attribute_or<std::int64_t>(op, "axis", rank - length);
  bool fits = length <= rank && axis >= 0 && axis <= rank - length;
  for (std::int64_t i = 0; fits && i < length; ++i) {
    const std::int64_t dim = b.shape[static_cast<std::size_t>(i)];
    fits = dim == 1 || may_agree(dim, a.shape[static_cast<std::size_t>(axis + i)]);
  }
  if (fits) return shape_of(a);
  return refuse(
      Code::invalid_shape, op,
      "B " + show_shape(b) + " does not lie along A " + show_shape(a) + " from axis " + std::to_string(axis) + " on",
      "shape.E8");
}

Result<Shape> broadcast_inputs(const Graph& graph, const Op& op, std::size_t first) {
  const bool legacy = has_legacy_broadcast(op);
  if (legacy && attribute_or<std::int64_t>(op, "broadcast", 0) != 0) return legacy_shape(graph, op);
  const bool equal_only = legacy || attribute_or<std::string>(op, "auto_broadcast", "numpy") == "none";
  Shape out = shape_of(input(graph, op, first));
  for (std::size_t i = first + 1; i < op.inputs.size() && out; ++i) {
    const Value& next = input(graph, op, i);
    if (!next.ranked) return Shape();
    if (equal_only && !may_agree(*out, next.shape))
      return refuse(Code::invalid_shape, op,
                    "shapes " + show_dims(*out) + " and " + show_shape(next) +
                        (legacy ? " differ, and this version of the op does not broadcast by itself"
                                : " differ, and auto_broadcast is 'none'; with 'numpy' dims of 1 are repeated"),
                    "shape.E2");
    std::optional<Dims> both = broadcast_shapes(*out, next.shape);
    if (!both)
      return refuse(Code::invalid_shape, op,
                    "shapes " + show_dims(*out) + " and " + show_shape(next) +
                        " do not broadcast; from the last dim on, dims must be equal or 1",
                    "shape.E1");
    out = std::move(*both);
  }
  return out;
}

Result<Shape> select_shape(const Graph& graph, const Op& op) {
  if (op.dialect != Dialect::onednn) return broadcast_inputs(graph, op, 0);
  Result<Shape> branches = broadcast_inputs(graph, op, 1);
  const Value& condition = input(graph, op, 0);
  if (!branches.ok() || !branches.value() || !condition.ranked) return branches;
  const Dims& shape = *branches.value();
  const bool equal_only = attribute_or<std::string>(op, "auto_broadcast", "numpy") == "none";
  if (equal_only && !may_agree(condition.shape, shape))
    return refuse(
        Code::invalid_shape, op,
        "shapes " + show_shape(condition) + " and " + show_dims(shape) + " differ, and auto_broadcast is 'none'",
        "shape.E2");
  if (fits_one_way(condition.shape, shape)) return branches;
  return refuse(Code::invalid_shape, op,
                "cond of shape " + show_shape(condition) + " does not broadcast to " + show_dims(shape) +
                    ", the shape of src_0 and src_1; it is broadcast one way only",
                "shape.E4");
}

/// How many channels there are, or nullopt when the rank is too small to have any.
std::optional<std::int64_t> channels(const Op& op, const Dims& shape) {
  if (!has_channels(op, shape.size())) return std::nullopt;
  return shape[channel_dim(op, shape.size())];
}

std::string channels_text(const Op& op, const Dims& shape) {
  const std::optional<std::int64_t> dim = channels(op, shape);
  return "src " + show_dims(shape) + " has " +
         (!dim                  ? "no channels"
          : *dim == kUnknownDim ? "? channels"
                                : std::to_string(*dim) + " channels") +
         (op.dialect == Dialect::onnx ? " along dim 1"
          : channels_last(op)         ? " by data_format 'NXC'"
                                      : " by data_format 'NCX'");
}

Result<Shape> bias_add_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const Value& bias = input(graph, op, 1);
  if (!source.ranked || !bias.ranked) return shape_of(source);
  const std::optional<std::int64_t> dim = channels(op, source.shape);
  if (bias.shape.size() == 1 && dim && may_agree(bias.shape[0], *dim)) return shape_of(source);
  return refuse(Code::invalid_shape, op,
                "bias " + show_shape(bias) + " must have one dim, the channels; " + channels_text(op, source.shape),
                "shape.E5");
}

/// ONNX's bound of a Clip: one element, which adds no dims to the output.
Result<Shape> clip_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    if (op.inputs[i] == kNone) continue;
    const Value& bound = input(graph, op, i);
    if (!bound.ranked || bound.shape.empty()) continue;
    const bool one = bound.shape.size() == 1 && may_agree(bound.shape[0], 1);
    if (one && (!source.ranked || !source.shape.empty())) continue;
    return refuse(Code::invalid_shape, op,
                  std::string(i == 1 ? "min" : "max") + " has shape " + show_shape(bound) + ", must be one element",
                  "shape.E7");
  }
  return shape_of(source);
}

Result<Shape> constant_shape(const Op& op) {
  const Attribute& value = op.attributes[0].value;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
    return Shape(Dims{static_cast<std::int64_t>(integers->size())});
  if (const auto* reals = std::get_if<std::vector<double>>(&value))
    return Shape(Dims{static_cast<std::int64_t>(reals->size())});
  return Shape(Dims{});
}

Result<Shape> prelu_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const Value& slope = input(graph, op, 1);
  if (!source.ranked || !slope.ranked) return shape_of(source);
  const bool per_channel =
      op.dialect == Dialect::onnx ? has_legacy_broadcast(op) : attribute_or<bool>(op, "per_channel_broadcast", true);
  if (slope.shape.size() == 1 && per_channel) {
    const std::optional<std::int64_t> dim = channels(op, source.shape);
    if (slope.shape[0] == 1 || (dim && may_agree(slope.shape[0], *dim))) return shape_of(source);
    return refuse(Code::invalid_shape, op,
                  "slope " + show_shape(slope) + " must have as many elements as there are channels, or 1; " +
                      channels_text(op, source.shape),
                  "shape.E6");
  }
  if (fits_one_way(slope.shape, source.shape)) return shape_of(source);
  return refuse(Code::invalid_shape, op,
                "slope " + show_shape(slope) + " does not broadcast to src " + show_shape(source), "shape.E6");
}

Result<Shape> reduction_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  if (!source.ranked) return Shape();
  Result<AxesFacts> facts = axes_facts(graph, op);
  if (!facts.ok()) return facts.status();
  const bool keep_dims = facts.value().keep_dims;
  if (!facts.value().axes) return keep_dims ? Shape(Dims(source.shape.size(), kUnknownDim)) : Shape();
  const std::vector<std::int64_t>& axes = *facts.value().axes;
  if (axes.empty() && facts.value().empty == EmptyAxes::all)
    return Shape(Dims(keep_dims ? source.shape.size() : 0, std::int64_t{1}));
  const int rank = static_cast<int>(source.shape.size());
  const Result<std::vector<std::int64_t>> normal = normalize_axes(axes, rank, describe(op));
  if (!normal.ok()) return normal.status();
  return Shape(reduced_shape(source.shape, normal.value(), keep_dims));
}

/// The result and its mask; seed, offset and probability are one element each.
Result<std::vector<Shape>> dropout_shapes(const Graph& graph, const Op& op) {
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    const Value& scalar = input(graph, op, i);
    const bool one = !scalar.ranked || std::all_of(scalar.shape.begin(), scalar.shape.end(),
                                                   [](std::int64_t dim) { return may_agree(dim, 1); });
    if (!one)
      return refuse(Code::invalid_shape, op,
                    "input " + std::to_string(i) + " has shape " + show_shape(scalar) + ", must be one element",
                    "shape.E10");
  }
  return std::vector<Shape>(2, shape_of(input(graph, op, 0)));
}

Result<Shape> arg_reduction_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  if (!source.ranked) return Shape();
  const bool keep_dims = op.dialect == Dialect::onnx ? attribute_or<std::int64_t>(op, "keepdims", 1) != 0
                                                     : attribute_or<bool>(op, "keep_dims", false);
  const std::int64_t axis = attribute_or<std::int64_t>(op, "axis", 0);
  const Result<std::vector<std::int64_t>> axes =
      normalize_axes({axis}, static_cast<int>(source.shape.size()), describe(op));
  if (!axes.ok()) return axes.status();
  Dims shape = reduced_shape(source.shape, axes.value(), keep_dims);
  const bool empty_result = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (source.shape[static_cast<std::size_t>(axes.value()[0])] == 0 && !empty_result)
    return refuse(Code::invalid_shape, op,
                  "axis " + std::to_string(axis) + " of " + show_shape(source) + " is empty; no element has an index",
                  "reduce.C6");
  return Shape(std::move(shape));
}

/// That of its input; its axis is judged where it is known.
Result<Shape> cum_sum_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const Value& axis = input(graph, op, 1);
  if (axis.ranked && !may_agree(axis.shape, {}) && !may_agree(axis.shape, {1}))
    return refuse(Code::invalid_shape, op,
                  "axis is " + std::string(to_string(axis.dtype)) + show_shape(axis) + ", must have one element",
                  "move.V10");
  const Result<std::optional<Integers>> known = known_integers(graph, op, 1);
  if (!known.ok()) return known.status();
  if (source.ranked && known.value())
    if (const Result<Integers> axes =
            normalize_axes(*known.value(), static_cast<int>(source.shape.size()), describe(op));
        !axes.ok())
      return axes.status();
  return shape_of(source);
}

}  // namespace

bool fits_one_way(const Dims& small, const Dims& big) {
  if (small.size() > big.size()) return false;
  const std::size_t shift = big.size() - small.size();
  for (std::size_t i = 0; i < small.size(); ++i)
    if (small[i] != 1 && !may_agree(small[i], big[shift + i])) return false;
  return true;
}

Result<Shape> infer_shape(const Graph& graph, const Op& op, Form form) {
  switch (form) {
    case Form::elementwise: return broadcast_inputs(graph, op, 0);
    case Form::reduction: return reduction_shape(graph, op);
    case Form::arg_reduction: return arg_reduction_shape(graph, op);
    case Form::bias_add: return bias_add_shape(graph, op);
    case Form::prelu: return prelu_shape(graph, op);
    case Form::select: return select_shape(graph, op);
    case Form::clip: return clip_shape(graph, op);
    case Form::constant: return constant_shape(op);
    case Form::cast:
      return op.kind == "CumSum" ? cum_sum_shape(graph, op) : Result<Shape>(shape_of(input(graph, op, 0)));
    default: break;
  }
  return Shape();
}

Result<std::vector<Shape>> infer_shapes(const Graph& graph, const Op& op, Form form) {
  if (is_norm(form)) return infer_norm_shapes(graph, op, form);
  if (form == Form::movement) return infer_movement_shapes(graph, op);
  if (form == Form::quantization) return infer_quantization_shapes(graph, op);
  if (form == Form::backward) return infer_backward_shapes(graph, op);
  if (form == Form::matmul) return infer_matmul_shapes(graph, op);
  if (form == Form::convolution) return infer_convolution_shapes(graph, op);
  if (form == Form::pool) return infer_pool_shapes(graph, op);
  if (form == Form::interpolation) return infer_interpolation_shapes(graph, op);
  if (form == Form::dropout) return dropout_shapes(graph, op);
  Result<Shape> shape = infer_shape(graph, op, form);
  if (!shape.ok()) return shape.status();
  return std::vector<Shape>{std::move(shape).value()};
}

}  // namespace tenfold::graph

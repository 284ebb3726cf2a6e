// SPDX-License-Identifier: Apache-2.0
//
// What softmax, the norms, global pools and their backward ops make of their inputs' shapes: which dims they reduce,
// and where scale, bias and stats lie along.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

using Shape = std::optional<Dims>;
using Shapes = Result<std::vector<Shape>>;

constexpr int kSingleAxisSoftmax = 13;  ///< the version from which ONNX's Softmax has one axis
constexpr int kScaleByChannel = 21;     ///< the version from which GroupNormalization has a scale by channel
constexpr int kSpatialBatchNorm = 9;    ///< the version from which BatchNormalization is by channel always
constexpr std::int64_t kDefaultMvn[] = {0, 2, 3};

const Value* input(const Graph& graph, const Op& op, std::size_t i) {
  return i < op.inputs.size() && op.inputs[i] != kNone ? &graph.values[op.inputs[i]] : nullptr;
}

bool is_flattening(const Op& op) {
  if (op.dialect != Dialect::onnx || version_of(op)->since_version >= kSingleAxisSoftmax) return false;
  return op.kind == "Softmax" || op.kind == "LogSoftmax" || op.kind == "Hardmax";
}

std::string port_name(const Op& op, std::size_t i) { return std::string(version_of(op)->inputs[i].name); }

/// norm.N3: an operand that has one shape only.
Status expect_operand(const Graph& graph, const Op& op, std::size_t i, const Dims& wanted, std::string_view why) {
  const Value* value = input(graph, op, i);
  if (value == nullptr || !value->ranked || may_agree(value->shape, wanted)) return {};
  return refuse(Code::invalid_shape, op,
                port_name(op, i) + " has shape " + show_shape(*value) + ", must be " + show_dims(wanted) + ", " +
                    std::string(why),
                "norm.N3");
}

/// The second input of a backward softmax is as large as the first.
Shapes axis_norm(const Graph& graph, const Op& op) {
  const Value& source = *input(graph, op, 0);
  if (!source.ranked) return std::vector<Shape>(op.outputs.size());
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, source.shape.size());
  if (!axes.ok()) return axes.status();
  if (Status s = expect_operand(graph, op, 1, source.shape, "that of the first input"); !s.ok()) return s;
  return std::vector<Shape>{source.shape, reduced_shape(source.shape, axes.value(), true)};
}

/// norm.N3 for gamma and beta of LayerNorm and its kin: oneDNN's lie along the last of the normalised dims, but
/// RMSNorm's and ONNX's broadcast to the input.
Status check_scale(const Graph& graph, const Op& op, std::size_t i, const Dims& source, std::size_t normalised) {
  const Value* scale = input(graph, op, i);
  if (scale == nullptr || !scale->ranked) return {};
  bool fits = fits_one_way(scale->shape, source);
  const bool broadcasts = op.dialect == Dialect::onnx || op.kind == "RMSNorm";
  if (!broadcasts) {
    const std::size_t rank = scale->shape.size();
    fits = rank >= 1 && rank <= normalised &&
           may_agree(scale->shape, Dims(source.end() - static_cast<std::ptrdiff_t>(rank), source.end()));
  }
  if (fits) return {};
  return refuse(Code::invalid_shape, op,
                port_name(op, i) + " has shape " + show_shape(*scale) + ", must " +
                    (broadcasts ? "broadcast to " + show_dims(source)
                                : "be the last of the normalised dims of " + show_dims(source)),
                "norm.N3");
}

Shapes layer_norm(const Graph& graph, const Op& op) {
  const Value& source = *input(graph, op, 0);
  if (!source.ranked) return std::vector<Shape>(op.outputs.size());
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, source.shape.size());
  if (!axes.ok()) return axes.status();
  for (const std::size_t i : {1, 2})
    if (Status s = check_scale(graph, op, i, source.shape, axes.value().size()); !s.ok()) return s;
  const Dims stats = reduced_shape(source.shape, axes.value(), op.dialect == Dialect::onnx);
  return std::vector<Shape>{source.shape, stats, stats};
}

Shapes layer_norm_backward(const Graph& graph, const Op& op) {
  const Value& source = *input(graph, op, 0);
  const Value* gamma = input(graph, op, 4);
  const Shape scale = gamma != nullptr && gamma->ranked ? Shape(gamma->shape) : std::nullopt;
  if (!source.ranked) return std::vector<Shape>{std::nullopt, scale, scale};
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, source.shape.size());
  if (!axes.ok()) return axes.status();
  if (Status s = expect_operand(graph, op, 1, source.shape, "that of src"); !s.ok()) return s;
  const Dims stats = reduced_shape(source.shape, axes.value(), false);
  for (const std::size_t i : {2, 3})
    if (Status s = expect_operand(graph, op, i, stats, "the dims before begin_norm_axis"); !s.ok()) return s;
  for (const std::size_t i : {4, 5})
    if (Status s = check_scale(graph, op, i, source.shape, axes.value().size()); !s.ok()) return s;
  return std::vector<Shape>{source.shape, scale, scale};
}

/// norm.N4: where the channels are, and that there are any beside a batch.
Result<std::size_t> norm_channel(const Op& op, const Dims& source) {
  if (source.size() >= 2) return channel_dim(op, source.size());
  return refuse(Code::invalid_shape, op, "input of shape " + show_dims(source) + " has no channels", "norm.N4");
}

Shapes group_norm(const Graph& graph, const Op& op) {
  const Value& source = *input(graph, op, 0);
  if (!source.ranked) return std::vector<Shape>(op.outputs.size());
  const Result<std::size_t> channel = norm_channel(op, source.shape);
  if (!channel.ok()) return channel.status();
  const std::int64_t channels = source.shape[channel.value()];
  const std::int64_t groups = integer_attribute(op, op.dialect == Dialect::onnx ? "num_groups" : "groups");
  if (groups < 1 || (channels != kUnknownDim && channels % groups != 0))
    return refuse(Code::invalid_op, op,
                  std::to_string(groups) + " groups do not divide the channels of " + show_dims(source.shape),
                  "norm.N4");
  // Before version 21 the document has a scale for each group, but models of that time also one for each channel.
  const Value* scale = input(graph, op, 1);
  const bool by_group = op.dialect == Dialect::onnx && version_of(op)->since_version < kScaleByChannel &&
                        !(scale != nullptr && scale->ranked && may_agree(scale->shape, {channels}));
  for (const std::size_t i : {1, 2})
    if (Status s =
            expect_operand(graph, op, i, {by_group ? groups : channels}, by_group ? "the groups" : "the channels");
        !s.ok())
      return s;
  const Dims stats{source.shape[0], groups};
  return std::vector<Shape>{source.shape, stats, stats};
}

/// ONNX's BatchNormalization takes a tensor of rank 1 as one channel, and before version 9 with `spatial = 0` has a
/// scale for each element of a sample.
Result<Dims> channel_operand(const Op& op, const Dims& source) {
  const bool batch = op.kind == "BatchNormalization";
  if (batch && source.size() == 1) return Dims{1};
  if (batch && version_of(op)->since_version < kSpatialBatchNorm && attribute_or<std::int64_t>(op, "spatial", 1) == 0 &&
      !source.empty())
    return Dims(source.begin() + 1, source.end());
  const Result<std::size_t> channel = norm_channel(op, source);
  if (!channel.ok()) return channel.status();
  return Dims{source[channel.value()]};
}

Shapes channel_norm(const Graph& graph, const Op& op) {
  const Value& source = *input(graph, op, 0);
  if (!source.ranked) return std::vector<Shape>(op.outputs.size());
  const Result<Dims> operand = channel_operand(op, source.shape);
  if (!operand.ok()) return operand.status();
  const bool backward = op.kind == "BatchNormTrainingBackward";
  if (backward)
    if (Status s = expect_operand(graph, op, 1, source.shape, "that of src"); !s.ok()) return s;
  for (std::size_t i = backward ? 2 : 1; i < op.inputs.size(); ++i)
    if (Status s = expect_operand(graph, op, i, operand.value(), "the channels"); !s.ok()) return s;
  std::vector<Shape> shapes(op.outputs.size(), operand.value());
  shapes[0] = source.shape;
  return shapes;
}

/// Global pools keep their dims as ones, a mean-variance norm its input's shape.
Shapes over_axes(const Graph& graph, const Op& op, bool keeps_shape) {
  const Value& source = *input(graph, op, 0);
  if (!source.ranked) return std::vector<Shape>(op.outputs.size());
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, source.shape.size());
  if (!axes.ok()) return axes.status();
  return std::vector<Shape>{keeps_shape ? source.shape : reduced_shape(source.shape, axes.value(), true)};
}

}  // namespace

Result<std::vector<std::int64_t>> norm_axes(const Op& op, std::size_t rank) {
  const auto wide_rank = static_cast<int>(rank);
  const Form form = form_of(op);
  if (form == Form::mean_variance_norm) {
    const std::vector<std::int64_t> axes(std::begin(kDefaultMvn), std::end(kDefaultMvn));
    return normalize_axes(attribute_or(op, "axes", axes), wide_rank, describe(op));
  }
  std::int64_t first = 2;
  if (form == Form::axis_norm || form == Form::layer_norm || form == Form::layer_norm_backward) {
    const bool begins = op.dialect == Dialect::onednn && form != Form::axis_norm;
    const Result<std::vector<std::int64_t>> axis =
        normalize_axes({integer_attribute(op, begins ? "begin_norm_axis" : "axis")}, wide_rank, describe(op));
    if (!axis.ok()) return axis.status();
    if (form == Form::axis_norm && !is_flattening(op)) return axis;
    first = axis.value()[0];
  }
  std::vector<std::int64_t> axes(static_cast<std::size_t>(std::max<std::int64_t>(0, wide_rank - first)));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

bool is_norm(Form form) noexcept {
  switch (form) {
    case Form::axis_norm:
    case Form::layer_norm:
    case Form::layer_norm_backward:
    case Form::group_norm:
    case Form::channel_norm:
    case Form::mean_variance_norm:
    case Form::global_pool: return true;
    default: return false;
  }
}

Shapes infer_norm_shapes(const Graph& graph, const Op& op, Form form) {
  switch (form) {
    case Form::axis_norm: return axis_norm(graph, op);
    case Form::layer_norm: return layer_norm(graph, op);
    case Form::layer_norm_backward: return layer_norm_backward(graph, op);
    case Form::group_norm: return group_norm(graph, op);
    case Form::channel_norm: return channel_norm(graph, op);
    case Form::global_pool: return over_axes(graph, op, false);
    default: return over_axes(graph, op, true);
  }
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// The rules quant.*: how many scales and zero points there are, along what they lie, and which dtype comes out.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/movement.hpp"
#include "graph/check/quantize.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

using Kind = ScaleLayout::Kind;
using Shapes = std::vector<std::optional<Dims>>;

std::string text(std::int64_t dim) { return dim == kUnknownDim ? "?" : std::to_string(dim); }

const Value& source_of(const Graph& graph, const Op& op) { return graph.values[op.inputs[0]]; }

Result<std::size_t> axis_of(const Op& op, std::size_t rank) {
  const Result<Integers> axes =
      normalize_axes({attribute_or<std::int64_t>(op, "axis", 1)}, static_cast<int>(rank), describe(op));
  if (!axes.ok()) return axes.status();
  return static_cast<std::size_t>(axes.value()[0]);
}

/// Whether the op gives the weights of a transposed convolution in groups. oneDNN lets these have a scale for each
/// channel of all groups, which is more than the weights have along their axis.
bool gives_grouped_weights(const Graph& graph, const Op& op) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& user) {
    return user.kind == "ConvTranspose" && user.inputs.size() > 1 && user.inputs[1] == op.outputs[0] &&
           attribute_or<std::int64_t>(user, "groups", 1) > 1;
  });
}

/// oneDNN's: as many scales as `qtype` asks for, or by groups.
Status check_count(const Graph& graph, const Op& op, const Value& source, const char* what, std::int64_t count) {
  const bool per_channel = attribute_or<std::string>(op, "qtype", "per_tensor") == "per_channel";
  std::int64_t wanted = 1;
  if (per_channel) {
    const Result<std::size_t> axis = axis_of(op, source.shape.size());
    if (!axis.ok()) return axis.status();
    wanted = source.shape[axis.value()];
  }
  if (may_agree(count, wanted)) return {};
  const bool is_limit = per_channel && gives_grouped_weights(graph, op);
  return refuse(is_limit ? Code::unsupported_op : Code::invalid_op, op,
                "has " + text(count) + " " + what + "; " +
                    (per_channel ? "per_channel takes one for each of the " + text(wanted) + " along its axis"
                                 : "per_tensor takes 1"),
                "quant.Q1");
}

Status check_groups(const Op& op, const Value& source, const char* what, const Value& tensor, const Dims& groups) {
  Dims wanted;
  bool fits = groups.size() == source.shape.size();
  for (std::size_t i = 0; fits && i < groups.size(); ++i) {
    const std::int64_t dim = source.shape[i];
    fits = groups[i] > 0 && (dim == kUnknownDim || dim % groups[i] == 0);
    if (fits) wanted.push_back(dim == kUnknownDim ? dim : dim / groups[i]);
  }
  if (fits && may_agree(tensor.shape, wanted)) return {};
  return refuse(Code::invalid_shape, op,
                std::string(what) + " are " + show_shape(tensor) + ", but group_shape " + show_dims(groups) +
                    " of src " + show_shape(source) +
                    (fits ? " makes them " + show_dims(wanted) : " does not divide its dims"),
                "quant.Q2");
}

Result<ScaleLayout> onednn_layout(const Graph& graph, const Op& op) {
  const Value& source = source_of(graph, op);
  const std::string type = attribute_or<std::string>(op, "qtype", "per_tensor");
  const auto groups = attribute_or<Integers>(op, "group_shape", {});
  const bool by_attribute = find_attribute(op, "scales") != nullptr;
  if (by_attribute) {
    const auto scales = std::get<std::vector<double>>(*find_attribute(op, "scales")).size();
    const auto zps = attribute_or<Integers>(op, "zps", {}).size();
    if (Status s = check_count(graph, op, source, "scales", static_cast<std::int64_t>(scales)); !s.ok()) return s;
    if (zps != 0 && zps != scales)
      return refuse(Code::invalid_op, op,
                    "has " + std::to_string(zps) + " zps and " + std::to_string(scales) + " scales, must be as many",
                    "quant.Q1");
  }
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    const Value& tensor = graph.values[op.inputs[i]];
    const char* const what = i == 1 ? "scales" : "zps";
    if (type == "per_group") {
      if (Status s = check_groups(op, source, what, tensor, groups); !s.ok()) return s;
      continue;
    }
    if (tensor.shape.size() > 1)
      return refuse(Code::invalid_shape, op,
                    std::string(what) + " are " + show_shape(tensor) + ", must have one dim for qtype '" + type + "'",
                    "quant.Q2");
    const std::int64_t count = tensor.shape.empty() ? 1 : tensor.shape[0];
    if (Status s = check_count(graph, op, source, what, count); !s.ok()) return s;
  }
  if (type == "per_group") return ScaleLayout{Kind::groups, 0, groups};
  if (type == "per_tensor") return ScaleLayout{};
  const Result<std::size_t> axis = axis_of(op, source.shape.size());
  if (!axis.ok()) return axis.status();
  return ScaleLayout{Kind::axis, axis.value(), {}};
}

Status wrong_scale(const Op& op, const Value& source, const Value& scale, const std::string& text) {
  return refuse(Code::invalid_shape, op,
                "scale " + show_shape(scale) + " for x " + show_shape(source) + " must have " + text, "quant.Q3");
}

Result<ScaleLayout> onnx_blocks(const Op& op, const Value& source, const Value& scale, std::int64_t block) {
  const Result<std::size_t> axis = axis_of(op, source.shape.size());
  if (!axis.ok()) return axis.status();
  Dims wanted = source.shape;
  std::int64_t& dim = wanted[axis.value()];
  if (dim != kUnknownDim) dim = dim / block + (dim % block != 0 ? 1 : 0);
  if (!may_agree(scale.shape, wanted))
    return wrong_scale(op, source, scale, show_dims(wanted) + " by block_size " + std::to_string(block));
  ScaleLayout layout{Kind::groups, 0, Dims(source.shape.size(), 1)};
  layout.groups[axis.value()] = block;
  return layout;
}

Result<ScaleLayout> onnx_layout(const Graph& graph, const Op& op) {
  const Value& source = source_of(graph, op);
  const Value& scale = graph.values[op.inputs[1]];
  if (has_input(op, 2)) {
    const Value& zero_point = graph.values[op.inputs[2]];
    if (!may_agree(scale.shape, zero_point.shape))
      return refuse(
          Code::invalid_shape, op,
          "scale is " + show_shape(scale) + ", zero point " + show_shape(zero_point) + ", must be of the same shape",
          "quant.Q3");
  }
  const std::int64_t block = attribute_or<std::int64_t>(op, "block_size", 0);
  if (block < 0) return wrong_scale(op, source, scale, "a positive block_size, not " + std::to_string(block));
  if (block > 0) return onnx_blocks(op, source, scale, block);
  if (scale.shape.empty() || scale.shape == Dims{1}) return ScaleLayout{};
  const bool has_axis = version_of(op)->since_version >= 13;
  if (scale.shape.size() > 1 || !has_axis)
    return wrong_scale(op, source, scale,
                       has_axis ? "no dim, one along the axis, or a block_size" : "one element before version 13");
  const Result<std::size_t> axis = axis_of(op, source.shape.size());
  // A scale of open length may turn out to have one element, for which the axis means nothing.
  if (!axis.ok() && scale.shape[0] == kUnknownDim) return ScaleLayout{};
  if (!axis.ok()) return axis.status();
  if (!may_agree(scale.shape[0], source.shape[axis.value()]))
    return wrong_scale(op, source, scale, text(source.shape[axis.value()]) + " elements, one each along its axis");
  return ScaleLayout{Kind::axis, axis.value(), {}};
}

bool all_ranked(const Graph& graph, const Op& op) {
  return std::all_of(op.inputs.begin(), op.inputs.end(),
                     [&](ValueId v) { return v == kNone || graph.values[v].ranked; });
}

}  // namespace

Result<ScaleLayout> scale_layout(const Graph& graph, const Op& op) {
  return op.dialect == Dialect::onnx ? onnx_layout(graph, op) : onednn_layout(graph, op);
}

DType onnx_quantized_dtype(const Graph& graph, const Op& op) {
  if (op.dialect != Dialect::onnx || op.kind == "DynamicQuantizeLinear") return DType::undef;
  const std::int64_t number = attribute_or<std::int64_t>(op, "output_dtype", 0);
  if (op.kind == "QuantizeLinear" && has_input(op, 2)) return graph.values[op.inputs[2]].dtype;
  if (number != 0) return onnx_dtype(number);
  return op.kind == "QuantizeLinear" ? DType::u8 : graph.values[op.inputs[1]].dtype;
}

namespace {

/// quant.Q5: oneDNN's f8 has scales alone.
Status check_f8(const Graph& graph, const Op& op) {
  const bool back = op.kind == "Dequantize";
  if (!back && op.kind != "Quantize") return {};
  const DType stored = graph.values[back ? op.inputs[0] : op.outputs[0]].dtype;
  if (stored != DType::f8_e4m3 && stored != DType::f8_e5m2) return {};
  const std::size_t zps = attribute_or<Integers>(op, "zps", {}).size();
  if (zps == 0) return {};
  return refuse(Code::invalid_op, op,
                "has " + std::to_string(zps) + " zps, but " + std::string(to_string(stored)) + " has no zero points",
                "quant.Q5");
}

}  // namespace

Status check_quantization(const Graph& graph, const Op& op) {
  if (op.dialect == Dialect::onednn) return check_f8(graph, op);
  if (op.dialect != Dialect::onnx || op.kind == "DynamicQuantizeLinear") return {};
  const DType follows = onnx_quantized_dtype(graph, op);
  const std::int64_t number = attribute_or<std::int64_t>(op, "output_dtype", 0);
  const DType given = graph.values[op.outputs[0]].dtype;
  const bool named = number == 0 || (onnx_dtype(number) == follows && follows != DType::undef);
  if (named && (given == follows || given == DType::undef || follows == DType::undef)) return {};
  return refuse(Code::invalid_dtype, op,
                "output " + describe(graph.values[op.outputs[0]]) + " is " + std::string(to_string(given)) +
                    (number == 0 ? "" : ", output_dtype is " + std::to_string(number)) + ", but " +
                    (op.kind == "DequantizeLinear" ? "output_dtype, or else the scale,"
                                                   : "the zero point, or else output_dtype (or neither: u8),") +
                    " says what it is: " + std::string(to_string(follows)),
                "quant.Q4");
}

Result<std::vector<std::optional<Dims>>> infer_quantization_shapes(const Graph& graph, const Op& op) {
  const Value& source = source_of(graph, op);
  const std::optional<Dims> shape = source.ranked ? std::optional(source.shape) : std::nullopt;
  if (op.kind == "DynamicQuantizeLinear") return Shapes{shape, Dims{}, Dims{}};
  if (all_ranked(graph, op))
    if (const Result<ScaleLayout> layout = scale_layout(graph, op); !layout.ok()) return layout.status();
  return Shapes{shape};
}

}  // namespace tenfold::graph

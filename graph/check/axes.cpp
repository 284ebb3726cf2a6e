// SPDX-License-Identifier: Apache-2.0
//
// Axes and shapes as arithmetic: the helpers of check.hpp that other rooms share with infer().
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/movement.hpp"
#include "graph/check/report.hpp"

namespace tenfold::graph {
namespace {

/// The integers of an onnx.Constant, which is an op until canonicalize() has run.
std::optional<std::vector<std::int64_t>> from_constant_op(const Graph& graph, const Value& value) {
  if (value.producer == kNone || value.producer >= graph.ops.size()) return std::nullopt;
  const Op& op = graph.ops[value.producer];
  if (op.dialect != Dialect::onnx || op.kind != "Constant") return std::nullopt;
  if (const Attribute* list = find_attribute(op, "value_ints"))
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(list)) return *integers;
  if (const Attribute* one = find_attribute(op, "value_int"))
    if (const auto* integer = std::get_if<std::int64_t>(one)) return std::vector<std::int64_t>{*integer};
  return std::nullopt;
}

}  // namespace

bool has_input(const Op& op, std::size_t index) noexcept {
  return index < op.inputs.size() && op.inputs[index] != kNone;
}

Result<std::optional<Integers>> known_integers(const Graph& graph, const Op& op, std::size_t index) {
  if (!has_input(op, index)) return std::optional<Integers>();
  const Value& value = graph.values[op.inputs[index]];
  if (value.ranked && value.shape.size() > 1)
    return refuse(
        Code::invalid_shape, op,
        "input " + describe(value) + " is a list of integers, which has one dim, but it is " + show_shape(value),
        "move.V6");
  if (!value.is_constant) return from_constant_op(graph, value);
  Result<Integers> integers = constant_integers(value);
  if (!integers.ok()) return integers.status();
  return std::optional(std::move(integers).value());
}

Result<std::vector<std::int64_t>> normalize_axes(const std::vector<std::int64_t>& axes, int rank,
                                                 const std::string& what) {
  std::vector<std::int64_t> out;
  std::vector<bool> seen(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      const std::string range = rank == 0
                                    ? "rank 0 has no axes"
                                    : "axis " + std::to_string(axis) + " is out of range [" + std::to_string(-rank) +
                                          ", " + std::to_string(rank - 1) + "] for rank " + std::to_string(rank);
      return refuse(Code::invalid_op, what,
                    rank == 0 ? range + ", but axis " + std::to_string(axis) + " is given" : range, "reduce.C3");
    }
    const std::int64_t wrapped = axis < 0 ? axis + rank : axis;
    if (seen[static_cast<std::size_t>(wrapped)])
      return refuse(Code::invalid_op, what,
                    "axis " + std::to_string(wrapped) + " is given twice in " + show_dims(axes) +
                        (axis < 0 ? "; " + std::to_string(axis) + " is " + std::to_string(wrapped) + " of rank " +
                                        std::to_string(rank)
                                  : ""),
                    "reduce.C4");
    seen[static_cast<std::size_t>(wrapped)] = true;
    out.push_back(wrapped);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Dims reduced_shape(const Dims& shape, const std::vector<std::int64_t>& axes, bool keep_dims) {
  // A mask, not a marker value among the dims: a kept dim of 0 must stay.
  std::vector<bool> reduced(shape.size(), false);
  for (const std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis)] = true;
  Dims out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i])
      out.push_back(shape[i]);
    else if (keep_dims)
      out.push_back(1);
  }
  return out;
}

std::optional<Dims> broadcast_shapes(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    std::int64_t& dim = out[out.size() - 1 - i];
    if (x == y || y == 1)
      dim = x;
    else if (x == 1 || x == kUnknownDim)
      dim = y;
    else if (y == kUnknownDim)
      dim = x;
    else
      return std::nullopt;
  }
  return out;
}

Result<AxesFacts> axes_facts(const Graph& graph, const Op& op) {
  AxesFacts facts;
  if (op.dialect == Dialect::onnx) {
    facts.keep_dims = attribute_or<std::int64_t>(op, "keepdims", 1) != 0;
    const bool alone = attribute_or<std::int64_t>(op, "noop_with_empty_axes", 0) != 0;
    facts.empty = alone ? EmptyAxes::each : EmptyAxes::all;
  } else {
    facts.keep_dims = attribute_or<bool>(op, "keep_dims", false);
    if (find_attribute(op, "noop_with_empty_axes") != nullptr)
      facts.empty = attribute_or<bool>(op, "noop_with_empty_axes", false) ? EmptyAxes::each : EmptyAxes::all;
  }
  if (op.inputs.size() < 2 || op.inputs[1] == kNone) {
    facts.axes = attribute_or<std::vector<std::int64_t>>(op, "axes", {});
    return facts;
  }
  const Value& tensor = graph.values[op.inputs[1]];
  if (!tensor.is_constant) {
    facts.axes = from_constant_op(graph, tensor);
    return facts;
  }
  Result<std::vector<std::int64_t>> elements = constant_integers(tensor);
  if (!elements.ok()) return elements.status();
  facts.axes = std::move(elements).value();
  return facts;
}

Result<std::vector<std::int64_t>> constant_integers(const Value& value) {
  const std::string what = describe(value);
  if (!value.is_constant || !value.ranked || value.shape.size() > 1)
    return Status(Code::invalid_argument, what + " is not a constant of rank 1 or 0");
  if (value.dtype != DType::s32 && value.dtype != DType::s64)
    return Status(Code::invalid_argument,
                  what + " is " + std::string(to_string(value.dtype)) + "; integers are read from s32 or s64");
  const auto size = static_cast<std::size_t>(byte_size(value.dtype));
  std::vector<std::int64_t> out(value.data.size() / size);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (value.dtype == DType::s64) {
      std::memcpy(&out[i], value.data.data() + i * size, size);
    } else {
      std::int32_t element = 0;
      std::memcpy(&element, value.data.data() + i * size, size);
      out[i] = element;
    }
  }
  return out;
}

}  // namespace tenfold::graph

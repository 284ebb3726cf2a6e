// SPDX-License-Identifier: Apache-2.0
//
// What the ops that only move elements make of their inputs' shapes: views, joins, parts, and the shape itself as a
// tensor. Where the numbers that decide come at run time only, so does the shape.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/movement.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

using Shape = std::optional<Dims>;  ///< nullopt: not even the rank is known
using Shapes = std::vector<Shape>;

const Value& input(const Graph& graph, const Op& op, std::size_t i) { return graph.values[op.inputs[i]]; }

Dims unknown(std::size_t rank) { return Dims(rank, kUnknownDim); }

/// The rank that a list of integers of run time asks for, where its own shape is known.
Shape shape_by_length(const Value& list) {
  const bool known = list.ranked && list.shape.size() == 1 && list.shape[0] >= 0 && list.shape[0] <= kMaxRank;
  return known ? Shape(unknown(static_cast<std::size_t>(list.shape[0]))) : Shape();
}

Status wrong_reshape(const Op& op, const Value& source, const Dims& shape, const std::string& text) {
  return refuse(Code::invalid_shape, op, "shape " + show_dims(shape) + " for src " + show_shape(source) + text,
                "reshape.R1");
}

/// Dims of 0 that stand for the input's are copied, and taken out of `rest`, the dims of the input that remain to be
/// spread over the others.
Status copy_dims(const Op& op, const Value& source, Dims& shape, std::vector<bool>& copied, Dims& rest) {
  const Dims written = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0) continue;
    if (source.ranked && i >= source.shape.size())
      return refuse(Code::invalid_shape, op,
                    "the 0 at dim " + std::to_string(i) + " of shape " + show_dims(written) +
                        " copies a dim, but src is " + show_shape(source),
                    "reshape.R2");
    copied[i] = true;
    shape[i] = source.ranked ? source.shape[i] : kUnknownDim;
    if (source.ranked) rest[i] = 1;
  }
  return {};
}

Result<Shape> reshaped(const Op& op, const Value& source, const Dims& wanted, bool copies_zeros) {
  Dims shape = wanted;
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t d) { return d < -1; }))
    return wrong_reshape(op, source, wanted, " has a negative dim; -1 stands for what is left");
  if (std::count(shape.begin(), shape.end(), -1) > 1)
    return wrong_reshape(op, source, wanted, " has -1 more than once");
  const bool open = std::find(shape.begin(), shape.end(), -1) != shape.end();
  const bool zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (open && zero && !copies_zeros && op.dialect == Dialect::onnx)
    return refuse(Code::invalid_shape, op, "shape " + show_dims(wanted) + " has both 0 and -1 under allowzero = 1",
                  "reshape.R2");
  std::vector<bool> copied(shape.size(), false);
  Dims rest = source.shape;
  if (copies_zeros)
    if (Status s = copy_dims(op, source, shape, copied, rest); !s.ok()) return s;
  const auto at = std::find(shape.begin(), shape.end(), -1);
  const bool known = source.ranked && is_known(rest);
  if (!known) {
    if (open) *at = kUnknownDim;
    return Shape(std::move(shape));
  }
  Dims own;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!copied[i] && shape[i] != -1) own.push_back(shape[i]);
  const Result<std::int64_t> have = numel(rest);
  const Result<std::int64_t> want = numel(own);
  if (!have.ok() || !want.ok()) return wrong_reshape(op, source, wanted, " is too large");
  if (!open && have.value() != want.value())
    return wrong_reshape(op, source, wanted, " has another number of elements");
  if (!open) return Shape(std::move(shape));
  if (want.value() == 0 || have.value() % want.value() != 0)
    return wrong_reshape(op, source, wanted, " leaves nothing whole for -1");
  *at = have.value() / want.value();
  return Shape(std::move(shape));
}

/// kUnknownDim where one of the dims is, or where they multiply to too much.
std::int64_t product(Dims::const_iterator begin, Dims::const_iterator end) {
  const Result<std::int64_t> count = numel(Dims(begin, end));
  return count.ok() ? count.value() : kUnknownDim;
}

Result<Shape> reshape_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const bool by_attribute = op.dialect != Dialect::onnx || version_of(op)->inputs.size() == 1;
  const bool copies_zeros = op.dialect == Dialect::onnx ? attribute_or<std::int64_t>(op, "allowzero", 0) == 0
                                                        : attribute_or<bool>(op, "special_zero", false);
  if (by_attribute) return reshaped(op, source, attribute_or<Integers>(op, "shape", {}), copies_zeros);
  const Result<std::optional<Integers>> shape = known_integers(graph, op, 1);
  if (!shape.ok()) return shape.status();
  if (!shape.value()) {
    Shape by_length = shape_by_length(input(graph, op, 1));
    // One dim has all elements, whatever the list says.
    if (by_length && by_length->size() == 1 && is_static(source))
      by_length->front() = product(source.shape.begin(), source.shape.end());
    return by_length;
  }
  return reshaped(op, source, *shape.value(), copies_zeros);
}

Result<Shape> transpose_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  if (!source.ranked) return Shape();
  const Result<Integers> permutation = permutation_of(op, source.shape.size());
  if (!permutation.ok()) return permutation.status();
  Dims shape;
  for (const std::int64_t dim : permutation.value()) shape.push_back(source.shape[static_cast<std::size_t>(dim)]);
  return Shape(std::move(shape));
}

/// Axes of Squeeze and Unsqueeze: an attribute, later an input; nullopt when not known, or not given.
Result<std::optional<Integers>> axes_of(const Graph& graph, const Op& op) {
  if (const Attribute* axes = find_attribute(op, "axes")) return std::optional(std::get<Integers>(*axes));
  return known_integers(graph, op, 1);
}

Result<Shape> squeeze_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const Result<std::optional<Integers>> axes = axes_of(graph, op);
  if (!axes.ok()) return axes.status();
  if (!source.ranked || (!axes.value() && has_input(op, 1))) return Shape();
  const bool all = !axes.value();
  if (all && !is_known(source.shape)) return Shape();
  std::vector<bool> gone(source.shape.size(), false);
  if (all) {
    for (std::size_t i = 0; i < gone.size(); ++i) gone[i] = source.shape[i] == 1;
  } else {
    const Result<Integers> normal = normalize_axes(*axes.value(), static_cast<int>(gone.size()), describe(op));
    if (!normal.ok()) return normal.status();
    for (const std::int64_t axis : normal.value()) gone[static_cast<std::size_t>(axis)] = true;
  }
  Dims shape;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) shape.push_back(source.shape[i]);
    if (gone[i] && source.shape[i] != 1 && source.shape[i] != kUnknownDim)
      return refuse(Code::invalid_shape, op,
                    "axis " + std::to_string(i) + " of " + show_shape(source) + " cannot go, it is not 1", "move.V3");
  }
  return Shape(std::move(shape));
}

Result<Shape> unsqueeze_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const Result<std::optional<Integers>> axes = axes_of(graph, op);
  if (!axes.ok()) return axes.status();
  if (!source.ranked || !axes.value()) return Shape();
  const std::size_t rank = source.shape.size() + axes.value()->size();
  if (rank > static_cast<std::size_t>(kMaxRank))
    return refuse(Code::invalid_shape, op, "the output has rank " + std::to_string(rank) + ", above 12", "tensor.S1");
  const Result<Integers> normal = normalize_axes(*axes.value(), static_cast<int>(rank), describe(op));
  if (!normal.ok()) return normal.status();
  Dims shape = source.shape;
  for (const std::int64_t axis : normal.value()) shape.insert(shape.begin() + axis, 1);
  return Shape(std::move(shape));
}

Result<Shape> flatten_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  if (!source.ranked) return Shape(unknown(2));
  const auto rank = static_cast<std::int64_t>(source.shape.size());
  const std::int64_t axis = attribute_or<std::int64_t>(op, "axis", 1);
  if (axis < -rank || axis > rank)
    return refuse(Code::invalid_op, op,
                  "axis " + std::to_string(axis) + " is out of range [" + std::to_string(-rank) + ", " +
                      std::to_string(rank) + "] for rank " + std::to_string(rank),
                  "move.V7");
  const auto middle = source.shape.begin() + (axis < 0 ? axis + rank : axis);
  return Shape(Dims{product(source.shape.begin(), middle), product(middle, source.shape.end())});
}

/// ONNX's Expand broadcasts both ways, core.broadcast to the shape that it says.
Result<Shape> expand_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const bool is_core = op.dialect == Dialect::core;
  std::optional<Integers> wanted = attribute_or<Integers>(op, "shape", {});
  if (!is_core) {
    Result<std::optional<Integers>> read = known_integers(graph, op, 1);
    if (!read.ok()) return read.status();
    wanted = std::move(read).value();
    if (!wanted) return source.ranked && source.shape.empty() ? shape_by_length(input(graph, op, 1)) : Shape();
  }
  if (!source.ranked) return Shape();
  const bool negative = std::any_of(wanted->begin(), wanted->end(), [](std::int64_t dim) { return dim < 0; });
  const std::optional<Dims> both = negative ? std::nullopt : broadcast_shapes(source.shape, *wanted);
  if (!both || (is_core && !fits_one_way(source.shape, *wanted)))
    return refuse(Code::invalid_shape, op,
                  "src " + show_shape(source) + " does not broadcast to shape " + show_dims(*wanted), "move.V8");
  return Shape(is_core ? *wanted : *both);
}

Result<Shape> concat_shape(const Graph& graph, const Op& op) {
  const Value& first = input(graph, op, 0);
  if (!first.ranked) return Shape();
  const std::int64_t fallback = op.dialect == Dialect::onnx ? 1 : 0;
  const Result<Integers> axes = normalize_axes({attribute_or<std::int64_t>(op, "axis", fallback)},
                                               static_cast<int>(first.shape.size()), describe(op));
  if (!axes.ok()) return axes.status();
  const auto axis = static_cast<std::size_t>(axes.value()[0]);
  Dims shape = first.shape;
  bool ranked = true;
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    const Value& next = input(graph, op, i);
    if (!next.ranked) {
      ranked = false;
      continue;
    }
    Dims others = next.shape;
    if (others.size() == shape.size()) others[axis] = shape[axis];
    if (!may_agree(shape, others))
      return refuse(Code::invalid_shape, op,
                    "input " + std::to_string(i) + " is " + show_shape(next) + ", the ones before it are " +
                        show_dims(shape) + "; all dims but axis " + std::to_string(axis) + " must be equal",
                    "move.V2");
    std::int64_t& extent = shape[axis];
    const std::int64_t more = next.shape[axis];
    if (extent != kUnknownDim && more != kUnknownDim && extent > kMaxTensorBytes)
      return refuse(Code::invalid_shape, op, "axis " + std::to_string(axis) + " grows beyond 2^47", "move.V2");
    extent = extent == kUnknownDim || more == kUnknownDim ? kUnknownDim : extent + more;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == kUnknownDim && d != axis) shape[d] = next.shape[d];
  }
  return ranked ? Shape(std::move(shape)) : Shape();
}

Result<Shape> iota_shape(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  if (!source.ranked) return Shape();
  const Result<Integers> axes =
      normalize_axes({attribute_or<std::int64_t>(op, "axis", 0)}, static_cast<int>(source.shape.size()), describe(op));
  if (!axes.ok()) return axes.status();
  return Shape(source.shape);
}

Result<Shape> slice_shape(const Graph& graph, const Op& op) {
  Result<std::optional<SlicePlan>> plan = slice_plan(graph, op);
  if (!plan.ok()) return plan.status();
  if (plan.value()) return Shape(std::move(plan.value()->shape));
  const Value& source = input(graph, op, 0);
  return source.ranked ? Shape(unknown(source.shape.size())) : Shape();
}

Result<Shapes> split_shapes(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  const Result<std::optional<SplitPlan>> plan = split_plan(graph, op);
  if (!plan.ok()) return plan.status();
  if (!source.ranked) return Shapes(op.outputs.size());
  Shapes shapes;
  const Result<Integers> axes =
      normalize_axes({attribute_or<std::int64_t>(op, "axis", 0)}, static_cast<int>(source.shape.size()), describe(op));
  if (!axes.ok()) return axes.status();
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    Dims shape = source.shape;
    shape[static_cast<std::size_t>(axes.value()[0])] = plan.value() ? plan.value()->sizes[i] : kUnknownDim;
    shapes.emplace_back(std::move(shape));
  }
  return shapes;
}

Result<Shapes> top_k_shapes(const Graph& graph, const Op& op) {
  const Value& source = input(graph, op, 0);
  if (!source.ranked) return Shapes(2);
  const Result<Integers> axes =
      normalize_axes({attribute_or<std::int64_t>(op, "axis", -1)}, static_cast<int>(source.shape.size()), describe(op));
  if (!axes.ok()) return axes.status();
  const auto axis = static_cast<std::size_t>(axes.value()[0]);
  std::optional<Integers> k;
  if (const Attribute* given = find_attribute(op, "k")) k = Integers{std::get<std::int64_t>(*given)};
  if (!k) {
    Result<std::optional<Integers>> read = known_integers(graph, op, 1);
    if (!read.ok()) return read.status();
    k = std::move(read).value();
  }
  Dims shape = source.shape;
  const std::int64_t extent = shape[axis];
  if (k && (k->size() != 1 || k->front() < 0 || (extent != kUnknownDim && k->front() > extent)))
    return refuse(Code::invalid_op, op,
                  "k is " + show_dims(*k) + " for an axis of " + (extent == kUnknownDim ? "?" : std::to_string(extent)),
                  "move.V9");
  shape[axis] = k ? k->front() : kUnknownDim;
  return Shapes{shape, shape};
}

struct Row {
  std::string_view kind;
  Result<Shape> (*shape)(const Graph& graph, const Op& op);
};
constexpr Row kRows[] = {
    {"Concat", concat_shape},       {"concat", concat_shape},       {"Expand", expand_shape},
    {"broadcast", expand_shape},    {"Flatten", flatten_shape},     {"GenIndex", iota_shape},
    {"iota", iota_shape},           {"Reshape", reshape_shape},     {"StaticReshape", reshape_shape},
    {"reshape", reshape_shape},     {"Slice", slice_shape},         {"slice", slice_shape},
    {"Squeeze", squeeze_shape},     {"Transpose", transpose_shape}, {"StaticTranspose", transpose_shape},
    {"transpose", transpose_shape}, {"Unsqueeze", unsqueeze_shape},
};

}  // namespace

Result<std::vector<std::optional<Dims>>> infer_movement_shapes(const Graph& graph, const Op& op) {
  if (op.kind == "Split") return split_shapes(graph, op);
  if (op.kind == "TopK" || op.kind == "top_k") return top_k_shapes(graph, op);
  if (op.kind == "Size") return Shapes{Dims{}};
  if (op.kind == "Shape") {
    const Value& source = input(graph, op, 0);
    const DimRange range = dim_range(op, source.shape.size());
    const auto count = static_cast<std::int64_t>(range.last - range.first);
    return Shapes{source.ranked ? Dims{count} : unknown(1)};
  }
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.kind == op.kind; });
  Result<Shape> shape = row->shape(graph, op);
  if (!shape.ok()) return shape.status();
  return Shapes{std::move(shape).value()};
}

}  // namespace tenfold::graph

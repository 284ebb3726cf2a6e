// SPDX-License-Identifier: Apache-2.0
//
// simplify(): ops that change nothing go, and pairs that are one op become it. Every rewrite here keeps every bit of
// every result (docs/rewrites.md lists them), but for the payload of NaNs.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/pass/core_form.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

constexpr std::string_view kIdempotent[] = {"abs", "ceil", "floor", "relu", "round", "sign"};

bool is_core(const Op& op, std::string_view kind) { return op.dialect == Dialect::core && op.kind == kind; }
std::string function_of(const Op& op) { return attribute_or<std::string>(op, "function", ""); }
std::string reduction_of(const Op& op) { return attribute_or<std::string>(op, "reduction", ""); }

/// Whether every number of `narrow` is one of `wide`.
bool holds(DType wide, DType narrow) {
  if (wide == DType::f64) return narrow == DType::f32 || narrow == DType::bf16 || narrow == DType::f16;
  return wide == DType::f32 && (narrow == DType::bf16 || narrow == DType::f16);
}

class Simplifier {
 public:
  explicit Simplifier(Graph& graph)
      : graph_(graph), uses_(graph.values.size(), 0), leaves_(graph.values.size(), false), now_(graph.values.size()) {
    std::iota(now_.begin(), now_.end(), ValueId{0});
    for (const Op& op : graph.ops)
      for (const ValueId v : op.inputs)
        if (v != kNone) ++uses_[v];
    for (const ValueId v : graph.outputs) leaves_[v] = true;
  }

  void run() {
    for (Op& op : graph_.ops) {
      for (ValueId& v : op.inputs)
        if (v != kNone) v = now_[v];
      if (op.dialect != Dialect::core || op.inputs.empty() || op.inputs[0] == kNone || op.outputs.size() != 1) continue;
      join_views(op);
      join_reductions(op);
      reduce_of_one(op);
      narrow_index(op);
      const std::optional<ValueId> same = unchanged(op);
      if (same && !leaves_[op.outputs[0]]) now_[op.outputs[0]] = *same;
    }
  }

 private:
  const Value& value(ValueId v) const { return graph_.values[v]; }
  const Op* producer(ValueId v) const { return value(v).producer == kNone ? nullptr : &graph_.ops[value(v).producer]; }

  bool is_alike(ValueId a, ValueId b) const {
    return value(a).dtype == value(b).dtype && is_static(value(a)) && is_static(value(b)) &&
           value(a).shape == value(b).shape;
  }

  /// A constant of one f32 that is `number`.
  bool is_scalar(ValueId v, float number) const {
    const Value& constant = value(v);
    if (!constant.is_constant || constant.dtype != DType::f32 || constant.data.size() != sizeof number) return false;
    return std::memcmp(constant.data.data(), &number, sizeof number) == 0;
  }

  /// The value that the op's result is, bit by bit.
  std::optional<ValueId> unchanged(const Op& op) const {
    const ValueId in = op.inputs[0], out = op.outputs[0];
    if (is_core(op, "reshape") || is_core(op, "broadcast")) return is_alike(in, out) ? std::optional(in) : std::nullopt;
    if (is_core(op, "transpose")) {
      const Dims permutation = attribute_or<Dims>(op, "permutation", {});
      return std::is_sorted(permutation.begin(), permutation.end()) && is_alike(in, out) ? std::optional(in)
                                                                                         : std::nullopt;
    }
    if (is_core(op, "cast")) return uncast(op);
    if (!is_core(op, "map") || !is_alike(in, out)) return std::nullopt;
    const std::string function = function_of(op);
    if (function == "identity") return in;
    if (op.inputs.size() == 1) {
      const Op* const before = producer(in);
      const bool again = before != nullptr && is_core(*before, "map") && function_of(*before) == function;
      const bool idempotent =
          std::find(std::begin(kIdempotent), std::end(kIdempotent), function) != std::end(kIdempotent);
      return again && idempotent ? std::optional(in) : std::nullopt;
    }
    if (op.inputs.size() != 2) return std::nullopt;
    const bool by_one = (function == "mul" || function == "div") && is_scalar(op.inputs[1], 1);
    const bool less_zero = function == "sub" && is_scalar(op.inputs[1], 0);
    return by_one || less_zero ? std::optional(in) : std::nullopt;
  }

  std::optional<ValueId> uncast(const Op& op) const {
    const ValueId in = op.inputs[0], out = op.outputs[0];
    if (is_alike(in, out)) return in;
    const Op* const before = producer(in);
    if (before == nullptr || !is_core(*before, "cast")) return std::nullopt;
    const ValueId first = before->inputs[0];
    return is_alike(first, out) && holds(value(in).dtype, value(out).dtype) ? std::optional(first) : std::nullopt;
  }

  /// A reshape of a reshape, a transpose of a transpose.
  void join_views(Op& op) const {
    const Op* const before = producer(op.inputs[0]);
    if (before == nullptr || before->dialect != Dialect::core || before->kind != op.kind) return;
    if (op.kind == "reshape") op.inputs[0] = before->inputs[0];
    if (op.kind != "transpose") return;
    Dims permutation = attribute_or<Dims>(op, "permutation", {});
    const Dims first = attribute_or<Dims>(*before, "permutation", {});
    if (permutation.size() != first.size()) return;
    for (std::int64_t& dim : permutation) dim = first[static_cast<std::size_t>(dim)];
    set_attribute(op, "permutation", permutation);
    op.inputs[0] = before->inputs[0];
  }

  /// What may be taken in any order without another rounding.
  bool is_exact(const std::string& reduction, DType dtype) const {
    if (reduction == "max" || reduction == "min") return true;
    return (reduction == "sum" || reduction == "prod") && !is_floating(dtype) && dtype != DType::boolean;
  }

  std::optional<std::vector<std::int64_t>> axes_of(const Op& op) const {
    const Attribute* const given = find_attribute(op, "axes");
    const Value& source = value(op.inputs[0]);
    if (op.inputs.size() != 1 || given == nullptr || !is_static(source)) return std::nullopt;
    const Result<std::vector<std::int64_t>> axes =
        normalize_axes(attribute_or<Dims>(op, "axes", {}), static_cast<int>(source.shape.size()), describe(op));
    if (!axes.ok() || axes.value().empty()) return std::nullopt;
    return axes.value();
  }

  void join_reductions(Op& op) const {
    if (!is_core(op, "reduce") || !is_exact(reduction_of(op), value(op.inputs[0]).dtype)) return;
    const Op* const before = producer(op.inputs[0]);
    if (before == nullptr || !is_core(*before, "reduce") || reduction_of(*before) != reduction_of(op)) return;
    if (uses_[op.inputs[0]] != 1 || leaves_[op.inputs[0]]) return;
    const bool keeps = attribute_or<bool>(op, "keep_dims", false);
    if (keeps != attribute_or<bool>(*before, "keep_dims", false)) return;
    const auto first = axes_of(*before), second = axes_of(op);
    if (!first || !second) return;
    std::vector<std::int64_t> left, all = *first;
    for (std::int64_t dim = 0; dim < static_cast<std::int64_t>(value(before->inputs[0]).shape.size()); ++dim)
      if (keeps || !std::binary_search(first->begin(), first->end(), dim)) left.push_back(dim);
    for (const std::int64_t axis : *second) all.push_back(left[static_cast<std::size_t>(axis)]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    set_attribute(op, "axes", all);
    op.inputs[0] = before->inputs[0];
  }

  /// The extreme of one element is that element.
  void reduce_of_one(Op& op) const {
    if (!is_core(op, "reduce") || (reduction_of(op) != "max" && reduction_of(op) != "min")) return;
    const auto axes = axes_of(op);
    if (!axes || !is_static(value(op.outputs[0]))) return;
    const Dims& shape = value(op.inputs[0]).shape;
    if (!std::all_of(axes->begin(), axes->end(),
                     [&shape](std::int64_t axis) { return shape[static_cast<std::size_t>(axis)] == 1; }))
      return;
    std::erase_if(op.attributes, [](const NamedAttribute& a) { return !names_source(a); });
    op.attributes.insert(op.attributes.begin(), {"shape", value(op.outputs[0]).shape});
    if (find_attribute(op, "source_kind") == nullptr) set_attribute(op, "source_kind", std::string("reduce"));
    op.kind = "reshape";
  }

  /// An index that is only wanted as s32 is given so at once, where the axis is not too long for it.
  void narrow_index(Op& op) const {
    const ValueId in = op.inputs[0];
    const Op* const before = producer(in);
    if (!is_core(op, "cast") || value(op.outputs[0]).dtype != DType::s32 || before == nullptr) return;
    if (!is_core(*before, "arg_reduce") || before->outputs.size() != 1 || uses_[in] != 1 || leaves_[in]) return;
    const Value& source = value(before->inputs[0]);
    if (!is_static(source) || std::any_of(source.shape.begin(), source.shape.end(),
                                          [](std::int64_t dim) { return dim > std::numeric_limits<int>::max(); }))
      return;
    op.kind = before->kind;
    op.inputs = before->inputs;
    op.attributes = before->attributes;
  }

  Graph& graph_;
  std::vector<int> uses_;     ///< by value, as the graph came
  std::vector<bool> leaves_;  ///< by value
  std::vector<ValueId> now_;  ///< by value: what stands for it
};

}  // namespace

Status simplify(Graph& graph) {
  Simplifier(graph).run();
  return {};
}

}  // namespace tenfold::graph

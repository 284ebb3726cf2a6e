// SPDX-License-Identifier: Apache-2.0
//
// canonicalize(): each dialect op to its core op, by a table. Ids and names stay on the op that the user wrote, and
// its old kind stays in the attribute `source_kind`, by which describe() names it in messages.
//
// A reduction with `axes = []` stays a core.reduce and means the identity, for every reduction: ReduceL1 of no axes
// gives its input back, as oneDNN's documents say. (ONNX takes the absolute value there; onnx_form.cpp makes a map.)
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/pass/core_form.hpp"
#include "graph/pass/fresh_ids.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

enum class To : std::uint8_t { reduce, map, channel_map, cast, select, nothing };

struct Row {
  std::string_view kind;
  To to;
  std::string_view name;  ///< the reduction, or the function of a map
};

constexpr Row kOnednn[] = {
    {"Abs", To::map, "abs"},
    {"Add", To::map, "add"},
    {"BiasAdd", To::channel_map, "add"},
    {"Clamp", To::map, "clamp"},
    {"Divide", To::map, "div"},
    {"Elu", To::map, "elu"},
    {"End", To::nothing, ""},
    {"Exp", To::map, "exp"},
    {"GELU", To::map, "gelu_erf"},
    {"GreaterEqual", To::map, "greater_equal"},
    {"HardSigmoid", To::map, "hardsigmoid"},
    {"HardSwish", To::map, "hardswish"},
    {"LeakyReLU", To::map, "leakyrelu"},
    {"Log", To::map, "log"},
    {"Maximum", To::map, "max"},
    {"Minimum", To::map, "min"},
    {"Mish", To::map, "mish"},
    {"Multiply", To::map, "mul"},
    {"PReLU", To::channel_map, "prelu"},
    {"Pow", To::map, "pow"},
    {"ReLU", To::map, "relu"},
    {"Reciprocal", To::map, "reciprocal"},
    {"ReduceL1", To::reduce, "l1"},
    {"ReduceL2", To::reduce, "l2"},
    {"ReduceMax", To::reduce, "max"},
    {"ReduceMean", To::reduce, "mean"},
    {"ReduceMin", To::reduce, "min"},
    {"ReduceProd", To::reduce, "prod"},
    {"ReduceSum", To::reduce, "sum"},
    {"Reorder", To::cast, ""},
    {"Round", To::map, "round"},
    {"Select", To::select, ""},
    {"Sigmoid", To::map, "sigmoid"},
    {"SoftPlus", To::map, "softplus"},
    {"Sqrt", To::map, "sqrt"},
    {"Square", To::map, "square"},
    {"SquaredDifference", To::map, "squared_difference"},
    {"Subtract", To::map, "sub"},
    {"Tanh", To::map, "tanh"},
    {"TypeCast", To::cast, ""},
};

const Row* find_row(const Op& op) {
  if (op.dialect != Dialect::onednn) return nullptr;
  const auto* row =
      std::find_if(std::begin(kOnednn), std::end(kOnednn), [&](const Row& r) { return r.kind == op.kind; });
  return row == std::end(kOnednn) ? nullptr : row;
}

void to_reduce(Op& op, std::string_view reduction) {
  std::vector<NamedAttribute> attributes{{"reduction", std::string(reduction)}};
  // Beside an axes tensor the attribute can only be the empty default that oneDNN's writer fills in.
  if (const Attribute* axes = find_attribute(op, "axes"); axes != nullptr && op.inputs.size() < 2)
    attributes.push_back({"axes", *axes});
  attributes.push_back({"keep_dims", attribute_or<bool>(op, "keep_dims", false)});
  op.attributes = std::move(attributes);
  become(op, "reduce");
}

void to_map(Op& op, std::string_view function) {
  // GELU's mode names the function; the other functions have no such attribute.
  std::vector<NamedAttribute> attributes{{"function", attribute_or<std::string>(op, "mode", std::string(function))}};
  for (const std::string_view name : {"alpha", "beta", "min", "max"})
    if (const Attribute* value = find_attribute(op, name)) attributes.push_back({std::string(name), *value});
  // The only default among them.
  if (op.kind == "SoftPlus" && find_attribute(op, "beta") == nullptr) attributes.push_back({"beta", 1.0});
  op.attributes = std::move(attributes);
  become(op, "map");
}

class Canonicalizer {
 public:
  explicit Canonicalizer(Graph& graph) : graph_(graph), leaves_(graph.values.size(), false) {
    for (const ValueId v : graph.outputs) leaves_[v] = true;
  }

  void run() {
    done_.reserve(graph_.ops.size());
    for (Op& op : graph_.ops) convert(std::move(op));
    graph_.ops = std::move(done_);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      for (const ValueId v : graph_.ops[i].outputs) graph_.values[v].producer = static_cast<OpId>(i);
  }

 private:
  void convert(Op op) {
    if (op.dialect == Dialect::onnx) {
      if (op.kind == "Constant") {
        become_constant(op, graph_.values[op.outputs[0]]);
        return;
      }
      if (align_legacy(op)) onnx_to_core(graph_, op);
    }
    move_to_core(graph_, op);
    const Row* row = find_row(op);
    if (row != nullptr) switch (row->to) {
        case To::reduce: to_reduce(op, row->name); break;
        case To::map: to_map(op, row->name); break;
        case To::channel_map:
          if (align_channels(op)) to_map(op, row->name);
          break;
        case To::cast:
        case To::select:
          op.attributes.clear();
          become(op, row->to == To::cast ? "cast" : "select");
          break;
        case To::nothing: leave_graph(op.inputs[0]); return;
      }
    done_.push_back(std::move(op));
  }

  void leave_graph(ValueId v) {
    if (!leaves_[v]) graph_.outputs.push_back(v);
    leaves_[v] = true;
  }

  /// A slope of one element beside a source of rank 0, which it must not give a dim.
  void make_scalar_beside_scalar(Op& op) {
    const Value& source = graph_.values[op.inputs[0]];
    const Value& operand = graph_.values[op.inputs[1]];
    if (source.ranked && source.shape.empty() && operand.ranked && operand.shape == Dims{1})
      op.inputs[1] = reshaped(op, {});
  }

  /// Puts a core.reshape before the second operand where NumPy's broadcasting would lay it along the wrong dim. False
  /// when that cannot be known yet (a rank is open): the op then stays in its dialect.
  bool align_channels(Op& op) {
    make_scalar_beside_scalar(op);
    if (channels_last(op) || !attribute_or<bool>(op, "per_channel_broadcast", true)) return true;
    const Value& source = graph_.values[op.inputs[0]];
    const Value& operand = graph_.values[op.inputs[1]];
    if (!source.ranked || !operand.ranked) return false;
    if (operand.shape.size() != 1 || operand.shape[0] == 1 || source.shape.size() <= 2) return true;
    op.inputs[1] = with_ones_behind(op, source.shape.size() - 2);
    return true;
  }

  /// The same for ONNX's versions before NumPy's broadcasting, where B runs along A's dims from `axis` on, and PRelu's
  /// slope along dim 1.
  bool align_legacy(Op& op) {
    if (!has_legacy_broadcast(op) || op.inputs.size() != 2) return true;
    const bool prelu = op.kind == "PRelu";
    if (prelu) make_scalar_beside_scalar(op);
    const bool along = attribute_or<std::int64_t>(op, "broadcast", 0) != 0 && find_attribute(op, "axis") != nullptr;
    if (!prelu && !along) return true;
    const Value& source = graph_.values[op.inputs[0]];
    const Value& operand = graph_.values[op.inputs[1]];
    if (!source.ranked || !operand.ranked) return false;
    if (prelu && (operand.shape.size() != 1 || operand.shape[0] == 1)) return true;
    const auto axis = static_cast<std::size_t>(prelu ? 1 : attribute_or<std::int64_t>(op, "axis", 0));
    const std::size_t trailing = source.shape.size() - axis - operand.shape.size();
    if (trailing == 0) return true;
    if (std::count(operand.shape.begin(), operand.shape.end(), kUnknownDim) > 1) return false;
    op.inputs[1] = with_ones_behind(op, trailing);
    return true;
  }

  ValueId with_ones_behind(const Op& op, std::size_t count) {
    Dims shape = graph_.values[op.inputs[1]].shape;
    shape.resize(shape.size() + count, 1);
    return reshaped(op, std::move(shape));
  }

  /// The second operand.
  ValueId reshaped(const Op& op, Dims to) {
    if (!op_ids_) {
      // Converted ops have been moved from, but still have their ids.
      op_ids_.emplace(graph_.ops);
      value_ids_.emplace(graph_.values);
    }
    Value view = graph_.values[op.inputs[1]];
    view.id = value_ids_->take();
    view.shape = std::move(to);
    view.strides.clear();
    view.layout = Layout::strided;
    view.property = Property::undef;
    view.data.clear();
    view.is_constant = false;
    view.name.clear();
    view.dim_names.clear();
    const auto result = static_cast<ValueId>(graph_.values.size());

    Op reshape;
    reshape.id = op_ids_->take();
    reshape.name = op.name;
    reshape.dialect = Dialect::core;
    reshape.kind = "reshape";
    Dims shape = view.shape;
    std::replace(shape.begin(), shape.end(), kUnknownDim, std::int64_t{-1});
    reshape.attributes = {{"shape", std::move(shape)}, {"source_kind", op.kind}, {"source_id", op.id}};
    reshape.inputs = {op.inputs[1]};
    reshape.outputs = {result};
    graph_.values.push_back(std::move(view));
    done_.push_back(std::move(reshape));
    return result;
  }

  Graph& graph_;
  std::vector<Op> done_;
  std::vector<bool> leaves_;
  std::optional<FreshIds> op_ids_;
  std::optional<FreshIds> value_ids_;
};

}  // namespace

Status canonicalize(Graph& graph) {
  Canonicalizer(graph).run();
  return {};
}

}  // namespace tenfold::graph

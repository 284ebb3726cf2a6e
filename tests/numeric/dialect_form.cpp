// SPDX-License-Identifier: Apache-2.0
//
// See dialect_form.hpp. ONNX's ops where there is one of the same meaning, as they take the most dtypes.
#include "dialect_form.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/eval/eval.hpp"
#include "graph/write/json.hpp"

namespace tenfold::numeric {
namespace {

using graph::Dialect;
using graph::Op;
using graph::ValueId;

struct Row {
  std::string_view core;  ///< a function of core.map, or a reduction of core.reduce
  std::string_view kind;
  Dialect dialect = Dialect::onnx;
};

constexpr Row kFunctions[] = {
    {"abs", "Abs"},
    {"add", "Add"},
    {"and", "And"},
    {"asinh", "Asinh"},
    {"atan", "Atan"},
    {"ceil", "Ceil"},
    {"celu", "Celu"},
    {"clamp", "Clamp", Dialect::onednn},
    {"cos", "Cos"},
    {"div", "Div"},
    {"elu", "Elu"},
    {"erf", "Erf"},
    {"exp", "Exp"},
    {"floor", "Floor"},
    {"greater", "Greater"},
    {"greater_equal", "GreaterOrEqual"},
    {"hardsigmoid", "HardSigmoid"},
    {"hardswish", "HardSwish"},
    {"identity", "Identity"},
    {"leakyrelu", "LeakyRelu"},
    {"less", "Less"},
    {"less_equal", "LessOrEqual"},
    {"log", "Log"},
    {"max", "Max"},
    {"mean_of", "Mean"},
    {"min", "Min"},
    {"mish", "Mish"},
    {"mul", "Mul"},
    {"neg", "Neg"},
    {"or", "Or"},
    {"pow", "Pow"},
    {"prelu", "PRelu"},
    {"reciprocal", "Reciprocal"},
    {"relu", "Relu"},
    {"round", "Round"},
    {"sigmoid", "Sigmoid"},
    {"sign", "Sign"},
    {"sin", "Sin"},
    {"softplus", "SoftPlus", Dialect::onednn},
    {"softsign", "Softsign"},
    {"sqrt", "Sqrt"},
    {"square", "Square", Dialect::onednn},
    {"squared_difference", "SquaredDifference", Dialect::onednn},
    {"sub", "Sub"},
    {"swish", "Swish"},
    {"tanh", "Tanh"},
    {"xor", "Xor"},
};

constexpr Row kReductions[] = {
    {"l1", "ReduceL1"},          {"l2", "ReduceL2"},
    {"log_sum", "ReduceLogSum"}, {"log_sum_exp", "ReduceLogSumExp"},
    {"max", "ReduceMax"},        {"min", "ReduceMin"},
    {"mean", "ReduceMean"},      {"prod", "ReduceProd"},
    {"sum", "ReduceSum"},        {"sum_square", "ReduceSumSquare"},
};

/// By DType's name, as ONNX numbers element types.
std::int64_t onnx_number(DType dtype) {
  switch (dtype) {
    case DType::f32: return 1;
    case DType::u8: return 2;
    case DType::s8: return 3;
    case DType::s32: return 6;
    case DType::s64: return 7;
    case DType::boolean: return 9;
    case DType::f16: return 10;
    case DType::f64: return 11;
    case DType::bf16: return 16;
    default: return 0;
  }
}

class Former {
 public:
  explicit Former(graph::Graph graph) : graph_(std::move(graph)) {}

  Result<graph::Graph> run() {
    for (Op& op : graph_.ops) {
      if (op.dialect != Dialect::core) continue;
      const std::string before = graph::describe(op);
      const std::vector<graph::NamedAttribute> had = std::exchange(op.attributes, {});
      if (!form(op, had)) return Status(Code::unsupported_op, before + " has no form in a dialect");
    }
    for (ValueId& output : graph_.outputs)
      if (is_used(output)) output = copied(output);
    graph::connect(graph_, graph_.outputs);
    if (Status s = graph::verify(graph_); !s.ok()) return s;
    return std::move(graph_);
  }

 private:
  bool is_used(ValueId value) const {
    return std::ranges::any_of(graph_.ops, [&](const Op& op) { return std::ranges::count(op.inputs, value) > 0; });
  }

  /// Files know by its place what leaves the graph; oneDNN's End does not take all dtypes.
  ValueId copied(ValueId value) {
    Op op;
    op.id = static_cast<std::int64_t>(graph_.ops.size());
    op.dialect = Dialect::onnx;
    op.kind = "Identity";
    op.inputs = {value};
    op.outputs = {add(graph_.values[value])};
    graph_.values[value].strides.clear();
    graph_.ops.push_back(std::move(op));
    return graph_.ops.back().outputs[0];
  }

  ValueId add(graph::Value value) {
    value.id = 0;
    for (const graph::Value& other : graph_.values) value.id = std::max(value.id, other.id + 1);
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size() - 1);
  }

  template <class T>
  static T get(const std::vector<graph::NamedAttribute>& had, std::string_view name, T fallback) {
    for (const graph::NamedAttribute& attribute : had)
      if (attribute.name == name) return std::get<T>(attribute.value);
    return fallback;
  }

  template <std::size_t n>
  static bool take(Op& op, const Row (&rows)[n], const std::string& name) {
    const Row* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.core == name; });
    if (row == std::end(rows)) return false;
    op.kind = row->kind;
    op.dialect = row->dialect;
    return true;
  }

  bool form(Op& op, const std::vector<graph::NamedAttribute>& had) {
    using Integers = std::vector<std::int64_t>;
    const std::string core = std::exchange(op.kind, "Identity");
    op.dialect = Dialect::onnx;
    if (core == "map") return form_map(op, had);
    if (core == "select") return op.kind = "Where", true;
    if (core == "cast") {
      op.kind = "Cast";
      op.attributes = {{"to", onnx_number(graph_.values[op.outputs[0]].dtype)}};
      return onnx_number(graph_.values[op.outputs[0]].dtype) != 0;
    }
    if (core == "transpose") {
      op.kind = "Transpose";
      op.attributes = {{"perm", get<Integers>(had, "permutation", {})}};
      return true;
    }
    if (core == "reshape" || core == "broadcast") {
      op.kind = core == "reshape" ? "Reshape" : "Expand";
      if (core == "reshape") op.attributes = {{"allowzero", std::int64_t{1}}};
      op.inputs.push_back(integers(get<Integers>(had, "shape", {})));
      return true;
    }
    if (core == "slice") {
      form_slice(op, get<Integers>(had, "starts", {}), get<Integers>(had, "steps", {}),
                 get<Integers>(had, "shape", {}));
      return true;
    }
    const Integers axes = get<Integers>(had, "axes", {});
    if (core != "reduce" || !take(op, kReductions, get<std::string>(had, "reduction", ""))) return false;
    if (axes.empty()) return op.kind = "Identity", true;
    op.inputs.push_back(integers(axes));
    op.attributes = {{"keepdims", static_cast<std::int64_t>(get<bool>(had, "keep_dims", false))}};
    return true;
  }

  void form_slice(Op& op, const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& steps,
                  const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> ends, axes;
    for (std::size_t dim = 0; dim < starts.size(); ++dim) {
      const std::int64_t end = starts[dim] + steps[dim] * shape[dim];
      // Below 0 it would count from the end.
      ends.push_back(end < 0 ? std::numeric_limits<std::int64_t>::min() : end);
      axes.push_back(static_cast<std::int64_t>(dim));
    }
    op.kind = "Slice";
    for (const auto& list : {starts, ends, axes, steps}) op.inputs.push_back(integers(list));
  }

  bool form_map(Op& op, const std::vector<graph::NamedAttribute>& had) const {
    const std::string function = get<std::string>(had, "function", "");
    for (const graph::NamedAttribute& attribute : had)
      if (attribute.name != "function" && attribute.name != "source_kind") op.attributes.push_back(attribute);
    if (function == "gelu_erf" || function == "gelu_tanh") {
      op.kind = "Gelu";
      op.attributes = {{"approximate", std::string(function == "gelu_erf" ? "none" : "tanh")}};
      return true;
    }
    if (!take(op, kFunctions, function)) return false;
    if (function == "add" && op.inputs.size() > 2) op.kind = "Sum";
    return true;
  }

  ValueId integers(const std::vector<std::int64_t>& elements) {
    graph::Value value;
    value.dtype = DType::s64;
    value.ranked = value.is_constant = true;
    value.property = graph::Property::constant;
    value.shape = {static_cast<std::int64_t>(elements.size())};
    const auto* bytes = reinterpret_cast<const std::byte*>(elements.data());
    value.data = std::vector<std::byte>(bytes, bytes + elements.size() * sizeof(std::int64_t));
    return add(std::move(value));
  }

  graph::Graph graph_;
};

}  // namespace

std::string graph_file(const graph::Graph& core) {
  graph::Graph named = core;
  // Files need ids of their own for ops; drawn ones may have none.
  for (std::size_t i = 0; i < named.ops.size(); ++i) named.ops[i].id = static_cast<std::int64_t>(i);
  const Result<graph::Graph> formed = Former(std::move(named)).run();
  if (!formed.ok()) return "no graph file: " + formed.status().message();
  const Result<std::string> json = graph::write_json(formed.value());
  return json.ok() ? json.value() : "no graph file: " + json.status().message();
}

}  // namespace tenfold::numeric

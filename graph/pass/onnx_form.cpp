// SPDX-License-Identifier: Apache-2.0
//
// ONNX's ops as core ops, by a table. Defaults of attributes are those of the version that the op's opset sees, taken
// from the op tables and written out.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/attribute.hpp"
#include "graph/ir/twin.hpp"
#include "graph/pass/core_form.hpp"

namespace tenfold::graph {
namespace {

enum class To : std::uint8_t { reduce, arg_reduce, pool, map, gelu, clip, cast, select };

struct Row {
  std::string_view kind;
  To to;
  std::string_view name;  ///< the reduction, the mode, or the function of a map
};

constexpr Row kOnnx[] = {
    {"Abs", To::map, "abs"},
    {"Acos", To::map, "acos"},
    {"Acosh", To::map, "acosh"},
    {"Add", To::map, "add"},
    {"And", To::map, "and"},
    {"ArgMax", To::arg_reduce, "argmax"},
    {"ArgMin", To::arg_reduce, "argmin"},
    {"Asin", To::map, "asin"},
    {"Asinh", To::map, "asinh"},
    {"Atan", To::map, "atan"},
    {"Atanh", To::map, "atanh"},
    {"BitShift", To::map, "bit_shift"},
    {"BitwiseAnd", To::map, "bitwise_and"},
    {"BitwiseNot", To::map, "bitwise_not"},
    {"BitwiseOr", To::map, "bitwise_or"},
    {"BitwiseXor", To::map, "bitwise_xor"},
    {"Cast", To::cast, ""},
    {"CastLike", To::cast, ""},
    {"Ceil", To::map, "ceil"},
    {"Celu", To::map, "celu"},
    {"Clip", To::clip, ""},
    {"Cos", To::map, "cos"},
    {"Cosh", To::map, "cosh"},
    {"Div", To::map, "div"},
    {"Elu", To::map, "elu"},
    {"Equal", To::map, "equal"},
    {"Erf", To::map, "erf"},
    {"Exp", To::map, "exp"},
    {"Floor", To::map, "floor"},
    {"Gelu", To::gelu, ""},
    {"GlobalAveragePool", To::pool, "mean"},
    {"GlobalMaxPool", To::pool, "max"},
    {"Greater", To::map, "greater"},
    {"GreaterOrEqual", To::map, "greater_equal"},
    {"HardSigmoid", To::map, "hardsigmoid"},
    {"HardSwish", To::map, "hardswish"},
    {"Identity", To::map, "identity"},
    {"IsInf", To::map, "isinf"},
    {"IsNaN", To::map, "isnan"},
    {"LeakyRelu", To::map, "leakyrelu"},
    {"Less", To::map, "less"},
    {"LessOrEqual", To::map, "less_equal"},
    {"Log", To::map, "log"},
    {"Max", To::map, "max"},
    {"Mean", To::map, "mean_of"},
    {"Min", To::map, "min"},
    {"Mish", To::map, "mish"},
    {"Mod", To::map, "mod"},
    {"Mul", To::map, "mul"},
    {"Neg", To::map, "neg"},
    {"Not", To::map, "not"},
    {"Or", To::map, "or"},
    {"PRelu", To::map, "prelu"},
    {"Pow", To::map, "pow"},
    {"Reciprocal", To::map, "reciprocal"},
    {"ReduceL1", To::reduce, "l1"},
    {"ReduceL2", To::reduce, "l2"},
    {"ReduceLogSum", To::reduce, "log_sum"},
    {"ReduceLogSumExp", To::reduce, "log_sum_exp"},
    {"ReduceMax", To::reduce, "max"},
    {"ReduceMean", To::reduce, "mean"},
    {"ReduceMin", To::reduce, "min"},
    {"ReduceProd", To::reduce, "prod"},
    {"ReduceSum", To::reduce, "sum"},
    {"ReduceSumSquare", To::reduce, "sum_square"},
    {"Relu", To::map, "relu"},
    {"Round", To::map, "round"},
    {"Selu", To::map, "selu"},
    {"Sigmoid", To::map, "sigmoid"},
    {"Sign", To::map, "sign"},
    {"Sin", To::map, "sin"},
    {"Sinh", To::map, "sinh"},
    {"Softplus", To::map, "softplus"},
    {"Softsign", To::map, "softsign"},
    {"Sqrt", To::map, "sqrt"},
    {"Sub", To::map, "sub"},
    {"Sum", To::map, "add"},
    {"Swish", To::map, "swish"},
    {"Tan", To::map, "tan"},
    {"Tanh", To::map, "tanh"},
    {"ThresholdedRelu", To::map, "thresholded_relu"},
    {"Where", To::select, ""},
    {"Xor", To::map, "xor"},
};

void to_reduce(const Graph& graph, Op& op, std::string_view reduction) {
  const Result<AxesFacts> facts = axes_facts(graph, op);
  if (!facts.ok()) return;
  const Value& source = graph.values[op.inputs[0]];
  const bool has_tensor = op.inputs.size() > 1 && op.inputs[1] != kNone;
  if (!has_tensor && facts.value().axes->empty() && !source.ranked) return;
  op.attributes = {{"reduction", std::string(reduction)}, {"keep_dims", facts.value().keep_dims}};
  // What an axes tensor that turns out to be empty means; it is fold_axes()'s, or the run time's.
  if (has_tensor) op.attributes.push_back({"noop_with_empty_axes", facts.value().empty == EmptyAxes::each});
  become(op, "reduce");
  if (!has_tensor) set_axes(op, *facts.value().axes, facts.value().empty, source.shape.size());
}

/// A global pool reduces all dims but the first two.
void to_pool(const Graph& graph, Op& op, std::string_view reduction) {
  const Value& source = graph.values[op.inputs[0]];
  if (!source.ranked) return;
  Result<std::vector<std::int64_t>> axes = norm_axes(op, source.shape.size());
  if (!axes.ok()) return;
  op.attributes = {{"reduction", std::string(reduction)}, {"keep_dims", true}, {"axes", std::move(axes).value()}};
  become(op, "reduce");
}

void to_arg_reduce(Op& op, std::string_view mode) {
  op.attributes = {{"mode", std::string(mode)},
                   {"axis", attribute_or<std::int64_t>(op, "axis", 0)},
                   {"keep_dims", attribute_or<std::int64_t>(op, "keepdims", 1) != 0},
                   {"select_last", attribute_or<std::int64_t>(op, "select_last_index", 0) != 0}};
  become(op, "arg_reduce");
}

/// The op's attributes of type f32, and those that pick a variant of the function, with the version's defaults.
std::vector<NamedAttribute> parameters(const Op& op) {
  std::vector<NamedAttribute> found;
  for (const schemas::AttrDesc& desc : version_of(op)->attributes) {
    const Attribute* given = find_attribute(op, desc.name);
    if (desc.name == "direction") {
      found.push_back({"direction", *given});
    } else if (desc.name == "fmod" || desc.name.starts_with("detect_")) {
      const bool fallback = desc.default_text == "1";
      const bool value = given == nullptr ? fallback : std::get<std::int64_t>(*given) != 0;
      if (value != fallback) found.push_back({std::string(desc.name), value});
    } else if (desc.type == schemas::AttrType::f32) {
      found.push_back({std::string(desc.name), given == nullptr ? Attribute(f32_default(desc)) : *given});
    }
  }
  return found;
}

void to_map(Op& op, std::string_view function) {
  // One tensor alone: its greatest, its least, its sum are itself.
  const bool alone = op.inputs.size() == 1 && version_of(op)->inputs.back().variadic;
  std::vector<NamedAttribute> attributes{{"function", std::string(alone ? "identity" : function)}};
  // oneDNN's SoftPlus has it as an attribute.
  if (function == "softplus") attributes.push_back({"beta", 1.0});
  for (NamedAttribute& parameter : parameters(op)) attributes.push_back(std::move(parameter));
  op.attributes = std::move(attributes);
  become(op, "map");
}

/// Converting to f8 with saturate = 0 gives infinities or NaNs where core.cast stops at the greatest value.
bool is_plain_cast(const Graph& graph, const Op& op) {
  const DType to = graph.values[op.outputs[0]].dtype;
  return attribute_or<std::int64_t>(op, "saturate", 1) != 0 || (to != DType::f8_e4m3 && to != DType::f8_e5m2);
}

/// A product of matrices, convolution or pool becomes oneDNN's, for all that comes after is made for these. False: it
/// has no such form, or not yet, and stays for the reference evaluator.
bool to_onednn(const Graph& graph, Op& op) {
  std::vector<Dims> shapes;
  for (const ValueId v : op.inputs) {
    if (v == kNone) continue;
    if (!graph.values[v].ranked) return false;
    shapes.push_back(graph.values[v].shape);
  }
  shapes.resize(std::min<std::size_t>(shapes.size(), 2));
  std::optional<Twin> twin = onednn_twin(op, shapes);
  if (!twin || !twin->is_whole) return false;
  const DType dtype = graph.values[op.inputs[0]].dtype;
  if (dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::f16) return false;
  if (op.outputs.size() > 1 && op.outputs[1] != kNone) return false;
  twin->op.outputs.resize(1);
  op = std::move(twin->op);
  return true;
}

template <class T, class Element>
void append(std::vector<std::byte>& data, Element element) {
  const T value = static_cast<T>(element);
  data.resize(data.size() + sizeof(T));
  std::memcpy(data.data() + data.size() - sizeof(T), &value, sizeof(T));
}

}  // namespace

void onnx_to_core(const Graph& graph, Op& op) {
  if (to_onednn(graph, op)) return;
  const auto* row = std::find_if(std::begin(kOnnx), std::end(kOnnx), [&](const Row& r) { return r.kind == op.kind; });
  if (row == std::end(kOnnx)) return;
  switch (row->to) {
    case To::reduce: to_reduce(graph, op, row->name); break;
    case To::arg_reduce: to_arg_reduce(op, row->name); break;
    case To::pool: to_pool(graph, op, row->name); break;
    case To::map: to_map(op, row->name); break;
    case To::gelu:
      to_map(op, attribute_or<std::string>(op, "approximate", "none") == "tanh" ? "gelu_tanh" : "gelu_erf");
      break;
    case To::clip: clip_to_map(graph, op); break;
    case To::cast:
      if (!is_plain_cast(graph, op)) break;
      op.inputs.resize(1);
      op.attributes.clear();
      become(op, "cast");
      break;
    case To::select:
      op.attributes.clear();
      become(op, "select");
      break;
  }
}

void become_constant(const Op& op, Value& value) {
  const Attribute& given = op.attributes[0].value;
  std::vector<std::byte> data;
  if (const auto* integer = std::get_if<std::int64_t>(&given)) append<std::int64_t>(data, *integer);
  if (const auto* real = std::get_if<double>(&given)) append<float>(data, *real);
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&given))
    for (const std::int64_t element : *integers) append<std::int64_t>(data, element);
  if (const auto* reals = std::get_if<std::vector<double>>(&given))
    for (const double element : *reals) append<float>(data, element);
  value.data = std::move(data);
  value.is_constant = true;
  value.property = Property::constant;
  value.producer = kNone;
}

}  // namespace tenfold::graph

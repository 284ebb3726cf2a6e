// SPDX-License-Identifier: Apache-2.0
//
// to_onnx(): oneDNN's ops as ops of ONNX that mean exactly the same, for those who write models. What oneDNN says by an
// attribute and ONNX by a tensor (axes, bounds, exponents) becomes a constant. Which opset they are of is
// onnx_opset.cpp's.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/eval/eval.hpp"
#include "graph/ir/attribute.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/pass/constants.hpp"
#include "graph/pass/core_form.hpp"
#include "graph/pass/fresh_ids.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

/// What beside the name an op needs: `as_is` nothing, `scaled` keeps alpha and beta.
enum class How : std::uint8_t { as_is, scaled, gelu, clamp, square, pow, softplus, channels, reduce, cast };

struct Row {
  std::string_view kind;
  std::string_view onnx;
  How how = How::as_is;
};

constexpr Row kRows[] = {
    {"Abs", "Abs"},
    {"Add", "Add"},
    {"BiasAdd", "Add", How::channels},
    {"Clamp", "Clip", How::clamp},
    {"Divide", "Div"},
    {"Elu", "Elu", How::scaled},
    {"Exp", "Exp"},
    {"GELU", "Gelu", How::gelu},
    {"GreaterEqual", "GreaterOrEqual"},
    {"HardSigmoid", "HardSigmoid", How::scaled},
    {"HardSwish", "HardSwish"},
    {"LeakyReLU", "LeakyRelu", How::scaled},
    {"Log", "Log"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"Mish", "Mish"},
    {"Multiply", "Mul"},
    {"PReLU", "PRelu", How::channels},
    {"Pow", "Pow", How::pow},
    {"ReLU", "Relu"},
    {"Reciprocal", "Reciprocal"},
    {"ReduceL1", "ReduceL1", How::reduce},
    {"ReduceL2", "ReduceL2", How::reduce},
    {"ReduceMax", "ReduceMax", How::reduce},
    {"ReduceMean", "ReduceMean", How::reduce},
    {"ReduceMin", "ReduceMin", How::reduce},
    {"ReduceProd", "ReduceProd", How::reduce},
    {"ReduceSum", "ReduceSum", How::reduce},
    {"Round", "Round"},
    {"Select", "Where"},
    {"Sigmoid", "Sigmoid"},
    {"SoftPlus", "Softplus", How::softplus},
    {"Sqrt", "Sqrt"},
    {"Square", "Mul", How::square},
    {"Subtract", "Sub"},
    {"Tanh", "Tanh"},
    {"TypeCast", "Cast", How::cast},
};

/// The number as an element of `dtype`; nullopt where that would round it.
std::optional<std::vector<std::byte>> element_of(DType dtype, double number) {
  std::vector<std::byte> bytes = element_bytes(dtype, {&number, 1});
  if (!std::isnan(number) && load_real(dtype, bytes.data(), 0) != number) return std::nullopt;
  return bytes;
}

class ToOnnx {
 public:
  explicit ToOnnx(Graph& graph) : graph_(graph), op_ids_(graph.ops), value_ids_(graph.values) {}

  Status run() {
    for (Op& op : graph_.ops) {
      if (op.dialect == Dialect::onednn && op.kind == "End") continue;
      const bool turned = op.dialect != Dialect::onnx;
      if (turned)
        if (Status s = turn(op); !s.ok()) return s;
      done_.push_back(std::move(op));
      turned_.resize(done_.size(), false);
      turned_.back() = turned;
    }
    graph_.ops = std::move(done_);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      for (const ValueId v : graph_.ops[i].outputs)
        if (v != kNone) graph_.values[v].producer = static_cast<OpId>(i);
    return choose_onnx_opset(graph_, turned_);
  }

 private:
  Status turn(Op& op) {
    const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.kind == op.kind; });
    if (op.dialect != Dialect::onednn || row == std::end(kRows))
      return no_onnx_form(op, "no op of ONNX means the same");
    if (row->how != How::cast && mixes_floats(op))
      return no_onnx_form(op, "its tensors are of several dtypes, and ONNX's " + std::string(row->onnx) + " has one");
    std::vector<NamedAttribute> attributes;
    std::string kind(row->onnx);
    switch (row->how) {
      case How::as_is: break;
      case How::scaled:
        for (const std::string_view name : {"alpha", "beta"})
          if (const Attribute* value = find_attribute(op, name)) attributes.push_back({std::string(name), *value});
        break;
      case How::gelu:
        if (attribute_or<std::string>(op, "mode", "gelu_erf") == "gelu_tanh")
          attributes.push_back({"approximate", std::string("tanh")});
        break;
      case How::clamp:
        for (const std::string_view name : {"min", "max"})
          if (Status s = add_scalar(op, name, graph_.values[op.inputs[0]].dtype); !s.ok()) return s;
        break;
      case How::square: op.inputs.push_back(op.inputs[0]); break;
      case How::pow:
        if (Status s = add_scalar(op, "beta", DType::f32); !s.ok()) return s;
        break;
      case How::softplus:
        if (f32_attribute(op, "beta") != 1) return no_onnx_form(op, "its beta is not 1");
        break;
      case How::channels:
        if (!aligned(op))
          return no_onnx_form(op, "its channels are not the last dim, and ONNX's operands lie along that");
        break;
      case How::reduce:
        if (Status s = turn_axes(op, attributes, kind); !s.ok()) return s;
        break;
      case How::cast: attributes.push_back({"to", data_type_of(graph_.values[op.outputs[0]].dtype)}); break;
    }
    op.attributes = std::move(attributes);
    op.kind = std::move(kind);
    op.dialect = Dialect::onnx;
    op.extras.clear();
    return {};
  }

  /// Whether it has floats of several dtypes, as oneDNN's arithmetic may.
  bool mixes_floats(const Op& op) const {
    DType first = DType::undef;
    for (const std::vector<ValueId>* values : {&op.inputs, &op.outputs})
      for (const ValueId v : *values) {
        const DType dtype = v == kNone ? DType::undef : graph_.values[v].dtype;
        if (!is_floating(dtype)) continue;
        if (first != DType::undef && dtype != first) return true;
        first = dtype;
      }
    return false;
  }

  static std::int64_t data_type_of(DType dtype) { return dtype == DType::f32 ? 1 : dtype == DType::f16 ? 10 : 16; }

  ValueId add_constant(const Op& op, std::string_view role, DType dtype, Dims shape, std::vector<std::byte> data) {
    Value value;
    value.id = value_ids_.take();
    value.name = "op" + std::to_string(op.id) + "_" + std::string(role);
    value.dtype = dtype;
    value.ranked = true;
    value.shape = std::move(shape);
    value.property = Property::constant;
    value.is_constant = true;
    value.data = std::move(data);
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size() - 1);
  }

  Status add_scalar(Op& op, std::string_view attribute, DType dtype) {
    std::optional<std::vector<std::byte>> data = element_of(dtype, f32_attribute(op, attribute));
    if (!data)
      return no_onnx_form(op, "its " + std::string(attribute) + " is no number of " + std::string(to_string(dtype)));
    op.inputs.push_back(add_constant(op, attribute, dtype, {}, std::move(*data)));
    return {};
  }

  /// Whether NumPy's broadcasting has the second operand of BiasAdd or PReLU where oneDNN has it.
  bool aligned(const Op& op) const {
    if (channels_last(op) || !attribute_or<bool>(op, "per_channel_broadcast", true)) return true;
    const Value& source = graph_.values[op.inputs[0]];
    const Value& operand = graph_.values[op.inputs[1]];
    if (!source.ranked || !operand.ranked) return false;
    return operand.shape.size() != 1 || operand.shape[0] == 1 || source.shape.size() <= 2;
  }

  Status turn_axes(Op& op, std::vector<NamedAttribute>& attributes, std::string& kind) {
    const Result<AxesFacts> facts = axes_facts(graph_, op);
    if (!facts.ok()) return facts.status();
    if (!facts.value().axes) {
      if (Status s = take_run_time_axes(op); !s.ok()) return s;
    } else if (facts.value().axes->empty()) {
      // ONNX would take the magnitude of each element under noop_with_empty_axes.
      op.inputs.resize(1);
      kind = "Identity";
      return {};
    } else {
      const std::vector<std::int64_t>& axes = *facts.value().axes;
      std::vector<std::byte> data(axes.size() * sizeof(std::int64_t));
      std::memcpy(data.data(), axes.data(), data.size());
      op.inputs.resize(1);
      op.inputs.push_back(
          add_constant(op, "axes", DType::s64, {static_cast<std::int64_t>(axes.size())}, std::move(data)));
    }
    attributes.push_back({"keepdims", std::int64_t{facts.value().keep_dims ? 1 : 0}});
    return {};
  }

  /// ONNX has them in s64, oneDNN in s32.
  Status take_run_time_axes(Op& op) {
    const Value& axes = graph_.values[op.inputs[1]];
    if (!axes.ranked || axes.shape.size() != 1 || axes.shape[0] < 1)
      return no_onnx_form(op, "its axes are known at run time only, and may be none or a scalar");
    Value wide = axes;
    wide.id = value_ids_.take();
    wide.name = "op" + std::to_string(op.id) + "_axes";
    wide.dtype = DType::s64;
    wide.property = Property::undef;
    wide.strides.clear();
    Op cast;
    cast.id = op_ids_.take();
    cast.name = op.name.empty() ? "" : op.name + "_axes";
    cast.dialect = Dialect::onnx;
    cast.kind = "Cast";
    cast.attributes = {{"to", std::int64_t{7}}};
    cast.inputs = {op.inputs[1]};
    op.inputs[1] = static_cast<ValueId>(graph_.values.size());
    cast.outputs = {op.inputs[1]};
    graph_.values.push_back(std::move(wide));
    done_.push_back(std::move(cast));
    turned_.resize(done_.size(), true);
    return {};
  }

  Graph& graph_;
  FreshIds op_ids_, value_ids_;
  std::vector<Op> done_;
  std::vector<bool> turned_;  ///< by op of done_: whether it was oneDNN's
};

}  // namespace

Status to_onnx(Graph& graph) {
  if (Status s = ToOnnx(graph).run(); !s.ok()) return s;
  return verify(graph);
}

}  // namespace tenfold::graph

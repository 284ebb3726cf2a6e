// SPDX-License-Identifier: Apache-2.0
//
// Rules that the op tables cannot say: where axes come from (reduce.C1, C2), what casts are legal (cast.T1, T2), how
// many inputs a function of core.map takes (map.M1), which remainder of reals there is (map.M2).
#include <string>
#include <vector>

#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"

namespace tenfold::graph {
namespace {

Status check_type_cast(const Graph& graph, const Op& op) {
  const DType from = graph.values[op.inputs[0]].dtype;
  const DType to = graph.values[op.outputs[0]].dtype;
  if (from == DType::undef || to == DType::undef) return {};
  if (from == to)
    return refuse(Code::invalid_dtype, op, "source and destination are both " + std::string(to_string(to)), "cast.T1");
  if (from != DType::f32 && to != DType::f32)
    return refuse(Code::invalid_dtype, op,
                  std::string(to_string(from)) + " to " + std::string(to_string(to)) +
                      " is not a cast that oneDNN has; go by way of f32",
                  "cast.T2");
  return {};
}

Status check_onnx_cast(const Graph& graph, const Op& op) {
  if (op.kind != "Cast") return {};
  const DType target = onnx_cast_target(op);
  const DType to = graph.values[op.outputs[0]].dtype;
  if (to == DType::undef || to == target) return {};
  return refuse(Code::invalid_dtype, op,
                "output " + describe(graph.values[op.outputs[0]]) + " is " + std::string(to_string(to)) +
                    ", but attribute 'to' makes it " + std::string(to_string(target)),
                "cast.T4");
}

/// `fmod` is an integer in ONNX.
Status check_remainder(const Graph& graph, const Op& op) {
  const DType dtype = graph.values[op.inputs[0]].dtype;
  if (dtype == DType::undef || !is_floating(dtype)) return {};
  if (attribute_or<bool>(op, "fmod", false) || attribute_or<std::int64_t>(op, "fmod", 0) != 0) return {};
  return refuse(Code::invalid_op, op,
                "the remainder of " + std::string(to_string(dtype)) +
                    " with the divisor's sign is for integers alone; give fmod = 1 for that with the dividend's",
                "map.M2");
}

Status check_function(const Graph& graph, const Op& op) {
  const std::string function = attribute_or<std::string>(op, "function", "");
  const FunctionFacts* facts = find_function_facts(function);
  if (facts == nullptr) return refuse(Code::invalid_op, op, "there is no function '" + function + "'", "map.M1");
  if (facts->least <= op.inputs.size() && op.inputs.size() <= facts->most)
    return function == "mod" ? check_remainder(graph, op) : Status();
  std::string takes = std::to_string(facts->least);
  if (facts->most == kAnyInputs)
    takes += " or more";
  else if (facts->most != facts->least)
    takes += " to " + std::to_string(facts->most);
  return refuse(Code::invalid_op, op,
                "function '" + function + "' takes " + takes + " inputs, has " + std::to_string(op.inputs.size()),
                "map.M1");
}

}  // namespace

Status check_one_axes_form(const Op& op) {
  if (form_of(op) != Form::reduction || op.inputs.size() < 2 || op.inputs[1] == kNone) return {};
  const Attribute* attribute = find_attribute(op, "axes");
  // oneDNN's writer fills in the default axes = [], also beside an axes tensor: empty counts as absent there.
  const auto* list = attribute == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(attribute);
  if (list != nullptr && !list->empty())
    return refuse(
        Code::invalid_op, op,
        "attribute 'axes' " + show_dims(*list) + " and an axes tensor are both given; exactly one of them may be",
        "reduce.C1");
  return {};
}

Status check_axes_form(const Graph& graph, const Op& op) {
  if (form_of(op) != Form::reduction) return {};
  const Attribute* attribute = find_attribute(op, "axes");
  const bool has_tensor = op.inputs.size() > 1 && op.inputs[1] != kNone;
  if (!has_tensor) {
    if (attribute != nullptr || op.dialect == Dialect::onnx) return {};
    return refuse(Code::invalid_op, op,
                  "neither attribute 'axes' nor an axes tensor says what to reduce; give one of them (axes = [] is the "
                  "identity)",
                  "reduce.C1");
  }
  const Value& axes = graph.values[op.inputs[1]];
  const bool wide = op.dialect != Dialect::onednn && axes.dtype == DType::s64;
  const bool pending = axes.dtype == DType::undef && axes.producer != kNone;
  if ((axes.ranked && axes.shape.size() > 1) || (axes.dtype != DType::s32 && !wide && !pending))
    return refuse(Code::invalid_op, op,
                  "axes " + describe(axes) + " is " + std::string(to_string(axes.dtype)) + show_shape(axes) +
                      "; it must be s32" + (op.dialect == Dialect::onednn ? "" : " or s64") + " of rank 1 or 0",
                  "reduce.C2");
  return {};
}

/// oneDNN's Concat takes so many tensors.
constexpr std::size_t kMostJoined = 64;

Status check_form(const Graph& graph, const Op& op) {
  if (op.dialect == Dialect::onednn && op.kind == "Concat" && op.inputs.size() > kMostJoined)
    return refuse(Code::invalid_op, op,
                  "has " + std::to_string(op.inputs.size()) + " inputs, takes at most " + std::to_string(kMostJoined),
                  "op.O2");
  if (const Form form = form_of(op); is_norm(form)) return check_norm(graph, op, form);
  if (form_of(op) == Form::quantization) return check_quantization(graph, op);
  if (form_of(op) == Form::matmul) return check_matmul(graph, op);
  if (op.dialect == Dialect::onednn && op.kind == "TypeCast") return check_type_cast(graph, op);
  if (op.dialect == Dialect::onnx) return op.kind == "Mod" ? check_remainder(graph, op) : check_onnx_cast(graph, op);
  if (op.dialect == Dialect::core && op.kind == "map") return check_function(graph, op);
  return {};
}

}  // namespace tenfold::graph

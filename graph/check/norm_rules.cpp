// SPDX-License-Identifier: Apache-2.0
//
// The rules norm.N1, N2 and N5 to N7: dtypes, counts and attributes of softmax and the norms that the op tables cannot
// say. Those on shapes are norm_shapes.cpp's.
#include <string>
#include <string_view>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

/// Version 14 of BatchNormalization tells training by an attribute, 7 by the number of outputs, and 1 by another one.
/// ONNX's numbers of element types.
constexpr std::int64_t kOnnxFloat16 = 10, kOnnxDouble = 11;
constexpr int kTrainingMode = 14;
constexpr int kNoTestFlag = 7;

/// norm.N1: oneDNN's SoftMax and its backward op may widen to f32 or, forward, narrow from it.
Status check_softmax_dtypes(const Graph& graph, const Op& op) {
  const bool backward = op.kind == "SoftMaxBackward";
  if (op.dialect != Dialect::onednn || (op.kind != "SoftMax" && !backward)) return {};
  const DType from = graph.values[op.inputs[0]].dtype;
  const DType to = graph.values[op.outputs[0]].dtype;
  const bool fits = from == to || to == DType::f32 || (from == DType::f32 && !backward);
  if (fits || from == DType::undef || to == DType::undef) return {};
  return refuse(Code::invalid_dtype, op,
                std::string(to_string(from)) + " does not become " + std::string(to_string(to)) +
                    "; the result has the dtype of the first input, or is f32" +
                    (backward ? "" : ", or the input is f32"),
                "norm.N1");
}

/// norm.N2: in oneDNN's norms everything beside the data is f32, or bf16 where the data is; the gamma of RMSNorm, the
/// only one that may be f16, likewise.
Status check_side_dtypes(const Graph& graph, const Op& op, Form form) {
  if (op.dialect != Dialect::onednn || form == Form::axis_norm) return {};
  const DType data = graph.values[op.inputs[0]].dtype;
  if (data == DType::undef) return {};
  std::vector<ValueId> side(op.inputs.begin() + 1, op.inputs.end());
  if (form == Form::layer_norm_backward) side.erase(side.begin());
  side.insert(side.end(), op.outputs.begin() + 1, op.outputs.end());
  for (const ValueId v : side) {
    const DType dtype = graph.values[v].dtype;
    if ((dtype != DType::bf16 && dtype != DType::f16) || dtype == data) continue;
    const std::string name(to_string(dtype));
    return refuse(Code::invalid_dtype, op,
                  describe(graph.values[v]) + " is " + name + " beside data of " + std::string(to_string(data)) +
                      "; scale, bias and stats may be " + name + " where the data is",
                  "norm.N2");
  }
  return {};
}

/// norm.N5: oneDNN's flags say how many tensors there are.
Status check_flags(const Op& op, Form form) {
  if (op.dialect != Dialect::onednn || op.kind == "RMSNorm") return {};
  const bool forward = form == Form::layer_norm || form == Form::group_norm;
  if (op.kind == "BatchNormForwardTraining" && op.inputs.size() == 4)
    return refuse(Code::invalid_op, op, "gamma asks for beta beside it; there are 4 inputs", "norm.N5");
  if (!forward && form != Form::layer_norm_backward) return {};
  const bool affine = attribute_or<bool>(op, "use_affine", true);
  const bool keeps = forward && attribute_or<bool>(op, "keep_stats", true);
  const std::size_t inputs = op.inputs.size();
  const auto counted = [&](std::string_view flag, const std::string& wanted) {
    return refuse(Code::invalid_op, op,
                  std::string(flag) + " asks for " + wanted + "; there are " + std::to_string(inputs) + " inputs and " +
                      std::to_string(op.outputs.size()) + " outputs",
                  "norm.N5");
  };
  if (forward && inputs == 2) return counted("gamma", "beta beside it");
  if (forward && affine && inputs != 3) return counted("use_affine", "gamma and beta");
  if (keeps && op.outputs.size() != 3) return counted("keep_stats", "mean and variance");
  if (forward && op.outputs.size() == 2) return counted("mean", "variance beside it");
  if (!forward && affine && (inputs < 5 || op.outputs.size() != 3))
    return counted("use_affine", "gamma, diff_gamma and diff_beta");
  if (!forward && op.outputs.size() == 2) return counted("diff_gamma", "diff_beta beside it");
  if (!forward && inputs < 5 && op.outputs.size() == 3) return counted("diff_gamma", "gamma");
  return {};
}

/// norm.N6: attributes of ONNX's norms that take a few numbers only.
Status check_numbers(const Graph& graph, const Op& op) {
  if (op.dialect != Dialect::onnx) return {};
  if (op.kind == "LpNormalization") {
    const std::int64_t p = integer_attribute(op, "p");
    if (p != 1 && p != 2)
      return refuse(Code::invalid_op, op, "attribute 'p' is " + std::to_string(p) + ", must be 1 or 2", "norm.N6");
  }
  if (op.kind == "LayerNormalization") {
    const DType stash = onnx_stash_dtype(op);
    for (std::size_t i = 1; i < op.outputs.size() && stash != DType::undef; ++i) {
      const DType given = op.outputs[i] == kNone ? DType::undef : graph.values[op.outputs[i]].dtype;
      if (given != DType::undef && given != stash)
        return refuse(Code::invalid_dtype, op,
                      "output " + std::to_string(i) + " is " + std::string(to_string(given)) +
                          ", but stash_type makes it " + std::string(to_string(stash)),
                      "norm.N6");
    }
  }
  if (find_attribute(op, "stash_type") == nullptr || onnx_stash_dtype(op) != DType::undef) return {};
  // No output of the others has that type, so any that is computed in will do.
  const std::int64_t stash = integer_attribute(op, "stash_type");
  if (op.kind != "LayerNormalization" && (stash == kOnnxFloat16 || stash == kOnnxDouble)) return {};
  return refuse(Code::invalid_op, op,
                "attribute 'stash_type' is " + std::to_string(integer_attribute(op, "stash_type")) +
                    ", must be 1 (FLOAT) or 16 (BFLOAT16)",
                "norm.N6");
}

/// norm.N7: batch norms run with given stats.
Status check_inference(const Op& op) {
  if (op.kind != "BatchNormalization") return {};
  const int version = version_of(op)->since_version;
  bool training = op.outputs.size() > 1;
  if (version >= kTrainingMode) training = training || attribute_or<std::int64_t>(op, "training_mode", 0) != 0;
  if (version < kNoTestFlag) training = training || attribute_or<std::int64_t>(op, "is_test", 0) == 0;
  if (!training) return {};
  return refuse(Code::unsupported_op, op,
                "it is in training mode, which this version does not run; inference has one output and " +
                    std::string(version >= kTrainingMode ? "training_mode 0"
                                : version < kNoTestFlag  ? "is_test 1"
                                                         : "nothing else"),
                "norm.N7");
}

}  // namespace

DType onnx_stash_dtype(const Op& op) {
  switch (integer_attribute(op, "stash_type")) {
    case 1: return DType::f32;
    case 16: return DType::bf16;
    default: return DType::undef;
  }
}

Status check_norm(const Graph& graph, const Op& op, Form form) {
  if (Status s = check_softmax_dtypes(graph, op); !s.ok()) return s;
  if (Status s = check_side_dtypes(graph, op, form); !s.ok()) return s;
  if (Status s = check_flags(op, form); !s.ok()) return s;
  if (Status s = check_numbers(graph, op); !s.ok()) return s;
  return check_inference(op);
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Quantization, elementwise backward ops and ops that move elements against the core ops that they become.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/pass/composite_case.hpp"

namespace tenfold::graph {
namespace {

const std::vector<std::string> kReals{"f32", "f32", "bf16", "f16"};
const std::vector<std::string> kBytes{"s8", "u8"};

std::string join(const Dims& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

std::string axis_text(std::int64_t axis) { return "axis = " + std::to_string(axis); }

Dims without_zeros(Dims shape) {
  std::replace(shape.begin(), shape.end(), std::int64_t{0}, std::int64_t{3});
  return shape;
}

/// Of any rank from 0 on.
Dims draw_any_shape(Draw& draw) { return draw.one_in(8) ? Dims() : draw_shape(draw, 1); }

/// How scales lie over `shape`: the attributes that say so, and how many there are along each dim of theirs.
struct Laid {
  std::string attributes;
  Dims shape;
};

Laid draw_channels(Draw& draw, const Dims& shape) {
  if (draw.one_in(2)) return {draw.one_in(2) ? "" : "qtype = \"per_tensor\"", {1}};
  const std::int64_t axis = draw_axis(draw, shape);
  return {"qtype = \"per_channel\", " + axis_text(axis), {shape[wrap(axis, shape)]}};
}

/// A divisor of `dim`, which is not 0.
std::int64_t draw_divisor(Draw& draw, std::int64_t dim) {
  Dims divisors;
  for (std::int64_t i = 1; i <= dim; ++i)
    if (dim % i == 0) divisors.push_back(i);
  return draw.of(divisors);
}

std::string draw_numbers(Draw& draw, std::int64_t count, const std::vector<std::string>& choices) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + draw.of(choices);
  return "[" + text + "]";
}

/// Scales, and often zero points, as attributes.
std::string draw_lists(Draw& draw, std::int64_t count) {
  std::string text = "scales = " + draw_numbers(draw, count, {"1.0", "0.25", "0.0358867", "3.5", "0.00392092"});
  if (draw.one_in(3)) return text;
  return text + ", zps = " + draw_numbers(draw, count, {"0", "1", "-3", "114"});
}

std::string both(const std::string& a, const std::string& b) { return a.empty() ? b : a + ", " + b; }

Case quantize(Draw& draw) {
  const Dims shape = without_zeros(draw_shape(draw, 1));
  const Laid laid = draw_channels(draw, shape);
  const std::string lists = draw_lists(draw, laid.shape[0]);
  return {{type("f32", shape)}, "onednn.Quantize", both(laid.attributes, lists), {draw.of(kBytes) + "[*]"}, {}};
}

Case dequantize(Draw& draw) {
  const Dims shape = without_zeros(draw_shape(draw, 1));
  const Laid laid = draw_channels(draw, shape);
  const std::string lists = draw_lists(draw, laid.shape[0]);
  return {{type(draw.of(kBytes), shape)}, "onednn.Dequantize", both(laid.attributes, lists), {"f32[*]"}, {}};
}

Case dynamic_quantize(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const Laid laid = draw_channels(draw, shape);
  Case c{{type("f32", shape), type("f32", laid.shape)},
         "onednn.DynamicQuantize",
         laid.attributes,
         {draw.of(kBytes) + "[*]"},
         {1}};
  if (draw.one_in(2)) c.inputs.push_back(type(draw.of<std::string>({"s8", "u8", "s32"}), laid.shape));
  return c;
}

Case dynamic_dequantize(Draw& draw) {
  const Dims shape = without_zeros(draw_shape(draw, 1));
  Laid laid = draw_channels(draw, shape);
  if (draw.one_in(2)) {
    Dims groups;
    laid.shape.clear();
    for (const std::int64_t dim : shape) {
      groups.push_back(draw_divisor(draw, dim));
      laid.shape.push_back(dim / groups.back());
    }
    laid.attributes = "qtype = \"per_group\", group_shape = " + join(groups);
  }
  const std::string real = draw.of(kReals);
  Case c{{type(draw.of(kBytes), shape), type(real, laid.shape)},
         "onednn.DynamicDequantize",
         laid.attributes,
         {real + "[*]"},
         {}};
  if (draw.one_in(2)) c.inputs.push_back(type(draw.of<std::string>({"s8", "u8", "s32"}), laid.shape));
  return c;
}

Laid draw_onnx_scales(Draw& draw, const Dims& shape) {
  if (draw.one_in(3)) return {"", draw.one_in(2) ? Dims{} : Dims{1}};
  const std::int64_t axis = draw_axis(draw, shape);
  const std::int64_t dim = shape[wrap(axis, shape)];
  if (draw.one_in(2)) return {axis_text(axis), {dim}};
  Laid laid{axis_text(axis), shape};
  const std::int64_t block = draw_divisor(draw, dim);
  laid.attributes += ", block_size = " + std::to_string(block);
  laid.shape[wrap(axis, shape)] = dim / block;
  return laid;
}

Case quantize_linear(Draw& draw) {
  const Dims shape = without_zeros(draw_shape(draw, 1));
  const Laid laid = draw_onnx_scales(draw, shape);
  const std::string x = draw.of<std::string>({"f32", "f16", "bf16", "s32"});
  Case c{{type(x, shape), type(draw.of(kReals), laid.shape)}, "onnx.QuantizeLinear", laid.attributes, {}, {1}};
  const std::string to = draw.of<std::string>({"s8", "u8", "s16", "u16"});
  if (draw.one_in(2)) {
    c.inputs.push_back(type(to, laid.shape));
    c.outputs = {to + "[*]"};
  } else {
    c.outputs = {"u8[*]"};
  }
  return c;
}

Case dequantize_linear(Draw& draw) {
  const Dims shape = without_zeros(draw_shape(draw, 1));
  const Laid laid = draw_onnx_scales(draw, shape);
  const std::string x = draw.of<std::string>({"s8", "u8", "s16", "u16", "s32"});
  const std::string real = draw.of(kReals);
  Case c{{type(x, shape), type(real, laid.shape)}, "onnx.DequantizeLinear", laid.attributes, {real + "[*]"}, {}};
  if (draw.one_in(2)) c.inputs.push_back(type(x, laid.shape));
  if (draw.one_in(4)) {
    c.attributes = both(c.attributes, "output_dtype = 10");
    c.outputs = {"f16[*]"};
  }
  return c;
}

Case dynamic_quantize_linear(Draw& draw) {
  const std::string x = type("f32", draw_any_shape(draw));
  return {{x}, "onnx.DynamicQuantizeLinear", "", {"u8[*]", "f32[*]", "u8[*]"}, {}};
}

std::string draw_use_dst(Draw& draw) { return draw.one_in(2) ? "" : "use_dst = false"; }

Case backward(Draw& draw, const std::string& kind, const std::string& attributes) {
  const std::string x = type(draw.of(kReals), draw_any_shape(draw));
  return {{x, x}, "onednn." + kind + "Backward", attributes, {x.substr(0, x.find('[')) + "[*]"}, {}};
}

Case plain_backward(Draw& draw) {
  return backward(draw, draw.of<std::string>({"Abs", "HardSwish", "Mish", "SoftPlus"}), "");
}
Case flagged_backward(Draw& draw) {
  return backward(draw, draw.of<std::string>({"ReLU", "Sigmoid", "Tanh"}), draw_use_dst(draw));
}
Case gelu_backward(Draw& draw) { return backward(draw, "GELU", draw.one_in(2) ? "" : "mode = \"gelu_tanh\""); }
Case parameter_backward(Draw& draw) {
  switch (draw.below(4)) {
    case 0: return backward(draw, "Clamp", both(draw_use_dst(draw), "min = -0.5, max = 1.25"));
    case 1: return backward(draw, "Elu", both(draw_use_dst(draw), "alpha = 0.7"));
    case 2: return backward(draw, "SoftPlus", "beta = -1.5");
    default: return backward(draw, "HardSigmoid", "alpha = 1.28, beta = 0.128");
  }
}
Case sqrt_backward(Draw& draw) {
  Case c = backward(draw, "Sqrt", draw_use_dst(draw));
  c.positive = {0};
  return c;
}

std::string draw_format(Draw& draw) { return draw.one_in(2) ? "" : "data_format = \"NCX\""; }

Case prelu_backward(Draw& draw) {
  const Dims shape = draw_shape(draw, 2);
  const std::string dtype = draw.of(kReals);
  const std::string format = draw_format(draw);
  Dims slope{format.empty() ? shape.back() : shape[1]};
  if (draw.one_in(3)) slope = {1};
  if (draw.one_in(3)) {
    slope = tail(shape, draw.below(shape.size() - 1));
    for (std::int64_t& dim : slope)
      if (draw.one_in(2)) dim = 1;
  }
  const std::string x = type(dtype, shape);
  return {{x, type(dtype, slope), x}, "onednn.PReLUBackward", format, {dtype + "[*]", dtype + "[*]"}, {}};
}

Case bias_add_backward(Draw& draw) {
  const std::string format = draw_format(draw);
  const std::string dtype = draw.of(kReals);
  const Dims shape = draw_shape(draw, format.empty() ? 1 : 2);
  return {{type(dtype, shape)}, "onednn.BiasAddBackward", format, {dtype + "[*]"}, {}};
}

Case rearranged(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string x = type("f16", shape);
  Dims order;
  for (std::size_t i = 0; i < shape.size(); ++i)
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(draw.below(i + 1)), static_cast<std::int64_t>(i));
  switch (draw.below(4)) {
    case 0: return {{x}, "onednn.StaticTranspose", "order = " + join(order), {"f16[*]"}, {}};
    case 1: return {{x}, "onnx.Transpose", draw.one_in(3) ? "" : "perm = " + join(order), {"f16[*]"}, {}};
    case 2: return {{x}, "onnx.Flatten", axis_text(draw_axis(draw, shape)), {"f16[*]"}, {}};
    default: return {{x}, "onednn.GenIndex", axis_text(draw_axis(draw, shape)), {"s32[*]"}, {}};
  }
}

Case joined(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::int64_t axis = draw_axis(draw, shape);
  Case c{{}, draw.one_in(2) ? "onednn.Concat" : "onnx.Concat", axis_text(axis), {"bf16[*]"}, {}};
  for (std::size_t i = 0; i < 1 + draw.below(4); ++i) {
    Dims next = shape;
    next[wrap(axis, shape)] = static_cast<std::int64_t>(draw.below(5));
    c.inputs.push_back(type("bf16", next));
  }
  return c;
}

Case cut(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string x = type("f32", shape);
  const auto bound = [&] { return static_cast<std::int64_t>(draw.below(20)) - 9; };
  const std::int64_t axis = draw_axis(draw, shape);
  const std::string ends = "starts = " + join({bound()}) + ", ends = " + join({bound()}) + ", axes = " + join({axis});
  if (draw.one_in(2)) return {{x}, "onnx.Slice @9", ends, {"f32[*]"}, {}};
  const std::int64_t extent = shape[wrap(axis, shape)];
  const auto first = static_cast<std::int64_t>(draw.below(static_cast<std::size_t>(extent) + 1));
  const std::string parts = axis_text(axis) + ", split = " + join({first, extent - first});
  return {{x}, "onnx.Split @11", parts, {"f32[*]", "f32[*]"}, {}};
}

class Become : public testing::TestWithParam<Subject> {};

TEST_P(Become, GivesWhatTheOpGives) { compare_all(GetParam(), "*Become.GivesWhatTheOpGives/"); }

const std::vector<Subject> kSubjects{{"quantize", quantize},
                                     {"dequantize", dequantize},
                                     {"dynamic_quantize", dynamic_quantize},
                                     {"dynamic_dequantize", dynamic_dequantize},
                                     {"quantize_linear", quantize_linear},
                                     {"dequantize_linear", dequantize_linear},
                                     {"dynamic_quantize_linear", dynamic_quantize_linear},
                                     {"plain_backward", plain_backward},
                                     {"flagged_backward", flagged_backward},
                                     {"gelu_backward", gelu_backward},
                                     {"parameter_backward", parameter_backward},
                                     {"sqrt_backward", sqrt_backward},
                                     {"prelu_backward", prelu_backward},
                                     {"bias_add_backward", bias_add_backward},
                                     {"rearranged", rearranged},
                                     {"joined", joined},
                                     {"cut", cut}};

std::string name_of(const testing::TestParamInfo<Subject>& subject) { return subject.param.name; }

INSTANTIATE_TEST_SUITE_P(Ops, Become, testing::ValuesIn(kSubjects), name_of);

}  // namespace
}  // namespace tenfold::graph

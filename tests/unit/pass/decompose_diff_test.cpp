// SPDX-License-Identifier: Apache-2.0
//
// Composite ops against their decompositions: the reference's own code for softmax and the norms, with its error
// bounds, and the reference run over the core ops that decompose() makes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/pass/composite_case.hpp"

namespace tenfold::graph {
namespace {

const std::vector<std::string> kOnednnTypes{"f32", "f32", "bf16", "f16"};
const std::vector<std::string> kOnnxTypes{"f32", "f64", "bf16", "f16"};

std::string axis_text(std::int64_t axis) { return "axis = " + std::to_string(axis); }
std::string epsilon_text(Draw& draw) { return "epsilon = " + draw.of<std::string>({"1e-05", "0.0625", "0.001"}); }
/// What goes beside data of `dtype` in oneDNN's norms.
std::string side_type(Draw& draw, const std::string& dtype) {
  return dtype == "bf16" && draw.one_in(2) ? "bf16" : "f32";
}

Case softmax(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string from = draw.of(kOnednnTypes);
  std::string to = draw.one_in(2) ? from : "f32";
  if (from == "f32" && draw.one_in(3)) to = "f16";
  const std::int64_t axis = draw_axis(draw, shape);
  Case c{{type(from, shape)}, "onednn.SoftMax", axis_text(axis), {to + "[*]"}, {}};
  if (draw.one_in(2)) c.attributes += ", mode = \"inf_as_zero\"";
  if (draw.one_in(2)) c.outputs.push_back("f32[*]");
  return c;
}

Case log_softmax(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string dtype = draw.of(kOnednnTypes);
  return {{type(dtype, shape)}, "onednn.LogSoftmax", axis_text(draw_axis(draw, shape)), {dtype + "[*]"}, {}};
}

Case softmax_backward(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string dtype = draw.of(kOnednnTypes);
  const std::string kind = draw.of<std::string>({"SoftMaxBackward", "LogSoftmaxBackward"});
  const std::string both = type(dtype, shape);
  return {{both, both}, "onednn." + kind, axis_text(draw_axis(draw, shape)), {dtype + "[*]"}, {}};
}

Case onnx_softmax(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const int version = draw.of<int>({1, 11, 13});
  const std::string dtype = version == 13 ? draw.of(kOnnxTypes) : draw.of<std::string>({"f32", "f64", "f16"});
  std::string kind = draw.of<std::string>({"Softmax", "LogSoftmax", "LpNormalization"});
  std::string attributes = axis_text(draw_axis(draw, shape));
  if (kind == "LpNormalization") attributes += draw.one_in(2) ? ", p = 1" : "";
  kind += kind == "LpNormalization" ? "@22" : "@" + std::to_string(version);
  return {{type(dtype, shape)}, "onnx." + kind, attributes, {dtype + "[*]"}, {}};
}

/// No empty rows: they have no extreme.
Case hardmax(Draw& draw) {
  Dims shape = draw_shape(draw, 1);
  for (std::int64_t& dim : shape) dim = std::max<std::int64_t>(dim, 1);
  const int version = draw.of<int>({1, 11, 13});
  const std::string dtype = version == 13 ? draw.of(kOnnxTypes) : draw.of<std::string>({"f32", "f64", "f16"});
  const std::string kind = "onnx.Hardmax@" + std::to_string(version);
  return {{type(dtype, shape)}, kind, axis_text(draw_axis(draw, shape)), {dtype + "[*]"}, {}};
}

Case layer_norm(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string dtype = draw.of(kOnednnTypes);
  const std::string side = side_type(draw, dtype);
  const std::int64_t axis = draw_axis(draw, shape);
  Case c{{type(dtype, shape)}, "onednn.LayerNorm", "begin_norm_axis = " + std::to_string(axis), {dtype + "[*]"}, {}};
  c.attributes += ", " + epsilon_text(draw);
  if (draw.one_in(3)) {
    c.attributes += ", use_affine = false";
  } else {
    const std::size_t from = wrap(axis, shape);
    c.inputs.resize(3, type(side, tail(shape, from + draw.below(shape.size() - from))));
  }
  if (draw.one_in(2))
    c.attributes += ", keep_stats = false";
  else
    c.outputs.resize(3, side + "[*]");
  return c;
}

Case onnx_layer_norm(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string dtype = draw.of(kOnnxTypes);
  const std::int64_t axis = draw_axis(draw, shape);
  const bool rms = draw.one_in(3);
  const std::string scale = type(rms ? draw.of(kOnnxTypes) : dtype, tail(shape, wrap(axis, shape)));
  const std::string op = rms ? "onnx.RMSNormalization" : "onnx.LayerNormalization";
  Case c{{type(dtype, shape), scale}, op, axis_text(axis) + ", " + epsilon_text(draw), {"undef[*]"}, {}};
  if (!rms && draw.one_in(2)) c.inputs.push_back(scale);
  if (!rms && draw.one_in(2)) c.outputs.resize(1 + draw.below(3), "f32[*]");
  return c;
}

Case rms_norm(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string dtype = draw.of(kOnednnTypes);
  const std::int64_t axis = draw_axis(draw, shape);
  Case c{{type(dtype, shape)}, "onednn.RMSNorm", "begin_norm_axis = " + std::to_string(axis), {dtype + "[*]"}, {}};
  if (draw.one_in(2)) c.inputs.push_back(type(side_type(draw, dtype), tail(shape, wrap(axis, shape))));
  return c;
}

Case group_norm(Draw& draw) {
  Dims shape = draw_shape(draw, 2);
  const bool onnx = draw.one_in(2);
  const bool last = !onnx && draw.one_in(2);
  const std::int64_t groups = static_cast<std::int64_t>(1 + draw.below(4));
  const std::int64_t channels = groups * static_cast<std::int64_t>(1 + draw.below(3));
  shape[last ? shape.size() - 1 : 1] = channels;
  const std::string dtype = onnx ? draw.of(kOnnxTypes) : draw.of(kOnednnTypes);
  const std::string epsilon = ", " + epsilon_text(draw);
  if (onnx) {
    const bool old = draw.one_in(2);
    const std::string scale = type(dtype, {old ? groups : channels});
    return {{type(dtype, shape), scale, scale},
            old ? "onnx.GroupNormalization@18" : "onnx.GroupNormalization@21",
            "num_groups = " + std::to_string(groups) + epsilon,
            {"undef[*]"},
            {}};
  }
  const std::string side = side_type(draw, dtype);
  Case c{{type(dtype, shape)}, "onednn.GroupNorm", "groups = " + std::to_string(groups) + epsilon, {dtype + "[*]"}, {}};
  if (!last) c.attributes += ", data_format = \"NCX\"";
  c.inputs.resize(3, type(side, {channels}));
  c.outputs.resize(3, side + "[*]");
  return c;
}

Case channel_norm(Draw& draw) {
  const Dims shape = draw_shape(draw, 2);
  if (draw.one_in(3)) {
    const std::string dtype = draw.of(kOnnxTypes);
    const std::string scale = type(dtype, {shape[1]});
    return {{type(dtype, shape), scale, scale}, "onnx.InstanceNormalization", epsilon_text(draw), {"undef[*]"}, {}};
  }
  const bool onnx = draw.one_in(2);
  const bool by_element = onnx && draw.one_in(3);
  const std::string dtype = by_element ? "f32" : onnx ? draw.of(kOnnxTypes) : draw.of(kOnednnTypes);
  const bool last = !onnx && draw.one_in(2);
  const Dims channels{last ? shape.back() : shape[1]};
  const std::string side = type(onnx ? dtype : side_type(draw, dtype), by_element ? tail(shape, 1) : channels);
  Case c{
      {type(dtype, shape), side, side, side, side}, "onnx.BatchNormalization", epsilon_text(draw), {"undef[*]"}, {4}};
  if (!onnx) c.op = "onednn.BatchNormInference";
  if (onnx && !by_element && draw.one_in(2)) {
    c.inputs[1] = c.inputs[2] = type(draw.of(kOnnxTypes), channels);
    c.inputs[3] = c.inputs[4] = type(draw.of(kOnnxTypes), channels);
  }
  if (!onnx && !last) c.attributes += ", data_format = \"NCX\"";
  if (by_element) {
    c.op += "@7";
    c.attributes += ", spatial = 0";
  }
  return c;
}

Case mean_variance(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string dtype = draw.of(kOnnxTypes);
  std::string axes;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i == 0 || draw.one_in(2)) axes += (axes.empty() ? "" : ", ") + std::to_string(i);
  return {{type(dtype, shape)}, "onnx.MeanVarianceNormalization", "axes = [" + axes + "]", {dtype + "[*]"}, {}};
}

Case layer_norm_backward(Draw& draw) {
  const Dims shape = draw_shape(draw, 1);
  const std::string dtype = draw.of(kOnednnTypes);
  const std::string side = side_type(draw, dtype);
  const std::int64_t axis = draw_axis(draw, shape);
  const std::size_t from = wrap(axis, shape);
  const std::string stats = type(side, head(shape, from));
  Case c{{type(dtype, shape), type(dtype, shape), stats, stats}, "onednn.LayerNormBackward", "", {dtype + "[*]"}, {3}};
  c.attributes = "begin_norm_axis = " + std::to_string(axis) + ", " + epsilon_text(draw);
  if (draw.one_in(3)) {
    c.attributes += ", use_affine = false";
    return c;
  }
  c.inputs.resize(6, type(side, tail(shape, from + draw.below(shape.size() - from))));
  c.outputs.resize(3, side + "[*]");
  return c;
}

Case batch_norm_training(Draw& draw) {
  const Dims shape = draw_shape(draw, 2);
  const std::string dtype = draw.of(kOnednnTypes);
  const bool last = draw.one_in(2), backward = draw.one_in(2);
  const std::string side = side_type(draw, dtype);
  const std::string channels = type(side, {last ? shape.back() : shape[1]});
  Case c{{type(dtype, shape)}, "onednn.BatchNormForwardTraining", epsilon_text(draw), {dtype + "[*]"}, {2}};
  if (!last) c.attributes += ", data_format = \"NCX\"";
  if (backward) {
    c.op = "onednn.BatchNormTrainingBackward";
    c.inputs.push_back(type(dtype, shape));
    c.inputs.resize(draw.one_in(3) ? 4 : 5, channels);
    c.outputs.resize(c.inputs.size() == 5 ? 3 : 1, side + "[*]");
    c.positive = {3};
    return c;
  }
  if (draw.one_in(2)) c.attributes += ", momentum = 0.25";
  c.inputs.resize(draw.of<std::size_t>({3, 5}), channels);
  c.outputs.resize(5, side + "[*]");
  return c;
}

class Decompose : public testing::TestWithParam<Subject> {};

TEST_P(Decompose, GivesWhatTheOpGives) { compare_all(GetParam(), "*GivesWhatTheOpGives/"); }

const std::vector<Subject> kSubjects{{"softmax", softmax},
                                     {"hardmax", hardmax},
                                     {"log_softmax", log_softmax},
                                     {"softmax_backward", softmax_backward},
                                     {"onnx_softmax", onnx_softmax},
                                     {"layer_norm", layer_norm},
                                     {"onnx_layer_norm", onnx_layer_norm},
                                     {"rms_norm", rms_norm},
                                     {"group_norm", group_norm},
                                     {"channel_norm", channel_norm},
                                     {"mean_variance", mean_variance},
                                     {"batch_norm_training", batch_norm_training},
                                     {"layer_norm_backward", layer_norm_backward}};

std::string name_of(const testing::TestParamInfo<Subject>& subject) { return subject.param.name; }

INSTANTIATE_TEST_SUITE_P(Ops, Decompose, testing::ValuesIn(kSubjects), name_of);

}  // namespace
}  // namespace tenfold::graph

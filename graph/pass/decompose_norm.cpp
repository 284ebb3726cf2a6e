// SPDX-License-Identifier: Apache-2.0
//
// Norms in core ops.
//
//   mean = reduce mean x, d = x - mean, variance = reduce mean (d * d), y = d / sqrt(variance + epsilon) * scale +
//   shift
//
// or, where the variance is given, y = d * (1 / sqrt(variance + epsilon)) * scale + shift.
//
// The variance is centred: E[x^2] - E[x]^2 cancels. The quotient comes before the scale, for it is at most sqrt(n)
// while a scale over the deviation may overflow. Groups are dims of their own for the time being.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/ir/attribute.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

constexpr int kSpatial = 9;  ///< the version from which BatchNormalization is by channel always
/// MeanVarianceNormalization's, an f32 constant of its function body.
constexpr double kMvnEpsilon = static_cast<double>(1e-9F);

bool has_input(const Op& op, std::size_t i) { return i < op.inputs.size() && op.inputs[i] != kNone; }

/// What a row of `axes` gives.
struct Centred {
  ValueId mean;
  ValueId rest;  ///< x - mean
  ValueId variance;
};

Centred centre(Composer& make, ValueId x, const std::vector<std::int64_t>& axes) {
  Centred facts{};
  facts.mean = make.reduce("mean", x, axes);
  facts.rest = make.map("sub", {x, facts.mean});
  facts.variance = make.reduce("mean", make.map("square", {facts.rest}), axes);
  return facts;
}

ValueId deviation(Composer& make, ValueId variance, double epsilon) {
  return make.map("sqrt", {make.map("add", variance, epsilon)});
}

/// Of a variance that is given: elements are multiplied by it. (A kernel that makes the variance itself divides by its
/// root as cheaply, and does.)
ValueId inverse_deviation(Composer& make, ValueId variance, double epsilon) {
  return make.map("reciprocal", {deviation(make, variance, epsilon)});
}

/// The source in the dtype that its maths is done in: its own, at least f32, or f64 where ONNX's attribute asks for it.
ValueId source_of(Composer& make, const Op& op) {
  constexpr std::int64_t kDouble = 11;
  const ValueId x = make.widen(op.inputs[0]);
  return attribute_or<std::int64_t>(op, "stash_type", 1) == kDouble ? make.cast(x, DType::f64) : x;
}

/// What meets an operand of f64 is of f64 from there on.
ValueId as_wide_as(Composer& make, ValueId operand, ValueId x) {
  return make.dtype(operand) == DType::f64 ? make.cast(x, DType::f64) : x;
}

ValueId side(Composer& make, ValueId operand, ValueId x) { return make.cast(operand, make.dtype(x)); }

bool is_affine(const Op& op) {
  return op.dialect == Dialect::onnx || op.kind == "RMSNorm" || attribute_or<bool>(op, "use_affine", true);
}

/// `y` times and plus operands 1 and 2, as they broadcast.
ValueId affine(Composer& make, const Op& op, ValueId y) {
  if (!is_affine(op)) return y;
  if (has_input(op, 1)) {
    y = as_wide_as(make, op.inputs[1], y);
    y = make.map("mul", {y, side(make, op.inputs[1], y)});
  }
  if (has_input(op, 2)) y = make.map("add", {y, side(make, op.inputs[2], y)});
  return y;
}

std::vector<std::int64_t> all_but(std::size_t dim, std::size_t rank) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < rank; ++i)
    if (i != dim) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

}  // namespace

bool decompose_layer_norm(Composer& make, const Op& op) {
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, make.shape(op.inputs[0]).size());
  if (!axes.ok()) return false;
  if (op.outputs.size() > 1 && !Composer::is_expressible(make.shape(op.outputs[1]))) return false;
  const ValueId x = source_of(make, op);
  const Centred facts = centre(make, x, axes.value());
  const ValueId divisor = deviation(make, facts.variance, f32_attribute(op, "epsilon"));
  make.give(0, affine(make, op, make.map("div", {facts.rest, divisor})));
  const bool onnx = op.dialect == Dialect::onnx;
  if (op.outputs.size() > 1) make.give(1, make.reshape(facts.mean, make.shape(op.outputs[1])));
  if (op.outputs.size() > 2) {
    const ValueId second = onnx ? make.map("reciprocal", {divisor}) : facts.variance;
    make.give(2, make.reshape(second, make.shape(op.outputs[2])));
  }
  return true;
}

bool decompose_rms_norm(Composer& make, const Op& op) {
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, make.shape(op.inputs[0]).size());
  if (!axes.ok()) return false;
  const ValueId x = source_of(make, op);
  const ValueId mean_square = make.reduce("mean", make.map("square", {x}), axes.value());
  const ValueId divisor = deviation(make, mean_square, f32_attribute(op, "epsilon"));
  make.give(0, affine(make, op, make.map("div", {x, divisor})));
  return true;
}

bool decompose_group_norm(Composer& make, const Op& op) {
  const Dims shape = make.shape(op.inputs[0]);
  const std::size_t channel = channel_dim(op, shape.size());
  const std::int64_t groups = integer_attribute(op, op.dialect == Dialect::onnx ? "num_groups" : "groups");
  // A reshape has one open dim, and the groups' channels must be known to be split.
  if (!is_known(shape)) return false;
  const auto at = static_cast<std::ptrdiff_t>(channel);
  Dims split = shape;
  split[channel] = groups;
  split.insert(split.begin() + at + 1, shape[channel] / groups);
  if (!Composer::is_expressible(split)) return false;
  std::vector<std::int64_t> axes;
  for (std::size_t i = 1; i < split.size(); ++i)
    if (i != channel) axes.push_back(static_cast<std::int64_t>(i));

  const ValueId x = make.reshape(source_of(make, op), split);
  const Centred facts = centre(make, x, axes);
  ValueId y = make.map("div", {facts.rest, deviation(make, facts.variance, f32_attribute(op, "epsilon"))});
  const auto along = [&](ValueId operand) {
    // ONNX's versions before 21 have a scale by group or by channel.
    const bool by_channel = make.shape(operand) == Dims{shape[channel]};
    Dims dims(split.size() - channel, 1);
    dims[0] = groups;
    if (by_channel) dims[1] = split[channel + 1];
    return make.reshape(side(make, operand, x), dims);
  };
  if (is_affine(op) && has_input(op, 1)) y = make.map("mul", {y, along(op.inputs[1])});
  if (is_affine(op) && has_input(op, 2)) y = make.map("add", {y, along(op.inputs[2])});
  make.give(0, make.reshape(y, shape));
  if (op.outputs.size() > 1) make.give(1, make.reshape(facts.mean, make.shape(op.outputs[1])));
  if (op.outputs.size() > 2) make.give(2, make.reshape(facts.variance, make.shape(op.outputs[2])));
  return true;
}

bool decompose_instance_norm(Composer& make, const Op& op) {
  const std::size_t rank = make.shape(op.inputs[0]).size();
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, rank);
  if (!axes.ok()) return false;
  const ValueId x = make.widen(op.inputs[0]);
  const Centred facts = centre(make, x, axes.value());
  ValueId y = make.map("div", {facts.rest, deviation(make, facts.variance, f32_attribute(op, "epsilon"))});
  y = make.map("mul", {y, make.along(side(make, op.inputs[1], x), 1, rank)});
  make.give(0, make.map("add", {y, make.along(side(make, op.inputs[2], x), 1, rank)}));
  return true;
}

bool decompose_batch_norm(Composer& make, const Op& op) {
  const std::size_t rank = make.shape(op.inputs[0]).size();
  const bool by_element = op.dialect == Dialect::onnx && version_of(op)->since_version < kSpatial &&
                          attribute_or<std::int64_t>(op, "spatial", 1) == 0;
  ValueId x = make.widen(op.inputs[0]);
  for (std::size_t i = 1; i < op.inputs.size(); ++i) x = as_wide_as(make, op.inputs[i], x);
  const auto operand = [&](std::size_t i) {
    const ValueId value = side(make, op.inputs[i], x);
    return rank < 2 || by_element ? value : make.along(value, channel_dim(op, rank), rank);
  };
  const ValueId inverse = inverse_deviation(make, operand(4), f32_attribute(op, "epsilon"));
  const ValueId rest = make.map("sub", {x, operand(3)});
  const ValueId scaled = make.map("mul", {make.map("mul", {rest, inverse}), operand(1)});
  make.give(0, make.map("add", {scaled, operand(2)}));
  return true;
}

bool decompose_batch_norm_training(Composer& make, const Op& op) {
  constexpr double kMomentum = 0.5;  // what oneDNN takes where none is given
  const std::size_t rank = make.shape(op.inputs[0]).size();
  if (rank < 2) return false;
  const std::size_t channel = channel_dim(op, rank);
  const ValueId x = make.widen(op.inputs[0]);
  const auto operand = [&](std::size_t i) { return make.along(side(make, op.inputs[i], x), channel, rank); };
  const Centred facts = centre(make, x, all_but(channel, rank));
  ValueId y = make.map("div", {facts.rest, deviation(make, facts.variance, f32_attribute(op, "epsilon"))});
  if (has_input(op, 3)) y = make.map("mul", {y, operand(3)});
  if (has_input(op, 4)) y = make.map("add", {y, operand(4)});
  make.give(0, y);
  const double momentum = find_attribute(op, "momentum") == nullptr ? kMomentum : f32_attribute(op, "momentum");
  for (const auto& [now, old, next, batch] : {std::tuple{facts.mean, std::size_t{1}, std::size_t{1}, std::size_t{3}},
                                              {facts.variance, std::size_t{2}, std::size_t{2}, std::size_t{4}}}) {
    const ValueId flat = make.reshape(now, make.shape(op.inputs[old]));
    if (next < op.outputs.size())
      make.give(next, make.map("add", {make.map("mul", side(make, op.inputs[old], x), momentum),
                                       make.map("mul", flat, 1 - momentum)}));
    if (batch < op.outputs.size()) make.give(batch, flat);
  }
  return true;
}

bool decompose_batch_norm_backward(Composer& make, const Op& op) {
  const std::size_t rank = make.shape(op.inputs[0]).size();
  if (rank < 2) return false;
  const std::size_t channel = channel_dim(op, rank);
  const std::vector<std::int64_t> axes = all_but(channel, rank);
  const ValueId x = make.widen(op.inputs[0]);
  const ValueId gradient = make.widen(op.inputs[1]);
  const auto operand = [&](std::size_t i) { return make.along(side(make, op.inputs[i], x), channel, rank); };
  const ValueId inverse = inverse_deviation(make, operand(3), f32_attribute(op, "epsilon"));
  const ValueId normal = make.map("mul", {make.map("sub", {x, operand(2)}), inverse});
  const ValueId products = make.map("mul", {gradient, normal});
  const ValueId rest = make.map("sub", {make.map("sub", {gradient, make.reduce("mean", gradient, axes)}),
                                        make.map("mul", {normal, make.reduce("mean", products, axes)})});
  const ValueId factor = has_input(op, 4) ? make.map("mul", {operand(4), inverse}) : inverse;
  make.give(0, make.map("mul", {rest, factor}));
  const auto sum = [&](ValueId terms) {
    return make.reshape(make.reduce("sum", terms, axes), make.shape(op.inputs[3]));
  };
  if (op.outputs.size() > 1 && op.outputs[1] != kNone) make.give(1, sum(products));
  if (op.outputs.size() > 2) make.give(2, sum(gradient));
  return true;
}

bool decompose_mean_variance_norm(Composer& make, const Op& op) {
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, make.shape(op.inputs[0]).size());
  if (!axes.ok() || axes.value().empty()) return false;
  const Centred facts = centre(make, make.widen(op.inputs[0]), axes.value());
  const ValueId divisor = make.map("add", make.map("sqrt", {facts.variance}), kMvnEpsilon);
  make.give(0, make.map("div", {facts.rest, divisor}));
  return true;
}

bool decompose_lp_norm(Composer& make, const Op& op) {
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, make.shape(op.inputs[0]).size());
  if (!axes.ok()) return false;
  const ValueId x = make.widen(op.inputs[0]);
  const ValueId norm = make.reduce(integer_attribute(op, "p") == 1 ? "l1" : "l2", x, axes.value());
  const ValueId zero = make.compare("equal", {norm, make.constant(0, make.dtype(x))});
  const ValueId divisor = make.select(zero, make.constant(1, make.dtype(x)), norm);
  make.give(0, make.map("div", {x, divisor}));
  return true;
}

bool decompose_layer_norm_backward(Composer& make, const Op& op) {
  const Dims shape = make.shape(op.inputs[0]);
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, shape.size());
  if (!axes.ok()) return false;
  const ValueId x = make.widen(op.inputs[0]);
  const ValueId gradient = make.widen(op.inputs[1]);
  Dims stats = reduced_shape(shape, axes.value(), true);
  if (!Composer::is_expressible(stats)) return false;
  const ValueId mean = make.reshape(side(make, op.inputs[2], x), stats);
  const ValueId variance = make.reshape(side(make, op.inputs[3], x), stats);
  const ValueId inverse = inverse_deviation(make, variance, f32_attribute(op, "epsilon"));
  const ValueId normal = make.map("mul", {make.map("sub", {x, mean}), inverse});
  const bool scales = is_affine(op) && has_input(op, 4);
  const ValueId scaled = scales ? make.map("mul", {gradient, side(make, op.inputs[4], x)}) : gradient;
  const ValueId along = make.reduce("mean", make.map("mul", {scaled, normal}), axes.value());
  const ValueId common = make.reduce("mean", scaled, axes.value());
  const ValueId rest = make.map("sub", {make.map("sub", {scaled, common}), make.map("mul", {normal, along})});
  make.give(0, make.map("mul", {rest, inverse}));
  if (op.outputs.size() < 2) return true;

  const std::size_t scale_rank = make.shape(op.inputs[4]).size();
  std::vector<std::int64_t> others(shape.size() - scale_rank);
  std::iota(others.begin(), others.end(), std::int64_t{0});
  const auto sum = [&](ValueId terms) {
    return make.reshape(make.reduce("sum", terms, others), make.shape(op.inputs[4]));
  };
  make.give(1, sum(make.map("mul", {gradient, normal})));
  if (op.outputs.size() > 2) make.give(2, sum(gradient));
  return true;
}

}  // namespace tenfold::graph

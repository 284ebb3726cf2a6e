// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's backward ops of elementwise ops in core ops. The forms are those that do not cancel: 1 - tanh(x)^2 is
// 4 s(2x) s(-2x), s being the logistic function. Where a factor would be infinite times 0, x is limited first to where
// the result has long been constant in f32.
#include <cstddef>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/attribute.hpp"
#include "graph/ir/data_format.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

constexpr double kGeluLimit = 16, kLeastQuotient = 0x1p-64;
constexpr double kMishLimit = 128;
constexpr double kTanhCubic = 0.044715;

/// Short names for what the formulas are made of.
struct Maths {
  Composer& make;

  ValueId mul(ValueId a, ValueId b) const { return make.map("mul", {a, b}); }
  ValueId mul(ValueId a, double b) const { return make.map("mul", a, b); }
  ValueId add(ValueId a, ValueId b) const { return make.map("add", {a, b}); }
  ValueId add(ValueId a, double b) const { return make.map("add", a, b); }
  ValueId of(std::string_view function, ValueId x) const { return make.map(function, {x}); }
  ValueId limited(ValueId x, double limit) const { return make.map("clamp", {x}, {{"min", -limit}, {"max", limit}}); }
  ValueId number(double value) const { return make.constant(value, DType::f32); }
  ValueId is(std::string_view function, ValueId x, double bound) const {
    return make.compare(function, {x, number(bound)});
  }
  /// `yes` where x > bound, else `no`.
  ValueId above(ValueId x, double bound, ValueId yes, ValueId no) const {
    return make.select(is("greater", x, bound), yes, no);
  }
  ValueId below(ValueId x, double bound, ValueId yes, ValueId no) const {
    return make.select(is("less", x, bound), yes, no);
  }
};

ValueId abs_gradient(const Maths& m, const Op&, ValueId x, ValueId d) {
  return m.above(x, 0, d, m.below(x, 0, m.of("neg", d), m.number(0)));
}

ValueId relu_gradient(const Maths& m, const Op&, ValueId x, ValueId d) {
  const ValueId zero = m.number(0);
  return m.above(x, 0, d, zero);
}

ValueId clamp_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  const ValueId zero = m.number(0);
  return m.above(x, f32_attribute(op, "min"), m.below(x, f32_attribute(op, "max"), d, zero), zero);
}

ValueId elu_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  const double alpha = f32_attribute(op, "alpha");
  const bool by_dst = attribute_or<bool>(op, "use_dst", true);
  const ValueId slope = by_dst ? m.add(x, alpha) : m.mul(m.of("exp", x), alpha);
  return m.above(x, 0, d, m.mul(d, slope));
}

/// P(x) + x p(x), P and p being the normal distribution's. P is GELU(x) / x, as 1 + erf cancels where x is negative;
/// where x is so small that GELU of it may be subnormal, P is 1/2.
ValueId gelu_erf_slope(const Maths& m, ValueId wide) {
  const ValueId x = m.limited(wide, kGeluLimit);
  const ValueId quotient = m.make.map("div", {m.of("gelu_erf", x), x});
  const ValueId share = m.above(m.of("abs", x), kLeastQuotient, quotient, m.number(0.5));
  const ValueId bell = m.of("exp", m.mul(m.of("square", x), -0.5));
  return m.add(share, m.mul(x, m.mul(bell, std::numbers::inv_sqrtpi / std::numbers::sqrt2)));
}

/// With v = 2 sqrt(2 / pi) (x + 0.044715 x^3): s(v) (1 + x s(-v) v').
ValueId gelu_tanh_slope(const Maths& m, ValueId wide) {
  const double factor = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const ValueId x = m.limited(wide, kGeluLimit);
  const ValueId square = m.of("square", x);
  const ValueId v = m.mul(m.mul(x, m.add(m.mul(square, kTanhCubic), 1.0)), factor);
  const ValueId slope = m.mul(m.add(m.mul(square, 3 * kTanhCubic), 1.0), factor);
  const ValueId rest = m.mul(m.mul(x, m.of("sigmoid", m.of("neg", v))), slope);
  return m.mul(m.of("sigmoid", v), m.add(rest, 1.0));
}

ValueId gelu_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  const bool by_tanh = attribute_or<std::string>(op, "mode", "gelu_erf") == "gelu_tanh";
  return m.mul(d, by_tanh ? gelu_tanh_slope(m, x) : gelu_erf_slope(m, x));
}

ValueId hard_sigmoid_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  const double alpha = f32_attribute(op, "alpha");
  const ValueId line = m.add(m.mul(x, alpha), f32_attribute(op, "beta"));
  const ValueId zero = m.number(0);
  return m.above(line, 0, m.below(line, 1, m.mul(d, alpha), zero), zero);
}

ValueId hard_swish_gradient(const Maths& m, const Op&, ValueId x, ValueId d) {
  const ValueId slope = m.make.map("div", m.add(m.mul(x, 2.0), 3.0), 6.0);
  return m.above(x, -3, m.below(x, 3, m.mul(d, slope), d), m.number(0));
}

/// With t = tanh(softplus(x)) and n = s(-x): t + x s(x) 4 n^2 / (1 + n^2)^2, the last factor being 1 - t^2.
ValueId mish_gradient(const Maths& m, const Op&, ValueId wide, ValueId d) {
  const ValueId x = m.limited(wide, kMishLimit);
  const ValueId square = m.of("square", m.of("sigmoid", m.of("neg", x)));
  const ValueId falls = m.make.map("div", {m.mul(square, 4.0), m.of("square", m.add(square, 1.0))});
  const ValueId t = m.of("tanh", m.make.map("softplus", {x}, {{"beta", 1.0}}));
  return m.mul(d, m.add(m.mul(m.mul(x, m.of("sigmoid", x)), falls), t));
}

ValueId sigmoid_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  if (attribute_or<bool>(op, "use_dst", true)) return m.mul(d, m.mul(x, m.make.map("sub", 1.0, x)));
  return m.mul(d, m.mul(m.of("sigmoid", x), m.of("sigmoid", m.of("neg", x))));
}

ValueId softplus_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  return m.mul(d, m.of("sigmoid", m.mul(x, f32_attribute(op, "beta"))));
}

ValueId sqrt_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  const bool by_dst = attribute_or<bool>(op, "use_dst", true);
  return m.make.map("div", {d, m.mul(by_dst ? x : m.of("sqrt", x), 2.0)});
}

ValueId tanh_gradient(const Maths& m, const Op& op, ValueId x, ValueId d) {
  if (attribute_or<bool>(op, "use_dst", true)) return m.mul(d, m.mul(m.make.map("sub", 1.0, x), m.add(x, 1.0)));
  const ValueId twice = m.mul(x, 2.0);
  const ValueId up = m.of("sigmoid", twice);
  const ValueId down = m.of("sigmoid", m.of("neg", twice));
  return m.mul(d, m.mul(m.mul(up, down), 4.0));
}

struct Row {
  std::string_view kind;
  ValueId (*gradient)(const Maths& m, const Op& op, ValueId x, ValueId d);
};
constexpr Row kRows[] = {
    {"AbsBackward", abs_gradient},
    {"ClampBackward", clamp_gradient},
    {"EluBackward", elu_gradient},
    {"GELUBackward", gelu_gradient},
    {"HardSigmoidBackward", hard_sigmoid_gradient},
    {"HardSwishBackward", hard_swish_gradient},
    {"MishBackward", mish_gradient},
    {"ReLUBackward", relu_gradient},
    {"SigmoidBackward", sigmoid_gradient},
    {"SoftPlusBackward", softplus_gradient},
    {"SqrtBackward", sqrt_gradient},
    {"TanhBackward", tanh_gradient},
};

}  // namespace

bool decompose_backward(Composer& make, const Op& op) {
  for (const Row& row : kRows) {
    if (row.kind != op.kind) continue;
    const ValueId x = make.widen(op.inputs[0]);
    const ValueId d = make.widen(op.inputs[1]);
    make.give(0, row.gradient({make}, op, x, d));
    return true;
  }
  return false;
}

bool decompose_prelu_backward(Composer& make, const Op& op) {
  const Maths m{make};
  const ValueId x = make.widen(op.inputs[0]);
  const ValueId d = make.widen(op.inputs[2]);
  ValueId slope = make.widen(op.inputs[1]);
  const Dims shape = make.shape(slope);
  const std::size_t rank = make.shape(x).size();
  if (rank == 0) {
    slope = make.reshape(slope, {});
  } else if (shape.size() == 1 && shape[0] != 1) {
    if (shape[0] == kUnknownDim || !has_channels(op, rank)) return false;
    slope = make.along(slope, channel_dim(op, rank), rank);
  }
  make.give(0, m.above(x, 0, d, m.mul(d, slope)));
  const Dims laid = make.shape(slope);
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t skip = rank - laid.size();
    if (i >= skip && laid[i - skip] == kUnknownDim) return false;
    if (i < skip || laid[i - skip] == 1) axes.push_back(static_cast<std::int64_t>(i));
  }
  const ValueId zero = m.number(0);
  const ValueId part = m.above(x, 0, zero, m.mul(d, x));
  make.give(1, make.reshape(make.reduce("sum", part, axes), shape));
  return true;
}

bool decompose_bias_add_backward(Composer& make, const Op& op) {
  const Dims shape = make.shape(op.inputs[0]);
  if (!has_channels(op, shape.size())) return false;
  const std::size_t channels = channel_dim(op, shape.size());
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i != channels) axes.push_back(static_cast<std::int64_t>(i));
  make.give(0, make.add("reduce", {op.inputs[0]}, {{"reduction", "sum"}, {"keep_dims", false}, {"axes", axes}},
                        make.dtype(op.inputs[0]), {shape[channels]}));
  return true;
}

}  // namespace tenfold::graph

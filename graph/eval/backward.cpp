// SPDX-License-Identifier: Apache-2.0
//
// The walks over operands of the elementwise backward ops. What documents leave open: at the ends of Clamp, HardSigmoid
// and HardSwish and at 0 the gradient is that of the flat side, and a NaN that is compared is on it too.
#include "graph/eval/backward.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "graph/eval/gradient.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

using Number = Doubt<false>;

/// One element of an input as either type of number.
Real read(Inputs inputs, std::span<const Bounds>, std::size_t k, std::int64_t at, std::int64_t, Real) {
  return load_exact(inputs[k].desc.dtype, inputs[k].data, at);
}
Number read(Inputs inputs, std::span<const Bounds> bounds, std::size_t k, std::int64_t at, std::int64_t position,
            Number) {
  const Real value = load_exact(inputs[k].desc.dtype, inputs[k].data, at);
  return {value, stored_bound(bounds[k], position, inputs[k].desc.dtype, static_cast<double>(value))};
}

template <class T, class Store>
void for_each_gradient(const Op& op, Inputs inputs, std::span<const Bounds> bounds, const Dims& output, Store store) {
  const GradientFacts facts(op);
  std::int64_t position = 0;
  const std::array<Dims, 3> strides{strides_of(inputs[0].desc), strides_of(inputs[1].desc), output};
  walk(inputs[0].desc.shape, strides, [&](const auto& at) {
    const T x = read(inputs, bounds, 0, at[0], position, T());
    const T d = read(inputs, bounds, 1, at[1], position, T());
    store(at[2], gradient(facts, x, d));
    ++position;
  });
}

/// Where the elements of a slope or bias lie over the data, as strides of it in row-major order; 0 where it is
/// repeated.
Dims side_strides(const Op& op, const Dims& data, const Dims& side) {
  Dims strides(data.size(), 0);
  if (op.kind == "BiasAddBackward" || (side.size() == 1 && side[0] != 1)) {
    strides[channel_dim(op, data.size())] = 1;
    return strides;
  }
  if (side.size() > data.size()) return strides;  // one element, beside a number
  const Dims own = row_major_strides(side);
  for (std::size_t i = 0; i < side.size(); ++i) strides[data.size() - side.size() + i] = side[i] == 1 ? 0 : own[i];
  return strides;
}

/// A sum that keeps what its bound needs.
struct Sum {
  Real value = 0;
  double magnitudes = 0, errors = 0, terms = 0;  ///< magnitudes are those of the finite terms

  void add(Real x) { value += x; }
  void add(Number x) {
    value += x.value;
    ++terms;
    if (std::isfinite(x.value)) magnitudes += static_cast<double>(std::fabs(x.value));
    errors += x.error;
  }
  double bound() const {
    // First, as what overflows may meet an infinity of the other sign.
    if (magnitudes + errors >= Number::kMost) return std::numeric_limits<double>::infinity();
    if (!std::isfinite(value)) return 0;
    const double own = Number::terms(static_cast<std::size_t>(terms)) * Number::kUnit * (magnitudes + errors);
    return own + errors == 0 ? 0 : Number::rounded(value, own + errors).error;
  }
};

Dims output_shape_of(const Op& op, Inputs inputs) {
  if (op.kind == "PReLUBackward") return inputs[1].desc.shape;
  const Dims& data = inputs[0].desc.shape;
  return {data[channel_dim(op, data.size())]};
}

/// Sums of what each element adds to the gradient of the slope or bias; `store` takes diff_src of PReLU.
template <class T, class Store>
std::vector<Sum> for_each_sum(const Op& op, Inputs inputs, std::span<const Bounds> bounds, const Dims& output,
                              Store store) {
  const bool prelu = op.kind == "PReLUBackward";
  const Dims& data = inputs[0].desc.shape;
  const Dims side = output_shape_of(op, inputs);
  const Result<std::int64_t> count = numel(side);
  // A sum of zeros is +0, but of no axes the element itself.
  const Dims places = side_strides(op, data, side);
  const bool sums_up = std::find(places.begin(), places.end(), 0) != places.end();
  Sum start;
  start.value = sums_up ? Real{0} : -Real{0};
  std::vector<Sum> sums(count.ok() ? static_cast<std::size_t>(count.value()) : 0, start);
  std::vector<std::int64_t> slope_places;
  if (prelu)
    walk(side, std::array<Dims, 1>{strides_of(inputs[1].desc)}, [&](const auto& at) { slope_places.push_back(at[0]); });
  std::int64_t position = 0;
  const std::size_t gradient_input = inputs.size() - 1;
  const std::array<Dims, 4> strides{strides_of(inputs[0].desc), strides_of(inputs[gradient_input].desc), places,
                                    output};
  walk(data, strides, [&](const auto& at) {
    const T d = read(inputs, bounds, gradient_input, at[1], position, T());
    const auto index = static_cast<std::size_t>(at[2]);
    if (prelu) {
      const T x = read(inputs, bounds, 0, at[0], position, T());
      const T slope = read(inputs, bounds, 1, slope_places[index], at[2], T());
      store(at[3], pick(x, 0, d, d * slope));
      sums[index].add(pick(x, 0, T(Real{0}), d * x));
    } else {
      sums[index].add(d);
    }
    ++position;
  });
  return sums;
}

}  // namespace

Result<std::vector<Dims>> backward_shapes(const Op& op, Inputs inputs) {
  if (inputs.size() != 2) return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 2");
  if (inputs[0].desc.shape != inputs[1].desc.shape)
    return fail(op, Code::invalid_shape, "its two inputs are not of the same shape (shape.E9)");
  return std::vector<Dims>{inputs[0].desc.shape};
}

Status evaluate_backward(const Op& op, Inputs inputs, Outputs outputs) {
  const DType to = outputs[0].desc.dtype;
  for_each_gradient<Real>(op, inputs, {}, strides_of(outputs[0].desc),
                          [&](std::int64_t at, Real gradient) { store_rounded(to, outputs[0].data, at, gradient); });
  return {};
}

Result<std::vector<Bounds>> bound_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                           Outputs outputs) {
  Bounds bounds;
  for_each_gradient<Number>(op, inputs, input_bounds, strides_of(outputs[0].desc),
                            [&](std::int64_t, Number gradient) { bounds.push_back(gradient.error); });
  return std::vector<Bounds>{std::move(bounds)};
}

Result<std::vector<Dims>> summing_backward_shapes(const Op& op, Inputs inputs) {
  const bool prelu = op.kind == "PReLUBackward";
  if (inputs.size() != (prelu ? 3U : 1U))
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not " + (prelu ? "3" : "1"));
  const Dims& data = inputs[0].desc.shape;
  if (!prelu) {
    if (!has_channels(op, data.size())) return fail(op, Code::invalid_shape, "diff_dst has no channels (shape.E5)");
    return std::vector<Dims>{output_shape_of(op, inputs)};
  }
  const Dims& slope = inputs[1].desc.shape;
  bool fits = data == inputs[2].desc.shape && (slope.size() <= data.size() || slope == Dims{1});
  if (fits && slope.size() == 1 && slope[0] != 1) {
    fits = has_channels(op, data.size()) && slope[0] == data[channel_dim(op, data.size())];
  } else {
    for (std::size_t i = 0; fits && i < slope.size(); ++i)
      fits = slope[i] == 1 || slope[i] == data[data.size() - slope.size() + i];
  }
  if (!fits) return fail(op, Code::invalid_shape, "its inputs do not fit together (shape.E6, shape.E9)");
  return std::vector<Dims>{data, slope};
}

Status evaluate_summing_backward(const Op& op, Inputs inputs, Outputs outputs) {
  const MutableTensor& last = outputs.back();
  const DType to = outputs[0].desc.dtype;
  const bool prelu = op.kind == "PReLUBackward";
  const std::vector<Sum> sums =
      for_each_sum<Real>(op, inputs, {}, prelu ? strides_of(outputs[0].desc) : Dims(inputs[0].desc.shape.size(), 0),
                         [&](std::int64_t at, Real gradient) { store_rounded(to, outputs[0].data, at, gradient); });
  if (prelu && outputs.size() < 2) return {};
  std::size_t i = 0;
  walk(last.desc.shape, std::array<Dims, 1>{strides_of(last.desc)},
       [&](const auto& at) { store_rounded(last.desc.dtype, last.data, at[0], sums[i++].value); });
  return {};
}

Result<std::vector<Bounds>> bound_summing_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                                   Outputs outputs) {
  std::vector<Bounds> bounds(outputs.size());
  const std::vector<Sum> sums =
      for_each_sum<Number>(op, inputs, input_bounds, Dims(inputs[0].desc.shape.size(), 0),
                           [&](std::int64_t, Number gradient) { bounds[0].push_back(gradient.error); });
  if (op.kind == "PReLUBackward" && outputs.size() < 2) return bounds;
  for (const Sum& sum : sums) bounds.back().push_back(sum.bound());
  return bounds;
}

}  // namespace tenfold::graph

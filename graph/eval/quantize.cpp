// SPDX-License-Identifier: Apache-2.0
//
// oneDNN rounds src / scale + zero point, ONNX rounds x / scale and adds the zero point then; both halves to even. What
// lies outside of the type becomes its nearest end, and NaN becomes 0. Back, both give (x - zero point) * scale.
#include "graph/eval/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "graph/eval/doubt.hpp"
#include "graph/eval/formulas.hpp"
#include "graph/eval/movement.hpp"
#include "graph/eval/narrow.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

using Number = Doubt<false>;

bool goes_back(const Op& op) {
  return op.kind == "Dequantize" || op.kind == "DynamicDequantize" || op.kind == "DequantizeLinear";
}

/// Scales and zero points as lists in row-major order, and which of them an element has.
struct Scales {
  Dims shape;   ///< of the input
  Dims counts;  ///< how many there are along each dim
  Dims groups;  ///< and for how many elements each is
  std::vector<float> scales;
  std::vector<float> zeros;  ///< empty: all are 0

  std::size_t index(std::int64_t position) const {
    if (scales.size() == 1) return 0;
    std::int64_t index = 0, step = 1;
    for (std::size_t i = shape.size(); i-- > 0; position /= shape[i]) {
      index += position % shape[i] / groups[i] * step;
      step *= counts[i];
    }
    return static_cast<std::size_t>(index);
  }
  float zero(std::size_t i) const { return zeros.empty() ? 0 : zeros[i]; }
};

std::vector<float> read_all(const ConstTensor& tensor) {
  std::vector<float> out;
  walk(tensor.desc.shape, std::array<Dims, 1>{strides_of(tensor.desc)},
       [&](const auto& at) { out.push_back(static_cast<float>(load_real(tensor.desc.dtype, tensor.data, at[0]))); });
  return out;
}

void read_lists(const Op& op, Inputs inputs, Scales& out) {
  if (has_input(inputs, 1)) {
    out.scales = read_all(inputs[1]);
    if (has_input(inputs, 2)) out.zeros = read_all(inputs[2]);
    return;
  }
  for (const double scale : attribute_or<std::vector<double>>(op, "scales", {}))
    out.scales.push_back(static_cast<float>(scale));
  for (const std::int64_t zero : integers(op, "zps")) out.zeros.push_back(static_cast<float>(zero));
}

/// One along the axis, as long as it is; by blocks, or groups, as many as they part it into.
Status lay_out(const Op& op, Scales& out) {
  const std::string type = attribute_or<std::string>(op, "qtype", "per_tensor");
  const std::int64_t block = attribute_or<std::int64_t>(op, "block_size", 0);
  out.groups = out.shape;
  if (type == "per_group") {
    out.groups = integers(op, "group_shape");
  } else if (type == "per_channel" || block > 0 || (op.dialect == Dialect::onnx && out.scales.size() != 1)) {
    const Result<std::size_t> axis = read_axis(op, attribute_or<std::int64_t>(op, "axis", 1), out.shape.size());
    if (!axis.ok()) return axis.status();
    if (block > 0) out.groups.assign(out.shape.size(), 1);
    out.groups[axis.value()] = std::max(block, std::int64_t{1});
  }
  if (std::find(out.shape.begin(), out.shape.end(), 0) != out.shape.end()) return {};
  bool fits = out.groups.size() == out.shape.size();
  std::int64_t wanted = 1;
  for (std::size_t i = 0; fits && i < out.groups.size(); ++i) {
    fits = out.groups[i] > 0;
    out.counts.push_back(fits ? (out.shape[i] - 1) / out.groups[i] + 1 : 1);
    wanted *= out.counts[i];
  }
  fits = fits && static_cast<std::int64_t>(out.scales.size()) == wanted;
  if (fits && (out.zeros.empty() || out.zeros.size() == out.scales.size())) return {};
  return fail(op, Code::invalid_shape,
              std::to_string(out.scales.size()) + " scales and " + std::to_string(out.zeros.size()) +
                  " zero points do not part its input (quant.Q1 to quant.Q3)");
}

Result<Scales> read_scales(const Op& op, Inputs inputs) {
  Scales out;
  out.shape = inputs[0].desc.shape;
  read_lists(op, inputs, out);
  if (Status s = lay_out(op, out); !s.ok()) return s;
  return out;
}

/// `number`, of an integral dtype's range in f32, as that dtype. f8 keeps a NaN, and saturates too unless it is told
/// not to; integers always do.
void store_clamped(DType dtype, void* data, std::int64_t at, float number, bool f8_saturates = true) {
  if (is_narrow(dtype)) {
    const auto most = static_cast<double>(largest_narrow(dtype));
    const bool clamps = is_floating(dtype) && f8_saturates;
    const double finite = clamps ? clamp(static_cast<double>(number), -most, most) : double{number};
    return store_narrow(dtype, data, at, Real{finite});
  }
  const auto low = static_cast<double>(lowest_integer(dtype));
  const auto high = static_cast<double>(highest_integer(dtype));
  store_real(dtype, data, at, std::trunc(clamp(static_cast<double>(number), low, high)));
}

float rounded(float number) { return static_cast<float>(round_even(static_cast<double>(number))); }

/// Whether zero points are added before it is rounded.
bool adds_first(const Op& op) { return op.dialect == Dialect::onednn; }

/// To f8 the store rounds.
float quantized(DType dtype, float x, float scale, float zero, bool add_first) {
  const float quotient = x / scale;
  if (is_floating(dtype)) return zero == 0 ? quotient : quotient + zero;
  return add_first ? rounded(quotient + zero) : rounded(quotient) + zero;
}

}  // namespace

Result<std::vector<Dims>> quantize_shapes(const Op& op, Inputs inputs) {
  if (inputs.empty()) return fail(op, Code::invalid_op, "it has no input");
  const Result<Scales> scales = read_scales(op, inputs);
  if (!scales.ok()) return scales.status();
  return std::vector<Dims>{inputs[0].desc.shape};
}

Status evaluate_quantize(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<Scales> read = read_scales(op, inputs);
  if (!read.ok()) return read.status();
  const Scales& scales = read.value();
  const TensorDesc& from = inputs[0].desc;
  const TensorDesc& to = outputs[0].desc;
  const bool back = goes_back(op);
  const bool saturates = attribute_or<std::int64_t>(op, "saturate", 1) != 0;
  if (back != (is_floating(to.dtype) && !is_narrow(to.dtype)))
    return fail(op, Code::unsupported_dtype, "it does not give " + std::string(to_string(to.dtype)) + " here");
  std::int64_t position = 0;
  walk(from.shape, std::array<Dims, 2>{strides_of(from), strides_of(to)}, [&](const auto& at) {
    const std::size_t i = scales.index(position++);
    const auto x = static_cast<float>(load_real(from.dtype, inputs[0].data, at[0]));
    if (back) {
      const float distance = x - scales.zero(i);
      store_rounded(to.dtype, outputs[0].data, at[1], Real{distance * scales.scales[i]});
    } else {
      store_clamped(to.dtype, outputs[0].data, at[1],
                    quantized(to.dtype, x, scales.scales[i], scales.zero(i), adds_first(op)), saturates);
    }
  });
  return {};
}

Result<std::vector<Bounds>> bound_quantize(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds, Outputs) {
  const auto exact = [](const Bounds& bounds) {
    return std::all_of(bounds.begin(), bounds.end(), [](double bound) { return bound == 0; });
  };
  if (std::all_of(input_bounds.begin(), input_bounds.end(), exact)) return std::vector<Bounds>(1);
  const Result<Scales> read = read_scales(op, inputs);
  if (!read.ok()) return read.status();
  const auto number = [&](std::size_t input, std::size_t i, float value) {
    if (input >= inputs.size()) return Number(Real{value});
    const double bound =
        stored_bound(input_bounds[input], static_cast<std::int64_t>(i), inputs[input].desc.dtype, double{value});
    return Number(Real{value}, bound);
  };
  Bounds bounds;
  const TensorDesc& from = inputs[0].desc;
  walk(from.shape, std::array<Dims, 1>{strides_of(from)}, [&](const auto& at) {
    const std::size_t position = bounds.size();
    const std::size_t i = read.value().index(static_cast<std::int64_t>(position));
    const Number x = number(0, position, static_cast<float>(load_real(from.dtype, inputs[0].data, at[0])));
    const Number scale = number(1, i, read.value().scales[i]);
    const Number zero = number(2, i, read.value().zero(i));
    bounds.push_back((goes_back(op) ? (x - zero) * scale : x / scale + zero).error);
  });
  return std::vector<Bounds>{std::move(bounds)};
}

namespace {

constexpr float kSteps = 255;

/// What the range of the elements, 0 included, makes of u8.
struct Range {
  float scale = 0;
  float zero = 0;  ///< NaN where it does not follow
  float least = 0;
};

Range range_of(const ConstTensor& input) {
  double least = 0, most = 0;
  walk(input.desc.shape, std::array<Dims, 1>{strides_of(input.desc)}, [&](const auto& at) {
    const double x = load_real(input.desc.dtype, input.data, at[0]);
    least = ieee_minimum(least, x);
    most = ieee_maximum(most, x);
  });
  Range range;
  range.least = static_cast<float>(least);
  const float extent = static_cast<float>(most) - range.least;
  range.scale = extent / kSteps;
  const float quotient = range.least / range.scale;
  range.zero = static_cast<float>(clamp(static_cast<double>(rounded(-quotient)), 0, double{kSteps}));
  return range;
}

}  // namespace

Result<std::vector<Dims>> dynamic_quantize_shapes(const Op& op, Inputs inputs) {
  if (inputs.size() != 1) return fail(op, Code::invalid_op, "it takes one input");
  return std::vector<Dims>{inputs[0].desc.shape, Dims{}, Dims{}};
}

Status evaluate_dynamic_quantize(const Op&, Inputs inputs, Outputs outputs) {
  const Range range = range_of(inputs[0]);
  const TensorDesc& from = inputs[0].desc;
  const TensorDesc& to = outputs[0].desc;
  walk(from.shape, std::array<Dims, 2>{strides_of(from), strides_of(to)}, [&](const auto& at) {
    const auto x = static_cast<float>(load_real(from.dtype, inputs[0].data, at[0]));
    store_clamped(to.dtype, outputs[0].data, at[1], quantized(to.dtype, x, range.scale, range.zero, false));
  });
  if (outputs.size() > 1) store_rounded(outputs[1].desc.dtype, outputs[1].data, 0, Real{range.scale});
  if (outputs.size() > 2) store_clamped(outputs[2].desc.dtype, outputs[2].data, 0, range.zero);
  return {};
}

Result<std::vector<Bounds>> bound_dynamic_quantize(const Op&, Inputs inputs, std::span<const Bounds> input_bounds,
                                                   Outputs outputs) {
  std::vector<Bounds> bounds(outputs.size());
  const TensorDesc& from = inputs[0].desc;
  std::vector<Number> elements;
  double error = 0;
  walk(from.shape, std::array<Dims, 1>{strides_of(from)}, [&](const auto& at) {
    const double x = load_real(from.dtype, inputs[0].data, at[0]);
    const auto position = static_cast<std::int64_t>(elements.size());
    elements.emplace_back(Real{x}, stored_bound(input_bounds[0], position, from.dtype, x));
    error = std::max(error, elements.back().error);
  });
  if (error == 0) return bounds;
  const Range range = range_of(inputs[0]);
  const Real extent = Real{range.scale} * Real{kSteps};
  const Number scale = Number(extent, 2 * error) / Number(Real{kSteps});
  const Number zero = Number(Real{range.least}, error) / scale;
  for (const Number& element : elements) bounds[0].push_back((element / scale - zero).error + 1);
  if (bounds.size() > 1) bounds[1] = {scale.error};
  if (bounds.size() > 2) bounds[2] = {zero.error};
  return bounds;
}

}  // namespace tenfold::graph

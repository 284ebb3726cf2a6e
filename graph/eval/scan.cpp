// SPDX-License-Identifier: Apache-2.0
//
// CumSum and TopK: both walk the lines of a tensor along one axis.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "graph/eval/element.hpp"
#include "graph/eval/movement.hpp"
#include "graph/eval/run.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

bool is_cum_sum(const Op& op) { return op.kind == "CumSum" || op.kind == "scan"; }

struct Plan {
  std::size_t axis = 0;
  std::int64_t length = 0;  ///< of the output along it
};

Result<Plan> plan_scan(const Op& op, Inputs inputs) {
  const Dims& shape = inputs[0].desc.shape;
  std::int64_t axis = attribute_or<std::int64_t>(op, "axis", -1);
  std::int64_t length = attribute_or<std::int64_t>(op, "k", 0);
  if (inputs.size() > 1) {
    const Result<std::vector<std::int64_t>> read = read_integers(op, inputs, 1);
    if (!read.ok()) return read.status();
    if (read.value().size() != 1) return fail(op, Code::invalid_shape, "its second input must have one element");
    (is_cum_sum(op) ? axis : length) = read.value()[0];
  }
  const Result<std::size_t> dim = read_axis(op, axis, shape.size());
  if (!dim.ok()) return dim.status();
  const std::int64_t extent = shape[dim.value()];
  if (is_cum_sum(op)) length = extent;
  if (length < 0 || length > extent)
    return fail(op, Code::invalid_op,
                "k is " + std::to_string(length) + " for an axis of " + std::to_string(extent) + " (move.V9)");
  return Plan{dim.value(), length};
}

void sum_line(const Op& op, const ConstTensor& input, const MutableTensor& output, std::size_t axis, std::int64_t from,
              std::int64_t to) {
  const std::int64_t extent = input.desc.shape[axis];
  const std::int64_t in_step = strides_of(input.desc)[axis];
  const std::int64_t out_step = strides_of(output.desc)[axis];
  const bool exclusive = flag(op, "exclusive", false);
  const bool reverse = flag(op, "reverse", false);
  const DType dtype = input.desc.dtype;
  Real sum = 0;
  Integer whole = 0;
  const auto store = [&](std::int64_t i) {
    if (is_integral(dtype))
      store_integer(dtype, output.data, to + i * out_step, whole);
    else
      store_rounded(dtype, output.data, to + i * out_step, sum);
  };
  for (std::int64_t n = 0; n < extent; ++n) {
    const std::int64_t i = reverse ? extent - 1 - n : n;
    if (exclusive) store(i);
    if (is_integral(dtype))
      whole = wrapped(dtype, whole + load_integer(dtype, input.data, from + i * in_step));
    else
      sum += load_exact(dtype, input.data, from + i * in_step);
    if (!exclusive) store(i);
  }
}

/// A NaN is greater than every number.
template <class Number>
bool precedes(Number a, Number b, bool largest) {
  if (std::isnan(a) || std::isnan(b))
    return largest ? std::isnan(a) && !std::isnan(b) : !std::isnan(a) && std::isnan(b);
  return largest ? a > b : a < b;
}

/// The indices of the first `count` of a line in their order; the lower index wins among equals.
template <class Number>
std::vector<std::int64_t> first_of(const std::vector<Number>& line, std::int64_t count, bool largest) {
  std::vector<std::pair<Number, std::int64_t>> order;
  order.reserve(line.size());
  for (const Number number : line) order.emplace_back(number, static_cast<std::int64_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](const auto& a, const auto& b) {
    return precedes(a.first, b.first, largest) || (a.second < b.second && !precedes(b.first, a.first, largest));
  });
  std::vector<std::int64_t> first;
  for (std::int64_t i = 0; i < count; ++i) first.push_back(order[static_cast<std::size_t>(i)].second);
  return first;
}

/// Of the elements from offset `from` on. Doubles, which sort in a third of the time, have all but integers of 64 bits.
std::vector<std::int64_t> first_of(const ConstTensor& input, const Plan& plan, std::int64_t from, bool largest) {
  const DType dtype = input.desc.dtype;
  const std::int64_t step = strides_of(input.desc)[plan.axis], extent = input.desc.shape[plan.axis];
  const auto size = static_cast<std::size_t>(extent);
  if (is_floating(dtype) || byte_size(dtype) < 8) {
    std::vector<double> line(size);
    load_row(dtype, input.data, {from, step, extent}, line.data());
    return first_of(line, plan.length, largest);
  }
  std::vector<Real> line;
  line.reserve(size);
  for (std::int64_t i = 0; i < extent; ++i) line.push_back(load_exact(dtype, input.data, from + i * step));
  return first_of(line, plan.length, largest);
}

/// `at`: the offsets of the line's first element in the input, the values and the indices.
void pick_line(const Op& op, const ConstTensor& input, Outputs outputs, const Plan& plan,
               const std::vector<std::int64_t>& at) {
  const DType dtype = input.desc.dtype;
  const std::int64_t step = strides_of(input.desc)[plan.axis];
  const std::vector<std::int64_t> first = first_of(input, plan, at[0], flag(op, "largest", true));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const DType to = outputs[k].desc.dtype;
    const std::int64_t out_step = strides_of(outputs[k].desc)[plan.axis];
    for (std::int64_t i = 0; i < plan.length; ++i) {
      const std::int64_t index = first[static_cast<std::size_t>(i)];
      const std::int64_t target = at[1 + k] + i * out_step;
      if (k == 0)
        convert(dtype, input.data, at[0] + index * step, to, outputs[k].data, target);
      else
        store_integer(to, outputs[k].data, target, index);
    }
  }
}

}  // namespace

Result<std::vector<Dims>> scan_shapes(const Op& op, Inputs inputs) {
  if (inputs.empty()) return fail(op, Code::invalid_op, "it has no input");
  const Result<Plan> plan = plan_scan(op, inputs);
  if (!plan.ok()) return plan.status();
  Dims shape = inputs[0].desc.shape;
  shape[plan.value().axis] = plan.value().length;
  return std::vector<Dims>(is_cum_sum(op) ? 1 : 2, shape);
}

Status evaluate_scan(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<Plan> plan = plan_scan(op, inputs);
  if (!plan.ok()) return plan.status();
  Dims lines = inputs[0].desc.shape;
  lines[plan.value().axis] = 1;
  std::vector<Dims> strides{strides_of(inputs[0].desc)};
  for (const MutableTensor& output : outputs) strides.push_back(strides_of(output.desc));
  walk(lines, strides, [&](const auto& at) {
    if (is_cum_sum(op))
      sum_line(op, inputs[0], outputs[0], plan.value().axis, at[0], at[1]);
    else
      pick_line(op, inputs[0], outputs, plan.value(), at);
  });
  return {};
}

/// What the inputs bring along, and the roundings of f64, in which kernels sum; one bound holds for all of a line.
Bounds bound_sums(const ConstTensor& input, const Bounds& input_bounds, std::size_t axis) {
  const TensorDesc& desc = input.desc;
  const Dims own = strides_of(desc), dense = row_major_strides(desc.shape);
  const std::int64_t extent = desc.shape[axis];
  const double unit = is_floating(desc.dtype) ? static_cast<double>(extent) * 0x1p-52 : 0;
  Bounds bounds(static_cast<std::size_t>(numel(desc.shape).value()));
  Dims lines = desc.shape;
  lines[axis] = std::min<std::int64_t>(extent, 1);
  walk(lines, std::array<Dims, 2>{own, dense}, [&](const auto& at) {
    double error = 0;
    for (std::int64_t i = 0; i < extent; ++i) {
      const double value = load_real(desc.dtype, input.data, at[0] + i * own[axis]);
      error += stored_bound(input_bounds, at[1] + i * dense[axis], desc.dtype, value);
      if (std::isfinite(value)) error += std::fabs(value) * unit;
    }
    for (std::int64_t i = 0; i < extent; ++i) bounds[static_cast<std::size_t>(at[1] + i * dense[axis])] = error;
  });
  return bounds;
}

/// What is first among elements that may be others may be any of them.
Result<std::vector<Bounds>> bound_scan(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                       Outputs outputs) {
  std::vector<Bounds> bounds(outputs.size());
  if (is_cum_sum(op)) {
    const Result<Plan> plan = plan_scan(op, inputs);
    if (!plan.ok()) return plan.status();
    bounds[0] = bound_sums(inputs[0], input_bounds[0], plan.value().axis);
    return bounds;
  }
  if (is_exact(input_bounds[0])) return bounds;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Result<std::int64_t> count = numel(outputs[k].desc.shape);
    if (!count.ok()) return count.status();
    bounds[k].assign(static_cast<std::size_t>(count.value()), std::numeric_limits<double>::infinity());
  }
  return bounds;
}

}  // namespace tenfold::graph

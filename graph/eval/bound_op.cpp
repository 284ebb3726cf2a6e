// SPDX-License-Identifier: Apache-2.0
//
// Error bounds of whole ops, element by element: what a reduction adds of its own, and what becomes of the errors that
// its inputs bring along.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/eval/bound.hpp"
#include "graph/eval/bound_function.hpp"
#include "graph/eval/composite.hpp"
#include "graph/eval/element.hpp"
#include "graph/eval/functions.hpp"
#include "graph/eval/reduction_row.hpp"
#include "graph/eval/run.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// No bounds yet, of a shape whose elements can be counted.
Bounds room_for(const Dims& shape) {
  Bounds bounds;
  bounds.reserve(static_cast<std::size_t>(numel(shape).value()));
  return bounds;
}

/// Errors that a reduction's elements bring along, gathered for whichever rule its reduction has.
class Inherited {
 public:
  void add(double value, double bound) {
    total_ += value;
    has_nan_ = has_nan_ || std::isnan(value);
    has_infinity_ = has_infinity_ || std::isinf(value);
    if (bound == 0) return;
    may_be_zero_ = may_be_zero_ || std::fabs(value) <= bound;
    sum_ += bound;
    squares_ += bound * bound;
    square_sum_ += (2 * std::fabs(value) + bound) * bound;
    max_ = std::max(max_, bound);
    growth_ += value != 0 ? std::log1p(bound / std::fabs(value)) : kInfinity;
  }
  double of(const ReductionRow& row, const Magnitude& magnitude) const {
    if (sum_ == 0) return 0;
    if (is_extreme(row) || row.term == Term::exponential) return max_;
    if (row.combine == Combine::product) {
      const bool may_be_nan = may_be_zero_ && has_infinity_ && !has_nan_;
      return may_be_nan || std::isinf(growth_) ? kInfinity : magnitude.product() * std::expm1(growth_);
    }
    const double error = row.term == Term::square ? square_sum_ : sum_;
    switch (row.finish) {
      case Finish::mean: return error / static_cast<double>(magnitude.count());
      case Finish::logarithm: return error < total_ ? -std::log1p(-error / total_) : kInfinity;
      case Finish::root: return std::sqrt(squares_);
      default: return error;
    }
  }

 private:
  double sum_ = 0, squares_ = 0, square_sum_ = 0, max_ = 0, growth_ = 0, total_ = 0;
  bool has_nan_ = false, has_infinity_ = false, may_be_zero_ = false;
};

/// Whether a reduction of whole numbers, off by `error`, may leave their range, so that what wraps is another number.
bool reduction_may_wrap(const ReductionRow& row, const Magnitude& magnitude, DType dtype, double error) {
  if (!is_integral(dtype) || error == 0 || is_extreme(row)) return false;
  const double reach = row.combine == Combine::product ? magnitude.product()
                       : row.term == Term::square      ? magnitude.sum_of_squares()
                                                       : magnitude.sum();
  return reach + error >= std::ldexp(1.0, tenfold::row(dtype).bits - 1);
}

Result<Bounds> bound_reduce(const Op& op, std::string_view reduction, std::span<const ConstTensor> inputs,
                            const Bounds& input_bounds) {
  Result<ReducePlan> planned = plan_reduce(op, inputs);
  if (!planned.ok()) return planned.status();
  const ReducePlan& plan = planned.value();
  if (plan.identity) return input_bounds;
  const ReductionRow* const row = find_reduction(reduction);
  if (row == nullptr) return fail(op, Code::invalid_op, "there is no reduction '" + std::string(reduction) + "'");
  const TensorDesc& desc = inputs[0].desc;
  if (is_exact(input_bounds) && is_exact_reduction(*row, desc.dtype)) return Bounds();
  const Dims positions = row_major_strides(desc.shape);
  Dims kept_positions, reduced_positions;
  for (std::size_t i = 0; i < positions.size(); ++i)
    (plan.is_reduced[i] ? reduced_positions : kept_positions).push_back(positions[i]);
  Bounds bounds;
  walk(plan.kept, std::array<Dims, 2>{plan.kept_strides, kept_positions}, [&](const auto& outer) {
    Magnitude magnitude(*row);
    Inherited inherited;
    walk(plan.reduced, std::array<Dims, 2>{plan.reduced_strides, reduced_positions}, [&](const auto& inner) {
      const double value = load_real(desc.dtype, inputs[0].data, outer[0] + inner[0]);
      magnitude.add(value);
      inherited.add(value, stored_bound(input_bounds, outer[1] + inner[1], desc.dtype, value));
    });
    const double off = inherited.of(*row, magnitude);
    bounds.push_back(reduction_may_wrap(*row, magnitude, desc.dtype, off)
                         ? kInfinity
                         : reduction_bound(reduction, magnitude, desc.dtype) +
                               off * rounding_of_errors(reduction, magnitude.count(), desc.dtype));
  });
  return bounds;
}

/// An arg-reduction is exact, unless what it compares may differ.
Result<Bounds> bound_arg_reduce(const Op& op, const ConstTensor& input, const Bounds& input_bounds) {
  if (is_exact(input_bounds)) return Bounds();
  Result<ReducePlan> plan = plan_arg_reduce(op, input);
  if (!plan.ok()) return plan.status();
  const Result<std::int64_t> outputs = numel(plan.value().output);
  if (!outputs.ok()) return outputs.status();
  return Bounds(static_cast<std::size_t>(outputs.value()), kInfinity);
}

/// Whole numbers alone are computed exactly; a real beside one makes it double.
Precision precision_of(std::span<const ConstTensor> inputs) {
  const DType first = inputs[0].desc.dtype;
  const bool exact = std::all_of(inputs.begin(), inputs.end(), [](const ConstTensor& input) {
    return is_missing(input) || is_integral(input.desc.dtype);
  });
  if (exact) return {DType::undef, first};
  return {first == DType::f64 || is_integral(first) ? DType::f64 : DType::f32, first};
}

/// Such quotients are where a kernel may multiply by a reciprocal.
bool divides_many_by_one(const FunctionRow& function, std::span<const ConstTensor> inputs) {
  return function.name == "div" && inputs[0].desc.shape != inputs[1].desc.shape;
}

Result<Bounds> bound_map(const Op& op, const OpRow& row, const FunctionRow& function,
                         std::span<const ConstTensor> inputs, std::span<const Bounds> input_bounds) {
  const DType dtype = inputs[0].desc.dtype;
  Result<Parameters> parameters = read_parameters(op, function, inputs.size(), dtype);
  if (!parameters.ok()) return parameters.status();
  Result<Dims> shape = plan_broadcast(op, row, inputs);
  if (!shape.ok()) return shape.status();
  // Positions in row-major order are strides of a tensor without gaps.
  std::vector<ConstTensor> dense(inputs.begin(), inputs.end());
  for (ConstTensor& tensor : dense) tensor.desc.strides.clear();
  const std::size_t count = inputs.size();
  std::vector<Dims> strides;
  for (std::size_t k = 0; k < count; ++k) strides.push_back(broadcast_strides(op, row, inputs, k, shape.value()));
  for (std::size_t k = 0; k < count; ++k) strides.push_back(broadcast_strides(op, row, dense, k, shape.value()));
  Bounds bounds = room_for(shape.value());
  Precision precision = precision_of(inputs);
  precision.by_reciprocal = precision.arithmetic == DType::f32 && divides_many_by_one(function, inputs);
  // Those of a row's positions, one position's beside another's.
  std::vector<double> x(count * static_cast<std::size_t>(kLongestRow), 0), error(x.size(), 0);
  walk_rows(shape.value(), strides, [&](const auto& at, const auto& steps, std::int64_t positions) {
    for (std::size_t k = 0; k < count; ++k) {
      const ConstTensor& input = inputs[k];
      if (is_missing(input)) continue;
      load_row(input.desc.dtype, input.data, {at[k], steps[k], positions}, x.data() + k,
               static_cast<std::int64_t>(count));
      for (std::int64_t i = 0; i < positions; ++i) {
        const std::size_t to = static_cast<std::size_t>(i) * count + k;
        error[to] = stored_bound(input_bounds[k], at[count + k] + i * steps[count + k], input.desc.dtype, x[to]);
      }
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(positions) * count; i += count)
      bounds.push_back(
          function_bound(function, parameters.value(), precision, {x.data() + i, count}, {error.data() + i, count}));
  });
  return bounds;
}

/// The chosen side's error; nothing is stated where the condition itself may differ.
Result<Bounds> bound_select(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs,
                            std::span<const Bounds> input_bounds) {
  Result<Dims> shape = plan_broadcast(op, row, inputs);
  if (!shape.ok()) return shape.status();
  std::vector<ConstTensor> dense(inputs.begin(), inputs.end());
  for (ConstTensor& tensor : dense) tensor.desc.strides.clear();
  std::array<Dims, 6> strides;
  for (std::size_t k = 0; k < 3; ++k) {
    strides[k] = broadcast_strides(op, row, inputs, k, shape.value());
    strides[3 + k] = broadcast_strides(op, row, dense, k, shape.value());
  }
  Bounds bounds = room_for(shape.value());
  walk(shape.value(), strides, [&](const auto& at) {
    const DType dtype = inputs[0].desc.dtype;
    const double condition = load_real(dtype, inputs[0].data, at[0]);
    const std::size_t chosen = condition != 0 ? 1 : 2;
    const ConstTensor& source = inputs[chosen];
    const double value = load_real(source.desc.dtype, source.data, at[chosen]);
    const bool doubtful = stored_bound(input_bounds[0], at[3], dtype, condition) > 0;
    bounds.push_back(doubtful ? kInfinity
                              : stored_bound(input_bounds[chosen], at[3 + chosen], source.desc.dtype, value));
  });
  return bounds;
}

/// Casts and reshapes hand the error on: only the rounding of what was stored before comes on top.
Bounds bound_copy(const ConstTensor& input, const Bounds& input_bounds, DType result) {
  const Dims& shape = input.desc.shape;
  Bounds bounds = room_for(shape);
  walk(shape, std::array<Dims, 2>{strides_of(input.desc), row_major_strides(shape)}, [&](const auto& at) {
    const double value = load_real(input.desc.dtype, input.data, at[0]);
    const double error = stored_bound(input_bounds, at[1], input.desc.dtype, value);
    bounds.push_back(is_integral(input.desc.dtype) && may_wrap(result, value, error) ? kInfinity : error);
  });
  return bounds;
}

/// Of an op that has one output, or none.
Result<Bounds> bound_only(const Op& op, std::span<const ConstTensor> inputs, std::span<const Bounds> input_bounds,
                          DType result) {
  const OpRow* row = find_op_row(op);
  if (row == nullptr) return fail(op, Code::unsupported_op, "the reference evaluator does not know it");
  const std::string name = function_name(op, *row);
  if (row->family == Family::reduce) return bound_reduce(op, name, inputs, input_bounds[0]);
  if (row->family == Family::arg_reduce) return bound_arg_reduce(op, inputs[0], input_bounds[0]);
  const bool exact = std::all_of(input_bounds.begin(), input_bounds.end(), is_exact);
  const FunctionRow* function = find_function(name);
  const bool rounds = function != nullptr && (function->ulps > 0 || function->arity.most == kAnyNumber ||
                                              divides_many_by_one(*function, inputs));
  if ((exact && !rounds) || row->family == Family::end) return Bounds();
  if (function != nullptr) return bound_map(op, *row, *function, inputs, input_bounds);
  if (row->family == Family::select) return bound_select(op, *row, inputs, input_bounds);
  return bound_copy(inputs[0], input_bounds[0], result);
}

}  // namespace

bool is_exact(const Bounds& bounds) {
  return std::all_of(bounds.begin(), bounds.end(), [](double bound) { return bound == 0; });
}

double stored_bound(const Bounds& bounds, std::int64_t position, DType dtype, double value) {
  if (bounds.empty()) return 0;
  const double bound = bounds[static_cast<std::size_t>(position)];
  if (bound == 0) return 0;
  const double by_way_of_f32 = byte_size(dtype) == 2 ? std::fabs(value) * 0x1p-24 : 0;
  return bound + ulp(dtype, value) + by_way_of_f32;
}

Result<std::vector<Bounds>> bound_op(const Op& op, std::span<const ConstTensor> inputs,
                                     std::span<const Bounds> input_bounds, std::span<const MutableTensor> outputs) {
  if (const CompositeRow* composite = find_composite(op)) return composite->bounds(op, inputs, input_bounds, outputs);
  Result<Bounds> only = bound_only(op, inputs, input_bounds, outputs[0].desc.dtype);
  if (!only.ok()) return only.status();
  std::vector<Bounds> bounds(outputs.size());
  if (!bounds.empty()) bounds[0] = std::move(only).value();
  return bounds;
}

}  // namespace tenfold::graph

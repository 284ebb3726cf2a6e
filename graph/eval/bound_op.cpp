// SPDX-License-Identifier: Apache-2.0
//
// Error bounds of whole ops, element by element: what a reduction adds of its own, and what becomes of the errors that
// its inputs bring along.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/eval/bound.hpp"
#include "graph/eval/functions.hpp"
#include "graph/eval/run.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// By how much the stored element may be off: its bound before rounding and both sides' roundings. Values without a
/// bound are equal bit by bit.
double stored_bound(const Bounds& bounds, std::int64_t position, DType dtype, double value) {
  if (bounds.empty()) return 0;
  const double bound = bounds[static_cast<std::size_t>(position)];
  if (bound == 0) return 0;
  const double by_way_of_f32 = byte_size(dtype) == 2 ? std::fabs(value) * 0x1p-24 : 0;
  return bound + ulp(dtype, value) + by_way_of_f32;
}

/// Errors that a reduction's elements bring along, gathered for whichever rule its reduction has.
class Inherited {
 public:
  void add(double value, double bound) {
    if (bound == 0) return;
    sum_ += bound;
    squares_ += bound * bound;
    max_ = std::max(max_, bound);
    growth_ += value != 0 ? std::log1p(bound / std::fabs(value)) : kInfinity;
  }
  double of(std::string_view reduction, const Magnitude& magnitude) const {
    if (sum_ == 0) return 0;
    if (reduction == "max" || reduction == "min") return max_;
    if (reduction == "l2") return std::sqrt(squares_);
    if (reduction == "mean") return sum_ / static_cast<double>(magnitude.count());
    if (reduction == "prod") return std::isinf(growth_) ? kInfinity : magnitude.product() * std::expm1(growth_);
    return sum_;
  }

 private:
  double sum_ = 0, squares_ = 0, max_ = 0, growth_ = 0;
};

Result<Bounds> bound_reduce(const Op& op, std::string_view reduction, std::span<const ConstTensor> inputs,
                            const Bounds& input_bounds) {
  Result<ReducePlan> planned = plan_reduce(op, inputs);
  if (!planned.ok()) return planned.status();
  const ReducePlan& plan = planned.value();
  if (plan.identity) return input_bounds;
  const TensorDesc& desc = inputs[0].desc;
  const Dims positions = row_major_strides(desc.shape);
  Dims kept_positions, reduced_positions;
  for (std::size_t i = 0; i < positions.size(); ++i)
    (plan.is_reduced[i] ? reduced_positions : kept_positions).push_back(positions[i]);
  Bounds bounds;
  walk(plan.kept, std::array<Dims, 2>{plan.kept_strides, kept_positions}, [&](const auto& outer) {
    Magnitude magnitude;
    Inherited inherited;
    walk(plan.reduced, std::array<Dims, 2>{plan.reduced_strides, reduced_positions}, [&](const auto& inner) {
      const double value = load_real(desc.dtype, inputs[0].data, outer[0] + inner[0]);
      magnitude.add(value);
      inherited.add(value, stored_bound(input_bounds, outer[1] + inner[1], desc.dtype, value));
    });
    bounds.push_back(reduction_bound(reduction, magnitude) + inherited.of(reduction, magnitude));
  });
  return bounds;
}

/// The furthest that the function goes from its value when each argument moves to either end of its interval: exact for
/// functions that are monotone in each argument, as all of the table's are but near their minima.
double spread(const FunctionRow& function, const Parameters& parameters, const double* x, const double* error) {
  const double value = function.real(x, parameters);
  double furthest = 0;
  for (int corner = 0; corner < 9; ++corner) {
    const double moved[kMaxArity] = {x[0] + (corner % 3 - 1) * error[0], x[1] + (corner / 3 - 1) * error[1]};
    const double there = function.real(moved, parameters);
    if (std::isnan(there) && std::isnan(value)) continue;
    furthest = there == value ? furthest : std::max(furthest, std::fabs(there - value));
    if (std::isnan(there - value)) return kInfinity;
  }
  return furthest;
}

Result<Bounds> bound_map(const Op& op, const OpRow& row, const FunctionRow& function,
                         std::span<const ConstTensor> inputs, std::span<const Bounds> input_bounds) {
  Result<Parameters> parameters = read_parameters(op, function);
  if (!parameters.ok()) return parameters.status();
  Result<Dims> shape = plan_broadcast(op, row, inputs);
  if (!shape.ok()) return shape.status();
  // Positions in row-major order are strides of a tensor without gaps.
  std::vector<ConstTensor> dense(inputs.begin(), inputs.end());
  for (ConstTensor& tensor : dense) tensor.desc.strides.clear();
  const std::size_t second = inputs.size() - 1;
  std::array<Dims, 4> strides;
  for (std::size_t k = 0; k < 2; ++k) {
    strides[k] = broadcast_strides(op, row, inputs, k * second, shape.value());
    strides[2 + k] = broadcast_strides(op, row, dense, k * second, shape.value());
  }
  Bounds bounds;
  walk(shape.value(), strides, [&](const auto& at) {
    double x[kMaxArity], error[kMaxArity];
    for (std::size_t k = 0; k < kMaxArity; ++k) {
      const ConstTensor& input = inputs[k * second];
      x[k] = load_real(input.desc.dtype, input.data, at[k]);
      error[k] = stored_bound(input_bounds[k * second], at[2 + k], input.desc.dtype, x[k]);
    }
    const bool exact = error[0] == 0 && error[1] == 0;
    bounds.push_back(exact ? 0 : spread(function, parameters.value(), x, error));
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
  Bounds bounds;
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
Bounds bound_copy(const ConstTensor& input, const Bounds& input_bounds) {
  Bounds bounds;
  const Dims& shape = input.desc.shape;
  walk(shape, std::array<Dims, 2>{strides_of(input.desc), row_major_strides(shape)}, [&](const auto& at) {
    bounds.push_back(
        stored_bound(input_bounds, at[1], input.desc.dtype, load_real(input.desc.dtype, input.data, at[0])));
  });
  return bounds;
}

}  // namespace

Result<Bounds> bound_op(const Op& op, std::span<const ConstTensor> inputs, std::span<const Bounds> input_bounds) {
  const OpRow* row = find_op_row(op);
  if (row == nullptr) return fail(op, Code::unsupported_op, "the reference evaluator does not know it");
  const std::string name = function_name(op, *row);
  if (row->family == Family::reduce) return bound_reduce(op, name, inputs, input_bounds[0]);
  const bool exact = std::all_of(input_bounds.begin(), input_bounds.end(), [](const Bounds& b) {
    return std::all_of(b.begin(), b.end(), [](double bound) { return bound == 0; });
  });
  if (exact || row->family == Family::end) return Bounds();
  const FunctionRow* function = find_function(name);
  if (function != nullptr) return bound_map(op, *row, *function, inputs, input_bounds);
  if (row->family == Family::select) return bound_select(op, *row, inputs, input_bounds);
  return bound_copy(inputs[0], input_bounds[0]);
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// AvgPool, MaxPool and their backward ops. An average is a sum along each spatial dim, whose weights are 1 / kernel, or
// where pads are excluded 1 / (how many elements are there): products of these are what one divides by. The gradient of
// a maximum goes to the first of equals in row-major order, or to the first NaN.
#include "graph/eval/pool.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "graph/eval/element.hpp"
#include "graph/eval/products.hpp"
#include "graph/eval/run.hpp"
#include "graph/eval/separable.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"
#include "graph/eval/window.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

struct PoolPlan {
  Dims input_shape, output_shape;  ///< of the forward op
  DataLayout input, output;
  Window window;
  bool backward = false;
  bool excludes_pads = false;
  bool stops_at_pads = false;  ///< a mean does not count what its window has beyond the pads
  std::size_t first_spatial = 0;
};

/// The shapes that are there; empty for what the op gives.
Status find_shapes(const Op& op, Inputs inputs, PoolPlan& plan) {
  plan.backward = op.kind == "AvgPoolBackward" || op.kind == "MaxPoolBackward";
  if (op.kind == "AvgPoolBackward") {
    Result<Dims> given = given_shape(op, "src_shape", inputs, 1);
    if (!given.ok()) return given.status();
    plan.input_shape = std::move(given).value();
    plan.output_shape = inputs[0].desc.shape;
  } else {
    plan.input_shape = inputs[0].desc.shape;
    if (plan.backward) plan.output_shape = inputs[1].desc.shape;
  }
  const std::size_t rank = plan.input_shape.size();
  if (rank < 3 || (plan.backward && plan.output_shape.size() != rank))
    return fail(op, Code::invalid_shape, "ranks must be equal and at least 3");
  return numel(plan.input_shape).status();
}

Result<PoolPlan> plan_pool(const Op& op, Inputs inputs) {
  if (const std::optional<Op> twin = twin_of(op, inputs)) {
    Result<PoolPlan> plan = plan_pool(*twin, inputs);
    if (plan.ok()) plan.value().stops_at_pads = true;
    return plan;
  }
  const std::size_t wanted = op.kind == "MaxPoolBackward" ? 2 : 1;
  const std::size_t most = op.kind == "AvgPoolBackward" ? 2 : wanted;
  if (inputs.size() < wanted || inputs.size() > most || is_missing(inputs[wanted - 1]))
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs");
  PoolPlan plan;
  if (Status s = find_shapes(op, inputs, plan); !s.ok()) return s;
  plan.input = data_layout(op, plan.input_shape);
  plan.excludes_pads = flag(op, "exclude_pad", false);
  plan.first_spatial = first_spatial_dim(op);
  plan.window.kernel = integers(op, "kernel");
  if (Status s = read_window(op, plan.input.spatial, plan.window); !s.ok()) return s;
  if (plan.backward) {
    // Backward ops do not say how the forward one rounded: the gradient does.
    plan.output = data_layout(op, plan.output_shape);
    if (plan.output.spatial != plan.window.output) plan.window.output = plan.window.counts(plan.input.spatial, true);
  }
  const Dims shape = data_shape(op, plan.input.batch, plan.input.channels, plan.window.output);
  if (plan.backward && shape != plan.output_shape)
    return fail(op, Code::invalid_shape, "its inputs do not fit together");
  plan.output_shape = shape;
  plan.output = data_layout(op, shape);
  return plan;
}

/// The window's elements along a dim that are not padding, with their weights.
SumsAlongDim average_along(const PoolPlan& plan, std::size_t spatial) {
  const Window& window = plan.window;
  SumsAlongDim sums{plan.first_spatial + spatial, window.output[spatial], {}};
  const std::int64_t padded_end = plan.input.spatial[spatial] + window.end[spatial];
  for (std::int64_t at = 0; at < sums.outputs; ++at) {
    const std::size_t first = sums.terms.size();
    std::int64_t beyond = 0;
    for (std::int64_t tap = 0; tap < window.kernel[spatial]; ++tap) {
      const std::int64_t from = at * window.strides[spatial] - window.begin[spatial] + tap * window.dilations[spatial];
      if (from >= 0 && from < plan.input.spatial[spatial]) sums.terms.push_back({from, at});
      if (from >= padded_end && plan.stops_at_pads) ++beyond;
    }
    const auto present = static_cast<std::int64_t>(sums.terms.size() - first);
    const auto count = static_cast<double>(plan.excludes_pads ? present : window.kernel[spatial] - beyond);
    for (std::size_t i = first; i < sums.terms.size(); ++i) sums.terms[i].weight = 1 / count;
  }
  return sums;
}

Separable sums_of(const PoolPlan& plan) {
  Separable sums{plan.backward ? plan.output_shape : plan.input_shape, {}};
  for (std::size_t i = 0; i < plan.input.spatial.size(); ++i) {
    SumsAlongDim step = average_along(plan, i);
    sums.steps.push_back(plan.backward ? reversed(step, plan.input.spatial[i]) : std::move(step));
  }
  return sums;
}

/// Calls fn(input, output) for each element of each window, windows' elements in row-major order.
template <class Fn>
void for_each_pair(const PoolPlan& plan, Fn fn) {
  TapOffsets offsets;
  const WindowRows rows{0, window_rows(plan.window, plan.input)};
  for_each_tap(plan.window.kernel, [&](std::int64_t, const Dims& tap) {
    find_tap(plan.window, tap, plan.input, plan.output, rows, Windows::all, offsets);
    for (std::int64_t channel = 0; channel < plan.input.channels; ++channel)
      for (std::size_t i = 0; i < offsets.input.size(); ++i)
        fn(static_cast<std::size_t>(offsets.input[i] + channel * plan.input.channel_stride),
           static_cast<std::size_t>(offsets.output[i] + channel * plan.output.channel_stride));
  });
}

/// IEEE 754-2019 maximum, and whether `x` is greater than what came before.
bool exceeds(double x, double greatest) {
  if (std::isnan(greatest)) return false;
  return std::isnan(x) || x > greatest || (x == greatest && std::signbit(greatest) && !std::signbit(x));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Numbers greatest_of(const PoolPlan& plan, const Numbers& source) {
  Numbers greatest(static_cast<std::size_t>(numel(plan.output_shape).value()), -kInfinity);
  for_each_pair(plan, [&](std::size_t in, std::size_t out) {
    if (exceeds(source[in], greatest[out])) greatest[out] = source[in];
  });
  return greatest;
}

/// Where each window's gradient goes; nowhere when all of it is padding.
std::vector<std::size_t> find_winners(const PoolPlan& plan, const Numbers& source) {
  const auto count = static_cast<std::size_t>(numel(plan.output_shape).value());
  std::vector<std::size_t> winners(count, source.size());
  for_each_pair(plan, [&](std::size_t in, std::size_t out) {
    const double so_far = winners[out] < source.size() ? source[winners[out]] : -kInfinity;
    const bool first = winners[out] == source.size();
    if (first || (!std::isnan(so_far) && (std::isnan(source[in]) || source[in] > so_far))) winners[out] = in;
  });
  return winners;
}

/// How far apart neighbours along each dim are in ONNX's indices: row-major, or with `storage_order` 1 column-major
/// within a channel.
Dims index_strides(const Op& op, const PoolPlan& plan) {
  Dims strides = row_major_strides(plan.input_shape);
  if (attribute_or<std::int64_t>(op, "storage_order", 0) == 0) return strides;
  std::int64_t stride = 1;
  for (std::size_t dim = 2; dim < strides.size(); ++dim) {
    strides[dim] = stride;
    stride *= plan.input_shape[dim];
  }
  return strides;
}

/// Where each window's greatest element is, -1 where all of it is padding.
void store_indices(const Op& op, const PoolPlan& plan, const Numbers& source, const MutableTensor& tensor) {
  const std::vector<std::size_t> winners = find_winners(plan, source);
  std::vector<std::int64_t> index_of(source.size());
  std::size_t at = 0;
  walk(plan.input_shape, std::array<Dims, 1>{index_strides(op, plan)},
       [&](const auto& index) { index_of[at++] = index[0]; });
  at = 0;
  walk(tensor.desc.shape, std::array<Dims, 1>{strides_of(tensor.desc)}, [&](const auto& to) {
    const std::size_t winner = winners[at++];
    store_integer(tensor.desc.dtype, tensor.data, to[0], winner < source.size() ? index_of[winner] : -1);
  });
}

Numbers gradient_of(const std::vector<std::size_t>& winners, const Numbers& gradients, std::size_t inputs) {
  Numbers sums(inputs, 0);
  for (std::size_t i = 0; i < winners.size(); ++i)
    if (winners[i] < inputs) sums[winners[i]] += gradients[i];
  return sums;
}

}  // namespace

Result<std::vector<Dims>> pool_shapes(const Op& op, Inputs inputs) {
  Result<PoolPlan> plan = plan_pool(op, inputs);
  if (!plan.ok()) return plan.status();
  const Dims& shape = plan.value().backward ? plan.value().input_shape : plan.value().output_shape;
  const bool has_indices = op.dialect == Dialect::onnx && op.kind == "MaxPool";
  return std::vector<Dims>(has_indices ? 2 : 1, shape);
}

Status evaluate_average_pool(const Op& op, Inputs inputs, Outputs outputs) {
  return evaluate_separable(sums_of(plan_pool(op, inputs).value()), inputs[0], outputs[0]);
}

Result<std::vector<Bounds>> bound_average_pool(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                               Outputs) {
  return std::vector<Bounds>{bound_separable(sums_of(plan_pool(op, inputs).value()), inputs[0], input_bounds[0])};
}

Status evaluate_max_pool(const Op& op, Inputs inputs, Outputs outputs) {
  const PoolPlan plan = plan_pool(op, inputs).value();
  const Numbers source = load_numbers(inputs[0]);
  store_numbers(plan.backward ? gradient_of(find_winners(plan, source), load_numbers(inputs[1]), source.size())
                              : greatest_of(plan, source),
                outputs[0]);
  if (outputs.size() > 1 && outputs[1].data != nullptr) store_indices(op, plan, source, outputs[1]);
  return {};
}

/// A maximum is off by no more than the most that is among its elements; the gradient is a sum of at most as many terms
/// as a window has taps, and where what is compared may differ nothing is stated.
Result<std::vector<Bounds>> bound_max_pool(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                           Outputs outputs) {
  const PoolPlan plan = plan_pool(op, inputs).value();
  const Numbers source = load_numbers(inputs[0]);
  const DType dtype = inputs[0].desc.dtype;
  const bool exact = is_exact(input_bounds[0]);
  if (!plan.backward) {
    if (exact) return std::vector<Bounds>(outputs.size());
    Bounds bounds(static_cast<std::size_t>(numel(plan.output_shape).value()), 0);
    for_each_pair(plan, [&](std::size_t in, std::size_t out) {
      bounds[out] =
          std::max(bounds[out], stored_bound(input_bounds[0], static_cast<std::int64_t>(in), dtype, source[in]));
    });
    std::vector<Bounds> all{std::move(bounds)};
    if (outputs.size() > 1) all.emplace_back(all[0].size(), kInfinity);
    return all;
  }
  if (!exact) return std::vector<Bounds>{Bounds(source.size(), kInfinity)};
  Numbers errors = load_numbers(inputs[1]);
  const double unit = static_cast<double>(plan.window.taps() + 2) * (dtype == DType::f64 ? 0x1p-52 : 0x1p-24);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double error = stored_bound(input_bounds[1], static_cast<std::int64_t>(i), dtype, errors[i]);
    errors[i] = unit * (std::isfinite(errors[i]) ? std::fabs(errors[i]) : 0) + (1 + unit) * error;
  }
  return std::vector<Bounds>{gradient_of(find_winners(plan, source), errors, source.size())};
}

}  // namespace tenfold::graph

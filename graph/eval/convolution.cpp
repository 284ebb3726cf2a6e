// SPDX-License-Identifier: Apache-2.0
//
// Convolutions as products of matrices. There are three ways between the `input` of a convolution, its `output` and the
// weights: Convolution sums input times weights, ConvolutionBackwardData output times weights, and
// ConvolutionBackwardWeights input times output. A transposed convolution is the second of these, so its source is the
// `output` here, and its backward ops are the first and the third. Each tap of the window is a product of its own, with
// a row for each window whose tap lies within the input; of Convolution, all taps of the windows that lie within it
// with all of them are one.
#include "graph/eval/convolution.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "graph/eval/products.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/window.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

enum class Way : std::uint8_t { to_output, to_input, to_weights };
enum class Side : std::uint8_t { input, output, weights };

struct Kind {
  std::string_view name;
  Way way;
  bool transposed;
  Side first, second;  ///< what the op's first two inputs are
};
constexpr Kind kKinds[] = {
    {"Convolution", Way::to_output, false, Side::input, Side::weights},
    {"ConvolutionBackwardData", Way::to_input, false, Side::output, Side::weights},
    {"ConvolutionBackwardWeights", Way::to_weights, false, Side::input, Side::output},
    {"ConvTranspose", Way::to_input, true, Side::output, Side::weights},
    {"ConvTransposeBackwardData", Way::to_output, true, Side::input, Side::weights},
    {"ConvTransposeBackwardWeights", Way::to_weights, true, Side::output, Side::input},
};

const Kind& kind_of(const Op& op) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return kind.name == op.kind; });
}

/// Weights as [taps][input channels of a group][output channels of all groups], by strides.
struct WeightLayout {
  std::int64_t inputs = 0, outputs = 0;
  std::int64_t tap = 0, input = 0, output = 0;
};

struct ConvolutionPlan {
  Way way = Way::to_output;
  Window window;
  DataLayout input, output;
  Dims input_shape, output_shape, weights_shape;
  WeightLayout weights;
  std::int64_t groups = 1;

  const Dims& result() const {
    return way == Way::to_output ? output_shape : way == Way::to_input ? input_shape : weights_shape;
  }
};

/// Both formats with the spatial dims first, XIO and XOI, have the convolution's output channels last; the others have
/// them first.
bool has_spatial_first(const Op& op, bool transposed) {
  const char* const first = transposed ? "XOI" : "XIO";
  return attribute_or<std::string>(op, "weights_format", first) == first;
}

WeightLayout weight_layout(const Dims& shape, bool spatial_first) {
  const std::size_t rank = shape.size();
  const Dims strides = row_major_strides(shape);
  if (spatial_first) return {shape[rank - 2], shape[rank - 1], strides[rank - 3], strides[rank - 2], strides[rank - 1]};
  return {shape[1], shape[0], strides[rank - 1], strides[1], strides[0]};
}

Status find_shapes(const Op& op, Inputs inputs, const Kind& kind, ConvolutionPlan& plan) {
  for (const auto& [side, index] : {std::pair{kind.first, 0}, std::pair{kind.second, 1}}) {
    const Dims& shape = inputs[static_cast<std::size_t>(index)].desc.shape;
    (side == Side::input ? plan.input_shape : side == Side::output ? plan.output_shape : plan.weights_shape) = shape;
  }
  if (kind.way == Way::to_weights || op.kind == "ConvolutionBackwardData") {
    const bool of_weights = kind.way == Way::to_weights;
    Result<Dims> given = given_shape(op, of_weights ? "weights_shape" : "dst_shape", inputs, 2);
    if (!given.ok()) return given.status();
    (of_weights ? plan.weights_shape : plan.input_shape) = std::move(given).value();
  }
  const std::size_t rank = inputs[0].desc.shape.size();
  for (const Dims* shape : {&plan.input_shape, &plan.output_shape, &plan.weights_shape})
    if (rank < 3 || (!shape->empty() && shape->size() != rank))
      return fail(op, Code::invalid_shape, "ranks must be equal and at least 3");
  if (plan.weights_shape.empty()) return fail(op, Code::invalid_op, "the shape of the weights is not given");
  return numel(plan.weights_shape).status();
}

/// The shape of either side from the other's, where it is not known.
Status find_windows(const Op& op, const Kind& kind, ConvolutionPlan& plan) {
  const bool spatial_first = has_spatial_first(op, kind.transposed);
  const std::size_t first = spatial_first ? 0 : 2;
  const auto at = plan.weights_shape.begin() + static_cast<std::ptrdiff_t>(first);
  plan.window.kernel.assign(at, at + static_cast<std::ptrdiff_t>(plan.weights_shape.size() - 2));
  plan.weights = weight_layout(plan.weights_shape, spatial_first);
  if (plan.weights.outputs % plan.groups != 0)
    return fail(op, Code::invalid_shape, "the groups do not divide the channels");

  if (plan.input_shape.empty()) {
    plan.output = data_layout(op, plan.output_shape);
    Dims spatial;
    if (Status s = read_transposed_window(op, plan.output.spatial, plan.window, spatial); !s.ok()) return s;
    plan.input_shape = data_shape(op, plan.output.batch, plan.weights.inputs * plan.groups, spatial);
    plan.input = data_layout(op, plan.input_shape);
    return {};
  }
  plan.input = data_layout(op, plan.input_shape);
  if (Status s = read_window(op, plan.input.spatial, plan.window); !s.ok()) return s;
  Dims shape = data_shape(op, plan.input.batch, plan.weights.outputs, plan.window.output);
  if (!plan.output_shape.empty() && plan.output_shape != shape)
    return fail(op, Code::invalid_shape, "its operands do not fit together");
  plan.output_shape = std::move(shape);
  plan.output = data_layout(op, plan.output_shape);
  return {};
}

Result<ConvolutionPlan> plan_convolution(const Op& op, Inputs inputs) {
  const Kind& kind = kind_of(op);
  if (inputs.size() < 2 || inputs.size() > 3 || is_missing(inputs[1]))
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 2 or 3");
  ConvolutionPlan plan;
  plan.way = kind.way;
  plan.groups = attribute_or<std::int64_t>(op, "groups", 1);
  if (plan.groups < 1) return fail(op, Code::invalid_op, "there are no groups");
  if (Status s = find_shapes(op, inputs, kind, plan); !s.ok()) return s;
  if (Status s = find_windows(op, kind, plan); !s.ok()) return s;
  const bool fits = plan.input.channels == plan.weights.inputs * plan.groups &&
                    plan.output.channels == plan.weights.outputs && plan.input.batch == plan.output.batch;
  if (!fits) return fail(op, Code::invalid_shape, "channels, groups and weights do not fit together");
  return plan;
}

/// Where the elements are that a sum of Convolution adds up, tap by tap and of each tap channel by channel: in the
/// input, from where the window begins, and in a group's weights.
struct Depth {
  std::vector<std::int64_t> input, weights;
};

Depth depth_of(const ConvolutionPlan& plan) {
  Depth depth;
  for_each_tap(plan.window.kernel, [&](std::int64_t index, const Dims& tap) {
    std::int64_t at = 0;
    for (std::size_t dim = 0; dim < tap.size(); ++dim)
      at += tap[dim] * plan.window.dilations[dim] * plan.input.spatial_strides[dim];
    for (std::int64_t channel = 0; channel < plan.weights.inputs; ++channel) {
      depth.input.push_back(at + channel * plan.input.channel_stride);
      depth.weights.push_back(index * plan.weights.tap + channel * plan.weights.input);
    }
  });
  return depth;
}

/// Operands and results of the sums, in row-major order.
struct Sums {
  const double *a, *b;
  double* results;
};

/// One group of a convolution: its sums along one tap, or along all of windows that are whole.
class Group {
 public:
  Group(const ConvolutionPlan& plan, std::int64_t group)
      : plan_(plan),
        inputs_(plan.weights.inputs),
        outputs_(plan.weights.outputs / plan.groups),
        input_at_(group * inputs_ * plan.input.channel_stride),
        output_at_(group * outputs_ * plan.output.channel_stride),
        weights_at_(group * outputs_ * plan.weights.output) {}

  void add_whole(const TapOffsets& offsets, const Depth& depth, const Sums& sums) const {
    add_product({windows(offsets), outputs_, static_cast<std::int64_t>(depth.input.size())},
                {sums.a + input_at_, Axis(offsets.input), Axis(depth.input)},
                {sums.b + weights_at_, Axis(depth.weights), plan_.weights.output},
                {sums.results + output_at_, Axis(offsets.output), plan_.output.channel_stride});
  }

  void add_tap(const TapOffsets& offsets, std::int64_t tap, const Sums& sums) const {
    const std::int64_t weights = weights_at_ + tap * plan_.weights.tap;
    const Axis in_channels(plan_.input.channel_stride), out_channels(plan_.output.channel_stride);
    const Axis in_windows(offsets.input), out_windows(offsets.output);
    switch (plan_.way) {
      case Way::to_output:
        add_product({windows(offsets), outputs_, inputs_}, {sums.a + input_at_, in_windows, in_channels},
                    {sums.b + weights, plan_.weights.input, plan_.weights.output},
                    {sums.results + output_at_, out_windows, out_channels});
        break;
      case Way::to_input:
        add_product({windows(offsets), inputs_, outputs_}, {sums.a + output_at_, out_windows, out_channels},
                    {sums.b + weights, plan_.weights.output, plan_.weights.input},
                    {sums.results + input_at_, in_windows, in_channels});
        break;
      case Way::to_weights:
        add_product({inputs_, outputs_, windows(offsets)}, {sums.a + input_at_, in_channels, in_windows},
                    {sums.b + output_at_, out_windows, out_channels},
                    {sums.results + weights, plan_.weights.input, plan_.weights.output});
        break;
    }
  }

 private:
  static std::int64_t windows(const TapOffsets& offsets) { return static_cast<std::int64_t>(offsets.input.size()); }

  const ConvolutionPlan& plan_;
  std::int64_t inputs_, outputs_;                   ///< channels
  std::int64_t input_at_, output_at_, weights_at_;  ///< where the group begins
};

/// Some rows of windows.
void add_rows(const ConvolutionPlan& plan, const Depth& depth, WindowRows rows, const Sums& sums) {
  const bool joins_taps = plan.way == Way::to_output;
  TapOffsets offsets;
  const auto of_each_group = [&](const Dims& tap, Windows which, const auto& add) {
    find_tap(plan.window, tap, plan.input, plan.output, rows, which, offsets);
    for (std::int64_t group = 0; group < plan.groups && !offsets.input.empty(); ++group) add(Group(plan, group));
  };
  if (joins_taps)
    of_each_group(Dims(plan.window.kernel.size(), 0), Windows::whole,
                  [&](const Group& group) { group.add_whole(offsets, depth, sums); });
  for_each_tap(plan.window.kernel, [&](std::int64_t index, const Dims& tap) {
    of_each_group(tap, joins_taps ? Windows::cut : Windows::all,
                  [&](const Group& group) { group.add_tap(offsets, index, sums); });
  });
}

/// Rows at a time so that what all taps of theirs read and add to stays in the caches.
void add_convolution(const ConvolutionPlan& plan, const Sums& sums) {
  constexpr std::int64_t kNumbers = 64 * 1024;
  const Depth depth = depth_of(plan);
  const std::int64_t in_a_row = plan.window.output.back() * (plan.input.channels + plan.output.channels);
  const std::int64_t all = window_rows(plan.window, plan.input);
  const std::int64_t step = std::max<std::int64_t>(1, kNumbers / std::max<std::int64_t>(1, in_a_row));
  for (std::int64_t row = 0; row < all; row += step) add_rows(plan, depth, {row, std::min(row + step, all)}, sums);
}

/// What other kinds have as their third input is a shape.
bool has_bias(const Op& op, Inputs inputs) {
  return (op.kind == "Convolution" || op.kind == "ConvTranspose") && has_input(inputs, 2);
}

Products products_of(const Op& op, ConvolutionPlan plan, Inputs inputs) {
  Products products;
  products.shape = plan.result();
  const std::int64_t windows = plan.output.batch * numel(plan.window.output).value();
  switch (plan.way) {
    case Way::to_output: products.terms = plan.window.taps() * plan.weights.inputs; break;
    case Way::to_input: products.terms = plan.window.taps() * plan.weights.outputs / plan.groups; break;
    case Way::to_weights: products.terms = windows; break;
  }
  products.has_bias = has_bias(op, inputs);
  if (products.has_bias) {
    products.bias_strides.assign(products.shape.size(), 0);
    products.bias_strides[channel_dim(op, products.shape.size())] = 1;
  }
  const bool swapped = kind_of(op).first == Side::output && plan.way == Way::to_weights;
  products.add = [plan = std::move(plan), swapped](const double* a, const double* b, double* results) {
    add_convolution(plan, {swapped ? b : a, swapped ? a : b, results});
  };
  return products;
}

}  // namespace

Result<std::vector<Dims>> convolution_shapes(const Op& op, Inputs inputs) {
  if (const std::optional<Op> twin = twin_of(op, inputs)) return convolution_shapes(*twin, inputs);
  const Result<ConvolutionPlan> plan = plan_convolution(op, inputs);
  if (!plan.ok()) return plan.status();
  const Dims& shape = plan.value().result();
  if (has_bias(op, inputs)) {
    const auto channels = shape[channel_dim(op, shape.size())];
    if (inputs[2].desc.shape != Dims{channels})
      return fail(op, Code::invalid_shape, "the bias has not one element for each channel");
  }
  return std::vector<Dims>{shape};
}

Status evaluate_convolution(const Op& op, Inputs inputs, Outputs outputs) {
  if (const std::optional<Op> twin = twin_of(op, inputs)) return evaluate_convolution(*twin, inputs, outputs);
  return evaluate_products(products_of(op, plan_convolution(op, inputs).value(), inputs), inputs, outputs);
}

Result<std::vector<Bounds>> bound_convolution(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                              Outputs outputs) {
  if (const std::optional<Op> twin = twin_of(op, inputs))
    return bound_convolution(*twin, inputs, input_bounds, outputs);
  return bound_products(products_of(op, plan_convolution(op, inputs).value(), inputs), inputs, input_bounds);
}

}  // namespace tenfold::graph

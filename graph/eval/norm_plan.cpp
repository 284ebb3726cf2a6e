// SPDX-License-Identifier: Apache-2.0
//
// See norm_plan.hpp.
#include "graph/eval/norm_plan.hpp"

#include <numeric>
#include <string>

#include "graph/eval/shapes.hpp"
#include "graph/ir/attribute.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

constexpr int kScaleByChannel = 21;  ///< GroupNormalization
constexpr int kSpatial = 9;          ///< BatchNormalization
/// MeanVarianceNormalization's, an f32 constant of its function body.
constexpr double kMvnEpsilon = static_cast<double>(1e-9F);

std::vector<std::size_t> range(std::size_t from, std::size_t to) {
  std::vector<std::size_t> dims(to > from ? to - from : 0);
  std::iota(dims.begin(), dims.end(), from);
  return dims;
}

/// Dim `dim` as `groups` dims' worth of what is left of it.
TensorDesc split_at(const TensorDesc& desc, std::size_t dim, std::int64_t groups) {
  TensorDesc out = desc;
  out.strides = strides_of(desc);
  const std::int64_t each = desc.shape[dim] / groups;
  const auto at = static_cast<std::ptrdiff_t>(dim);
  out.shape[dim] = groups;
  out.shape.insert(out.shape.begin() + at + 1, each);
  const std::int64_t stride = out.strides[dim];
  out.strides[dim] = stride * each;
  out.strides.insert(out.strides.begin() + at + 1, stride);
  return out;
}

Result<std::size_t> wrapped_axis(const Op& op, std::string_view name, std::size_t rank) {
  const std::int64_t axis = integer_attribute(op, name);
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit)
    return fail(op, Code::invalid_op,
                "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank) + " (reduce.C3)");
  return static_cast<std::size_t>(axis < 0 ? axis + limit : axis);
}

/// From the axis to the last dim.
Result<NormPlan> plan_layer(const Op& op, Inputs inputs, NormPlan plan) {
  const std::size_t rank = plan.shape.size();
  const bool onnx = op.dialect == Dialect::onnx;
  const Result<std::size_t> axis = wrapped_axis(op, onnx ? "axis" : "begin_norm_axis", rank);
  if (!axis.ok()) return axis.status();
  plan.epsilon = f32_attribute(op, "epsilon");
  for (std::size_t i = axis.value(); i < rank; ++i) plan.reduced[i] = true;
  plan.stats_dims = range(0, onnx ? rank : axis.value());
  plan.stats = Dims(plan.shape.begin(), plan.shape.begin() + static_cast<std::ptrdiff_t>(axis.value()));
  plan.stats.resize(plan.stats_dims.size(), 1);
  plan.inverse_deviation = onnx;
  const std::size_t scale_rank = has_input(inputs, 1) ? inputs[1].desc.shape.size() : 0;
  if (scale_rank > rank) return fail(op, Code::invalid_shape, "its scale has more dims than its source");
  plan.scale_dims = range(rank - scale_rank, rank);
  plan.broadcasts = onnx;
  if (op.kind == "RMSNorm" || op.kind == "RMSNormalization") {
    plan.statistic = Statistic::mean_square;
    plan.takes_shift = false;
  }
  return plan;
}

Result<std::size_t> norm_channel(const Op& op, const Dims& shape) {
  if (shape.size() < 2) return fail(op, Code::invalid_shape, "its source has no channels");
  return channel_dim(op, shape.size());
}

Result<NormPlan> plan_group(const Op& op, Inputs inputs, NormPlan plan) {
  const Result<std::size_t> channel = norm_channel(op, plan.shape);
  if (!channel.ok()) return channel.status();
  const std::size_t c = channel.value();
  plan.epsilon = f32_attribute(op, "epsilon");
  plan.groups = integer_attribute(op, op.dialect == Dialect::onnx ? "num_groups" : "groups");
  if (plan.groups < 1 || plan.shape[c] % plan.groups != 0)
    return fail(op, Code::invalid_op, std::to_string(plan.groups) + " groups do not divide its channels");
  const schemas::OpVersion* version = onnx_version(op);
  // Models of older versions have a scale by group, as the document says, or by channel.
  plan.splits_scale = version == nullptr || version->since_version >= kScaleByChannel ||
                      (has_input(inputs, 1) && inputs[1].desc.shape == Dims{plan.shape[c]});
  plan.split_dim = c;
  plan.stats = {plan.shape[0], plan.groups};
  plan.shape = split_at({DType::f32, plan.shape, {}}, c, plan.groups).shape;
  plan.reduced.assign(plan.shape.size(), true);
  plan.reduced[0] = plan.reduced[c] = false;
  plan.scale_dims = plan.splits_scale ? std::vector<std::size_t>{c, c + 1} : std::vector<std::size_t>{c};
  plan.stats_dims = {0, c};
  return plan;
}

Result<NormPlan> plan_channel(const Op& op, NormPlan plan) {
  plan.epsilon = f32_attribute(op, "epsilon");
  const bool instance = op.kind == "InstanceNormalization";
  if (!instance) {
    plan.statistic = Statistic::given;
    plan.scale_dims = range(1, plan.shape.size());
    const schemas::OpVersion* version = onnx_version(op);
    if (version != nullptr && version->since_version < kSpatial && attribute_or<std::int64_t>(op, "spatial", 1) == 0)
      return plan;
  }
  if (op.kind == "BatchNormalization" && plan.shape.size() == 1) {
    plan.scale_dims = {0};
    return plan;
  }
  const Result<std::size_t> channel = norm_channel(op, plan.shape);
  if (!channel.ok()) return channel.status();
  plan.scale_dims = {channel.value()};
  for (std::size_t i = 2; instance && i < plan.shape.size(); ++i) plan.reduced[i] = true;
  return plan;
}

Result<NormPlan> plan_lp(const Op& op, NormPlan plan) {
  const Result<std::size_t> axis = wrapped_axis(op, "axis", plan.shape.size());
  if (!axis.ok()) return axis.status();
  plan.reduced[axis.value()] = true;
  plan.statistic = integer_attribute(op, "p") == 1 ? Statistic::l1 : Statistic::l2;
  return plan;
}

Result<NormPlan> plan_mvn(const Op& op, NormPlan plan) {
  const auto rank = static_cast<std::int64_t>(plan.shape.size());
  for (const std::int64_t axis : attribute_or<std::vector<std::int64_t>>(op, "axes", {0, 2, 3})) {
    if (axis < -rank || axis >= rank)
      return fail(op, Code::invalid_op, "axis " + std::to_string(axis) + " is out of range (reduce.C3)");
    plan.reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  plan.statistic = Statistic::deviation;
  plan.epsilon = kMvnEpsilon;
  return plan;
}

Result<NormPlan> plan_by_kind(const Op& op, Inputs inputs) {
  NormPlan plan;
  plan.shape = inputs[0].desc.shape;
  plan.reduced.assign(plan.shape.size(), false);
  if (op.kind == "GroupNorm" || op.kind == "GroupNormalization") return plan_group(op, inputs, std::move(plan));
  if (op.kind == "LpNormalization") return plan_lp(op, std::move(plan));
  if (op.kind == "MeanVarianceNormalization") return plan_mvn(op, std::move(plan));
  if (op.kind.starts_with("Batch") || op.kind.starts_with("Instance")) return plan_channel(op, std::move(plan));
  return plan_layer(op, inputs, std::move(plan));
}

/// Each dim of the operand is that of the source which it lies along, or 1.
Status check_scale(const Op& op, const NormPlan& plan, const TensorDesc& desc) {
  bool fits = true;
  if (plan.splits_scale) {
    const std::size_t c = *plan.split_dim;
    fits = desc.shape == Dims{plan.shape[c] * plan.shape[c + 1]};
  } else {
    const std::vector<std::size_t> dims = plan.dims_of(desc.shape.size());
    fits = desc.shape.size() == dims.size();
    for (std::size_t i = 0; fits && i < desc.shape.size(); ++i)
      fits = desc.shape[i] == 1 || desc.shape[i] == plan.shape[dims[i]];
  }
  return fits ? Status() : fail(op, Code::invalid_shape, "an operand does not lie along its source's channels");
}

}  // namespace

TensorDesc NormPlan::split(const TensorDesc& desc) const {
  return split_dim ? split_at(desc, *split_dim, groups) : desc;
}

TensorDesc NormPlan::split_scale(const TensorDesc& desc) const {
  return splits_scale ? split_at(desc, 0, groups) : desc;
}

std::vector<std::size_t> NormPlan::dims_of(std::size_t rank) const {
  return broadcasts && rank <= shape.size() ? range(shape.size() - rank, shape.size()) : scale_dims;
}

Result<NormPlan> plan_norm(const Op& op, Inputs inputs) {
  Result<NormPlan> plan = plan_by_kind(op, inputs);
  if (!plan.ok()) return plan;
  if (plan.value().statistic == Statistic::given && inputs.size() != 5)
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 5");
  const bool affine = op.dialect != Dialect::onednn || attribute_or<bool>(op, "use_affine", true);
  if (!affine) plan.value().scale = plan.value().shift = inputs.size();
  for (std::size_t i = 1; i < inputs.size() && affine; ++i) {
    if (!has_input(inputs, i)) continue;
    if (Status s = check_scale(op, plan.value(), inputs[i].desc); !s.ok()) return s;
  }
  return plan;
}

}  // namespace tenfold::graph

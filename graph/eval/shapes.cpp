// SPDX-License-Identifier: Apache-2.0
//
// Shape arithmetic of the reference evaluator.
#include "graph/eval/shapes.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "graph/eval/composite.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

/// The versions that brought NumPy's broadcasting to ONNX's ops of two inputs, and of any number.
constexpr int kBinaryBroadcast = 7;
constexpr int kVariadicBroadcast = 8;

Result<std::vector<std::int64_t>> read_axes(const Op& op, std::span<const ConstTensor> inputs) {
  if (inputs.size() < 2 || is_missing(inputs[1])) return integers(op, "axes");
  const TensorDesc& desc = inputs[1].desc;
  if (desc.dtype != DType::s32 && desc.dtype != DType::s64)
    return fail(op, Code::invalid_dtype, "axes are " + std::string(to_string(desc.dtype)) + ", not s32 or s64");
  if (desc.shape.size() > 1)
    return fail(op, Code::invalid_shape, "axes have shape " + tenfold::to_string(desc.shape) + ", not 1-D");
  const std::int64_t count = desc.shape.empty() ? 1 : desc.shape[0];
  if (count > kMaxRank) return fail(op, Code::invalid_shape, std::to_string(count) + " axes for a tensor (reduce.C4)");
  const std::int64_t stride = desc.shape.empty() ? 0 : strides_of(desc)[0];
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 0; i < count; ++i)
    axes.push_back(static_cast<std::int64_t>(load_integer(desc.dtype, inputs[1].data, i * stride)));
  return axes;
}

/// The dim that a 1-D operand of BiasAdd or PReLU lies along, where broadcasting would have it along the last.
std::optional<std::size_t> channel_of(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs) {
  const Dims& data = inputs[0].desc.shape;
  const Dims& channel = inputs[1].desc.shape;
  if (channel.size() != 1) return std::nullopt;
  if (row.name == "prelu" && (channel[0] == 1 || !flag(op, "per_channel_broadcast", true))) return std::nullopt;
  // Without channels, it fits nowhere.
  if (!has_channels(op, data.size())) return data.size() + 1;
  const std::size_t dim = channel_dim(op, data.size());
  return channel[0] == data[dim] ? std::optional(dim) : std::nullopt;
}

/// The same of ONNX's ops before they broadcast as NumPy does: `axis`, with `broadcast = 1`, or PRelu's dim 1.
std::optional<std::size_t> legacy_axis(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs) {
  const schemas::OpVersion* version = onnx_version(op);
  if (version == nullptr || inputs.size() != 2) return std::nullopt;
  const Dims& data = inputs[0].desc.shape;
  const Dims& operand = inputs[1].desc.shape;
  if (row.name == "prelu") {
    const bool channels = version->since_version < kBinaryBroadcast && operand.size() == 1 && data.size() > 1;
    return channels && operand[0] != 1 ? std::optional<std::size_t>(1) : std::nullopt;
  }
  if (!declares_attribute(op, "broadcast") || !flag(op, "broadcast", false)) return std::nullopt;
  const auto last = static_cast<std::int64_t>(data.size()) - static_cast<std::int64_t>(operand.size());
  const auto axis = attribute_or<std::int64_t>(op, "axis", last);
  // Out of range, it fits nowhere.
  return axis >= 0 && axis <= last ? static_cast<std::size_t>(axis) : data.size() + 1;
}

/// Where input `index` begins among the dims of the first, if not aligned with its end.
std::optional<std::size_t> first_dim(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs,
                                     std::size_t index) {
  if (index != 1) return std::nullopt;
  return row.family == Family::channel_map ? channel_of(op, row, inputs) : legacy_axis(op, row, inputs);
}

/// Also ONNX's versions that take equal shapes unless told otherwise.
bool takes_equal_shapes(const Op& op, const OpRow& row) {
  if (attribute_or<std::string>(op, "auto_broadcast", "numpy") == "none") return true;
  const schemas::OpVersion* version = onnx_version(op);
  if (version == nullptr) return false;
  const bool variadic = !version->inputs.empty() && version->inputs.back().variadic;
  if (variadic) return version->since_version < kVariadicBroadcast;
  return row.family == Family::map && declares_attribute(op, "broadcast") && !flag(op, "broadcast", false);
}

bool lies_along(const Dims& operand, const Dims& data, std::size_t from) {
  if (from + operand.size() > data.size()) return false;
  for (std::size_t i = 0; i < operand.size(); ++i)
    if (operand[i] != 1 && operand[i] != data[from + i]) return false;
  return true;
}

/// The attribute `shape`, with the one dim of -1 computed from the number of elements.
Result<Dims> reshaped(const Op& op, const Dims& from) {
  Dims shape = integers(op, "shape");
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open == shape.end()) return shape;
  *open = 1;
  const Result<std::int64_t> wanted = numel(from);
  const Result<std::int64_t> known = numel(shape);
  if (!wanted.ok()) return wanted.status();
  if (!known.ok()) return fail(op, known.status());
  if (known.value() == 0 || wanted.value() % known.value() != 0)
    return fail(op, Code::invalid_shape, std::to_string(wanted.value()) + " elements leave no whole number for the -1");
  *open = wanted.value() / known.value();
  return shape;
}

Result<ReducePlan> plan_axes(const Op& op, const TensorDesc& desc, const std::vector<std::int64_t>& axes) {
  const auto rank = static_cast<std::int64_t>(desc.shape.size());
  ReducePlan plan;
  plan.is_reduced.assign(desc.shape.size(), false);
  plan.keep_dims = keeps_dims(op);
  for (const std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return fail(op, Code::invalid_op,
                  "axis " + std::to_string(axis) + " is out of range [" + std::to_string(-rank) + ", " +
                      std::to_string(rank - 1) + "] for rank " + std::to_string(rank) + " (reduce.C3)");
    const auto dim = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (plan.is_reduced[dim])
      return fail(op, Code::invalid_op, "axis " + std::to_string(axis) + " is given twice (reduce.C4)");
    plan.is_reduced[dim] = true;
  }
  const Dims strides = strides_of(desc);
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    (plan.is_reduced[i] ? plan.reduced : plan.kept).push_back(desc.shape[i]);
    (plan.is_reduced[i] ? plan.reduced_strides : plan.kept_strides).push_back(strides[i]);
    if (!plan.is_reduced[i] || plan.keep_dims) plan.output.push_back(plan.is_reduced[i] ? 1 : desc.shape[i]);
  }
  return plan;
}

}  // namespace

Dims ReducePlan::output_strides(const TensorDesc& desc) const {
  const Dims all = strides_of(desc);
  if (!keep_dims) return all;
  Dims out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!is_reduced[i]) out.push_back(all[i]);
  return out;
}

Result<ReducePlan> plan_reduce(const Op& op, std::span<const ConstTensor> inputs) {
  Result<std::vector<std::int64_t>> axes = read_axes(op, inputs);
  if (!axes.ok()) return axes.status();
  const TensorDesc& desc = inputs[0].desc;
  const bool onnx = op.dialect == Dialect::onnx || find_attribute(op, "noop_with_empty_axes") != nullptr;
  const bool none = axes.value().empty();
  if (none && onnx && !flag(op, "noop_with_empty_axes", false)) {
    axes.value().resize(desc.shape.size());
    std::iota(axes.value().begin(), axes.value().end(), 0);
  }
  Result<ReducePlan> plan = plan_axes(op, desc, axes.value());
  if (plan.ok()) plan.value().identity = none && !onnx;
  return plan;
}

Result<ReducePlan> plan_arg_reduce(const Op& op, const ConstTensor& input) {
  const std::vector<std::int64_t> axis{attribute_or<std::int64_t>(op, "axis", 0)};
  Result<ReducePlan> plan = plan_axes(op, input.desc, axis);
  if (plan.ok() && plan.value().reduced[0] == 0)
    return fail(op, Code::invalid_shape, "axis " + std::to_string(axis[0]) + " is empty and has no extreme");
  return plan;
}

Result<Dims> plan_broadcast(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs) {
  Dims out = inputs[0].desc.shape;
  const bool exact = takes_equal_shapes(op, row);
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    if (is_missing(inputs[k])) continue;
    const Dims& shape = inputs[k].desc.shape;
    const Status mismatch = fail(op, Code::invalid_shape,
                                 "shapes " + tenfold::to_string(out) + " and " + tenfold::to_string(shape) +
                                     (exact ? " differ, and it does not broadcast" : " do not broadcast"));
    if (const std::optional<std::size_t> from = first_dim(op, row, inputs, k)) {
      if (!lies_along(shape, out, *from)) return mismatch;
      continue;
    }
    // A slope of one element gives a number no dim.
    if (row.name == "prelu" && out.empty() && shape == Dims{1}) continue;
    if (exact && shape != out) return mismatch;
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), 1);
    const std::size_t skip = out.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& dim = out[skip + i];
      if (dim == 1)
        dim = shape[i];
      else if (shape[i] != 1 && shape[i] != dim)
        return mismatch;
    }
  }
  return out;
}

Dims broadcast_strides(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs, std::size_t index,
                       const Dims& output) {
  const TensorDesc& desc = inputs[index].desc;
  const Dims strides = strides_of(desc);
  Dims out(output.size(), 0);
  // The one element beside a number has no dim there.
  if (is_missing(inputs[index]) || strides.size() > output.size()) return out;
  const std::size_t skip = first_dim(op, row, inputs, index).value_or(output.size() - strides.size());
  for (std::size_t i = 0; i < strides.size(); ++i) out[skip + i] = desc.shape[i] == 1 ? 0 : strides[i];
  return out;
}

namespace {

/// Of an op that has one output.
Result<Dims> output_shape(const Op& op, std::span<const ConstTensor> inputs, const Dims& declared) {
  const OpRow* row = find_op_row(op);
  if (row == nullptr) return fail(op, Code::unsupported_op, "the reference evaluator does not know it");
  if (inputs.empty()) return fail(op, Code::invalid_op, "it has no input");
  switch (row->family) {
    case Family::reduce: {
      Result<ReducePlan> plan = plan_reduce(op, inputs);
      if (!plan.ok()) return plan.status();
      return std::move(plan).value().output;
    }
    case Family::arg_reduce: {
      Result<ReducePlan> plan = plan_arg_reduce(op, inputs[0]);
      if (!plan.ok()) return plan.status();
      return std::move(plan).value().output;
    }
    case Family::map:
    case Family::channel_map:
    case Family::select: return plan_broadcast(op, *row, inputs);
    case Family::reshape: break;
    case Family::cast:
    case Family::end: return inputs[0].desc.shape;
  }
  return find_attribute(op, "shape") == nullptr ? declared : reshaped(op, inputs[0].desc.shape);
}

}  // namespace

Result<std::vector<Dims>> output_shapes(const Op& op, std::span<const ConstTensor> inputs,
                                        const std::vector<Dims>& declared) {
  if (const CompositeRow* row = find_composite(op)) {
    Result<std::vector<Dims>> shapes = row->shapes(op, inputs);
    if (!shapes.ok()) return shapes.status();
    if (declared.size() > shapes.value().size())
      return fail(op, Code::invalid_op, std::to_string(declared.size()) + " outputs are too many");
    shapes.value().resize(declared.size());
    return shapes;
  }
  if (declared.empty()) return std::vector<Dims>();
  Result<Dims> shape = output_shape(op, inputs, declared[0]);
  if (!shape.ok()) return shape.status();
  std::vector<Dims> shapes(declared.size());
  shapes[0] = std::move(shape).value();
  return shapes;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Reshapes, joins, and what is made of shapes alone; see movement.hpp. Views of regular places are views.cpp's.
#include "graph/eval/movement.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

using Integers = std::vector<std::int64_t>;

/// No list of integers is longer: there is at most one an output.
constexpr std::int64_t kMostIntegers = 1 << 20;

Result<std::vector<Dims>> one(Result<Dims> shape) {
  if (!shape.ok()) return shape.status();
  return std::vector<Dims>{std::move(shape).value()};
}

Result<Dims> by_list(const Op& op, Inputs inputs) {
  const Dims& source = inputs[0].desc.shape;
  Dims shape = integers(op, "shape");
  bool copies = flag(op, "special_zero", false);
  if (op.dialect == Dialect::onnx) {
    copies = !flag(op, "allowzero", false);
    if (inputs.size() > 1) {
      Result<Integers> read = read_integers(op, inputs, 1);
      if (!read.ok()) return read.status();
      shape = std::move(read).value();
    }
  }
  Integers have = source, want;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && copies) {
      if (i >= source.size()) return fail(op, Code::invalid_shape, "there is no dim for the 0 to copy (reshape.R2)");
      shape[i] = source[i];
      have[i] = 1;
    } else if (shape[i] != -1) {
      want.push_back(shape[i]);
    }
  }
  if (std::count(shape.begin(), shape.end(), -1) > 1)
    return fail(op, Code::invalid_shape, "more than one -1 (reshape.R1)");
  const auto open = std::find(shape.begin(), shape.end(), -1);
  const Result<std::int64_t> from = numel(have);
  const Result<std::int64_t> to = numel(want);
  if (!from.ok()) return from.status();
  if (!to.ok()) return fail(op, to.status());
  const bool divides = to.value() != 0 && from.value() % to.value() == 0;
  if (open == shape.end() ? from.value() != to.value() : !divides)
    return fail(op, Code::invalid_shape, "the new shape has another number of elements (reshape.R1)");
  if (open != shape.end()) *open = from.value() / to.value();
  return shape;
}

Result<std::vector<bool>> axes_mask(const Op& op, const Integers& axes, std::size_t rank) {
  std::vector<bool> mask(rank, false);
  for (const std::int64_t axis : axes) {
    const Result<std::size_t> dim = read_axis(op, axis, rank);
    if (!dim.ok()) return dim.status();
    if (mask[dim.value()])
      return fail(op, Code::invalid_op, "axis " + std::to_string(axis) + " is given twice (reduce.C4)");
    mask[dim.value()] = true;
  }
  return mask;
}

Result<Dims> by_axes(const Op& op, Inputs inputs) {
  const Dims& source = inputs[0].desc.shape;
  Integers axes = integers(op, "axes");
  bool given = find_attribute(op, "axes") != nullptr;
  if (has_input(inputs, 1)) {
    Result<Integers> read = read_integers(op, inputs, 1);
    if (!read.ok()) return read.status();
    axes = std::move(read).value();
    given = true;
  }
  const bool adds = op.kind == "Unsqueeze";
  const std::size_t rank = source.size() + (adds ? axes.size() : 0);
  if (rank > static_cast<std::size_t>(kMaxRank)) return fail(op, Code::invalid_shape, "the output's rank is above 12");
  const Result<std::vector<bool>> mask = axes_mask(op, axes, rank);
  if (!mask.ok()) return mask.status();
  Dims shape;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (adds) {
      shape.push_back(mask.value()[i] ? 1 : source[next++]);
      continue;
    }
    const bool goes = given ? mask.value()[i] : source[i] == 1;
    if (goes && source[i] != 1)
      return fail(op, Code::invalid_shape, "dim " + std::to_string(i) + " is not 1 (move.V3)");
    if (!goes) shape.push_back(source[i]);
  }
  return shape;
}

Result<Dims> flattened(const Op& op, const Dims& source) {
  const auto rank = static_cast<std::int64_t>(source.size());
  std::int64_t axis = attribute_or<std::int64_t>(op, "axis", 1);
  if (axis < -rank || axis > rank)
    return fail(op, Code::invalid_op, "axis " + std::to_string(axis) + " is out of range (move.V7)");
  if (axis < 0) axis += rank;
  Dims shape{1, 1};
  for (std::int64_t i = 0; i < rank; ++i) shape[i < axis ? 0 : 1] *= source[static_cast<std::size_t>(i)];
  return shape;
}

struct ConcatPlan {
  std::size_t axis = 0;
  Dims shape;
};

Result<ConcatPlan> plan_concat(const Op& op, Inputs inputs) {
  ConcatPlan plan{0, inputs[0].desc.shape};
  const std::int64_t fallback = op.dialect == Dialect::onnx ? 1 : 0;
  const Result<std::size_t> axis = read_axis(op, attribute_or<std::int64_t>(op, "axis", fallback), plan.shape.size());
  if (!axis.ok()) return axis.status();
  plan.axis = axis.value();
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    Dims shape = inputs[k].desc.shape;
    if (shape.size() == plan.shape.size()) std::swap(shape[plan.axis], plan.shape[plan.axis]);
    if (shape != plan.shape && shape.size() != plan.shape.size())
      return fail(op, Code::invalid_shape, "input " + std::to_string(k) + " has another rank (move.V2)");
    plan.shape[plan.axis] += shape[plan.axis];
    shape[plan.axis] = plan.shape[plan.axis];
    if (shape != plan.shape)
      return fail(op, Code::invalid_shape, "input " + std::to_string(k) + " has other dims (move.V2)");
  }
  return plan;
}

}  // namespace

Result<Integers> read_integers(const Op& op, Inputs inputs, std::size_t index) {
  if (!has_input(inputs, index)) return Integers();
  const TensorDesc& desc = inputs[index].desc;
  const std::string what = "input " + std::to_string(index);
  if (desc.dtype != DType::s32 && desc.dtype != DType::s64)
    return fail(op, Code::invalid_dtype, what + " is " + std::string(to_string(desc.dtype)) + ", not s32 or s64");
  if (desc.shape.size() > 1) return fail(op, Code::invalid_shape, what + " has more than one dim (move.V6)");
  const std::int64_t count = desc.shape.empty() ? 1 : desc.shape[0];
  if (count > kMostIntegers) return fail(op, Code::invalid_shape, what + " is too long");
  const std::int64_t stride = desc.shape.empty() ? 0 : strides_of(desc)[0];
  Integers out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(static_cast<std::int64_t>(load_integer(desc.dtype, inputs[index].data, i * stride)));
  return out;
}

Result<std::size_t> read_axis(const Op& op, std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis >= -count && axis < count) return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
  return fail(op, Code::invalid_op,
              "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(count) + " (reduce.C3)");
}

Result<std::vector<Dims>> reshape_shapes(const Op& op, Inputs inputs) {
  if (inputs.empty()) return fail(op, Code::invalid_op, "it has no input");
  if (op.kind == "Flatten") return one(flattened(op, inputs[0].desc.shape));
  if (op.kind == "Squeeze" || op.kind == "Unsqueeze") return one(by_axes(op, inputs));
  return one(by_list(op, inputs));
}

Status evaluate_reshape(const Op& op, Inputs inputs, Outputs outputs) {
  return evaluate_copy(op, inputs[0], outputs[0]);
}

Result<std::vector<Bounds>> bound_reshape(const Op&, Inputs inputs, std::span<const Bounds> input_bounds, Outputs) {
  if (input_bounds[0].empty()) return std::vector<Bounds>(1);
  const TensorDesc& desc = inputs[0].desc;
  Bounds bounds;
  walk(desc.shape, std::array<Dims, 1>{strides_of(desc)}, [&](const auto& at) {
    const auto position = static_cast<std::int64_t>(bounds.size());
    bounds.push_back(stored_bound(input_bounds[0], position, desc.dtype, load_real(desc.dtype, inputs[0].data, at[0])));
  });
  return std::vector<Bounds>{std::move(bounds)};
}

Result<std::vector<Dims>> concat_shapes(const Op& op, Inputs inputs) {
  if (inputs.empty()) return fail(op, Code::invalid_op, "it has no input");
  Result<ConcatPlan> plan = plan_concat(op, inputs);
  if (!plan.ok()) return plan.status();
  return std::vector<Dims>{std::move(plan).value().shape};
}

Status evaluate_concat(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<ConcatPlan> plan = plan_concat(op, inputs);
  if (!plan.ok()) return plan.status();
  const TensorDesc& to = outputs[0].desc;
  const Dims strides = strides_of(to);
  std::int64_t base = 0;
  for (const ConstTensor& input : inputs) {
    walk(input.desc.shape, std::array<Dims, 2>{strides_of(input.desc), strides}, [&](const auto& at) {
      convert(input.desc.dtype, input.data, at[0], to.dtype, outputs[0].data, base + at[1]);
    });
    base += input.desc.shape[plan.value().axis] * strides[plan.value().axis];
  }
  return {};
}

Result<std::vector<Bounds>> bound_concat(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds, Outputs) {
  const Result<ConcatPlan> plan = plan_concat(op, inputs);
  if (!plan.ok()) return plan.status();
  const Result<std::int64_t> count = numel(plan.value().shape);
  if (!count.ok()) return count.status();
  Bounds bounds(static_cast<std::size_t>(count.value()), 0);
  const Dims strides = row_major_strides(plan.value().shape);
  std::int64_t base = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const TensorDesc& desc = inputs[k].desc;
    std::int64_t position = 0;
    walk(desc.shape, std::array<Dims, 2>{strides_of(desc), strides}, [&](const auto& at) {
      const double value = load_real(desc.dtype, inputs[k].data, at[0]);
      bounds[static_cast<std::size_t>(base + at[1])] = stored_bound(input_bounds[k], position++, desc.dtype, value);
    });
    base += desc.shape[plan.value().axis] * strides[plan.value().axis];
  }
  return std::vector<Bounds>{std::move(bounds)};
}

namespace {

/// The dims that a Shape op tells.
Dims told_dims(const Op& op, const Dims& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto bound = [&](const char* name, std::int64_t fallback) {
    const std::int64_t given = attribute_or<std::int64_t>(op, name, fallback);
    return std::min(std::max(given < 0 ? given + rank : given, std::int64_t{0}), rank);
  };
  const std::int64_t first = bound("start", 0);
  const std::int64_t last = std::max(first, bound("end", rank));
  return Dims(shape.begin() + first, shape.begin() + last);
}

}  // namespace

Result<std::vector<Dims>> shape_op_shapes(const Op& op, Inputs inputs) {
  if (inputs.empty()) return fail(op, Code::invalid_op, "it has no input");
  const Dims& source = inputs[0].desc.shape;
  if (op.kind == "Size") return std::vector<Dims>{Dims{}};
  if (op.kind == "Shape") return std::vector<Dims>{Dims{static_cast<std::int64_t>(told_dims(op, source).size())}};
  const Result<std::size_t> axis = read_axis(op, attribute_or<std::int64_t>(op, "axis", 0), source.size());
  if (!axis.ok()) return axis.status();
  return std::vector<Dims>{source};
}

Status evaluate_shape_op(const Op& op, Inputs inputs, Outputs outputs) {
  const Dims& source = inputs[0].desc.shape;
  const TensorDesc& to = outputs[0].desc;
  if (op.kind == "Size") {
    const Result<std::int64_t> count = numel(source);
    if (!count.ok()) return count.status();
    store_integer(to.dtype, outputs[0].data, 0, count.value());
    return {};
  }
  if (op.kind == "Shape") {
    const Dims told = told_dims(op, source);
    const std::int64_t stride = strides_of(to)[0];
    for (std::size_t i = 0; i < told.size(); ++i)
      store_integer(to.dtype, outputs[0].data, static_cast<std::int64_t>(i) * stride, told[i]);
    return {};
  }
  const Result<std::size_t> axis = read_axis(op, attribute_or<std::int64_t>(op, "axis", 0), source.size());
  if (!axis.ok()) return axis.status();
  Dims index(source.size(), 0);
  index[axis.value()] = 1;
  walk(source, std::array<Dims, 2>{index, strides_of(to)},
       [&](const auto& at) { store_integer(to.dtype, outputs[0].data, at[1], at[0]); });
  return {};
}

Result<std::vector<Bounds>> bound_shape_op(const Op&, Inputs, std::span<const Bounds>, Outputs) {
  return std::vector<Bounds>(1);
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Quantization in core ops, all in f32. oneDNN's documents round src / scale + zero point, ONNX's round x / scale and
// add the zero point to that; a clamp to the type's range and a cast end both.
//
// Scales by axis are laid along it. Scales by groups get the groups as dims of their own for the time being: a dim of
// s * g becomes [s, g], and its scales [s, 1].
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "graph/check/movement.hpp"
#include "graph/check/quantize.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

struct Range {
  DType dtype;
  double least;
  double most;
};
constexpr Range kRanges[] = {
    {DType::s8, -128, 127}, {DType::u8, 0, 255}, {DType::s16, -32768, 32767}, {DType::u16, 0, 65535}};

const Range* range_of(DType dtype) {
  const auto* row =
      std::find_if(std::begin(kRanges), std::end(kRanges), [&](const Range& r) { return r.dtype == dtype; });
  return row == std::end(kRanges) ? nullptr : row;
}

/// What is only stored by way of the dtype that kernels unpack it to, which holds all of it.
ValueId numbers_of(Composer& make, ValueId value) {
  switch (make.dtype(value)) {
    case DType::s4: value = make.cast_in_place(value, DType::s8); break;
    case DType::u4: value = make.cast_in_place(value, DType::u8); break;
    case DType::f8_e4m3:
    case DType::f8_e5m2: value = make.cast(value, DType::f16); break;
    default: break;
  }
  return make.cast(value, DType::f32);
}

/// How the input, and what has an element a group, are reshaped where scales are by groups.
struct Split {
  Dims data;
  Dims side;
  bool needed = false;
};

std::optional<Split> split_of(const Dims& shape, const Dims& groups) {
  Split split;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t dim = shape[i];
    if (dim == kUnknownDim) return std::nullopt;
    if (groups[i] == 1 || groups[i] >= dim) {
      split.data.push_back(dim);
      split.side.push_back(groups[i] == 1 ? dim : 1);
      continue;
    }
    // A last group that is short has no place among dims.
    if (dim % groups[i] != 0) return std::nullopt;
    for (const std::int64_t part : {dim / groups[i], groups[i]}) split.data.push_back(part);
    for (const std::int64_t part : {dim / groups[i], std::int64_t{1}}) split.side.push_back(part);
    split.needed = true;
  }
  if (split.data.size() > static_cast<std::size_t>(kMaxRank)) return std::nullopt;
  return split;
}

/// The operands in f32, so that NumPy's broadcasting lays scale and zero point over x.
struct Parts {
  ValueId x = kNone;
  ValueId scale = kNone;
  ValueId zero = kNone;  ///< kNone: all are 0
};

class LaidOut {
 public:
  LaidOut(Composer& make, const Op& op, const ScaleLayout& layout) : make_(make), op_(op), layout_(layout) {}

  std::optional<Parts> parts() {
    const Dims shape = make_.shape(op_.inputs[0]);
    if (layout_.kind == ScaleLayout::Kind::groups) {
      split_ = split_of(shape, layout_.groups);
      if (!split_) return std::nullopt;
    }
    Parts parts;
    parts.x = numbers_of(make_, op_.inputs[0]);
    if (split_ && split_->needed) parts.x = make_.reshape(parts.x, split_->data);
    const auto* scales = find_attribute(op_, "scales");
    parts.scale = scales != nullptr ? listed(std::get<std::vector<double>>(*scales)) : laid(op_.inputs[1]);
    if (has_input(op_, 2)) parts.zero = laid(op_.inputs[2]);
    const auto zeros = attribute_or<Integers>(op_, "zps", {});
    if (std::any_of(zeros.begin(), zeros.end(), [](std::int64_t zero) { return zero != 0; }))
      parts.zero = listed(std::vector<double>(zeros.begin(), zeros.end()));
    return parts;
  }

  /// `value` with the shape of the op's input again. Where there are no groups it has that already, though scales may
  /// say more of it.
  ValueId back(ValueId value) {
    return split_ && split_->needed ? make_.reshape(value, make_.shape(op_.inputs[0])) : value;
  }

 private:
  std::size_t rank() const { return make_.shape(op_.inputs[0]).size(); }

  ValueId listed(const std::vector<double>& numbers) {
    Dims shape;
    if (layout_.kind == ScaleLayout::Kind::axis) {
      shape.assign(rank() - layout_.axis, 1);
      shape[0] = static_cast<std::int64_t>(numbers.size());
    }
    return make_.list(numbers, DType::f32, shape);
  }

  ValueId laid(ValueId operand) {
    const ValueId wide = numbers_of(make_, operand);
    if (layout_.kind == ScaleLayout::Kind::one) return make_.reshape(wide, {});
    if (layout_.kind == ScaleLayout::Kind::axis) return make_.along(wide, layout_.axis, rank());
    return make_.reshape(wide, split_->side);
  }

  Composer& make_;
  const Op& op_;
  const ScaleLayout& layout_;
  std::optional<Split> split_;
};

ValueId clamped(Composer& make, ValueId x, const Range& range) {
  return make.map("clamp", {x}, {{"min", range.least}, {"max", range.most}});
}

/// To f8, whose cast rounds and saturates; a zero point, which may say its dtype, is 0 or the reference's.
bool decompose_quantize_to_f8(Composer& make, const Op& op, const ScaleLayout& layout) {
  if (attribute_or<std::int64_t>(op, "saturate", 1) == 0) return false;
  if (has_input(op, 2)) {
    const Value& zero = make.graph().values[op.inputs[2]];
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (!zero.is_constant || !std::all_of(zero.data.begin(), zero.data.end(), is_zero)) return false;
  }
  LaidOut laid(make, op, layout);
  const std::optional<Parts> parts = laid.parts();
  if (!parts) return false;
  const ValueId y = make.map("div", {parts->x, parts->scale});
  make.give(0, laid.back(make.cast(y, make.dtype(op.outputs[0]))));
  return true;
}

}  // namespace

bool decompose_quantize(Composer& make, const Op& op) {
  const Range* range = range_of(make.dtype(op.outputs[0]));
  const Result<ScaleLayout> layout = scale_layout(make.graph(), op);
  if (!layout.ok()) return false;
  if (const DType to = make.dtype(op.outputs[0]); to == DType::f8_e4m3 || to == DType::f8_e5m2)
    return decompose_quantize_to_f8(make, op, layout.value());
  if (range == nullptr) return false;
  LaidOut laid(make, op, layout.value());
  const std::optional<Parts> parts = laid.parts();
  if (!parts) return false;
  ValueId y = make.map("div", {parts->x, parts->scale});
  const bool adds_first = op.dialect == Dialect::onednn;
  if (!adds_first) y = make.map("round", {y});
  if (parts->zero != kNone) y = make.map("add", {y, parts->zero});
  if (adds_first) y = make.map("round", {y});
  make.give(0, laid.back(make.cast(clamped(make, y, *range), range->dtype)));
  return true;
}

bool decompose_dequantize(Composer& make, const Op& op) {
  const Result<ScaleLayout> layout = scale_layout(make.graph(), op);
  if (!layout.ok()) return false;
  LaidOut laid(make, op, layout.value());
  const std::optional<Parts> parts = laid.parts();
  if (!parts) return false;
  ValueId y = parts->x;
  if (parts->zero != kNone) y = make.map("sub", {y, parts->zero});
  make.give(0, laid.back(make.map("mul", {y, parts->scale})));
  return true;
}

/// scale = (max(x, 0) - min(x, 0)) / 255, zero point = saturate(round(-min(x, 0) / scale)).
bool decompose_dynamic_quantize(Composer& make, const Op& op) {
  const Range& range = *range_of(DType::u8);
  const ValueId x = op.inputs[0];
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < make.shape(x).size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  const auto extreme = [&](const char* which) {
    const ValueId own = make.reshape(make.reduce(which, x, axes), {});
    return make.map(which, own, 0.0);
  };
  const ValueId least = extreme("min");
  const ValueId extent = make.map("sub", {extreme("max"), least});
  const ValueId scale = make.map("div", extent, range.most);
  const ValueId from_zero = make.map("neg", {make.map("div", {least, scale})});
  const ValueId zero = clamped(make, make.map("round", {from_zero}), range);
  const ValueId y = make.map("add", {make.map("round", {make.map("div", {x, scale})}), zero});
  make.give(0, clamped(make, y, range));
  make.give(1, scale);
  make.give(2, zero);
  return true;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Ops about positions in core ops: the indices along an axis are a constant that is broadcast, and Hardmax is where
// they equal that of the row's first extreme.
#include <numeric>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

/// Longer axes stay with the reference evaluator: the indices live as long as the partition (4 bytes each).
constexpr std::int64_t kMostIndices = 1 << 18;

/// 0, 1, 2, ... along dim `axis`, with 1 for the other dims. `extent` is at most kMostIndices.
ValueId indices(Composer& make, std::int64_t extent, std::size_t axis, std::size_t rank, DType dtype) {
  std::vector<double> numbers(static_cast<std::size_t>(extent));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  Dims shape(rank, 1);
  shape[axis] = extent;
  return make.list(numbers, dtype, shape);
}

}  // namespace

bool decompose_iota(Composer& make, const Op& op) {
  const Dims shape = make.shape(op.outputs[0]);
  const auto axis = static_cast<std::size_t>(attribute_or<std::int64_t>(op, "axis", 0));
  if (!is_known(shape) || shape[axis] > kMostIndices) return false;
  const DType dtype = make.dtype(op.outputs[0]);
  const ValueId along = indices(make, shape[axis], axis, shape.size(), dtype);
  make.give(0, make.add("broadcast", {along}, {{"shape", shape}}, dtype, shape));
  return true;
}

bool decompose_hardmax(Composer& make, const Op& op) {
  const Dims shape = make.shape(op.inputs[0]);
  const Result<std::vector<std::int64_t>> axes = norm_axes(op, shape.size());
  if (!axes.ok() || axes.value().empty() || !is_known(shape)) return false;
  // Before version 13, all dims from the axis on are one.
  Dims flat(shape.begin(), shape.begin() + axes.value().front());
  const auto axis = flat.size();
  flat.push_back(1);
  for (const std::int64_t dim : axes.value()) flat[axis] *= shape[static_cast<std::size_t>(dim)];
  flat.insert(flat.end(), shape.begin() + axes.value().back() + 1, shape.end());
  if (flat[axis] < 1 || flat[axis] > kMostIndices) return false;
  const ValueId x = make.reshape(op.inputs[0], flat);
  Dims row = flat;
  row[axis] = 1;
  const ValueId first =
      make.add("arg_reduce", {x},
               {{"mode", std::string("argmax")}, {"axis", static_cast<std::int64_t>(axis)}, {"keep_dims", true}},
               DType::s32, row);
  const ValueId is_first = make.compare("equal", {indices(make, flat[axis], axis, flat.size(), DType::s32), first});
  make.give(0, make.reshape(make.cast(is_first, make.dtype(op.outputs[0])), shape));
  return true;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Views: outputs whose elements lie at regular places of the input. Each is a shape, a first element and a stride a
// dim.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/movement.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

using Integers = std::vector<std::int64_t>;

struct View {
  Dims shape;
  std::int64_t first = 0;
  Dims strides;  ///< into the input; may be negative, or 0
};
using Views = std::vector<View>;

Result<Views> transposed(const Op& op, const Dims& shape, const Dims& strides) {
  const bool onnx = op.dialect == Dialect::onnx;
  const char* const name = onnx ? "perm" : op.dialect == Dialect::onednn ? "order" : "permutation";
  Integers order = integers(op, name);
  if (onnx && find_attribute(op, name) == nullptr)
    for (std::size_t i = shape.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  View view;
  std::vector<bool> seen(shape.size(), false);
  for (const std::int64_t written : order) {
    const Result<std::size_t> dim = read_axis(op, written, shape.size());
    if (!dim.ok()) return dim.status();
    if (seen[dim.value()]) return fail(op, Code::invalid_op, "a dim stands twice in its order (move.V1)");
    seen[dim.value()] = true;
    view.shape.push_back(shape[dim.value()]);
    view.strides.push_back(strides[dim.value()]);
  }
  if (order.size() != shape.size()) return fail(op, Code::invalid_op, "its order misses dims (move.V1)");
  return Views{std::move(view)};
}

Result<Views> repeated(const Op& op, Inputs inputs, const Dims& strides) {
  const Dims& source = inputs[0].desc.shape;
  Integers wanted = integers(op, "shape");
  if (op.dialect == Dialect::onnx) {
    Result<Integers> read = read_integers(op, inputs, 1);
    if (!read.ok()) return read.status();
    wanted = std::move(read).value();
  }
  View view;
  view.shape.assign(std::max(source.size(), wanted.size()), 1);
  view.strides.assign(view.shape.size(), 0);
  const std::size_t skip = view.shape.size() - source.size();
  for (std::size_t i = 0; i < source.size(); ++i) {
    view.shape[skip + i] = source[i];
    view.strides[skip + i] = source[i] == 1 ? 0 : strides[i];
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::int64_t& dim = view.shape[view.shape.size() - wanted.size() + i];
    if (dim == 1) dim = wanted[i];
    if (wanted[i] < 0 || (wanted[i] != 1 && wanted[i] != dim))
      return fail(op, Code::invalid_shape, "it does not broadcast to the shape (move.V8)");
  }
  return Views{std::move(view)};
}

/// Python's slice of one dim, but that a start before the first element is the first, backwards too.
struct Cut {
  std::int64_t start, end, step;
};

void apply(View& view, std::size_t dim, Cut cut) {
  const std::int64_t extent = view.shape[dim];
  const std::int64_t highest = cut.step > 0 ? extent : extent - 1;
  const auto limit = [&](std::int64_t& bound, std::int64_t lowest) {
    if (bound < 0) bound += extent;
    bound = std::min(std::max(bound, lowest), highest);
  };
  limit(cut.start, 0);
  limit(cut.end, cut.step > 0 ? 0 : -1);
  const bool any = cut.step > 0 ? cut.start < cut.end : cut.start > cut.end;
  // A step beyond the extent leaves it, whatever the step.
  const bool leaps = cut.step > extent || cut.step < -extent;
  const std::int64_t count = !any ? 0 : leaps ? 1 : (std::abs(cut.end - cut.start) - 1) / std::abs(cut.step) + 1;
  view.shape[dim] = count;
  if (count == 0) return;
  view.first += cut.start * view.strides[dim];
  view.strides[dim] = count == 1 ? 0 : view.strides[dim] * cut.step;
}

Result<Views> sliced(const Op& op, Inputs inputs, const Dims& strides) {
  const Dims& source = inputs[0].desc.shape;
  Integers lists[4] = {integers(op, "starts"), integers(op, "ends"), integers(op, "axes"), {}};
  for (std::size_t i = 0; i < 4 && inputs.size() > 1; ++i) {
    Result<Integers> read = read_integers(op, inputs, 1 + i);
    if (!read.ok()) return read.status();
    lists[i] = std::move(read).value();
  }
  auto& [starts, ends, axes, steps] = lists;
  if (!has_input(inputs, 3) && find_attribute(op, "axes") == nullptr)
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (!has_input(inputs, 4)) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return fail(op, Code::invalid_op, "starts, ends, axes and steps are not as many (move.V4)");
  View view{source, 0, strides};
  std::vector<bool> seen(source.size(), false);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Result<std::size_t> dim = read_axis(op, axes[i], source.size());
    if (!dim.ok()) return dim.status();
    if (steps[i] == 0) return fail(op, Code::invalid_op, "a step is 0 (move.V4)");
    if (seen[dim.value()]) return fail(op, Code::invalid_op, "an axis is given twice (reduce.C4)");
    seen[dim.value()] = true;
    apply(view, dim.value(), {starts[i], ends[i], steps[i]});
  }
  return Views{std::move(view)};
}

/// core.slice has one entry a dim in each list.
Result<Views> core_sliced(const Op& op, const Dims& source, const Dims& strides) {
  const Integers starts = integers(op, "starts");
  const Integers steps = integers(op, "steps");
  View view{integers(op, "shape"), 0, Dims(source.size(), 0)};
  bool fits = starts.size() == source.size() && steps.size() == source.size() && view.shape.size() == source.size();
  for (std::size_t i = 0; fits && i < source.size(); ++i) {
    if (view.shape[i] == 0) continue;
    const Integer last = starts[i] + Integer{steps[i]} * (view.shape[i] - 1);
    fits = view.shape[i] > 0 && starts[i] >= 0 && starts[i] < source[i] && last >= 0 && last < source[i];
    view.first += fits ? starts[i] * strides[i] : 0;
    view.strides[i] = fits ? steps[i] * strides[i] : 0;
  }
  if (!fits) return fail(op, Code::invalid_shape, "starts, steps and shape leave the input (move.V4)");
  return Views{std::move(view)};
}

Result<Views> split(const Op& op, Inputs inputs, const Dims& strides) {
  const Dims& source = inputs[0].desc.shape;
  const Result<std::size_t> axis = read_axis(op, attribute_or<std::int64_t>(op, "axis", 0), source.size());
  if (!axis.ok()) return axis.status();
  const std::int64_t extent = source[axis.value()];
  Integers sizes = integers(op, "split");
  if (has_input(inputs, 1)) {
    Result<Integers> read = read_integers(op, inputs, 1);
    if (!read.ok()) return read.status();
    sizes = std::move(read).value();
  }
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(op.outputs.size());
    const std::int64_t size = parts == 0 ? 0 : (extent + parts - 1) / parts;
    sizes.assign(op.outputs.size(), size);
    if (!sizes.empty()) sizes.back() = extent - size * (parts - 1);
  }
  Views views;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > extent - at) return fail(op, Code::invalid_shape, "its parts do not fit (move.V5)");
    View view{source, at * strides[axis.value()], strides};
    view.shape[axis.value()] = size;
    views.push_back(std::move(view));
    at += size;
  }
  if (at != extent) return fail(op, Code::invalid_shape, "its parts do not add up (move.V5)");
  return views;
}

Result<Views> views_of(const Op& op, Inputs inputs, const Dims& strides) {
  const Dims& source = inputs[0].desc.shape;
  if (op.kind == "Expand" || op.kind == "broadcast") return repeated(op, inputs, strides);
  if (op.kind == "Slice") return sliced(op, inputs, strides);
  if (op.kind == "slice") return core_sliced(op, source, strides);
  if (op.kind == "Split") return split(op, inputs, strides);
  return transposed(op, source, strides);
}

}  // namespace

Result<std::vector<Dims>> view_shapes(const Op& op, Inputs inputs) {
  if (inputs.empty()) return fail(op, Code::invalid_op, "it has no input");
  const Result<Views> views = views_of(op, inputs, strides_of(inputs[0].desc));
  if (!views.ok()) return views.status();
  std::vector<Dims> shapes;
  for (const View& view : views.value()) shapes.push_back(view.shape);
  return shapes;
}

Status evaluate_view(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<Views> views = views_of(op, inputs, strides_of(inputs[0].desc));
  if (!views.ok()) return views.status();
  const DType from = inputs[0].desc.dtype;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const View& view = views.value()[i];
    const TensorDesc& to = outputs[i].desc;
    walk_rows(view.shape, std::array<Dims, 2>{view.strides, strides_of(to)},
              [&](const auto& at, const auto& steps, std::int64_t count) {
                convert_row(from, inputs[0].data, {view.first + at[0], steps[0], count}, to.dtype, outputs[i].data,
                            {at[1], steps[1], count});
              });
  }
  return {};
}

Result<std::vector<Bounds>> bound_view(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                       Outputs outputs) {
  std::vector<Bounds> bounds(outputs.size());
  if (input_bounds[0].empty()) return bounds;
  const TensorDesc& desc = inputs[0].desc;
  const Result<Views> places = views_of(op, inputs, strides_of(desc));
  const Result<Views> positions = views_of(op, inputs, row_major_strides(desc.shape));
  if (!places.ok()) return places.status();
  if (!positions.ok()) return positions.status();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const View& place = places.value()[i];
    const View& position = positions.value()[i];
    bounds[i].reserve(static_cast<std::size_t>(numel(place.shape).value()));
    walk(place.shape, std::array<Dims, 2>{place.strides, position.strides}, [&](const auto& at) {
      const double value = load_real(desc.dtype, inputs[0].data, place.first + at[0]);
      bounds[i].push_back(stored_bound(input_bounds[0], position.first + at[1], desc.dtype, value));
    });
  }
  return bounds;
}

}  // namespace tenfold::graph

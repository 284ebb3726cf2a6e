// SPDX-License-Identifier: Apache-2.0
#include "compile/bind/selection_steps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "compile/bind/first_of_line.hpp"
#include "compile/bind/index_pieces.hpp"
#include "schedule/levels.hpp"

namespace tenfold::compiler {
namespace {

/// A task looks at this many extremes and elements, and more: some 20 us.
constexpr std::int64_t kTaskElements = 8192;

Dims dims_of_extremes(const Selection& selection) {
  Dims dims = selection.input.shape;
  dims[selection.axis] = selection.blocks();
  return dims;
}

/// A tensor's lines, in bytes.
struct LinesOf {
  Dims strides;
  std::int64_t step = 0;

  LinesOf(const Dims& elements, std::size_t axis, DType dtype) : strides(elements) {
    for (std::int64_t& stride : strides) stride *= byte_size(dtype);
    step = std::exchange(strides[axis], 0);
  }
};

/// Lines of all tensors, and where line number so many begins in each.
struct SelectedLines {
  Selection selection;
  FirstOfLine first;
  Dims lines;  ///< the input's shape, with an axis of 1
  LinesOf input, extremes, values, indices;
  std::int64_t count = 1, lines_per_task = 1;

  explicit SelectedLines(const Selection& s)
      : selection(s),
        first(s.input.dtype, s.largest, s.places, s.blocks()),
        lines(s.input.shape),
        input(strides_of(s.input), s.axis, s.input.dtype),
        extremes(row_major_strides(dims_of_extremes(s)), s.axis, s.input.dtype),
        values(strides_of(s.results[0]), s.axis, s.results[0].dtype),
        indices(strides_of(s.results[1]), s.axis, s.results[1].dtype) {
    lines[s.axis] = 1;
    for (const std::int64_t dim : lines) count *= dim;
    const std::int64_t looked_at = s.block > 0 ? s.blocks() + s.block * s.places : s.extent();
    lines_per_task = std::max<std::int64_t>(1, kTaskElements / looked_at);
  }

  std::int64_t offset(const LinesOf& of, std::int64_t line) const {
    std::int64_t bytes = 0;
    for (std::size_t dim = lines.size(); dim-- > 0; line /= lines[dim]) bytes += line % lines[dim] * of.strides[dim];
    return bytes;
  }

  void write(const Line& line, std::span<const std::uint32_t> found, std::byte* to_values,
             std::byte* to_indices) const {
    for (const std::uint32_t index : found) {
      first.copy(line.first + index * line.step, to_values);
      write_index(to_indices, index, selection.results[1].dtype);
      to_values += values.step;
      to_indices += indices.step;
    }
  }

  void run(const std::byte* x, const std::byte* of_blocks, std::byte* to_values, std::byte* to_indices,
           std::int64_t task, void* scratch) const {
    const std::int64_t end = std::min(count, (task + 1) * lines_per_task);
    for (std::int64_t i = task * lines_per_task; i < end; ++i) {
      Line line{x + offset(input, i), input.step, selection.extent()};
      if (of_blocks != nullptr) {
        line.first_extreme = of_blocks + offset(extremes, i);
        line.extreme_step = extremes.step;
        line.blocks = selection.blocks();
        line.block = selection.block;
      }
      write(line, first.find(line, scratch), to_values + offset(values, i), to_indices + offset(indices, i));
    }
  }
};

}  // namespace

std::int64_t extreme_bytes(const Selection& selection) {
  std::int64_t bytes = byte_size(selection.input.dtype);
  for (const std::int64_t dim : dims_of_extremes(selection)) bytes *= dim;
  return bytes;
}

runtime::TaskStep selection_step(const Selection& selection, Buffers& buffers, const runtime::Location& extremes) {
  runtime::TaskStep step;
  step.inputs.push_back(buffers.location(selection.source));
  if (selection.block > 0) step.inputs.push_back(extremes);
  for (const OperandSource& target : selection.targets) step.outputs.push_back(buffers.location(target));
  const SelectedLines lines(selection);
  step.tasks = schedule::divide_up(lines.count, lines.lines_per_task);
  step.scratch_bytes = lines.first.scratch_bytes();
  step.run = [lines](std::span<const void* const> inputs, std::span<void* const> outputs, std::int64_t task,
                     void* scratch) {
    lines.run(static_cast<const std::byte*>(inputs[0]),
              inputs.size() > 1 ? static_cast<const std::byte*>(inputs[1]) : nullptr,
              static_cast<std::byte*>(outputs[0]), static_cast<std::byte*>(outputs[1]), task, scratch);
    return Status();
  };
  return step;
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
//
// MatMul in oneDNN's terms: operands of one rank, each matrix dense along one of its dims. Transposes, from attributes
// or from views, are strides.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compile/heavy/heavy.hpp"
#include "compile/lower/strided.hpp"

namespace tenfold::compiler {
namespace {

/// The last two dims of every operand.
struct Matrix {
  std::int64_t& rows;
  std::int64_t& columns;
};
Matrix last_two(Dims& dims) { return {dims[dims.size() - 2], dims[dims.size() - 1]}; }

void swap_last_two(Dims& dims) { std::swap(last_two(dims).rows, last_two(dims).columns); }

/// Dims of extent 1 in front, as many as `rank` asks for.
void pad(TensorDesc& desc, std::size_t rank) {
  desc.shape.insert(desc.shape.begin(), rank - desc.shape.size(), 1);
  desc.strides.insert(desc.strides.begin(), rank - desc.strides.size(), 1);
}

/// Strides along dims of extent 1 reach nothing, but oneDNN reads the distance of rows and columns from them.
void settle_strides(TensorDesc& desc) {
  auto [rows, columns] = last_two(desc.shape);
  auto [row, column] = last_two(desc.strides);
  if (rows == 1 && columns == 1)
    row = column = 1;
  else if (rows == 1)
    row = column == 1 ? columns : 1;
  else if (columns == 1)
    column = row == 1 ? rows : 1;
  const std::int64_t matrix = std::max(rows * row, columns * column);
  for (std::size_t dim = 0; dim + 2 < desc.shape.size(); ++dim)
    if (desc.shape[dim] == 1) desc.strides[dim] = matrix;
}

/// What a broadcast repeats along the dims before the matrices is a dim of 1, which oneDNN broadcasts.
void unrepeat(TensorDesc& desc) {
  for (std::size_t dim = 0; dim + 2 < desc.shape.size(); ++dim)
    if (desc.strides[dim] == 0) desc.shape[dim] = 1;
}

bool is_dense(TensorDesc& desc) {
  const auto [rows, columns] = last_two(desc.shape);
  const auto [row, column] = last_two(desc.strides);
  return (column == 1 && row >= columns) || (row == 1 && column >= rows);
}

/// A matrix operand; of rank 1 it is a row (a) or a column (b).
Result<StridedWalk> read_matrix(const graph::Graph& graph, const graph::Op& op, std::size_t index,
                                std::span<const graph::OpId> through, TensorDesc& desc) {
  const graph::Value& value = graph.values[op.inputs[index]];
  Result<StridedWalk> walk = strided_walk(graph, op.inputs[index], through);
  if (!walk.ok()) return walk;
  desc = {value.dtype, value.shape, walk.value().strides};
  if (desc.shape.size() > 1) {
    if (graph::attribute_or<bool>(op, index == 0 ? "transpose_a" : "transpose_b", false)) {
      swap_last_two(desc.shape);
      swap_last_two(desc.strides);
    }
    return walk;
  }
  const std::ptrdiff_t at = index == 0 ? 0 : 1;
  desc.shape.insert(desc.shape.begin() + at, 1);
  desc.strides.insert(desc.strides.begin() + at, 1);
  return walk;
}

/// oneDNN's kernels add one bias to each column.
Status read_bias(const graph::Graph& graph, const graph::Op& op, std::span<const graph::OpId> through,
                 HeavySource& source) {
  if (op.inputs.size() < 3 || op.inputs[2] == graph::kNone) return {};
  const TensorDesc bias = graph::desc_of(graph.values[op.inputs[2]]);
  const Result<StridedWalk> walk = strided_walk(graph, op.inputs[2], through);
  if (!walk.ok()) return walk.status();
  const TensorDesc& out = source.spec.outputs[0];
  if (bias.shape.empty() || bias.shape.back() != out.shape.back() || walk.value().strides.back() != 1 ||
      std::any_of(bias.shape.begin(), bias.shape.end() - 1, [](std::int64_t extent) { return extent != 1; }))
    return {Code::unsupported_shape, "the bias is not one element a column"};
  TensorDesc row{bias.dtype, {bias.shape.back()}, {1}};
  row.shape.insert(row.shape.begin(), out.shape.size() - 1, 1);
  row.strides.insert(row.strides.begin(), out.shape.size() - 1, bias.shape.back());
  source.add_input(walk.value(), std::move(row));
  return {};
}

/// How far apart the rows are once those of all positions along `dim`, right before them, are rows of one matrix;
/// nullopt when they do not lie so.
std::optional<std::int64_t> joined_stride(const TensorDesc& desc, std::size_t dim) {
  const std::int64_t rows = desc.shape[dim + 1], row = desc.strides[dim + 1];
  if (desc.shape[dim] == 1) return row;
  if (rows == 1) return desc.strides[dim];
  return desc.strides[dim] == rows * row ? std::optional(row) : std::nullopt;
}

/// Where all positions of the dims before share the weights, those dims are but more rows.
void join_rows(std::vector<TensorDesc>& inputs, TensorDesc& out) {
  while (out.shape.size() > 2) {
    const std::size_t dim = out.shape.size() - 3;
    if (inputs[1].shape[dim] != 1 || inputs[0].shape[dim] != out.shape[dim]) return;
    const std::optional<std::int64_t> in_row = joined_stride(inputs[0], dim), out_row = joined_stride(out, dim);
    // Columns must stay dense or as far apart as there are rows.
    if (!in_row || !out_row || last_two(inputs[0].strides).columns != 1 || last_two(out.strides).columns != 1) return;
    for (const auto& [desc, row] : {std::pair{&inputs[0], *in_row}, std::pair{&out, *out_row}}) {
      last_two(desc->shape).rows *= desc->shape[dim];
      last_two(desc->strides).rows = row;
    }
    const auto at = static_cast<std::ptrdiff_t>(dim);
    for (TensorDesc* desc : {&inputs[0], &inputs[1], &out}) {
      desc->shape.erase(desc->shape.begin() + at);
      desc->strides.erase(desc->strides.begin() + at);
    }
  }
}

/// oneDNN writes rows; columns are the rows of b'a'.
Status settle_output(HeavySource& source) {
  std::vector<TensorDesc>& inputs = source.spec.inputs;
  TensorDesc& out = source.spec.outputs[0];
  settle_strides(out);
  if (last_two(out.strides).columns == 1) return {};
  if (last_two(out.strides).rows != 1 || inputs.size() > 2)
    return {Code::unsupported_shape, "the result's rows are not dense"};
  for (TensorDesc* desc : {&inputs[0], &inputs[1], &out}) {
    swap_last_two(desc->shape);
    swap_last_two(desc->strides);
  }
  source.swap_operands();
  return {};
}

}  // namespace

Result<HeavySource> matmul_source(const graph::Graph& graph, const graph::Op& op, const HeavyRow& row,
                                  std::span<const graph::OpId> through) {
  HeavySource source;
  source.spec.kind = row.as;
  for (std::size_t index = 0; index < row.inputs; ++index) {
    TensorDesc desc;
    Result<StridedWalk> walk = read_matrix(graph, op, index, through, desc);
    if (!walk.ok()) return walk.status();
    if (desc.dtype != DType::f32)
      return Status(Code::unsupported_dtype, "oneDNN multiplies f32, not " + std::string(to_string(desc.dtype)));
    source.add_input(walk.value(), std::move(desc));
  }
  TensorDesc out = graph::desc_of(graph.values[op.outputs[0]]);
  out.strides = strides_of(out);
  if (out.dtype != DType::f32)
    return Status(Code::unsupported_dtype, "oneDNN multiplies to f32, not " + std::string(to_string(out.dtype)));
  if (graph.values[op.inputs[1]].shape.size() == 1) {
    out.shape.push_back(1);
    out.strides.push_back(1);
  }
  if (graph.values[op.inputs[0]].shape.size() == 1) {
    out.shape.insert(out.shape.end() - 1, 1);
    out.strides.insert(out.strides.end() - 1, 1);
  }
  source.outputs = {OperandSource{op.outputs[0]}};
  source.spec.outputs.push_back(std::move(out));

  std::vector<TensorDesc>& inputs = source.spec.inputs;
  const std::size_t rank = source.spec.outputs[0].shape.size();
  for (TensorDesc& desc : inputs) {
    pad(desc, rank);
    unrepeat(desc);
    settle_strides(desc);
    if (!is_dense(desc)) return Status(Code::unsupported_shape, "neither rows nor columns of an operand are dense");
  }
  if (inputs[0].shape.back() == 0) return Status(Code::unsupported_shape, "sums of no products");
  for (std::size_t dim = 0; dim + 2 < rank; ++dim)
    if (std::max(inputs[0].shape[dim], inputs[1].shape[dim]) != source.spec.outputs[0].shape[dim])
      return Status(Code::unsupported_shape, "both operands repeat along dim " + std::to_string(dim));
  settle_strides(source.spec.outputs[0]);
  join_rows(inputs, source.spec.outputs[0]);
  if (Status status = read_bias(graph, op, through, source); !status.ok()) return status;
  if (Status status = settle_output(source); !status.ok()) return status;
  return source;
}

}  // namespace tenfold::compiler

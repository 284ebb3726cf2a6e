// SPDX-License-Identifier: Apache-2.0
#include "compile/heavy/heavy.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace tenfold::compiler {
namespace {

using onednn::Kind;

constexpr int kOutput = HeavyRow::kOutput, kNowhere = HeavyRow::kNowhere;
constexpr HeavyRow kHeavy[] = {
    {"AvgPool", windows_source, Kind::average_pool, 1},
    {"AvgPoolBackward", windows_source, Kind::average_pool_to_input, 1},
    {"ConvTranspose", windows_source, Kind::convolution_to_input, 2, 1, true},
    {"ConvTransposeBackwardData", windows_source, Kind::convolution, 2, 1, true},
    {"ConvTransposeBackwardWeights", windows_source, Kind::convolution_to_weights, 2, kOutput, true, true},
    {"Convolution", windows_source, Kind::convolution, 2, 1},
    {"ConvolutionBackwardData", windows_source, Kind::convolution_to_input, 2, 1},
    {"ConvolutionBackwardWeights", windows_source, Kind::convolution_to_weights, 2, kOutput},
    {"Interpolate", windows_source, Kind::resample, 1},
    {"InterpolateBackward", windows_source, Kind::resample_to_input, 1, kNowhere, false, false, 1},
    {"MatMul", matmul_source, Kind::matmul, 2},
    {"MaxPool", windows_source, Kind::max_pool, 1},
    {"MaxPoolBackward", windows_source, Kind::max_pool_to_input, 2},
};

const HeavyRow* find_row(const graph::Op& op) noexcept {
  if (op.dialect != graph::Dialect::onednn) return nullptr;
  const auto* row =
      std::find_if(std::begin(kHeavy), std::end(kHeavy), [&](const HeavyRow& r) { return r.kind == op.kind; });
  return row == std::end(kHeavy) ? nullptr : row;
}

/// The dtype that an operand had before it was dequantised, or widened by decompose() for `op`; undef: neither was
/// done.
DType widened_from(const graph::Graph& graph, const graph::Op& op, graph::ValueId value) {
  const auto written_as = [](const graph::Op& o) { return graph::attribute_or(o, "source_kind", o.kind); };
  const std::string own = written_as(op);
  for (graph::OpId id = graph.values[value].producer; id != graph::kNone; id = graph.values[value].producer) {
    const graph::Op& producer = graph.ops[id];
    if (producer.dialect != graph::Dialect::core || producer.inputs.empty()) return DType::undef;
    const std::string kind = written_as(producer);
    const bool is_view = producer.kind == "transpose" || producer.kind == "reshape" || producer.kind == "broadcast";
    if (kind != own && !is_view && kind.find("Dequantize") == std::string::npos) return DType::undef;
    value = producer.inputs[0];
    if (graph.values[value].dtype != DType::f32) return graph.values[value].dtype;
  }
  return DType::undef;
}

std::vector<DType> widened_operands(const graph::Graph& graph, const graph::Op& op) {
  std::vector<DType> dtypes;
  for (const graph::ValueId value : op.inputs) {
    const DType dtype = value == graph::kNone ? DType::undef : widened_from(graph, op, value);
    if (dtype != DType::undef && std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end())
      dtypes.push_back(dtype);
  }
  return dtypes;
}

bool is_empty(const TensorDesc& desc) { return std::find(desc.shape.begin(), desc.shape.end(), 0) != desc.shape.end(); }

}  // namespace

void HeavySource::add_input(const StridedWalk& walk, TensorDesc desc) {
  inputs.push_back({walk.root, walk.first * byte_size(desc.dtype)});
  spec.inputs.push_back(std::move(desc));
}

void HeavySource::swap_operands() {
  std::swap(spec.inputs[0], spec.inputs[1]);
  std::swap(inputs[0], inputs[1]);
}

bool is_heavy(const graph::Op& op) noexcept { return find_row(op) != nullptr; }

Result<HeavyOp> lower_heavy(const graph::Graph& graph, const graph::Op& op, std::span<const graph::OpId> through,
                            const target::Target& target) {
  if (target.isa == target::Isa::reference) return Status(Code::unsupported_target, "the target is 'reference'");
  const HeavyRow& row = *find_row(op);
  Result<HeavySource> source = row.source(graph, op, row, through);
  if (!source.ok()) return source.status();
  // oneDNN 2.6.3 divides by the number of rows.
  const onednn::HeavySpec& spec = source.value().spec;
  if (std::any_of(spec.inputs.begin(), spec.inputs.end(), is_empty) ||
      std::any_of(spec.outputs.begin(), spec.outputs.end(), is_empty))
    return Status(Code::unsupported_shape, "a tensor without elements");
  Result<std::shared_ptr<const onednn::HeavyCall>> call = onednn::make_call(source.value().spec);
  if (!call.ok()) return call.status();
  return HeavyOp{std::move(source).value(), std::move(call).value(), widened_operands(graph, op)};
}

}  // namespace tenfold::compiler

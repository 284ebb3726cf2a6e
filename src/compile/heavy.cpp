// SPDX-License-Identifier: Apache-2.0
#include "compile/heavy.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace tenfold::compiler {
namespace {

struct Row {
  std::string_view kind;
  Result<HeavySource> (*source)(const graph::Graph& graph, const graph::Op& op, std::span<const graph::OpId> through);
};

constexpr Row kHeavy[] = {
    {"AvgPool", windows_source},
    {"AvgPoolBackward", windows_source},
    {"ConvTranspose", windows_source},
    {"ConvTransposeBackwardData", windows_source},
    {"ConvTransposeBackwardWeights", windows_source},
    {"Convolution", windows_source},
    {"ConvolutionBackwardData", windows_source},
    {"ConvolutionBackwardWeights", windows_source},
    {"Interpolate", windows_source},
    {"InterpolateBackward", windows_source},
    {"MatMul", matmul_source},
    {"MaxPool", windows_source},
    {"MaxPoolBackward", windows_source},
};

const Row* find_row(const graph::Op& op) noexcept {
  if (op.dialect != graph::Dialect::onednn) return nullptr;
  const auto* row = std::find_if(std::begin(kHeavy), std::end(kHeavy), [&](const Row& r) { return r.kind == op.kind; });
  return row == std::end(kHeavy) ? nullptr : row;
}

}  // namespace

bool is_heavy(const graph::Op& op) noexcept { return find_row(op) != nullptr; }

Result<HeavyOp> lower_heavy(const graph::Graph& graph, const graph::Op& op, std::span<const graph::OpId> through,
                            const target::Target& target) {
  if (target.isa == target::Isa::reference) return Status(Code::unsupported_target, "the target is 'reference'");
  Result<HeavySource> source = find_row(op)->source(graph, op, through);
  if (!source.ok()) return source.status();
  Result<std::shared_ptr<const onednn::HeavyCall>> call = onednn::make_call(source.value().spec);
  if (!call.ok()) return call.status();
  return HeavyOp{std::move(source).value(), std::move(call).value()};
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
//
// Comparison with the reference evaluator; see compare.hpp. The graph that is evaluated is the dialect's, before any
// pass, so that a wrong pass is found as well as a wrong kernel.
#include "tools/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "graph/check/check.hpp"
#include "graph/eval/bound.hpp"
#include "graph/eval/eval.hpp"
#include "tools/outputs.hpp"
#include "tools/report.hpp"
#include "tools/run_inputs.hpp"

namespace tenfold::tools {

namespace {

std::string place_text(const Dims& shape, std::int64_t index) {
  Dims at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
  return to_string(at);
}

Comparison compare_output(TensorId id, const Tensor& got, const Tensor& expected, const std::vector<double>& bounds) {
  Comparison result;
  result.id = id;
  const DType dtype = got.desc.dtype;
  for_each_element(got.desc, [&](std::int64_t index, std::int64_t offset) {
    const double bound = bounds.empty() ? 0 : bounds[static_cast<std::size_t>(index)];
    const double a = graph::load_real(dtype, got.data(), offset);
    const double b = graph::load_real(dtype, expected.data(), offset);
    ++result.elements;
    result.unbounded += std::isinf(bound) ? 1 : 0;
    result.greatest_bound = std::max(result.greatest_bound, bound);
    if (std::isfinite(a) && std::isfinite(b))
      result.greatest_difference = std::max(result.greatest_difference, std::fabs(a - b));
    if (graph::agree(dtype, b, a, bound)) return;
    if (result.outside++ > 0) return;
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), ": got %.9g, expected %.9g within %.3g", a, b, bound);
    result.first_outside = place_text(got.desc.shape, index) + text.data();
  });
  return result;
}

}  // namespace

Result<Expected> evaluate_expected(graph::Graph graph, std::span<const TensorInfo> input_infos,
                                   std::span<const Tensor* const> inputs, std::span<const TensorInfo> output_infos) {
  InputShapes shapes;
  for (const TensorInfo& info : input_infos) shapes.emplace_back(info.id, info.desc.shape);
  adopt_shapes(graph, shapes);
  if (Status status = graph::verify(graph); !status.ok()) return status;
  if (Status status = graph::infer(graph); !status.ok()) return status;
  std::vector<graph::ConstTensor> arguments;
  for (const Tensor* input : inputs) arguments.push_back({input->desc, input->data()});
  Result<std::vector<Tensor>> outputs = make_tensors(output_infos);
  if (!outputs.ok()) return outputs.status();
  Expected expected{std::move(outputs).value(), {}};
  std::vector<graph::MutableTensor> results;
  for (const Tensor& tensor : expected.outputs) results.push_back({tensor.desc, tensor.data()});
  if (Status status = graph::evaluate_with_bounds(graph, arguments, results, expected.bounds); !status.ok())
    return status;
  return expected;
}

std::vector<Comparison> compare_outputs(const Expected& expected, std::span<const TensorInfo> output_infos,
                                        std::span<const Tensor> outputs) {
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    comparisons.push_back(compare_output(output_infos[i].id, outputs[i], expected.outputs[i], expected.bounds[i]));
  return comparisons;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// Seeded random inputs; see fill.hpp.
#include "tools/fill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "graph/eval/eval.hpp"
#include "graph/ir/attribute.hpp"
#include "schemas/op_table.hpp"

namespace tenfold::tools {

namespace {

struct Range {
  double low = -1, high = 1;
};

/// What an op wants of one of its inputs; port -1: of each.
struct OpRange {
  std::string_view kind;
  int port;
  Range range;
};
/// Logarithms and roots want positive numbers, as a variance is one; divisors stay away from zero, exponents from
/// overflow; a probability is one.
constexpr std::array<OpRange, 12> kOpRanges{{
    {"Log", 0, {0.25, 4}},
    {"Sqrt", 0, {0.25, 4}},
    {"Pow", 0, {0.25, 4}},
    {"Reciprocal", 0, {0.5, 2}},
    {"Divide", 1, {0.5, 2}},
    {"Div", 1, {0.5, 2}},
    {"BatchNormInference", 4, {0.25, 4}},
    {"BatchNormalization", 4, {0.25, 4}},
    {"BatchNormForwardTraining", 2, {0.25, 4}},
    {"BatchNormTrainingBackward", 3, {0.25, 4}},
    {"LayerNormBackward", 3, {0.25, 4}},
    {"Dropout", 3, {0.125, 0.875}},
}};

/// SplitMix64 (Steele, Lea, Flood 2014): a good 64-bit value for each counter, so that elements can be made in any
/// order.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Uniform in [0, 1).
double unit(std::uint64_t seed, TensorId id, std::int64_t index) {
  const std::uint64_t key = mix(seed) ^ mix(static_cast<std::uint64_t>(id) + 0x51ED27);
  return static_cast<double>(mix(key + static_cast<std::uint64_t>(index)) >> 11) * 0x1p-53;
}

Range integer_range(DType dtype) {
  switch (row(dtype).kind) {
    case DTypeKind::boolean: return {0, 2};
    case DTypeKind::unsigned_integer: return {0, 17};
    default: return {-16, 17};
  }
}

/// Products of n factors in [1 - d, 1 + d] stay within a few orders of magnitude when n d^2 is near 1; d is not below
/// what bf16 can tell from 1.
Range product_range(std::int64_t elements) {
  const double d = std::clamp(1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(elements, 1))), 1.0 / 64, 0.5);
  return {1 - d, 1 + d};
}

Range real_range(const graph::Graph& graph, TensorId id, std::int64_t elements) {
  for (const graph::Op& op : graph.ops) {
    for (std::size_t port = 0; port < op.inputs.size(); ++port) {
      if (op.inputs[port] == graph::kNone || graph.values[op.inputs[port]].id != id) continue;
      if (op.kind == "ReduceProd") return product_range(elements);
      for (const OpRange& r : kOpRanges)
        if (op.kind == r.kind && static_cast<int>(port) == r.port) return r.range;
    }
  }
  return {};
}

bool reduces(const graph::Op& op) {
  const schemas::OpDesc* desc = schemas::find_op(op.dialect, op.kind);
  return desc != nullptr && desc->category == "reduction";
}

std::string range_text(const Range& range) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "random in [%.4g, %.4g)", range.low, range.high);
  return text.data();
}

}  // namespace

std::vector<AxesInputUse> axes_input_uses(const graph::Graph& graph) {
  std::vector<AxesInputUse> uses;
  for (const graph::Op& op : graph.ops) {
    if (!reduces(op) || op.inputs.size() < 2 || op.inputs[1] == graph::kNone) continue;
    const graph::Value& axes = graph.values[op.inputs[1]];
    const graph::Value& reduced = graph.values[op.inputs[0]];
    if (axes.is_constant || axes.producer != graph::kNone || !reduced.ranked) continue;
    const int rank = static_cast<int>(reduced.shape.size());
    const auto seen = std::find_if(uses.begin(), uses.end(), [&](const AxesInputUse& u) { return u.id == axes.id; });
    if (seen == uses.end())
      uses.push_back({axes.id, rank});
    else
      seen->rank = std::min(seen->rank, rank);
  }
  return uses;
}

std::vector<std::int64_t> default_axes(const AxesInputUse& use, std::int64_t count) {
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 0; i < count; ++i) axes.push_back(use.rank - count + i);
  return axes;
}

std::vector<TensorId> steering_inputs(const graph::Graph& graph) {
  std::vector<TensorId> ids;
  for (const graph::Op& op : graph.ops) {
    const schemas::OpVersion* version = graph::version_of(op);
    if (version == nullptr || reduces(op)) continue;
    for (std::size_t port = 0; port < std::min(version->inputs.size(), op.inputs.size()); ++port) {
      const schemas::PortDesc& desc = version->inputs[port];
      if ((!desc.decides_shape && desc.name != "axis") || op.inputs[port] == graph::kNone) continue;
      const graph::Value& value = graph.values[op.inputs[port]];
      const bool is_new = std::find(ids.begin(), ids.end(), value.id) == ids.end();
      if (is_new && !value.is_constant && value.producer == graph::kNone) ids.push_back(value.id);
    }
  }
  return ids;
}

void fill_input(const graph::Graph& graph, TensorId id, std::uint64_t seed, const Tensor& tensor, std::string& values,
                IsStopped is_stopped) {
  const TensorDesc& desc = tensor.desc;
  const std::vector<AxesInputUse> uses = axes_input_uses(graph);
  const auto use = std::find_if(uses.begin(), uses.end(), [&](const AxesInputUse& u) { return u.id == id; });
  if (use != uses.end()) {
    const auto axes = default_axes(*use, desc.shape.empty() ? 1 : desc.shape[0]);
    for_each_element(desc, [&](std::int64_t index, std::int64_t offset) {
      graph::store_real(desc.dtype, tensor.data(), offset, static_cast<double>(axes[static_cast<std::size_t>(index)]));
    });
    values = "axes " + to_string(axes);
    return;
  }
  std::int64_t elements = 1;
  for (const std::int64_t dim : desc.shape) elements *= dim;
  const bool real = is_floating(desc.dtype);
  const Range range = real ? real_range(graph, id, elements) : integer_range(desc.dtype);
  constexpr std::int64_t kBetweenQuestions = 1 << 20;
  bool stopped = false;
  for_each_element(desc, [&](std::int64_t index, std::int64_t offset) {
    if (is_stopped != nullptr && index % kBetweenQuestions == 0) stopped = is_stopped();
    if (stopped) return;
    const double value = range.low + unit(seed, id, index) * (range.high - range.low);
    graph::store_real(desc.dtype, tensor.data(), offset, real ? value : std::floor(value));
  });
  values = range_text(range);
}

}  // namespace tenfold::tools

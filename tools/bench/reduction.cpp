// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "graph/ir/graph.hpp"
#include "tools/bench/interrupt.hpp"

namespace tenfold::tools::bench {
namespace {

/// Of either sign, with a magnitude in [0.5, 1.5), as `dtype` has it; integers are random bits.
std::uint64_t element_bits(DType dtype, std::uint64_t random) {
  const float value = (random & 1 ? 1.0F : -1.0F) * (0.5F + static_cast<float>(random >> 41) * 0x1p-23F);
  const double wide = value;
  std::uint32_t word = 0;
  std::uint64_t bits = 0;
  std::memcpy(&word, &value, sizeof word);
  std::memcpy(&bits, &wide, sizeof bits);
  switch (dtype) {
    case DType::f64: return bits;
    case DType::f32: return word;
    case DType::bf16: return word >> 16;
    // Rebias the exponent, keep ten bits of the mantissa.
    case DType::f16: return (word >> 31) << 15 | ((word & 0x7fffffff) - 0x38000000) >> 13;
    case DType::boolean: return random & 1;
    default: return random;
  }
}

graph::ValueId add_value(graph::Graph& graph, const TensorDesc& desc, bool ranked) {
  graph::Value value;
  value.id = static_cast<std::int64_t>(graph.values.size());
  value.dtype = desc.dtype;
  value.ranked = ranked;
  value.shape = desc.shape;
  value.strides = desc.strides;
  graph.values.push_back(std::move(value));
  return static_cast<graph::ValueId>(graph.values.size() - 1);
}

void add_op(graph::Graph& graph, const ReductionRow& row, const Case& what) {
  graph::Op op;
  op.id = static_cast<std::int64_t>(graph.ops.size());
  op.name = what.op;
  op.dialect = graph::Dialect::core;
  op.kind = row.is_index ? "arg_reduce" : "reduce";
  op.attributes = {{row.is_index ? "mode" : "reduction", std::string(row.core)}, {"keep_dims", what.keep_dims}};
  if (row.is_index) {
    op.attributes.push_back({"axis", what.axes[0]});
  } else {
    op.attributes.push_back({"axes", what.axes});
  }
  op.inputs = {0};
  op.outputs = {add_value(graph, {row.is_index ? DType::s64 : what.dtype, {}, {}}, false)};
  graph.ops.push_back(std::move(op));
}

}  // namespace

TensorDesc input_of(const Case& what) { return {what.dtype, what.shape, what.strides}; }

Dims kept_shape(const Case& what) {
  Dims shape = what.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  for (const std::int64_t axis : what.axes)
    if (axis >= -rank && axis < rank) shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = 1;
  return shape;
}

Graph reduction_graph(const Case& what) {
  graph::Graph core;
  add_value(core, input_of(what), true);
  add_op(core, *find_reduction(what.op), what);
  if (what.with_extreme) add_op(core, *find_reduction(what.op == "ArgMax" ? "ReduceMax" : "ReduceMin"), what);
  graph::connect(core);
  return Graph(std::make_shared<const graph::Graph>(std::move(core)));
}

void fill_ordinary(std::byte* data, DType dtype, std::int64_t count) {
  // A prime number of elements, again and again: no row is like the next, and 256 MiB do not take a second.
  constexpr std::int64_t kPeriod = 1048573;
  std::mt19937_64 random(1);
  const std::size_t size = static_cast<std::size_t>(byte_size(dtype));
  for (std::int64_t i = 0; i < std::min(count, kPeriod); ++i) {
    const std::uint64_t bits = element_bits(dtype, random());
    std::memcpy(data + static_cast<std::size_t>(i) * size, &bits, size);
  }
  for (std::int64_t done = kPeriod; done < count && !interrupted(); done += kPeriod)
    std::memcpy(data + static_cast<std::size_t>(done) * size, data,
                static_cast<std::size_t>(std::min(kPeriod, count - done)) * size);
}

}  // namespace tenfold::tools::bench

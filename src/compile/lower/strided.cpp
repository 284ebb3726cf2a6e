// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/strided.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compile/lower/copies.hpp"

namespace tenfold::compiler {
namespace {

/// Strides by which elements of `from`, that lie `strides` apart, are walked in the same order as `to`; nullopt where
/// a dim of `to` would need two.
std::optional<Dims> reshaped_strides(const Dims& from, const Dims& strides, const Dims& to) {
  Dims made(to.size(), 1);
  std::size_t f = from.size(), t = to.size();
  while (t > 0) {
    if (to[--t] == 1) continue;
    while (f > 0 && from[f - 1] == 1) --f;
    // One group: dims of both sides, from the innermost outwards, until they hold the same number of elements.
    std::int64_t held = from[f - 1], wanted = to[t], stride = strides[f - 1];
    const std::size_t last_from = f - 1;
    made[t] = stride;
    while (held != wanted) {
      if (wanted < held) {
        stride *= to[t];
        wanted *= to[--t];
        made[t] = stride;
        continue;
      }
      --f;
      if (from[f - 1] != 1 && strides[f - 1] != strides[last_from] * held) return std::nullopt;
      held *= from[f - 1];
    }
    --f;
  }
  return made;
}

/// `walk` of the op's input becomes that of its output.
Status step_through(const graph::Graph& graph, const graph::Op& op, StridedWalk& walk) {
  const Dims& from = graph.values[op.inputs[0]].shape;
  const Dims& to = graph.values[op.outputs[0]].shape;
  const Dims before = walk.strides;
  if (op.kind == "transpose") {
    const Dims permutation = graph::attribute_or<Dims>(op, "permutation", {});
    for (std::size_t dim = 0; dim < permutation.size(); ++dim)
      walk.strides[dim] = before[static_cast<std::size_t>(permutation[dim])];
  } else if (op.kind == "broadcast") {
    const std::size_t missing = to.size() - from.size();
    walk.strides.assign(to.size(), 0);
    for (std::size_t dim = 0; dim < from.size(); ++dim)
      if (from[dim] == to[dim + missing]) walk.strides[dim + missing] = before[dim];
  } else if (op.kind == "slice") {
    const Dims starts = graph::attribute_or<Dims>(op, "starts", {});
    const Dims steps = graph::attribute_or<Dims>(op, "steps", {});
    for (std::size_t dim = 0; dim < before.size(); ++dim) {
      walk.first += starts[dim] * before[dim];
      walk.strides[dim] *= steps[dim];
    }
  } else {
    std::optional<Dims> strides = reshaped_strides(from, before, to);
    if (!strides) return {Code::unsupported_shape, graph::describe(op) + " has no strides of what it is a view of"};
    walk.strides = std::move(*strides);
  }
  return {};
}

/// The ops that make `value` one of another, the last one first, of those that `wanted` takes; `value` becomes what
/// they begin with.
template <class Wanted>
std::vector<graph::OpId> chain_of(const graph::Graph& graph, graph::ValueId& value, const Wanted& wanted) {
  std::vector<graph::OpId> chain;
  for (graph::OpId id = graph.values[value].producer; id != graph::kNone && wanted(id);
       id = graph.values[value].producer) {
    chain.push_back(id);
    value = graph.ops[id].inputs[0];
  }
  return chain;
}

/// From what the chain begins with to its end.
Result<StridedWalk> walk_of(const graph::Graph& graph, graph::ValueId root, std::span<const graph::OpId> chain) {
  StridedWalk walk{root, 0, strides_of(graph::desc_of(graph.values[root]))};
  for (std::size_t i = chain.size(); i-- > 0;)
    if (Status status = step_through(graph, graph.ops[chain[i]], walk); !status.ok()) return status;
  return walk;
}

bool is_among(std::span<const graph::OpId> ops, graph::OpId op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace

Result<StridedWalk> strided_walk(const graph::Graph& graph, graph::ValueId value,
                                 std::span<const graph::OpId> through) {
  const std::vector<graph::OpId> chain =
      chain_of(graph, value, [through](graph::OpId op) { return is_among(through, op); });
  return walk_of(graph, value, chain);
}

StridedWalk slice_walk(const graph::Graph& graph, graph::ValueId value, std::span<const graph::OpId> through) {
  const std::vector<graph::OpId> chain =
      chain_of(graph, value, [&](graph::OpId op) { return is_slice(graph.ops[op]) && is_among(through, op); });
  return walk_of(graph, value, chain).value();
}

}  // namespace tenfold::compiler

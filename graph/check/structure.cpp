// SPDX-License-Identifier: Apache-2.0
//
// The rules graph.G1 to graph.G7, and the topological order. Everything is iterative and linear (but for the order's
// heap), as the graphs may be long and hostile.
#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"

namespace tenfold::graph {
namespace {

/// Longest cycle that a message spells out.
constexpr std::size_t kShownOps = 8;

Status check_ids(const Graph& graph) {
  std::unordered_map<std::int64_t, const Op*> ops;
  for (const Op& op : graph.ops) {
    const auto [at, fresh] = ops.emplace(op.id, &op);
    if (!fresh) return refuse(Code::invalid_graph, op, "its id is taken by " + describe(*at->second), "graph.G1");
  }
  std::unordered_map<std::int64_t, bool> values;
  for (const Value& value : graph.values)
    if (!values.emplace(value.id, true).second)
      return refuse(Code::invalid_graph, describe(value), "two tensors have this id", "graph.G6");
  return {};
}

Status check_indices(const Graph& graph) {
  const auto count = graph.values.size();
  for (const Op& op : graph.ops) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i] != kNone && op.inputs[i] >= count)
        return refuse(Code::invalid_graph, op, "input " + std::to_string(i) + " names a tensor that is not there",
                      "graph.G4");
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      if (op.outputs[i] >= count)
        return refuse(Code::invalid_graph, op, "output " + std::to_string(i) + " names a tensor that is not there",
                      "graph.G4");
  }
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (const ValueId v : *list)
      if (v >= count)
        return refuse(Code::invalid_graph, "graph", "an input or output names a tensor that is not there", "graph.G4");
  return {};
}

Status find_producers(const Graph& graph, std::vector<OpId>& producers) {
  producers.assign(graph.values.size(), kNone);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const ValueId v : graph.ops[i].outputs) {
      if (producers[v] != kNone)
        return refuse(Code::invalid_graph, describe(graph.values[v]),
                      "it is produced by " + describe(graph.ops[producers[v]]) + " and by " + describe(graph.ops[i]) +
                          "; a tensor has one producer",
                      "graph.G2");
      producers[v] = static_cast<OpId>(i);
    }
  return {};
}

Status check_sources(const Graph& graph, const std::vector<OpId>& producers) {
  std::vector<char> given(graph.values.size(), 0);
  for (const ValueId v : graph.inputs) given[v] = 1;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].is_constant) given[v] = 1;
    if (given[v] != 0 && producers[v] != kNone)
      return refuse(Code::invalid_graph, describe(graph.values[v]),
                    "it is a constant or graph input, yet " + describe(graph.ops[producers[v]]) + " produces it",
                    "graph.G7");
  }
  const auto has_source = [&](ValueId v) { return v == kNone || given[v] != 0 || producers[v] != kNone; };
  for (const Op& op : graph.ops)
    for (const ValueId v : op.inputs)
      if (!has_source(v))
        return refuse(Code::invalid_graph, op,
                      describe(graph.values[v]) + " is neither produced by an op, nor a constant, nor a graph input",
                      "graph.G5");
  for (const ValueId v : graph.outputs)
    if (!has_source(v))
      return refuse(Code::invalid_graph, describe(graph.values[v]), "it leaves the graph, but nothing produces it",
                    "graph.G5");
  return {};
}

/// Walks from `start`, an op that waits for another waiting one, against the edges until an op comes twice.
Status report_cycle(const Graph& graph, const std::vector<OpId>& producers, const std::vector<std::size_t>& waiting,
                    OpId start) {
  std::vector<OpId> path;
  std::vector<char> seen(graph.ops.size(), 0);
  OpId at = start;
  while (seen[at] == 0) {
    seen[at] = 1;
    path.push_back(at);
    for (const ValueId v : graph.ops[at].inputs)
      if (v != kNone && producers[v] != kNone && waiting[producers[v]] > 0) {
        at = producers[v];
        break;
      }
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  std::reverse(path.begin(), path.end());
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  std::string text = "the ops depend on each other in a cycle: ";
  for (std::size_t i = 0; i < std::min(path.size(), kShownOps); ++i) text += describe(graph.ops[path[i]]) + " -> ";
  if (path.size() > kShownOps) text += std::to_string(path.size() - kShownOps) + " more -> ";
  return refuse(Code::invalid_graph, "graph", text + describe(graph.ops[path.front()]), "graph.G3");
}

Status sort(const Graph& graph, const std::vector<OpId>& producers, std::vector<OpId>& order) {
  const std::size_t count = graph.ops.size();
  std::vector<std::size_t> waiting(count, 0);
  std::vector<std::vector<OpId>> users(count);
  for (std::size_t i = 0; i < count; ++i)
    for (const ValueId v : graph.ops[i].inputs)
      if (v != kNone && producers[v] != kNone) {
        ++waiting[i];
        users[producers[v]].push_back(static_cast<OpId>(i));
      }
  // Always the earliest op that is ready: an order that is legal already comes out as it is.
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(static_cast<OpId>(i));
  order.clear();
  while (!ready.empty()) {
    const OpId op = ready.top();
    ready.pop();
    order.push_back(op);
    for (const OpId user : users[op])
      if (--waiting[user] == 0) ready.push(user);
  }
  if (order.size() == count) return {};
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::size_t n) { return n > 0; });
  return report_cycle(graph, producers, waiting, static_cast<OpId>(stuck - waiting.begin()));
}

}  // namespace

Status check_structure(const Graph& graph, std::vector<OpId>& order) {
  if (Status s = check_ids(graph); !s.ok()) return s;
  if (Status s = check_indices(graph); !s.ok()) return s;
  std::vector<OpId> producers;
  if (Status s = find_producers(graph, producers); !s.ok()) return s;
  if (Status s = check_sources(graph, producers); !s.ok()) return s;
  return sort(graph, producers, order);
}

}  // namespace tenfold::graph

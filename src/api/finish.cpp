// SPDX-License-Identifier: Apache-2.0
//
// Finishing of graphs that were built op by op; see finish.hpp.
#include "api/finish.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/split.hpp"
#include "graph/check/check.hpp"
#include "graph/ir/attribute.hpp"
#include "runtime/float_state.hpp"

namespace tenfold::api {

namespace {

/// Removes ops that none of `outputs` needs; the user named what leaves the graph. Ops may stand in any order, and two
/// may produce one tensor: that is verify()'s to refuse.
void remove_unneeded_ops(graph::Graph& graph, const std::vector<graph::ValueId>& outputs) {
  std::vector<std::vector<std::size_t>> producers(graph.values.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const graph::ValueId v : graph.ops[i].outputs) producers[v].push_back(i);
  std::vector<char> kept(graph.ops.size(), 0);
  std::vector<graph::ValueId> open = outputs;
  while (!open.empty()) {
    const graph::ValueId v = open.back();
    open.pop_back();
    if (v == graph::kNone) continue;
    for (const std::size_t i : producers[v]) {
      if (kept[i] != 0) continue;
      kept[i] = 1;
      const std::vector<graph::ValueId>& inputs = graph.ops[i].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
  }
  std::size_t place = 0;
  std::erase_if(graph.ops, [&](const graph::Op&) { return kept[place++] == 0; });
}

Result<std::vector<graph::ValueId>> find_outputs(const graph::Graph& graph, const std::vector<TensorId>& outputs) {
  std::unordered_map<TensorId, graph::ValueId> by_id;
  for (graph::ValueId v = 0; v < graph.values.size(); ++v) by_id.emplace(graph.values[v].id, v);
  std::vector<bool> produced(graph.values.size(), false), listed(graph.values.size(), false);
  for (const graph::Op& op : graph.ops)
    for (const graph::ValueId v : op.outputs)
      if (v != graph::kNone) produced[v] = true;
  std::vector<graph::ValueId> found;
  for (const TensorId id : outputs) {
    const std::string what = "output " + std::to_string(id);
    const auto value = by_id.find(id);
    if (value == by_id.end()) return Status(Code::invalid_graph, what + " is no tensor of this graph");
    const graph::ValueId v = value->second;
    if (listed[v]) return Status(Code::invalid_graph, what + " is listed twice");
    if (!produced[v]) return Status(Code::invalid_graph, what + " is an input or a constant; no op makes it");
    listed[v] = true;
    found.push_back(v);
  }
  return found;
}

/// Connected, without the ops that none of `outputs` needs.
Status connect_for(graph::Graph& graph, const std::vector<TensorId>& outputs) {
  const Result<std::vector<graph::ValueId>> kept = find_outputs(graph, outputs);
  if (!kept.ok()) return kept.status();
  if (!kept.value().empty()) remove_unneeded_ops(graph, kept.value());
  graph::connect(graph, kept.value());
  if (!kept.value().empty()) graph.outputs = kept.value();
  if (graph.ops.empty()) return Status(Code::invalid_graph, "the graph has no op");
  return {};
}

}  // namespace

Result<Graph> finish_graph(graph::Graph graph, const std::vector<TensorId>& outputs) {
  const runtime::FullFloatState state;
  if (Status status = connect_for(graph, outputs); !status.ok()) return status;
  if (Status status = graph::verify(graph); !status.ok()) return status;
  if (Status status = graph::infer(graph); !status.ok()) return status;
  return Graph(std::make_shared<graph::Graph>(std::move(graph)));
}

Result<Graph> finish_any_graph(graph::Graph graph, const std::vector<TensorId>& outputs) {
  const runtime::FullFloatState state;
  // An End has no output whose shape somebody would ask for.
  const bool is_whole = std::all_of(graph.ops.begin(), graph.ops.end(),
                                    [](const graph::Op& op) { return is_supported(op) || op.kind == "End"; });
  if (is_whole) return finish_graph(std::move(graph), outputs);
  if (Status status = connect_for(graph, outputs); !status.ok()) return status;
  if (Status status = finish_parts(graph); !status.ok()) return status;
  return Graph(std::make_shared<graph::Graph>(std::move(graph)));
}

Status check_alone(graph::Graph graph) {
  const runtime::FullFloatState state;
  if (graph::version_of(graph.ops.at(0)) == nullptr) return {};
  graph::connect(graph);
  return graph::verify(graph);
}

}  // namespace tenfold::api

// SPDX-License-Identifier: Apache-2.0
//
// Cutting by levels. An op's level is how many unsupported ops lie, at the most, on a way to it; a supported one then
// moves up to the lowest level of its readers. Levels never fall along an edge, and rise behind an unsupported op, so
// what has one level is convex: no way leaves it and comes back.
#include "api/split.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "graph/check/check.hpp"
#include "graph/eval/eval.hpp"
#include "graph/ir/attribute.hpp"
#include "runtime/float_state.hpp"

namespace tenfold::api {

namespace {

using graph::OpId;
using graph::ValueId;
using Ops = std::vector<OpId>;

std::vector<Ops> readers_of_values(const graph::Graph& graph) {
  std::vector<Ops> readers(graph.values.size());
  for (OpId id = 0; id < graph.ops.size(); ++id)
    for (const ValueId v : graph.ops[id].inputs)
      if (v != graph::kNone) readers[v].push_back(id);
  return readers;
}

class Splitter {
 public:
  explicit Splitter(const graph::Graph& graph) : graph_(graph), readers_(readers_of_values(graph)) {
    for (const graph::Op& op : graph.ops) supported_.push_back(is_supported(op));
  }

  std::vector<Ops> run() {
    if (graph_.ops.empty()) return {};
    if (std::all_of(supported_.begin(), supported_.end(), [](bool yes) { return yes; })) {
      Ops all(graph_.ops.size());
      std::iota(all.begin(), all.end(), OpId{0});
      return {std::move(all)};
    }
    find_levels();
    return gather();
  }

 private:
  /// Ops are in topological order.
  void find_levels() {
    const std::size_t count = graph_.ops.size();
    levels_.assign(count, 0);
    for (OpId id = 0; id < count; ++id)
      for (const ValueId v : graph_.ops[id].outputs)
        for (const OpId reader : readers_[v])
          levels_[reader] = std::max(levels_[reader], levels_[id] + (supported_[id] ? 0 : 1));
    for (OpId id = static_cast<OpId>(count); id-- > 0;) {
      if (!supported_[id]) continue;
      std::size_t lowest = std::numeric_limits<std::size_t>::max();
      for (const ValueId v : graph_.ops[id].outputs)
        for (const OpId reader : readers_[v]) lowest = std::min(lowest, levels_[reader]);
      if (lowest != std::numeric_limits<std::size_t>::max()) levels_[id] = lowest;
    }
  }

  /// The supported ops of a level that are connected to `first`, in their order.
  Ops connected(OpId first, std::vector<bool>& taken) const {
    Ops found, open{first};
    const auto visit = [&](OpId next) {
      if (taken[next] || !supported_[next] || levels_[next] != levels_[first]) return;
      taken[next] = true;
      open.push_back(next);
    };
    taken[first] = true;
    while (!open.empty()) {
      const OpId id = open.back();
      open.pop_back();
      found.push_back(id);
      for (const ValueId v : graph_.ops[id].inputs)
        if (v != graph::kNone && graph_.values[v].producer != graph::kNone) visit(graph_.values[v].producer);
      for (const ValueId v : graph_.ops[id].outputs)
        for (const OpId reader : readers_[v]) visit(reader);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Level by level, the unsupported ops of each behind its others, which they may read.
  std::vector<Ops> gather() const {
    std::vector<OpId> order(graph_.ops.size());
    std::iota(order.begin(), order.end(), OpId{0});
    std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
      return std::pair(levels_[a], !supported_[a]) < std::pair(levels_[b], !supported_[b]);
    });
    std::vector<Ops> parts;
    std::vector<bool> taken(graph_.ops.size(), false);
    for (const OpId id : order)
      if (!taken[id]) parts.push_back(supported_[id] ? connected(id, taken) : Ops{id});
    return parts;
  }

  const graph::Graph& graph_;
  std::vector<Ops> readers_;  ///< by value
  std::vector<bool> supported_;
  std::vector<std::size_t> levels_;
};

/// Parts of a graph, each in time and space of its own size alone.
class Extractor {
 public:
  explicit Extractor(const graph::Graph& whole)
      : whole_(whole),
        readers_(readers_of_values(whole)),
        is_output_(whole.values.size(), false),
        places_(whole.values.size(), graph::kNone) {
    for (const ValueId v : whole.outputs) is_output_[v] = true;
  }

  /// The ops and what they touch as a graph of its own, connected, its values' ids as they were.
  graph::Graph extract(const Ops& ops) {
    graph::Graph part;
    part.version = whole_.version;
    part.engine_kind = whole_.engine_kind;
    part.fpmath_mode = whole_.fpmath_mode;
    std::vector<ValueId> leaving;
    for (const OpId id : ops) {
      graph::Op op = whole_.ops[id];
      for (ValueId& v : op.inputs) v = place_in(part, v);
      for (ValueId& v : op.outputs) {
        const bool leaves = v != graph::kNone && leaves_part(v, ops);
        v = place_in(part, v);
        if (leaves) leaving.push_back(v);
      }
      part.ops.push_back(std::move(op));
    }
    for (const ValueId v : placed_) places_[v] = graph::kNone;
    placed_.clear();
    graph::connect(part, leaving);
    // An End has nothing to give, though connect() takes what it ends for an output, and so what nobody reads.
    std::sort(leaving.begin(), leaving.end());
    std::erase_if(part.outputs, [&](ValueId v) { return !std::binary_search(leaving.begin(), leaving.end(), v); });
    return part;
  }

 private:
  ValueId place_in(graph::Graph& part, ValueId v) {
    if (v == graph::kNone) return graph::kNone;
    if (places_[v] == graph::kNone) {
      places_[v] = static_cast<ValueId>(part.values.size());
      placed_.push_back(v);
      part.values.push_back(whole_.values[v]);
    }
    return places_[v];
  }

  bool leaves_part(ValueId v, const Ops& ops) const {
    return is_output_[v] || std::ranges::any_of(readers_[v], [&](OpId user) {
             return !std::binary_search(ops.begin(), ops.end(), user);
           });
  }

  const graph::Graph& whole_;
  std::vector<Ops> readers_;  ///< by value
  std::vector<bool> is_output_;
  std::vector<ValueId> places_;  ///< by value, within the part that is being made
  std::vector<ValueId> placed_;
};

/// What a part has found out of its tensors, for the parts behind it; `places` by id.
void write_back(const graph::Graph& part, graph::Graph& whole,
                const std::unordered_map<std::int64_t, ValueId>& places) {
  for (const graph::Value& known : part.values) {
    if (known.producer == graph::kNone) continue;
    graph::Value& value = whole.values[places.at(known.id)];
    value.dtype = known.dtype;
    value.ranked = known.ranked;
    value.shape = known.shape;
    value.strides = known.strides;
    value.layout = known.layout;
  }
}

bool is_end(const graph::Op& op) { return op.dialect == graph::Dialect::onednn && op.kind == "End"; }

}  // namespace

bool is_supported(const graph::Op& op) {
  if (is_end(op) || (op.dialect == graph::Dialect::onednn && op.kind == "Wildcard")) return false;
  if (graph::version_of(op) == nullptr) return false;
  // Every op of oneDNN's that is compiled, in whatever way, is in the evaluator as well; tables may know more.
  return op.dialect != graph::Dialect::onednn || graph::can_evaluate(op);
}

Result<std::vector<Part>> split(const Graph& whole, Policy policy) {
  const runtime::FullFloatState state;
  const graph::Graph& ir = whole.ir();
  std::vector<Ops> cut;
  if (policy == Policy::debug)
    for (OpId id = 0; id < ir.ops.size(); ++id) cut.push_back({id});
  else
    cut = Splitter(ir).run();
  std::vector<Part> parts;
  // Of a graph without ops what leaves it is copied: inputs and constants. Ends are how a file says that these leave.
  const bool only_ends = policy == Policy::fusion && std::all_of(ir.ops.begin(), ir.ops.end(), is_end);
  if ((cut.empty() || only_ends) && !ir.outputs.empty()) {
    parts.push_back({whole, true});
    return parts;
  }
  if (cut.size() == 1 && cut[0].size() == ir.ops.size()) {
    parts.push_back({whole, is_supported(ir.ops[0])});
    return parts;
  }
  Extractor extractor(ir);
  for (const Ops& ops : cut) {
    auto part = std::make_shared<graph::Graph>(extractor.extract(ops));
    const bool supported = is_supported(ir.ops[ops[0]]);
    if (supported)
      if (Status status = graph::verify(*part); !status.ok()) return status;
    parts.push_back({Graph(std::move(part)), supported});
  }
  return parts;
}

Status finish_parts(graph::Graph& graph) {
  if (Status status = graph::sort_ops(graph); !status.ok()) return status;
  Extractor extractor(graph);
  std::unordered_map<std::int64_t, ValueId> places;
  for (ValueId v = 0; v < graph.values.size(); ++v) places.emplace(graph.values[v].id, v);
  for (const Ops& ops : Splitter(graph).run()) {
    if (!is_supported(graph.ops[ops[0]])) continue;
    graph::Graph part = extractor.extract(ops);
    if (Status status = graph::verify(part); !status.ok()) return status;
    if (Status status = graph::infer(part); !status.ok()) return status;
    write_back(part, graph, places);
  }
  return {};
}

}  // namespace tenfold::api

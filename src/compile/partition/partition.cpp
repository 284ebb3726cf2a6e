// SPDX-License-Identifier: Apache-2.0
#include "compile/partition/partition.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "compile/lower/arg.hpp"
#include "compile/lower/copies.hpp"
#include "compile/lower/narrow_casts.hpp"
#include "compile/lower/ordered.hpp"
#include "compile/lower/space.hpp"
#include "compile/partition/cost.hpp"
#include "compile/partition/dataflow.hpp"
#include "compile/partition/group_order.hpp"
#include "compile/plan/plain_indices.hpp"
#include "compile/plan/plain_reductions.hpp"
#include "jit/emit.hpp"
#include "schedule/arg_body.hpp"
#include "schedule/body.hpp"

namespace tenfold::compiler {
namespace {

using graph::Op;
using graph::OpId;
using graph::ValueId;

/// Bodies beyond this gain little by growing and cost much to emit.
constexpr std::size_t kMostNodes = 96;
class Partitioner {
 public:
  Partitioner(const graph::Graph& graph, const target::Target& target, const RowPieces& pieces)
      : graph_(graph), target_(target), pieces_(pieces), flow_(graph), order_(flow_) {}

  Partition run(bool fuse) {
    for (OpId id = 0; id < graph_.ops.size(); ++id)
      if (!flow_.is_seen_through(id)) settle(id);
    // What was written out after a group had been made may be read from that group.
    if (flow_.has_written_out())
      for (std::uint32_t group = 0; group < groups_.size(); ++group) groups_[group] = make(order_.ops(GroupId{group}));
    if (fuse)
      for (OpId id = 0; id < graph_.ops.size(); ++id)
        if (!flow_.is_seen_through(id)) grow(id);
    Partition made;
    for (const GroupId group : order_.in_order()) made.regions.push_back(std::move(at(group).region));
    // If an edge was tried again, as a group had grown, the last reason counts.
    std::map<std::pair<OpId, OpId>, std::string> reasons;
    for (Unfused& edge : unfused_) reasons[{edge.from, edge.to}] = std::move(edge.reason);
    for (auto& [edge, reason] : reasons)
      if (order_.group_of(edge.first) != order_.group_of(edge.second))
        made.unfused.push_back({edge.first, edge.second, std::move(reason)});
    return made;
  }

 private:
  struct Group {
    Region region;
    double cost = 0;
  };

  /// The ops as one region; its status says why not.
  Group make(const Ops& ops) const {
    Group group;
    const Ops all = flow_.with_views(ops);
    group.region.ops.assign(all.begin(), all.end());
    if (all.size() > ops.size() + kMostViews) {
      group.region.status =
          Status(Code::unsupported_shape, "reads through more than " + std::to_string(kMostViews) + " views");
      return group;
    }
    if (ops.size() == 1 && is_heavy(graph_.ops[*ops.begin()])) {
      Result<HeavyOp> heavy = lower_heavy(graph_, graph_.ops[*ops.begin()], group.region.ops, target_);
      group.region.status = heavy.status();
      if (heavy.ok()) group.region.heavy = std::move(heavy).value();
      return group;
    }
    if (ops.size() == 1 && is_selection(graph_, graph_.ops[*ops.begin()])) {
      Result<PlannedSelection> selection = select(graph_.ops[*ops.begin()], group.region.ops);
      group.region.status = selection.status();
      if (selection.ok()) group.region.selection = std::move(selection).value();
      return group;
    }
    Result<std::vector<Lowered>> lowered = lower_group(ops, group.region.ops);
    group.region.status = lowered.status();
    if (!lowered.ok()) return group;
    for (Lowered& part : lowered.value()) {
      Result<Plan> plan = make_plan(part.spec, target_, pieces_);
      if (group.region.status.ok()) group.region.status = plan.status();
      if (!group.region.status.ok()) return group;
      for (const PlannedKernel& kernel : plan.value().kernels)
        if (group.region.status.ok()) group.region.status = jit::check_body(kernel.spec, kernel.schedule);
      group.cost += cost_of(part.spec);
      group.region.parts.push_back({std::move(part), std::move(plan).value()});
    }
    return group;
  }

  Result<PlannedSelection> select(const Op& op, const std::vector<OpId>& through) const {
    if (target_.isa == target::Isa::reference) return Status(Code::unsupported_target, "the target is 'reference'");
    Result<Selection> selection = lower_selection(graph_, op, through);
    if (!selection.ok()) return selection.status();
    PlannedSelection planned{std::move(selection).value(), {}};
    if (planned.selection.block == 0) return planned;
    Result<Plan> plan = make_plan(planned.selection.extremes, target_, pieces_);
    if (!plan.ok()) return plan.status();
    planned.plan = std::move(plan).value();
    return planned;
  }

  static Result<std::vector<Lowered>> only(Result<Lowered> lowered) {
    if (!lowered.ok()) return lowered.status();
    return std::vector<Lowered>{std::move(lowered).value()};
  }

  Result<std::vector<Lowered>> lower_group(const Ops& ops, const std::vector<OpId>& all) const {
    if (all.size() == 1 && is_movement(graph_.ops[all[0]])) return lower_copies(graph_, graph_.ops[all[0]]);
    if (all.size() == 1 && is_ordered(graph_.ops[all[0]])) return only(lower_ordered(graph_, graph_.ops[all[0]]));
    if (all.size() == 1 && is_narrow_cast(graph_, graph_.ops[all[0]]))
      return only(lower_narrow_cast(graph_, graph_.ops[all[0]]));
    const auto is_arg = [this](OpId id) { return graph_.ops[id].kind == "arg_reduce"; };
    if (std::any_of(all.begin(), all.end(), is_arg)) {
      if (all.size() == 1) return only(lower_arg_reduce(graph_, graph_.ops[all[0]]));
      if (all.size() == 2 && is_arg_pair(graph_, graph_.ops[all[0]], graph_.ops[all[1]]))
        return only(lower_pair(graph_, graph_.ops[all[0]], graph_.ops[all[1]]));
    }
    std::vector<ValueId> outputs;
    for (const OpId id : ops)
      for (const ValueId value : graph_.ops[id].outputs)
        if (flow_.leaves(value, ops)) outputs.push_back(value);
    return only(lower(graph_, all, outputs));
  }

  /// A group that is being made of one op: what it cannot read through views is written out before it.
  struct Settling {
    OpId op;
    Group group;
    std::size_t input = 0;  ///< the next to look at
    bool wrote_out = false;
  };

  /// A group of one op, after groups of the views that it cannot read through, and of those that these cannot, ...
  void settle(OpId id) {
    std::vector<Settling> open;
    open.push_back({id, make({id})});
    while (!open.empty()) {
      Settling& top = open.back();
      if (const OpId view = next_to_write_out(top); view != graph::kNone) {
        flow_.write_out(view);
        top.wrote_out = true;
        open.push_back({view, make({view})});
        continue;
      }
      if (top.wrote_out) top.group = make({top.op});
      groups_.push_back(std::move(top.group));
      order_.add(top.op);
      open.pop_back();
    }
  }

  OpId next_to_write_out(Settling& settling) const {
    if (settling.group.region.status.ok()) return graph::kNone;
    const Op& op = graph_.ops[settling.op];
    // A heavy op may still read the other views as they are.
    if (settling.wrote_out && is_heavy(op)) settling.group = make({settling.op});
    if (settling.group.region.heavy) return graph::kNone;
    while (settling.input < op.inputs.size()) {
      const ValueId value = op.inputs[settling.input++];
      const OpId producer = value == graph::kNone ? graph::kNone : graph_.values[value].producer;
      if (producer != graph::kNone && flow_.is_seen_through(producer)) return producer;
    }
    return graph::kNone;
  }

  /// Merges the op's group with those that it reads from, then with those that read the same.
  void grow(OpId id) {
    if (has_empty(graph_, graph_.ops[id])) return;
    for (const ValueId value : graph_.ops[id].inputs) {
      const OpId from = value == graph::kNone ? graph::kNone : flow_.producer_of(value);
      if (from != graph::kNone) try_merge(from, id);
    }
    for (const ValueId value : graph_.ops[id].inputs) {
      if (value == graph::kNone || graph_.values[value].is_constant) continue;
      for (const OpId other : flow_.nearest_readers(flow_.source_of(value), id)) try_merge(other, id);
    }
  }

  void try_merge(OpId from, OpId to) {
    const GroupId a = order_.group_of(from), b = order_.group_of(to);
    if (a == b || has_empty(graph_, graph_.ops[from])) return;
    const auto refuse = [&](std::string reason) { unfused_.push_back({from, to, std::move(reason)}); };
    for (const GroupId group : {a, b})
      if (const Region& region = at(group).region; !region.status.ok())
        return refuse(graph::describe(graph_.ops[region.ops.back()]) + " is no kernel");
    for (const GroupId group : {a, b})
      if (const Region& region = at(group).region; region.heavy)
        return refuse(graph::describe(graph_.ops[region.ops.back()]) + " runs on oneDNN");
    for (const GroupId group : {a, b})
      if (const Region& region = at(group).region; region.selection)
        return refuse(graph::describe(graph_.ops[region.ops.back()]) + " selects from its lines one by one");
    for (const GroupId group : {a, b})
      if (is_movement(graph_.ops[*order_.ops(group).begin()])) return refuse("a slice or concatenation is a copy");
    if (spec_of(a).body.size() + spec_of(b).body.size() > kMostNodes)
      return refuse("the kernel would have more than " + std::to_string(kMostNodes) + " values");
    if (const Between found = order_.between(a, b); found != Between::nothing)
      return refuse(found == Between::groups ? "a value would leave the kernel and come back"
                                             : "too many ops lie between for a look at whether a value comes back");
    Ops both = order_.ops(a);
    both.insert(order_.ops(b).begin(), order_.ops(b).end());
    Group merged = make(both);
    if (!merged.region.status.ok()) return refuse(merged.region.status.message());
    if (is_one_task(merged.region.parts[0]))
      return refuse("few rows of many elements each: once fused, they could not be cut into tasks");
    if (has_slow_extremes(merged.region.parts[0].lowered.spec) && only_reductions_read(both))
      return refuse("an extreme of so narrow elements is faster on what has been written");
    for (const GroupId group : {a, b})
      if (at(group).region.parts[0].plan.in_pieces && !merged.region.parts[0].plan.in_pieces &&
          schedule::has_arg_reduction(merged.region.parts[0].lowered.spec))
        return refuse("rows that are run in pieces apart would be whole beside an arg-reduction");
    if (const kernel::KernelSpec& spec = merged.region.parts[0].lowered.spec;
        is_shared_alone(spec) && !schedule::read_body(spec).ok())
      return refuse("threads share an arg-reduction alone, of so few rows or columns");
    if (has_slow_index(merged.region.parts[0].lowered.spec))
      return refuse("an arg-reduction of so narrow elements is faster on what has been written");
    if (merged.cost > at(a).cost + at(b).cost)
      return refuse("to compute values anew for each element, or in each pass, costs more than to read them");
    at(a) = std::move(merged);
    at(b) = {};
    order_.merge(a, b);
  }

  /// Whether no op outside `ops`, but reductions, reads what reductions inside read: others may yet join them.
  bool only_reductions_read(const Ops& ops) const {
    for (const OpId id : ops) {
      if (!reduces(graph_.ops[id])) continue;
      const OpId producer = flow_.producer_of(graph_.ops[id].inputs[0]);
      if (producer == graph::kNone) continue;
      for (const OpId reader : flow_.readers({producer}))
        if (!ops.contains(reader) && !reduces(graph_.ops[reader])) return false;
    }
    return true;
  }

  Group& at(GroupId group) { return groups_[index_of(group)]; }
  const kernel::KernelSpec& spec_of(GroupId group) const {
    return groups_[index_of(group)].region.parts[0].lowered.spec;
  }

  /// Plain reductions can be split, and bodies in stages usually can, but for arg-reductions among others. By the shape
  /// alone: cores must not decide bits.
  static bool is_one_task(const PlannedPart& part) {
    constexpr std::int64_t kManyElements = 1 << 20, kManyOfIndex = 1 << 16;
    const kernel::KernelSpec& spec = part.lowered.spec;
    const std::int64_t many = schedule::has_arg_reduction(spec) ? kManyOfIndex : kManyElements;
    const bool is_long = kernel::kept_count(spec) < kFewRows && kernel::reduced_count(spec) >= many;
    return is_long && !part.plan.in_pieces && !schedule::read_body(spec).ok();
  }

  const graph::Graph& graph_;
  const target::Target& target_;
  RowPieces pieces_;
  Dataflow flow_;
  GroupOrder order_;
  std::vector<Group> groups_;
  std::vector<Unfused> unfused_;
};

}  // namespace

Partition partition(const graph::Graph& graph, const target::Target& target, bool fuse, const RowPieces& pieces) {
  return Partitioner(graph, target, pieces).run(fuse);
}

}  // namespace tenfold::compiler

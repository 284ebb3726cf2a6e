// SPDX-License-Identifier: Apache-2.0
#include "compile/partition.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compile/cost.hpp"
#include "compile/lower_arg.hpp"
#include "compile/lower_copies.hpp"
#include "compile/space.hpp"
#include "jit/emit.hpp"
#include "schedule/body.hpp"

namespace tenfold::compiler {
namespace {

using graph::Op;
using graph::OpId;
using graph::ValueId;

/// Bodies beyond this gain little by growing and cost much to emit.
constexpr std::size_t kMostNodes = 96;
/// A region looks through no more views than this, and of the groups that read a tensor as it does it tries the
/// nearest: so the time to partition a graph of any number of ops grows with that number.
constexpr std::size_t kMostViews = 64, kMostSiblings = 32;

using Ops = std::set<OpId>;

class Partitioner {
 public:
  Partitioner(const graph::Graph& graph, const target::Target& target, const RowPieces& pieces)
      : graph_(graph),
        target_(target),
        pieces_(pieces),
        users_(graph.values.size()),
        leaves_(graph.values.size(), false),
        seen_through_(graph.ops.size(), false),
        group_of_(graph.ops.size(), graph::kNone) {
    for (const ValueId value : graph.outputs) leaves_[value] = true;
    for (OpId id = 0; id < graph.ops.size(); ++id) {
      for (const ValueId value : graph.ops[id].inputs)
        if (value != graph::kNone) users_[value].push_back(id);
      const bool is_walk = is_view(graph.ops[id]) || is_forward_slice(graph.ops[id]);
      seen_through_[id] = is_walk && !leaves_[graph.ops[id].outputs[0]] && !has_empty(graph.ops[id]);
    }
  }

  Partition run(bool fuse) {
    for (OpId id = 0; id < graph_.ops.size(); ++id)
      if (!seen_through_[id]) settle(id);
    // What was written out after a group had been made may be read from that group.
    if (written_out_)
      for (Group& group : groups_) group = make(group.ops);
    if (fuse)
      for (OpId id = 0; id < graph_.ops.size(); ++id)
        if (!seen_through_[id]) grow(id);
    Partition made;
    for (const OpId group : in_order()) made.regions.push_back(std::move(groups_[group].region));
    // If an edge was tried again, as a group had grown, the last reason counts.
    std::map<std::pair<OpId, OpId>, std::string> reasons;
    for (Unfused& edge : unfused_) reasons[{edge.from, edge.to}] = std::move(edge.reason);
    for (auto& [edge, reason] : reasons)
      if (group_of_[edge.first] != group_of_[edge.second])
        made.unfused.push_back({edge.first, edge.second, std::move(reason)});
    return made;
  }

 private:
  struct Group {
    Ops ops;  ///< without the views that they look through
    Region region;
    double cost = 0;
  };

  bool has_empty(const Op& op) const {
    const auto is_empty = [this](ValueId value) {
      if (value == graph::kNone) return false;
      const Dims& shape = graph_.values[value].shape;
      return std::find(shape.begin(), shape.end(), 0) != shape.end();
    };
    return std::any_of(op.inputs.begin(), op.inputs.end(), is_empty) ||
           std::any_of(op.outputs.begin(), op.outputs.end(), is_empty);
  }

  /// The ops with all views between them and what they read; with more than kMostViews of these, some of them.
  Ops with_views(const Ops& ops) const {
    Ops all = ops;
    std::vector<OpId> open(ops.begin(), ops.end());
    while (!open.empty() && all.size() <= ops.size() + kMostViews) {
      const OpId id = open.back();
      open.pop_back();
      for (const ValueId value : graph_.ops[id].inputs) {
        if (value == graph::kNone) continue;
        const OpId producer = graph_.values[value].producer;
        if (producer != graph::kNone && seen_through_[producer] && all.insert(producer).second)
          open.push_back(producer);
      }
    }
    return all;
  }

  /// Whether anyone but `ops` reads the value, through views or not.
  bool leaves(ValueId value, const Ops& ops) const {
    std::vector<ValueId> open{value};
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (leaves_[next]) return true;
      for (const OpId user : users_[next]) {
        if (seen_through_[user])
          open.push_back(graph_.ops[user].outputs[0]);
        else if (!ops.contains(user))
          return true;
      }
    }
    return false;
  }

  /// The ops as one region; its status says why not.
  Group make(const Ops& ops) const {
    Group group;
    group.ops = ops;
    const Ops all = with_views(ops);
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

  static Result<std::vector<Lowered>> only(Result<Lowered> lowered) {
    if (!lowered.ok()) return lowered.status();
    return std::vector<Lowered>{std::move(lowered).value()};
  }

  Result<std::vector<Lowered>> lower_group(const Ops& ops, const std::vector<OpId>& all) const {
    if (all.size() == 1 && is_movement(graph_.ops[all[0]])) return lower_copies(graph_, graph_.ops[all[0]]);
    const auto is_arg = [this](OpId id) { return graph_.ops[id].kind == "arg_reduce"; };
    if (std::any_of(all.begin(), all.end(), is_arg)) {
      if (all.size() == 1) return only(lower_arg_reduce(graph_, graph_.ops[all[0]]));
      if (all.size() == 2 && arg_partner(graph_, all[0]) == all[1])
        return only(lower_pair(graph_, graph_.ops[all[0]], graph_.ops[all[1]]));
      return Status(Code::unsupported_op, "an arg-reduction beside other ops");
    }
    std::vector<ValueId> outputs;
    for (const OpId id : ops)
      for (const ValueId value : graph_.ops[id].outputs)
        if (leaves(value, ops)) outputs.push_back(value);
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
        seen_through_[view] = false;
        written_out_ = top.wrote_out = true;
        open.push_back({view, make({view})});
        continue;
      }
      if (top.wrote_out) top.group = make({top.op});
      group_of_[top.op] = static_cast<OpId>(groups_.size());
      groups_.push_back(std::move(top.group));
      depth_.push_back(top.op);
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
      if (producer != graph::kNone && seen_through_[producer]) return producer;
    }
    return graph::kNone;
  }

  /// Merges the op's group with those that it reads from, then with those that read the same.
  void grow(OpId id) {
    if (has_empty(graph_.ops[id])) return;
    for (const ValueId value : graph_.ops[id].inputs) {
      const OpId from = value == graph::kNone ? graph::kNone : producer_of(value);
      if (from != graph::kNone) try_merge(from, id);
    }
    for (const ValueId value : graph_.ops[id].inputs) {
      if (value == graph::kNone || graph_.values[value].is_constant) continue;
      for (const OpId other : nearest_readers(source_of(value), id)) try_merge(other, id);
    }
  }

  /// What is looked through to.
  ValueId source_of(ValueId value) const {
    OpId producer = graph_.values[value].producer;
    while (producer != graph::kNone && seen_through_[producer]) {
      value = graph_.ops[producer].inputs[0];
      producer = graph_.values[value].producer;
    }
    return value;
  }
  OpId producer_of(ValueId value) const { return graph_.values[source_of(value)].producer; }

  /// Of the ops before `id` that read the value, through views or not, the nearest, in order.
  std::vector<OpId> nearest_readers(ValueId value, OpId id) const {
    std::vector<OpId> readers;
    std::vector<ValueId> open{value};
    std::size_t views = 0;
    while (!open.empty()) {
      const std::vector<OpId>& users = users_[open.back()];
      open.pop_back();
      auto user = std::lower_bound(users.begin(), users.end(), id);
      for (std::size_t found = 0; found < kMostSiblings && user != users.begin();) {
        --user;
        if (!seen_through_[*user]) {
          readers.push_back(*user);
          ++found;
        } else if (views++ < kMostViews) {
          open.push_back(graph_.ops[*user].outputs[0]);
        }
      }
    }
    std::sort(readers.begin(), readers.end());
    if (readers.size() > kMostSiblings) readers.erase(readers.begin(), readers.end() - kMostSiblings);
    return readers;
  }

  void try_merge(OpId from, OpId to) {
    const OpId a = group_of_[from], b = group_of_[to];
    if (a == b || has_empty(graph_.ops[from])) return;
    const auto refuse = [&](std::string reason) { unfused_.push_back({from, to, std::move(reason)}); };
    for (const OpId group : {a, b})
      if (const Region& region = groups_[group].region; !region.status.ok())
        return refuse(graph::describe(graph_.ops[region.ops.back()]) + " is no kernel");
    for (const OpId group : {a, b})
      if (const Region& region = groups_[group].region; region.heavy)
        return refuse(graph::describe(graph_.ops[region.ops.back()]) + " runs on oneDNN");
    for (const OpId group : {a, b})
      if (is_movement(graph_.ops[*groups_[group].ops.begin()])) return refuse("a slice or concatenation is a copy");
    if (!is_convex(a, b)) return refuse("a value would leave the kernel and come back");
    if (spec_of(a).body.size() + spec_of(b).body.size() > kMostNodes)
      return refuse("the kernel would have more than " + std::to_string(kMostNodes) + " values");
    Ops both = groups_[a].ops;
    both.insert(groups_[b].ops.begin(), groups_[b].ops.end());
    Group merged = make(both);
    if (!merged.region.status.ok()) return refuse(merged.region.status.message());
    if (is_one_task(merged.region.parts[0]))
      return refuse("few rows of many elements each: once fused, they could not be cut into tasks");
    if (merged.cost > groups_[a].cost + groups_[b].cost)
      return refuse("to compute values anew for each element, or in each pass, costs more than to read them");
    depth_[a] = std::max(depth_[a], depth_[b]);
    for (const OpId op : groups_[b].ops) group_of_[op] = a;
    groups_[a] = std::move(merged);
    groups_[b] = {};
    deepen_readers(a);
  }

  /// Keeps what reads from the group, and what reads from that, deeper than it.
  void deepen_readers(OpId group) {
    std::vector<OpId> open{group};
    while (!open.empty()) {
      const OpId from = open.back();
      open.pop_back();
      for (const OpId to : readers(from)) {
        if (depth_[to] > depth_[from]) continue;
        depth_[to] = depth_[from] + 1;
        open.push_back(to);
      }
    }
  }

  /// The other groups that read from it.
  std::set<OpId> readers(OpId group) const {
    std::set<OpId> others;
    std::vector<ValueId> open;
    for (const OpId op : groups_[group].ops)
      open.insert(open.end(), graph_.ops[op].outputs.begin(), graph_.ops[op].outputs.end());
    while (!open.empty()) {
      const std::vector<OpId>& users = users_[open.back()];
      open.pop_back();
      for (const OpId user : users) {
        if (seen_through_[user])
          open.push_back(graph_.ops[user].outputs[0]);
        else if (group_of_[user] != group)
          others.insert(group_of_[user]);
      }
    }
    return others;
  }

  const kernel::KernelSpec& spec_of(OpId group) const { return groups_[group].region.parts[0].lowered.spec; }

  /// Plain reductions can be split, and bodies in stages usually can. By the shape alone: cores must not decide bits.
  static bool is_one_task(const PlannedPart& part) {
    constexpr std::int64_t kFewRows = 8, kManyElements = 1 << 20;
    const kernel::KernelSpec& spec = part.lowered.spec;
    const bool is_long = kernel::kept_count(spec) < kFewRows && kernel::reduced_count(spec) >= kManyElements;
    return is_long && !part.plan.in_pieces && !schedule::read_body(spec).ok();
  }

  std::set<OpId> read_by(OpId group) const {
    std::set<OpId> others;
    for (const OpId op : groups_[group].ops)
      for (const ValueId value : graph_.ops[op].inputs) {
        const OpId producer = value == graph::kNone ? graph::kNone : producer_of(value);
        if (producer != graph::kNone && group_of_[producer] != group) others.insert(group_of_[producer]);
      }
    return others;
  }

  /// Whether no third group lies on a path between the two: depth rises along it, and no group on it is as deep as the
  /// one where it ends.
  bool is_convex(OpId a, OpId b) const {
    const bool a_is_deeper = depth_[a] > depth_[b];
    const OpId from = a_is_deeper ? b : a, to = a_is_deeper ? a : b;
    std::set<OpId> seen;
    std::vector<OpId> open;
    const auto go_on = [&](OpId next) {
      if (depth_[next] > depth_[from] && seen.insert(next).second) open.push_back(next);
    };
    for (const OpId next : read_by(to)) go_on(next);
    while (!open.empty()) {
      const std::set<OpId> above = read_by(open.back());
      open.pop_back();
      if (above.contains(from)) return false;
      for (const OpId next : above) go_on(next);
    }
    return true;
  }

  /// Each group after those that it reads from; as the ops stand, otherwise.
  std::vector<OpId> in_order() const {
    std::vector<OpId> order;
    std::vector<bool> done(groups_.size(), false);
    /// Groups that wait for what they read from, each with those of that which are still to be looked at.
    std::vector<std::pair<OpId, std::set<OpId>>> open;
    const auto begin = [&](OpId group) {
      if (done[group]) return;
      done[group] = true;
      open.emplace_back(group, read_by(group));
    };
    for (OpId id = 0; id < graph_.ops.size(); ++id) {
      if (!seen_through_[id]) begin(group_of_[id]);
      while (!open.empty()) {
        auto& [group, before] = open.back();
        if (!before.empty()) {
          begin(before.extract(before.begin()).value());
          continue;
        }
        order.push_back(group);
        open.pop_back();
      }
    }
    return order;
  }

  const graph::Graph& graph_;
  const target::Target& target_;
  RowPieces pieces_;
  std::vector<std::vector<OpId>> users_;  ///< by value
  std::vector<bool> leaves_;              ///< by value
  std::vector<bool> seen_through_;        ///< by op: a view without a region
  bool written_out_ = false;              ///< some view was not looked through after all
  std::vector<OpId> group_of_;            ///< by op
  std::vector<Group> groups_;
  std::vector<std::size_t> depth_;  ///< by group: greater than that of any group that it reads from
  std::vector<Unfused> unfused_;
};

}  // namespace

Partition partition(const graph::Graph& graph, const target::Target& target, bool fuse, const RowPieces& pieces) {
  return Partitioner(graph, target, pieces).run(fuse);
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
#include "compile/partition/group_order.hpp"

#include <algorithm>
#include <utility>

namespace tenfold::compiler {

using graph::OpId;
using graph::ValueId;

namespace {

/// Groups that a search looks at before it gives up, so that graphs of long edges partition in linear time.
constexpr std::size_t kMostBetween = 4096;

}  // namespace

void GroupOrder::add(OpId op) {
  group_of_[op] = static_cast<GroupId>(ops_.size());
  ops_.push_back({op});
  depth_.push_back(op);
}

void GroupOrder::merge(GroupId a, GroupId b) {
  depth_[index_of(a)] = std::max(depth_[index_of(a)], depth_[index_of(b)]);
  for (const OpId op : ops_[index_of(b)]) group_of_[op] = a;
  ops_[index_of(a)].merge(ops_[index_of(b)]);
  deepen_readers(a);
}

/// Keeps what reads from the group, and what reads from that, deeper than it.
void GroupOrder::deepen_readers(GroupId group) {
  std::vector<GroupId> open{group};
  while (!open.empty()) {
    const GroupId from = open.back();
    open.pop_back();
    for (const GroupId to : readers(from)) {
      if (depth_[index_of(to)] > depth_[index_of(from)]) continue;
      depth_[index_of(to)] = depth_[index_of(from)] + 1;
      open.push_back(to);
    }
  }
}

/// The other groups that read from it.
std::set<GroupId> GroupOrder::readers(GroupId group) const {
  std::set<GroupId> others;
  for (const OpId op : flow_.readers(ops_[index_of(group)]))
    if (group_of_[op] != group) others.insert(group_of_[op]);
  return others;
}

/// Calls `visit` for each other group that it reads from, once for each edge.
template <class Visit>
void GroupOrder::each_read_by(GroupId group, const Visit& visit) const {
  for (const OpId op : ops_[index_of(group)])
    for (const ValueId value : flow_.graph().ops[op].inputs) {
      const OpId producer = value == graph::kNone ? graph::kNone : flow_.producer_of(value);
      if (producer != graph::kNone && group_of_[producer] != group) visit(group_of_[producer]);
    }
}

std::set<GroupId> GroupOrder::read_by(GroupId group) const {
  std::set<GroupId> others;
  each_read_by(group, [&](GroupId other) { others.insert(other); });
  return others;
}

/// Depth rises along a path, so that no group on one is as deep as the group where it ends.
Between GroupOrder::between(GroupId a, GroupId b) {
  const bool a_is_deeper = depth_[index_of(a)] > depth_[index_of(b)];
  const GroupId from = a_is_deeper ? b : a, to = a_is_deeper ? a : b;
  seen_in_.resize(ops_.size(), 0);
  ++search_;
  std::vector<GroupId> open;
  const auto go_on = [&](GroupId next) {
    if (depth_[index_of(next)] <= depth_[index_of(from)] || seen_in_[index_of(next)] == search_) return;
    seen_in_[index_of(next)] = search_;
    open.push_back(next);
  };
  each_read_by(to, go_on);
  for (std::size_t looked_at = 0; !open.empty(); ++looked_at) {
    if (looked_at == kMostBetween) return Between::unknown;
    const GroupId group = open.back();
    open.pop_back();
    bool reaches = false;
    each_read_by(group, [&](GroupId next) {
      reaches = reaches || next == from;
      go_on(next);
    });
    if (reaches) return Between::groups;
  }
  return Between::nothing;
}

std::vector<GroupId> GroupOrder::in_order() const {
  std::vector<GroupId> order;
  std::vector<bool> done(ops_.size(), false);
  /// Groups that wait for what they read from, each with those of that which are still to be looked at.
  std::vector<std::pair<GroupId, std::set<GroupId>>> open;
  const auto begin = [&](GroupId group) {
    if (done[index_of(group)]) return;
    done[index_of(group)] = true;
    open.emplace_back(group, read_by(group));
  };
  for (const GroupId first : group_of_) {
    if (first != kNoGroup) begin(first);
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

}  // namespace tenfold::compiler

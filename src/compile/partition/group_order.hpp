// SPDX-License-Identifier: Apache-2.0
//
// Groups of ops that are to be one region each: which reads from which, whether two may become one, and in which order
// they can run. Knows nothing of what a region can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "compile/partition/dataflow.hpp"

namespace tenfold::compiler {

/// The number of a group, which is no op's.
enum class GroupId : std::uint32_t {};
inline constexpr GroupId kNoGroup{~std::uint32_t{0}};
constexpr std::size_t index_of(GroupId group) { return static_cast<std::size_t>(group); }

/// What lies on paths between two groups. Only where nothing does they may become one.
enum class Between { nothing, groups, unknown };

class GroupOrder {
 public:
  /// No groups yet. `flow` outlives it.
  explicit GroupOrder(const Dataflow& flow) : flow_(flow), group_of_(flow.graph().ops.size(), kNoGroup) {}

  /// A group of one op, whose number is that of the groups before it.
  void add(graph::OpId op);
  /// All ops of `b` go to `a`; `b` has none then.
  void merge(GroupId a, GroupId b);

  std::size_t size() const { return ops_.size(); }
  /// kNoGroup for what is looked through.
  GroupId group_of(graph::OpId op) const { return group_of_[op]; }
  const Ops& ops(GroupId group) const { return ops_[index_of(group)]; }

  /// Third groups on paths between the two; unknown where that takes too long to tell.
  Between between(GroupId a, GroupId b);
  /// Each group after those that it reads from; as the ops stand, otherwise.
  std::vector<GroupId> in_order() const;

 private:
  template <class Visit>
  void each_read_by(GroupId group, const Visit& visit) const;
  std::set<GroupId> read_by(GroupId group) const;
  std::set<GroupId> readers(GroupId group) const;
  void deepen_readers(GroupId group);

  const Dataflow& flow_;
  std::vector<GroupId> group_of_;       ///< by op
  std::vector<Ops> ops_;                ///< by group: without the views that they look through
  std::vector<std::size_t> depth_;      ///< by group: greater than that of any group that it reads from
  std::vector<std::uint32_t> seen_in_;  ///< by group: the last search that came by
  std::uint32_t search_ = 0;
};

}  // namespace tenfold::compiler

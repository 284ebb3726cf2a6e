// SPDX-License-Identifier: Apache-2.0
//
// Turned rows: what is reduced lies in blocks of few elements that are side by side in memory, so that lanes have no
// room to run along them; rows of softmax over a few classes, or over the middle of [4096, 20, 4]. Lanes run across
// blocks instead, as in columns: a tile of blocks is turned round into scratch, element by element side by side, its
// passes are those of staged columns, and what they have stored there is turned back.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/body.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// The level that lanes run along, and the first of those that are inside a block: all that are reduced, and kept ones
/// within these. Others lie outside the tile.
struct TurnedLevels {
  int rows = -1;
  int inside = -1;
  bool found() const { return rows >= 0; }
};

/// Elements of a block at most where nothing is reduced (compile/plan/transposed.hpp).
inline constexpr std::int64_t kMostTransposed = 127;

/// Those of a body in stages whose blocks are turned; none where they are long, or few. As it decides bits it looks at
/// the spec alone.
TurnedLevels turned_levels(const kernel::KernelSpec& spec);

/// Whether a plain reduction is run so, as a body in stages: of rows too short for lanes to run along them, and that do
/// not lie one after another, as packed ones do; of blocks whose kept elements are so few that columns of them leave
/// most lanes empty. By the spec alone, as it decides bits.
bool turns_blocks(const kernel::KernelSpec& spec, const ReduceBody& body);

/// Elements of a block: the product of the extents inside.
std::int64_t turned_width(const kernel::KernelSpec& spec, const TurnedLevels& levels);
/// Elements of each block that the operand itself has, if it is turned: side by side in the order of the levels, and of
/// each block its own. 0: it is not; along the lanes it repeats, or they find its elements side by side as they are.
std::int64_t turned_width(const kernel::KernelSpec& spec, const TurnedLevels& levels, const kernel::Operand& operand);

/// Whether columns would fill their lanes well enough with masks, which AVX-512 has; their bits are the same.
bool fill_lanes(const kernel::KernelSpec& spec, target::Isa isa);

/// For a spec that has such levels. `keeps`: it has elements that are expensive to compute, and needed again.
Schedule choose_turned(const kernel::KernelSpec& spec, const target::Target& target, bool keeps);
/// Of a schedule with a width: internal_error when it is not one of turned rows.
Status check_turned(const kernel::KernelSpec& spec, const Schedule& schedule);

}  // namespace tenfold::schedule

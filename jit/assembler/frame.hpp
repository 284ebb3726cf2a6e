// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel keeps what does not fit in registers: byte offsets into KernelArgs::scratch (rbp in emitted code).
// The stack holds saved registers only.
#pragma once

#include "jit/abi.hpp"

namespace tenfold::jit::frame {

inline constexpr int kSlot = 8;
inline constexpr int kCounters = 0;                                 ///< by level: iterations left
inline constexpr int kSavedInput = kCounters + kSlot * kMaxLevels;  ///< by level: input pointer at loop entry
inline constexpr int kSavedOutput = kSavedInput + kSlot * kMaxLevels;
inline constexpr int kTailCount = kSavedOutput + kSlot * kMaxLevels;  ///< lanes in the last, partial step
inline constexpr int kTailLast = kTailCount + kSlot;  ///< byte offset of the last 16-bit element of the tail
inline constexpr int kNestInput = kTailLast + kSlot;  ///< columns: pointers at the start of the columns
inline constexpr int kNestOutput = kNestInput + kSlot;
inline constexpr int kStepsLeft = kNestOutput + kSlot;  ///< columns: whole vector steps after this tile
inline constexpr int kTileSteps = kStepsLeft + kSlot;   ///< columns: whole vector steps of this tile
inline constexpr int kTileTail = kTileSteps + kSlot;    ///< columns: lanes of this tile's partial step, 0 for none
inline constexpr int kOutput2 = kTileTail + kSlot;      ///< where the loops stand in the second output
inline constexpr int kSavedOutput2 = kOutput2 + kSlot;  ///< by level: that at loop entry
inline constexpr int kNestOutput2 = kSavedOutput2 + kSlot * kMaxLevels;
inline constexpr int kStreamRows = kNestOutput2 + kSlot;   ///< rows in streams: left of each stream
inline constexpr int kStreamOutput = kStreamRows + kSlot;  ///< rows in streams: bytes between their outputs
inline constexpr int kChainLeft = kStreamOutput + kSlot;   ///< columns: sweeps until the next flush
inline constexpr int kPilotMoved = kChainLeft;             ///< staged rows: whether the row's pilot has been
inline constexpr int kGroupRows = kChainLeft + kSlot;      ///< staged rows: rows of the group, from this frame's on
inline constexpr int kOnLines =
    kGroupRows + kSlot;  ///< 0 if find_lines() has found that stores may go around the caches
inline constexpr int kColumnSteps = kOnLines + kSlot;  ///< columns: whole vector steps of the vector level
/// Rows in runs, where the loops of LoopNest keep what those of OperandWalk do not: rows of a run, runs that are left,
/// and that there are, rows that make no run; what is asked for next, and how far apart the runs are.
inline constexpr int kRunRows = kSavedInput;
inline constexpr int kRunsLeft = kRunRows + kSlot;
inline constexpr int kRuns = kRunsLeft + kSlot;
inline constexpr int kRunRest = kRuns + kSlot;
inline constexpr int kAskFor = kRunRest + kSlot;
inline constexpr int kAskApart = kAskFor + kSlot;
/// Staged rows whose last pass trails: whether there is a row for it, and where scratch keeps elements of this row, and
/// of that one.
inline constexpr int kTrails = kSavedOutput;
inline constexpr int kKeptNow = kTrails + kSlot;
inline constexpr int kKeptBefore = kKeptNow + kSlot;
inline constexpr int kMasks = 320;                ///< of the AVX2 layer, three of 64 bytes
inline constexpr int kStaging = kMasks + 3 * 64;  ///< 512 bytes: element-wise copies, rows that are searched
/// Arg-reductions: numbers of four rows, in each lane; what keys come to; in stages that of a step's first element, or
/// of each row of a sweep.
inline constexpr int kRows = kStaging + 512;
inline constexpr int kRecords = kRows + 256;  ///< accumulators of a tile of columns

static_assert(kAskApart < kSavedOutput);
static_assert(kKeptBefore < kTailCount);
static_assert(kColumnSteps + kSlot <= kMasks);

}  // namespace tenfold::jit::frame

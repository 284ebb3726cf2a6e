// SPDX-License-Identifier: Apache-2.0
//
// How the columns nest takes its rows: how wide a tile of columns is, whose records stay near, and how many rows a
// sweep of it reads at once. None of it changes a bit of a result.
#pragma once

#include "schedule/body.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::schedule {

/// Vector steps of a tile of columns of f64 sums, and of what a split counts as one.
inline constexpr int kTileRecords = 128;

/// Vector steps of a tile that is a strip: its chains run in registers.
inline constexpr int kStripSteps = 4;

/// Rows that columns in registers may have: a chain of sums, more of indices.
constexpr int most_rows_in_registers(Lanes lanes) { return gives_index(lanes) ? 64 : kChain; }

/// Rows of a sweep of indices that is searched in the end (Schedule::searches).
inline constexpr int kSearchedRows = 8;

/// Whether lanes run across rows, as in columns, though elements of a row are neighbours: short rows of 64 bits, whose
/// indices are wanted.
bool takes_lanes_across(const kernel::KernelSpec& spec, int vector_level);

/// Sets `columns`, `width`, `rows_at_once`, `ahead`, `blocks`, `far` and `searches` of a schedule whose vector level is
/// chosen and kept.
void choose_columns(const kernel::KernelSpec& spec, Lanes lanes, const target::Target& target, Schedule& schedule);

/// The level that the columns' kernel is of, on a machine of level `isa`. Sums of 16-bit floats, but for those of one
/// chain in registers, speak AVX2 everywhere: they are bound by ports, which a 512-bit operation takes for twice as
/// long, and conversions to 512 bits for longer.
target::Isa isa_of_columns(const kernel::KernelSpec& spec, Lanes lanes, const Schedule& schedule, target::Isa isa);

/// How far ahead of itself a row in registers is asked for, if it is.
int direct_ahead_bytes(const kernel::KernelSpec& spec, int vector_level);

}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
//
// Levels of an iteration space, as all schedules pick them.
#pragma once

#include <cstdint>

#include "kernel/spec.hpp"

namespace tenfold::schedule {

/// A task moves at least this much, so that handing it out (0.2 us) stays below a hundredth of its time.
constexpr std::int64_t kTaskBytes = 128 << 10;

/// Pieces of the vector level are whole ones of so many elements: a page of f32, lines of any dtype. No vector of one
/// piece then begins in another, nor does a chain of a sum. Parts of rows that are shorter than this do not get the
/// machine's own prefetching going.
constexpr std::int64_t kPageElements = 1024;

/// Columns of a tile at most: whole rows of 64 KiB where elements are bytes, the widest that are chosen. A record of
/// scratch goes with each vector of them.
constexpr std::int64_t kMostColumns = 1 << 16;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The level that lanes run along: the one whose elements are neighbours in `operand`, or else the innermost. Depends
/// on the spec alone, and of reductions decides the order of additions.
int vector_level_of(const kernel::KernelSpec& spec, const kernel::Operand& operand);

/// Of a spec that reduces nothing, the lanes of a step, or twice as many: 16, or what narrow elements fill. Tiles and
/// joined rows are whole ones.
std::int64_t step_of_elements(const kernel::KernelSpec& spec);

/// The widest level that is reduced or kept, the outermost of equals, other than `except`; -1 when there is none.
int widest_level(const kernel::KernelSpec& spec, bool reduced, int except = -1);

}  // namespace tenfold::schedule

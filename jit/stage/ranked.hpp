// SPDX-License-Identifier: Apache-2.0
//
// The first of a row's elements in their order, by place: in each lane a list of what is compared, greatest first, each
// beside the number of its element. A new one goes in behind those that are not less, and moves the rest down, so that
// the first of equals comes first. NaN is above all numbers, and -0 equals +0, whose sign the number remembers:
// elements come out as they were, but that all NaNs are one.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/stage/builder.hpp"

namespace tenfold::jit {

/// The two reductions of a place, of those that begin with `first`.
constexpr int ranked_at(int first, int place) { return first + 2 * place; }
constexpr int ranked_number_at(int first, int place) { return ranked_at(first, place) + 1; }

/// What a lane's numbers begin with: a mark, where what is compared may be as little as what nothing has entered.
std::uint64_t first_ranked_number(DType dtype);

/// In a program of elements: one more into the lists that begin with the reduction `first`.
void take_up_ranks(StageBuilder& made, const std::vector<StageReduction>& reductions, int first);

/// Whether the element takes any place, as a mask.
Lane takes_a_place(StageBuilder& made, const std::vector<StageReduction>& reductions, int first);

/// What was compared and its number, as the element and as its index (s64).
Lane ranked_element(kernel::Monoid monoid, DType dtype, Lane compared, Lane number);
Lane ranked_index(DType dtype, Lane number);

}  // namespace tenfold::jit

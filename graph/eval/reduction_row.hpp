// SPDX-License-Identifier: Apache-2.0
//
// The evaluator's table of reductions: what is done to each element, how the terms are combined, and what becomes of
// the result. Values (reduce.cpp) and error bounds (bound.cpp) follow from a row, so that a reduction that these words
// say is a row and nothing else.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenfold::graph {

/// `exponential` is e^(x - the greatest element), so that nothing overflows; Finish::unshifted_logarithm undoes it.
enum class Term : std::uint8_t { value, magnitude, square, exponential };
enum class Combine : std::uint8_t { sum, product, maximum, minimum };
enum class Finish : std::uint8_t { nothing, mean, root, logarithm, unshifted_logarithm };

struct ReductionRow {
  std::string_view name;
  Term term;
  Combine combine;
  Finish finish;
};

inline constexpr ReductionRow kReductions[] = {
    {"l1", Term::magnitude, Combine::sum, Finish::nothing},
    {"l2", Term::square, Combine::sum, Finish::root},
    {"log_sum", Term::value, Combine::sum, Finish::logarithm},
    {"log_sum_exp", Term::exponential, Combine::sum, Finish::unshifted_logarithm},
    {"max", Term::value, Combine::maximum, Finish::nothing},
    {"mean", Term::value, Combine::sum, Finish::mean},
    {"min", Term::value, Combine::minimum, Finish::nothing},
    {"prod", Term::value, Combine::product, Finish::nothing},
    {"sum", Term::value, Combine::sum, Finish::nothing},
    {"sum_square", Term::square, Combine::sum, Finish::nothing},
};

/// Null when there is none of this name.
constexpr const ReductionRow* find_reduction(std::string_view name) noexcept {
  for (const ReductionRow& row : kReductions)
    if (row.name == name) return &row;
  return nullptr;
}

/// Whether the result is one of the elements.
constexpr bool is_extreme(const ReductionRow& row) noexcept {
  return row.combine == Combine::maximum || row.combine == Combine::minimum;
}

}  // namespace tenfold::graph

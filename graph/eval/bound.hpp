// SPDX-License-Identifier: Apache-2.0
//
// The stated error bound: by how much a compiled result may differ from the reference's. Tests and `tenfold run
// --check` compare with it. The arithmetic behind each number is in bound.cpp; docs/numerics.md states it for users.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "graph/eval/eval.hpp"
#include "graph/eval/pilot.hpp"
#include "graph/eval/reduction_row.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/dtype.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// Longest run of terms that a kernel combines in f32 before it goes on in f64.
inline constexpr std::size_t kChain = 16;
/// Chains whose sums meet in f32: those of a block, or as many elements of a short row that ends in bf16 or f16.
inline constexpr std::size_t kChainsOfBlock = 4, kChainsOfNarrowRow = 12;

/// What must be known of the elements that one output reduces.
class Magnitude {
 public:
  Magnitude() = default;
  /// For one reduction: what only products ask for takes a logarithm of each element.
  explicit Magnitude(const ReductionRow& row) noexcept : keeps_products_(row.combine == Combine::product) {}
  void add(double x) noexcept;

  std::int64_t count() const noexcept { return count_; }
  /// Of the finite elements' magnitudes.
  double sum() const noexcept { return sum_; }
  /// The greatest sum that so many chains can have.
  double chain_sum(std::size_t chains) const noexcept;
  double max() const noexcept { return max_; }
  /// With their signs, of all elements: the sum, and the greatest (-inf of none).
  double total() const noexcept { return total_; }
  double greatest() const noexcept { return top_; }
  double sum_of_squares() const noexcept { return sum_of_squares_; }
  /// What f32 may have rounded in place of the magnitudes' sum where a mean is made beside a variance; 0: never.
  double pilot_deviations() const noexcept { return pilots_.most(); }
  /// Of the magnitude; 0 when an element is 0.
  double product() const noexcept;
  /// True when an infinity or a NaN is among them.
  bool special() const noexcept { return special_; }
  /// log2 of the greatest and the least product that any subset of kChain, or of any number, of the finite non-zero
  /// elements can have.
  double chain_log2_high() const noexcept;
  double chain_log2_low() const noexcept;
  double log2_high() const noexcept { return log2_high_; }
  double log2_low() const noexcept { return log2_low_; }

 private:
  std::array<double, kChain> greatest_{};  ///< magnitudes above 1, and below 1 as log2; both as heaps
  std::array<double, kChain> least_{};
  PilotDeviations pilots_;
  std::int64_t count_ = 0;
  double sum_ = 0, sum_of_squares_ = 0, max_ = 0, log2_high_ = 0, log2_low_ = 0, total_ = 0;
  double top_ = -std::numeric_limits<double>::infinity();
  bool special_ = false;
  bool zero_ = false;
  bool keeps_products_ = true;
};

/// Whether every kernel gives the reference's bits, so that reduction_bound() is 0 whatever the elements.
bool is_exact_reduction(const ReductionRow& row, DType dtype) noexcept;

/// The bound on |compiled - exact| of one output of a reduction, by core.reduce's name, before it is rounded to the
/// output's dtype. `dtype` is the elements'. Infinite when the arithmetic may leave its range (f32's in a chain, f64's
/// for f64), where no bound is stated; 0 when the result must have the same bits, as integers' must: they have a
/// bound, that agree() takes for 1 in the last place, for log_sum_exp alone.
double reduction_bound(std::string_view reduction, const Magnitude& magnitude, DType dtype = DType::f32) noexcept;

/// The same from totals alone: the sum of magnitudes of n finite elements (not used by l2, prod, sum_square and
/// log_sum_exp) and the result. It takes for granted that nothing leaves its range.
double reduction_bound(std::string_view reduction, double sum_abs, double result, std::int64_t n,
                       DType dtype = DType::f32) noexcept;

/// What an error that n elements bring along becomes at most, in parts of itself: the reduction rounds it as it rounds
/// the rest, and a reference of 0 has nothing else to round.
double rounding_of_errors(std::string_view reduction, std::int64_t n, DType dtype = DType::f32) noexcept;

/// Whether `got` is `expected` (the reference's, as stored in `dtype`) within `bound`. A bound of 0 asks for the same
/// number with the same sign of zero (NaN is NaN); otherwise, `got` must be what some exact value within the bound
/// rounds to, by way of f32 for bf16 and f16, overflow to infinity included. An infinite bound agrees with anything.
bool agree(DType dtype, double expected, double got, double bound) noexcept;

/// evaluate(), and for each output its bound by element in row-major order (an empty vector: all 0), for agree().
/// Each op adds its own (reduction_bound(); function_bound() of bound_function.hpp) to what becomes of its inputs'.
Status evaluate_with_bounds(const Graph& graph, std::span<const ConstTensor> inputs,
                            std::span<const MutableTensor> outputs, std::vector<std::vector<double>>& bounds);

}  // namespace tenfold::graph

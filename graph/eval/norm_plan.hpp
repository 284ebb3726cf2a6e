// SPDX-License-Identifier: Apache-2.0
//
// What a norm of either dialect is in one form: which dims of its source a row spans, after the channels have been
// split into groups where it has those, and which of them each operand lies along.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

/// What is taken off each element, and what it is divided by.
enum class Statistic : std::uint8_t {
  variance,     ///< the mean; sqrt(variance + epsilon)
  mean_square,  ///< nothing; sqrt(mean square + epsilon)
  given,        ///< the mean and likewise the variance that are inputs
  deviation,    ///< the mean; sqrt(variance) + epsilon
  l1,           ///< nothing; the sum of magnitudes, or 1 where that is 0
  l2,           ///< nothing; the root of the sum of squares, likewise
};

struct NormPlan {
  Statistic statistic = Statistic::variance;
  double epsilon = 0;
  Dims shape;                            ///< the source's, split
  std::vector<bool> reduced;             ///< by dim of `shape`
  std::optional<std::size_t> split_dim;  ///< the channels, which become two dims
  std::int64_t groups = 1;
  std::vector<std::size_t> scale_dims;  ///< of `shape`, for gamma, beta, and given stats
  bool broadcasts = false;              ///< operands but the source lie along its last dims, as many as they have
  bool splits_scale = false;            ///< these have one element a channel, to be split likewise
  std::vector<std::size_t> stats_dims;  ///< for stats that leave
  Dims stats;                           ///< their shape
  bool inverse_deviation = false;       ///< the second is 1 / sqrt(variance + epsilon)
  /// Where each operand is among the inputs.
  std::size_t scale = 1, shift = 2, mean = 3, variance = 4;
  bool takes_shift = true;

  /// `desc`, of the source's shape, as a tensor of `shape`; and one of the channels alone as groups and their channels.
  TensorDesc split(const TensorDesc& desc) const;
  TensorDesc split_scale(const TensorDesc& desc) const;
  /// Dims of `shape` that an operand of `rank` lies along: scale_dims, or where it broadcasts its last ones.
  std::vector<std::size_t> dims_of(std::size_t rank) const;
};

/// Refuses inputs whose shapes do not fit the plan.
Result<NormPlan> plan_norm(const Op& op, Inputs inputs);

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Ops that are one weighted sum along each of several dims, one after another: average pools, interpolations, and their
// backward ops, which are the same sums the other way round. All of it is in f64, and rounded once at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/eval/composite.hpp"
#include "graph/eval/products.hpp"

namespace tenfold::graph {

/// Output element `output` takes up `weight` times input element `input`. A kernel that computes the weight itself may
/// be off by `slack`.
struct Term {
  std::int64_t input = 0, output = 0;
  double weight = 1, slack = 0;
};

struct SumsAlongDim {
  std::size_t dim = 0;
  std::int64_t outputs = 0;
  std::vector<Term> terms;  ///< each sum takes them up in their order
};

/// The same sums from outputs to inputs, of which there are `inputs`.
SumsAlongDim reversed(const SumsAlongDim& sums, std::int64_t inputs);

struct Separable {
  Dims input;  ///< the shape
  std::vector<SumsAlongDim> steps;

  Dims result() const;
};

Status evaluate_separable(const Separable& sums, const ConstTensor& input, const MutableTensor& output);

/// Of any order of summation in f32 (f64 for f64): a rounding for each term and two for each step, the slack of the
/// weights, and what becomes of the input's own errors.
Bounds bound_separable(const Separable& sums, const ConstTensor& input, const Bounds& input_bounds);

}  // namespace tenfold::graph

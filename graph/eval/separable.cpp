// SPDX-License-Identifier: Apache-2.0
//
// See separable.hpp. A step sees its numbers as [before][dim][after], and takes whole rows of what comes after.
#include "graph/eval/separable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenfold::graph {
namespace {

std::int64_t product(const Dims& shape, std::size_t first, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t i = first; i < end; ++i) count *= shape[i];
  return count;
}

Numbers sum_along(const SumsAlongDim& sums, const Dims& shape, const Numbers& numbers, bool with_slack) {
  const std::int64_t before = product(shape, 0, sums.dim), inputs = shape[sums.dim];
  const std::int64_t after = product(shape, sums.dim + 1, shape.size());
  Numbers results(static_cast<std::size_t>(before * sums.outputs * after), 0);
  for (std::int64_t i = 0; i < before; ++i)
    for (const Term& term : sums.terms) {
      const double weight = term.weight + (with_slack ? term.slack : 0);
      const double* from = numbers.data() + (i * inputs + term.input) * after;
      double* to = results.data() + (i * sums.outputs + term.output) * after;
      for (std::int64_t k = 0; k < after; ++k) to[k] += weight * from[k];
    }
  return results;
}

Numbers apply(const Separable& sums, Numbers numbers, bool with_slack) {
  Dims shape = sums.input;
  for (const SumsAlongDim& step : sums.steps) {
    numbers = sum_along(step, shape, numbers, with_slack);
    shape[step.dim] = step.outputs;
  }
  return numbers;
}

std::int64_t most_terms(const SumsAlongDim& step) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(step.outputs), 0);
  for (const Term& term : step.terms) ++counts[static_cast<std::size_t>(term.output)];
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

}  // namespace

SumsAlongDim reversed(const SumsAlongDim& sums, std::int64_t inputs) {
  SumsAlongDim back{sums.dim, inputs, sums.terms};
  for (Term& term : back.terms) std::swap(term.input, term.output);
  return back;
}

Dims Separable::result() const {
  Dims shape = input;
  for (const SumsAlongDim& step : steps) shape[step.dim] = step.outputs;
  return shape;
}

Status evaluate_separable(const Separable& sums, const ConstTensor& input, const MutableTensor& output) {
  store_numbers(apply(sums, load_numbers(input), false), output);
  return {};
}

Bounds bound_separable(const Separable& sums, const ConstTensor& input, const Bounds& input_bounds) {
  const bool wide = input.desc.dtype == DType::f64;
  double roundings = 2;
  for (const SumsAlongDim& step : sums.steps) roundings += static_cast<double>(most_terms(step)) + 2;
  const double unit = roundings * (wide ? 0x1p-52 : 0x1p-24);
  Numbers numbers = load_numbers(input);
  Numbers errors(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double error = stored_bound(input_bounds, static_cast<std::int64_t>(i), input.desc.dtype, numbers[i]);
    numbers[i] = std::isfinite(numbers[i]) ? std::fabs(numbers[i]) : 0;
    errors[i] = unit * numbers[i] + (1 + unit) * error;
  }
  const Numbers exact = apply(sums, numbers, false), most = apply(sums, std::move(numbers), true);
  Bounds bounds = apply(sums, std::move(errors), true);
  const double overflow = wide ? 0x1p1022 : 0x1p127, least = roundings * (wide ? 0x1p-1074 : 0x1p-149);
  for (std::size_t i = 0; i < bounds.size(); ++i)
    bounds[i] = most[i] < overflow ? bounds[i] + (most[i] - exact[i]) + least : std::numeric_limits<double>::infinity();
  return bounds;
}

}  // namespace tenfold::graph

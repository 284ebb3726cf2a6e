// SPDX-License-Identifier: Apache-2.0
//
// One random reduction as a kernel spec, with the places of its elements and the bits that are put there. Unlike
// reduction_case.hpp this knows no graph and none of the evaluator's code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::bochs {

/// splitmix64: some instructions a number, where std::mt19937_64 would cost an emulated CPU more than the kernels.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// In [0, count).
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
  }
  bool one_in(std::int64_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

enum class Reduction : std::uint8_t { max, min, sum, prod, mean, l1, l2 };
inline constexpr int kReductions = 7;

enum class Values : std::uint8_t {
  normal,        ///< around 1, of both signs
  positive,      ///< in [0.5, 1.5), so that products stay finite
  any_exponent,  ///< normal numbers
  denormal,
  zeros,            ///< of both signs
  minus_infinity,   ///< all of them
  some_special,     ///< one in 16 is a NaN of either sign, an infinity, a zero, an extreme or a denormal
  nothing_special,  ///< these and no NaN: infinities, zeros, extremes, denormals
  all_special,
  any_bits,
};
inline constexpr int kValues = 10;

struct DrawnCase {
  Reduction reduction = Reduction::max;
  Values values = Values::normal;
  kernel::KernelSpec spec;  ///< as drawn, before kernel::collapse()
  int cores = 1;            ///< decides the tasks
  bool guard_before = false;
  std::uint64_t data_seed = 0;

  DType dtype() const { return spec.inputs[0].dtype; }
  std::string describe() const;
};

DrawnCase draw_case(Random& random);

/// Where the elements are, in elements from the operand's first.
struct Places {
  std::vector<std::int64_t> input_starts;  ///< of each output's first input element
  std::vector<std::int64_t> input_steps;   ///< from there to each element that it reduces
  std::vector<std::int64_t> outputs;       ///< as many as input_starts
  std::int64_t input_span = 0, output_span = 0;
};
Places places_of(const kernel::KernelSpec& spec);

/// NaN everywhere, then the case's values where its elements are.
void fill_input(const DrawnCase& drawn, const Places& places, std::byte* data);

}  // namespace tenfold::bochs

// SPDX-License-Identifier: Apache-2.0
//
// Dropout by Philox 4x32 of ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), a
// function of a 128-bit counter and a 64-bit key that gives four numbers of 32 bits. oneDNN's document leaves open how
// seed and offset go into it. Here the seed is the key, the counter is the offset above the element's row-major number
// divided by four, and an element is kept where its number is at least probability * 2^32.
#include "graph/eval/dropout.hpp"

#include <array>
#include <cmath>
#include <string>

#include "graph/eval/element.hpp"
#include "graph/eval/products.hpp"
#include "graph/eval/shapes.hpp"

namespace tenfold::graph {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

Words philox(Words counter, std::uint64_t seed) {
  constexpr int kRounds = 10;
  constexpr std::uint64_t kFactors[] = {0xD2511F53, 0xCD9E8D57};
  constexpr std::uint32_t kSteps[] = {0x9E3779B9, 0xBB67AE85};
  std::uint32_t keys[] = {low(seed), high(seed)};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = kFactors[0] * counter[0], b = kFactors[1] * counter[2];
    counter = {high(b) ^ counter[1] ^ keys[0], low(b), high(a) ^ counter[3] ^ keys[1], low(a)};
    for (const int i : {0, 1}) keys[i] += kSteps[i];
  }
  return counter;
}

struct Draw {
  std::uint64_t seed = 0, offset = 0;
  double probability = 0;

  bool keeps(std::size_t element) const {
    const std::uint64_t block = element / 4;
    const Words words = philox({low(block), high(block), low(offset), high(offset)}, seed);
    return static_cast<double>(words[element % 4]) >= probability * 0x1p32;
  }
};

Result<Draw> read_draw(const Op& op, Inputs inputs) {
  if (inputs.size() != 4) return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 4");
  for (const std::size_t i : {1, 2, 3}) {
    const Result<std::int64_t> count = numel(inputs[i].desc.shape);
    if (is_missing(inputs[i]) || !count.ok() || count.value() != 1)
      return fail(op, Code::invalid_shape, "seed, offset and probability must have one element each");
  }
  for (const std::size_t i : {1, 2})
    if (!is_integral(inputs[i].desc.dtype)) return fail(op, Code::invalid_dtype, "seed and offset must be integers");
  const auto integer = [&](std::size_t i) {
    return static_cast<std::uint64_t>(load_integer(inputs[i].desc.dtype, inputs[i].data, 0));
  };
  return Draw{integer(1), integer(2), load_real(inputs[3].desc.dtype, inputs[3].data, 0)};
}

}  // namespace

Result<std::vector<Dims>> dropout_shapes(const Op& op, Inputs inputs) {
  const bool fits = inputs.size() == 4;
  if (!fits) return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 4");
  return std::vector<Dims>{inputs[0].desc.shape, inputs[0].desc.shape};
}

Status evaluate_dropout(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<Draw> draw = read_draw(op, inputs);
  if (!draw.ok()) return draw.status();
  const double probability = draw.value().probability;
  if (!(probability >= 0 && probability <= 1))
    return fail(op, Code::invalid_argument,
                "the probability is " + std::to_string(probability) + ", must be in [0, 1]");
  Numbers numbers = load_numbers(inputs[0]), mask(numbers.size(), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    mask[i] = draw.value().keeps(i) ? 1 : 0;
    numbers[i] = mask[i] != 0 ? numbers[i] / (1 - probability) : 0;
  }
  store_numbers(numbers, outputs[0]);
  if (outputs.size() > 1) store_numbers(mask, outputs[1]);
  return {};
}

/// A kernel may multiply by 1 / (1 - probability) instead, all in f32: four roundings.
Result<std::vector<Bounds>> bound_dropout(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                          Outputs outputs) {
  const Result<Draw> draw = read_draw(op, inputs);
  if (!draw.ok()) return draw.status();
  const Numbers numbers = load_numbers(inputs[0]);
  Bounds bounds;
  bounds.reserve(numbers.size());
  for (const double number : numbers) {
    const auto at = static_cast<std::int64_t>(bounds.size());
    const double error = stored_bound(input_bounds[0], at, inputs[0].desc.dtype, number);
    const double size = std::isfinite(number) ? std::fabs(number) : 0;
    const bool kept = draw.value().keeps(bounds.size());
    bounds.push_back(kept ? (4 * 0x1p-24 * size + error) / (1 - draw.value().probability) + 0x1p-149 : 0);
  }
  std::vector<Bounds> all(outputs.size());
  all[0] = std::move(bounds);
  return all;
}

}  // namespace tenfold::graph

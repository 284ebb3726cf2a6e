// SPDX-License-Identifier: Apache-2.0
//
// See report.hpp.
#include "graph/check/report.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tenfold::graph {
namespace {

/// Most numbers of a list that a message shows: more than any legal rank, less than a file can hold.
constexpr std::size_t kShownDims = 16;

/// Levenshtein's distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> costs(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) costs[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(costs[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = costs[j + 1];
      costs[j + 1] = std::min({replaced, costs[j] + 1, diagonal + 1});
    }
  }
  return costs.back();
}

}  // namespace

Status refuse(Code code, const std::string& what, const std::string& text, std::string_view rule) {
  return Status(code, what + ": " + text + " (" + std::string(rule) + ")");
}

Status refuse(Code code, const Op& op, const std::string& text, std::string_view rule) {
  return refuse(code, describe(op), text, rule);
}

std::string describe(const Value& value) { return "tensor " + std::to_string(value.id); }

std::string show_dims(const Dims& dims) {
  std::string out = "[";
  for (std::size_t i = 0; i < std::min(dims.size(), kShownDims); ++i) {
    if (i > 0) out += ',';
    out += dims[i] == kUnknownDim ? "?" : std::to_string(dims[i]);
  }
  return out + (dims.size() > kShownDims ? ",...]" : "]");
}

std::string show_shape(const Value& value) { return value.ranked ? show_dims(value.shape) : "[*]"; }

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  // Names come from files; a long one is near to nothing, and must not cost quadratic time.
  if (name.size() > 64) return {};
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t d = distance(name, candidate);
    if (d > std::max<std::size_t>(2, candidate.size() / 3) || d >= candidate.size()) continue;
    if (best.empty() || d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view suggestion) {
  return suggestion.empty() ? std::string() : "; did you mean '" + std::string(suggestion) + "'?";
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Interpolate where oneDNN's positions are the op's: half-pixel ones. It rounds them to f32, so that another element
// may be the nearest, or a gradient may go elsewhere: whether that happens is found by doing as it does.
#include <algorithm>
#include <cmath>
#include <string>

#include "compile/heavy/heavy.hpp"

namespace tenfold::compiler {
namespace {

/// The greatest whole number up to which f32 has all of them.
constexpr std::int64_t kMostExact = std::int64_t{1} << 24;

/// The element nearest to position ((2 at + 1) from - to) / (2 to), of two as near the later one.
std::int64_t nearest(std::int64_t at, std::int64_t from, std::int64_t to) {
  return std::min((2 * at + 1) * from / (2 * to), from - 1);
}

/// The position and a half in f32, in oneDNN's order of roundings.
float shifted_position(std::int64_t at, std::int64_t from, std::int64_t to) {
  return (static_cast<float>(at) + 0.5F) * static_cast<float>(from) / static_cast<float>(to);
}

bool finds_the_nearest(std::int64_t at, std::int64_t from, std::int64_t to) {
  return static_cast<std::int64_t>(std::round(shifted_position(at, from, to) - 0.5F)) == nearest(at, from, to);
}

/// Backwards it looks for the first output whose nearest input is `at`.
bool finds_the_first(std::int64_t at, std::int64_t from, std::int64_t to) {
  const float first = static_cast<float>(at) * static_cast<float>(to) / static_cast<float>(from) - 0.5F;
  const std::int64_t exact = (2 * at * to + from - 1) / (2 * from);
  return static_cast<std::int64_t>(std::ceil(std::max(0.0F, first))) == exact;
}

/// Backwards it also looks for the outputs between two inputs, so that a position must not be rounded at all.
bool is_exact(std::int64_t at, std::int64_t from, std::int64_t to) {
  return static_cast<double>(shifted_position(at, from, to)) * static_cast<double>(2 * to) ==
         static_cast<double>((2 * at + 1) * from);
}

Status check_dim(const onednn::HeavySpec& spec, std::int64_t from, std::int64_t to) {
  if (std::max(from, to) > kMostExact)
    return {Code::unsupported_shape, "a spatial dim above 2^24, beyond which f32 does not count"};
  const bool backward = spec.kind == onednn::Kind::resample_to_input;
  if (spec.is_linear && !backward) return {};
  const std::string dims = "of " + std::to_string(from) + " to " + std::to_string(to) + " elements";
  for (std::int64_t at = 0; at < to; ++at) {
    if (!spec.is_linear && !finds_the_nearest(at, from, to))
      return {Code::unsupported_shape,
              "in f32 element " + std::to_string(at) + " " + dims + " has another nearest one"};
    if (spec.is_linear && !is_exact(at, from, to))
      return {Code::unsupported_shape, "f32 does not hold the positions " + dims};
  }
  for (std::int64_t at = 0; backward && !spec.is_linear && at <= from; ++at)
    if (!finds_the_first(at, from, to))
      return {Code::unsupported_shape, "in f32 element " + std::to_string(at) + " " + dims + " is another's nearest"};
  return {};
}

}  // namespace

Status settle_resampling(const graph::Op& op, onednn::HeavySpec& spec) {
  if (graph::attribute_or<std::string>(op, "coordinate_transformation_mode", "half_pixel") != "half_pixel")
    return {Code::unsupported_op, "oneDNN's positions are not those of align_corners"};
  spec.is_linear = graph::attribute_or<std::string>(op, "mode", "nearest") != "nearest";
  const bool backward = spec.kind == onednn::Kind::resample_to_input;
  const Dims& input = (backward ? spec.outputs : spec.inputs)[0].shape;
  const Dims& output = (backward ? spec.inputs : spec.outputs)[0].shape;
  if (input.size() > 5) return {Code::unsupported_shape, "more than three spatial dims"};
  for (std::size_t dim = 2; dim < input.size(); ++dim)
    if (Status status = check_dim(spec, input[dim], output[dim]); !status.ok()) return status;
  return {};
}

}  // namespace tenfold::compiler

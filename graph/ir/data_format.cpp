// SPDX-License-Identifier: Apache-2.0
//
// See data_format.hpp.
#include "graph/ir/data_format.hpp"

#include <string>
#include <variant>

namespace tenfold::graph {

bool channels_last(const Op& op) noexcept {
  if (op.dialect != Dialect::onednn) return false;
  const Attribute* given = find_attribute(op, "data_format");
  const auto* format = given == nullptr ? nullptr : std::get_if<std::string>(given);
  return format == nullptr || *format == "NXC";
}

bool has_channels(const Op& op, std::size_t rank) noexcept { return rank >= (channels_last(op) ? 1U : 2U); }

std::size_t channel_dim(const Op& op, std::size_t rank) noexcept { return channels_last(op) ? rank - 1 : 1; }

std::size_t first_spatial_dim(const Op& op) noexcept { return channels_last(op) ? 1 : 2; }

Dims spatial_dims(const Op& op, const Dims& dims) {
  const auto first = dims.begin() + static_cast<std::ptrdiff_t>(first_spatial_dim(op));
  return Dims(first, first + static_cast<std::ptrdiff_t>(dims.size() - 2));
}

Dims data_shape(const Op& op, std::int64_t batch, std::int64_t channels, const Dims& spatial) {
  Dims shape{batch};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(channel_dim(op, spatial.size() + 2)), channels);
  return shape;
}

}  // namespace tenfold::graph

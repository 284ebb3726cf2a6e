// SPDX-License-Identifier: Apache-2.0
//
// Where batch, channels and spatial dims are in the data of an op. oneDNN's ops say it by data_format: NXC, the
// default, has the channels last, NCX second, as ONNX has them always. The batch is dim 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/ir/graph.hpp"

namespace tenfold::graph {

bool channels_last(const Op& op) noexcept;

/// Whether data of `rank` have a dim for their channels. One dim is but channels when these are last.
bool has_channels(const Op& op, std::size_t rank) noexcept;

/// The dim of the channels of data that have them.
std::size_t channel_dim(const Op& op, std::size_t rank) noexcept;

/// Of data that have a batch and channels; the spatial dims are the two fewer than all from it on.
std::size_t first_spatial_dim(const Op& op) noexcept;

/// The spatial ones of `dims`, which are a shape of such data, or their strides.
Dims spatial_dims(const Op& op, const Dims& dims);

/// The other way round: the shape of such data.
Dims data_shape(const Op& op, std::int64_t batch, std::int64_t channels, const Dims& spatial);

}  // namespace tenfold::graph

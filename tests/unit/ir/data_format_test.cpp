// SPDX-License-Identifier: Apache-2.0
#include "graph/ir/data_format.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tenfold::graph {
namespace {

Op op_of(Dialect dialect, std::optional<std::string> format = std::nullopt) {
  Op op;
  op.dialect = dialect;
  if (format) op.attributes.push_back({"data_format", *format});
  return op;
}

TEST(DataFormat, ChannelsAreLastInOneDnnsNxcAlone) {
  EXPECT_TRUE(channels_last(op_of(Dialect::onednn)));
  EXPECT_TRUE(channels_last(op_of(Dialect::onednn, "NXC")));
  EXPECT_FALSE(channels_last(op_of(Dialect::onednn, "NCX")));
  EXPECT_FALSE(channels_last(op_of(Dialect::onnx)));
}

TEST(DataFormat, OneDimIsChannelsWhereTheseAreLast) {
  const Op nxc = op_of(Dialect::onednn);
  EXPECT_FALSE(has_channels(nxc, 0));
  EXPECT_TRUE(has_channels(nxc, 1));
  EXPECT_EQ(channel_dim(nxc, 1), 0U);
  for (const Op& ncx : {op_of(Dialect::onednn, "NCX"), op_of(Dialect::onnx)}) {
    EXPECT_FALSE(has_channels(ncx, 1));
    EXPECT_TRUE(has_channels(ncx, 2));
    EXPECT_EQ(channel_dim(ncx, 4), 1U);
  }
}

TEST(DataFormat, SpatialDimsAreTheOthersInOrder) {
  const Op nxc = op_of(Dialect::onednn), ncx = op_of(Dialect::onnx);
  EXPECT_EQ(first_spatial_dim(nxc), 1U);
  EXPECT_EQ(first_spatial_dim(ncx), 2U);
  EXPECT_EQ(spatial_dims(nxc, {2, 7, 8, 3}), (Dims{7, 8}));
  EXPECT_EQ(spatial_dims(ncx, {2, 3, 7, 8}), (Dims{7, 8}));
  EXPECT_EQ(spatial_dims(nxc, {2, 3}), Dims());
  EXPECT_EQ(data_shape(nxc, 2, 3, {7, 8}), (Dims{2, 7, 8, 3}));
  EXPECT_EQ(data_shape(ncx, 2, 3, {7, 8}), (Dims{2, 3, 7, 8}));
  EXPECT_EQ(data_shape(ncx, 2, 3, {}), (Dims{2, 3}));
}

}  // namespace
}  // namespace tenfold::graph

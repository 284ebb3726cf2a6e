// SPDX-License-Identifier: Apache-2.0
//
// Specs as text, and how they are cut into pieces: pieces must cover the output once, whatever the shape.
#include "onednn/spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "onednn/pieces.hpp"

namespace tenfold::onednn {
namespace {

TensorDesc dense(const Dims& shape) { return {DType::f32, shape, row_major_strides(shape)}; }

HeavySpec matmul(const Dims& src, const Dims& weights, const Dims& dst, bool bias = false) {
  HeavySpec spec;
  spec.inputs = {dense(src), dense(weights)};
  if (bias) {
    Dims shape(dst.size(), 1);
    shape.back() = dst.back();
    spec.inputs.push_back(dense(shape));
  }
  spec.outputs = {dense(dst)};
  return spec;
}

TEST(Spec, PrintsOneLineWithStrides) {
  HeavySpec spec = matmul({8, 4}, {4, 2}, {8, 2});
  spec.inputs[1].strides = {1, 4};
  EXPECT_EQ(print(spec), "matmul f32 [8, 4]:[4, 1] f32 [4, 2]:[1, 4] -> f32 [8, 2]:[2, 1]");
}

HeavySpec convolution(std::int64_t images, std::int64_t channels) {
  HeavySpec spec;
  spec.kind = Kind::convolution;
  spec.inputs = {dense({images, channels, 30, 30}), dense({channels, channels, 3, 3}), dense({channels})};
  spec.outputs = {dense({images, channels, 30, 30})};
  spec.window = {{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  return spec;
}

TEST(Spec, PrintsWindowsAndGroups) {
  HeavySpec spec = convolution(1, 2);
  spec.groups = 2;
  EXPECT_EQ(
      print(spec),
      "convolution f32 [1, 2, 30, 30]:[1800, 900, 30, 1] f32 [2, 2, 3, 3]:[18, 9, 3, 1] f32 [2]:[1] -> f32 [1, 2, "
      "30, 30]:[1800, 900, 30, 1], strides [1, 1], dilations [1, 1], pads [1, 1] and [1, 1], groups 2");
}

/// Marks each output element of each piece.
void expect_covers_once(const HeavySpec& spec) {
  std::map<std::int64_t, int> written;
  for (const Piece& piece : cut_into_pieces(spec)) {
    const TensorDesc& out = piece.spec.outputs[0];
    std::vector<std::int64_t> at{piece.output_offsets[0] / 4};
    for (std::size_t dim = 0; dim < out.shape.size(); ++dim) {
      std::vector<std::int64_t> next;
      for (const std::int64_t from : at)
        for (std::int64_t i = 0; i < out.shape[dim]; ++i) next.push_back(from + i * out.strides[dim]);
      at = std::move(next);
    }
    for (const std::int64_t element : at) ++written[element];
  }
  EXPECT_EQ(static_cast<std::int64_t>(written.size()), numel(spec.outputs[0].shape).value());
  for (const auto& [element, times] : written) ASSERT_EQ(times, 1) << "element " << element << " of " << print(spec);
}

TEST(Pieces, SmallProductsAreOne) { EXPECT_EQ(cut_into_pieces(matmul({64, 64}, {64, 64}, {64, 64})).size(), 1U); }

TEST(Pieces, CoverTheOutputOnce) {
  expect_covers_once(matmul({1000, 300}, {300, 130}, {1000, 130}));
  expect_covers_once(matmul({130, 300}, {300, 1000}, {130, 1000}, true));
  expect_covers_once(matmul({7, 1, 500, 100}, {1, 3, 100, 90}, {7, 3, 500, 90}));
}

TEST(Pieces, OfImagesShareTheWeights) {
  expect_covers_once(convolution(7, 48));
  const std::vector<Piece> pieces = cut_into_pieces(convolution(7, 48));
  ASSERT_EQ(pieces.size(), 7U);
  EXPECT_EQ(pieces[2].input_offsets, (std::vector<std::int64_t>{2 * 48 * 900 * 4, 0, 0}));
  EXPECT_EQ(pieces[2].spec.inputs[0].shape, (Dims{1, 48, 30, 30}));
  HeavySpec gradient = convolution(7, 48);
  gradient.kind = Kind::convolution_to_weights;
  std::swap(gradient.inputs[1], gradient.outputs[0]);
  gradient.inputs.resize(2);
  EXPECT_EQ(cut_into_pieces(gradient).size(), 1U) << "its sum runs over all images";
}

TEST(Pieces, OfFewImagesAreCutAlongChannels) {
  expect_covers_once(convolution(1, 100));
  const std::vector<Piece> pieces = cut_into_pieces(convolution(1, 100));
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[1].input_offsets, (std::vector<std::int64_t>{0, 32 * 100 * 9 * 4, 32 * 4}));
  EXPECT_EQ(pieces[3].spec.inputs[1].shape, (Dims{4, 100, 3, 3}));
  EXPECT_EQ(pieces[3].spec.inputs[0].shape, (Dims{1, 100, 30, 30}));
  HeavySpec gradient = convolution(1, 100);
  gradient.kind = Kind::convolution_to_input;
  gradient.inputs.resize(2);
  EXPECT_EQ(cut_into_pieces(gradient)[1].input_offsets, (std::vector<std::int64_t>{0, 32 * 9 * 4}));
  HeavySpec grouped = convolution(1, 100);
  grouped.groups = 2;
  grouped.inputs[1] = dense({100, 50, 3, 3});
  EXPECT_EQ(cut_into_pieces(grouped).size(), 1U);
  HeavySpec one_tap = convolution(1, 256);
  one_tap.inputs[1] = dense({256, 256, 1, 1});
  EXPECT_EQ(cut_into_pieces(one_tap).size(), 1U);
}

TEST(Pieces, BatchesComeFirstAndBroadcastOperandsStay) {
  const std::vector<Piece> pieces = cut_into_pieces(matmul({32, 256, 256}, {1, 256, 256}, {32, 256, 256}));
  ASSERT_EQ(pieces.size(), 16U);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces[i].spec.outputs[0].shape, (Dims{2, 256, 256}));
    EXPECT_EQ(pieces[i].input_offsets[0], static_cast<std::int64_t>(i) * 2 * 256 * 256 * 4);
    EXPECT_EQ(pieces[i].input_offsets[1], 0);
  }
}

}  // namespace
}  // namespace tenfold::onednn

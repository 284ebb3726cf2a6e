// SPDX-License-Identifier: Apache-2.0
#include "onednn/pieces.hpp"

#include <algorithm>
#include <limits>

namespace tenfold::onednn {
namespace {

/// Work of one task, in multiply-adds: a tenth of a millisecond of one core, some ten times what it costs to wake one.
constexpr std::int64_t kWorkPerPiece = std::int64_t{4} << 20;
/// More pieces than that only cost calls: threads that are done early take from those that are left.
constexpr std::int64_t kMostPieces = 16;
/// Pieces of one matrix each pack the whole other operand, and those of one image read all of it, so there are few.
constexpr std::int64_t kMostPerMatrix = 4;
/// Rows or columns of a piece come in multiples of this: whole register blocks of oneDNN's kernels, and enough of them
/// that it copies operands into panels. Of [384, 1024] x [1024, 1024], pieces of 96 rows took twice the time of one.
constexpr std::int64_t kBlock = 192;
/// Channels of a piece come in multiples of this: two or four of oneDNN's blocks.
constexpr std::int64_t kChannelBlock = 32;

/// A dim of the output, and which dim of each input it is (-1: none).
struct Cut {
  std::size_t output_dim = 0;
  std::vector<int> input_dims;
  std::int64_t grain = 1;
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Multiply-adds are more than 63 bits count of operands that are legal, but far too large to run: then, the most.
std::int64_t times(std::int64_t work, std::int64_t extent) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(work, extent, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

/// The tensor without what lies before element `begin` of the dim and after the next `count`; moves `offset`.
void narrow(TensorDesc& desc, int dim, std::int64_t begin, std::int64_t count, std::int64_t& offset) {
  const auto at = static_cast<std::size_t>(dim);
  if (dim < 0 || desc.shape[at] == 1) return;
  offset += begin * desc.strides[at] * byte_size(desc.dtype);
  desc.shape[at] = count;
}

std::vector<Piece> cut(const std::vector<Piece>& pieces, const Cut& by) {
  std::vector<Piece> cut_pieces;
  for (const Piece& whole : pieces) {
    const std::int64_t extent = whole.spec.outputs[0].shape[by.output_dim];
    for (std::int64_t begin = 0; begin < extent; begin += by.grain) {
      const std::int64_t count = std::min(by.grain, extent - begin);
      Piece piece = whole;
      for (std::size_t i = 0; i < piece.spec.inputs.size(); ++i)
        narrow(piece.spec.inputs[i], by.input_dims[i], begin, count, piece.input_offsets[i]);
      narrow(piece.spec.outputs[0], static_cast<int>(by.output_dim), begin, count, piece.output_offsets[0]);
      cut_pieces.push_back(std::move(piece));
    }
  }
  return cut_pieces;
}

std::vector<Piece> cut_matmul(Piece whole) {
  const Dims shape = whole.spec.outputs[0].shape;
  const std::size_t rank = shape.size();
  std::int64_t work = whole.spec.inputs[0].shape[rank - 1];
  for (const std::int64_t extent : shape) work = times(work, extent);
  std::int64_t wanted = std::min(kMostPieces, work / kWorkPerPiece);
  std::vector<Piece> pieces{std::move(whole)};
  const auto cut_dim = [&](std::size_t dim, std::int64_t grain) {
    const int at = static_cast<int>(dim);
    Cut along{dim, {at, at}, grain};
    if (dim == rank - 2) along.input_dims[1] = -1;
    if (dim == rank - 1) along.input_dims[0] = -1;
    along.input_dims.push_back(at);  // of the bias
    pieces = cut(pieces, along);
    wanted /= divide_up(shape[dim], grain);
  };
  for (std::size_t dim = 0; dim + 2 < rank && wanted > 1; ++dim)
    if (shape[dim] > 1) cut_dim(dim, divide_up(shape[dim], wanted));
  // Rows of one operand lie one after another, columns of the other do not; so the latter are cut when they must be.
  const std::size_t by = shape[rank - 2] > kBlock ? rank - 2 : rank - 1;
  const std::int64_t blocks = divide_up(shape[by], kBlock);
  wanted = std::min({wanted, blocks, kMostPerMatrix});
  if (wanted > 1) cut_dim(by, divide_up(blocks, wanted) * kBlock);
  return pieces;
}

bool is_convolution(Kind kind) { return kind == Kind::convolution || kind == Kind::convolution_to_input; }

std::int64_t taps_of(const HeavySpec& spec) {
  const Dims& weights = spec.inputs[1].shape;
  std::int64_t taps = 1;
  for (std::size_t dim = 2; dim < weights.size(); ++dim) taps *= weights[dim];
  return taps;
}

/// Where a dim of the output's channels is in each input: of data, weights and bias.
std::vector<int> channel_dims(Kind kind) {
  if (kind == Kind::convolution) return {-1, 0, 0};
  if (kind == Kind::convolution_to_input) return {-1, 1};
  return {1, 1};
}

/// Whether a channel's elements lie together in all tensors, and channels one after another.
bool has_planes(const HeavySpec& spec) {
  for (const std::vector<TensorDesc>* descs : {&spec.inputs, &spec.outputs})
    for (const TensorDesc& desc : *descs)
      for (std::size_t dim = 2; dim < desc.shape.size(); ++dim)
        if (desc.strides[dim] > desc.strides[1]) return false;
  return true;
}

/// Few images are cut along their channels too. Pieces of a convolution each read (and perhaps reorder) all channels of
/// its data: with several taps that cost up to 3 % (f32 of 64 and 128 channels, 3 x 3, AVX2), with one tap a quarter to
/// a half. For pools and interpolations of channels-last data oneDNN has but reference code once channels are left out,
/// and for others it must not see that there were more of them.
void cut_channels(std::vector<Piece>& pieces, std::int64_t wanted) {
  const HeavySpec& spec = pieces[0].spec;
  const std::int64_t blocks = divide_up(spec.outputs[0].shape[1], kChannelBlock);
  wanted = std::min(wanted, blocks);
  if (wanted < 2 || spec.groups > 1 || (is_convolution(spec.kind) && taps_of(spec) == 1)) return;
  const bool convolves = is_convolution(spec.kind);
  if (!convolves && !has_planes(spec)) return;
  pieces = cut(pieces, {1, channel_dims(spec.kind), divide_up(blocks, wanted) * kChannelBlock});
  if (convolves) return;
  for (Piece& piece : pieces)
    for (std::vector<TensorDesc>* descs : {&piece.spec.inputs, &piece.spec.outputs})
      for (TensorDesc& image : *descs) image.strides[0] = image.shape[1] * image.strides[1];
}

/// Images are independent, but where their weights' gradient is summed.
std::vector<Piece> cut_images(Piece whole) {
  const TensorDesc& out = whole.spec.outputs[0];
  const std::int64_t images = out.shape[0];
  std::int64_t work = numel(out.shape).value();
  if (is_convolution(whole.spec.kind)) work = times(work / out.shape[1], numel(whole.spec.inputs[1].shape).value());
  for (const std::int64_t extent : whole.spec.window.kernel) work = times(work, extent);
  const std::int64_t wanted = std::min(kMostPieces, work / kWorkPerPiece);
  std::vector<Piece> pieces{std::move(whole)};
  if (wanted < 2) return pieces;
  // Weights and biases are the same for all.
  const bool has_weights = is_convolution(pieces[0].spec.kind);
  const std::int64_t of_images = std::min(wanted, images);
  if (of_images > 1) pieces = cut(pieces, {0, {0, has_weights ? -1 : 0, -1}, divide_up(images, of_images)});
  cut_channels(pieces, std::min(wanted, kMostPerMatrix) / of_images);
  return pieces;
}

}  // namespace

std::vector<Piece> cut_into_pieces(const HeavySpec& spec) {
  Piece whole{spec, std::vector<std::int64_t>(spec.inputs.size(), 0),
              std::vector<std::int64_t>(spec.outputs.size(), 0)};
  switch (spec.kind) {
    case Kind::matmul: return cut_matmul(std::move(whole));
    case Kind::convolution:
    case Kind::convolution_to_input:
    case Kind::average_pool:
    case Kind::average_pool_to_input:
    case Kind::max_pool:
    case Kind::max_pool_to_input:
    case Kind::resample:
    case Kind::resample_to_input: return cut_images(std::move(whole));
    case Kind::convolution_to_weights: break;
  }
  return {std::move(whole)};
}

}  // namespace tenfold::onednn

// SPDX-License-Identifier: Apache-2.0
//
// Shapes and strides as values, and the one place where their sizes are multiplied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tenfold/dtype.hpp"
#include "tenfold/status.hpp"

namespace tenfold {

using Dims = std::vector<std::int64_t>;

/// A dimension that is not known until compile or run time (oneDNN Graph's spelling in files).
inline constexpr std::int64_t kUnknownDim = std::numeric_limits<std::int64_t>::min();
/// Highest rank of a tensor, as in oneDNN.
inline constexpr int kMaxRank = 12;
/// No tensor may span more bytes than this (2^47, the user half of the address space).
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 47;

/// True when no dim is kUnknownDim.
inline bool is_known(const Dims& dims) { return std::find(dims.begin(), dims.end(), kUnknownDim) == dims.end(); }

/// "[4096, ?, 3]": `?` is a dim that is not known.
inline std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += dims[i] == kUnknownDim ? "?" : std::to_string(dims[i]);
  }
  return text + "]";
}

/// Element type, shape and strides of one tensor. Strides are in elements; empty strides on a non-empty shape mean
/// row-major. A stride of 0 repeats one element along the dimension (inputs only).
struct TensorDesc {
  DType dtype = DType::undef;
  Dims shape;
  Dims strides;

  friend bool operator==(const TensorDesc& a, const TensorDesc& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
  }
  friend bool operator!=(const TensorDesc& a, const TensorDesc& b) { return !(a == b); }
};

/// Number of elements of a fully known shape: invalid_shape for a negative or unknown dim, a rank above kMaxRank, or a
/// product of the *non-zero* dims above kMaxTensorBytes (a zero dim does not excuse a huge one).
inline Result<std::int64_t> numel(const Dims& shape) {
  if (shape.size() > static_cast<std::size_t>(kMaxRank))
    return Status(Code::invalid_shape, "rank " + std::to_string(shape.size()) + " exceeds " + std::to_string(kMaxRank));
  std::int64_t product = 1;
  bool zero = false;
  for (const std::int64_t dim : shape) {
    if (dim == kUnknownDim) return Status(Code::invalid_shape, "a dim is not known");
    if (dim < 0) return Status(Code::invalid_shape, "dim " + std::to_string(dim) + " is negative");
    if (dim == 0) {
      zero = true;
    } else if (dim > kMaxTensorBytes / product) {
      return Status(Code::invalid_shape, "the dims multiply to more than 2^47 elements");
    } else {
      product *= dim;
    }
  }
  return zero ? 0 : product;
}

/// Row-major strides in elements. `shape` must have passed numel().
inline Dims row_major_strides(const Dims& shape) {
  Dims strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i] > 0 ? shape[i] : 1;
  }
  return strides;
}

/// `desc.strides`, or the row-major ones when they are left out.
inline Dims strides_of(const TensorDesc& desc) {
  return desc.strides.empty() ? row_major_strides(desc.shape) : desc.strides;
}

/// Bytes from the first to one past the last element that `desc` reaches (0 when it has no element); the size that a
/// buffer must have. invalid_shape when shape or strides are negative, of unequal rank, or reach beyond
/// kMaxTensorBytes.
inline Result<std::int64_t> span_bytes(const TensorDesc& desc) {
  Result<std::int64_t> count = numel(desc.shape);
  if (!count.ok()) return count;
  if (!desc.strides.empty() && desc.strides.size() != desc.shape.size())
    return Status(Code::invalid_shape,
                  std::to_string(desc.strides.size()) + " strides for rank " + std::to_string(desc.shape.size()));
  const Dims strides = strides_of(desc);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    if (strides[i] < 0) return Status(Code::invalid_shape, "stride " + std::to_string(strides[i]) + " is negative");
    const std::int64_t steps = desc.shape[i] > 0 ? desc.shape[i] - 1 : 0;
    if (steps > 0 && strides[i] > kMaxTensorBytes / steps)
      return Status(Code::invalid_shape, "the strides reach beyond 2^47 elements");
    last += steps * strides[i];
    if (last > kMaxTensorBytes) return Status(Code::invalid_shape, "the strides reach beyond 2^47 elements");
  }
  const std::int64_t elements = count.value() == 0 ? 0 : last + 1;
  const int size = byte_size(desc.dtype);
  if (size > 0 && elements > kMaxTensorBytes / size)
    return Status(Code::invalid_shape, "the tensor spans more than 2^47 bytes");
  return (elements * row(desc.dtype).bits + 7) / 8;
}

/// span_bytes() of a shape of which not every dim is known, at the least: an unknown dim counts as 1. It may turn out
/// to be 0, but a zero dim does not excuse a huge one.
inline Result<std::int64_t> least_span_bytes(TensorDesc desc) {
  std::replace(desc.shape.begin(), desc.shape.end(), kUnknownDim, std::int64_t{1});
  return span_bytes(desc);
}

}  // namespace tenfold

// SPDX-License-Identifier: Apache-2.0
//
// The first elements of a line in their order: by value, NaN being greater than every number and -0 equal to 0, and by
// index among equals. No arithmetic on elements happens here: they are compared as integers in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tenfold/dtype.hpp"

namespace tenfold::compiler {

/// Elements `step` bytes apart, and the extremes of blocks of them, if there are blocks: as lower/selection.hpp says.
struct Line {
  const std::byte* first = nullptr;
  std::int64_t step = 0, extent = 0;
  const std::byte* first_extreme = nullptr;
  std::int64_t extreme_step = 0, blocks = 0, block = 0;
};

class FirstOfLine {
 public:
  /// Of lines of this dtype with so many blocks; `places` is the line's extent at most.
  FirstOfLine(DType dtype, bool largest, std::int64_t places, std::int64_t blocks);

  /// Bytes of scratch, aligned to 16, that find() takes.
  std::int64_t scratch_bytes() const noexcept { return scratch_bytes_; }

  /// The indices of the first `places` elements, in `scratch`.
  std::span<const std::uint32_t> find(const Line& line, void* scratch) const { return find_(*this, line, scratch); }

  /// An element, of NaNs the canonical one, as kernels give it.
  void copy(const std::byte* from, std::byte* to) const { copy_(*this, from, to); }

 private:
  template <class Bits>
  struct Finder;

  DType dtype_;
  bool largest_;
  std::int64_t places_, scratch_bytes_ = 0;
  std::span<const std::uint32_t> (*find_)(const FirstOfLine&, const Line&, void* scratch) = nullptr;
  void (*copy_)(const FirstOfLine&, const std::byte* from, std::byte* to) = nullptr;
};

}  // namespace tenfold::compiler

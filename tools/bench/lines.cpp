// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/lines.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tenfold/dtype.hpp"

namespace tenfold::tools::bench {
namespace {

constexpr std::int64_t kLine = 64;

/// How often a run of bytes comes again, and how far apart.
struct Repeat {
  std::int64_t stride, count;  ///< in bytes
};

}  // namespace

std::int64_t bytes_moved(const TensorDesc& desc) {
  const std::int64_t size = byte_size(desc.dtype), span = span_bytes(desc).value();
  if (span == 0 || desc.strides.empty()) return span;
  std::vector<Repeat> repeats;
  for (std::size_t dim = 0; dim < desc.shape.size(); ++dim)
    if (desc.shape[dim] > 1 && desc.strides[dim] != 0) repeats.push_back({desc.strides[dim] * size, desc.shape[dim]});
  std::ranges::sort(repeats, std::greater<>(), &Repeat::stride);
  std::int64_t run = size;
  for (; !repeats.empty() && repeats.back().stride == run; repeats.pop_back()) run *= repeats.back().count;
  if (repeats.empty()) return span;
  // Runs in the order of memory: a line may have the end of one and the start of the next.
  std::int64_t lines = 0, seen = -1;
  std::vector<std::int64_t> index(repeats.size(), 0);
  for (std::int64_t at = 0;;) {
    const std::int64_t last = (at + run - 1) / kLine;
    lines += std::max<std::int64_t>(0, last - std::max(at / kLine - 1, seen));
    seen = std::max(seen, last);
    std::size_t dim = repeats.size();
    for (; dim > 0; --dim) {
      at += repeats[dim - 1].stride;
      if (++index[dim - 1] < repeats[dim - 1].count) break;
      at -= std::exchange(index[dim - 1], 0) * repeats[dim - 1].stride;
    }
    if (dim == 0) return lines * kLine;
  }
}

}  // namespace tenfold::tools::bench

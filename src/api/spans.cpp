// SPDX-License-Identifier: Apache-2.0
//
// See spans.hpp. Outputs are sorted by address: they are apart when neighbours are, and each input is held against
// those in its span alone.
#include "api/spans.hpp"

#include <algorithm>

#include "runtime/kept.hpp"

namespace tenfold::api {

namespace {

struct OutputSpan {
  std::uintptr_t begin, end;
  std::size_t output;
};

OutputSpan span_of(const void* data, const OperandCheck& check, std::size_t output) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, begin + static_cast<std::uintptr_t>(check.span_bytes), output};
}

/// Those that have bytes, in `room`, for which there is place.
std::span<OutputSpan> sorted_spans(std::span<const OperandCheck> checks, void* const* out, OutputSpan* room) noexcept {
  std::size_t count = 0;
  for (std::size_t o = 0; o < checks.size(); ++o)
    if (checks[o].span_bytes > 0) room[count++] = span_of(out[o], checks[o], o);
  std::sort(room, room + count, [](const OutputSpan& a, const OutputSpan& b) { return a.begin < b.begin; });
  return {room, count};
}

}  // namespace

bool many_spans_are_apart(std::span<const OperandCheck> in_checks, const void* const* in,
                          std::span<const OperandCheck> out_checks, void* const* out,
                          std::span<const std::size_t> in_place) noexcept {
  const runtime::Kept<OutputSpan> room(static_cast<std::int64_t>(out_checks.size() * sizeof(OutputSpan)));
  // Without memory the answer is that somebody must look closer, which takes longer and needs none.
  if (!room.has_memory()) return false;
  const std::span<const OutputSpan> outputs = sorted_spans(out_checks, out, reinterpret_cast<OutputSpan*>(room.data()));
  for (std::size_t k = 1; k < outputs.size(); ++k)
    if (outputs[k].begin < outputs[k - 1].end) return false;
  for (std::size_t i = 0; i < in_checks.size(); ++i) {
    if (in_checks[i].span_bytes == 0) continue;
    const OutputSpan input = span_of(in[i], in_checks[i], 0);
    auto at = std::upper_bound(outputs.begin(), outputs.end(), input.begin,
                               [](std::uintptr_t begin, const OutputSpan& output) { return begin < output.end; });
    for (; at != outputs.end() && at->begin < input.end; ++at)
      if (in_place[at->output] != i || at->begin != input.begin) return false;
  }
  return true;
}

}  // namespace tenfold::api

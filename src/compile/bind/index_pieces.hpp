// SPDX-License-Identifier: Apache-2.0
//
// What an arg-reduction in pieces does besides its two kernels (partials.hpp), both on the caller's thread, of a few
// numbers for each output: the elements that the pieces' indices stand for are fetched, so that the second kernel can
// compare them; and the index in the piece that wins becomes one in the whole. Pieces are in the order of their
// elements, so ties and NaNs go as they do in one piece. No arithmetic on elements happens here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/spec.hpp"
#include "runtime/program.hpp"

namespace tenfold::compiler {

struct IndexPieces {
  std::int64_t pieces = 0, grain = 0;  ///< how many, and elements of each along the reduced level
  std::int64_t element_bytes = 0;      ///< of the input
  std::int64_t axis_bytes = 0;         ///< from one element of a row to the next
  std::vector<std::int64_t> rows;      ///< by output: bytes from the input's start to its first element
  std::vector<std::int64_t> places;    ///< by output: bytes from the output's start to its index
  DType index = DType::s64;            ///< s64 or s32

  std::int64_t outputs() const noexcept { return static_cast<std::int64_t>(rows.size()); }
};

/// `dtype`: s64 or s32.
void write_index(std::byte* to, std::int64_t index, DType dtype);

/// Of an arg-reduction in pieces of `grain`, which is greater than 0.
IndexPieces index_pieces(const kernel::KernelSpec& spec, std::int64_t grain);

/// Fetches the elements at `indices` (s32 [pieces, outputs]) of `input` into `elements` [pieces, outputs].
runtime::CallStep fetch_elements(const IndexPieces& pieces, const runtime::Location& input,
                                 const runtime::Location& indices, const runtime::Location& elements);

/// Writes to `output`, for each output, the index in the whole: that of the piece that `winners` (s32 [outputs]) names.
runtime::CallStep whole_indices(const IndexPieces& pieces, const runtime::Location& indices,
                                const runtime::Location& winners, const runtime::Location& output);

}  // namespace tenfold::compiler

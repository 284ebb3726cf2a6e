// SPDX-License-Identifier: Apache-2.0
#include "compile/bind/index_pieces.hpp"

#include <cstring>

#include "schedule/levels.hpp"

namespace tenfold::compiler {
namespace {

/// Byte offsets of the operand's elements along the kept levels, in the order of a dense buffer over them.
std::vector<std::int64_t> kept_offsets(const kernel::KernelSpec& spec, const kernel::Operand& operand) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t level = 0; level < spec.levels.size(); ++level) {
    if (spec.levels[level].reduced) continue;
    std::vector<std::int64_t> finer;
    finer.reserve(offsets.size() * static_cast<std::size_t>(spec.levels[level].extent));
    for (const std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < spec.levels[level].extent; ++i)
        finer.push_back(offset + i * operand.strides[level] * byte_size(operand.dtype));
    offsets = std::move(finer);
  }
  return offsets;
}

std::int32_t read_s32(const void* from, std::int64_t at) {
  std::int32_t value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(from) + at * std::int64_t{sizeof value}, sizeof value);
  return value;
}

}  // namespace

void write_index(std::byte* to, std::int64_t index, DType dtype) {
  const auto narrow = static_cast<std::int32_t>(index);
  if (dtype == DType::s64) std::memcpy(to, &index, sizeof index);
  if (dtype == DType::s32) std::memcpy(to, &narrow, sizeof narrow);
}

IndexPieces index_pieces(const kernel::KernelSpec& spec, std::int64_t grain) {
  IndexPieces made;
  made.grain = grain;
  made.element_bytes = byte_size(spec.inputs[0].dtype);
  made.rows = kept_offsets(spec, spec.inputs[0]);
  made.places = kept_offsets(spec, spec.outputs[0]);
  made.index = spec.outputs[0].dtype;
  for (std::size_t level = 0; level < spec.levels.size(); ++level) {
    if (!spec.levels[level].reduced) continue;
    made.pieces = schedule::divide_up(spec.levels[level].extent, grain);
    made.axis_bytes = spec.inputs[0].strides[level] * made.element_bytes;
  }
  return made;
}

runtime::CallStep fetch_elements(const IndexPieces& pieces, const runtime::Location& input,
                                 const runtime::Location& indices, const runtime::Location& elements) {
  const auto fetch = [pieces](std::span<const void* const> from, std::span<void* const> to) {
    const auto* const x = static_cast<const std::byte*>(from[0]);
    auto* next = static_cast<std::byte*>(to[0]);
    for (std::int64_t piece = 0; piece < pieces.pieces; ++piece) {
      for (std::int64_t k = 0; k < pieces.outputs(); ++k) {
        const std::int64_t index = piece * pieces.grain + read_s32(from[1], piece * pieces.outputs() + k);
        std::memcpy(next, x + pieces.rows[static_cast<std::size_t>(k)] + index * pieces.axis_bytes,
                    static_cast<std::size_t>(pieces.element_bytes));
        next += pieces.element_bytes;
      }
    }
    return Status();
  };
  return {{input, indices}, {elements}, fetch};
}

runtime::CallStep whole_indices(const IndexPieces& pieces, const runtime::Location& indices,
                                const runtime::Location& winners, const runtime::Location& output) {
  const auto finish = [pieces](std::span<const void* const> from, std::span<void* const> to) {
    for (std::int64_t k = 0; k < pieces.outputs(); ++k) {
      const std::int64_t piece = read_s32(from[1], k);
      const std::int64_t index = piece * pieces.grain + read_s32(from[0], piece * pieces.outputs() + k);
      write_index(static_cast<std::byte*>(to[0]) + pieces.places[static_cast<std::size_t>(k)], index, pieces.index);
    }
    return Status();
  };
  return {{indices, winners}, {output}, finish};
}

}  // namespace tenfold::compiler

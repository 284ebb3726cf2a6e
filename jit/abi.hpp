// SPDX-License-Identifier: Apache-2.0
//
// How a kernel is called. The same layout is read by emitted code (by byte offset) and written by the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenfold::jit {

inline constexpr int kMaxInputs = 24;
inline constexpr int kMaxOutputs = 8;
inline constexpr int kMaxLevels = 6;

/// Arguments of one call: one tile of the outputs, or of the partial results.
struct KernelArgs {
  const void* inputs[kMaxInputs];  ///< first element of each input in this tile
  void* outputs[kMaxOutputs];
  void* scratch;                     ///< 64-byte aligned, at least Code::scratch_bytes; may be null when that is 0
  std::int64_t extents[kMaxLevels];  ///< of this tile, by level
  /// Byte strides by operand and level: inputs first, then outputs.
  const std::int64_t* strides;
  double count;  ///< elements that one output reduces in the whole tensor
};

using KernelFunction = void (*)(const KernelArgs*);

inline constexpr int stride_index(int operand, int level) { return operand * kMaxLevels + level; }

}  // namespace tenfold::jit

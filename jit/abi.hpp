// SPDX-License-Identifier: Apache-2.0
//
// How a kernel is called. The same layout is read by emitted code (by byte offset) and written by the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenfold::jit {

inline constexpr int kMaxInputs = 64;
inline constexpr int kMaxOutputs = 32;
inline constexpr int kMaxLevels = 6;

/// Arguments of one call: one tile of the outputs, or of the partial results.
struct KernelArgs {
  void* scratch;                     ///< 64-byte aligned, at least Code::scratch_bytes; may be null when that is 0
  std::int64_t extents[kMaxLevels];  ///< of this tile, by level
  /// Byte strides by operand and level: inputs first, then outputs.
  const std::int64_t* strides;
  double count;                ///< elements that one output reduces in the whole tensor
  void* outputs[kMaxOutputs];  ///< first element of each output in this tile
  /// First element of each input in this tile. Last, so that nobody writes or copies places that a kernel does not use.
  const void* inputs[kMaxInputs];
};

/// Bytes of KernelArgs that a kernel of so many inputs reads.
inline constexpr std::size_t args_bytes(std::size_t inputs) {
  return offsetof(KernelArgs, inputs) + inputs * sizeof(const void*);
}

using KernelFunction = void (*)(const KernelArgs*);

inline constexpr int stride_index(int operand, int level) { return operand * kMaxLevels + level; }

}  // namespace tenfold::jit

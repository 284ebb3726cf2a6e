// SPDX-License-Identifier: Apache-2.0
//
// The floating-point mode that kernels run in, and that graphs are read and compiled in: round to nearest even,
// subnormals kept, no traps. A host thread may have flushing to zero switched on (one library built with -ffast-math
// does it for the whole process), and pool threads may not; without this the bits of a result would depend on who ran
// which task, or who compiled a partition that others have from a cache.
#pragma once

#include <xmmintrin.h>

#include <cstdint>

namespace tenfold::runtime {

/// Sets the mode for a scope and puts the thread's own back. Costs a few cycles unless the modes differ.
class FloatState {
 public:
  FloatState() noexcept : saved_(_mm_getcsr()) {
    if ((saved_ & ~kFlags) != kDefault) _mm_setcsr(kDefault | (saved_ & kFlags));
  }
  ~FloatState() {
    if ((saved_ & ~kFlags) != kDefault) _mm_setcsr(saved_);
  }
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

 private:
  static constexpr unsigned kDefault = 0x1F80;  ///< every exception masked, nothing else
  static constexpr unsigned kFlags = 0x3F;      ///< what has been raised so far; not a mode

  unsigned saved_;
};

/// The same for what computes in `long double` as well, which has a mode of its own: the reference evaluator, and text
/// that becomes numbers. Kernels do not. The flags that it raises there are none of the host's, which may trap on them.
class FullFloatState {
 public:
  FullFloatState() noexcept {
    asm volatile("fnstenv %0" : "=m"(saved_));  // masks every exception
    asm volatile("fldcw %0" : : "m"(kDefault));
  }
  ~FullFloatState() { asm volatile("fldenv %0" : : "m"(saved_)); }
  FullFloatState(const FullFloatState&) = delete;
  FullFloatState& operator=(const FullFloatState&) = delete;

 private:
  static constexpr std::uint16_t kDefault = 0x037F;  ///< 64 bits of precision, every exception masked
  /// As the instructions lay it out: words of control, status and tags, and where the last exception was.
  struct Environment {
    std::uint32_t words[7];
  };

  FloatState vector_state_;
  Environment saved_;
};

}  // namespace tenfold::runtime

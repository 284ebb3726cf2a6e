// SPDX-License-Identifier: Apache-2.0
//
// Several kernels that run one spec, without their schedules: what everything that cuts a spec gives (partials.hpp,
// long_rows.hpp, transposed.hpp, kernel_sequence.hpp), and plan.hpp schedules.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// Where a kernel that is one of several reads or writes.
struct Place {
  enum class Kind : std::uint8_t {
    operand,  ///< an input of the whole spec, or where it is written to, an output
    between,  ///< a buffer that lives from one kernel to another
  };
  Kind kind = Kind::operand;
  int index = 0;            ///< which operand, or which buffer
  std::int64_t offset = 0;  ///< bytes into it
  friend bool operator==(const Place&, const Place&) = default;
};

struct CutKernel {
  kernel::KernelSpec spec;
  std::vector<Place> reads, writes;  ///< by input, and by output
  double count = 0;                  ///< what the spec's `count` is
  /// Of one that is split: from one piece's results to the next's, in bytes.
  std::int64_t partial_stride_bytes = 0;
};

struct KernelCut {
  std::vector<CutKernel> kernels;     ///< in the order that they run in; none: the spec is not cut
  std::vector<std::int64_t> between;  ///< bytes of each buffer between kernels
};

}  // namespace tenfold::compiler

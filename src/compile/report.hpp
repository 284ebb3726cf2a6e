// SPDX-License-Identifier: Apache-2.0
//
// What became of a graph's ops: values that `compile()` gives beside the program, for explain, verbose lines and tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::compiler {

/// One kernel of a region as it was compiled.
struct KernelReport {
  kernel::KernelSpec spec;
  schedule::Schedule schedule;
  std::int64_t code_bytes = 0;
  std::int64_t bytes_moved = 0;  ///< read and written by it, partial results included
};

/// A call of oneDNN as it was made.
struct HeavyReport {
  std::string implementation;  ///< by oneDNN's own name
  std::string spec;
  std::int64_t tasks = 1;
  std::vector<DType> widened;  ///< dtypes of operands that it is given as f32
};

/// The first of all, of long lines.
struct SelectionReport {
  std::int64_t places = 0, extent = 0;  ///< of a line
  std::int64_t block = 0;               ///< elements of a block, whose extremes the kernels find; 0: no blocks
};

/// What became of a group of ops; for explain.
struct RegionReport {
  enum class Kind { kernel, reference, nothing, onednn, selection };
  Kind kind = Kind::kernel;
  std::vector<std::string> ops;              ///< "op 7 'reduce_0' (ReduceMax)"
  std::vector<KernelReport> kernels;         ///< in the order they run
  std::optional<HeavyReport> heavy;          ///< of kind onednn
  std::optional<SelectionReport> selection;  ///< of kind selection
  std::int64_t bytes_least = 0;              ///< region inputs read once plus outputs written once
  std::int64_t bytes_moved = 0;
  std::string reason;  ///< why it is not compiled; empty when it is
};

/// As verbose lines spell it.
constexpr std::string_view to_string(RegionReport::Kind kind) noexcept {
  switch (kind) {
    case RegionReport::Kind::kernel: return "kernel";
    case RegionReport::Kind::reference: return "reference";
    case RegionReport::Kind::nothing: return "nothing";
    case RegionReport::Kind::onednn: return "onednn";
    case RegionReport::Kind::selection: return "selection";
  }
  return "unknown";
}

/// Two ops that share a value, but not a kernel; for explain.
struct UnfusedReport {
  std::string from, to, reason;
};

/// Places among the program's inputs and outputs.
struct InPlace {
  int input = 0, output = 0;
};

}  // namespace tenfold::compiler

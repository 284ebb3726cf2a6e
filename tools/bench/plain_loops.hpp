// SPDX-License-Identifier: Apache-2.0
//
// Plain C++ loops as a rival of the bench: what somebody writes who wants a reduction and has no library. Compiled
// twice from one text (plain_loops_nest.hpp), each time with the compiler's own vectorisation: as the language asks,
// and with the freedoms of -ffast-math. No third-party and no library header here or there: both are compiled for more
// than the least CPU, and an inline function of theirs must not become the whole program's.
#pragma once

namespace tenfold::tools::bench {

inline constexpr int kMostPlainLevels = 12;

/// A reduction as a nest of loops in the order of its dims. Strides are in elements.
struct PlainNest {
  const void* in = nullptr;
  void* out = nullptr;
  void* running = nullptr;  ///< 16 bytes an output, for what is not finished yet
  void* shifts = nullptr;   ///< 8 bytes an output, for ReduceLogSumExp
  int levels = 0;
  long extent[kMostPlainLevels] = {};
  long in_stride[kMostPlainLevels] = {};
  long out_stride[kMostPlainLevels] = {};  ///< 0 on reduced levels
  bool reduced[kMostPlainLevels] = {};
  long outputs = 0;
  long count = 0;  ///< elements that one output reduces
};

using PlainLoop = void (*)(const PlainNest&);

/// The loop for an op and a dtype by their names; null when nobody wrote it.
PlainLoop plain_loop_strict(const char* op, const char* dtype);
PlainLoop plain_loop_fast(const char* op, const char* dtype);

}  // namespace tenfold::tools::bench

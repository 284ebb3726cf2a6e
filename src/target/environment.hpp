// SPDX-License-Identifier: Apache-2.0
//
// The environment variables of the library: all of them, read once, here and nowhere else. docs/environment.md says
// what each does.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "tenfold/status.hpp"

namespace tenfold::target {

struct Environment {
  std::string max_cpu_isa;  ///< TENFOLD_MAX_CPU_ISA: a level by name; empty: no cap
  int verbose = 0;          ///< TENFOLD_VERBOSE: 1: a line per compile, 2: per execute too
  bool perf_map = false;    ///< TENFOLD_JIT_PROFILE has "perfmap"
  bool jit_dump = false;    ///< TENFOLD_JIT_PROFILE has "jitdump"
  std::string dump_folder;  ///< TENFOLD_JIT_DUMP: where kernels are written; empty: nowhere
  std::string tuning_file;  ///< TENFOLD_TUNING: a tuning file; empty: none
  /// TENFOLD_COMPILED_PARTITION_CACHE_CAPACITY and TENFOLD_COMPILED_PARTITION_CACHE_BYTES: the bounds that the C API's
  /// cache of compiled partitions has at first.
  std::size_t partition_cache_capacity = 1024;
  std::size_t partition_cache_bytes = std::size_t{64} << 20;
  /// TENFOLD_CONSTANT_CACHE_BYTES: the same of the constant cache.
  std::size_t constant_cache_bytes = std::numeric_limits<std::size_t>::max();
};

/// What `read(name)` makes of each variable; it gives null for one that is not set. Values that mean nothing are as if
/// not set, except the name of a level, which its user validates.
Environment read_environment(const char* (*read)(const char* name));

/// The process's, as it was when first asked for.
const Environment& environment();

}  // namespace tenfold::target

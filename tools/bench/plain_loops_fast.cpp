// SPDX-License-Identifier: Apache-2.0
//
// The plain loops at -O3 -ffast-math: sums in any order, no NaN; more than a library may do.
#include "tools/bench/plain_loops_nest.hpp"

namespace tenfold::tools::bench {

PlainLoop plain_loop_fast(const char* op, const char* dtype) { return find_loop(op, dtype); }

}  // namespace tenfold::tools::bench

// SPDX-License-Identifier: Apache-2.0
//
// The plain loops at -O3, as the language asks: no sum is taken in another order.
#include "tools/bench/plain_loops_nest.hpp"

namespace tenfold::tools::bench {

PlainLoop plain_loop_strict(const char* op, const char* dtype) { return find_loop(op, dtype); }

}  // namespace tenfold::tools::bench

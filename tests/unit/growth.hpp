// SPDX-License-Identifier: Apache-2.0
//
// How the time of something grows with its size, for tests of what must stay linear: a bound on the time itself would
// have to be so wide, for slow and busy machines, that a quadratic algorithm passes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace tenfold::test {

/// For 16 times as much, what is linear takes 16 times as long, or 50 where caches no longer hold it; what is quadratic
/// takes 256 times.
inline constexpr std::size_t kMore = 16;
inline constexpr double kMostGrowth = 100;

/// `make(n)` gives what is to be done for size n, apart from what prepares it. The least time at kMore times n over the
/// least time at n, of five runs each, which take turns; the next five when others have kept the machine from it.
template <class Make>
double growth(std::size_t n, const Make& make) {
  double ratio = std::numeric_limits<double>::infinity();
  double least[2] = {ratio, ratio};
  for (int round = 0; round < 25 && (round % 5 != 0 || ratio > kMostGrowth); ++round)
    for (const std::size_t which : {0, 1}) {
      auto work = make(which == 0 ? n : kMore * n);
      const auto start = std::chrono::steady_clock::now();
      work();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      least[which] = std::min(least[which], seconds.count());
      ratio = least[1] / least[0];
    }
  return ratio;
}

}  // namespace tenfold::test

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

/// What is linear takes 4 times as long for 4 times as much, what is quadratic 16 times.
inline constexpr double kMostGrowth = 9;

/// `make(n)` gives what is to be done for size n, apart from what prepares it. The least time at 4n over the least time
/// at n, of five runs each, which take turns; the next five when others have kept the machine from it.
template <class Make>
double growth(std::size_t n, const Make& make) {
  double ratio = std::numeric_limits<double>::infinity();
  double least[2] = {ratio, ratio};
  for (int round = 0; round < 25 && (round % 5 != 0 || ratio > kMostGrowth); ++round)
    for (const std::size_t which : {0, 1}) {
      auto work = make(which == 0 ? n : 4 * n);
      const auto start = std::chrono::steady_clock::now();
      work();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      least[which] = std::min(least[which], seconds.count());
      ratio = least[1] / least[0];
    }
  return ratio;
}

}  // namespace tenfold::test

// SPDX-License-Identifier: Apache-2.0
//
// Which sums of exponentials columns make in the pass of the maximum.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel/spec.hpp"
#include "schedule/stage_traits.hpp"

namespace tenfold::schedule {
namespace {

std::vector<int> maxima_of(int rows, int columns, const std::string& body, const std::string& out) {
  const Result<kernel::KernelSpec> spec =
      kernel::parse("kernel\nspace reduced " + std::to_string(rows) + ", kept " + std::to_string(columns) +
                    "\nin x0 f32 [" + std::to_string(columns) + ", 1]\nout y0 f32 [" +
                    (out == "row" ? "0" : std::to_string(columns)) + ", 1]\n%0 = load x0\n" + body);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return maxima_in_one_pass(spec.value());
}

const std::string kSum = "%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n%4 = reduce sum %3\n",
                  kLogSumExp = kSum + "%5 = log %4\n%6 = add %5 %1\nstore y0 %6\n",
                  kLogSoftmax = kSum + "%5 = log %4\n%6 = sub %2 %5\nstore y0 %6\n",
                  kSoftmax = kSum + "%5 = div %3 %4\nstore y0 %5\n";

/// Node 1 beside node 4, or none.
std::vector<int> beside(bool is, std::size_t nodes) {
  std::vector<int> maxima(nodes, -1);
  if (is) maxima[4] = 1;
  return maxima;
}

TEST(Powers, AreForManyRows) {
  EXPECT_EQ(maxima_of(256, 64, kLogSumExp, "row"), beside(true, 7));
  EXPECT_EQ(maxima_of(255, 64, kLogSumExp, "row"), beside(false, 7));
  EXPECT_EQ(maxima_of(256, 64, kLogSoftmax, "all"), beside(true, 7));
}

TEST(Powers, WhereExponentialsAreStoredAreForWhatNoCacheHolds) {
  EXPECT_EQ(maxima_of(1024, 1024, kSoftmax, "all"), beside(true, 6));
  EXPECT_EQ(maxima_of(1024, 1023, kSoftmax, "all"), beside(false, 6));
}

TEST(Powers, AreOfTheMaximumsOwnElements) {
  EXPECT_EQ(maxima_of(1024, 64,
                      "%1 = reduce max %0\n%2 = sub %0 %1\n%3 = neg %2\n%4 = exp %3\n%5 = reduce sum %4\nstore y0 %5\n",
                      "row"),
            std::vector<int>(6, -1));
  EXPECT_EQ(maxima_of(1024, 64,
                      "%1 = abs %0\n%2 = reduce max %1\n%3 = sub %0 %2\n%4 = exp %3\n%5 = reduce sum %4\nstore y0 %5\n",
                      "row"),
            std::vector<int>(6, -1));
}

}  // namespace
}  // namespace tenfold::schedule

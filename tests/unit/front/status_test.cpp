// SPDX-License-Identifier: Apache-2.0
//
// What a Status says when those who pass it on add whom it is about.
#include "tenfold/status.hpp"

#include <gtest/gtest.h>

namespace tenfold {
namespace {

TEST(Status, ofAFailureTellsWhomItIsAbout) {
  const Status failure(Code::invalid_shape, "dim -3 is negative");
  const Status told = failure.about("tensor 5").about("op 7");
  EXPECT_EQ(told.code(), Code::invalid_shape);
  EXPECT_EQ(told.message(), "op 7: tensor 5: dim -3 is negative");
  EXPECT_EQ(failure.message(), "dim -3 is negative");
}

TEST(Status, ofSuccessStaysSuccess) {
  const Status told = Status().about("tensor 5");
  EXPECT_TRUE(told.ok());
  EXPECT_EQ(told.message(), "");
}

}  // namespace
}  // namespace tenfold

// SPDX-License-Identifier: Apache-2.0
//
// What elementwise programs leave to the store.
#include "jit/stage/body_program.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace tenfold::jit {
namespace {

std::size_t operations_of(const std::string& output, const std::string& body) {
  const Result<kernel::KernelSpec> spec = kernel::parse("kernel\nspace kept 4096\nin x0 f32 [1]\nin x1 f32 [1]\n" +
                                                        output + "\n%0 = load x0\n%1 = load x1\n" + body);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  const Result<LaneProgram> program = body_program(spec.value());
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.value().nodes.size();
}

TEST(BodyProgram, LeavesTheLastRoundingToTheStore) {
  const std::size_t of_f32 = operations_of("out y0 f32 [1]", "%2 = mul %0 %1\nstore y0 %2\n");
  for (const std::string dtype : {"bf16", "f16"}) {
    SCOPED_TRACE(dtype);
    const std::string out = "out y0 " + dtype + " [1]", cast = "%3 = cast " + dtype + " %2\n";
    EXPECT_EQ(operations_of(out, "%2 = mul %0 %1\n" + cast + "store y0 %3\n"), of_f32);
    // What is made of a rounded value needs the rounding.
    EXPECT_GT(operations_of(out, "%2 = mul %0 %1\n" + cast + "%4 = neg %3\nstore y0 %4\n"), of_f32 + 1);
  }
}

}  // namespace
}  // namespace tenfold::jit

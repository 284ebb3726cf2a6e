// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/transposed.hpp"

#include <gtest/gtest.h>

#include "kernel/spec.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;
using kernel::Level;
using Strides = std::vector<std::int64_t>;

std::vector<CutKernel> parts_of(const std::string& space, const std::string& in, const std::string& out) {
  const Result<KernelSpec> spec = kernel::parse("kernel\nspace " + space + "\nin x0 f32 " + in + "\nout y0 f32 " + out +
                                                "\n%0 = load x0\nstore y0 %0\n");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return transposed_parts(spec.value()).kernels;
}

TEST(Transposed, LanesRunAlongTheLongerLevel) {
  const auto last = parts_of("kept 8, kept 4000, kept 3", "[12000, 1, 4000]", "[12000, 3, 1]");
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].spec.levels, (std::vector<Level>{{8, false}, {4000, false}, {3, true}}));
  EXPECT_EQ(last[0].spec.outputs[0].strides, (Strides{12000, 3, 1})) << "turned";
  const auto first = parts_of("kept 8, kept 3, kept 4000", "[12000, 1, 3]", "[12000, 4000, 1]");
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].spec.levels, (std::vector<Level>{{8, false}, {4000, false}, {3, true}}));
  EXPECT_EQ(first[0].spec.inputs[0].strides, (Strides{12000, 3, 1})) << "turned";
}

TEST(Transposed, LongLevelsAreCutIntoBlocks) {
  const auto parts = parts_of("kept 200, kept 300", "[1, 200]", "[300, 1]");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].spec.levels, (std::vector<Level>{{2, false}, {300, false}, {64, true}}));
  EXPECT_EQ(parts[0].spec.inputs[0].strides, (Strides{64, 200, 1}));
  EXPECT_EQ(parts[0].spec.outputs[0].strides, (Strides{19200, 1, 300}));
  EXPECT_EQ(parts[1].spec.levels, (std::vector<Level>{{300, false}, {72, true}})) << "64 and the 8 that are left";
  EXPECT_EQ(parts[1].reads, (std::vector<Place>{{Place::Kind::operand, 0, 128 * 4}}));
  EXPECT_EQ(parts[1].writes, (std::vector<Place>{{Place::Kind::operand, 0, 128 * 300 * 4}}));
  EXPECT_EQ(parts_of("kept 192, kept 300", "[1, 192]", "[300, 1]").size(), 1U);
}

TEST(Transposed, OthersAreNot) {
  EXPECT_TRUE(parts_of("kept 300, kept 300", "[300, 1]", "[300, 1]").empty()) << "in order";
  EXPECT_TRUE(parts_of("kept 300, kept 300", "[301, 1]", "[300, 1]").empty()) << "gaps";
  EXPECT_TRUE(parts_of("kept 300, kept 300", "[2, 600]", "[300, 1]").empty()) << "elements with gaps";
  EXPECT_TRUE(parts_of("kept 20, kept 20", "[1, 20]", "[20, 1]").empty()) << "few elements";
  EXPECT_TRUE(parts_of("kept 100, kept 31, kept 31", "[961, 1, 31]", "[961, 31, 1]").empty()) << "few lanes";
}

}  // namespace
}  // namespace tenfold::compiler

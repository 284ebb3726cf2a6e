// SPDX-License-Identifier: Apache-2.0
//
// KernelSpec: text form, collapsing, structural rules.
#include "kernel/spec.hpp"

#include <gtest/gtest.h>

namespace tenfold::kernel {
namespace {

constexpr std::string_view kL2 =
    "kernel\n"
    "space kept 4096, reduced 1024\n"
    "in x0 bf16 [1024, 1]\n"
    "out y0 bf16 [1, 0]\n"
    "%0 = load x0\n"
    "%1 = square %0\n"
    "%2 = reduce sum %1\n"
    "%3 = count\n"
    "%4 = div %2 %3\n"
    "%5 = sqrt %4\n"
    "store y0 %5\n";

KernelSpec parsed(std::string_view text) {
  Result<KernelSpec> spec = parse(text);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.ok() ? spec.value() : KernelSpec{};
}

/// A sum with this space and strides, before collapsing.
KernelSpec sum_of(std::vector<Level> levels, std::vector<std::int64_t> in, std::vector<std::int64_t> out) {
  KernelSpec spec;
  spec.levels = std::move(levels);
  spec.inputs.push_back({DType::f32, std::move(in)});
  spec.outputs.push_back({DType::f32, std::move(out)});
  Node reduce;
  reduce.kind = Node::Kind::reduce;
  reduce.args = {0};
  spec.body = {Node{}, reduce};
  spec.stores = {{0, 1}};
  return spec;
}

TEST(KernelSpec, PrintsWhatItParses) { EXPECT_EQ(print(parsed(kL2)), kL2); }

TEST(KernelSpec, SaysWhichSumsFollowFromDeviations) {
  const std::string head = "kernel\nspace kept 4, reduced 9\nin x0 f32 [9, 1]\nout y0 f64 [1, 0]\n";
  const std::string centred = head + "%0 = load x0\n%1 = reduce sum centred %0\nstore y0 %1\n";
  EXPECT_EQ(print(parsed(centred)), centred);
  EXPECT_TRUE(parsed(centred).body[1].centred);
  EXPECT_FALSE(parse(head + "%0 = load x0\n%1 = reduce max centred %0\nstore y0 %1\n").ok());
}

TEST(KernelSpec, SaysWhichOfEqualsAnArgReductionWants) {
  const std::string head = "kernel\nspace kept 4, reduced 9\nin x0 s8 [9, 1]\nout y0 s64 [1, 0]\n";
  const std::string last = head + "%0 = load x0\n%1 = reduce argmin last %0\nstore y0 %1\n";
  const std::string first = head + "%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n";
  EXPECT_EQ(print(parsed(last)), last);
  EXPECT_TRUE(parsed(last).body[1].last);
  EXPECT_EQ(print(parsed(first)), first);
  EXPECT_FALSE(parsed(first).body[1].last);
  EXPECT_FALSE(parse(head + "%0 = load x0\n%1 = reduce max last %0\nstore y0 %1\n").ok());
}

TEST(KernelSpec, SaysWhatGoesByTheOrderOfALine) {
  const std::string space = "kernel\nspace kept 4, reduced 9\nin x0 f32 [9, 1]\n";
  const std::string scan = space + "out y0 f32 [9, 1]\n%0 = load x0\n%1 = scan exclusive reverse %0\nstore y0 %1\n";
  EXPECT_EQ(print(parsed(scan)), scan);
  EXPECT_TRUE(parsed(scan).body[1].exclusive && parsed(scan).body[1].reverse);
  EXPECT_FALSE(per_row(parsed(scan))[1]) << "a value of elements";
  const std::string rank = space + "out y0 s64 [1, 0]\n%0 = load x0\n%1 = rank argmin 2 %0\nstore y0 %1\n";
  EXPECT_EQ(print(parsed(rank)), rank);
  EXPECT_EQ(parsed(rank).body[1].index, 2);
  EXPECT_EQ(dtype_of(parsed(rank), 1), DType::s64);
  EXPECT_TRUE(is_ordered(parsed(rank)) && per_row(parsed(rank))[1]);
  EXPECT_FALSE(parse(space + "out y0 f32 [1, 0]\n%0 = load x0\n%1 = rank sum 0 %0\nstore y0 %1\n").ok());
  const std::string apart = "kernel\nspace reduced 4, kept 2, reduced 9\nin x0 f32 [18, 9, 1]\nout y0 f32 [0, 1, 0]\n";
  EXPECT_FALSE(parse(apart + "%0 = load x0\n%1 = rank max 0 %0\nstore y0 %1\n").ok()) << "an order of two levels";
}

TEST(KernelSpec, ParseErrorsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"kernel\nspace kept x\n", "line 2: expected an extent"},
      {"kernel\nspace held 3\n", "line 2: expected 'kept' or 'reduced'"},
      {"kernel\nspace kept 3\nin x0 f99 [1]\n", "line 3: expected a dtype"},
      {"kernel\nspace kept 3\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\n%1 = shrink %0\n",
       "line 6: expected load, count, constant, cast, reduce, scan, rank or a function"},
      {"kernel\nspace kept 3\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\n%7 = abs %0\n", "line 6: expected %1"},
      {"kernel\nspace kept 3\nin x0 f32 [1, 2]\nout y0 f32 [1]\n%0 = load x0\nstore y0 %0\n",
       "an input's rank is not that of the space"},
      {"kernel\nspace kept 3\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\nstore y0 %4\n",
       "a store of something that there is not"},
      {"kernel\nspace kept 99999999999999999999\n", "line 2: expected an extent"},
      {"kernel\nspace kept 3\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = constant f32 1e999\n", "line 5: expected a"},
      {"kernel\nspace kept 3\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\nstore y0 %99999999999\n",
       "line 6: expected"},
      {"", "no level"},
  };
  for (const auto& [text, message] : cases) {
    const Result<KernelSpec> spec = parse(text);
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_EQ(spec.status().code(), Code::invalid_argument);
    EXPECT_NE(spec.status().message().find(message), std::string::npos) << spec.status().message();
  }
}

TEST(Collapse, MergesNeighboursOfOneKind) {
  // [2, 3, 4, 5] over axes 2 and 3: two levels.
  const Result<KernelSpec> spec =
      collapse(sum_of({{2, false}, {3, false}, {4, true}, {5, true}}, {60, 20, 5, 1}, {3, 1, 0, 0}));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec.value().levels, (std::vector<Level>{{6, false}, {20, true}}));
  EXPECT_EQ(spec.value().inputs[0].strides, (std::vector<std::int64_t>{20, 1}));
  EXPECT_EQ(spec.value().outputs[0].strides, (std::vector<std::int64_t>{1, 0}));
}

TEST(Collapse, DropsUnitLevels) {
  const Result<KernelSpec> spec =
      collapse(sum_of({{1, false}, {128, true}, {150, false}, {150, false}}, {9, 22500, 150, 1}, {9, 0, 150, 1}));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec.value().levels, (std::vector<Level>{{128, true}, {22500, false}}));
}

TEST(Collapse, SortsAPermutedInputByItsStrides) {
  // Column-major [8, 4] over axis 0 is a row reduction.
  const Result<KernelSpec> spec = collapse(sum_of({{8, true}, {4, false}}, {1, 8}, {0, 1}));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec.value().levels, (std::vector<Level>{{4, false}, {8, true}}));
}

TEST(Collapse, DoesNotMergeAcrossGapsOrKinds) {
  const Result<KernelSpec> gap = collapse(sum_of({{4, true}, {8, true}}, {16, 1}, {0, 0}));
  ASSERT_TRUE(gap.ok());
  EXPECT_EQ(gap.value().levels.size(), 2U);
  const Result<KernelSpec> apart =
      collapse(sum_of({{2, true}, {3, false}, {4, true}, {5, false}}, {60, 20, 5, 1}, {0, 5, 0, 1}));
  ASSERT_TRUE(apart.ok());
  EXPECT_EQ(apart.value().levels.size(), 4U);
}

TEST(Collapse, RepeatedElementsGoOutermost) {
  const Result<KernelSpec> spec = collapse(sum_of({{8, false}, {4, true}}, {1, 0}, {1, 0}));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec.value().levels, (std::vector<Level>{{4, true}, {8, false}}));
}

TEST(Collapse, OneElementKeepsALevel) {
  const Result<KernelSpec> spec = collapse(sum_of({}, {}, {}));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec.value().levels, (std::vector<Level>{{1, false}}));
  EXPECT_TRUE(check(spec.value()).ok());
}

TEST(Collapse, RefusesMoreLevelsThanKernelsHave) {
  std::vector<Level> levels;
  std::vector<std::int64_t> in, out;
  std::int64_t stride = 1;
  for (int i = 0; i < 8; ++i) {
    levels.insert(levels.begin(), {2, i % 2 == 0});
    in.insert(in.begin(), stride);
    out.insert(out.begin(), i % 2 == 0 ? 0 : stride);
    stride *= 2;
  }
  const Result<KernelSpec> spec = collapse(sum_of(levels, in, out));
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.status().code(), Code::unsupported_shape);
}

TEST(Counts, MultiplyExtentsByKind) {
  const KernelSpec spec = parsed(kL2);
  EXPECT_EQ(kept_count(spec), 4096);
  EXPECT_EQ(reduced_count(spec), 1024);
}

TEST(Levels, OfAKindAreFoundFromBothEnds) {
  const KernelSpec mixed = sum_of({{4, false}, {5, true}, {6, false}, {7, true}}, {210, 42, 7, 1}, {6, 0, 1, 0});
  EXPECT_EQ(outermost(mixed, false), 0);
  EXPECT_EQ(outermost(mixed, true), 1);
  EXPECT_EQ(innermost(mixed, false), 2);
  EXPECT_EQ(innermost(mixed, true), 3);
  EXPECT_EQ(reduced_levels(mixed), 2);
  const KernelSpec one = sum_of({{4, true}}, {1}, {0});
  EXPECT_EQ(outermost(one, false), -1);
  EXPECT_EQ(innermost(one, false), -1);
}

TEST(NarrowBytes, AreThoseThatAllValuesHave) {
  const auto bytes_of = [](const std::string& a, const std::string& b, const std::string& function) {
    return narrow_bytes(parsed("kernel\nspace kept 64\nin x0 " + a + " [1]\nin x1 " + b + " [1]\nout y0 " +
                               (function == "less" ? "boolean" : b) +
                               " [1]\n%0 = load x0\n%1 = load x1\n%2 = " + function + "\nstore y0 %2\n"));
  };
  EXPECT_EQ(bytes_of("u8", "u8", "add %0 %1"), 1);
  EXPECT_EQ(bytes_of("s16", "s16", "max %0 %1"), 2);
  EXPECT_EQ(bytes_of("boolean", "s8", "select %0 %1 %1"), 1);
  EXPECT_EQ(bytes_of("boolean", "s16", "select %0 %1 %1"), 0) << "of two widths";
  EXPECT_EQ(bytes_of("bf16", "bf16", "add %0 %1"), 0);
  EXPECT_EQ(bytes_of("s32", "s32", "add %0 %1"), 0);
  const auto bytes_of_moved = [](const std::string& dtype) {
    return narrow_bytes(parsed("kernel\nspace kept 64\nin x0 " + dtype + " [1]\nout y0 " + dtype +
                               " [1]\n%0 = load x0\nstore y0 %0\n"));
  };
  EXPECT_EQ(bytes_of_moved("bf16"), 2);
  EXPECT_EQ(bytes_of_moved("f16"), 2);
  EXPECT_EQ(bytes_of_moved("s8"), 1);
  EXPECT_EQ(bytes_of_moved("f32"), 0);
  const auto bytes_behind = [](const std::string& function) {
    return narrow_bytes(parsed("kernel\nspace kept 64\nin x0 bf16 [1]\nout y0 bf16 [1]\n%0 = load x0\n%1 = " +
                               function + " %0\nstore y0 %1\n"));
  };
  EXPECT_EQ(bytes_behind("relu"), 2) << "of bits";
  EXPECT_EQ(bytes_behind("abs"), 2);
  EXPECT_EQ(bytes_behind("exp"), 0);
}

}  // namespace
}  // namespace tenfold::kernel

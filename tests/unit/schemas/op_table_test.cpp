// SPDX-License-Identifier: Apache-2.0
//
// The generated op tables: sorted, complete, and with the facts of the op documents in the right fields.
#include "schemas/op_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tenfold::schemas;
using tenfold::DType;

constexpr DTypeSet kF = bit(DType::f32) | bit(DType::bf16) | bit(DType::f16);

const OpVersion& onednn(std::string_view name) {
  const OpDesc* op = find_op(Dialect::onednn, name);
  EXPECT_NE(op, nullptr) << name;
  return *version_for(*op, 0);
}

const AttrDesc* attribute(const OpVersion& version, std::string_view name) {
  const auto found = std::find_if(version.attributes.begin(), version.attributes.end(),
                                  [&](const AttrDesc& a) { return a.name == name; });
  return found == version.attributes.end() ? nullptr : &*found;
}

TEST(OpTable, IsSortedAndHasOneOpPerDescriptor) {
  const auto ops = all_ops();
  for (std::size_t i = 1; i < ops.size(); ++i)
    EXPECT_LT(std::tie(ops[i - 1].dialect, ops[i - 1].name), std::tie(ops[i].dialect, ops[i].name));
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(TENFOLD_SOURCE_DIR) / "schemas/ops"))
    files += entry.path().extension() == ".json" ? 1 : 0;
  EXPECT_EQ(ops.size(), files);
}

TEST(OpTable, EveryOpIsFoundAndWellFormed) {
  for (const OpDesc& op : all_ops()) {
    SCOPED_TRACE(std::string(to_string(op.dialect)) + "." + std::string(op.name));
    EXPECT_EQ(find_op(op.dialect, op.name), &op);
    EXPECT_FALSE(op.category.empty());
    EXPECT_TRUE(op.summary.ends_with("."));
    ASSERT_FALSE(op.versions.empty());
    for (const OpVersion& version : op.versions) {
      for (const auto ports : {version.inputs, version.outputs})
        for (const PortDesc& port : ports) EXPECT_LT(port.constraint, version.constraints.size());
      for (const TypeConstraint& constraint : version.constraints) EXPECT_NE(constraint.allowed, 0U);
    }
  }
}

TEST(OpTable, HoldsOneDnnsReductionsElementwiseSelectCastAndEnd) {
  std::set<std::pair<std::string, std::string>> found;
  for (const OpDesc& op : all_ops())
    if (op.dialect == Dialect::onednn) found.emplace(op.category, op.name);
  const std::pair<const char*, const char*> expected[] = {{"reduction", "ReduceL1"},
                                                          {"reduction", "ReduceL2"},
                                                          {"reduction", "ReduceMax"},
                                                          {"reduction", "ReduceMean"},
                                                          {"reduction", "ReduceMin"},
                                                          {"reduction", "ReduceProd"},
                                                          {"reduction", "ReduceSum"},
                                                          {"unary", "Abs"},
                                                          {"unary", "Clamp"},
                                                          {"unary", "Elu"},
                                                          {"unary", "Exp"},
                                                          {"unary", "GELU"},
                                                          {"unary", "HardSigmoid"},
                                                          {"unary", "HardSwish"},
                                                          {"unary", "LeakyReLU"},
                                                          {"unary", "Log"},
                                                          {"unary", "Mish"},
                                                          {"unary", "Pow"},
                                                          {"unary", "ReLU"},
                                                          {"unary", "Round"},
                                                          {"unary", "Sigmoid"},
                                                          {"unary", "SoftPlus"},
                                                          {"unary", "Sqrt"},
                                                          {"unary", "Square"},
                                                          {"unary", "Tanh"},
                                                          {"unary", "Reciprocal"},
                                                          {"binary", "Add"},
                                                          {"binary", "BiasAdd"},
                                                          {"binary", "Divide"},
                                                          {"binary", "GreaterEqual"},
                                                          {"binary", "Maximum"},
                                                          {"binary", "Minimum"},
                                                          {"binary", "Multiply"},
                                                          {"binary", "PReLU"},
                                                          {"binary", "SquaredDifference"},
                                                          {"binary", "Subtract"},
                                                          {"select", "Select"},
                                                          {"conversion", "TypeCast"},
                                                          {"other", "End"}};
  for (const auto& [category, name] : expected) EXPECT_TRUE(found.contains({category, name})) << name;
}

TEST(OpTable, ReduceMaxHasTheFactsOfItsDocument) {
  const OpVersion& version = onednn("ReduceMax");
  EXPECT_EQ(version.since_version, 1);
  ASSERT_EQ(version.inputs.size(), 2U);
  EXPECT_EQ(version.inputs[0].name, "src");
  EXPECT_FALSE(version.inputs[0].optional);
  EXPECT_EQ(version.inputs[1].name, "axes");
  EXPECT_TRUE(version.inputs[1].optional);
  ASSERT_EQ(version.outputs.size(), 1U);
  EXPECT_EQ(version.outputs[0].constraint, version.inputs[0].constraint);
  EXPECT_EQ(version.constraints[version.inputs[0].constraint].allowed, kF);
  EXPECT_EQ(version.constraints[version.inputs[1].constraint].allowed, bit(DType::s32));
  const AttrDesc* axes = attribute(version, "axes");
  ASSERT_NE(axes, nullptr);
  EXPECT_EQ(axes->type, AttrType::s64s);
  EXPECT_FALSE(axes->required);
  EXPECT_EQ(axes->default_text, "");  // either it or the tensor is given
  const AttrDesc* keep_dims = attribute(version, "keep_dims");
  ASSERT_NE(keep_dims, nullptr);
  EXPECT_EQ(keep_dims->type, AttrType::boolean);
  EXPECT_EQ(keep_dims->default_text, "false");
}

TEST(OpTable, KeepsTypesThatMayDifferApart) {
  const OpVersion& add = onednn("Add");
  EXPECT_NE(add.inputs[0].constraint, add.inputs[1].constraint);
  EXPECT_EQ(add.constraints[0].allowed, kF | bit(DType::s32));
  const OpVersion& maximum = onednn("Maximum");
  EXPECT_EQ(maximum.inputs[0].constraint, maximum.inputs[1].constraint);
  EXPECT_EQ(onednn("Divide").constraints[0].allowed, kF);
  EXPECT_EQ(onednn("End").outputs.size(), 0U);
  EXPECT_NE(onednn("End").constraints[0].allowed & bit(DType::undef), 0U);
}

TEST(OpTable, KnowsRequiredAndEnumeratedAttributes) {
  const AttrDesc* alpha = attribute(onednn("Elu"), "alpha");
  ASSERT_NE(alpha, nullptr);
  EXPECT_TRUE(alpha->required);
  EXPECT_EQ(alpha->default_text, "");
  const AttrDesc* mode = attribute(onednn("GELU"), "mode");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(mode->default_text, "\"gelu_erf\"");
  ASSERT_EQ(mode->allowed.size(), 2U);
  EXPECT_EQ(mode->allowed[1], "gelu_tanh");
  const AttrDesc* beta = attribute(onednn("SoftPlus"), "beta");
  ASSERT_NE(beta, nullptr);
  EXPECT_EQ(beta->default_text, "1.0");
}

TEST(OpTable, CoreMapTakesAnyNumberOfTensorsOfAnyDtype) {
  const OpDesc* map = find_op(Dialect::core, "map");
  ASSERT_NE(map, nullptr);
  const OpVersion& version = map->versions.back();
  ASSERT_EQ(version.inputs.size(), 1U);
  EXPECT_TRUE(version.inputs[0].variadic);
  EXPECT_TRUE(version.inputs[0].mixed);
  EXPECT_NE(version.constraints[0].allowed & bit(DType::u64), 0U);
  EXPECT_EQ(version.constraints[0].allowed & bit(DType::undef), 0U);
}

TEST(OpTable, DialectsAreSeparate) {
  EXPECT_EQ(find_op(Dialect::onednn, "reduce"), nullptr);
  EXPECT_EQ(find_op(Dialect::core, "ReduceMax"), nullptr);
  EXPECT_EQ(find_op(Dialect::onnx, "ReLU"), nullptr);
  EXPECT_NE(find_op(Dialect::onnx, "Relu"), nullptr);
  EXPECT_EQ(find_op(Dialect::onednn, ""), nullptr);
  EXPECT_EQ(find_op(Dialect::onednn, "ReduceMaxx"), nullptr);
}

std::vector<int> versions_of(std::string_view name) {
  std::vector<int> versions;
  for (const OpVersion& version : find_op(Dialect::onnx, name)->versions) versions.push_back(version.since_version);
  return versions;
}

TEST(OpTable, HasTheVersionsOfOnnxReductions) {
  for (const char* name : {"ReduceMax", "ReduceMin"})
    EXPECT_EQ(versions_of(name), (std::vector<int>{1, 11, 12, 13, 18, 20})) << name;
  for (const char* name :
       {"ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
    EXPECT_EQ(versions_of(name), (std::vector<int>{1, 11, 13, 18})) << name;
  EXPECT_EQ(versions_of("ReduceSum"), (std::vector<int>{1, 11, 13}));
  for (const char* name : {"ArgMax", "ArgMin"}) EXPECT_EQ(versions_of(name), (std::vector<int>{1, 11, 12, 13})) << name;
  for (const char* name : {"Max", "Min"}) EXPECT_EQ(versions_of(name), (std::vector<int>{1, 6, 8, 12, 13})) << name;
  for (const char* name : {"Sum", "Mean"}) EXPECT_EQ(versions_of(name), (std::vector<int>{1, 6, 8, 13})) << name;
}

/// The dtypes that the first input takes by the version that the opset sees.
DTypeSet dtypes_of(std::string_view name, int opset) {
  const OpVersion& version = *version_for(*find_op(Dialect::onnx, name), opset);
  return version.constraints[version.inputs[0].constraint].allowed;
}

TEST(OpTable, HasOnnxTypeConstraintsOfEachVersion) {
  constexpr DTypeSet kFloats = bit(DType::f16) | bit(DType::f32) | bit(DType::f64);
  constexpr DTypeSet kWide = bit(DType::s32) | bit(DType::u32) | bit(DType::s64) | bit(DType::u64);
  constexpr DTypeSet kBytes = bit(DType::s8) | bit(DType::u8);
  constexpr DTypeSet kAll = kFloats | kWide | kBytes | bit(DType::s16) | bit(DType::u16);
  EXPECT_EQ(dtypes_of("ReduceMax", 11), kFloats | kWide);
  EXPECT_EQ(dtypes_of("ReduceMax", 12), kFloats | kWide | kBytes);
  EXPECT_EQ(dtypes_of("ReduceMin", 17), kFloats | kWide | kBytes | bit(DType::bf16));
  EXPECT_EQ(dtypes_of("ReduceMin", 0), kFloats | kWide | kBytes | bit(DType::bf16) | bit(DType::boolean));
  EXPECT_EQ(dtypes_of("ReduceSum", 12), kFloats | kWide);
  EXPECT_EQ(dtypes_of("ReduceSum", 13), kFloats | kWide | bit(DType::bf16));
  EXPECT_EQ(dtypes_of("ArgMax", 12), kAll);
  EXPECT_EQ(dtypes_of("ArgMin", 13), kAll | bit(DType::bf16));
  EXPECT_EQ(dtypes_of("Max", 11), kFloats);
  EXPECT_EQ(dtypes_of("Max", 12), kAll);
  EXPECT_EQ(dtypes_of("Mean", 13), kFloats | bit(DType::bf16));
}

TEST(OpTable, HasOnnxAxesAsAttributeOrInputByVersion) {
  for (const auto& [name, first] :
       {std::pair("ReduceSum", 13), std::pair("ReduceMax", 18), std::pair("ReduceL2", 18)}) {
    const OpDesc& op = *find_op(Dialect::onnx, name);
    const OpVersion& before = *version_for(op, first - 1);
    const OpVersion& since = *version_for(op, first);
    EXPECT_NE(attribute(before, "axes"), nullptr) << name;
    EXPECT_EQ(before.inputs.size(), 1U) << name;
    EXPECT_EQ(attribute(before, "noop_with_empty_axes"), nullptr) << name;
    EXPECT_EQ(attribute(since, "axes"), nullptr) << name;
    ASSERT_EQ(since.inputs.size(), 2U) << name;
    EXPECT_TRUE(since.inputs[1].optional) << name;
    EXPECT_NE(attribute(since, "noop_with_empty_axes"), nullptr) << name;
    EXPECT_EQ(attribute(since, "keepdims")->default_text, "1") << name;
  }
}

TEST(OpTable, PicksTheVersionThatAnOpsetSees) {
  static constexpr OpVersion kVersions[] = {{1, {}, {}, {}, {}}, {11, {}, {}, {}, {}}, {13, {}, {}, {}, {}}};
  const OpDesc op{Dialect::onnx, "X", "other", "X.", kVersions};
  EXPECT_EQ(version_for(op, 0)->since_version, 13);
  EXPECT_EQ(version_for(op, 1)->since_version, 1);
  EXPECT_EQ(version_for(op, 10)->since_version, 1);
  EXPECT_EQ(version_for(op, 11)->since_version, 11);
  EXPECT_EQ(version_for(op, 99)->since_version, 13);
  const OpDesc young{Dialect::onnx, "Y", "other", "Y.", std::span(kVersions).subspan(1)};
  EXPECT_EQ(version_for(young, 10), nullptr);
}

TEST(OpTable, SuggestsTheNearestName) {
  EXPECT_EQ(nearest_op(Dialect::onednn, "ReduceMx"), "ReduceMax");
  EXPECT_EQ(nearest_op(Dialect::onednn, "reducemax"), "ReduceMax");
  EXPECT_EQ(nearest_op(Dialect::onednn, "Gelu"), "GELU");
  EXPECT_EQ(nearest_op(Dialect::onednn, "Multiplied"), "Multiply");
  EXPECT_EQ(nearest_op(Dialect::core, "Reduce"), "reduce");
  EXPECT_EQ(nearest_op(Dialect::onednn, "ZZZZZZZZ"), "");
  EXPECT_EQ(nearest_op(Dialect::onednn, ""), "");
  EXPECT_EQ(nearest_op(Dialect::onednn, std::string(100'000, 'A')), "");
}

TEST(OpTable, NamesItsEnumerators) {
  EXPECT_EQ(to_string(Dialect::onednn), "onednn");
  EXPECT_EQ(to_string(Dialect::core), "core");
  EXPECT_EQ(to_string(AttrType::s64s), "s64[]");
  EXPECT_EQ(to_string(AttrType::boolean), "bool");
}

}  // namespace

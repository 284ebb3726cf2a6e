// SPDX-License-Identifier: Apache-2.0
//
// Inline constant data: every dtype's encoding, to the bit.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "graph/read/json.hpp"

namespace {

using namespace tenfold::graph;
using tenfold::Result;

Value read_constant(const std::string& dtype, const std::string& data, std::size_t count) {
  const std::string text = R"({"graph": [{"id": 0, "kind": "Abs", "inputs": [{"id": 0, "dtype": ")" + dtype +
                           R"(", "shape": [)" + std::to_string(count) + R"(], "data": [)" + data +
                           R"(]}], "outputs": [{"id": 1, "dtype": "f32", "shape": [1]}]}]})";
  Result<Graph> graph = read_json(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? graph.value().values[0] : Value{};
}

template <class T>
void expect_elements(const std::string& dtype, const std::string& data, const std::vector<T>& expected) {
  const Value value = read_constant(dtype, data, expected.size());
  EXPECT_TRUE(value.is_constant) << dtype;
  EXPECT_EQ(value.property, Property::constant) << dtype;
  ASSERT_EQ(value.data.size(), expected.size() * sizeof(T)) << dtype;
  EXPECT_EQ(std::memcmp(value.data.data(), expected.data(), value.data.size()), 0) << dtype << " [" << data << "]";
}

TEST(ConstantData, IntegersAreExact) {
  expect_elements<std::int8_t>("s8", "-128, 127, 3.0", {-128, 127, 3});
  expect_elements<std::uint8_t>("u8", "0, 255", {0, 255});
  expect_elements<std::int16_t>("s16", "-32768, 32767", {-32768, 32767});
  expect_elements<std::uint16_t>("u16", "65535", {65535});
  expect_elements<std::int32_t>("s32", "-2147483648, 2147483647", {INT32_MIN, INT32_MAX});
  expect_elements<std::uint32_t>("u32", "4294967295", {UINT32_MAX});
  expect_elements<std::int64_t>("s64", "-9223372036854775808, 9223372036854775807", {INT64_MIN, INT64_MAX});
  expect_elements<std::uint64_t>("u64", "18446744073709551615, 1", {UINT64_MAX, 1});
}

TEST(ConstantData, BooleansAreBytes) { expect_elements<std::uint8_t>("boolean", "0, 1, true, false", {0, 1, 1, 0}); }

TEST(ConstantData, FloatsAreRoundedOnce) {
  expect_elements<std::uint32_t>("f32", "1, -0, 0.1, \"inf\", \"-inf\", \"nan\", -inf",
                                 {0x3f800000, 0x80000000, 0x3dcccccd, 0x7f800000, 0xff800000, 0x7fc00000, 0xff800000});
  expect_elements<double>("f64", "0.1, 1e300", {0.1, 1e300});
  expect_elements<std::uint16_t>("f16", "1, -0.0, 65504, 65519, 6.103515625e-05, 5.960464477539063e-08, 0.1, \"nan\"",
                                 {0x3c00, 0x8000, 0x7bff, 0x7bff, 0x0400, 0x0001, 0x2e66, 0x7e00});
  expect_elements<std::uint16_t>("bf16", "1, 3.14159, -2, 1e-40, \"-inf\", \"nan\"",
                                 {0x3f80, 0x4049, 0xc000, 0x0001, 0xff80, 0x7fc0});
}

TEST(ConstantData, HalvesRoundToEvenAndNotTwice) {
  // Half a step above 1 (2^-11 in f16): even below, even above, and a hair more, which f32 could not show.
  expect_elements<std::uint16_t>("f16", "1.00048828125, 1.00146484375, 1.00048828126, 2.9802322387695312e-08",
                                 {0x3c00, 0x3c02, 0x3c01, 0x0000});
  expect_elements<std::uint16_t>("bf16", "1.00390625, 1.01171875, 1.00390625000001", {0x3f80, 0x3f82, 0x3f81});
  // A mantissa that rounds up to the next power of two, of normals and into them.
  expect_elements<std::uint16_t>("f16", "1.9998, 6.1020255e-05", {0x4000, 0x0400});
}

TEST(ConstantData, MakesNoGraphInput) {
  const std::string text = R"({"graph": [{"id": 0, "kind": "ReduceMax", "inputs": [
      {"id": 0, "dtype": "f32", "shape": [2, 3]}, {"id": 1, "dtype": "s32", "shape": [1], "data": [1]}],
      "outputs": [{"id": 2, "dtype": "f32", "shape": [2]}]}]})";
  Result<Graph> graph = read_json(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph.value().inputs, std::vector<ValueId>{0});
}

TEST(ConstantData, MayBeEmptyAndStillAConstant) {
  const Value value = read_constant("f32", "", 0);
  EXPECT_TRUE(value.is_constant);
  EXPECT_TRUE(value.data.empty());
}

TEST(ConstantData, MayStandOnAnyOfTheRecords) {
  const std::string bare = R"({"id": 1, "dtype": "f32", "shape": [2, 1], "stride": [1, 2]})";
  const std::string full = R"({"id": 1, "dtype": "f32", "shape": [2, 1], "data": [1, 2]})";
  const auto file = [](const std::string& a, const std::string& b) {
    return R"({"graph": [{"id": 0, "kind": "Add", "inputs": [)" + a + "," + b +
           R"(], "outputs": [{"id": 2, "dtype": "f32", "shape": [2, 1]}]}]})";
  };
  for (const std::string& text : {file(bare, full), file(full, bare), file(full, full)}) {
    Result<Graph> graph = read_json(text);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_TRUE(graph.value().values[0].is_constant);
    EXPECT_EQ(graph.value().values[0].data.size(), 8U);
    EXPECT_TRUE(graph.value().values[0].strides.empty()) << "inline data are row-major";
    EXPECT_TRUE(graph.value().inputs.empty());
  }
}

}  // namespace

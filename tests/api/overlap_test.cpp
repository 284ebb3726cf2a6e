// SPDX-License-Identifier: Apache-2.0
//
// share_bytes(): against sets of bytes for every small tensor, and within its bound for large ones; and what execute()
// makes of it.
#include "api/overlap.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/tenfold.hpp"

namespace tenfold::api {
namespace {

using Bytes = std::bitset<256>;

void add_elements(const TensorDesc& desc, std::size_t dim, std::size_t at, Bytes& bytes) {
  const auto size = static_cast<std::size_t>(byte_size(desc.dtype));
  if (dim == desc.shape.size()) {
    for (std::size_t i = 0; i < size; ++i) bytes.set(at + i);
    return;
  }
  for (std::int64_t i = 0; i < desc.shape[dim]; ++i)
    add_elements(desc, dim + 1, at + static_cast<std::size_t>(i * desc.strides[dim]) * size, bytes);
}

struct Case {
  TensorDesc desc;
  Bytes bytes;
};

std::vector<Case> small_tensors() {
  std::vector<Case> cases;
  const auto add = [&](DType dtype, const Dims& shape, const Dims& strides) {
    cases.push_back({{dtype, shape, strides}, {}});
    add_elements(cases.back().desc, 0, 0, cases.back().bytes);
  };
  for (const DType dtype : {DType::s8, DType::bf16})
    for (const std::int64_t outer : {1, 2, 3, 5, 7})
      for (const std::int64_t inner : {0, 1, 2, 3, 4}) {
        for (const Dims& shape : {Dims{1, 1}, Dims{2, 2}, Dims{3, 2}, Dims{2, 3}}) add(dtype, shape, {outer, inner});
        add(dtype, {2, 2, 2}, {inner, 9, outer});
      }
  return cases;
}

TEST(Overlap, EverySmallPairAsSetsOfBytesSay) {
  const std::vector<Case> cases = small_tensors();
  const std::vector<std::byte> room(512);
  int meeting = 0, apart = 0, wrong = 0;
  for (const Case& a : cases)
    for (const Case& b : cases)
      for (std::size_t offset = 0; offset < 40; ++offset) {
        const bool expected = (a.bytes & (b.bytes << offset)).any();
        ++(expected ? meeting : apart);
        const bool both_ways = share_bytes(a.desc, room.data(), b.desc, room.data() + offset) == expected &&
                               share_bytes(b.desc, room.data() + offset, a.desc, room.data()) == expected;
        if (!both_ways && ++wrong < 10) {
          ADD_FAILURE() << "offset " << offset << ", wanted " << expected << ", strides " << a.desc.strides[0] << " "
                        << a.desc.strides[1] << " and " << b.desc.strides[0] << " " << b.desc.strides[1];
        }
      }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(meeting, 10000);
  EXPECT_GT(apart, 10000);
}

TEST(Overlap, TensorsWithoutElementsShareNothing) {
  const std::vector<std::byte> room(64);
  const TensorDesc none{DType::f32, {0, 4}, {std::int64_t{1} << 62, 1}}, some{DType::f32, {4}, {}};
  EXPECT_FALSE(share_bytes(none, room.data(), some, room.data()));
  EXPECT_FALSE(share_bytes(some, room.data(), none, room.data()));
}

TEST(Overlap, HalfBytesShareTheirByteOnlyWithEqualOnes) {
  const std::vector<std::byte> room(64);
  const TensorDesc four{DType::s4, {4}, {}};
  EXPECT_TRUE(share_bytes(four, room.data(), four, room.data() + 1));
  EXPECT_FALSE(share_bytes(four, room.data(), four, room.data() + 2));
}

/// Never read: only where the tensors would be counts.
const std::byte* address(std::int64_t offset) {
  return reinterpret_cast<const std::byte*>((std::uintptr_t{1} << 40) + static_cast<std::uintptr_t>(offset));
}

TEST(Overlap, LargeTensorsAreJudgedWithinTheBound) {
  const std::int64_t rows = 1 << 20;
  const TensorDesc half{DType::f32, {rows, 512}, {1024, 1}};
  EXPECT_FALSE(share_bytes(half, address(0), half, address(2048))) << "the two halves of rows";
  EXPECT_TRUE(share_bytes(half, address(0), half, address(2044)));
  EXPECT_TRUE(share_bytes(half, address(0), half, address((rows - 1) * 4096)));
  const TensorDesc every_other{DType::f32, {rows, 1024}, {2048, 2}};
  EXPECT_FALSE(share_bytes(every_other, address(0), every_other, address(4)));
  EXPECT_TRUE(share_bytes(every_other, address(0), every_other, address(8)));
  // Steps of 6 and 35 in 10 levels: parts meet in their spans over and over.
  const TensorDesc odd{DType::s8, {9, 9, 9, 9, 9}, {60000, 6001, 610, 63, 7}};
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t offset = 1; offset < 8; ++offset) (void)share_bytes(odd, address(0), odd, address(offset));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(Overlap, WhatIsNotSettledWithinTheBoundCountsAsSharing) {
  // Of the second row of `b` every element is one of `a`'s; the first, of which none is, takes more than the bound.
  const TensorDesc a{DType::s8, {200000}, {10}}, b{DType::s8, {2, 30000}, {600005, 20}};
  EXPECT_TRUE(share_bytes(a, address(0), b, address(5)));
  EXPECT_TRUE(share_bytes(b, address(5), a, address(0)));
}

/// Square of tensor 0 and, if `twice`, ReLU of it, with these strides.
CompiledPartition squares(const Dims& shape, const Dims& in, const Dims& out, bool twice) {
  const auto text = [](const Dims& dims) {
    std::string list;
    for (const std::int64_t dim : dims) list += (list.empty() ? "" : ", ") + std::to_string(dim);
    return "[" + list + "]";
  };
  const auto tensor = [&](int id, const Dims& strides) {
    return R"({"id": )" + std::to_string(id) + R"(, "dtype": "f32", "shape": )" + text(shape) + R"(, "stride": )" +
           text(strides) + R"(, "layout_type": "strided", "property_type": "undef"})";
  };
  const auto op = [&](int id, const std::string& kind) {
    return R"({"id": )" + std::to_string(id) + R"(, "name": "op", "kind": ")" + kind +
           R"(", "attrs": {}, "inputs": [)" + tensor(0, in) + R"(], "outputs": [)" + tensor(id + 1, out) + "]}";
  };
  const auto graph =
      Graph::from_json(R"({"version": "3.0.0", "engine_kind": "cpu", "fpmath_mode": "strict", "graph": [)" +
                       op(0, "Square") + (twice ? ", " + op(1, "ReLU") : std::string()) + "]}");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  auto compiled = compile(graph.value());
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return std::move(compiled).value();
}

TEST(Overlap, ExecuteRefusesAnOutputInARowOfAnInputWithGaps) {
  const CompiledPartition p = squares({4, 8}, {16, 1}, {8, 1}, false);
  std::vector<float> buffer(100, 3.0F);
  const std::vector<float> before = buffer;
  const Status status = p.execute({buffer.data()}, {buffer.data() + 40});
  EXPECT_STREQ(to_string(status.code()), "invalid_argument");
  EXPECT_NE(status.message().find("output 0 (tensor 1) overlaps input 0 (tensor 0)"), std::string::npos)
      << status.message();
  EXPECT_EQ(buffer, before);
  EXPECT_TRUE(p.execute({buffer.data()}, {buffer.data() + 56}).ok());
}

TEST(Overlap, ExecuteLetsOutputsInterleaveAndRefusesThatTheyMeet) {
  const CompiledPartition p = squares({4, 2}, {2, 1}, {4, 1}, true);
  const std::vector<float> in{1, -2, 3, -4, 5, -6, 7, -8};
  std::vector<float> out(17, 0.0F);
  const Status status = p.execute({in.data()}, {out.data(), out.data() + 2});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, (std::vector<float>{1, 4, 1, 0, 9, 16, 3, 0, 25, 36, 5, 0, 49, 64, 7, 0, 0}));
  const Status met = p.execute({in.data()}, {out.data(), out.data() + 1});
  EXPECT_STREQ(to_string(met.code()), "invalid_argument");
  EXPECT_NE(met.message().find("output 1 (tensor 2) overlaps output 0 (tensor 1)"), std::string::npos) << met.message();
}

}  // namespace
}  // namespace tenfold::api

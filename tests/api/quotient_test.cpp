// SPDX-License-Identifier: Apache-2.0
//
// Quotients are the nearest however tensors lie: a kernel that turns blocks of elements, for an output of another
// layout than its inputs, has the bits of one that does not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

constexpr std::int64_t kRows = 96, kColumns = 64;

/// y = f(x, divisor), where x is [kRows, kColumns] row by row.
struct Division {
  DType out = DType::f32;
  Dims divisor_shape, divisor_strides;
  bool by_root = false;
};

std::string tensor(int id, DType dtype, const Dims& shape, const Dims& strides) {
  const auto list = [](const Dims& dims) {
    std::string text = "[";
    for (const std::int64_t dim : dims) text += (text.size() > 1 ? "," : "") + std::to_string(dim);
    return text + "]";
  };
  return R"({"id":)" + std::to_string(id) + R"(,"dtype":")" + std::string(to_string(dtype)) + R"(","shape":)" +
         list(shape) + R"(,"stride":)" + list(strides) + R"(,"layout_type":"strided"})";
}

std::string op(int id, const std::string& kind, const std::string& inputs, const std::string& output) {
  return R"({"id":)" + std::to_string(id) + R"(,"kind":")" + kind + R"(","attrs":{},"inputs":[)" + inputs +
         R"(],"outputs":[)" + output + "]}";
}

/// The graph with an output of these strides, which a Cast ends in where its dtype is another one.
std::string graph_of(const Division& division, const Dims& out_strides) {
  const Dims shape{kRows, kColumns}, dense{kColumns, 1};
  const std::string x = tensor(0, DType::f32, shape, dense);
  std::string divisor = tensor(1, DType::f32, division.divisor_shape, division.divisor_strides), ops;
  if (division.by_root) {
    const std::string root = tensor(2, DType::f32, shape, dense);
    ops += op(0, "Sqrt", divisor, root) + ",";
    divisor = root;
  }
  const bool casts = division.out != DType::f32;
  const std::string quotient = tensor(3, DType::f32, shape, casts ? dense : out_strides);
  ops += op(1, "Divide", x + "," + divisor, quotient);
  if (casts) ops += "," + op(2, "TypeCast", quotient, tensor(4, division.out, shape, out_strides));
  return R"({"graph":[)" + ops + "]}";
}

/// Elements row by row, whatever the strides.
std::vector<std::uint32_t> run(const Division& division, const Dims& out_strides, const std::vector<float>& x,
                               const std::vector<float>& divisor) {
  const auto bytes = static_cast<std::size_t>(byte_size(division.out));
  Result<Graph> graph = Graph::from_json(graph_of(division, out_strides));
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const Result<CompiledPartition> compiled = compile(graph.value());
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  std::vector<std::byte> y(x.size() * bytes);
  std::vector<const void*> in;
  for (const TensorInfo& input : compiled.value().inputs()) in.push_back(input.id == 0 ? x.data() : divisor.data());
  void* const out[] = {y.data()};
  const Status status = compiled.value().execute(in.data(), in.size(), out, 1);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::uint32_t> bits;
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kColumns; ++c) {
      std::uint32_t element = 0;
      std::memcpy(&element, y.data() + static_cast<std::size_t>(r * out_strides[0] + c * out_strides[1]) * bytes,
                  bytes);
      bits.push_back(element);
    }
  return bits;
}

std::vector<float> drawn(std::size_t count, double least_exponent, double most_exponent, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(least_exponent, most_exponent);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(std::exp2(exponent(random)));
  return values;
}

const Dims kDense{kColumns, 1}, kTurned{1, kRows};

TEST(Quotients, OfTurnedElementsAreTheNearestEvenSubnormalOnes) {
  for (const Dims& shape : {Dims{}, Dims{kRows, 1}, Dims{1, kColumns}}) {
    Division division;
    division.divisor_shape = shape;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) division.divisor_strides.push_back(dim == 0 ? shape[1] : 1);
    const auto count = static_cast<std::size_t>(shape.empty() ? 1 : shape[0] * shape[1]);
    const std::vector<float> x = drawn(kRows * kColumns, -132, -120, 7), divisor = drawn(count, -2, 8, 11);
    const std::vector<std::uint32_t> got = run(division, kTurned, x, divisor);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t at = shape.empty() ? 0 : shape[1] == 1 ? i / kColumns : i % kColumns;
      const float expected = x[i] / divisor[at];
      std::uint32_t bits = 0;
      std::memcpy(&bits, &expected, sizeof bits);
      ASSERT_EQ(got[i], bits) << x[i] << " / " << divisor[at] << ", element " << i;
    }
  }
}

TEST(Quotients, ByRootsThatEndInHalvesHaveTheBitsOfAnUnturnedKernel) {
  for (const DType out : {DType::f16, DType::bf16}) {
    // Of the quotient's shape, so that the root is in the same kernel, but with one element for each row.
    Division division{.out = out, .divisor_shape = {kRows, kColumns}, .divisor_strides = {1, 0}, .by_root = true};
    int seed = 0;
    for (; seed < 40; ++seed) {
      const auto salt = static_cast<std::uint64_t>(seed);
      const std::vector<float> x = drawn(kRows * kColumns, -2, 2, 2 * salt),
                               divisor = drawn(kRows, -2, 2, 2 * salt + 1);
      ASSERT_EQ(run(division, kTurned, x, divisor), run(division, kDense, x, divisor)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tenfold

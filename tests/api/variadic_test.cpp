// SPDX-License-Identifier: Apache-2.0
//
// Variadic Max, Min, Sum and Mean of many tensors, from a graph file through the public door: kernels, and the numbers
// that a loop gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "target/target.hpp"
#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

constexpr std::int64_t kRows = 5, kColumns = 37;

/// Every third tensor is one row, every fifth one column: they broadcast.
Dims shape_of(std::size_t index) {
  if (index % 3 == 2) return {kColumns};
  if (index % 5 == 4) return {kRows, 1};
  return {kRows, kColumns};
}

std::string shown(const Dims& dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return "[" + text + "]";
}

std::string graph_text(const std::string& op, const std::string& dtype, std::size_t count) {
  const auto tensor = [&](std::size_t id, const Dims& shape) {
    return R"({"id":)" + std::to_string(id) + R"(,"dtype":")" + dtype + R"(","shape":)" + shown(shape) + "}";
  };
  std::string inputs;
  for (std::size_t i = 0; i < count; ++i) inputs += (i > 0 ? "," : "") + tensor(i, shape_of(i));
  return R"({"dialect":"onnx","opset":13,"graph":[{"id":0,"kind":")" + op + R"(","attrs":{},"inputs":[)" + inputs +
         R"(],"outputs":[)" + tensor(count, {kRows, kColumns}) + "]}]}";
}

/// bf16 as its bits.
struct Bf16 {
  std::uint16_t bits = 0;
};
float number(float x) { return x; }
float number(Bf16 x) {
  const std::uint32_t bits = std::uint32_t{x.bits} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
std::int8_t number(std::int8_t x) { return x; }

/// Whole numbers of few bits, so that sums are exact in f32, and those of s8 wrap.
template <class T>
T element(std::size_t tensor, std::size_t at) {
  const int value = static_cast<int>((tensor * 7 + at * 13) % 31) - 15;
  if constexpr (std::is_same_v<T, Bf16>) {
    const auto wide = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &wide, sizeof bits);
    return {static_cast<std::uint16_t>(bits >> 16)};
  } else {
    return static_cast<T>(value);
  }
}

/// To nearest even; the numbers here are finite.
Bf16 rounded(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits += 0x7fff + (bits >> 16 & 1);
  return {static_cast<std::uint16_t>(bits >> 16)};
}

template <class T>
T expected(const std::string& op, std::size_t count, std::size_t row, std::size_t column) {
  using Sum = std::conditional_t<std::is_same_v<T, std::int8_t>, int, float>;
  Sum value{};
  for (std::size_t i = 0; i < count; ++i) {
    const Dims shape = shape_of(i);
    const std::size_t at = shape.size() == 1 ? column : shape[1] == 1 ? row : row * kColumns + column;
    const auto x = static_cast<Sum>(number(element<T>(i, at)));
    if (i == 0)
      value = x;
    else if (op == "Max")
      value = std::max(value, x);
    else if (op == "Min")
      value = std::min(value, x);
    else
      value += x;
  }
  if constexpr (std::is_same_v<T, std::int8_t>) return static_cast<T>(value);
  if (op == "Mean") value /= static_cast<Sum>(count);
  if constexpr (std::is_same_v<T, Bf16>) return rounded(static_cast<float>(value));
  if constexpr (std::is_same_v<T, float>) return value;
}

template <class T>
void check(const std::string& op, const std::string& dtype, std::size_t count) {
  SCOPED_TRACE(op + " of " + std::to_string(count) + " " + dtype);
  const Result<Graph> graph = Graph::from_json(graph_text(op, dtype, count));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<CompiledPartition> partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  if (target::host().ok() && target::host().value().isa != target::Isa::reference) {
    EXPECT_EQ(partition.value().explain().find("reference"), std::string::npos) << partition.value().explain();
  }
  std::vector<std::vector<T>> data(count);
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t size = 1;
    for (const std::int64_t dim : shape_of(i)) size *= dim;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size); ++at) data[i].push_back(element<T>(i, at));
    inputs.push_back(data[i].data());
  }
  std::vector<T> out(kRows * kColumns);
  void* const output = out.data();
  const Status status = partition.value().execute(inputs.data(), inputs.size(), &output, 1);
  ASSERT_TRUE(status.ok()) << status.message();
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t column = 0; column < kColumns; ++column)
      ASSERT_EQ(number(out[row * kColumns + column]), number(expected<T>(op, count, row, column)))
          << row << ", " << column;
}

TEST(Variadic, ManyTensorsAreKernelsAndGiveWhatALoopGives) {
  for (const std::size_t count : {2, 24, 25, 64, 65, 200}) {
    for (const char* const op : {"Max", "Min", "Sum", "Mean"}) check<float>(op, "f32", count);
    for (const char* const op : {"Max", "Min", "Sum", "Mean"}) check<Bf16>(op, "bf16", count);
    for (const char* const op : {"Max", "Min"}) check<std::int8_t>(op, "s8", count);
  }
}

}  // namespace
}  // namespace tenfold

// SPDX-License-Identifier: Apache-2.0
//
// Whatever floating-point mode the host's thread is in, graphs are read, compiled and computed as in the default one,
// and the thread finds its own mode again.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

constexpr unsigned kModes = ~0x3FU;  ///< of MXCSR, what is no flag

std::uint16_t x87_word() {
  std::uint16_t word = 0;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}
void set_x87_word(std::uint16_t word) { asm volatile("fldcw %0" : : "m"(word)); }

/// A mode that a host may be in, and what `act` gives there.
struct Mode {
  const char* name;
  std::function<void()> enter;
};

const std::vector<Mode>& modes() {
  static const std::vector<Mode> all = {
      {"flush to zero", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }},
      {"upward", [] { std::fesetround(FE_UPWARD); }},
      {"toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
      {"53 bits of precision", [] { set_x87_word(0x027F); }},
      {"traps on", [] { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }},
  };
  return all;
}

/// Faults where an exception is pending that traps.
void compute_in_x87() {
  volatile long double one = 1;
  one = one + 1;
}

template <class Act>
auto in(const Mode& mode, const Act& act) {
  std::fenv_t before;
  std::fegetenv(&before);
  mode.enter();
  const unsigned vector_mode = _mm_getcsr() & kModes;
  const std::uint16_t x87_mode = x87_word();
  auto result = act();
  compute_in_x87();
  const bool kept = (_mm_getcsr() & kModes) == vector_mode && x87_word() == x87_mode;
  std::fesetenv(&before);
  EXPECT_TRUE(kept) << mode.name;
  return result;
}

constexpr std::int64_t kCount = 6;
/// Of different magnitudes, two of them subnormal.
constexpr float kValues[kCount] = {0.1F, -1.0F / 3, 1e30F, 3e-5F, 1.1e-40F, -4.9e-42F};
constexpr float kInputs[kCount] = {1e38F, 3e37F, -0.7F, 1.5F, 1e-39F, 2.5F};
constexpr float kTiny = 1.17e-40F;

/// x times a constant that is subnormal, plus the roots of constants, which fold, some of them by way of bf16; and x
/// divided by constants.
Graph graph_of() {
  GraphBuilder b;
  const TensorDesc desc{DType::f32, {kCount}, {}};
  const TensorId x = b.input(desc), constant = b.constant(desc, kValues);
  const TensorId tiny = b.constant({DType::f32, {1}, {}}, &kTiny);
  const TensorId roots = b.op("Sqrt", {b.op("Abs", {constant})});
  b.op("Add", {b.op("Multiply", {x, tiny}), roots});
  b.op("Divide", {x, constant});
  const auto graph = b.finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.value();
}

using Bits = std::array<std::uint32_t, 2 * kCount>;

Bits bits_of(const Result<CompiledPartition>& compiled) {
  Bits bits{};
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return bits;
  const void* const inputs[] = {kInputs};
  void* const outputs[] = {bits.data(), bits.data() + kCount};
  const Status status = compiled.value().execute(inputs, 1, outputs, 2);
  EXPECT_TRUE(status.ok()) << status.message();
  return bits;
}

TEST(FloatMode, OfTheThreadThatCompilesDecidesNothing) {
  const Graph graph = graph_of();
  const Bits expected = bits_of(compile(graph));
  EXPECT_EQ(std::bit_cast<float>(expected[0]), kInputs[0] * kTiny + std::sqrt(kValues[0]));
  for (const Mode& mode : modes()) EXPECT_EQ(bits_of(in(mode, [&] { return compile(graph); })), expected) << mode.name;
}

/// Whose shapes follow from products of floats.
TEST(FloatMode, OfTheThreadThatBuildsDecidesNothing) {
  const auto built = [] {
    GraphBuilder b;
    const TensorId x = b.input({DType::f32, {1, 1, 10, 10}, {}});
    b.op("Interpolate", {x}, {{"mode", "nearest"}, {"data_format", "NCX"}, {"scales", std::vector<double>{0.7, 0.7}}});
    return b.finish();
  };
  for (const Mode& mode : modes()) {
    const Result<Graph> graph = in(mode, built);
    ASSERT_TRUE(graph.ok()) << mode.name << graph.status().message();
    const auto compiled = compile(graph.value());
    ASSERT_TRUE(compiled.ok()) << mode.name << compiled.status().message();
    EXPECT_EQ(compiled.value().outputs()[0].desc.shape, (Dims{1, 1, 7, 7})) << mode.name;
  }
}

/// Sums that overflow raise what the host may trap on.
TEST(FloatMode, ExceptionsOfReferenceStepsAreNotTheHosts) {
  GraphBuilder b;
  b.op("ReduceSum", {b.input({DType::f32, {4}, {}})}, {{"axes", std::vector<std::int64_t>{0}}});
  CompileOptions options;
  options.target = "reference";
  const auto compiled = compile(b.finish().value(), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const float in_values[] = {3e38F, 3e38F, 3.0F, 0.1F};
  float sum = 0;
  for (const Mode& mode : modes()) {
    EXPECT_TRUE(in(mode, [&] { return compiled.value().execute({in_values}, {&sum}); }).ok()) << mode.name;
    EXPECT_TRUE(std::isinf(sum)) << mode.name;
  }
}

TEST(FloatMode, OfTheThreadThatExecutesDecidesNothing) {
  for (const char* const target : {"", "reference"}) {
    CompileOptions options;
    options.target = target;
    const auto compiled = compile(graph_of(), options);
    const Bits expected = bits_of(compiled);
    for (const Mode& mode : modes())
      EXPECT_EQ(in(mode, [&] { return bits_of(compiled); }), expected) << mode.name << ' ' << target;
  }
}

TEST(FloatMode, OfTheThreadThatReadsAndWritesDecidesNothing) {
  const Result<std::string> text = graph_of().to_json();
  ASSERT_TRUE(text.ok()) << text.status().message();
  const Bits expected = bits_of(compile(Graph::from_json(text.value()).value()));
  for (const Mode& mode : modes()) {
    const Result<Graph> read = in(mode, [&] { return Graph::from_json(text.value()); });
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(bits_of(compile(read.value())), expected) << mode.name;
    EXPECT_EQ(in(mode, [&] { return read.value().to_json().value(); }), text.value()) << mode.name;
  }
}

}  // namespace
}  // namespace tenfold

// SPDX-License-Identifier: Apache-2.0
//
// Elements that are only stored, s4, u4 and both kinds of f8, in kernels (compile/lower/narrow_casts.hpp): all of their
// values, in several shapes and layouts, all that is half way between two of f8, and the quantization that graphs have
// them for. All is exact, so that every level must give the reference's bits.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

/// Every number of f32 that has but 7 bits of a fraction, with what lies next to it on either side: all that is half
/// way between two of f8 is among them.
constexpr std::size_t kWords = 3 << 16;
float word(std::size_t i) {
  constexpr std::uint32_t kBehind[] = {0, 1, 0xffff};
  return std::bit_cast<float>(static_cast<std::uint32_t>(i / 3) << 16 | kBehind[i % 3]);
}

/// Inputs of what is only stored have any bytes, one of kWords of f32 those, others numbers.
void check(const std::string& text, bool in_kernels = true) {
  SCOPED_TRACE(text + "seed " + std::to_string(test_seed()));
  Result<graph::Graph> parsed = graph::parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const graph::Graph written = parsed.value();
  ASSERT_TRUE(graph::run_pipeline(parsed.value()).ok());
  std::mt19937_64 random(case_seed("unpack", text.size()));
  std::vector<graph::ConstTensor> inputs;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<Bytes> in;
  for (const graph::ValueId value : written.inputs) {
    const TensorDesc desc = graph::desc_of(written.values[value]);
    const auto size = static_cast<std::size_t>(span_bytes(desc).value());
    buffers.push_back(std::make_unique<GuardedBuffer>(size, GuardedBuffer::Guard::after));
    for (std::size_t i = 0; i < size; ++i) buffers.back()->data()[i] = static_cast<std::byte>(i < 256 ? i : random());
    if (desc.dtype == DType::f32)
      for (std::size_t i = 0; i < size / 4; ++i) {
        const float number = size / 4 == kWords ? word(i) : static_cast<float>(random() % 64) / 16;
        std::memcpy(buffers.back()->data() + 4 * i, &number, sizeof number);
      }
    inputs.push_back({desc, buffers.back()->data()});
    in.push_back({buffers.back()->data(), size});
  }
  const TensorDesc desc = graph::desc_of(written.values[written.outputs[0]]);
  std::vector<std::byte> expected(static_cast<std::size_t>(span_bytes(desc).value()));
  const graph::MutableTensor out[] = {{desc, expected.data()}};
  ASSERT_TRUE(graph::evaluate(written, inputs, out).ok());
  for (const target::Isa isa : all_levels()) {
    target::Target target;
    target.isa = isa;
    const Result<compiler::Compiled> compiled = compiler::compile(parsed.value(), target);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    bool all = true;
    for (const compiler::RegionReport& region : compiled.value().regions)
      all = all && region.kind == compiler::RegionReport::Kind::kernel;
    EXPECT_EQ(all, in_kernels);
    GuardedBuffer got(expected.size(), GuardedBuffer::Guard::after);
    std::memset(got.data(), 0, got.size());
    const Bytes to{got.data(), got.size()};
    const Status ran = run_at(compiled.value().program, isa, in, {&to, 1});
    ASSERT_TRUE(ran.ok()) << ran.message();
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), expected.size()), 0) << target::to_string(isa);
  }
}

std::string cast_of(const std::string& from, const std::string& shape, const std::string& to, const std::string& dims) {
  return "graph {\n %0 = input : " + from + shape + "\n %1 = core.cast (%0) : " + to + dims + "\n output %1\n}\n";
}

class NarrowCasts : public ::testing::Test {
  void SetUp() override {
    if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  }
};

TEST_F(NarrowCasts, HasAllValues) {
  for (const auto& [from, to] : {std::pair{"s4", "s8"}, {"u4", "u8"}, {"f8_e5m2", "f16"}, {"f8_e4m3", "f16"}})
    for (const char* shape : {"[256]", "[512]", "[2]", "[3,5,34]", "[7,2]", "[1,70]", "[2,1]"})
      check(cast_of(from, shape, to, shape));
}

TEST_F(NarrowCasts, LiesAsItDid) {
  for (const auto& [from, to] : {std::pair{"s4", "s8"}, {"u4", "u8"}, {"f8_e5m2", "f16"}, {"f8_e4m3", "f16"}})
    for (const char* shape : {"[6,34]{1,6}", "[3,34]{40,1}", "[2,6,5]{40,1,8}"}) {
      const std::string dims = shape;
      check(cast_of(from, shape, to, shape));
    }
  check(cast_of("s4", "[4,6]{7,1}", "s8", "[4,6]"), false);
  check(cast_of("s4", "[4,6]{1,4}", "s8", "[4,6]"), false);
  check(cast_of("u4", "[3,5]", "u8", "[3,5]"), false);
}

TEST_F(NarrowCasts, IsPacked) {
  for (const char* to : {"f8_e5m2", "f8_e4m3"}) {
    check(cast_of("f32", "[196608]", to, "[196608]"));
    check(cast_of("f32", "[7,30]{40,1}", to, "[7,30]{1,7}"));
    check(std::string("graph {\n %0 = input : f32[196608]\n %1 = onednn.Quantize (%0) {scales = [0.25]} : ") + to +
          "[196608]\n output %1\n}\n");
  }
}

/// By groups of 8 along the last dim, as weights are.
TEST_F(NarrowCasts, IsDequantized) {
  const std::string rest =
      ", %1) {qtype = \"per_group\", group_shape = [1, 8], axis = 1} : f32[12,64]\n output %2\n}\n";
  for (const std::string from : {"s4", "u4"})
    check("graph {\n %0 = input : " + from + "[12,64]\n %1 = input : f32[12,8]\n %2 = onednn.DynamicDequantize (%0" +
          rest);
  for (const std::string from : {"f8_e5m2", "f8_e4m3"})
    check("graph {\n %0 = input : " + from +
          "[12,64]\n %1 = onednn.Dequantize (%0) {scales = [0.5]} : "
          "f32[12,64]\n output %1\n}\n");
}

}  // namespace
}  // namespace tenfold::numeric

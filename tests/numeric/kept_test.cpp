// SPDX-License-Identifier: Apache-2.0
//
// Columns keep the exponentials of a softmax in scratch, a part of a tile at a time. Whatever the parts, the bits are
// those of kernels that keep nothing there, also where an output is its own input; and with the emulator, which knows
// each byte that a kernel may touch, nothing else is touched. Where an output keeps elements, and is its own input, a
// pass that takes them again finds no input left.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "compile/compile.hpp"
#include "compile/tuning.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "prepared_case.hpp"
#include "schedule/neighbours.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

struct Shape {
  std::int64_t outer, rows, columns, part;  ///< and the part that is to be expected
};

/// Elements of f32 are kept where outputs go around the caches, which takes rows that lie on lines.
Shape shape_for(const std::string& dtype, Shape shape) {
  if (dtype == "f32") shape.columns = (shape.columns + 15) / 16 * 16;
  return shape;
}

std::string softmax(const std::string& dtype, const Shape& shape) {
  const auto dims = [&](std::int64_t rows) {
    return "[" + std::to_string(shape.outer) + "," + std::to_string(rows) + "," + std::to_string(shape.columns) + "]";
  };
  const std::string all = " : f32" + dims(shape.rows) + "\n", row = " : f32" + dims(1) + "\n",
                    own = " : " + dtype + dims(shape.rows) + "\n", reduce = "keep_dims = true, axes = [1]}";
  return "graph {\n %0 = input" + own + " %1 = core.cast (%0)" + all + " %2 = core.reduce (%1) {reduction = \"max\", " +
         reduce + row + " %3 = core.map (%1, %2) {function = \"sub\"}" + all +
         " %4 = core.map (%3) {function = \"exp\"}" + all + " %5 = core.reduce (%4) {reduction = \"sum\", " + reduce +
         row + " %6 = core.map (%4, %5) {function = \"div\"}" + all + " %7 = core.cast (%6)" + own + " output %7\n}\n";
}

struct Kernels {
  compiler::Compiled keeps, plain;
};

/// Compiled as the heuristic wants it, and as its neighbour that keeps nothing.
void compile(const std::string& text, target::Isa isa, bool around, const Shape& shape, std::optional<Kernels>& made) {
  Result<graph::Graph> graph = graph::parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
  target::Target target;
  target.isa = isa;
  if (around) target.l2_bytes = target.l3_bytes = 0;
  Result<compiler::Compiled> keeps = compiler::compile(graph.value(), target);
  ASSERT_TRUE(keeps.ok()) << keeps.status().message();
  compiler::Tuning tuning;
  for (const compiler::RegionReport& region : keeps.value().regions)
    for (const auto& kernel : region.kernels) {
      EXPECT_EQ(kernel.schedule.part, shape.part) << print(kernel.schedule);
      schedule::Schedule plain = kernel.schedule;
      plain.keep = plain.part = 0;
      plain.around = false;
      ASSERT_TRUE(schedule::is_neighbour(kernel.spec, kernel.schedule, plain));
      tuning.add(kernel.spec, target.cores, plain);
    }
  Result<compiler::Compiled> plain = compiler::compile(graph.value(), target, {.tuning = &tuning});
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_EQ(plain.value().regions.size(), 1U);
  EXPECT_EQ(plain.value().regions[0].kernels[0].schedule.keep, 0);
  made.emplace(Kernels{std::move(keeps.value()), std::move(plain.value())});
}

using Elements = std::vector<std::byte>;

Status run(const compiler::Compiled& compiled, target::Isa isa, Elements& in, Elements& out) {
  const Bytes in_bytes{in.data(), in.size()}, out_bytes{out.data(), out.size()};
  return run_at(compiled.program, isa, {&in_bytes, 1}, {&out_bytes, 1});
}

/// Elements near 0, some far, and one in 4096 without a number.
Elements input_of(const std::string& dtype, std::size_t count) {
  std::mt19937_64 random(test_seed());
  const std::size_t bytes = dtype == "f32" ? 4 : 2;
  Elements in(count * bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const auto value = static_cast<float>(static_cast<double>(bits >> 16) * 0x1p-44 - 8);
    std::uint32_t pattern = 0;
    std::memcpy(&pattern, &value, 4);
    if (dtype == "f16")
      pattern = static_cast<std::uint32_t>((bits & 0x8000) | (0x3000 + ((bits >> 16) & 0x1fff))) << 16;
    if (bits % 4096 == 0) pattern = bits & 0x10000 ? 0x7fc00000 : 0xff800000;
    std::memcpy(in.data() + i * bytes, reinterpret_cast<const std::byte*>(&pattern) + (4 - bytes), bytes);
  }
  return in;
}

class Kept : public ::testing::TestWithParam<const char*> {};

TEST_P(Kept, WhatScratchKeepsOfColumnsDoesNotShowInTheBits) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const std::string dtype = GetParam();
  for (const target::Isa isa : all_levels())
    for (const Shape& drawn :
         {Shape{1, 600, 530, 512}, Shape{2, 130, 50, 1024}, Shape{1, 4100, 70, 64}, Shape{1, 2049, 300, 128}}) {
      const Shape shape = shape_for(dtype, drawn);
      for (const bool around : {false, true}) {
        if (dtype == "f32" && !around && shape.part < 1024) continue;  // the output keeps them
        SCOPED_TRACE(std::string(target::to_string(isa)) + ", rows " + std::to_string(shape.rows) + ", seed " +
                     std::to_string(test_seed()));
        std::optional<Kernels> kernels;
        compile(softmax(dtype, shape), isa, around, shape, kernels);
        ASSERT_TRUE(kernels.has_value());
        Elements in = input_of(dtype, static_cast<std::size_t>(shape.outer * shape.rows * shape.columns));
        Elements expected(in.size()), got(in.size());
        ASSERT_TRUE(run(kernels->plain, isa, in, expected).ok());
        const Status status = run(kernels->keeps, isa, in, got);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(expected == got);
        if (std::ranges::count(native_levels(), isa) == 0) break;
        Bytes bytes{got.data(), got.size()}, from{in.data(), in.size()};
        if (drawn.columns == 50) {
          const Status emulated = emulated_run(kernels->keeps.program, isa, {&from, 1}, {&bytes, 1});
          ASSERT_TRUE(emulated.ok()) << emulated.message();
          EXPECT_TRUE(expected == got) << "emulated";
        }
        ASSERT_TRUE(run(kernels->keeps, isa, in, in).ok());
        EXPECT_TRUE(expected == in) << "in place";
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Columns, Kept, ::testing::Values("f32", "bf16", "f16"),
                         [](const auto& at) { return std::string(at.param); });

/// What is made of the exponentials of rows, or columns, of [outer, rows, columns].
struct Again {
  const char* name;
  Shape shape;
  std::string axis;
  std::string body;  ///< of %1, its own shape being S, that of a value for each row R
};

std::string text_of(const Again& of) {
  const auto dims = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return " : f32[" + std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c) + "]\n";
  };
  const auto& [outer, rows, columns, part] = of.shape;
  const std::string all = dims(outer, rows, columns),
                    row = of.axis == "1" ? dims(outer, 1, columns) : dims(outer, rows, 1);
  std::string text =
      "graph {\n %0 = input : S %1 = core.map (%0) {function = \"exp\"} : S" + of.body + " output %9\n}\n";
  const auto put = [&text](const std::string& name, const std::string& with) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + with.size()))
      text.replace(at, name.size(), with);
  };
  put(" : S", all);
  put(" : R", row);
  put("= A", "= " + of.axis);
  put("[A]", "[" + of.axis + "]");
  return text;
}

const std::string kNorm =
    " %2 = core.reduce (%1) {reduction = \"mean\", axes = [A], keep_dims = true} : R %3 = core.map (%1, %2) {function "
    "= "
    "\"sub\"} : S %4 = core.map (%3) {function = \"square\"} : S %5 = core.reduce (%4) {reduction = \"mean\", axes = "
    "[A], "
    "keep_dims = true} : R %6 = core.map (%5) {function = \"sqrt\"} : R %9 = core.map (%3, %6) {function = \"div\"} : "
    "S";
const std::string kLogSoftmax = " %9 = onednn.LogSoftmax (%1) {axis = A} : S";

/// Exponentials of 1 to 2.7, but up to 20 times as much at the beginning of rows, where pilots are made, and up to 148
/// in every third column, which is too much for powers of it; and an infinite one.
TEST(KeptAgain, APassThatTakesElementsAgainInPlaceGivesTheSameBits) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  for (const Again& of :
       {Again{"norm of rows", {1, 6, 1024, 0}, "2", kNorm}, Again{"norm of long rows", {2, 3, 4096, 0}, "2", kNorm},
        Again{"norm of columns", {1, 300, 48, 0}, "1", kNorm},
        Again{"log-softmax of columns", {1, 300, 48, 0}, "1", kLogSoftmax},
        Again{"log-softmax of rows", {1, 6, 1024, 0}, "2", kLogSoftmax}}) {
    Result<graph::Graph> graph = graph::parse(text_of(of));
    ASSERT_TRUE(graph.ok()) << graph.status().message() << text_of(of);
    ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
    const auto columns = static_cast<std::size_t>(of.shape.columns);
    std::mt19937_64 random(test_seed());
    std::vector<float> elements(static_cast<std::size_t>(of.shape.outer * of.shape.rows) * columns);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const bool is_first = of.axis == "2" && i % columns < 200, is_third = of.axis == "1" && i % 3 == 0;
      elements[i] = static_cast<float>(random() >> 40) * 0x1p-24F + (is_first ? 3 : is_third ? 4 : 0);
    }
    elements[elements.size() / 2] = 1000;
    Elements in(elements.size() * sizeof(float));
    std::memcpy(in.data(), elements.data(), in.size());
    for (const target::Isa isa : all_levels()) {
      SCOPED_TRACE(std::string(of.name) + ", " + std::string(target::to_string(isa)) + ", seed " +
                   std::to_string(test_seed()));
      target::Target target;
      target.isa = isa;
      const Result<compiler::Compiled> compiled = compiler::compile(graph.value(), target);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message();
      Elements apart(in.size()), both = in, from = in;
      ASSERT_TRUE(run(compiled.value(), isa, from, apart).ok());
      ASSERT_TRUE(run(compiled.value(), isa, both, both).ok());
      EXPECT_TRUE(apart == both);
    }
  }
}

}  // namespace
}  // namespace tenfold::numeric

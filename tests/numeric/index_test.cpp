// SPDX-License-Identifier: Apache-2.0
//
// Arg-reductions among other ops (jit/stage/numbered.hpp, compile/plan/plain_indices.hpp): behind elementwise ops,
// beside other reductions and with more behind them, over rows, columns, blocks and short rows, of elements with many
// ties, zeros of both signs, infinities and NaNs of either sign. All that is asked is exact, so that every level must
// give the reference's bits; and that of NaN, which a second look finds, at every place of a row.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/element.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "graph_text.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

using Place = MiddleReduced;
constexpr Place kPlaces[] = {{9, 1030, 1}, {3, 257, 1}, {40, 31, 1}, {100, 7, 1}, {33, 48, 1}, {1, 40, 70},
                             {1, 300, 33}, {5, 33, 20}, {40, 20, 3}, {64, 5, 2},  {1, 1000, 8}};

/// Of the tensor %0 and of %1, one number a row; values of elements have the type W, those of rows R, indices I.
struct Body {
  const char* name;
  const char* ops;
  const char* outputs;
};
constexpr Body kBodies[] = {
    {"of magnitudes", " %2 = core.map (%0) {function = \"abs\"} : W\n %3 = core.arg_reduce (%2) {argmax} : I\n", "%3"},
    {"of what is less than a row's number",
     " %2 = core.map (%0, %1) {function = \"min\"} : W\n %3 = core.arg_reduce (%2) {last argmax} : I\n"
     " %4 = core.arg_reduce (%2) {argmin} : I\n",
     "%3, %4"},
    {"beside both extremes",
     " %3 = core.arg_reduce (%0) {argmin} : I\n %4 = core.reduce (%0) {max} : R\n %5 = core.reduce (%0) {min} : R\n",
     "%3, %4, %5"},
    {"of negations, beside the elements less their maximum",
     " %2 = core.map (%0) {function = \"neg\"} : W\n %3 = core.arg_reduce (%2) {last argmin} : I\n"
     " %4 = core.reduce (%0) {max} : R\n %5 = core.map (%0, %4) {function = \"min\"} : W\n",
     "%3, %5"},
    {"doubled, and alone",
     " %3 = core.arg_reduce (%0) {argmax} : I\n %4 = core.map (%3, %3) {function = \"add\"} : I\n"
     " %5 = core.arg_reduce (%0) {last argmax} : I\n",
     "%4, %5"}};

std::string text_of(const Body& body, const Place& place, DType dtype) {
  std::string text = body.ops;
  for (const std::string mode : {"argmax", "argmin"})
    for (const std::string last : {"", "last "})
      replace_all(
          text, "{" + last + mode + "}",
          "{mode = \"" + mode + "\", axis = 1, keep_dims = true, select_last = " + (last.empty() ? "false}" : "true}"));
  spell_reductions(text);
  replace_all(text, ": R", ": " + place.type(dtype, 1));
  replace_all(text, ": W", ": " + place.type(dtype, place.reduced));
  replace_all(text, ": I", ": " + place.type(DType::s64, 1));
  return "graph {\n %0 = input : " + place.type(dtype, place.reduced) + "\n %1 = input : " + place.type(dtype, 1) +
         "\n" + text + " output " + body.outputs + "\n}\n";
}

/// Few of them, so that most are equal to others. Extreme ones: floats may be anything, integers the least and
/// greatest.
enum class Numbers { small, extreme, zeros };
double drawn(DType dtype, Numbers numbers, std::mt19937_64& random) {
  if (numbers == Numbers::zeros) return random() % 2 == 0 ? 0.0 : -0.0;
  const bool special = numbers == Numbers::extreme;
  const double infinity = std::numeric_limits<double>::infinity();
  if (!is_floating(dtype)) {
    const bool is_signed = row(dtype).kind == DTypeKind::signed_integer;
    const double half = std::ldexp(1.0, 8 * byte_size(dtype) - 1), least = is_signed ? -half : 0;
    const double values[] = {least, least + half - 1, least + half, 1, 2, least + 2 * half - (half > 1e9 ? 4096 : 1)};
    return values[random() % (special ? std::size(values) : 2) + (special ? 0 : 3)];
  }
  if (!special) return static_cast<double>(random() % 9) - 4;
  const double values[] = {0.0, -0.0, infinity, -infinity, 1, -1, std::nan("")};
  return values[random() % std::size(values)];
}

class Index : public ::testing::TestWithParam<DType> {
 protected:
  std::vector<std::byte> data(std::size_t elements, Numbers numbers) {
    const auto bytes = static_cast<std::size_t>(byte_size(GetParam()));
    std::vector<std::byte> made(elements * bytes);
    for (std::size_t i = 0; i < elements; ++i)
      graph::store_real(GetParam(), made.data(), static_cast<std::int64_t>(i), drawn(GetParam(), numbers, random_));
    return made;
  }

  /// Whether every level gives the reference's bits.
  void check(const std::string& text, std::vector<std::vector<std::byte>> data) {
    Result<graph::Graph> parsed = graph::parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    const graph::Graph written = parsed.value();
    ASSERT_TRUE(graph::run_pipeline(parsed.value()).ok());
    std::vector<graph::ConstTensor> inputs;
    std::vector<Bytes> in, out;
    // Passes drop what nothing reads.
    for (std::size_t i = 0; i < written.inputs.size(); ++i)
      inputs.push_back({graph::desc_of(written.values[written.inputs[i]]), data[i].data()});
    for (const graph::ValueId own : parsed.value().inputs)
      for (std::size_t i = 0; i < written.inputs.size(); ++i)
        if (written.values[written.inputs[i]].id == parsed.value().values[own].id)
          in.push_back({data[i].data(), data[i].size()});
    std::vector<std::vector<std::byte>> expected, got;
    for (const graph::ValueId value : written.outputs) {
      const TensorDesc desc = graph::desc_of(written.values[value]);
      expected.emplace_back(static_cast<std::size_t>(numel(desc.shape).value() * byte_size(desc.dtype)));
    }
    got = expected;
    std::vector<graph::MutableTensor> outputs;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      outputs.push_back({graph::desc_of(written.values[written.outputs[i]]), expected[i].data()});
      out.push_back({got[i].data(), got[i].size()});
    }
    ASSERT_TRUE(graph::evaluate(written, inputs, outputs).ok());
    for (const target::Isa isa : all_levels()) {
      target::Target target;
      target.isa = isa;
      const Result<compiler::Compiled> compiled = compiler::compile(parsed.value(), target);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message();
      for (const compiler::RegionReport& region : compiled.value().regions) {
        ASSERT_NE(region.kind, compiler::RegionReport::Kind::reference) << region.reason;
        fused_ += region.ops.size() > 1 ? 1 : 0;
        for (const compiler::KernelReport& kernel : region.kernels)
          staged_ += schedule::is_staged(kernel.schedule.nest) ? 1 : 0;
      }
      ASSERT_TRUE(run_at(compiled.value().program, isa, in, out).ok());
      ASSERT_EQ(got, expected) << target::to_string(isa);
    }
  }

  std::mt19937_64 random_{case_seed("index", static_cast<std::uint64_t>(GetParam()))};
  int fused_ = 0, staged_ = 0;
};

TEST_P(Index, HasTheReferencesBitsOnEveryLevel) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  for (const Body& body : kBodies)
    for (const Place& place : kPlaces)
      for (const Numbers numbers : {Numbers::small, Numbers::extreme, Numbers::zeros}) {
        const std::string text = text_of(body, place, GetParam());
        SCOPED_TRACE(std::string(body.name) + ", seed " + std::to_string(test_seed()) + "\n" + text);
        const std::size_t rows = place.outer * place.inner;
        ASSERT_NO_FATAL_FAILURE(check(text, {data(rows * place.reduced, numbers), data(rows, numbers)}));
      }
  EXPECT_GT(fused_, 100);
  EXPECT_GT(staged_, 50);
}

/// The first, or the last, of one or two NaNs, wherever they are.
TEST_P(Index, FindsNanAtEveryPlace) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  if (!is_floating(GetParam())) GTEST_SKIP() << "NOT RUN: integers have no NaN";
  constexpr std::size_t kWidth = 70;
  for (const Place& place : {Place{kWidth, kWidth, 1}, Place{1, kWidth, kWidth}}) {
    const std::string text = text_of(kBodies[1], place, GetParam());
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + "\n" + text);
    std::vector<std::byte> x = data(kWidth * kWidth, Numbers::small);
    const auto put = [&](std::size_t row, std::size_t at) {
      const std::size_t index = place.inner == 1 ? row * kWidth + at : at * kWidth + row;
      graph::store_real(GetParam(), x.data(), static_cast<std::int64_t>(index), std::nan(""));
    };
    for (std::size_t row = 0; row < kWidth; ++row) {
      put(row, row);
      if (row % 2 == 1) put(row, random_() % kWidth);
    }
    ASSERT_NO_FATAL_FAILURE(check(text, {x, data(kWidth, Numbers::small)}));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Index,
                         ::testing::Values(DType::f32, DType::bf16, DType::f16, DType::f64, DType::s32, DType::u32,
                                           DType::s8, DType::u8, DType::s64),
                         [](const auto& at) { return std::string(to_string(at.param)); });

}  // namespace
}  // namespace tenfold::numeric

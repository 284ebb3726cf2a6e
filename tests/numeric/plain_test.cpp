// SPDX-License-Identifier: Apache-2.0
//
// Plain reductions that are kernels of their own (compile/plan/plain_reductions.hpp), with a kernel of rows behind them
// and without, within the reference's bounds and with the same bits on every level: of packed rows, of rows and columns
// of narrow elements, of blocks, of rows that are split.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/bound.hpp"
#include "graph/eval/element.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "graph_text.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

using Place = MiddleReduced;
constexpr Place kPlaces[] = {{40, 49, 1}, {100, 7, 1},  {32, 16, 1}, {20, 100, 1}, {17, 700, 1},   {9, 1030, 1},
                             {1, 40, 70}, {1, 300, 33}, {6, 33, 40}, {40, 20, 3},  {1, 200'000, 1}};
/// Of %1, the tensor's rows, whose dims that are kept have the type R: what is stored, and how many kernels.
struct Body {
  const char* name;
  const char* ops;
  const char* outputs;
};
constexpr Body kBodies[] = {
    {"scaled mean", " %3 = core.reduce (%0) {mean} : R\n %4 = core.map (%3, %1) {function = \"mul\"} : R\n", "%4"},
    {"maximum, and its sigmoid", " %3 = core.reduce (%0) {max} : R\n %4 = core.map (%3) {function = \"sigmoid\"} : R\n",
     "%3, %4"},
    {"mean and maximum", " %3 = core.reduce (%0) {mean} : R\n %4 = core.reduce (%0) {max} : R\n", "%3, %4"},
    {"norm beside a minimum, subtracted",
     " %3 = core.reduce (%0) {l2} : R\n %4 = core.reduce (%0) {min} : R\n"
     " %5 = core.map (%3, %4) {function = \"sub\"} : R\n",
     "%5"},
    {"magnitude, divided",
     " %2 = core.map (%0) {function = \"abs\"} : W\n %3 = core.reduce (%2) {max} : R\n"
     " %4 = core.map (%3, %1) {function = \"div\"} : R\n",
     "%4"}};

std::string text_of(const Body& body, const Place& place, DType dtype) {
  std::string text = body.ops;
  spell_reductions(text);
  replace_all(text, ": R", ": " + place.type(dtype, 1));
  replace_all(text, ": W", ": " + place.type(dtype, place.reduced));
  return "graph {\n %0 = input : " + place.type(dtype, place.reduced) + "\n %1 = input : " + place.type(dtype, 1) +
         "\n" + text + " output " + body.outputs + "\n}\n";
}

class Plain : public ::testing::TestWithParam<DType> {};

TEST_P(Plain, AgreesWithTheReferenceOnEveryLevel) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const DType dtype = GetParam();
  const auto bytes = static_cast<std::size_t>(byte_size(dtype));
  std::mt19937_64 random(case_seed("plain", static_cast<std::uint64_t>(dtype)));
  std::normal_distribution<double> normal(0.1, 1);
  int several = 0;
  for (const Body& body : kBodies)
    for (const Place& place : kPlaces) {
      const std::string text = text_of(body, place, dtype);
      SCOPED_TRACE(std::string(body.name) + ", seed " + std::to_string(test_seed()) + "\n" + text);
      Result<graph::Graph> parsed = graph::parse(text);
      ASSERT_TRUE(parsed.ok()) << parsed.status().message();
      const graph::Graph written = parsed.value();
      ASSERT_TRUE(graph::run_pipeline(parsed.value()).ok());
      const std::size_t rows = place.outer * place.inner;
      std::vector<std::byte> x(rows * place.reduced * bytes), y(rows * bytes);
      for (std::vector<std::byte>* data : {&x, &y})
        for (std::size_t i = 0; i < data->size() / bytes; ++i)
          graph::store_real(dtype, data->data(), static_cast<std::int64_t>(i), normal(random));
      const bool nan = random() % 3 == 0;
      if (nan)
        graph::store_real(dtype, x.data(), static_cast<std::int64_t>(random() % (x.size() / bytes)), std::nan(""));
      std::vector<graph::ConstTensor> inputs;
      std::vector<Bytes> in, out;
      for (std::size_t i = 0; i < written.inputs.size(); ++i) {
        std::vector<std::byte>& data = i == 0 ? x : y;
        inputs.push_back({graph::desc_of(written.values[written.inputs[i]]), data.data()});
        in.push_back({data.data(), data.size()});
      }
      std::vector<std::vector<std::byte>> expected(written.outputs.size(), std::vector<std::byte>(rows * bytes)),
          got = expected, first;
      std::vector<graph::MutableTensor> outputs;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        outputs.push_back({graph::desc_of(written.values[written.outputs[i]]), expected[i].data()});
        out.push_back({got[i].data(), got[i].size()});
      }
      std::vector<std::vector<double>> bounds;
      ASSERT_TRUE(graph::evaluate_with_bounds(written, inputs, outputs, bounds).ok());
      for (const target::Isa isa : all_levels()) {
        target::Target target;
        target.isa = isa;
        const Result<compiler::Compiled> compiled = compiler::compile(parsed.value(), target);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        ASSERT_EQ(compiled.value().regions.size(), 1U);
        several += compiled.value().regions[0].kernels.size() > 1 ? 1 : 0;
        ASSERT_TRUE(run_at(compiled.value().program, isa, in, out).ok());
        if (first.empty()) first = got;
        ASSERT_EQ(got, first) << target::to_string(isa);
      }
      for (std::size_t i = 0; i < got.size(); ++i)
        for (std::size_t r = 0; r < rows; ++r) {
          const auto at = static_cast<std::int64_t>(r);
          const double want = graph::load_real(dtype, expected[i].data(), at);
          ASSERT_TRUE(graph::agree(dtype, want, graph::load_real(dtype, got[i].data(), at),
                                   bounds[i].empty() ? 0 : bounds[i][r]))
              << "output " << i << ", row " << r << ": " << graph::load_real(dtype, got[i].data(), at) << ", not "
              << want;
        }
    }
  EXPECT_GT(several, 30) << "most are one kernel";
}

INSTANTIATE_TEST_SUITE_P(All, Plain, ::testing::Values(DType::f32, DType::bf16, DType::f16, DType::f64),
                         [](const auto& at) { return std::string(to_string(at.param)); });

}  // namespace
}  // namespace tenfold::numeric

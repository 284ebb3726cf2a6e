// SPDX-License-Identifier: Apache-2.0
//
// Kernels of every instruction-set level in the emulator, on random reductions: right within the bounds, the same bits
// on every level and as this machine's own run, no byte touched beyond operands and scratch, no instruction above the
// level. A level whose program is that of a lower one, byte for byte, is not run again.
#include <gtest/gtest.h>

#include <cstdio>

#include "compile/compile.hpp"
#include "coverage.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/pass/pass.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::int64_t kCasesPerTest = 300;
constexpr int kMostFailures = 3;
/// Emulation is some hundred times slower than the CPU; the rare large ones are there for blocks and splits.
constexpr Sizes kSizes{.usual = 3000, .rare = 100'000, .rare_every = 50};

class Emulated : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  }
  static Result<compiler::Compiled> compile_for(const graph::Graph& core, target::Isa isa) {
    target::Target target = target::host().ok() ? target::host().value() : target::Target{};
    target.isa = isa;
    return compiler::compile(core, target);
  }

  std::string run(const PreparedCase& c, const runtime::Program& program, target::Isa isa, GuardedBuffer::Guard guard,
                  Elements& elements) {
    const auto output = c.make_output(guard);
    const Bytes in{c.input(guard).data(), c.input(guard).size()}, out{output->data(), output->size()};
    const Status status = emulated_run(program, isa, {&in, 1}, {&out, 1});
    if (!status.ok()) return status.message();
    elements = c.elements(*output);
    return c.judge(*output);
  }

  void check(const ReductionCase& drawn, std::uint64_t index) {
    const std::string where = drawn.describe() + "\n" + drawn.json() + "\n" + repeat_line(test_name(), index);
    const auto made = PreparedCase::make(drawn);
    ASSERT_TRUE(made.ok()) << made.status().message() << "\n" << where;
    const PreparedCase& c = *made.value();
    graph::Graph core = c.graph().ir();
    const Status passes = graph::run_pipeline(core);
    ASSERT_TRUE(passes.ok()) << passes.message() << "\n" << where;
    const auto guard = index % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    Elements first = run_natively(c, guard);
    std::vector<compiler::Compiled> ran;
    for (const target::Isa isa : all_levels()) {
      Result<compiler::Compiled> compiled = compile_for(core, isa);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << where;
      coverage_.count(drawn.op, "", compiled.value(), isa);
      const auto same = [&](const compiler::Compiled& r) { return same_program(r.program, compiled.value().program); };
      if (std::ranges::any_of(ran, same)) continue;
      ran.push_back(std::move(compiled).value());
      Elements got;
      const std::string wrong = run(c, ran.back().program, isa, guard, got);
      ASSERT_EQ(wrong, "") << "emulated " << target::to_string(isa) << "\n" << where;
      if (first.empty()) first = got;
      ASSERT_EQ(difference(GetParam().dtype, got, first), "")
          << "emulated " << target::to_string(isa) << " gives other bits\n"
          << where;
    }
  }

  /// On the best level of the machine; empty when it has none.
  Elements run_natively(const PreparedCase& c, GuardedBuffer::Guard guard) {
    if (native_levels().empty()) return {};
    CompileOptions options;
    options.threads = 1;
    const Result<CompiledPartition> partition = compile(c.graph(), options);
    if (!partition.ok()) return {};
    const auto output = c.make_output(guard);
    const Status status = partition.value().execute({c.input(guard).data()}, {static_cast<void*>(output->data())});
    EXPECT_TRUE(status.ok()) << status.message();
    return c.elements(*output);
  }

  Coverage coverage_;
};

TEST_P(Emulated, AgreeWithTheReference) {
  const std::int64_t cases = scaled_cases(kCasesPerTest);
  int failures = 0;
  for (std::int64_t i = 0; i < cases && failures < kMostFailures; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    check(random_case(GetParam().op, GetParam().dtype, kSizes, random), index);
    if (HasFatalFailure()) ++failures;
  }
  const std::string title = std::to_string(cases) + " cases of " + GetParam().op + " " +
                            std::string(to_string(GetParam().dtype)) + ", seed " + std::to_string(test_seed());
  std::fputs(coverage_.table(title, all_levels()).c_str(), stdout);
}

INSTANTIATE_TEST_SUITE_P(Random, Emulated, ::testing::ValuesIn(subjects()), subject_name);

}  // namespace
}  // namespace tenfold::numeric

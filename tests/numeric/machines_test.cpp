// SPDX-License-Identifier: Apache-2.0
//
// Random reductions under the schedules of machines drawn at random, with other caches and more cores than this one:
// what a machine is decides how a kernel reads, and no bit of what it gives.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "prepared_case.hpp"
#include "runtime/program.hpp"
#include "settings.hpp"
#include "subjects.hpp"
#include "test_pool.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::int64_t kCasesPerTest = 240;
constexpr int kMachines = 4, kMostFailures = 5;

target::Target drawn_machine(target::Isa isa, std::mt19937_64& random) {
  const auto one_of = [&random](auto... all) {
    const std::common_type_t<decltype(all)...> values[] = {all...};
    return values[random() % sizeof...(all)];
  };
  target::Target machine;
  machine.isa = machine.native = isa;
  machine.cores = one_of(1, 2, 3, 9, 64);
  machine.l3 = one_of(target::L3::near, target::L3::far, target::L3::fast, target::L3::late);
  machine.l1_bytes = one_of(32 << 10, 48 << 10);
  // Small ones besides, which the cases here do not fit.
  machine.l2_bytes = one_of(0, 16 << 10, 256 << 10, 2 << 20);
  machine.l3_bytes = one_of(0, 64 << 10, 1 << 20, 32 << 20);
  return machine;
}

std::string said(const target::Target& machine) {
  return std::string(target::to_string(machine.isa)) + ", " + std::to_string(machine.cores) + " cores, L1 of " +
         std::to_string(machine.l1_bytes) + ", L2 of " + std::to_string(machine.l2_bytes) + ", L3 of " +
         std::to_string(machine.l3_bytes) + ", of kind " + std::to_string(static_cast<int>(machine.l3));
}

class Machines : public ::testing::TestWithParam<Subject> {
 protected:
  std::string run(const PreparedCase& c, const graph::Graph& core, const target::Target& machine, int threads,
                  Elements& elements) {
    const Result<compiler::Compiled> compiled = compiler::compile(core, machine);
    if (!compiled.ok()) return "compile: " + compiled.status().message();
    for (const compiler::RegionReport& region : compiled.value().regions)
      for (const compiler::KernelReport& kernel : region.kernels) ++schedules_[schedule::print(kernel.schedule)];
    const auto guard = threads == 1 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    const auto output = c.make_output(guard);
    const void* const in = c.input(guard).data();
    void* const out = output->data();
    const Status status =
        runtime::run(compiled.value().program, {&in, 1}, {&out, 1}, threads == 1 ? nullptr : &pool_, threads);
    if (!status.ok()) return "run: " + status.message();
    elements = c.elements(*output);
    return c.judge(*output);
  }

  void check(const ReductionCase& drawn, std::uint64_t index, std::mt19937_64& random) {
    const std::string where = drawn.describe() + "\n" + drawn.json() + "\n" + repeat_line(test_name(), index);
    const Result<std::unique_ptr<PreparedCase>> made = PreparedCase::make(drawn);
    ASSERT_TRUE(made.ok()) << made.status().message() << "\n" << where;
    const PreparedCase& c = *made.value();
    graph::Graph core = c.graph().ir();
    const Status status = graph::run_pipeline(core);
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << where;
    Elements first;
    for (const target::Isa isa : native_levels())
      for (int i = 0; i < kMachines; ++i) {
        const target::Target machine = drawn_machine(isa, random);
        Elements got;
        const std::string wrong = run(c, core, machine, i % 2 == 0 ? 1 : 2, got);
        ASSERT_EQ(wrong, "") << said(machine) << "\n" << where;
        if (first.empty()) first = got;
        ASSERT_EQ(difference(GetParam().dtype, got, first), "") << "other bits on: " << said(machine) << "\n" << where;
      }
  }

  TestPool pool_{2};
  std::map<std::string, std::int64_t> schedules_;
};

TEST_P(Machines, DecideNoBit) {
  if (native_levels().empty()) GTEST_SKIP() << "NOT RUN: this machine runs no kernels";
  const std::int64_t cases = scaled_cases(kCasesPerTest);
  int failures = 0;
  for (std::int64_t i = 0; i < cases && failures < kMostFailures; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const ReductionCase drawn = random_case(GetParam().op, GetParam().dtype, Sizes{}, random);
    check(drawn, index, random);
    if (HasFatalFailure()) ++failures;
  }
  std::printf("%lld cases of %s %s, %zu schedules, seed %llu\n", static_cast<long long>(cases), GetParam().op,
              std::string(to_string(GetParam().dtype)).c_str(), schedules_.size(),
              static_cast<unsigned long long>(test_seed()));
  if (!only_case() && failures == 0 && cases >= kCasesPerTest) {
    EXPECT_GT(schedules_.size(), 40U);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Machines, ::testing::ValuesIn(subjects()), subject_name);

}  // namespace
}  // namespace tenfold::numeric

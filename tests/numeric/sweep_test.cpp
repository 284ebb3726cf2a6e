// SPDX-License-Identifier: Apache-2.0
//
// Special values at every index of a row and of a column, from the first lane to past four vectors: NaNs of both signs,
// infinities, zeros and extremes must come out, or not, wherever they stand. Native levels through the API; the others
// in the emulator where it is built, those with the same machine code once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include "prepared_case.hpp"
#include "subjects.hpp"
#ifdef TENFOLD_EMULATED
#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/pass/pass.hpp"
#endif

namespace tenfold::numeric {
namespace {

using Guard = GuardedBuffer::Guard;

/// Something that runs the case's graph into an output.
struct Runner {
  std::string name;
  std::function<Status(const PreparedCase&, GuardedBuffer&)> run;
};

std::vector<Runner> native_runners(const Graph& graph) {
  std::vector<Runner> runners;
  for (const target::Isa isa : native_levels()) {
    CompileOptions options;
    options.target = target::to_string(isa);
    options.threads = 1;
    const Result<CompiledPartition> partition = compile(graph, options);
    EXPECT_TRUE(partition.ok()) << partition.status().message();
    if (!partition.ok()) continue;
    runners.push_back({options.target, [p = partition.value()](const PreparedCase& c, GuardedBuffer& output) {
                         return p.execute({c.input(Guard::after).data()}, {static_cast<void*>(output.data())});
                       }});
  }
  return runners;
}

#ifdef TENFOLD_EMULATED
std::vector<Runner> emulated_runners(const Graph& graph) {
  std::vector<Runner> runners;
  graph::Graph core = graph.ir();
  const Status passes = graph::run_pipeline(core);
  EXPECT_TRUE(passes.ok()) << passes.message();
  std::vector<std::shared_ptr<compiler::Compiled>> different;
  for (const target::Isa isa : all_levels()) {
    if (!emulator::can_emulate() || isa == target::Isa::avx2) continue;
    target::Target target = target::host().ok() ? target::host().value() : target::Target{};
    target.isa = isa;
    Result<compiler::Compiled> compiled = compiler::compile(core, target);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    if (!compiled.ok()) continue;
    auto shared = std::make_shared<compiler::Compiled>(std::move(compiled).value());
    const auto same = [&](const auto& other) { return same_program(other->program, shared->program); };
    if (std::ranges::any_of(different, same)) continue;
    different.push_back(shared);
    runners.push_back({"emulated " + std::string(target::to_string(isa)),
                       [shared, isa](const PreparedCase& c, GuardedBuffer& output) {
                         const Bytes in{c.input(Guard::after).data(), c.input(Guard::after).size()};
                         const Bytes out{output.data(), output.size()};
                         return emulated_run(shared->program, isa, {&in, 1}, {&out, 1});
                       }});
  }
  return runners;
}
#else
std::vector<Runner> emulated_runners(const Graph&) { return {}; }
#endif

/// Two rows of `length`, or `length` steps of 35 columns.
ReductionCase make_case(const Subject& subject, bool rows, std::int64_t length) {
  ReductionCase c;
  c.op = subject.op;
  c.input =
      rows ? TensorDesc{subject.dtype, {2, length}, {length, 1}} : TensorDesc{subject.dtype, {length, 35}, {35, 1}};
  c.output = TensorDesc{subject.dtype, {rows ? 2 : 35}, {1}};
  c.axes = {rows ? 1 : 0};
  c.values = Values::positive;
  c.data_seed = 11;
  return c;
}

class Sweep : public ::testing::TestWithParam<Subject> {
 protected:
  void sweep(bool rows) {
    const int lanes = 64 / byte_size(GetParam().dtype);
    const std::int64_t length = 4 * lanes + 4;
    auto made = PreparedCase::make(make_case(GetParam(), rows, length));
    ASSERT_TRUE(made.ok()) << made.status().message();
    PreparedCase& c = *made.value();
    std::vector<Runner> runners = native_runners(c.graph()), more = emulated_runners(c.graph());
    runners.insert(runners.end(), more.begin(), more.end());
    ASSERT_FALSE(runners.empty());
    std::int64_t runs = 0;
    for (std::int64_t at = 0; at < length; ++at)
      for (const std::uint32_t bits : special_bits(GetParam().dtype)) {
        // Along a row the index is the lane; down the columns, every step meets another column.
        const std::int64_t index = rows ? at : at * 35 + at % 35;
        std::uint32_t before = 0;
        std::memcpy(&before, c.input(Guard::after).data() + index * byte_size(GetParam().dtype),
                    static_cast<std::size_t>(byte_size(GetParam().dtype)));
        c.put_input(index, bits);
        const Status solved = c.solve();
        ASSERT_TRUE(solved.ok()) << solved.message();
        ASSERT_NO_FATAL_FAILURE(run_all(c, runners, at, bits));
        runs += static_cast<std::int64_t>(runners.size());
        c.put_input(index, before);
      }
    std::printf("%lld runs on %zu levels\n", static_cast<long long>(runs), runners.size());
  }

  static void run_all(const PreparedCase& c, const std::vector<Runner>& runners, std::int64_t at, std::uint32_t bits) {
    Elements first;
    for (const Runner& runner : runners) {
      const auto output = c.make_output(Guard::after);
      const Status status = runner.run(c, *output);
      ASSERT_TRUE(status.ok()) << runner.name << ": " << status.message();
      ASSERT_EQ(c.judge(*output), "") << runner.name << ", bits 0x" << std::hex << bits << std::dec << " at " << at
                                      << "\n"
                                      << c.reduction().json();
      const Elements got = c.elements(*output);
      if (first.empty()) first = got;
      ASSERT_EQ(difference(c.reduction().input.dtype, got, first), "")
          << runner.name << " gives other bits than " << runners.front().name << ", 0x" << std::hex << bits << std::dec
          << " at " << at;
    }
  }
};

TEST_P(Sweep, EveryIndexOfARow) { sweep(true); }
TEST_P(Sweep, EveryStepOfAColumn) { sweep(false); }

/// One of each way that a state is kept: the two extremes, and a chained sum.
std::vector<Subject> swept() {
  std::vector<Subject> some;
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"})
    for (const DType dtype : kFloatTypes) some.push_back({op, dtype});
  return some;
}

INSTANTIATE_TEST_SUITE_P(Special, Sweep, ::testing::ValuesIn(swept()), subject_name);

}  // namespace
}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
//
// Random reductions through the public API, on every instruction-set level of the machine and on `reference`, against
// the reference evaluator within the stated bounds; 1, 2 and 3 threads, and all levels, must give equal bits.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"
#include "test_pool.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::int64_t kCasesPerTest = 1430;  ///< of each op and dtype: 30,030 in all
constexpr int kMostFailures = 5;

class Reductions : public ::testing::TestWithParam<Subject> {
 protected:
  struct Way {
    std::string target;
    int threads;
    GuardedBuffer::Guard guard;
  };

  /// Compiles and executes one way; its elements, or what is wrong.
  std::string run(const PreparedCase& c, const Way& way, Elements& elements) {
    CompileOptions options;
    options.target = way.target;
    options.threads = way.threads;
    options.pool = way.threads == 2 ? &two_ : way.threads == 3 ? &three_ : nullptr;
    const Result<CompiledPartition> partition = compile(c.graph(), options);
    if (!partition.ok()) return "compile: " + partition.status().message();
    const auto output = c.make_output(way.guard);
    const Status status = partition.value().execute({c.input(way.guard).data()}, {static_cast<void*>(output->data())});
    if (!status.ok()) return "execute: " + status.message();
    if (way.threads == 1)
      for (const std::string& nest : nests(partition.value().explain())) ++summary_[way.target + " " + nest];
    elements = c.elements(*output);
    return c.judge(*output);
  }

  std::vector<Way> ways(const PreparedCase& c, std::uint64_t index) const {
    using enum GuardedBuffer::Guard;
    std::vector<Way> all;
    if (index % 4 == 0) all.push_back({"reference", 1, index % 8 == 0 ? after : before});
    // Below this the runtime touches no pool; now and then it is asked to all the same.
    const Result<std::int64_t> bytes = span_bytes(c.reduction().input);
    const bool threads_matter = bytes.value() >= (256 << 10) || index % 16 == 0;
    for (const target::Isa isa : native_levels()) {
      const std::string level(target::to_string(isa));
      all.push_back({level, 1, index % 2 == 0 ? after : before});
      if (threads_matter) {
        all.push_back({level, 2, index % 2 == 0 ? before : after});
        all.push_back({level, 3, after});
      }
    }
    return all;
  }

  void check(const ReductionCase& drawn, std::uint64_t index) {
    const std::string where = drawn.describe() + "\n" + drawn.json() + "\n" + repeat_line(test_name(), index);
    const Result<std::unique_ptr<PreparedCase>> made = PreparedCase::make(drawn);
    ASSERT_TRUE(made.ok()) << made.status().message() << "\n" << where;
    const PreparedCase& c = *made.value();
    Elements first;
    bool has_first = false;
    for (const Way& way : ways(c, index)) {
      Elements got;
      const std::string wrong = run(c, way, got);
      ASSERT_EQ(wrong, "") << way.target << ", " << way.threads << " threads\n" << where;
      if (way.target == "reference") {
        ASSERT_EQ(difference(GetParam().dtype, got, c.expected()), "")
            << "`reference` gives other bits than graph::evaluate\n"
            << where;
        continue;
      }
      if (!has_first) first = got;
      has_first = true;
      ASSERT_EQ(difference(GetParam().dtype, got, first), "")
          << way.target << ", " << way.threads << " threads: other bits than the first way\n"
          << where;
    }
  }

  void print_summary(std::int64_t cases) const {
    std::string line = std::to_string(cases) + " cases of " + GetParam().op + " " +
                       std::string(to_string(GetParam().dtype)) + ", kernels run:";
    for (const auto& [key, count] : summary_) line += " " + key + " " + std::to_string(count) + ",";
    std::printf("%s pool used %lld times, seed %llu\n", line.c_str(),
                static_cast<long long>(two_.calls() + three_.calls()), static_cast<unsigned long long>(test_seed()));
  }

  TestPool two_{2}, three_{3};
  std::map<std::string, std::int64_t> summary_;
};

TEST_P(Reductions, AgreeWithTheReference) {
  const std::int64_t cases = scaled_cases(kCasesPerTest);
  int failures = 0;
  for (std::int64_t i = 0; i < cases && failures < kMostFailures; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    check(random_case(GetParam().op, GetParam().dtype, Sizes{}, random), index);
    if (HasFatalFailure()) ++failures;
  }
  print_summary(cases);
  if (!only_case() && !native_levels().empty() && failures == 0 && cases >= kCasesPerTest) {
    EXPECT_GT(two_.calls(), 0) << "no case was large enough for threads";
    EXPECT_GT(three_.calls(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Reductions, ::testing::ValuesIn(subjects()), subject_name);

}  // namespace
}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a few short rows, one after another: every width up to past a vector step, whose last columns are taken
// with what follows them, and few blocks to many, of which the last ones are not. On every level of the machine, on one
// thread and two, against the reference evaluator, with buffers that end, or begin, at a page that must not be touched.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "prepared_case.hpp"
#include "subjects.hpp"
#include "test_pool.hpp"

namespace tenfold::numeric {
namespace {

using Guard = GuardedBuffer::Guard;

constexpr std::int64_t kBlocks[] = {1, 2, 3, 7, 40};
constexpr std::int64_t kRows[] = {1, 2, 5, 16, 17, 40};

class Blocks : public ::testing::TestWithParam<Subject> {
 protected:
  static ReductionCase make_case(std::int64_t blocks, std::int64_t rows, std::int64_t columns) {
    ReductionCase c;
    c.op = GetParam().op;
    c.input = TensorDesc{GetParam().dtype, {blocks, rows, columns}, {rows * columns, columns, 1}};
    c.output = TensorDesc{GetParam().dtype, {blocks, columns}, {columns, 1}};
    c.axes = {1};
    c.values = columns % 2 == 0 ? Values::normal : Values::some_special;
    c.data_seed = static_cast<std::uint64_t>(blocks * 10'000 + rows * 100 + columns);
    return c;
  }

  void run_all(const PreparedCase& c) {
    Elements first;
    for (const target::Isa isa : native_levels())
      for (const int threads : {1, 2})
        for (const Guard guard : {Guard::after, Guard::before}) {
          CompileOptions options;
          options.target = target::to_string(isa);
          options.threads = threads;
          options.pool = threads == 2 ? &pool_ : nullptr;
          const Result<CompiledPartition> partition = compile(c.graph(), options);
          ASSERT_TRUE(partition.ok()) << partition.status().message();
          const auto output = c.make_output(guard);
          const Status status =
              partition.value().execute({c.input(guard).data()}, {static_cast<void*>(output->data())});
          ASSERT_TRUE(status.ok()) << status.message();
          ASSERT_EQ(c.judge(*output), "") << options.target << ", " << threads << " threads\n" << c.reduction().json();
          const Elements got = c.elements(*output);
          if (first.empty()) first = got;
          ASSERT_EQ(difference(GetParam().dtype, got, first), "")
              << options.target << ", " << threads << " threads: other bits\n"
              << c.reduction().json();
          ++runs_;
        }
  }

  TestPool pool_{2};
  std::int64_t runs_ = 0;
};

TEST_P(Blocks, AgreeWithTheReferenceAtEveryWidth) {
  const std::int64_t step = 64 / byte_size(GetParam().dtype);
  for (std::int64_t columns = 1; columns <= step + 2; ++columns) {
    // Every width with some of the counts, so that all pairs of these come up.
    const std::int64_t rows = kRows[columns % 6], more_rows = kRows[(columns + 2) % 6];
    for (const std::int64_t blocks : kBlocks)
      for (const std::int64_t of_block : {rows, more_rows}) {
        const auto made = PreparedCase::make(make_case(blocks, of_block, columns));
        ASSERT_TRUE(made.ok()) << made.status().message();
        ASSERT_NO_FATAL_FAILURE(run_all(*made.value()));
      }
  }
  std::printf("%lld runs\n", static_cast<long long>(runs_));
}

INSTANTIATE_TEST_SUITE_P(All, Blocks, ::testing::ValuesIn(subjects()), subject_name);

}  // namespace
}  // namespace tenfold::numeric

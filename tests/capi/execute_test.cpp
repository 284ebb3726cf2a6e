// SPDX-License-Identifier: Apache-2.0
//
// Executing through the C API: many threads on one compiled partition, axes known at run time only, empty tensors, what
// buffers are refused.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "tests/capi/small_graph.hpp"

namespace tenfold::test {
namespace {

TEST(CExecute, ManyThreadsRunOnePartition) {
  Handles h;
  make_reduction(h, "ReduceMax", {64, 128}, {1});
  compile(h);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      const std::vector<float> in(64 * 128, static_cast<float>(t));
      for (int round = 0; round < 50; ++round) {
        std::vector<float> out(64, -1.0F);
        if (execute(h, {in.data()}, {out.data()}) != tenfold_success) ++wrong;
        for (const float value : out) wrong += value != static_cast<float>(t);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// Tensor 0, f32 [2, 3], summed along the axes in tensor 1, s32 [1].
void make_runtime_sum(Handles& h) {
  make_op(h, 0, "ReduceSum", {tensor(0, tenfold_f32, {2, 3}), tensor(1, tenfold_s32, {1})},
          {open_tensor(2, tenfold_f32)});
  add_op(h);
  finish(h);
  compile(h);
}

TEST(CExecute, AxesKnownAtRunTime) {
  Handles h;
  make_runtime_sum(h);
  tenfold_logical_tensor_t open, known;
  ASSERT_OK(tenfold_compiled_partition_get_outputs(h.compiled, 1, &open));
  std::size_t size = 0;
  EXPECT_EQ(tenfold_logical_tensor_get_mem_size(&open, &size), tenfold_invalid_shape) << "not known before the axes";
  const float in[6] = {1, 2, 3, 10, 20, 30};
  const std::int32_t rows = 0, columns = -1;
  for (const std::int32_t* axis : {&rows, &columns}) {
    const void* const inputs[] = {nullptr, axis};
    ASSERT_OK(tenfold_compiled_partition_query_outputs(h.compiled, inputs, 2, &known, 1));
    EXPECT_EQ(known.ndims, 1);
    EXPECT_EQ(known.dims[0], axis == &rows ? 3 : 2);
    EXPECT_OK(tenfold_compiled_partition_prepare(h.compiled, inputs, 2));
    std::array<float, 3> out{-1, -1, -1};
    EXPECT_OK(execute(h, {in, axis}, {out.data()}));
    EXPECT_EQ(out, axis == &rows ? (std::array<float, 3>{11, 22, 33}) : (std::array<float, 3>{6, 60, -1}));
  }
}

TEST(CExecute, AxesOutOfRangeAreRefusedAtRunTime) {
  Handles h;
  make_runtime_sum(h);
  const float in[6] = {};
  const std::int32_t axis = 2;
  std::array<float, 3> out{-1, -1, -1};
  EXPECT_EQ(execute(h, {in, &axis}, {out.data()}), tenfold_invalid_graph_op);
  EXPECT_NE(std::string(tenfold_last_error()).find("reduce.C3"), std::string::npos) << tenfold_last_error();
  EXPECT_EQ(out[0], -1.0F);
  const void* const inputs[] = {nullptr, nullptr};
  tenfold_logical_tensor_t known;
  EXPECT_EQ(tenfold_compiled_partition_query_outputs(h.compiled, inputs, 2, &known, 1), tenfold_invalid_arguments);
  EXPECT_EQ(tenfold_compiled_partition_prepare(h.compiled, inputs, 2), tenfold_invalid_arguments);
}

TEST(CExecute, TensorsWithoutElementsNeedNoBuffer) {
  Handles h;
  make_reduction(h, "ReduceSum", {3, 0}, {1});
  compile(h);
  std::array<float, 3> out{-1, -1, -1};
  EXPECT_OK(execute(h, {nullptr}, {out.data()}));
  EXPECT_EQ(out, (std::array<float, 3>{0, 0, 0}));
}

TEST(CExecute, RefusesOverlapBeforeAnythingIsWritten) {
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  compile(h);
  std::array<float, 8> buffer{1, 2, 3, 4, 5, 6, -1, -1};
  const std::array<float, 8> before = buffer;
  EXPECT_EQ(execute(h, {buffer.data()}, {buffer.data() + 5}), tenfold_invalid_arguments);
  EXPECT_EQ(buffer, before);
  EXPECT_OK(execute(h, {buffer.data()}, {buffer.data() + 6}));
  EXPECT_EQ(buffer[6], 3.0F);
}

}  // namespace
}  // namespace tenfold::test

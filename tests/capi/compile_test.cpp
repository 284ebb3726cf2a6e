// SPDX-License-Identifier: Apache-2.0
//
// Compiling through the C API: options, shapes and strides of inputs, host pools, growing structs.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "tests/capi/small_graph.hpp"

namespace tenfold::test {
namespace {

tenfold_compile_options_t options_of() {
  tenfold_compile_options_t options{};
  options.struct_size = sizeof options;
  return options;
}

struct Calls {
  std::atomic<int> asked{0}, jobs{0}, tasks{0};
};

tenfold_thread_pool_t pool_of(Calls& calls) {
  tenfold_thread_pool_t pool{};
  pool.struct_size = sizeof pool;
  pool.context = &calls;
  pool.num_threads = [](void* context) {
    ++static_cast<Calls*>(context)->asked;
    return 2;
  };
  pool.parallel_for = [](void* context, std::int64_t n, void (*task)(void*, std::int64_t), void* task_context) {
    ++static_cast<Calls*>(context)->jobs;
    const auto half = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        ++static_cast<Calls*>(context)->tasks;
        task(task_context, i);
      }
    };
    std::thread other(half, n / 2, n);
    half(0, n / 2);
    other.join();
  };
  return pool;
}

TEST(CCompile, EveryIsaNameGivesTheSame) {
  const float in[6] = {1, 5, 2, 9, 0, 3};
  for (const char* isa : {"reference", "avx2", "AVX2", "", static_cast<const char*>(nullptr)}) {
    Handles h;
    make_reduction(h, "ReduceMax", {2, 3}, {1});
    tenfold_compile_options_t options = options_of();
    options.isa = isa;
    ASSERT_OK(tenfold_partition_compile(&h.compiled, h.partition, &options));
    std::array<float, 2> out{};
    EXPECT_OK(execute(h, {in}, {out.data()}));
    EXPECT_EQ(out, (std::array<float, 2>{5, 9}));
  }
}

TEST(CCompile, AHostsPoolRunsTheTasks) {
  Handles h;
  make_reduction(h, "ReduceSum", {1024, 1024}, {1});
  Calls calls;
  {
    tenfold_thread_pool_t pool = pool_of(calls);
    tenfold_compile_options_t options = options_of();
    options.pool = &pool;
    compile(h, &options);
    std::memset(&pool, 0xff, sizeof pool);  // the table is copied
  }
  const std::vector<float> in(1024 * 1024, 1.0F);
  std::vector<float> out(1024);
  EXPECT_OK(execute(h, {in.data()}, {out.data()}));
  EXPECT_EQ(out, std::vector<float>(1024, 1024.0F));
  EXPECT_GT(calls.asked, 0);
  EXPECT_EQ(calls.jobs, 1);
  EXPECT_GT(calls.tasks, 1);
}

TEST(CCompile, OneThreadTouchesNoPool) {
  Handles h;
  make_reduction(h, "ReduceSum", {1024, 1024}, {0});
  Calls calls;
  const tenfold_thread_pool_t pool = pool_of(calls);
  tenfold_compile_options_t options = options_of();
  options.pool = &pool;
  options.threads = 1;
  compile(h, &options);
  const std::vector<float> in(1024 * 1024, 1.0F);
  std::vector<float> out(1024);
  EXPECT_OK(execute(h, {in.data()}, {out.data()}));
  EXPECT_EQ(out, std::vector<float>(1024, 1024.0F));
  EXPECT_EQ(calls.jobs, 0);
}

TEST(CCompile, APoolThatForgetsTasksIsAnError) {
  Handles h;
  make_reduction(h, "ReduceSum", {1024, 1024}, {1});
  tenfold_thread_pool_t pool{};
  pool.struct_size = sizeof pool;
  pool.num_threads = [](void*) { return 2; };
  pool.parallel_for = [](void*, std::int64_t, void (*)(void*, std::int64_t), void*) {};
  tenfold_compile_options_t options = options_of();
  options.pool = &pool;
  compile(h, &options);
  const std::vector<float> in(1024 * 1024, 1.0F);
  std::vector<float> out(1024);
  EXPECT_EQ(execute(h, {in.data()}, {out.data()}), tenfold_runtime_error);
}

TEST(CCompile, BindsShapesAndStridesOfInputs) {
  Handles h;
  make_op(h, 0, "ReduceSum", {tensor(0, tenfold_f32, {TENFOLD_UNKNOWN_DIM, TENFOLD_UNKNOWN_DIM})},
          {open_tensor(1, tenfold_f32)});
  const std::int64_t axes[] = {1};
  ASSERT_OK(tenfold_op_set_attr_s64s(h.op, "axes", axes, 1));
  add_op(h);
  finish(h);
  const std::int64_t dims[] = {2, 3}, strides[] = {1, 4};
  tenfold_logical_tensor_t x;
  ASSERT_OK(tenfold_logical_tensor_init_with_strides(&x, 0, tenfold_f32, 2, dims, strides, tenfold_property_undef));
  tenfold_compile_options_t options = options_of();
  options.input_count = 1;
  options.inputs = &x;
  compile(h, &options);
  tenfold_logical_tensor_t taken, given;
  ASSERT_OK(tenfold_compiled_partition_get_inputs(h.compiled, 1, &taken));
  EXPECT_EQ(taken.layout_type, tenfold_layout_type_strided);
  EXPECT_EQ(taken.strides[0], 1);
  EXPECT_EQ(taken.strides[1], 4);
  ASSERT_OK(tenfold_compiled_partition_query_logical_tensor(h.compiled, 1, &given));
  EXPECT_EQ(given.ndims, 1);
  EXPECT_EQ(given.dims[0], 2);
  const float in[10] = {1, 2, -100, -100, 10, 20, -100, -100, 100, 200};
  std::array<float, 2> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<float, 2>{111, 222}));
}

TEST(CCompile, TheSamePartitionForSeveralShapes) {
  Handles h;
  make_reduction(h, "ReduceMax", {2, 2}, {0});
  for (const std::int64_t rows : {1, 5, 300}) {
    const tenfold_logical_tensor_t x = tensor(0, tenfold_f32, {rows, 2});
    tenfold_compile_options_t options = options_of();
    options.input_count = 1;
    options.inputs = &x;
    compile(h, &options);
    std::vector<float> in(static_cast<std::size_t>(rows) * 2);
    std::iota(in.begin(), in.end(), 0.0F);
    std::array<float, 2> out{};
    EXPECT_OK(execute(h, {in.data()}, {out.data()}));
    EXPECT_EQ(out[1], in.back());
    EXPECT_OK(tenfold_compiled_partition_release(&h.compiled));
  }
}

TEST(CCompile, FusionCanBeSwitchedOff) {
  Handles h;
  make_op(h, 0, "SoftMax", {tensor(0, tenfold_f32, {8, 64})}, {open_tensor(1, tenfold_f32)});
  ASSERT_OK(tenfold_op_set_attr_s64(h.op, "axis", 1));
  add_op(h);
  finish(h);
  std::size_t lengths[2] = {0, 0};
  for (const int no_fusion : {0, 1}) {
    tenfold_compile_options_t options = options_of();
    options.no_fusion = no_fusion;
    compile(h, &options);
    char* text = nullptr;
    ASSERT_OK(tenfold_compiled_partition_get_explanation(h.compiled, nullptr, &text));
    lengths[no_fusion] = std::strlen(text);
    EXPECT_OK(tenfold_memory_release(text, nullptr));
    EXPECT_OK(tenfold_compiled_partition_release(&h.compiled));
  }
  EXPECT_GT(lengths[1], lengths[0]) << "more kernels are longer to explain";
}

TEST(CCompile, StructsOfANewerVersionAreTakenWhileTheirNewFieldsAreZero) {
  struct Newer {
    tenfold_compile_options_t known;
    std::int64_t fresh;
  } newer{};
  newer.known.struct_size = sizeof newer;
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  EXPECT_OK(tenfold_partition_compile(&h.compiled, h.partition, &newer.known));
  EXPECT_OK(tenfold_compiled_partition_release(&h.compiled));
  newer.fresh = 1;
  EXPECT_EQ(tenfold_partition_compile(&h.compiled, h.partition, &newer.known), tenfold_invalid_arguments);
  EXPECT_NE(std::string(tenfold_last_error()).find("struct_size is 80 and fields behind the 72"), std::string::npos)
      << tenfold_last_error();
}

TEST(CCompile, AStructOfTheFirstVersionIsReadAsFarAsItGoes) {
  tenfold_compile_options_t options{};
  options.struct_size = offsetof(tenfold_compile_options_t, output_count);
  options.output_count = 77;  // behind the caller's struct
  options.tuning_file = "none.tuning";
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  EXPECT_OK(tenfold_partition_compile(&h.compiled, h.partition, &options));
}

TEST(CCompile, HandlesOutliveWhatTheyWereMadeOf) {
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  EXPECT_OK(tenfold_graph_release(&h.graph));
  compile(h);
  EXPECT_OK(tenfold_partition_release(&h.partition));
  const float in[6] = {1, 5, 2, 9, 0, 3};
  std::array<float, 2> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<float, 2>{5, 9}));
}

TEST(CCompile, RetainedHandlesNeedAsManyReleases) {
  Handles h;
  make_reduction(h, "ReduceMax", {2, 3}, {1});
  compile(h);
  tenfold_compiled_partition_t compiled = h.compiled;
  tenfold_partition_t partition = h.partition;
  tenfold_graph_t graph = h.graph;
  EXPECT_OK(tenfold_compiled_partition_retain(compiled));
  EXPECT_OK(tenfold_partition_retain(partition));
  EXPECT_OK(tenfold_graph_retain(graph));
  EXPECT_OK(tenfold_compiled_partition_release(&compiled));
  EXPECT_OK(tenfold_partition_release(&partition));
  EXPECT_OK(tenfold_graph_release(&graph));
  EXPECT_EQ(compiled, nullptr);
  EXPECT_OK(tenfold_compiled_partition_release(&compiled));  // a null handle
  std::size_t count = 0;
  EXPECT_OK(tenfold_graph_get_partition_num(h.graph, &count));
  EXPECT_OK(tenfold_partition_get_op_num(h.partition, &count));
  EXPECT_OK(tenfold_compiled_partition_get_input_num(h.compiled, &count));
  EXPECT_OK(tenfold_compiled_partition_get_output_num(h.compiled, &count));
  EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace tenfold::test

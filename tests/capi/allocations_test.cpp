// SPDX-License-Identifier: Apache-2.0
//
// Executing allocates nothing after a thread's first run: counted by this program's own operator new, which the shared
// libraries use too. What oneDNN's code allocates is counted apart: it does so at each execution of a primitive. And a
// call that builds a graph changes nothing when an allocation of it fails, whichever.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <tenfold/graph.hpp>
#include <vector>

#include "api/guard.hpp"
#include "tests/capi/small_graph.hpp"

namespace {

std::atomic<int> allocations{0}, of_onednn{0};
std::atomic<bool> tells_apart{false};  ///< only while it is asked for: it costs a search each time
std::atomic<int> until_failure{0};     ///< 1: the next allocation fails, alone; 0: none does

/// dladdr() allocates nothing.
bool is_of_onednn(const void* caller) noexcept {
  Dl_info found{};
  return dladdr(caller, &found) != 0 && found.dli_fname != nullptr &&
         std::strstr(found.dli_fname, "libdnnl") != nullptr;
}

void* counted(std::size_t size, std::size_t alignment, const void* caller) noexcept {
  if (until_failure > 0 && --until_failure == 0) return nullptr;
  ++(tells_apart && is_of_onednn(caller) ? of_onednn : allocations);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* counted_or_throw(std::size_t size, std::size_t alignment, const void* caller) {
  if (void* memory = counted(size, alignment, caller)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// All forms, for a sanitizer brings those that are not here.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return counted_or_throw(size, 16, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_or_throw(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, 16, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tenfold::test {
namespace {

TEST(CAllocations, ExecutingAllocatesNothing) {
  for (const char* kind : {"ReduceMax", "ReduceSum", "ReduceL2"}) {
    for (const Dims& dims : {Dims{64, 128}, Dims{1024, 512}}) {
      Handles h;
      make_reduction(h, kind, dims, {1});
      tenfold_compile_options_t options{};
      options.struct_size = sizeof options;
      options.threads = 1;
      const int before_compiling = allocations;
      compile(h, &options);
      EXPECT_GT(allocations, before_compiling) << "the counter counts the library's";
      const std::vector<float> in(static_cast<std::size_t>(dims[0] * dims[1]), 1.0F);
      std::vector<float> out(static_cast<std::size_t>(dims[0]));
      const void* const inputs[] = {in.data()};
      void* const outputs[] = {out.data()};
      EXPECT_OK(tenfold_compiled_partition_execute(h.compiled, inputs, 1, outputs, 1));
      const int before = allocations;
      tenfold_status_t status = tenfold_success;
      for (int round = 0; round < 100 && status == tenfold_success; ++round)
        status = tenfold_compiled_partition_execute(h.compiled, inputs, 1, outputs, 1);
      EXPECT_EQ(allocations, before) << kind;
      EXPECT_EQ(status, tenfold_success);
    }
  }
}

TEST(CAllocations, NorForManyOperands) {
  constexpr std::int64_t kCount = 100;
  Handles h;
  for (std::int64_t i = 0; i < kCount; ++i) {
    make_op(h, i, "Square", {tensor(i, tenfold_f32, {1})}, {open_tensor(kCount + i, tenfold_f32)});
    add_op(h);
  }
  finish(h);
  tenfold_compile_options_t options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  compile(h, &options);
  std::vector<float> in(kCount, 3.0F), out(kCount);
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (std::size_t i = 0; i < in.size(); ++i) {
    inputs.push_back(&in[i]);
    outputs.push_back(&out[i]);
  }
  EXPECT_OK(execute(h, inputs, outputs));
  const int before = allocations;
  tenfold_status_t status = tenfold_success;
  for (int round = 0; round < 100 && status == tenfold_success; ++round)
    status = tenfold_compiled_partition_execute(h.compiled, inputs.data(), inputs.size(), outputs.data(), kCount);
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(status, tenfold_success);
  EXPECT_EQ(out, std::vector<float>(kCount, 9.0F));
}

TEST(CAllocations, NorForAnArgReductionInPieces) {
  constexpr std::size_t kCount = 1 << 20;
  const std::string json =
      R"({"dialect": "onnx", "opset": 13, "graph": [{"id": 0, "name": "a", "kind": "ArgMax", "attrs": {"axis":
          {"type": "s64", "value": 0}}, "inputs": [{"id": 0, "dtype": "f32", "shape": [1048576], "stride": [1],
          "layout_type": "strided", "property_type": "undef"}], "outputs": [{"id": 1, "dtype": "s64", "shape": [1],
          "stride": [1], "layout_type": "strided", "property_type": "undef"}]}]})";
  Handles h;
  ASSERT_OK(tenfold_graph_from_json(&h.graph, json.data(), json.size()));
  ASSERT_OK(tenfold_graph_get_partitions(h.graph, 1, &h.partition));
  compile(h);
  std::vector<float> in(kCount, 1.0F);
  in[700000] = 2.0F;
  std::int64_t found = -1;
  const void* const inputs[] = {in.data()};
  void* const outputs[] = {&found};
  for (int round = 0; round < 20; ++round)  // both threads run tasks in one of them
    EXPECT_OK(tenfold_compiled_partition_execute(h.compiled, inputs, 1, outputs, 1));
  EXPECT_EQ(found, 700000);
  const int before = allocations;
  tenfold_status_t status = tenfold_success;
  for (int round = 0; round < 100 && status == tenfold_success; ++round)
    status = tenfold_compiled_partition_execute(h.compiled, inputs, 1, outputs, 1);
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(status, tenfold_success);
}

TEST(CAllocations, NorDoesItThroughTheCppApi) {
  using namespace graph;
  using type = logical_tensor::data_type;
  constexpr std::int64_t kRows = 64, kColumns = 128;
  const logical_tensor x(0, type::f32, {kRows, kColumns}, logical_tensor::layout_type::strided);
  class graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::Exp, {x}, {logical_tensor(1, type::f32)}));
  g.add_op(op(1, op::kind::ReduceSum, {logical_tensor(1, type::f32)}, {logical_tensor(2, type::f32)})
               .set_attr<std::vector<std::int64_t>>(op::attr::axes, {0}));
  g.finalize();
  const engine eng(engine::kind::cpu, 0);
  compile_options options;
  options.fusion = false;  // so that there are temporaries
  const compiled_partition compiled = g.get_partitions().at(0).compile({x}, {}, eng, options);
  const std::vector<graph::tensor> in{graph::tensor(x, eng)}, out{graph::tensor(compiled.get_outputs()[0], eng)};
  std::fill_n(static_cast<float*>(in[0].get_data_handle()), kRows * kColumns, 0.5F);
  const graph::tensor scratchpad(compiled.get_scratchpad_logical_tensor(), eng);
  stream strm(eng);
  strm.set_threads(1);
  for (const bool own_scratch : {false, true}) {
    const graph::tensor scratch = own_scratch ? scratchpad : graph::tensor();
    compiled.execute(strm, in, out, scratch);
    const int before = allocations;
    for (int round = 0; round < 100; ++round) compiled.execute(strm, in, out, scratch);
    EXPECT_EQ(allocations, before) << own_scratch;
  }
}

/// Two kernels of so many rows of 4 KiB, and as many temporaries between them.
void compile_two_kernels(Handles& h, std::int64_t rows) {
  make_op(h, 0, "Exp", {tensor(0, tenfold_f32, {rows, 1024})}, {open_tensor(1, tenfold_f32)});
  add_op(h);
  make_op(h, 1, "Square", {open_tensor(1, tenfold_f32)}, {open_tensor(2, tenfold_f32)});
  add_op(h);
  finish(h);
  tenfold_compile_options_t options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  options.no_fusion = 1;
  compile(h, &options);
  std::size_t bytes = 0;
  EXPECT_OK(tenfold_compiled_partition_get_scratch_size(h.compiled, &bytes));
  EXPECT_GE(bytes, static_cast<std::size_t>(rows) * 4096);
}

TEST(CAllocations, NorForMoreTemporariesThanAThreadKeeps) {
  constexpr std::int64_t kFew = 256, kMany = 20 * kFew;
  Handles small, large;
  compile_two_kernels(small, kFew);
  compile_two_kernels(large, kMany);
  const std::vector<float> in(kMany * 1024, 0.0F);
  std::vector<float> out(in.size());
  const void* const inputs[] = {in.data()};
  void* const outputs[] = {out.data()};
  const auto run_both = [&] {
    for (const Handles* const h : {&large, &small})
      EXPECT_OK(tenfold_compiled_partition_execute(h->compiled, inputs, 1, outputs, 1));
  };
  run_both();
  const int before = allocations;
  for (int round = 0; round < 3; ++round) run_both();
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(out, std::vector<float>(out.size(), 1.0F));
}

/// A MatMul and what our kernel does after it, of so many rows that oneDNN is called for several pieces.
graph::compiled_partition multiply(const graph::engine& eng, std::int64_t rows, graph::logical_tensor& a,
                                   graph::logical_tensor& b) {
  using namespace graph;
  using type = logical_tensor::data_type;
  constexpr auto kStrided = logical_tensor::layout_type::strided;
  a = logical_tensor(0, type::f32, {rows, 256}, kStrided);
  b = logical_tensor(1, type::f32, {256, 128}, kStrided);
  class graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::MatMul, {a, b}, {logical_tensor(2, type::f32)}));
  g.add_op(op(1, op::kind::SoftMax, {logical_tensor(2, type::f32)}, {logical_tensor(3, type::f32)})
               .set_attr<std::int64_t>(op::attr::axis, -1));
  g.finalize();
  return g.get_partitions().at(0).compile({a, b}, {}, eng);
}

/// What a run allocates is oneDNN's alone.
TEST(CAllocations, NorForHeavyOpsOnOneDnn) {
  using namespace graph;
  const engine eng(engine::kind::cpu, 0);
  for (const std::int64_t rows : {8, 1024}) {
    logical_tensor a(0, logical_tensor::data_type::f32), b = a;
    const compiled_partition compiled = multiply(eng, rows, a, b);
    if (compiled.explain().find("oneDNN") == std::string::npos) GTEST_SKIP() << "NOT RUN: built without oneDNN";
    const auto loop = [&](int rounds) {
      const std::vector<graph::tensor> in{graph::tensor(a, eng), graph::tensor(b, eng)};
      const std::vector<graph::tensor> out{graph::tensor(compiled.get_outputs()[0], eng)};
      std::fill_n(static_cast<float*>(in[0].get_data_handle()), rows * 256, 0.5F);
      std::fill_n(static_cast<float*>(in[1].get_data_handle()), 256 * 128, 0.5F);
      stream strm(eng);
      strm.set_threads(1);
      for (int round = 0; round < rounds; ++round) compiled.execute(strm, in, out);
      const int before = allocations;
      tells_apart = true;
      for (int round = 0; round < rounds; ++round) compiled.execute(strm, in, out);
      tells_apart = false;
      return allocations - before;
    };
    EXPECT_EQ(loop(20), 0) << rows;
    EXPECT_GT(of_onednn, 0) << "oneDNN has stopped to allocate: docs/onednn.md says that it does";
  }
}

TEST(FailingAllocations, AreAnAnswerWhereTheMessageHasNoRoomEither) {
  const std::runtime_error thrown("longer than what a string holds within itself");
  const Status status = api::guarded([&]() -> Status {
    until_failure = 1;
    throw thrown;
  });
  until_failure = 0;
  EXPECT_EQ(status.code(), Code::out_of_memory);
  EXPECT_EQ(status.message(), "out of memory");
}

/// What malloc() has given and has not got back; nothing with a sanitizer, which looks for leaks itself.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(FailingAllocations, GiveATextOfTheLibraryBack) {
  constexpr std::int64_t kBytes = 1 << 20;
  const tenfold_logical_tensor_t bytes = tensor(0, tenfold_u8, {kBytes});
  const std::size_t before = bytes_in_use();
  for (int round = 0; round < 16; ++round) {
    void* text = nullptr;
    ASSERT_OK(tenfold_buffer_create(&text, &bytes, nullptr));
    std::memset(text, 'x', kBytes);
    static_cast<char*>(text)[kBytes - 1] = '\0';
    until_failure = 1;
    EXPECT_THROW(graph::take_text(static_cast<char*>(text)), std::bad_alloc);
    until_failure = 0;
  }
  EXPECT_LT(bytes_in_use(), before + kBytes);
}

/// Calls until the call succeeds, while its first allocation fails, its second, and so on.
tenfold_status_t insist(const std::function<tenfold_status_t()>& call) {
  tenfold_status_t status = tenfold_out_of_memory;
  for (int failing = 1; status == tenfold_out_of_memory && failing < 100'000; ++failing) {
    until_failure = failing;
    status = call();
    until_failure = 0;
  }
  return status;
}

tenfold_status_t call_once(const std::function<tenfold_status_t()>& call) { return call(); }

using Try = tenfold_status_t (*)(const std::function<tenfold_status_t()>&);

void add_op(Try attempt, Handles& h, const char* kind, const std::vector<const tenfold_logical_tensor_t*>& inputs,
            const tenfold_logical_tensor_t& output, const std::function<void(tenfold_op_t)>& set = nullptr) {
  static constexpr const char* kName = "a name that is longer than what a string holds within itself";
  const std::int64_t id = output.id;
  ASSERT_OK(attempt([&] { return tenfold_op_create(&h.op, id, kind, kName); }));
  for (const tenfold_logical_tensor_t* input : inputs)
    ASSERT_OK(
        attempt([&] { return input == nullptr ? tenfold_op_skip_input(h.op) : tenfold_op_add_input(h.op, input); }));
  ASSERT_OK(attempt([&] { return tenfold_op_add_output(h.op, &output); }));
  if (set) set(h.op);
  ASSERT_OK(attempt([&] { return tenfold_graph_add_op(h.graph, h.op); }));
  ASSERT_OK(tenfold_op_release(&h.op));
}

/// Ops with attributes of every type, from tensor 0 to tensor 105.
void add_ops_with_attributes(Try attempt, Handles& h) {
  const auto open = [](std::int64_t id) { return open_tensor(id, tenfold_f32); };
  const tenfold_logical_tensor_t x = tensor(0, tenfold_f32, {2, 3}), top = tensor(200, tenfold_f32, {});
  const tenfold_logical_tensor_t a = open(101), b = open(102), c = open_tensor(103, tenfold_s8), d = open(104);
  const std::int64_t numbers[] = {0};
  const float scales[] = {0.5F}, six = 6.0F;
  add_op(attempt, h, "SoftMax", {&x}, a,
         [&](tenfold_op_t op) { EXPECT_OK(attempt([&] { return tenfold_op_set_attr_s64(op, "axis", -1); })); });
  add_op(attempt, h, "Elu", {&a}, b,
         [&](tenfold_op_t op) { EXPECT_OK(attempt([&] { return tenfold_op_set_attr_f32(op, "alpha", 0.5F); })); });
  const auto quantize = [&](tenfold_op_t op) {
    EXPECT_OK(attempt([&] { return tenfold_op_set_attr_f32s(op, "scales", scales, 1); }));
    EXPECT_OK(attempt([&] { return tenfold_op_set_attr_s64s(op, "zps", numbers, 1); }));
    EXPECT_OK(attempt([&] { return tenfold_op_set_attr_str(op, "qtype", "per_tensor"); }));
  };
  add_op(attempt, h, "Quantize", {&b}, c, quantize);
  add_op(attempt, h, "Dequantize", {&c}, d, quantize);
  EXPECT_OK(attempt([&] { return tenfold_graph_add_constant(h.graph, &top, &six, sizeof six); }));
  add_op(attempt, h, "onnx.Clip@13", {&d, nullptr, &top}, open(105));
}

/// The text and the file of a graph of more ops and constants than its first vectors hold, and the file of the graph
/// that is read from that.
std::string built(Try attempt) {
  Handles h, read;
  EXPECT_OK(attempt([&] { return tenfold_graph_create(&h.graph); }));
  add_ops_with_attributes(attempt, h);
  for (std::int64_t i = 1; i < 20; ++i) {
    const tenfold_logical_tensor_t in = open_tensor(104 + i, tenfold_f32), out = open_tensor(105 + i, tenfold_f32);
    const tenfold_logical_tensor_t addend = tensor(200 + i, tenfold_f32, {3});
    const float data[] = {1, 2, static_cast<float>(i)};
    // Of a tensor that is new, and of one that an op has brought.
    const auto add_data = [&] {
      EXPECT_OK(attempt([&] { return tenfold_graph_add_constant(h.graph, &addend, data, sizeof data); }));
    };
    if (i % 2 == 0) add_data();
    add_op(attempt, h, "Add", {&in, &addend}, out);
    if (i % 2 == 1) add_data();
  }
  const std::int64_t outputs[] = {120, 124};
  EXPECT_OK(attempt([&] { return tenfold_graph_set_outputs(h.graph, outputs, 2); }));
  EXPECT_OK(attempt([&] { return tenfold_graph_finalize(h.graph); }));
  char *text = nullptr, *json = nullptr, *again = nullptr;
  EXPECT_OK(attempt([&] { return tenfold_graph_get_text(h.graph, nullptr, &text); }));
  EXPECT_OK(attempt([&] { return tenfold_graph_get_json(h.graph, nullptr, &json); }));
  if (text == nullptr || json == nullptr) return "";
  EXPECT_OK(attempt([&] { return tenfold_graph_from_json(&read.graph, json, std::strlen(json)); }));
  EXPECT_OK(tenfold_graph_get_json(read.graph, nullptr, &again));
  EXPECT_OK(attempt([&] { return tenfold_graph_get_partitions(h.graph, 1, &h.partition); }));
  const std::string all = std::string(text) + json + again;
  for (char* const given : {text, json, again}) EXPECT_OK(tenfold_memory_release(given, nullptr));
  return all;
}

TEST(FailingAllocations, LeaveAGraphAsItWas) {
  const std::string wanted = built(call_once);
  EXPECT_NE(wanted, "");
  EXPECT_EQ(built(insist), wanted);
}

}  // namespace
}  // namespace tenfold::test

// SPDX-License-Identifier: Apache-2.0
//
// Misuse of the C API, as a table: each row is one wrong call, the status that it must give and a part of what the last
// error must say. All that a row may spoil is made anew for it.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <limits>

#include "tests/capi/small_graph.hpp"

namespace tenfold::test {
namespace {

/// What rows call wrongly: one of everything, in order.
struct World : Handles {
  tenfold_op_t spare = nullptr;    ///< ReduceMax of x into y, not yet in a graph
  tenfold_graph_t open = nullptr;  ///< empty
  tenfold_logical_tensor_t x = tensor(0, tenfold_f32, {2, 3});
  tenfold_logical_tensor_t y = open_tensor(1, tenfold_f32);
  tenfold_logical_tensor_t bad = x;  ///< for rows to spoil
  tenfold_logical_tensor_t out_tensor{};
  tenfold_compile_options_t options{};
  tenfold_thread_pool_t pool{};
  tenfold_allocator_t allocator{};
  tenfold_onnx_options_t onnx{};
  std::array<float, 6> in{};
  std::array<float, 2> out{};
  std::array<const void*, 2> inputs{in.data(), in.data()};
  std::array<void*, 2> outputs{out.data(), in.data()};
  std::int64_t axis = 1;
  std::size_t count = 99;
  std::int32_t flag = 99;
  char* text = nullptr;
  void* memory = nullptr;
  tenfold_op_t made_op = nullptr;
  tenfold_graph_t made_graph = nullptr;
  tenfold_partition_t made_partition = nullptr;
  tenfold_compiled_partition_t made_compiled = nullptr;

  World() {
    make_reduction(*this, "ReduceMax", {2, 3}, {1});
    compile(*this);
    EXPECT_OK(tenfold_op_create(&spare, 0, "ReduceMax", "spare"));
    EXPECT_OK(tenfold_graph_create(&open));
    options.struct_size = sizeof options;
    pool = {sizeof pool, nullptr, [](void*) { return 1; },
            [](void*, std::int64_t, void (*)(void*, std::int64_t), void*) {}};
    allocator = {sizeof allocator, nullptr, [](void*, std::size_t, std::size_t) -> void* { return nullptr; },
                 [](void*, void*) {}};
    onnx.struct_size = sizeof onnx;
  }
  ~World() {
    EXPECT_OK(tenfold_op_release(&spare));
    EXPECT_OK(tenfold_graph_release(&open));
    EXPECT_TRUE(made_op == nullptr && made_graph == nullptr && made_partition == nullptr && made_compiled == nullptr &&
                text == nullptr && memory == nullptr)
        << "a failing call wrote to its out-pointer";
  }

  /// The spare op in the open graph with these ends, finalized.
  tenfold_status_t finalize_spare(std::initializer_list<tenfold_logical_tensor_t> from,
                                  std::initializer_list<tenfold_logical_tensor_t> to) {
    for (const tenfold_logical_tensor_t& t : from) EXPECT_OK(tenfold_op_add_input(spare, &t));
    for (const tenfold_logical_tensor_t& t : to) EXPECT_OK(tenfold_op_add_output(spare, &t));
    EXPECT_OK(tenfold_graph_add_op(open, spare));
    return tenfold_graph_finalize(open);
  }
  tenfold_status_t compile_with() { return tenfold_partition_compile(&made_compiled, partition, &options); }
  tenfold_status_t compile_for(tenfold_logical_tensor_t t) {
    options.input_count = 1;
    options.inputs = &t;
    return compile_with();
  }
  /// add_input of `bad`, after a row has spoilt it.
  tenfold_status_t add_bad() { return tenfold_op_add_input(spare, &bad); }
  tenfold_status_t add_axes(tenfold_op_t to, std::initializer_list<std::int64_t> axes) {
    return tenfold_op_set_attr_s64s(to, "axes", axes.begin(), axes.size());
  }
  /// Puts "Abs" of `from` to `to` into the open graph.
  tenfold_status_t add_abs(std::int64_t id, const tenfold_logical_tensor_t& from, const tenfold_logical_tensor_t& to) {
    tenfold_op_t abs = nullptr;
    EXPECT_OK(tenfold_op_create(&abs, id, "Abs", nullptr));
    EXPECT_OK(tenfold_op_add_input(abs, &from));
    EXPECT_OK(tenfold_op_add_output(abs, &to));
    const tenfold_status_t status = tenfold_graph_add_op(open, abs);
    EXPECT_OK(tenfold_op_release(&abs));
    return status;
  }
  tenfold_status_t create(const char* kind) { return tenfold_op_create(&made_op, 0, kind, nullptr); }
  tenfold_status_t run(std::size_t input_count, std::size_t output_count) {
    return tenfold_compiled_partition_execute(compiled, inputs.data(), input_count, outputs.data(), output_count);
  }
  tenfold_status_t read_json(const std::string& json) {
    return tenfold_graph_from_json(&made_graph, json.data(), json.size());
  }
};

struct Row {
  const char* what;
  tenfold_status_t status;
  const char* part;
  std::function<tenfold_status_t(World&)> call;
};

constexpr std::size_t kLeastRows = 300;
std::size_t rows_checked = 0;

/// That the table is as long as is promised, when none of its tests is left out.
class LongEnough : public ::testing::Environment {
  void TearDown() override {
    const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
    if (tests.test_to_run_count() == tests.total_test_count()) {
      EXPECT_GE(rows_checked, kLeastRows);
    }
  }
};
[[maybe_unused]] const auto* const kLongEnough = ::testing::AddGlobalTestEnvironment(new LongEnough);

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    ++rows_checked;
    SCOPED_TRACE(row.what);
    World world;
    EXPECT_EQ(tenfold_op_release(nullptr), tenfold_invalid_arguments);  // so that an old message is never the right one
    const tenfold_status_t status = row.call(world);
    EXPECT_EQ(status, row.status) << said(status);
    EXPECT_NE(std::string(tenfold_last_error()).find(row.part), std::string::npos) << said(status);
  }
}

constexpr tenfold_status_t kArguments = tenfold_invalid_arguments;
constexpr tenfold_status_t kShape = tenfold_invalid_shape;
constexpr tenfold_status_t kType = tenfold_invalid_data_type;
constexpr tenfold_status_t kGraph = tenfold_invalid_graph;
constexpr tenfold_status_t kOp = tenfold_invalid_graph_op;
constexpr tenfold_status_t kUnimplemented = tenfold_unimplemented;
constexpr std::int64_t kHuge = std::int64_t{1} << 40;

TEST(CMisuse, NullHandles) {
  check({
      {"op retain", kArguments, "'handle' is null", [](World&) { return tenfold_op_retain(nullptr); }},
      {"graph retain", kArguments, "'handle' is null", [](World&) { return tenfold_graph_retain(nullptr); }},
      {"partition retain", kArguments, "'handle'", [](World&) { return tenfold_partition_retain(nullptr); }},
      {"compiled retain", kArguments, "'handle'", [](World&) { return tenfold_compiled_partition_retain(nullptr); }},
      {"op release", kArguments, "'handle' is null", [](World&) { return tenfold_op_release(nullptr); }},
      {"graph release", kArguments, "'handle' is null", [](World&) { return tenfold_graph_release(nullptr); }},
      {"partition release", kArguments, "'handle'", [](World&) { return tenfold_partition_release(nullptr); }},
      {"compiled release", kArguments, "'handle'", [](World&) { return tenfold_compiled_partition_release(nullptr); }},
      {"add_input", kArguments, "'op'", [](World& w) { return tenfold_op_add_input(nullptr, &w.x); }},
      {"add_output", kArguments, "'op'", [](World& w) { return tenfold_op_add_output(nullptr, &w.y); }},
      {"skip_input", kArguments, "'op'", [](World&) { return tenfold_op_skip_input(nullptr); }},
      {"s64", kArguments, "'op'", [](World&) { return tenfold_op_set_attr_s64(nullptr, "axis", 1); }},
      {"s64s", kArguments, "'op'", [](World& w) { return tenfold_op_set_attr_s64s(nullptr, "axes", &w.axis, 1); }},
      {"f32", kArguments, "'op'", [](World&) { return tenfold_op_set_attr_f32(nullptr, "alpha", 1); }},
      {"f32s", kArguments, "'op'",
       [](World& w) { return tenfold_op_set_attr_f32s(nullptr, "scales", w.in.data(), 1); }},
      {"bool", kArguments, "'op'", [](World&) { return tenfold_op_set_attr_bool(nullptr, "keep_dims", 1); }},
      {"str", kArguments, "'op'", [](World&) { return tenfold_op_set_attr_str(nullptr, "mode", "m"); }},
      {"add_op graph", kArguments, "'graph'", [](World& w) { return tenfold_graph_add_op(nullptr, w.spare); }},
      {"add_op op", kArguments, "'op'", [](World& w) { return tenfold_graph_add_op(w.open, nullptr); }},
      {"add_constant", kArguments, "'graph'",
       [](World& w) { return tenfold_graph_add_constant(nullptr, &w.x, w.in.data(), 24); }},
      {"set_outputs", kArguments, "'graph'", [](World& w) { return tenfold_graph_set_outputs(nullptr, &w.axis, 1); }},
      {"finalize", kArguments, "'graph'", [](World&) { return tenfold_graph_finalize(nullptr); }},
      {"is_finalized", kArguments, "'graph'", [](World& w) { return tenfold_graph_is_finalized(nullptr, &w.flag); }},
      {"graph text", kArguments, "'graph'", [](World& w) { return tenfold_graph_get_text(nullptr, nullptr, &w.text); }},
      {"partition_num", kArguments, "'graph'",
       [](World& w) { return tenfold_graph_get_partition_num(nullptr, &w.count); }},
      {"partitions", kArguments, "'graph'",
       [](World& w) { return tenfold_graph_get_partitions(nullptr, 1, &w.made_partition); }},
      {"op_num", kArguments, "'partition'", [](World& w) { return tenfold_partition_get_op_num(nullptr, &w.count); }},
      {"op_ids", kArguments, "'partition'", [](World& w) { return tenfold_partition_get_op_ids(nullptr, 1, &w.axis); }},
      {"input_num", kArguments, "'partition'",
       [](World& w) { return tenfold_partition_get_input_num(nullptr, &w.count); }},
      {"inputs", kArguments, "'partition'",
       [](World& w) { return tenfold_partition_get_inputs(nullptr, 1, &w.out_tensor); }},
      {"output_num", kArguments, "'partition'",
       [](World& w) { return tenfold_partition_get_output_num(nullptr, &w.count); }},
      {"outputs", kArguments, "'partition'",
       [](World& w) { return tenfold_partition_get_outputs(nullptr, 1, &w.out_tensor); }},
      {"compile", kArguments, "'partition'",
       [](World& w) { return tenfold_partition_compile(&w.made_compiled, nullptr, nullptr); }},
      {"compiled input_num", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_get_input_num(nullptr, &w.count); }},
      {"compiled inputs", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_get_inputs(nullptr, 1, &w.out_tensor); }},
      {"compiled output_num", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_get_output_num(nullptr, &w.count); }},
      {"compiled outputs", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_get_outputs(nullptr, 1, &w.out_tensor); }},
      {"query tensor", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_query_logical_tensor(nullptr, 0, &w.out_tensor); }},
      {"query outputs", kArguments, "'compiled'",
       [](World& w) {
         return tenfold_compiled_partition_query_outputs(nullptr, w.inputs.data(), 1, &w.out_tensor, 1);
       }},
      {"prepare", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_prepare(nullptr, w.inputs.data(), 1); }},
      {"execute", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_execute(nullptr, w.inputs.data(), 1, w.outputs.data(), 1); }},
      {"explanation", kArguments, "'compiled'",
       [](World& w) { return tenfold_compiled_partition_get_explanation(nullptr, nullptr, &w.text); }},
  });
}

TEST(CMisuse, NullPointers) {
  check({
      {"init", kArguments, "'tensor'",
       [](World&) {
         return tenfold_logical_tensor_init(nullptr, 0, tenfold_f32, 1, tenfold_layout_type_any,
                                            tenfold_property_undef);
       }},
      {"init_with_dims tensor", kArguments, "'tensor'",
       [](World& w) {
         return tenfold_logical_tensor_init_with_dims(nullptr, 0, tenfold_f32, 1, &w.axis, tenfold_layout_type_any,
                                                      tenfold_property_undef);
       }},
      {"init_with_dims dims", kArguments, "'dims'",
       [](World& w) {
         return tenfold_logical_tensor_init_with_dims(&w.bad, 0, tenfold_f32, 1, nullptr, tenfold_layout_type_any,
                                                      tenfold_property_undef);
       }},
      {"init_with_strides tensor", kArguments, "'tensor'",
       [](World& w) {
         return tenfold_logical_tensor_init_with_strides(nullptr, 0, tenfold_f32, 1, &w.axis, &w.axis,
                                                         tenfold_property_undef);
       }},
      {"init_with_strides dims", kArguments, "'dims'",
       [](World& w) {
         return tenfold_logical_tensor_init_with_strides(&w.bad, 0, tenfold_f32, 1, nullptr, &w.axis,
                                                         tenfold_property_undef);
       }},
      {"init_with_strides strides", kArguments, "'strides'",
       [](World& w) {
         return tenfold_logical_tensor_init_with_strides(&w.bad, 0, tenfold_f32, 1, &w.axis, nullptr,
                                                         tenfold_property_undef);
       }},
      {"mem_size tensor", kArguments, "'tensor'",
       [](World& w) { return tenfold_logical_tensor_get_mem_size(nullptr, &w.count); }},
      {"mem_size size", kArguments, "'size'",
       [](World& w) { return tenfold_logical_tensor_get_mem_size(&w.x, nullptr); }},
      {"is_equal left", kArguments, "'left'",
       [](World& w) { return tenfold_logical_tensor_is_equal(nullptr, &w.x, &w.flag); }},
      {"is_equal right", kArguments, "'right'",
       [](World& w) { return tenfold_logical_tensor_is_equal(&w.x, nullptr, &w.flag); }},
      {"is_equal equal", kArguments, "'equal'",
       [](World& w) { return tenfold_logical_tensor_is_equal(&w.x, &w.x, nullptr); }},
      {"buffer", kArguments, "'buffer'", [](World& w) { return tenfold_buffer_create(nullptr, &w.x, nullptr); }},
      {"buffer tensor", kArguments, "'tensor'",
       [](World& w) { return tenfold_buffer_create(&w.memory, nullptr, nullptr); }},
      {"op", kArguments, "'op'", [](World&) { return tenfold_op_create(nullptr, 0, "Abs", nullptr); }},
      {"kind", kArguments, "'kind'", [](World& w) { return w.create(nullptr); }},
      {"add_input tensor", kArguments, "'tensor'", [](World& w) { return tenfold_op_add_input(w.spare, nullptr); }},
      {"add_output tensor", kArguments, "'tensor'", [](World& w) { return tenfold_op_add_output(w.spare, nullptr); }},
      {"s64 name", kArguments, "'name'", [](World& w) { return tenfold_op_set_attr_s64(w.spare, nullptr, 1); }},
      {"s64s name", kArguments, "'name'",
       [](World& w) { return tenfold_op_set_attr_s64s(w.spare, nullptr, &w.axis, 1); }},
      {"s64s values", kArguments, "'values'",
       [](World& w) { return tenfold_op_set_attr_s64s(w.spare, "axes", nullptr, 1); }},
      {"f32 name", kArguments, "'name'", [](World& w) { return tenfold_op_set_attr_f32(w.spare, nullptr, 1); }},
      {"f32s name", kArguments, "'name'",
       [](World& w) { return tenfold_op_set_attr_f32s(w.spare, nullptr, w.in.data(), 1); }},
      {"f32s values", kArguments, "'values'",
       [](World& w) { return tenfold_op_set_attr_f32s(w.spare, "scales", nullptr, 1); }},
      {"bool name", kArguments, "'name'", [](World& w) { return tenfold_op_set_attr_bool(w.spare, nullptr, 1); }},
      {"str name", kArguments, "'name'", [](World& w) { return tenfold_op_set_attr_str(w.spare, nullptr, "v"); }},
      {"str value", kArguments, "'value'", [](World& w) { return tenfold_op_set_attr_str(w.spare, "mode", nullptr); }},
      {"graph", kArguments, "'graph'", [](World&) { return tenfold_graph_create(nullptr); }},
      {"constant tensor", kArguments, "'tensor'",
       [](World& w) { return tenfold_graph_add_constant(w.open, nullptr, w.in.data(), 24); }},
      {"constant data", kArguments, "the data is null",
       [](World& w) { return tenfold_graph_add_constant(w.open, &w.x, nullptr, 24); }},
      {"output ids", kArguments, "'ids'", [](World& w) { return tenfold_graph_set_outputs(w.open, nullptr, 2); }},
      {"finalized", kArguments, "'finalized'", [](World& w) { return tenfold_graph_is_finalized(w.open, nullptr); }},
      {"json graph", kArguments, "'graph'", [](World&) { return tenfold_graph_from_json(nullptr, "{}", 2); }},
      {"json text", kArguments, "'text'", [](World& w) { return tenfold_graph_from_json(&w.made_graph, nullptr, 2); }},
      {"onnx graph", kArguments, "'graph'", [](World&) { return tenfold_graph_from_onnx(nullptr, "", 0, nullptr); }},
      {"onnx bytes", kArguments, "'bytes'",
       [](World& w) { return tenfold_graph_from_onnx(&w.made_graph, nullptr, 4, nullptr); }},
      {"graph text", kArguments, "'text'", [](World& w) { return tenfold_graph_get_text(w.graph, nullptr, nullptr); }},
      {"partition_num", kArguments, "'count'",
       [](World& w) { return tenfold_graph_get_partition_num(w.graph, nullptr); }},
      {"partitions", kArguments, "'partitions'",
       [](World& w) { return tenfold_graph_get_partitions(w.graph, 1, nullptr); }},
      {"op_num", kArguments, "'count'", [](World& w) { return tenfold_partition_get_op_num(w.partition, nullptr); }},
      {"op_ids", kArguments, "'ids'", [](World& w) { return tenfold_partition_get_op_ids(w.partition, 1, nullptr); }},
      {"input_num", kArguments, "'count'",
       [](World& w) { return tenfold_partition_get_input_num(w.partition, nullptr); }},
      {"inputs", kArguments, "'inputs'",
       [](World& w) { return tenfold_partition_get_inputs(w.partition, 1, nullptr); }},
      {"output_num", kArguments, "'count'",
       [](World& w) { return tenfold_partition_get_output_num(w.partition, nullptr); }},
      {"outputs", kArguments, "'outputs'",
       [](World& w) { return tenfold_partition_get_outputs(w.partition, 1, nullptr); }},
      {"compile", kArguments, "'compiled'",
       [](World& w) { return tenfold_partition_compile(nullptr, w.partition, nullptr); }},
      {"compiled input_num", kArguments, "'count'",
       [](World& w) { return tenfold_compiled_partition_get_input_num(w.compiled, nullptr); }},
      {"compiled inputs", kArguments, "'inputs'",
       [](World& w) { return tenfold_compiled_partition_get_inputs(w.compiled, 1, nullptr); }},
      {"compiled output_num", kArguments, "'count'",
       [](World& w) { return tenfold_compiled_partition_get_output_num(w.compiled, nullptr); }},
      {"compiled outputs", kArguments, "'outputs'",
       [](World& w) { return tenfold_compiled_partition_get_outputs(w.compiled, 1, nullptr); }},
      {"query tensor", kArguments, "'tensor'",
       [](World& w) { return tenfold_compiled_partition_query_logical_tensor(w.compiled, 0, nullptr); }},
      {"query outputs inputs", kArguments, "array of pointers is null",
       [](World& w) { return tenfold_compiled_partition_query_outputs(w.compiled, nullptr, 1, &w.out_tensor, 1); }},
      {"query outputs outputs", kArguments, "'outputs'",
       [](World& w) { return tenfold_compiled_partition_query_outputs(w.compiled, w.inputs.data(), 1, nullptr, 1); }},
      {"prepare inputs", kArguments, "array of pointers is null",
       [](World& w) { return tenfold_compiled_partition_prepare(w.compiled, nullptr, 1); }},
      {"execute inputs", kArguments, "array of pointers is null",
       [](World& w) { return tenfold_compiled_partition_execute(w.compiled, nullptr, 1, w.outputs.data(), 1); }},
      {"execute outputs", kArguments, "array of pointers is null",
       [](World& w) { return tenfold_compiled_partition_execute(w.compiled, w.inputs.data(), 1, nullptr, 1); }},
      {"explanation", kArguments, "'text'",
       [](World& w) { return tenfold_compiled_partition_get_explanation(w.compiled, nullptr, nullptr); }},
  });
}

TEST(CMisuse, Tensors) {
  const auto init = [](World& w, std::int64_t id, tenfold_data_type_t data_type, std::int32_t ndims,
                       tenfold_layout_type_t layout, tenfold_property_t property) {
    const tenfold_logical_tensor_t before = w.bad;
    const tenfold_status_t status = tenfold_logical_tensor_init(&w.bad, id, data_type, ndims, layout, property);
    EXPECT_EQ(std::memcmp(&before, &w.bad, sizeof before), 0) << "a failing call leaves the tensor as it was";
    return status;
  };
  const auto with_dims = [](World& w, const Dims& dims, tenfold_data_type_t data_type = tenfold_f32) {
    return tenfold_logical_tensor_init_with_dims(&w.bad, 0, data_type, static_cast<std::int32_t>(dims.size()),
                                                 dims.data(), tenfold_layout_type_strided, tenfold_property_undef);
  };
  const auto with_strides = [](World& w, const Dims& dims, const Dims& strides) {
    return tenfold_logical_tensor_init_with_strides(&w.bad, 0, tenfold_f32, static_cast<std::int32_t>(dims.size()),
                                                    dims.data(), strides.data(), tenfold_property_undef);
  };
  const auto any = tenfold_layout_type_any;
  const auto none = tenfold_property_undef;
  check({
      {"negative id", kArguments, "tensor -1: ids", [=](World& w) { return init(w, -1, tenfold_f32, 1, any, none); }},
      {"undef dtype", kType, "undef", [=](World& w) { return init(w, 0, tenfold_data_type_undef, 1, any, none); }},
      {"dtype 13", kType, "data_type is 13",
       [=](World& w) { return init(w, 0, static_cast<tenfold_data_type_t>(13), 1, any, none); }},
      {"dtype 15", kType, "data_type is 15",
       [=](World& w) { return init(w, 0, static_cast<tenfold_data_type_t>(15), 1, any, none); }},
      {"dtype max", kType, "data_type is 32767",
       [=](World& w) { return init(w, 0, tenfold_data_type_max, 1, any, none); }},
      {"ndims -2", kShape, "ndims is -2", [=](World& w) { return init(w, 0, tenfold_f32, -2, any, none); }},
      {"ndims 13", kShape, "ndims is 13", [=](World& w) { return init(w, 0, tenfold_f32, 13, any, none); }},
      {"opaque", kUnimplemented, "opaque layouts",
       [=](World& w) { return init(w, 0, tenfold_f32, 1, tenfold_layout_type_opaque, none); }},
      {"layout 4", kArguments, "layout_type is 4",
       [=](World& w) { return init(w, 0, tenfold_f32, 1, static_cast<tenfold_layout_type_t>(4), none); }},
      {"property 4", kArguments, "property is 4",
       [=](World& w) { return init(w, 0, tenfold_f32, 1, any, static_cast<tenfold_property_t>(4)); }},
      {"negative dim", kShape, "dim -3 is negative",
       [=](World& w) {
         return with_dims(w, {2, -3});
       }},
      {"huge dims", kShape, "2^47",
       [=](World& w) {
         return with_dims(w, {kHuge, kHuge});
       }},
      {"a huge dim beside a zero", kShape, "2^47",
       [=](World& w) {
         return with_dims(w, {kHuge, 0, kHuge});
       }},
      {"huge bytes", kShape, "2^47", [=](World& w) { return with_dims(w, {kHuge * 64}, tenfold_f64); }},
      {"a huge dim beside an open one", kShape, "2^47",
       [=](World& w) {
         return with_dims(w, {kHuge, TENFOLD_UNKNOWN_DIM, kHuge});
       }},
      {"rank 13", kShape, "ndims is 13", [=](World& w) { return with_dims(w, Dims(13, 1)); }},
      {"rank -1 with dims", kShape, "ndims is -1",
       [](World& w) {
         return tenfold_logical_tensor_init_with_dims(&w.bad, 0, tenfold_f32, -1, &w.axis, tenfold_layout_type_any,
                                                      tenfold_property_undef);
       }},
      {"negative stride", kShape, "stride -1",
       [=](World& w) {
         return with_strides(w, {2, 2}, {2, -1});
       }},
      {"huge stride", kShape, "2^47",
       [=](World& w) {
         return with_strides(w, {2, 2}, {1, kHuge * 256});
       }},
      {"rank 13 with strides", kShape, "ndims is 13",
       [=](World& w) { return with_strides(w, Dims(13, 1), Dims(13, 1)); }},
      {"mem_size of open dims", kShape, "not all known",
       [](World& w) { return tenfold_logical_tensor_get_mem_size(&w.y, &w.count); }},
      {"mem_size of garbage", kShape, "ndims is 77",
       [](World& w) { return w.bad.ndims = 77, tenfold_logical_tensor_get_mem_size(&w.bad, &w.count); }},
      {"is_equal of garbage", kShape, "ndims is 77",
       [](World& w) { return w.bad.ndims = 77, tenfold_logical_tensor_is_equal(&w.x, &w.bad, &w.flag); }},
      {"buffer of open dims", kShape, "not all known",
       [](World& w) { return tenfold_buffer_create(&w.memory, &w.y, nullptr); }},
      {"by hand: id", kArguments, "spare", [](World& w) { return w.bad.id = -5, w.add_bad(); }},
      {"by hand: dtype", kType, "data_type is 99",
       [](World& w) { return w.bad.data_type = static_cast<tenfold_data_type_t>(99), w.add_bad(); }},
      {"by hand: ndims", kShape, "ndims is 100", [](World& w) { return w.bad.ndims = 100, w.add_bad(); }},
      {"by hand: lowest ndims", kShape, "ndims is -2147483648",
       [](World& w) { return w.bad.ndims = std::numeric_limits<std::int32_t>::min(), w.add_bad(); }},
      {"by hand: dim", kShape, "dim -7", [](World& w) { return w.bad.dims[1] = -7, w.add_bad(); }},
      {"by hand: stride", kShape, "stride -7", [](World& w) { return w.bad.strides[0] = -7, w.add_bad(); }},
      {"by hand: property", kArguments, "property is 32767",
       [](World& w) { return w.bad.property = tenfold_property_max, w.add_bad(); }},
      {"by hand: layout", kArguments, "layout_type is 9",
       [](World& w) { return w.bad.layout_type = static_cast<tenfold_layout_type_t>(9), w.add_bad(); }},
      {"by hand: opaque", kUnimplemented, "opaque",
       [](World& w) { return w.bad.layout_type = tenfold_layout_type_opaque, w.add_bad(); }},
      {"output dtype", kType, "undef",
       [](World& w) { return w.bad.data_type = tenfold_data_type_undef, tenfold_op_add_output(w.spare, &w.bad); }},
  });
}

TEST(CMisuse, OpsAndAttributes) {
  const auto reduce = [](World& w) { return w.finalize_spare({w.x}, {w.y}); };
  check({
      {"negative op id", kArguments, "op id -1",
       [](World& w) { return tenfold_op_create(&w.made_op, -1, "Abs", nullptr); }},
      {"empty kind", kUnimplemented, "kind ''", [](World& w) { return w.create(""); }},
      {"unknown kind", kUnimplemented, "did you mean 'ReduceMax'?", [](World& w) { return w.create("ReduceMx"); }},
      {"wrong case", kUnimplemented, "no such op", [](World& w) { return w.create("reducemax"); }},
      {"ONNX's op without its dialect", kUnimplemented, "onednn has no such op",
       [](World& w) { return w.create("ArgMax"); }},
      {"unknown ONNX op", kUnimplemented, "onnx has no such op", [](World& w) { return w.create("onnx.Quux"); }},
      {"unknown dialect", kUnimplemented, "the dialects are onednn and onnx",
       [](World& w) { return w.create("tf.Max"); }},
      {"our inner dialect", kUnimplemented, "the dialects are", [](World& w) { return w.create("core.reduce"); }},
      {"opset of oneDNN", kArguments, "opset", [](World& w) { return w.create("ReduceMax@1"); }},
      {"empty opset", kArguments, "opset", [](World& w) { return w.create("onnx.ReduceMax@"); }},
      {"opset 0", kArguments, "opset", [](World& w) { return w.create("onnx.ReduceMax@0"); }},
      {"opset -1", kArguments, "opset", [](World& w) { return w.create("onnx.ReduceMax@-1"); }},
      {"opset x", kArguments, "opset", [](World& w) { return w.create("onnx.ReduceMax@1x"); }},
      {"huge opset", kArguments, "opset", [](World& w) { return w.create("onnx.ReduceMax@99999999999"); }},
      {"too early an opset", kUnimplemented, "younger than opset 1", [](World& w) { return w.create("onnx.Mish@1"); }},
      {"empty attribute name", kArguments, "name is empty",
       [](World& w) { return tenfold_op_set_attr_s64(w.spare, "", 1); }},
      {"boolean 2", kArguments, "0 or 1, not 2",
       [](World& w) { return tenfold_op_set_attr_bool(w.spare, "keep_dims", 2); }},
      {"boolean -1", kArguments, "0 or 1, not -1",
       [](World& w) { return tenfold_op_set_attr_bool(w.spare, "keep_dims", -1); }},
      {"negative count", kArguments, "the most are 2^28",
       [](World& w) { return tenfold_op_set_attr_s64s(w.spare, "axes", &w.axis, static_cast<std::size_t>(-1)); }},
      {"huge count", kArguments, "the most are 2^28",
       [](World& w) { return tenfold_op_set_attr_f32s(w.spare, "scales", w.in.data(), std::size_t{1} << 40); }},
      {"huge count of outputs", kArguments, "the most are 2^28",
       [](World& w) { return tenfold_graph_set_outputs(w.open, &w.axis, static_cast<std::size_t>(-1)); }},
      {"unknown attribute", kOp, "axess",
       [=](World& w) { return tenfold_op_set_attr_s64s(w.spare, "axess", &w.axis, 1), reduce(w); }},
      {"attribute of another type", kOp, "keep_dims",
       [=](World& w) { return tenfold_op_set_attr_f32(w.spare, "keep_dims", 1), reduce(w); }},
      {"one axis as a scalar", kOp, "axes",
       [=](World& w) { return tenfold_op_set_attr_str(w.spare, "axes", "1"), reduce(w); }},
      {"axis out of range", kOp, "reduce.C3", [=](World& w) { return w.add_axes(w.spare, {2}), reduce(w); }},
      {"axis twice", kOp, "reduce.C4",
       [=](World& w) {
         return w.add_axes(w.spare, {1, -1}), reduce(w);
       }},
      {"no input", kOp, "spare", [](World& w) { return w.finalize_spare({}, {w.y}); }},
      {"no output", kOp, "spare", [](World& w) { return w.finalize_spare({w.x}, {}); }},
      {"too many inputs", kOp, "spare",
       [](World& w) {
         return w.finalize_spare({w.x, tensor(2, tenfold_s32, {1}), tensor(3, tenfold_s32, {1})}, {w.y});
       }},
      {"too many outputs", kOp, "spare",
       [](World& w) {
         return w.finalize_spare({w.x}, {w.y, open_tensor(2, tenfold_f32)});
       }},
      {"a left-out input of oneDNN's", kOp, "spare",
       [](World& w) { return tenfold_op_skip_input(w.spare), w.finalize_spare({w.x}, {w.y}); }},
      {"another dtype out", kType, "spare",
       [](World& w) { return w.add_axes(w.spare, {1}), w.finalize_spare({w.x}, {open_tensor(1, tenfold_f16)}); }},
      {"a dtype that the op does not take", kType, "spare",
       [](World& w) {
         return w.add_axes(w.spare, {1}),
                w.finalize_spare({tensor(0, tenfold_boolean, {2, 3})}, {open_tensor(1, tenfold_boolean)});
       }},
      {"an output shape that cannot be", kShape, "spare",
       [](World& w) { return w.add_axes(w.spare, {1}), w.finalize_spare({w.x}, {tensor(1, tenfold_f32, {7})}); }},
  });
}

TEST(CMisuse, Graphs) {
  check({
      {"finalize an empty graph", kGraph, "no op", [](World& w) { return tenfold_graph_finalize(w.open); }},
      {"finalize twice", kGraph, "is finalized", [](World& w) { return tenfold_graph_finalize(w.graph); }},
      {"add_op when finalized", kGraph, "is finalized",
       [](World& w) { return tenfold_graph_add_op(w.graph, w.spare); }},
      {"add_constant when finalized", kGraph, "is finalized",
       [](World& w) { return tenfold_graph_add_constant(w.graph, &w.x, w.in.data(), 24); }},
      {"set_outputs when finalized", kGraph, "is finalized",
       [](World& w) { return tenfold_graph_set_outputs(w.graph, &w.axis, 1); }},
      {"partition_num before", kGraph, "not finalized",
       [](World& w) { return tenfold_graph_get_partition_num(w.open, &w.count); }},
      {"partitions before", kGraph, "not finalized",
       [](World& w) { return tenfold_graph_get_partitions(w.open, 1, &w.made_partition); }},
      {"text before", kGraph, "not finalized",
       [](World& w) { return tenfold_graph_get_text(w.open, nullptr, &w.text); }},
      {"two ops of an id", kGraph, "its id is taken",
       [](World& w) { return w.add_abs(3, w.x, w.y), w.add_abs(3, w.y, open_tensor(2, tenfold_f32)); }},
      {"two producers", kGraph, "graph.G2",
       [](World& w) { return w.add_abs(3, w.x, w.y), w.add_abs(4, w.x, w.y), tenfold_graph_finalize(w.open); }},
      {"a cycle", kGraph, "graph.G3",
       [](World& w) { return w.add_abs(3, w.x, w.y), w.add_abs(4, w.y, w.x), tenfold_graph_finalize(w.open); }},
      {"another dtype before", kGraph, "tensor 0 is f16 here, but was f32 before",
       [](World& w) {
         return w.add_abs(3, w.x, w.y), w.add_abs(4, tensor(0, tenfold_f16, {2, 3}), open_tensor(2, tenfold_f16));
       }},
      {"other dims before", kGraph, "[2, 4] here, but was [2, 3] before",
       [](World& w) {
         return w.add_abs(3, w.x, w.y), w.add_abs(4, tensor(0, tenfold_f32, {2, 4}), open_tensor(2, tenfold_f32));
       }},
      {"another rank before", kGraph, "[6] here",
       [](World& w) {
         return w.add_abs(3, w.x, w.y), w.add_abs(4, tensor(0, tenfold_f32, {6}), open_tensor(2, tenfold_f32));
       }},
      {"other strides before", kGraph, "of strides [1, 2] here",
       [](World& w) {
         w.bad.strides[0] = 1;
         w.bad.strides[1] = 2;
         return w.add_abs(3, w.x, w.y), w.add_abs(4, w.bad, open_tensor(2, tenfold_f32));
       }},
      {"another property before", kGraph, "variable here, but was constant before",
       [](World& w) {
         w.x.property = tenfold_property_constant;
         w.bad.property = tenfold_property_variable;
         return w.add_abs(3, w.x, w.y), w.add_abs(4, w.bad, open_tensor(2, tenfold_f32));
       }},
      {"contradiction within an op", kGraph, "tensor 0 is",
       [](World& w) {
         return w.add_abs(3, w.x, tensor(0, tenfold_f32, {3, 3}));
       }},
      {"constant: short data", kArguments, "23 bytes of data given, it has 24",
       [](World& w) { return tenfold_graph_add_constant(w.open, &w.x, w.in.data(), 23); }},
      {"constant: long data", kArguments, "25 bytes",
       [](World& w) { return tenfold_graph_add_constant(w.open, &w.x, w.in.data(), 25); }},
      {"constant: open dims", kShape, "must all be known",
       [](World& w) { return tenfold_graph_add_constant(w.open, &w.y, w.in.data(), 24); }},
      {"constant: strides", kShape, "not row-major",
       [](World& w) {
         w.bad.strides[0] = 1;
         w.bad.strides[1] = 2;
         return tenfold_graph_add_constant(w.open, &w.bad, w.in.data(), 24);
       }},
      {"constant twice", kGraph, "has its data already",
       [](World& w) {
         EXPECT_OK(tenfold_graph_add_constant(w.open, &w.x, w.in.data(), 24));
         return tenfold_graph_add_constant(w.open, &w.x, w.in.data(), 24);
       }},
      {"constant of a variable", kGraph, "constant here, but was variable before",
       [](World& w) {
         w.x.property = tenfold_property_variable;
         w.add_abs(3, w.x, w.y);
         return w.bad.property = tenfold_property_undef, tenfold_graph_add_constant(w.open, &w.bad, w.in.data(), 24);
       }},
      {"constant that an op produces", kGraph, "graph.G7",
       [](World& w) {
         const tenfold_logical_tensor_t z = tensor(1, tenfold_f32, {2, 3});
         w.add_abs(3, w.x, w.y);
         EXPECT_OK(tenfold_graph_add_constant(w.open, &z, w.in.data(), 24));
         return tenfold_graph_finalize(w.open);
       }},
      {"unknown output", kGraph, "output 77 is no tensor",
       [](World& w) {
         const std::int64_t id = 77;
         w.add_abs(3, w.x, w.y);
         return tenfold_graph_set_outputs(w.open, &id, 1), tenfold_graph_finalize(w.open);
       }},
      {"output twice", kGraph, "listed twice",
       [](World& w) {
         const std::int64_t ids[] = {1, 1};
         w.add_abs(3, w.x, w.y);
         return tenfold_graph_set_outputs(w.open, ids, 2), tenfold_graph_finalize(w.open);
       }},
      {"an input as output", kGraph, "no op makes it",
       [](World& w) {
         const std::int64_t id = 0;
         w.add_abs(3, w.x, w.y);
         return tenfold_graph_set_outputs(w.open, &id, 1), tenfold_graph_finalize(w.open);
       }},
      {"no partitions", kArguments, "has 0 elements; there are 1",
       [](World& w) { return tenfold_graph_get_partitions(w.graph, 0, &w.made_partition); }},
      {"two partitions", kArguments, "has 2 elements; there are 1",
       [](World& w) { return tenfold_graph_get_partitions(w.graph, 2, &w.made_partition); }},
      {"JSON: empty", kArguments, "", [](World& w) { return w.read_json(""); }},
      {"JSON: no object", kArguments, "", [](World& w) { return w.read_json("[]"); }},
      {"JSON: cut off", kArguments, "", [](World& w) { return w.read_json(R"({"graph": [)"); }},
      {"ONNX: garbage", kArguments, "",
       [](World& w) {
         const tenfold_status_t status = tenfold_graph_from_onnx(&w.made_graph, "\xff\xff\xff", 3, nullptr);
         return status == kUnimplemented ? kArguments : status;  // built without ONNX
       }},
  });
}

TEST(CMisuse, GrowingStructs) {
  const auto allocate = [](World& w) { return tenfold_buffer_create(&w.memory, &w.x, &w.allocator); };
  const auto pooled = [](World& w) { return w.options.pool = &w.pool, w.compile_with(); };
  const auto read = [](World& w) { return tenfold_graph_from_onnx(&w.made_graph, "", 0, &w.onnx); };
  const std::size_t huge = std::numeric_limits<std::size_t>::max();
  check({
      {"options 0", kArguments, "struct_size is 0",
       [](World& w) { return w.options.struct_size = 0, w.compile_with(); }},
      {"options 1 less", kArguments, "struct_size is 47",
       [](World& w) { return w.options.struct_size = 47, w.compile_with(); }},
      {"options garbage", kArguments, "struct_size is 4097",
       [](World& w) { return w.options.struct_size = 4097, w.compile_with(); }},
      {"options huge", kArguments, "struct_size is 18446744073709551615",
       [=](World& w) { return w.options.struct_size = huge, w.compile_with(); }},
      {"pool 0", kArguments, "pool: struct_size is 0", [=](World& w) { return w.pool.struct_size = 0, pooled(w); }},
      {"pool short", kArguments, "pool: struct_size is 24",
       [=](World& w) { return w.pool.struct_size = 24, pooled(w); }},
      {"pool huge", kArguments, "pool: struct_size", [=](World& w) { return w.pool.struct_size = huge, pooled(w); }},
      {"pool without num_threads", kArguments, "'num_threads'",
       [=](World& w) { return w.pool.num_threads = nullptr, pooled(w); }},
      {"pool without parallel_for", kArguments, "'parallel_for' is null",
       [=](World& w) { return w.pool.parallel_for = nullptr, pooled(w); }},
      {"allocator 0", kArguments, "allocator: struct_size is 0",
       [=](World& w) { return w.allocator.struct_size = 0, allocate(w); }},
      {"allocator short", kArguments, "allocator: struct_size is 31",
       [=](World& w) { return w.allocator.struct_size = 31, allocate(w); }},
      {"allocator huge", kArguments, "allocator: struct_size",
       [=](World& w) { return w.allocator.struct_size = huge, allocate(w); }},
      {"allocator without allocate", kArguments, "'allocate'",
       [=](World& w) { return w.allocator.allocate = nullptr, allocate(w); }},
      {"allocator without deallocate", kArguments, "'deallocate' is null",
       [=](World& w) { return w.allocator.deallocate = nullptr, allocate(w); }},
      {"allocator of a text", kArguments, "allocator: struct_size is 0",
       [](World& w) { return w.allocator.struct_size = 0, tenfold_graph_get_text(w.graph, &w.allocator, &w.text); }},
      {"allocator of an explanation", kArguments, "allocator: struct_size is 0",
       [](World& w) {
         return w.allocator.struct_size = 0,
                tenfold_compiled_partition_get_explanation(w.compiled, &w.allocator, &w.text);
       }},
      {"allocator of a release", kArguments, "allocator: struct_size is 0",
       [](World& w) { return w.allocator.struct_size = 0, tenfold_memory_release(w.in.data(), &w.allocator); }},
      {"onnx 0", kArguments, "options: struct_size is 0", [=](World& w) { return w.onnx.struct_size = 0, read(w); }},
      {"onnx short", kArguments, "options: struct_size is 8",
       [=](World& w) { return w.onnx.struct_size = 8, read(w); }},
      {"onnx huge", kArguments, "options: struct_size", [=](World& w) { return w.onnx.struct_size = huge, read(w); }},
      {"log level 4", kArguments, "level is 4",
       [](World&) { return tenfold_set_log_callback(nullptr, nullptr, static_cast<tenfold_log_level_t>(4)); }},
      {"log level -1", kArguments, "level is -1",
       [](World&) { return tenfold_set_log_callback(nullptr, nullptr, static_cast<tenfold_log_level_t>(-1)); }},
      {"log level max", kArguments, "level is 32767",
       [](World&) { return tenfold_set_log_callback(nullptr, nullptr, tenfold_log_level_max); }},
  });
}

TEST(CMisuse, Compiling) {
  check({
      {"unknown isa", kArguments, "avx3", [](World& w) { return w.options.isa = "avx3", w.compile_with(); }},
      {"negative threads", kArguments, "threads is -1",
       [](World& w) { return w.options.threads = -1, w.compile_with(); }},
      {"no_fusion 2", kArguments, "no_fusion is 2", [](World& w) { return w.options.no_fusion = 2, w.compile_with(); }},
      {"a tuning file that is not there", kArguments, "tuning file 'none.tuning' cannot be read",
       [](World& w) { return w.options.tuning_file = "none.tuning", w.compile_with(); }},
      {"null inputs", kArguments, "'inputs' is null",
       [](World& w) { return w.options.input_count = 1, w.compile_with(); }},
      {"too many inputs", kArguments, "2 inputs; the graph has 1: 0 (f32 [2, 3]); tensor 5 is none of them",
       [](World& w) {
         const std::array<tenfold_logical_tensor_t, 2> two{w.x, tensor(5, tenfold_f32, {2, 3})};
         w.options.inputs = two.data();
         return w.options.input_count = 2, w.compile_with();
       }},
      {"an input twice", kArguments, "the graph has 1: 0 (f32 [2, 3]); tensor 0 is given more than once",
       [](World& w) {
         const std::array<tenfold_logical_tensor_t, 2> two{w.x, w.x};
         w.options.inputs = two.data();
         return w.options.input_count = 2, w.compile_with();
       }},
      {"huge input count", kArguments, "the graph has 1",
       [](World& w) {
         w.options.inputs = &w.x;
         return w.options.input_count = std::numeric_limits<std::size_t>::max(), w.compile_with();
       }},
      {"unknown input", kArguments, "tensor 5: the graph has no such input; its inputs are 0 (f32 [2, 3])",
       [](World& w) {
         return w.compile_for(tensor(5, tenfold_f32, {2, 3}));
       }},
      {"an output as input", kArguments, "no such input",
       [](World& w) { return w.compile_for(tensor(1, tenfold_f32, {2})); }},
      {"another dtype", kType, "f16; in the graph it is f32",
       [](World& w) {
         return w.compile_for(tensor(0, tenfold_f16, {2, 3}));
       }},
      {"open dims", kShape, "a dim is not known",
       [](World& w) {
         return w.compile_for(tensor(0, tenfold_f32, {TENFOLD_UNKNOWN_DIM, 3}));
       }},
      {"dims that stay open", kShape, "unknown dims: 0 [?, 3]; give their dims when compiling",
       [](World& w) {
         tenfold_partition_t part = nullptr;
         EXPECT_OK(w.add_axes(w.spare, {1}));
         EXPECT_OK(w.finalize_spare({tensor(0, tenfold_f32, {TENFOLD_UNKNOWN_DIM, 3})}, {w.y}));
         EXPECT_OK(tenfold_graph_get_partitions(w.open, 1, &part));
         const tenfold_status_t status = tenfold_partition_compile(&w.made_compiled, part, nullptr);
         EXPECT_OK(tenfold_partition_release(&part));
         return status;
       }},
      {"open rank", kShape, "rank is open", [](World& w) { return w.compile_for(open_tensor(0, tenfold_f32)); }},
      {"open dim", kShape, "not known",
       [](World& w) {
         return w.compile_for(tensor(0, tenfold_f32, {TENFOLD_UNKNOWN_DIM, 3}));
       }},
      {"opaque", kUnimplemented, "opaque",
       [](World& w) { return w.bad.layout_type = tenfold_layout_type_opaque, w.compile_for(w.bad); }},
      {"negative dim", kShape, "dim -2", [](World& w) { return w.bad.dims[0] = -2, w.compile_for(w.bad); }},
      {"negative stride", kShape, "stride -2", [](World& w) { return w.bad.strides[0] = -2, w.compile_for(w.bad); }},
      {"a rank that the axes do not fit", kOp, "reduce.C3",
       [](World& w) { return w.compile_for(tensor(0, tenfold_f32, {6})); }},
  });
}

TEST(CMisuse, Executing) {
  const auto given = [](World& w, const void* in, void* out) {
    w.inputs[0] = in;
    w.outputs[0] = out;
    return w.run(1, 1);
  };
  const auto bytes = [](auto& array) { return reinterpret_cast<char*>(array.data()); };
  check({
      {"no input", kArguments, "0 inputs given, the partition has 1", [](World& w) { return w.run(0, 1); }},
      {"two inputs", kArguments, "2 inputs given", [](World& w) { return w.run(2, 1); }},
      {"no output", kArguments, "0 outputs given", [](World& w) { return w.run(1, 0); }},
      {"two outputs", kArguments, "2 outputs given", [](World& w) { return w.run(1, 2); }},
      {"null input", kArguments, "input 0 (tensor 0): the pointer is null",
       [=](World& w) { return given(w, nullptr, w.out.data()); }},
      {"null output", kArguments, "output 0 (tensor 1): the pointer is null",
       [=](World& w) { return given(w, w.in.data(), nullptr); }},
      {"input off by 1", kArguments, "not aligned", [=](World& w) { return given(w, bytes(w.in) + 1, w.out.data()); }},
      {"input off by 2", kArguments, "not aligned", [=](World& w) { return given(w, bytes(w.in) + 2, w.out.data()); }},
      {"output off by 1", kArguments, "not aligned", [=](World& w) { return given(w, w.in.data(), bytes(w.out) + 1); }},
      {"output off by 3", kArguments, "not aligned", [=](World& w) { return given(w, w.in.data(), bytes(w.out) + 3); }},
      {"in place", kArguments, "overlaps", [=](World& w) { return given(w, w.in.data(), w.in.data()); }},
      {"overlap", kArguments, "overlaps", [=](World& w) { return given(w, w.in.data(), w.in.data() + 5); }},
      {"query: no input", kArguments, "0 inputs given",
       [](World& w) {
         return tenfold_compiled_partition_query_outputs(w.compiled, w.inputs.data(), 0, &w.out_tensor, 1);
       }},
      {"query: two outputs", kArguments, "has 2 elements; there are 1",
       [](World& w) {
         return tenfold_compiled_partition_query_outputs(w.compiled, w.inputs.data(), 1, &w.out_tensor, 2);
       }},
      {"prepare: two inputs", kArguments, "2 inputs given",
       [](World& w) { return tenfold_compiled_partition_prepare(w.compiled, w.inputs.data(), 2); }},
      {"unknown tensor", kArguments, "tensor 9 is neither",
       [](World& w) { return tenfold_compiled_partition_query_logical_tensor(w.compiled, 9, &w.out_tensor); }},
      {"inputs: 0", kArguments, "'inputs' has 0 elements",
       [](World& w) { return tenfold_compiled_partition_get_inputs(w.compiled, 0, &w.out_tensor); }},
      {"inputs: 2", kArguments, "'inputs' has 2 elements",
       [](World& w) { return tenfold_compiled_partition_get_inputs(w.compiled, 2, &w.out_tensor); }},
      {"outputs: 0", kArguments, "'outputs' has 0 elements",
       [](World& w) { return tenfold_compiled_partition_get_outputs(w.compiled, 0, &w.out_tensor); }},
      {"outputs: 2", kArguments, "'outputs' has 2 elements",
       [](World& w) { return tenfold_compiled_partition_get_outputs(w.compiled, 2, &w.out_tensor); }},
      {"partition inputs: 2", kArguments, "'inputs' has 2 elements",
       [](World& w) { return tenfold_partition_get_inputs(w.partition, 2, &w.out_tensor); }},
      {"partition outputs: 0", kArguments, "'outputs' has 0 elements",
       [](World& w) { return tenfold_partition_get_outputs(w.partition, 0, &w.out_tensor); }},
      {"partition ops: 2", kArguments, "'ids' has 2 elements",
       [](World& w) { return tenfold_partition_get_op_ids(w.partition, 2, &w.axis); }},
  });
}

TEST(CMisuse, Partitions) {
  const auto policy = [](int number) { return static_cast<tenfold_policy_t>(number); };
  check({
      {"check: null", kArguments, "'op' is null", [](World&) { return tenfold_op_check(nullptr); }},
      {"check: no input", kOp, "input", [](World& w) { return tenfold_op_check(w.spare); }},
      {"check: an attribute of another op", kOp, "alpha",
       [](World& w) {
         EXPECT_OK(w.add_bad());
         EXPECT_OK(tenfold_op_add_output(w.spare, &w.y));
         EXPECT_OK(tenfold_op_set_attr_f32(w.spare, "alpha", 1));
         return tenfold_op_check(w.spare);
       }},
      {"json: null graph", kArguments, "'graph' is null",
       [](World& w) { return tenfold_graph_get_json(nullptr, nullptr, &w.text); }},
      {"json: null text", kArguments, "'text' is null",
       [](World& w) { return tenfold_graph_get_json(w.graph, nullptr, nullptr); }},
      {"json: open graph", kGraph, "not finalized",
       [](World& w) { return tenfold_graph_get_json(w.open, nullptr, &w.text); }},
      {"json: allocator", kArguments, "allocator: struct_size is 0",
       [](World& w) { return w.allocator.struct_size = 0, tenfold_graph_get_json(w.graph, &w.allocator, &w.text); }},
      {"json: no memory", tenfold_out_of_memory, "null",
       [](World& w) { return tenfold_graph_get_json(w.graph, &w.allocator, &w.text); }},
      {"partition json: null partition", kArguments, "'partition' is null",
       [](World& w) { return tenfold_partition_get_json(nullptr, nullptr, &w.text); }},
      {"partition json: null text", kArguments, "'text' is null",
       [](World& w) { return tenfold_partition_get_json(w.partition, nullptr, nullptr); }},
      {"num_by: null graph", kArguments, "'graph' is null",
       [=](World& w) { return tenfold_graph_get_partition_num_by(nullptr, policy(1), &w.count); }},
      {"num_by: null count", kArguments, "'count' is null",
       [=](World& w) { return tenfold_graph_get_partition_num_by(w.graph, policy(1), nullptr); }},
      {"num_by: open graph", kGraph, "not finalized",
       [=](World& w) { return tenfold_graph_get_partition_num_by(w.open, policy(1), &w.count); }},
      {"num_by: policy 0", kArguments, "policy is 0",
       [=](World& w) { return tenfold_graph_get_partition_num_by(w.graph, policy(0), &w.count); }},
      {"num_by: policy 3", kArguments, "policy is 3",
       [=](World& w) { return tenfold_graph_get_partition_num_by(w.graph, policy(3), &w.count); }},
      {"partitions_by: null graph", kArguments, "'graph' is null",
       [=](World& w) { return tenfold_graph_get_partitions_by(nullptr, policy(1), 1, &w.made_partition); }},
      {"partitions_by: null array", kArguments, "'partitions' is null",
       [=](World& w) { return tenfold_graph_get_partitions_by(w.graph, policy(2), 1, nullptr); }},
      {"partitions_by: open graph", kGraph, "not finalized",
       [=](World& w) { return tenfold_graph_get_partitions_by(w.open, policy(2), 1, &w.made_partition); }},
      {"partitions_by: none", kArguments, "has 0 elements; there are 1",
       [=](World& w) { return tenfold_graph_get_partitions_by(w.graph, policy(2), 0, &w.made_partition); }},
      {"partitions_by: two", kArguments, "has 2 elements; there are 1",
       [=](World& w) { return tenfold_graph_get_partitions_by(w.graph, policy(2), 2, &w.made_partition); }},
      {"partitions_by: policy -1", kArguments, "policy is -1",
       [=](World& w) { return tenfold_graph_get_partitions_by(w.graph, policy(-1), 1, &w.made_partition); }},
      {"id: null partition", kArguments, "'partition' is null",
       [](World& w) { return tenfold_partition_get_id(nullptr, &w.count); }},
      {"id: null id", kArguments, "'id' is null",
       [](World& w) { return tenfold_partition_get_id(w.partition, nullptr); }},
      {"supported: null partition", kArguments, "'partition' is null",
       [](World& w) { return tenfold_partition_is_supported(nullptr, &w.flag); }},
      {"supported: null flag", kArguments, "'supported' is null",
       [](World& w) { return tenfold_partition_is_supported(w.partition, nullptr); }},
      {"compile what is not supported", kArguments, "not supported: op 7 (Wildcard)",
       [](World& w) {
         tenfold_op_t wildcard = nullptr;
         tenfold_partition_t part = nullptr;
         EXPECT_OK(tenfold_op_create(&wildcard, 7, "Wildcard", nullptr));
         EXPECT_OK(tenfold_op_add_output(wildcard, &w.x));
         EXPECT_OK(tenfold_graph_add_op(w.open, wildcard));
         EXPECT_OK(tenfold_graph_finalize(w.open));
         EXPECT_OK(tenfold_graph_get_partitions(w.open, 1, &part));
         const tenfold_status_t status = tenfold_partition_compile(&w.made_compiled, part, nullptr);
         EXPECT_OK(tenfold_op_release(&wildcard));
         EXPECT_OK(tenfold_partition_release(&part));
         return status;
       }},
  });
}

TEST(CMisuse, WishesForOutputs) {
  const auto compile_to = [](World& w, const tenfold_logical_tensor_t& t) {
    w.options.output_count = 1;
    w.options.outputs = &t;
    return w.compile_with();
  };
  check({
      {"null outputs", kArguments, "'outputs' is null",
       [](World& w) { return w.options.output_count = 1, w.compile_with(); }},
      {"too many outputs", kArguments, "2 outputs; the graph has 1: 1 (f32 [2]); tensor 1 is given more than once",
       [](World& w) {
         const std::array<tenfold_logical_tensor_t, 2> two{w.y, w.y};
         w.options.outputs = two.data();
         return w.options.output_count = 2, w.compile_with();
       }},
      {"huge output count", kArguments, "the graph has 1",
       [](World& w) {
         w.options.outputs = &w.y;
         return w.options.output_count = std::numeric_limits<std::size_t>::max(), w.compile_with();
       }},
      {"unknown output", kArguments, "tensor 5: the partition has no such output; its outputs are 1 (f32 [2])",
       [=](World& w) { return compile_to(w, tensor(5, tenfold_f32, {2})); }},
      {"an input as output", kArguments, "no such output", [=](World& w) { return compile_to(w, w.x); }},
      {"another dtype", kType, "f16; in the graph it is f32",
       [=](World& w) { return compile_to(w, tensor(1, tenfold_f16, {2})); }},
      {"another shape", kShape, "", [=](World& w) { return compile_to(w, tensor(1, tenfold_f32, {3})); }},
      {"another rank", kShape, "",
       [=](World& w) {
         return compile_to(w, tensor(1, tenfold_f32, {2, 1}));
       }},
      {"opaque", kUnimplemented, "opaque",
       [=](World& w) {
         w.bad = tensor(1, tenfold_f32, {2});
         return w.bad.layout_type = tenfold_layout_type_opaque, compile_to(w, w.bad);
       }},
      {"stride 0", kShape, "",
       [=](World& w) {
         w.bad = tensor(1, tenfold_f32, {2});
         return w.bad.strides[0] = 0, compile_to(w, w.bad);
       }},
      {"negative stride", kShape, "stride -1",
       [=](World& w) {
         w.bad = tensor(1, tenfold_f32, {2});
         return w.bad.strides[0] = -1, compile_to(w, w.bad);
       }},
  });
}

TEST(CMisuse, ExecutingWithOptions) {
  struct With {
    tenfold_execute_options_t options{sizeof(tenfold_execute_options_t), nullptr, 0, nullptr, 0};
    tenfold_status_t run(World& w, std::size_t inputs = 1, std::size_t outputs = 1) const {
      return tenfold_compiled_partition_execute_with(w.compiled, &options, w.inputs.data(), inputs, w.outputs.data(),
                                                     outputs);
    }
  };
  check({
      {"null compiled", kArguments, "'compiled' is null",
       [](World& w) {
         return tenfold_compiled_partition_execute_with(nullptr, nullptr, w.inputs.data(), 1, w.outputs.data(), 1);
       }},
      {"null inputs", kArguments, "array of pointers is null",
       [](World& w) {
         return tenfold_compiled_partition_execute_with(w.compiled, nullptr, nullptr, 1, w.outputs.data(), 1);
       }},
      {"null outputs", kArguments, "array of pointers is null",
       [](World& w) {
         return tenfold_compiled_partition_execute_with(w.compiled, nullptr, w.inputs.data(), 1, nullptr, 1);
       }},
      {"no input", kArguments, "0 inputs given", [](World& w) { return With().run(w, 0, 1); }},
      {"two outputs", kArguments, "2 outputs given", [](World& w) { return With().run(w, 1, 2); }},
      {"struct_size 0", kArguments, "struct_size is 0",
       [](World& w) {
         With with;
         return with.options.struct_size = 0, with.run(w);
       }},
      {"threads -1", kArguments, "threads is -1",
       [](World& w) {
         With with;
         return with.options.threads = -1, with.run(w);
       }},
      {"pool without struct_size", kArguments, "pool: struct_size is 0",
       [](World& w) {
         With with;
         with.options.pool = &w.pool;
         return w.pool.struct_size = 0, with.run(w);
       }},
      {"pool without num_threads", kArguments, "'num_threads'",
       [](World& w) {
         With with;
         with.options.pool = &w.pool;
         return w.pool.num_threads = nullptr, with.run(w);
       }},
      {"misaligned scratch", kArguments, "not aligned to 64",
       [](World& w) {
         alignas(64) static char scratch[128];
         With with;
         with.options.scratch = scratch + 4;
         with.options.scratch_size = 64;
         return with.run(w);
       }},
      {"scratch size: null compiled", kArguments, "'compiled' is null",
       [](World& w) { return tenfold_compiled_partition_get_scratch_size(nullptr, &w.count); }},
      {"scratch size: null size", kArguments, "'size' is null",
       [](World& w) { return tenfold_compiled_partition_get_scratch_size(w.compiled, nullptr); }},
      {"in-place num: null compiled", kArguments, "'compiled' is null",
       [](World& w) { return tenfold_compiled_partition_get_inplace_port_num(nullptr, &w.count); }},
      {"in-place num: null count", kArguments, "'count' is null",
       [](World& w) { return tenfold_compiled_partition_get_inplace_port_num(w.compiled, nullptr); }},
      {"in-place: null compiled", kArguments, "'compiled' is null",
       [](World&) { return tenfold_compiled_partition_get_inplace_ports(nullptr, 0, nullptr); }},
      {"in-place: one too many", kArguments, "has 1 elements; there are 0",
       [](World& w) {
         tenfold_inplace_port_t port;
         return tenfold_compiled_partition_get_inplace_ports(w.compiled, 1, &port);
       }},
  });
}

TEST(CMisuse, Caches) {
  check({
      {"capacity -1", kArguments, "capacity is -1",
       [](World&) { return tenfold_set_compiled_partition_cache_capacity(-1); }},
      {"null capacity", kArguments, "'capacity' is null",
       [](World&) { return tenfold_get_compiled_partition_cache_capacity(nullptr); }},
      {"null bytes", kArguments, "'bytes' is null",
       [](World&) { return tenfold_get_compiled_partition_cache_bytes(nullptr); }},
      {"null bytes of constants", kArguments, "'bytes' is null",
       [](World&) { return tenfold_get_constant_cache_bytes(nullptr); }},
  });
  EXPECT_OK(tenfold_get_compiled_partition_cache_use(nullptr, nullptr));
}

}  // namespace
}  // namespace tenfold::test

// SPDX-License-Identifier: Apache-2.0
//
// Graphs through the C API: op by op in both dialects, with every type of attribute; from JSON text and ONNX bytes;
// what partitions say of them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "tests/capi/small_graph.hpp"

namespace tenfold::test {
namespace {

std::string text_of(tenfold_graph_t graph) {
  char* text = nullptr;
  EXPECT_OK(tenfold_graph_get_text(graph, nullptr, &text));
  const std::string copy = text == nullptr ? "" : text;
  EXPECT_OK(tenfold_memory_release(text, nullptr));
  return copy;
}

/// One op from f32 [2, 3] (tensor 0) to f32 (tensor 1) with what `set` sets; the graph's text.
std::string text_of_op(const char* kind, const std::function<tenfold_status_t(tenfold_op_t)>& set) {
  Handles h;
  make_op(h, 0, kind, {tensor(0, tenfold_f32, {2, 3})}, {open_tensor(1, tenfold_f32)});
  EXPECT_OK(set(h.op));
  add_op(h);
  EXPECT_OK(tenfold_graph_finalize(h.graph));
  return text_of(h.graph);
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n" << text;
}

TEST(CBuild, AttributesOfEveryType) {
  expect_part(text_of_op("SoftMax", [](tenfold_op_t op) { return tenfold_op_set_attr_s64(op, "axis", -1); }),
              "axis = -1");
  expect_part(text_of_op("ReduceSum",
                         [](tenfold_op_t op) {
                           const std::int64_t axes[] = {0, 1};
                           EXPECT_OK(tenfold_op_set_attr_bool(op, "keep_dims", 1));
                           return tenfold_op_set_attr_s64s(op, "axes", axes, 2);
                         }),
              "axes = [0, 1]");
  expect_part(text_of_op("Elu", [](tenfold_op_t op) { return tenfold_op_set_attr_f32(op, "alpha", 0.5F); }),
              "alpha = 0.5");
  expect_part(text_of_op("onnx.ReduceMax@13",
                         [](tenfold_op_t op) {
                           return tenfold_op_set_attr_s64s(op, "axes", std::array<std::int64_t, 1>{1}.data(), 1);
                         }),
              "onnx.ReduceMax@13");
}

TEST(CBuild, ListsOfRealsAndTexts) {
  Handles h;
  make_op(h, 0, "Quantize", {tensor(0, tenfold_f32, {2, 3})}, {open_tensor(1, tenfold_s8)});
  const float scales[] = {0.5F};
  const std::int64_t zps[] = {0};
  EXPECT_OK(tenfold_op_set_attr_f32s(h.op, "scales", scales, 1));
  EXPECT_OK(tenfold_op_set_attr_s64s(h.op, "zps", zps, 1));
  EXPECT_OK(tenfold_op_set_attr_str(h.op, "qtype", "per_tensor"));
  add_op(h);
  finish(h);
  const std::string text = text_of(h.graph);
  expect_part(text, "scales = [0.5]");
  expect_part(text, "qtype = \"per_tensor\"");
  compile(h);
  const float in[6] = {1, -1, 0.5F, 100, -100, 0};
  std::array<std::int8_t, 6> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<std::int8_t, 6>{2, -2, 1, 127, -128, 0}));
}

TEST(CBuild, AnAttributeThatIsSetAgainIsReplaced) {
  Handles h;
  make_op(h, 0, "ReduceMax", {tensor(0, tenfold_f32, {2, 3})}, {open_tensor(1, tenfold_f32)});
  const std::int64_t first[] = {7}, second[] = {0};
  EXPECT_OK(tenfold_op_set_attr_s64s(h.op, "axes", first, 1));
  EXPECT_OK(tenfold_op_set_attr_s64s(h.op, "axes", second, 1));
  add_op(h);
  EXPECT_OK(tenfold_graph_finalize(h.graph));
  expect_part(text_of(h.graph), "axes = [0]");
}

TEST(CBuild, BothDialectsInOneGraph) {
  Handles h;
  make_op(h, 3, "Abs", {tensor(10, tenfold_f32, {2, 3})}, {open_tensor(20, tenfold_f32)});
  add_op(h);
  make_op(h, 4, "onnx.ArgMax", {open_tensor(20, tenfold_f32)}, {open_tensor(30, tenfold_s64)});
  EXPECT_OK(tenfold_op_set_attr_s64(h.op, "axis", 1));
  EXPECT_OK(tenfold_op_set_attr_s64(h.op, "keepdims", 0));
  add_op(h);
  finish(h);
  compile(h);
  const float in[6] = {1, -5, 2, 7, 0, -8};
  std::array<std::int64_t, 2> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<std::int64_t, 2>{1, 2}));
  std::size_t count = 0;
  EXPECT_OK(tenfold_partition_get_op_num(h.partition, &count));
  ASSERT_EQ(count, 2U);
  std::array<std::int64_t, 2> ids{};
  EXPECT_OK(tenfold_partition_get_op_ids(h.partition, 2, ids.data()));
  EXPECT_EQ(ids, (std::array<std::int64_t, 2>{3, 4}));
}

TEST(CBuild, OpsMayComeInAnyOrderAndOutputsAreNamed) {
  Handles h;
  make_op(h, 0, "Exp", {open_tensor(1, tenfold_f32)}, {open_tensor(2, tenfold_f32)});
  add_op(h);
  make_op(h, 1, "Abs", {tensor(0, tenfold_f32, {2})}, {open_tensor(1, tenfold_f32)});
  add_op(h);
  make_op(h, 2, "Sqrt", {tensor(0, tenfold_f32, {2})}, {open_tensor(3, tenfold_f32)});
  add_op(h);
  const std::int64_t outputs[] = {2, 1};
  EXPECT_OK(tenfold_graph_set_outputs(h.graph, outputs, 2));
  finish(h);
  std::size_t count = 0;
  EXPECT_OK(tenfold_partition_get_op_num(h.partition, &count));
  EXPECT_EQ(count, 2U) << "Sqrt is not needed";
  compile(h);
  const float in[2] = {-1, 0};
  float exps[2] = {0, 0}, abss[2] = {0, 0};
  EXPECT_OK(execute(h, {in}, {exps, abss}));
  EXPECT_FLOAT_EQ(exps[0], std::exp(1.0F));
  EXPECT_EQ(abss[0], 1.0F);
}

TEST(CBuild, ConstantsAreCopiedAndAreNoInputs) {
  Handles h;
  make_op(h, 0, "Add", {tensor(0, tenfold_f32, {3}), tensor(1, tenfold_f32, {3})}, {open_tensor(2, tenfold_f32)});
  add_op(h);
  alignas(4) char raw[13];
  const float addend[3] = {10, 20, 30};
  std::memcpy(raw + 1, addend, sizeof addend);  // data of constants may be misaligned
  const tenfold_logical_tensor_t one = tensor(1, tenfold_f32, {3});
  ASSERT_OK(tenfold_graph_add_constant(h.graph, &one, raw + 1, sizeof addend));
  std::memset(raw, 0, sizeof raw);
  finish(h);
  std::size_t count = 0;
  EXPECT_OK(tenfold_partition_get_input_num(h.partition, &count));
  EXPECT_EQ(count, 1U);
  compile(h);
  const float in[3] = {1, 2, 3};
  std::array<float, 3> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<float, 3>{11, 22, 33}));
}

TEST(CBuild, StridesOfExtentOneMeanNothing) {
  tenfold_logical_tensor_t column = tensor(1, tenfold_f32, {4, 1});
  column.strides[0] = 1;
  column.strides[1] = 4;
  const float addend[4] = {10, 20, 30, 40};
  for (const bool op_says_so : {false, true})
    for (const bool constant_first : {false, true}) {
      Handles h;
      EXPECT_OK(tenfold_graph_create(&h.graph));
      const tenfold_logical_tensor_t by_op = op_says_so ? column : tensor(1, tenfold_f32, {4, 1});
      make_op(h, 0, "Add", {tensor(0, tenfold_f32, {4, 1}), by_op}, {open_tensor(2, tenfold_f32)});
      if (!constant_first) add_op(h);
      ASSERT_OK(tenfold_graph_add_constant(h.graph, &column, addend, sizeof addend));
      if (constant_first) add_op(h);
      finish(h);
      compile(h);
      const float in[4] = {1, 2, 3, 4};
      std::array<float, 4> out{};
      EXPECT_OK(execute(h, {in}, {out.data()}));
      EXPECT_EQ(out, (std::array<float, 4>{11, 22, 33, 44}));
    }
  tenfold_logical_tensor_t nothing = tensor(1, tenfold_f32, {3, 0});
  nothing.strides[0] = 7;
  Handles h;
  EXPECT_OK(tenfold_graph_create(&h.graph));
  EXPECT_OK(tenfold_graph_add_constant(h.graph, &nothing, nullptr, 0));
}

TEST(CBuild, PartitionsTellWhatTheyTakeAndGive) {
  Handles h;
  make_op(h, 0, "ReduceMax", {tensor(5, tenfold_bf16, {TENFOLD_UNKNOWN_DIM, 8})}, {open_tensor(6, tenfold_bf16)});
  const std::int64_t axes[] = {1};
  EXPECT_OK(tenfold_op_set_attr_s64s(h.op, "axes", axes, 1));
  add_op(h);
  finish(h);
  std::size_t count = 0;
  EXPECT_OK(tenfold_graph_get_partition_num(h.graph, &count));
  EXPECT_EQ(count, 1U);
  tenfold_logical_tensor_t in, out;
  ASSERT_OK(tenfold_partition_get_inputs(h.partition, 1, &in));
  ASSERT_OK(tenfold_partition_get_outputs(h.partition, 1, &out));
  EXPECT_EQ(in.id, 5);
  EXPECT_EQ(in.ndims, 2);
  EXPECT_EQ(in.dims[0], TENFOLD_UNKNOWN_DIM);
  EXPECT_EQ(in.dims[1], 8);
  EXPECT_EQ(in.data_type, tenfold_bf16);
  EXPECT_EQ(out.id, 6);
  EXPECT_EQ(out.ndims, 1);
  EXPECT_OK(tenfold_partition_get_output_num(h.partition, &count));
  EXPECT_EQ(count, 1U);
}

TEST(CBuild, OpsMayBeUsedAgainAndFailedGraphsMended) {
  Handles h;
  make_op(h, 0, "Abs", {tensor(0, tenfold_f32, {2})}, {open_tensor(1, tenfold_f32)});
  ASSERT_OK(tenfold_graph_create(&h.graph));
  EXPECT_EQ(tenfold_graph_finalize(h.graph), tenfold_invalid_graph) << "there is no op";
  ASSERT_OK(tenfold_graph_add_op(h.graph, h.op));
  tenfold_graph_t other = nullptr;
  ASSERT_OK(tenfold_graph_create(&other));
  ASSERT_OK(tenfold_graph_add_op(other, h.op));
  std::int32_t finalized = -1;
  EXPECT_OK(tenfold_graph_is_finalized(h.graph, &finalized));
  EXPECT_EQ(finalized, 0);
  for (tenfold_graph_t graph : {h.graph, other}) EXPECT_OK(tenfold_graph_finalize(graph));
  EXPECT_OK(tenfold_graph_is_finalized(h.graph, &finalized));
  EXPECT_EQ(finalized, 1);
  EXPECT_EQ(text_of(h.graph), text_of(other));
  EXPECT_OK(tenfold_graph_release(&other));
}

TEST(CBuild, ReadsJson) {
  const std::string json = R"({"graph": [{"id": 0, "name": "m", "kind": "ReduceMin",
    "attrs": {"axes": {"type": "s64[]", "value": [0]}},
    "inputs": [{"id": 0, "dtype": "f32", "shape": [2, 2], "stride": [2, 1], "layout_type": "strided"}],
    "outputs": [{"id": 1, "dtype": "f32", "shape": [2], "stride": [1], "layout_type": "strided"}]}]} trailing)";
  Handles h;
  ASSERT_OK(tenfold_graph_from_json(&h.graph, json.data(), json.size() - std::strlen(" trailing")));
  std::int32_t finalized = 0;
  EXPECT_OK(tenfold_graph_is_finalized(h.graph, &finalized));
  EXPECT_EQ(finalized, 1);
  ASSERT_OK(tenfold_graph_get_partitions(h.graph, 1, &h.partition));
  compile(h);
  const float in[4] = {4, 3, 1, 8};
  std::array<float, 2> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<float, 2>{1, 3}));
}

// ---- ONNX: a few fields of protobuf, by hand ----

std::string varint(int field, int value) { return {static_cast<char>(field << 3), static_cast<char>(value)}; }
std::string bytes(int field, const std::string& value) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(value.size())} + value;
}
std::string value_info(const std::string& name, int elements) {
  const std::string shape = bytes(2, bytes(1, varint(1, elements)));
  return bytes(1, name) + bytes(2, bytes(1, varint(1, 1) + shape));
}

/// What begins with `rest`, nodes and initializers, has the input x and gives `output`, f32 [3].
std::string model_of(const std::string& rest, const std::string& output) {
  const std::string graph = rest + bytes(2, "g") + bytes(11, value_info("x", 3)) + bytes(12, value_info(output, 3));
  return varint(1, 8) +
         std::string{7 << 3 | 2, static_cast<char>(graph.size() % 128 + 128), static_cast<char>(graph.size() / 128)} +
         graph + bytes(8, varint(2, 13));
}

/// y = x + c, f32 [3] each; c is `initializer`.
std::string model(const std::string& initializer) {
  const std::string node = bytes(1, "x") + bytes(1, "c") + bytes(2, "y") + bytes(4, "Add");
  return model_of(bytes(1, node) + bytes(5, initializer), "y");
}
const std::string kTensor = varint(1, 3) + varint(2, 1) + bytes(8, "c");
std::string external_model() {
  return model(kTensor + bytes(13, bytes(1, "location") + bytes(2, "w.bin")) +
               bytes(13, bytes(1, "length") + bytes(2, "12")) + varint(14, 1));
}

tenfold_status_t add_up(void* context, const char* location, std::int64_t offset, std::int64_t length,
                        tenfold_sink_t sink) {
  const float addend[3] = {10, 20, 30};
  if (std::string(location) != "w.bin" || offset != 0 || length != 12) return tenfold_invalid_arguments;
  ++*static_cast<int*>(context);
  EXPECT_OK(tenfold_sink_write(sink, addend, 4));
  EXPECT_OK(tenfold_sink_write(sink, nullptr, 0));
  EXPECT_EQ(tenfold_sink_write(sink, nullptr, 4), tenfold_invalid_arguments);
  EXPECT_EQ(tenfold_sink_write(nullptr, addend, 4), tenfold_invalid_arguments);
  return tenfold_sink_write(sink, addend + 1, 8);
}
tenfold_status_t give_little(void*, const char*, std::int64_t, std::int64_t, tenfold_sink_t sink) {
  return tenfold_sink_write(sink, "abc", 3);
}
tenfold_status_t refuse(void*, const char*, std::int64_t, std::int64_t, tenfold_sink_t) {
  return tenfold_runtime_error;
}

void expect_sum(Handles& h) {
  ASSERT_OK(tenfold_graph_get_partitions(h.graph, 1, &h.partition));
  compile(h);
  const float in[3] = {1, 2, 3};
  std::array<float, 3> out{};
  EXPECT_OK(execute(h, {in}, {out.data()}));
  EXPECT_EQ(out, (std::array<float, 3>{11, 22, 33}));
}

TEST(CBuild, ReadsOnnx) {
  const float addend[3] = {10, 20, 30};
  const std::string raw(reinterpret_cast<const char*>(addend), sizeof addend);
  const std::string onnx = model(kTensor + bytes(9, raw));
  Handles h;
  const tenfold_status_t status = tenfold_graph_from_onnx(&h.graph, onnx.data(), onnx.size(), nullptr);
  if (status == tenfold_unimplemented) GTEST_SKIP() << "NOT RUN: built without ONNX";
  ASSERT_EQ(status, tenfold_success) << said(status);
  expect_sum(h);
}

TEST(CBuild, NoOpsNoPartitions) {
  const std::string json = R"({"graph": []})";
  Handles h;
  ASSERT_OK(tenfold_graph_from_json(&h.graph, json.data(), json.size()));
  for (const tenfold_policy_t policy : {tenfold_policy_fusion, tenfold_policy_debug}) {
    std::size_t count = 7;
    EXPECT_OK(tenfold_graph_get_partition_num_by(h.graph, policy, &count));
    EXPECT_EQ(count, 0U);
    EXPECT_OK(tenfold_graph_get_partitions_by(h.graph, policy, 0, &h.partition));
  }
}

/// Its input, or a constant.
TEST(CBuild, WhatNoOpMakesIsCopied) {
  const float constant[3] = {10, 20, 30};
  const std::string raw(reinterpret_cast<const char*>(constant), sizeof constant);
  const std::string initializer = bytes(5, varint(1, 3) + varint(2, 1) + bytes(8, "c") + bytes(9, raw));
  const float in[3] = {1, 2, 3};
  for (const std::string output : {"x", "c"}) {
    const std::string onnx = model_of(output == "c" ? initializer : "", output);
    Handles h;
    const tenfold_status_t status = tenfold_graph_from_onnx(&h.graph, onnx.data(), onnx.size(), nullptr);
    if (status == tenfold_unimplemented) GTEST_SKIP() << "NOT RUN: built without ONNX";
    ASSERT_EQ(status, tenfold_success) << said(status);
    ASSERT_OK(tenfold_graph_get_partitions(h.graph, 1, &h.partition));
    compile(h);
    std::array<float, 3> out{};
    EXPECT_OK(execute(h, {in}, {out.data()}));
    EXPECT_EQ(out[2], output == "x" ? 3 : 30);
    // A file has an End for each, and says the same.
    char* json = nullptr;
    ASSERT_OK(tenfold_partition_get_json(h.partition, nullptr, &json));
    Handles read;
    EXPECT_OK(tenfold_graph_from_json(&read.graph, json, std::strlen(json)));
    ASSERT_OK(tenfold_graph_get_partitions(read.graph, 1, &read.partition));
    compile(read);
    std::array<float, 3> again{};
    if (output == "x")
      EXPECT_OK(execute(read, {in}, {again.data()}));
    else
      EXPECT_OK(execute(read, {}, {again.data()}));
    EXPECT_EQ(again, out);
    EXPECT_OK(tenfold_memory_release(json, nullptr));
  }
}

TEST(CBuild, EndsAreOneByOneWhereOpsAreAskedForOneByOne) {
  const std::string json = R"({"graph": [{"id": 0, "kind": "End", "attrs": {}, "outputs": [],
    "inputs": [{"id": 0, "dtype": "f32", "shape": [3]}]}]})";
  Handles h;
  ASSERT_OK(tenfold_graph_from_json(&h.graph, json.data(), json.size()));
  std::int32_t supported = 7;
  ASSERT_OK(tenfold_graph_get_partitions_by(h.graph, tenfold_policy_debug, 1, &h.partition));
  EXPECT_OK(tenfold_partition_is_supported(h.partition, &supported));
  EXPECT_EQ(supported, 0);
}

TEST(CBuild, ReadsOnnxWithExternalData) {
  const std::string onnx = external_model();
  Handles h;
  tenfold_onnx_options_t options{};
  options.struct_size = sizeof options;
  tenfold_status_t status = tenfold_graph_from_onnx(&h.graph, onnx.data(), onnx.size(), &options);
  if (std::string(tenfold_last_error()).find("without ONNX") != std::string::npos)
    GTEST_SKIP() << "NOT RUN: built without ONNX";
  EXPECT_NE(status, tenfold_success) << "nobody gives the external data";
  options.read_external = refuse;
  EXPECT_EQ(tenfold_graph_from_onnx(&h.graph, onnx.data(), onnx.size(), &options), tenfold_invalid_arguments);
  expect_part(tenfold_last_error(), "read_external gave runtime_error");
  options.read_external = give_little;
  EXPECT_EQ(tenfold_graph_from_onnx(&h.graph, onnx.data(), onnx.size(), &options), tenfold_invalid_arguments);
  expect_part(tenfold_last_error(), "wrote 3 bytes; asked for were 12");
  EXPECT_EQ(h.graph, nullptr);
  int calls = 0;
  options.context = &calls;
  options.read_external = add_up;
  ASSERT_OK(tenfold_graph_from_onnx(&h.graph, onnx.data(), onnx.size(), &options));
  EXPECT_EQ(calls, 1);
  expect_sum(h);
}

}  // namespace
}  // namespace tenfold::test

// SPDX-License-Identifier: Apache-2.0
//
// See small_graph.hpp.
#include "tests/capi/small_graph.hpp"

#include <algorithm>

std::string said(tenfold_status_t status) {
  return std::string(tenfold_status_to_string(status)) + ": " + tenfold_last_error();
}

namespace tenfold::test {

tenfold_logical_tensor_t tensor(std::int64_t id, tenfold_data_type_t data_type, const Dims& dims) {
  tenfold_logical_tensor_t made{};
  EXPECT_OK(tenfold_logical_tensor_init_with_dims(&made, id, data_type, static_cast<std::int32_t>(dims.size()),
                                                  dims.data(), tenfold_layout_type_strided, tenfold_property_undef));
  return made;
}

tenfold_logical_tensor_t open_tensor(std::int64_t id, tenfold_data_type_t data_type) {
  tenfold_logical_tensor_t made{};
  EXPECT_OK(tenfold_logical_tensor_init(&made, id, data_type, TENFOLD_UNKNOWN_NDIMS, tenfold_layout_type_any,
                                        tenfold_property_undef));
  return made;
}

Handles::~Handles() {
  EXPECT_OK(tenfold_op_release(&op));
  EXPECT_OK(tenfold_graph_release(&graph));
  EXPECT_OK(tenfold_partition_release(&partition));
  EXPECT_OK(tenfold_compiled_partition_release(&compiled));
}

void make_op(Handles& handles, std::int64_t id, const char* kind,
             std::initializer_list<tenfold_logical_tensor_t> inputs,
             std::initializer_list<tenfold_logical_tensor_t> outputs) {
  ASSERT_EQ(handles.op, nullptr);
  ASSERT_OK(tenfold_op_create(&handles.op, id, kind, nullptr));
  for (const tenfold_logical_tensor_t& input : inputs) ASSERT_OK(tenfold_op_add_input(handles.op, &input));
  for (const tenfold_logical_tensor_t& output : outputs) ASSERT_OK(tenfold_op_add_output(handles.op, &output));
}

void add_op(Handles& handles) {
  if (handles.graph == nullptr) ASSERT_OK(tenfold_graph_create(&handles.graph));
  ASSERT_OK(tenfold_graph_add_op(handles.graph, handles.op));
  ASSERT_OK(tenfold_op_release(&handles.op));
}

void finish(Handles& handles) {
  ASSERT_OK(tenfold_graph_finalize(handles.graph));
  ASSERT_OK(tenfold_graph_get_partitions(handles.graph, 1, &handles.partition));
}

void compile(Handles& handles, const tenfold_compile_options_t* options) {
  ASSERT_OK(tenfold_partition_compile(&handles.compiled, handles.partition, options));
}

void make_reduction(Handles& handles, const char* kind, const Dims& dims, const Dims& axes) {
  make_op(handles, 0, kind, {tensor(0, tenfold_f32, dims)}, {open_tensor(1, tenfold_f32)});
  ASSERT_OK(tenfold_op_set_attr_s64s(handles.op, "axes", axes.data(), axes.size()));
  add_op(handles);
  finish(handles);
}

tenfold_status_t execute(const Handles& handles, const std::vector<const void*>& inputs,
                         const std::vector<void*>& outputs) {
  return tenfold_compiled_partition_execute(handles.compiled, inputs.data(), inputs.size(), outputs.data(),
                                            outputs.size());
}

}  // namespace tenfold::test

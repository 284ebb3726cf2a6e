// SPDX-License-Identifier: Apache-2.0
//
// The C API as a C99 program sees it: enumerators, structs by hand, tables of functions, and each kind of call.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenfold/tenfold.h>

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("failed: %s (last error: %s)\n", what, tenfold_last_error());
  ++failures;
}

static int32_t one_thread(void* context) {
  ++*(int*)context;
  return 1;
}

static void run_in_order(void* context, int64_t n, void (*task)(void*, int64_t), void* task_context) {
  ++*(int*)context;
  for (int64_t i = 0; i < n; ++i) task(task_context, i);
}

static tenfold_logical_tensor_t tensor(int64_t id, int64_t rows, int64_t columns) {
  tenfold_logical_tensor_t t;
  memset(&t, 0, sizeof t);
  t.id = id;
  t.ndims = 2;
  t.data_type = tenfold_f32;
  t.dims[0] = rows;
  t.dims[1] = columns;
  return t;
}

static tenfold_graph_t column_max(void) {
  const int64_t axes[] = {0};
  const tenfold_logical_tensor_t x = tensor(10, TENFOLD_UNKNOWN_DIM, 3), y = tensor(20, 1, 3);
  tenfold_op_t op = NULL;
  tenfold_graph_t graph = NULL;
  expect(tenfold_op_create(&op, 7, "ReduceMax", NULL) == tenfold_success, "op");
  expect(tenfold_op_set_attr_s64s(op, "axes", axes, 1) == tenfold_success, "axes");
  expect(tenfold_op_set_attr_bool(op, "keep_dims", 1) == tenfold_success, "keep_dims");
  expect(tenfold_op_add_input(op, &x) == tenfold_success, "input");
  expect(tenfold_op_add_output(op, &y) == tenfold_success, "output");
  expect(tenfold_graph_create(&graph) == tenfold_success, "graph");
  expect(tenfold_graph_add_op(graph, op) == tenfold_success, "add");
  expect(tenfold_graph_finalize(graph) == tenfold_success, "finalize");
  expect(tenfold_op_release(&op) == tenfold_success && op == NULL, "release");
  return graph;
}

int main(void) {
  int calls = 0;
  const tenfold_logical_tensor_t x = tensor(10, 4, 3);
  const tenfold_thread_pool_t pool = {
      .struct_size = sizeof pool, .context = &calls, .num_threads = one_thread, .parallel_for = run_in_order};
  const tenfold_compile_options_t options = {
      .struct_size = sizeof options, .pool = &pool, .input_count = 1, .inputs = &x};
  const float in[12] = {1, 2, 3, 9, 0, 0, 4, 8, 0, 0, 0, 7};
  float out[3] = {0, 0, 0};
  const void* const inputs[] = {in};
  void* const outputs[] = {out};
  tenfold_graph_t graph = column_max();
  tenfold_partition_t partition = NULL;
  tenfold_compiled_partition_t compiled = NULL;
  char* text = NULL;

  expect(tenfold_graph_get_partitions(graph, 1, &partition) == tenfold_success, "partitions");
  expect(tenfold_partition_compile(&compiled, partition, NULL) == tenfold_invalid_shape, "open dims are refused");
  expect(strstr(tenfold_last_error(), "unknown dims") != NULL, "and named");
  expect(tenfold_partition_compile(&compiled, partition, &options) == tenfold_success, "compile");
  expect(tenfold_compiled_partition_execute(compiled, inputs, 1, outputs, 1) == tenfold_success, "execute");
  expect(out[0] == 9 && out[1] == 8 && out[2] == 7, "values");
  expect(calls == 0, "one small task is run without asking the pool");
  expect(tenfold_compiled_partition_get_explanation(compiled, NULL, &text) == tenfold_success, "explanation");
  expect(text != NULL && strstr(text, "ReduceMax") != NULL, "of ReduceMax");
  expect(tenfold_memory_release(text, NULL) == tenfold_success, "release");
  expect(strcmp(tenfold_status_to_string(tenfold_invalid_graph_op), "invalid_graph_op") == 0, "names");
  expect(tenfold_compiled_partition_release(&compiled) == tenfold_success && compiled == NULL, "release");
  expect(tenfold_compiled_partition_release(&compiled) == tenfold_success, "releasing again does nothing");
  expect(tenfold_partition_release(&partition) == tenfold_success, "release");
  expect(tenfold_graph_release(&graph) == tenfold_success, "release");
  return failures == 0 ? 0 : 1;
}

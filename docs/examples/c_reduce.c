// SPDX-License-Identifier: Apache-2.0
//
// The greatest element of each row of a matrix, through the C API: build, compile, execute, ask, release.
#include <stdio.h>
#include <stdlib.h>
#include <tenfold/tenfold.h>

enum { kRows = 4096, kColumns = 1024 };

// Prints what went wrong and ends the program, as a real one would not.
static void check(tenfold_status_t status, const char* what) {
  if (status == tenfold_success) return;
  fprintf(stderr, "%s: %s: %s\n", what, tenfold_status_to_string(status), tenfold_last_error());
  exit(1);
}

static tenfold_graph_t build_graph(void) {
  const int64_t dims[] = {kRows, kColumns}, axes[] = {1};
  tenfold_logical_tensor_t x, y;
  check(tenfold_logical_tensor_init_with_dims(&x, 0, tenfold_f32, 2, dims, tenfold_layout_type_strided,
                                              tenfold_property_variable),
        "tensor x");
  // The output's shape is inferred: only its dtype is given.
  check(tenfold_logical_tensor_init(&y, 1, tenfold_f32, TENFOLD_UNKNOWN_NDIMS, tenfold_layout_type_any,
                                    tenfold_property_variable),
        "tensor y");

  tenfold_op_t reduce = NULL;
  check(tenfold_op_create(&reduce, 0, "ReduceMax", "row_max"), "op");
  check(tenfold_op_set_attr_s64s(reduce, "axes", axes, 1), "axes");
  check(tenfold_op_add_input(reduce, &x), "input");
  check(tenfold_op_add_output(reduce, &y), "output");

  tenfold_graph_t graph = NULL;
  check(tenfold_graph_create(&graph), "graph");
  check(tenfold_graph_add_op(graph, reduce), "add");
  check(tenfold_graph_finalize(graph), "finalize");
  check(tenfold_op_release(&reduce), "release");
  return graph;
}

static tenfold_compiled_partition_t compile(tenfold_graph_t graph) {
  tenfold_partition_t partition = NULL;
  tenfold_compiled_partition_t compiled = NULL;
  tenfold_compile_options_t options = {.struct_size = sizeof options, .threads = 1};
  check(tenfold_graph_get_partitions(graph, 1, &partition), "partition");
  check(tenfold_partition_compile(&compiled, partition, &options), "compile");
  check(tenfold_partition_release(&partition), "release");
  return compiled;
}

int main(void) {
  tenfold_graph_t graph = build_graph();
  tenfold_compiled_partition_t compiled = compile(graph);
  // What is compiled stands on its own feet.
  check(tenfold_graph_release(&graph), "release");

  tenfold_logical_tensor_t x, y;
  void *in = NULL, *out = NULL;
  check(tenfold_compiled_partition_get_inputs(compiled, 1, &x), "inputs");
  check(tenfold_compiled_partition_get_outputs(compiled, 1, &y), "outputs");
  check(tenfold_buffer_create(&in, &x, NULL), "buffer");
  check(tenfold_buffer_create(&out, &y, NULL), "buffer");
  float* const numbers = in;
  for (int i = 0; i < kRows * kColumns; ++i) numbers[i] = 1.0F;
  numbers[3 * kColumns + 5] = 7.0F;

  const void* const inputs[] = {in};
  void* const outputs[] = {out};
  check(tenfold_compiled_partition_execute(compiled, inputs, 1, outputs, 1), "execute");

  const float* const greatest = out;
  const int right = greatest[2] == 1.0F && greatest[3] == 7.0F;
  printf("row 2: %g, row 3: %g\n", (double)greatest[2], (double)greatest[3]);
  check(tenfold_memory_release(in, NULL), "release");
  check(tenfold_memory_release(out, NULL), "release");
  check(tenfold_compiled_partition_release(&compiled), "release");
  return right ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// Loads the library by name, runs a graph on Tenfold's own pool, unloads it, and does so again: what stays behind must
// neither crash nor keep a later load from working.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tenfold/tenfold.h>

static const char kJson[] =
    "{\"graph\": [{\"id\": 0, \"name\": \"m\", \"kind\": \"ReduceMax\","
    " \"attrs\": {\"axes\": {\"type\": \"s64[]\", \"value\": [1]}},"
    " \"inputs\": [{\"id\": 0, \"dtype\": \"f32\", \"shape\": [1024, 1024]}],"
    " \"outputs\": [{\"id\": 1, \"dtype\": \"f32\", \"shape\": [1024]}]}]}";
static float in[1024 * 1024], out[1024];

static void find(void* library, const char* name, void* function) {
  // ISO C has no way from an object's pointer to a function's but this.
  void* const symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
}

static int run_once(const char* path, float greatest) {
  tenfold_status_t (*from_json)(tenfold_graph_t*, const char*, size_t);
  tenfold_status_t (*get_partitions)(const_tenfold_graph_t, size_t, tenfold_partition_t*);
  tenfold_status_t (*compile)(tenfold_compiled_partition_t*, const_tenfold_partition_t,
                              const tenfold_compile_options_t*);
  tenfold_status_t (*execute)(const_tenfold_compiled_partition_t, const void* const*, size_t, void* const*, size_t);
  tenfold_status_t (*release_graph)(tenfold_graph_t*);
  tenfold_status_t (*release_partition)(tenfold_partition_t*);
  tenfold_status_t (*release_compiled)(tenfold_compiled_partition_t*);
  tenfold_graph_t graph = NULL;
  tenfold_partition_t partition = NULL;
  tenfold_compiled_partition_t compiled = NULL;
  const void* const inputs[] = {in};
  void* const outputs[] = {out};
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return printf("%s\n", dlerror());
  find(library, "tenfold_graph_from_json", &from_json);
  find(library, "tenfold_graph_get_partitions", &get_partitions);
  find(library, "tenfold_partition_compile", &compile);
  find(library, "tenfold_compiled_partition_execute", &execute);
  find(library, "tenfold_graph_release", &release_graph);
  find(library, "tenfold_partition_release", &release_partition);
  find(library, "tenfold_compiled_partition_release", &release_compiled);
  in[5] = greatest;
  if (from_json(&graph, kJson, sizeof kJson - 1) != tenfold_success) return 1;
  if (get_partitions(graph, 1, &partition) != tenfold_success) return 2;
  if (compile(&compiled, partition, NULL) != tenfold_success) return 3;
  if (execute(compiled, inputs, 1, outputs, 1) != tenfold_success) return 4;
  release_compiled(&compiled);
  release_partition(&partition);
  release_graph(&graph);
  if (dlclose(library) != 0) return 5;
  return out[0] == greatest && out[1] == 0.0F ? 0 : 6;
}

int main(int argc, char** argv) {
  if (argc != 2) return 7;
  for (int round = 1; round <= 5; ++round) {
    const int failed = run_once(argv[1], (float)round);
    if (failed != 0) return printf("round %d: step %d failed\n", round, failed);
  }
  return 0;
}

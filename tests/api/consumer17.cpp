// SPDX-License-Identifier: Apache-2.0
//
// A C++17 program that uses every public header on its own and a pool of its own, with no header of ours but the public
// ones.
#include <cstdio>
#include <string>
#include <vector>

#include "tenfold/compiled_partition.hpp"
#include "tenfold/dtype.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"
#include "tenfold/thread_pool.hpp"

static_assert(__cplusplus == 201703L, "this program must be compiled as C++17");

namespace {

/// Runs tasks last to first on the caller's thread; results must not care.
class BackwardPool : public tenfold::ThreadPool {
 public:
  int num_threads() const noexcept override { return 4; }
  void parallel_for(std::int64_t n, void (*fn)(void*, std::int64_t), void* context) override {
    while (n-- > 0) fn(context, n);
  }
};

constexpr const char* kGraph = R"({"version": "3.0.0", "engine_kind": "cpu", "fpmath_mode": "strict", "graph": [
  {"id": 0, "name": "sum", "kind": "ReduceSum",
   "attrs": {"axes": {"type": "s64[]", "value": [0]}, "keep_dims": {"type": "bool", "value": 0}},
   "inputs": [{"id": 0, "dtype": "f32", "shape": [512, 1000], "stride": [1000, 1], "layout_type": "strided",
               "property_type": "undef"}],
   "outputs": [{"id": 1, "dtype": "f32", "shape": [1000], "stride": [1], "layout_type": "strided",
                "property_type": "undef"}]}]})";

int failed(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

}  // namespace

int main() {
  const tenfold::Result<tenfold::Graph> graph = tenfold::Graph::from_json(kGraph);
  if (!graph.ok()) return failed(graph.status().message());
  BackwardPool pool;
  tenfold::CompileOptions options;
  options.pool = &pool;
  const auto partition = tenfold::compile(graph.value(), options);
  if (!partition.ok()) return failed(partition.status().message());
  if (partition.value().inputs().size() != 1 || partition.value().outputs().size() != 1)
    return failed("wrong number of inputs or outputs");
  if (partition.value().explain().empty()) return failed("explain() says nothing");
  std::vector<float> in(512 * 1000, 0.5F), out(1000, -1.0F);
  const tenfold::Status status = partition.value().execute({in.data()}, {out.data()});
  if (!status.ok()) return failed(status.message());
  for (const float value : out)
    if (value != 256.0F) return failed("a sum of 512 halves is " + std::to_string(value));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// A program with the guards that those written for oneDNN have, compiled against the compat folder: which runtimes the
// library was built for, its version, streams on a pool of the program's own. What is not meant to be taken is an
// include of a header that is nowhere.
#include "oneapi/dnnl/dnnl_threadpool_iface.hpp"
// The interface's header stands alone, so the graph's comes behind it.
#include "oneapi/dnnl/dnnl_graph.hpp"

#if DNNL_GPU_RUNTIME == DNNL_RUNTIME_OCL
#include "oneapi/dnnl/dnnl_graph_ocl.hpp"
#elif DNNL_GPU_RUNTIME == DNNL_RUNTIME_SYCL
#include "oneapi/dnnl/dnnl_graph_sycl.hpp"
#endif
#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_SYCL || DNNL_GPU_RUNTIME != DNNL_RUNTIME_NONE
#error "there is no SYCL, and no GPU"
#endif
#if DNNL_GPU_VENDOR == DNNL_VENDOR_NVIDIA || DNNL_GPU_VENDOR == DNNL_VENDOR_INTEL
#error "there is no GPU"
#endif
#if DNNL_VERSION_MAJOR < 3 || (DNNL_VERSION_MAJOR == 3 && DNNL_VERSION_MINOR < 1) || DNNL_VERSION_PATCH < 0
#error "the Graph API came with oneDNN 3.1"
#endif
#ifndef ONEDNN_BUILD_GRAPH
#error "there is a Graph API"
#endif
#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_THREADPOOL
#include "oneapi/dnnl/dnnl_threadpool.hpp"
#endif

#include <cstdint>
#include <functional>
#include <iostream>
#include <vector>

namespace {

/// Runs everything on the caller's thread.
struct OwnPool : dnnl::threadpool_interop::threadpool_iface {
  int get_num_threads() const override { return 2; }
  bool get_in_parallel() const override { return false; }
  void parallel_for(int n, const std::function<void(int, int)>& fn) override {
    ++calls;
    for (int i = 0; i < n; ++i) fn(i, n);
  }
  std::uint64_t get_flags() const override { return 0; }
  int calls = 0;
};

}  // namespace

int main() {
  using lt = dnnl::graph::logical_tensor;
  const lt::dims shape{1024, 1024};
  const lt x(0, lt::data_type::f32, shape, lt::layout_type::strided);
  const lt y(1, lt::data_type::f32, shape, lt::layout_type::strided);
  dnnl::engine home(dnnl::engine::kind::cpu, 0);
  dnnl::graph::graph g(dnnl::engine::kind::cpu);
  g.add_op(dnnl::graph::op(0, dnnl::graph::op::kind::Abs, {x}, {y}, "abs"));
  g.finalize();
  const dnnl::graph::compiled_partition compiled = g.get_partitions().at(0).compile({x}, {y}, home);

  OwnPool pool;
  dnnl::stream on_pool = dnnl::threadpool_interop::make_stream(home, &pool);
  dnnl::stream plain(home, dnnl::stream::flags::in_order | dnnl::stream::flags::out_of_order);
  std::vector<float> in(1024 * 1024, -1.0F);
  for (dnnl::stream* each : {&on_pool, &plain}) {
    std::vector<float> out(in.size());
    compiled.execute(*each, {{x, home, in.data()}}, {{y, home, out.data()}});
    each->wait();
    if (out != std::vector<float>(in.size(), 1.0F)) return std::cerr << "wrong\n", 1;
  }
  std::cout << "oneDNN " << DNNL_VERSION_MAJOR << "." << DNNL_VERSION_MINOR << "." << DNNL_VERSION_PATCH
            << ", calls of the pool: " << pool.calls << "\n";
  return pool.calls == 1 ? 0 : 1;
}

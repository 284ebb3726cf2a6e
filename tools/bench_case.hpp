// SPDX-License-Identifier: Apache-2.0
//
// What `tenfold bench` times: a reduction or arg-reduction by its name in either dialect, over any dtype that kernels
// have, with its data.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/compiled_partition.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"
#include "tools/bench.hpp"

namespace tenfold::tools {

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};
using BenchBuffer = std::unique_ptr<void, FreeDeleter>;

struct BenchCase {
  TensorDesc in;
  Dims axes;
  Dims kept_shape;  ///< reduced dims as 1
  BenchBuffer input;
  std::vector<BenchBuffer> outputs;
  std::int64_t input_bytes = 0;

  std::vector<void*> output_addresses() const;
};

/// invalid_argument for options that make no case.
Result<BenchCase> make_bench_case(const BenchOptions& options);
/// The case's graph, compiled: core ops, so that each dtype is there for each reduction.
Result<CompiledPartition> compile_bench_case(const BenchOptions& options, const BenchCase& made);

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// What `tenfold bench` and `tenfold tune` are asked to look at, as a value: one reduction or one graph file, on one
// target, with so many threads, from warm or cold caches.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/dtype.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::tools::bench {

struct Case {
  std::string graph;                      ///< a graph file; or empty, and the reduction below
  std::string data_dir;                   ///< where the graph's external data are; empty: it may have none
  std::vector<std::string> input_shapes;  ///< of the graph, "ID=8x128" or "NAME=8x128"
  std::string op = "ReduceMax";
  DType dtype = DType::f32;
  Dims shape;
  Dims strides;  ///< in elements; empty: row-major
  Dims axes;     ///< as given, so possibly negative or illegal
  bool keep_dims = false;
  bool with_extreme = false;  ///< ArgMax, ArgMin: the extreme itself is wanted too
  std::string target;         ///< empty: the machine's
  int threads = 1;
  bool cold = false;  ///< caches are flushed before every call
};

/// A reduction that has a name in either dialect.
struct ReductionRow {
  std::string_view name;
  std::string_view core;  ///< core.reduce's reduction, or core.arg_reduce's mode
  bool is_index = false;
};
std::span<const ReductionRow> reductions() noexcept;
/// Null when there is none of that name.
const ReductionRow* find_reduction(std::string_view name) noexcept;

/// Those that kernels have, in the order of the dtype table.
std::vector<DType> kernel_dtypes();

/// "ReduceMax f32 [4096, 1024] axes [1]", and what else is not as usual: a name of its own for each case of a batch.
std::string name_of(const Case& what);

/// By where the reduced axes lie, dims of 1 apart: full, last, first, middle, several (adjacent axes), apart; "graph"
/// for a graph file.
std::string_view family_of(const Case& what);
/// All families, in the order of reports.
std::span<const std::string_view> families() noexcept;

}  // namespace tenfold::tools::bench

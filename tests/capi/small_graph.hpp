// SPDX-License-Identifier: Apache-2.0
//
// Small graphs for the tests of the C API, and statuses that print themselves.
#pragma once

#include <gtest/gtest.h>
#include <tenfold/tenfold.h>

#include <initializer_list>
#include <string>
#include <vector>

/// "invalid_shape: what was said", for messages of tests.
std::string said(tenfold_status_t status);

#define EXPECT_OK(call)                                   \
  do {                                                    \
    const tenfold_status_t status_ = (call);              \
    EXPECT_EQ(status_, tenfold_success) << said(status_); \
  } while (false)
#define ASSERT_OK(call)                                   \
  do {                                                    \
    const tenfold_status_t status_ = (call);              \
    ASSERT_EQ(status_, tenfold_success) << said(status_); \
  } while (false)

namespace tenfold::test {

using Dims = std::vector<std::int64_t>;

tenfold_logical_tensor_t tensor(std::int64_t id, tenfold_data_type_t data_type, const Dims& dims);
/// Of unknown rank: an output whose shape is inferred.
tenfold_logical_tensor_t open_tensor(std::int64_t id, tenfold_data_type_t data_type);

/// Releases what it holds, whatever of it there is.
struct Handles {
  Handles() = default;
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles();

  tenfold_op_t op = nullptr;
  tenfold_graph_t graph = nullptr;
  tenfold_partition_t partition = nullptr;
  tenfold_compiled_partition_t compiled = nullptr;
};

/// Makes handles.op: `kind` from `inputs` to `outputs`.
void make_op(Handles& handles, std::int64_t id, const char* kind,
             std::initializer_list<tenfold_logical_tensor_t> inputs,
             std::initializer_list<tenfold_logical_tensor_t> outputs);
/// Adds handles.op to handles.graph, which it makes if need be, and releases the op.
void add_op(Handles& handles);
/// Finalizes handles.graph and gets its partition.
void finish(Handles& handles);
void compile(Handles& handles, const tenfold_compile_options_t* options = nullptr);

/// `kind` of tensor 0, f32 of `dims`, along `axes`, into tensor 1, finished.
void make_reduction(Handles& handles, const char* kind, const Dims& dims, const Dims& axes);

tenfold_status_t execute(const Handles& handles, const std::vector<const void*>& inputs,
                         const std::vector<void*>& outputs);

}  // namespace tenfold::test

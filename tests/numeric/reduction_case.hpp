// SPDX-License-Identifier: Apache-2.0
//
// One random reduction: op, dtype, shapes, layouts, axes as the user writes them, data; and its graph file, which is
// also how a failing case is reported.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/tensor.hpp"
#include "values.hpp"

namespace tenfold::numeric {

inline constexpr const char* kReductions[] = {"ReduceL1",  "ReduceL2",   "ReduceMax", "ReduceMean",
                                              "ReduceMin", "ReduceProd", "ReduceSum"};
inline constexpr DType kFloatTypes[] = {DType::f32, DType::bf16, DType::f16};

struct ReductionCase {
  std::string op;
  TensorDesc input, output;        ///< strides given; the output's are positive
  std::vector<std::int64_t> axes;  ///< may be negative
  bool keep_dims = false;
  Values values = Values::normal;
  std::uint64_t data_seed = 0;

  /// The graph as a oneDNN Graph file: input 0, output 1.
  std::string json() const;
  /// Everything but the graph, on one line.
  std::string describe() const;
};

/// Most elements of a case's input.
struct Sizes {
  std::int64_t usual = 20'000;
  std::int64_t rare = 300'000;  ///< in one case of `rare_every`
  int rare_every = 24;
};

ReductionCase random_case(const std::string& op, DType dtype, const Sizes& sizes, std::mt19937_64& random);

/// Element offsets of a desc's elements, in row-major order of the shape.
std::vector<std::int64_t> element_offsets(const TensorDesc& desc);

}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
//
// A case made ready to run: its graph read, its input filled, its answer and bounds known from the reference
// evaluator, and a judge of outputs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guarded_buffer.hpp"
#include "reduction_case.hpp"
#include "target/target.hpp"
#include "tenfold/tenfold.hpp"

namespace tenfold::numeric {

/// Row-major copies of a tensor's elements, for comparing bits.
using Elements = std::vector<std::byte>;

/// Empty when the bits are equal; otherwise the first element that differs, and how many do.
std::string difference(DType dtype, const Elements& a, const Elements& b);

class PreparedCase {
 public:
  static Result<std::unique_ptr<PreparedCase>> make(const ReductionCase& c);

  const ReductionCase& reduction() const { return case_; }
  const Graph& graph() const { return *graph_; }
  /// Elements of the input that lie between or beyond those that the strides reach are NaN.
  const GuardedBuffer& input(GuardedBuffer::Guard guard) const {
    return guard == GuardedBuffer::Guard::after ? *input_after_ : *input_before_;
  }
  std::unique_ptr<GuardedBuffer> make_output(GuardedBuffer::Guard guard) const;

  /// Empty when `output` is right: every element within its bound, every NaN the canonical one, every byte between
  /// elements and around the buffers as it was. Otherwise what is wrong, the first element's values included.
  std::string judge(const GuardedBuffer& output) const;
  Elements elements(const GuardedBuffer& output) const;
  const Elements& expected() const { return expected_; }

  /// Overwrites one input element (row-major index) with a bit pattern; solve() must follow.
  void put_input(std::int64_t index, std::uint32_t bits);
  /// Runs the reference evaluator.
  Status solve();

 private:
  explicit PreparedCase(const ReductionCase& c) : case_(c) {}

  ReductionCase case_;
  std::optional<Graph> graph_;
  std::vector<std::int64_t> input_offsets_, output_offsets_;
  std::unique_ptr<GuardedBuffer> input_after_, input_before_;
  std::size_t output_bytes_ = 0;
  Elements expected_;
  std::vector<double> bounds_;
};

/// The levels that this machine runs kernels of (up to TENFOLD_MAX_CPU_ISA), weakest first, without `reference`.
std::vector<target::Isa> native_levels();
/// Every level that has kernels.
std::vector<target::Isa> all_levels();

/// "avx2 rows" and the like for each kernel that the partition runs, or "reference", or "nothing", from explain().
std::vector<std::string> nests(const std::string& explained);

}  // namespace tenfold::numeric

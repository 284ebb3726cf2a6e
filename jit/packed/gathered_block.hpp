// SPDX-License-Identifier: Apache-2.0
//
// A block of 16 short rows of bf16 or f32 that are summed, where an instruction set takes elements from anywhere in two
// vectors (vector/gather.hpp). Two loads have four rows; a gather takes four elements of each of them, so that elements
// eight and four apart are added as whole vectors: the lane tree of block.hpp, and its bits.
#pragma once

#include <memory>

#include "jit/packed/rows_block.hpp"
#include "jit/vector/gather.hpp"
#include "kernel/spec.hpp"
#include "schedule/body.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

class GatheredBlock final : public RowsBlock {
 public:
  /// Whether there is one for these rows: on this layer, and faster than a PackedBlock.
  static bool takes(const VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body,
                    const schedule::Schedule& schedule);

  GatheredBlock(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body, int width);

  int rows() const override { return kRows; }
  int row_bytes() const override { return width_ * element_; }
  int result_bytes() const override { return byte_size(output_); }
  void load_kept() override;
  void emit(const Xbyak::Reg64& in, const Xbyak::Reg64& out) override;

 private:
  static constexpr int kRows = 16, kBytes = 64;
  /// Rows of a leaf, and elements of each that a vector of f32 has.
  static constexpr int kTogether = 4;

  /// Vectors of f32 that a leaf is made of.
  int parts() const { return (width_ + kTogether - 1) / kTogether; }
  bool has_one_load() const { return kTogether * row_bytes() <= kBytes; }
  GatherVectors::Lanes part(int number) const;
  void leaf(const Xbyak::Reg64& in, int first_row, Vec result);
  void map(Vec v);
  void load_rows(Vec d, const Xbyak::Reg64& in, int row);

  VectorLayer& v_;
  std::unique_ptr<GatherVectors> gathers_;
  const schedule::ReduceBody& body_;
  DType output_;
  int element_;  ///< bytes of one in memory
  int width_;
};

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// What blocks of short rows ask of an instruction set that takes elements from anywhere in two vectors
// (packed/gathered_block.hpp). Works on the layer's vectors; clobbers the layer's own registers and the masks of
// patterns.
#pragma once

#include <array>
#include <cstdint>

#include "jit/vector/vector.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::jit {

class GatherVectors {
 public:
  /// By lane of 32 bits: the number of an element, or kNowhere, which gives zero.
  using Lanes = std::array<int, 16>;
  static constexpr int kNowhere = -1;
  /// Patterns by number, [0, kPatterns).
  static constexpr int kPatterns = 4;

  explicit GatherVectors(Assembler& assembler) : assembler_(assembler), code_(assembler.code()) {}
  virtual ~GatherVectors() = default;
  GatherVectors(const GatherVectors&) = delete;
  GatherVectors& operator=(const GatherVectors&) = delete;

  /// Makes a pattern of elements of two vectors, which has `places` and a mask of its own from then on. Elements of 2
  /// bytes go to the upper halves of lanes, whose lower ones are zero.
  virtual void prepare(int pattern, Vec places, const Lanes& from, int element_bytes) = 0;
  virtual void gather(Vec d, Vec a, Vec b, int pattern, Vec places, int element_bytes) = 0;
  /// In each 16 bytes two lanes of 32 bits of `a`, then two of `b`, by number.
  virtual void shuffle_pair(Vec d, Vec a, Vec b, const std::array<int, 4>& from) = 0;
  virtual void divide32(Vec d, float by) = 0;
  /// For store(), whose results are those of lanes `from`, in this order.
  virtual void prepare_store(Vec places, DType dtype, const Lanes& from) = 0;
  /// f32 rounded to `dtype`, to nearest even. NaNs must be canonical. Clobbers `s`.
  virtual void store(const Memory& to, DType dtype, Vec s, Vec places) = 0;

 protected:
  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
};

}  // namespace tenfold::jit

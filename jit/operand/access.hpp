// SPDX-License-Identifier: Apache-2.0
//
// Elements of operands in and out of vectors: side by side, gapped, repeated, in whole steps and in tails, through the
// caches and around them. Where they stand is for OperandWalk to say, what they become for the layer.
#pragma once

#include <cstddef>
#include <functional>

#include "jit/assembler/staging.hpp"
#include "jit/lane/layer.hpp"
#include "jit/operand/walk.hpp"

namespace tenfold::jit {

class OperandAccess {
 public:
  using At = OperandWalk::At;

  OperandAccess(Assembler& assembler, const OperandWalk& walk) : a_(assembler), c_(assembler.code()), walk_(walk) {}

  /// Makes the layer ready for the dtypes of all operands.
  void prepare(LaneLayer& layer) const;

  /// How far ahead stores claim lines, in bytes. Chains of f32 [4096, 1024] that write rows are as fast with 2 KiB, 4
  /// and 8.
  static constexpr int kClaimed = 4096;

  /// As lanes of `type`, which are the operand's own, or f64 of an f32.
  void load(LaneLayer& layer, std::size_t k, Vec d, const At& at, LaneType type);
  void store(LaneLayer& layer, std::size_t k, Vec s, const At& at);
  /// Whether two whole steps of the operand may be stored in one vector, which LaneOp::join_bf16 makes.
  bool joins(const LaneLayer& layer, std::size_t k) const {
    return layer.joins() && is_bf16(k) && walk_.vector_stride(k) == 1;
  }
  /// Whether one element stands for all along the vector level.
  bool repeats(std::size_t k) const { return walk_.vector_stride(k) == 0; }
  bool is_bf16(std::size_t k) const { return walk_.operand(k).dtype == DType::bf16; }
  void store_joined(LaneLayer& layer, std::size_t k, Vec s, const At& at);
  /// One element, in all lanes, of an operand that does not move along the vector level.
  void broadcast(LaneLayer& layer, std::size_t k, Vec d, std::size_t depth);
  /// Copies one element from the staging area to where row `depth` stands.
  void put_one(std::size_t k, std::size_t depth);
  /// Within over_groups(), in the first row's frame: copies elements side by side in the staging area, of each row one.
  void put_group(std::size_t k, std::size_t depth, int rows, int frame_bytes);

  /// Whether whole steps of the operand can be stored past the caches, if its rows begin with lines: half a line or
  /// whole ones.
  bool may_go_around(const LaneLayer& layer, std::size_t k) const {
    const int bytes = byte_size(walk_.operand(k).dtype);
    return !walk_.is_turned(k) && walk_.vector_stride(k) == 1 && (bytes >= 4 || bytes * layer.lanes() == 64);
  }
  /// Looks whether the rows of all outputs that may go around begin with lines, and are no input's, whose lines are in
  /// the caches anyway; after the walk's start(). Each of the frames of rows in turns is told.
  void find_lines(const LaneLayer& layer, int frames = 1, int frame_bytes = 0);
  /// Emits `body(true)` for when all that is so, and `body(false)` for when it is not.
  void either_way(const std::function<void(bool around)>& body);
  /// Behind the last of such stores: other threads see them in no order unless told to.
  void fence() { c_.sfence(); }

 private:
  /// Copies between the operand and the staging area.
  void stage(Staging way, std::size_t k, const At& at, const LaneLayer& layer);
  /// Whether an access is one of the layer's, that has `tails` or not.
  bool is_direct(std::size_t k, const At& at, bool tails) const;
  /// What lanes past a tail of turned rows are in scratch, nobody sees.
  Part part_of(std::size_t k, const At& at) const { return walk_.is_turned(k) ? Part::full : at.part; }
  void copy_one(int bytes, const Xbyak::Reg64& to, const Memory& from);

  Assembler& a_;
  Xbyak::CodeGenerator& c_;
  const OperandWalk& walk_;
};

}  // namespace tenfold::jit

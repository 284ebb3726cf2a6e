// SPDX-License-Identifier: Apache-2.0
//
// Element-wise copies between operands and the staging area, for operands that are not contiguous along the vector
// level and for tails that the vector layer cannot mask.
#pragma once

#include <cstdint>

#include "jit/assembler/assembler.hpp"

namespace tenfold::jit {

enum class Staging { in, out };

/// One element of `bytes` from memory to memory, through the register `element`.
void move_element(Xbyak::CodeGenerator& code, const Xbyak::Reg64& element, int bytes, const Xbyak::RegExp& from,
                  const Xbyak::RegExp& to);

/// Two vector registers in which nothing lives, of which stores take `bytes` (32 or 64) at once.
struct SpareVectors {
  int first, second;
  int bytes;
};

/// A step of `count` elements (a power of two) of `bytes`.
struct ElementStep {
  int count, bytes;
};

/// How many elements lie from one to the next, where that is part of a kernel's class, as code to put a step together
/// is made for it; 0 where it is read at run time.
constexpr int known_gap(std::int64_t stride) { return stride >= 1 && stride <= 4 ? static_cast<int>(stride) : 0; }

/// Copies a step to the staging area from `operand`, where its elements are `gap` of themselves apart (2 to 4), or, if
/// that is 0, `stride` bytes. It is put together in vectors, as a load of a vector would have to wait until elements
/// that were stored one by one have reached L1. Keeps all other registers but the flags.
void emit_gather_step(Assembler& assembler, const Xbyak::Reg64& operand, const Xbyak::Reg64& stride, int gap,
                      ElementStep step, const SpareVectors& spare);

/// Copies a step from the staging area to elements `stride` bytes apart at `operand`. Keeps all registers but the
/// flags.
void emit_scatter_step(Assembler& assembler, const Xbyak::Reg64& operand, const Xbyak::Reg64& stride, ElementStep step);

/// Copies `count` (1 or more) elements of `bytes`, `stride` bytes apart at `operand`, to (in) or from (out) the staging
/// area, where they lie side by side. Keeps all registers but the flags.
void emit_staging(Assembler& assembler, Staging way, const Xbyak::Reg64& operand, const Xbyak::Reg64& stride,
                  const Xbyak::Reg64& count, int bytes);

/// The same where elements lie side by side on either end: eight bytes at a time, of which the last may overlap.
void emit_staging_side_by_side(Assembler& assembler, Staging way, const Xbyak::Reg64& operand,
                               const Xbyak::Reg64& count, int bytes);

}  // namespace tenfold::jit

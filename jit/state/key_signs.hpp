// SPDX-License-Identifier: Apache-2.0
//
// Keys of floats (keys.hpp) whose elements stay bits until one of several has won: one operation for each, where
// map_to_key_order() has three. Floats of one sign are in order as bits. Most rows are settled by their `own` sign, +
// of a maximum, as soon as they have an element of it; those that have none are all of the `other` one. Zeros differ by
// their signs here, and NaNs are anywhere, so that a row whose extreme is a zero or a NaN is not settled at all.
#pragma once

#include "jit/state/keys.hpp"

namespace tenfold::jit {

enum class KeySign { own, other };

struct SignRule {
  KeyRule rule;
  KeySign sign = KeySign::own;
};

/// Combines elements into what wins, and into what tells of the other sign and of its NaNs (`seen`, from start_seen()).
IntegerOp best_op(const SignRule& signs);
IntegerOp seen_op(const SignRule& signs);
void start_seen(PackedVectors& v, const SignRule& signs, PackedVectors::Register seen);

/// What has won to signed integers in the order of keys.
void map_to_keys(PackedVectors& v, const SignRule& signs, PackedVectors::Register best);

/// Jumps where `seen` has met a NaN of the other sign than the own one, which `signs` is of. Clobbers `seen`.
void jump_if_other_nan(PackedVectors& v, const SignRule& signs, PackedVectors::Register seen,
                       const Xbyak::Label& target);

/// After all elements, of which `best` is a row's mapped one, with its sign: jumps to `turn` where they are of the
/// other sign, to `exact` where this does not settle the row. Clobbers `seen` and `best`.
void jump_unless_settled(PackedVectors& v, Assembler& assembler, const SignRule& signs, PackedVectors::Register seen,
                         const Xbyak::Reg64& best, const Xbyak::Label& turn, const Xbyak::Label& exact);

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// What the extremes of bits leave open: whether a NaN of the sign that loses went by. A comparison says so of two
// registers at once, into flags, where another extreme would take an operation for each, on the same ports. Which lane
// it was in is not said.
#pragma once

#include "jit/vector/vector.hpp"

namespace tenfold::jit {

class NanWatch {
 public:
  virtual ~NanWatch() = default;
  NanWatch(const NanWatch&) = delete;
  NanWatch& operator=(const NanWatch&) = delete;

  /// Slots that watch independently, so that they need not wait for one another: [0, slots()).
  virtual int slots() const = 0;
  /// Whether two vectors are seen faster than one after another.
  virtual bool in_pairs() const { return false; }
  /// Whether it sees NaNs of either sign.
  virtual bool sees_all() const { return true; }

  /// From now on; the vector of the slot becomes zero.
  virtual void start(int slot) = 0;
  virtual void see(int slot, Vec v) = 0;
  virtual void see_pair(int /*slot*/, Vec, Vec) {}  ///< where in_pairs() says so
  virtual void merge(int into, int from) = 0;
  /// Jumps when the slot has seen no NaN.
  virtual void jump_if_none(int slot, const Xbyak::Label& target) = 0;

 protected:
  NanWatch() = default;
};

}  // namespace tenfold::jit

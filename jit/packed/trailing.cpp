// SPDX-License-Identifier: Apache-2.0
//
// Blocks that trail. A block is a chain of some fifty cycles, from its loads to its results as they are stored, and the
// queues of a core hold the work of two of them. So what ends sums, a quotient, a root, the rounding to 16 bits (that
// alone a third of the chain), goes among the loads of the block behind, which wait for nothing.
#include "jit/packed/block.hpp"

namespace tenfold::jit {

using Xbyak::Reg64;

bool PackedBlock::trails() const { return kind_ == schedule::Lanes::chained_f32 && !ends_in_f64() && !hands_on_f64(); }

void PackedBlock::emit_trailing(const Reg64& in, const Reg64& out) {
  trailing_ = steps_to_finish(out);
  const Register result = block(in);
  trail(1, 1);
  v_.copy(kTrailing, result);
}

void PackedBlock::emit_last(const Reg64& out) {
  trailing_ = steps_to_finish(out);
  trail(1, 1);
}

/// The last one first.
std::vector<std::function<void()>> PackedBlock::steps_to_finish(const Reg64& out) {
  return {[this, out] {
            if (pads_cells()) return store_cells(out, kTrailing);
            if (has_rows_in_turn()) return v_.store_in_turn(out, kTrailing);
            v_.store32(out, output_, kTrailing);
          },
          [this] { v_.canonical_nan(kTrailing, lane_); }, [this] { finish_sums(kTrailing, lane_); }};
}

/// What trails is due in equal parts as leaves have been loaded, `leaves` of so many: no sooner, as it waits itself for
/// the block that it is of. Nothing does where blocks do not trail.
void PackedBlock::trail(int leaves, int of) {
  const int left = kTrailingSteps - kTrailingSteps * leaves / of;
  for (; static_cast<int>(trailing_.size()) > left; trailing_.pop_back()) trailing_.back()();
}

}  // namespace tenfold::jit

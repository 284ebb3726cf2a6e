// SPDX-License-Identifier: Apache-2.0
#include "jit/columns/next_block.hpp"

#include "schedule/next_block.hpp"

namespace tenfold::jit {
namespace {

constexpr int kLine = 64;
/// Blocks of up to so much stay in L1 beside the one that is being read, if they come soon.
constexpr int kNearBlockBytes = 12 << 10;

}  // namespace

void ask_next_block(const LoopNest& nest, const Memory& place, int bytes) {
  if (!nest.schedule.blocks) return;
  const int distance = static_cast<int>(schedule::next_block_bytes(nest.spec, nest.schedule.vector_level));
  for (int line = 0; line < bytes; line += kLine) {
    const Xbyak::Address next = nest.c.ptr[place + (distance + line)];
    distance <= kNearBlockBytes && !nest.schedule.far ? nest.c.prefetcht0(next) : nest.c.prefetcht1(next);
  }
}

}  // namespace tenfold::jit

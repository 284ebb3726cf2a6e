// SPDX-License-Identifier: Apache-2.0
#include "jit/lane/between_lanes.hpp"

#include <cstdint>

namespace tenfold::jit {
namespace {

using Xbyak::Operand;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

using G = Xbyak::CodeGenerator;

void add(G& c, LaneType type, const Xmm& d, const Xmm& a, const Operand& b) {
  switch (type) {
    case LaneType::f64: c.vaddpd(d, a, b); break;
    case LaneType::i64: c.vpaddq(d, a, b); break;
    default: c.vpaddd(d, a, b); break;
  }
}

/// Numbers of lanes, each by from(lane), as wide as lanes are.
template <class From>
Xbyak::Address numbers_of(Assembler& assembler, int lanes, int bytes, const From& from) {
  Assembler::Bytes64 numbers{};
  for (int lane = 0; lane < lanes; ++lane)
    numbers[static_cast<std::size_t>(lane * bytes)] = static_cast<std::uint8_t>(from(lane));
  return assembler.bytes(numbers);
}

/// d = for each lane the one of `a`, or behind those of `second`, that the numbers in d say.
void look_up(G& c, int bytes, const Xmm& d, const Xmm& a, const Operand& second) {
  bytes == 8 ? c.vpermi2q(d, a, second) : c.vpermi2d(d, a, second);
}

/// The two halves of both registers side by side: the upper one of `before`, the lower one of `at`.
void join_neighbours(G& c, const Ymm& d, const Ymm& before, const Ymm& at) { c.vperm2i128(d, before, at, 0x21); }

void last_to_all(G& c, int bytes, const Ymm& d, const Ymm& a) {
  if (bytes == 8) return c.vpermq(d, a, 0xff);
  c.vpshufd(d, a, 0xff);
  c.vpermq(d, d, 0xff);
}

/// Of one register in place, by way of ymm14; ymm15 is zero.
void sum_half(G& c, LaneType type, const Ymm& d) {
  const Ymm before(14), zero(15);
  if (lane_bytes(type) == 8) {
    c.vpunpcklqdq(before, zero, d);
    add(c, type, d, d, before);
    c.vpermq(before, d, 0x50);
    c.vpblendd(before, before, zero, 0x0f);
    return add(c, type, d, d, before);
  }
  for (const int by : {4, 8}) {
    c.vpslldq(before, d, static_cast<std::uint8_t>(by));
    add(c, type, d, d, before);
  }
  c.vpshufd(before, d, 0xff);
  c.vperm2i128(before, before, before, 0x08);
  add(c, type, d, d, before);
}

}  // namespace

void emit_between_lanes(Assembler& assembler, const LaneNode& node, int lanes, const Xmm& d, const Xmm& a,
                        const Operand& second, const Xmm& own) {
  G& c = assembler.code();
  const int bytes = lane_bytes(node.type);
  if (node.op == LaneOp::prefix_sum) {
    for (int half = 1; half < lanes; half *= 2) {
      const Xmm& so_far = half == 1 ? a : d;
      c.vmovdqu32(own, numbers_of(assembler, lanes, bytes, [&](int lane) {
                    const bool is_upper = (lane & half) != 0;
                    return is_upper ? (lane & -half) - 1 : lanes;
                  }));
      look_up(c, bytes, own, so_far, assembler.splat(0, 8));
      add(c, node.type, d, so_far, own);
    }
    return;
  }
  const bool shifts = node.op == LaneOp::shift_in;
  c.vmovdqu32(own, numbers_of(assembler, lanes, bytes, [&](int lane) {
                return !shifts ? lanes - 1 : lane == 0 ? 2 * lanes - 1 : lane - 1;
              }));
  if (shifts) {
    look_up(c, bytes, own, a, second);
    c.vmovdqa32(d, own);
  } else if (bytes == 8) {
    c.vpermq(Zmm(d.getIdx()), Zmm(own.getIdx()), a);
  } else if (lanes == 16) {
    c.vpermd(Zmm(d.getIdx()), Zmm(own.getIdx()), a);
  } else {
    c.vpermd(Ymm(d.getIdx()), Ymm(own.getIdx()), a);
  }
}

void emit_between_lanes(Assembler& assembler, const LaneNode& node, const Halves& d, const Halves& a, const Halves& b) {
  G& c = assembler.code();
  const int bytes = lane_bytes(node.type), count = d.count;
  const auto at = [](int half) { return static_cast<std::size_t>(half); };
  if (node.op == LaneOp::last_lane) {
    last_to_all(c, bytes, d.of[0], a.of[at(count - 1)]);
    if (count > 1) c.vmovdqa(d.of[1], d.of[0]);
    return;
  }
  if (node.op == LaneOp::shift_in) {
    // Both before either half is written, as `d` may be `b`. A constant in ymm14 stays what it is.
    join_neighbours(c, Ymm(15), b.of[at(count - 1)], a.of[0]);
    if (count > 1) join_neighbours(c, Ymm(14), a.of[0], a.of[1]);
    for (int half = count; half-- > 0;)
      c.vpalignr(d.of[at(half)], a.of[at(half)], Ymm(15 - half), static_cast<std::uint8_t>(16 - bytes));
    return;
  }
  for (int half = 0; half < count; ++half)
    if (a.of[at(half)].getIdx() != d.of[at(half)].getIdx()) c.vmovdqa(d.of[at(half)], a.of[at(half)]);
  c.vpxor(Ymm(15), Ymm(15), Ymm(15));
  for (int half = 0; half < count; ++half) sum_half(c, node.type, d.of[at(half)]);
  if (count == 1) return;
  last_to_all(c, bytes, Ymm(14), d.of[0]);
  add(c, node.type, d.of[1], d.of[1], Ymm(14));
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
#include "jit/lane/layer.hpp"

#include <algorithm>
#include <cstring>

namespace tenfold::jit {

std::unique_ptr<LaneLayer> LaneLayer::make(Assembler& assembler, target::Isa isa, int lanes, LaneOrder order) {
  return isa == target::Isa::avx2 ? make_avx2_lanes(assembler, lanes, order)
                                  : make_avx512_lanes(assembler, isa, lanes, order);
}

Xbyak::Address LaneLayer::numbers(int first, int at) {
  Assembler::Bytes64 all{};
  for (int lane = 0; lane < 16; ++lane) {
    const std::int32_t number = first + element_of(order_, lane);
    std::memcpy(&all[static_cast<std::size_t>(4 * lane)], &number, sizeof number);
  }
  return assembler_.bytes(all, at);
}

void LaneLayer::load_all(Vec d, LaneType type, const Memory& from) {
  constexpr DType kDTypes[] = {DType::f32, DType::f64, DType::s32, DType::s64, DType::s16, DType::s8};
  broadcast(d, kDTypes[static_cast<std::size_t>(type)], from);
}

void LaneLayer::gather_pairs(const Xbyak::Xmm& lower, const Xbyak::Xmm& upper, LaneType type, const Memory& from,
                             int distance) {
  const auto lane = [&](int i) { return code_.ptr[from + i * distance]; };
  if (lane_bytes(type) == 4) {
    code_.vmovss(lower, lane(0));
    for (int i = 1; i < 4; ++i) code_.vinsertps(lower, lower, lane(i), static_cast<std::uint8_t>(i << 4));
    return;
  }
  code_.vmovsd(lower, lane(0));
  code_.vmovhpd(lower, lower, lane(1));
  code_.vmovsd(upper, lane(2));
  code_.vmovhpd(upper, upper, lane(3));
}

void LaneLayer::hold(std::span<const LaneSource> constants, Vec first) {
  held_.assign(constants.begin(), constants.end());
  first_held_ = first * constants_of_vector();
  for (std::size_t i = 0; i < held_.size(); ++i) load_constant(first_held_ + static_cast<int>(i), held_[i]);
}

int LaneLayer::held(const LaneSource& source) const {
  const auto found = std::find(held_.begin(), held_.end(), source);
  return found == held_.end() ? -1 : first_held_ + static_cast<int>(found - held_.begin());
}

Xbyak::Address LaneLayer::table(const std::array<std::uint32_t, 8>& entries) {
  std::array<std::uint8_t, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(entries[i / 4] >> (8 * (i % 4)));
  return assembler_.bytes(bytes);
}

}  // namespace tenfold::jit

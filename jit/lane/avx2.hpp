// SPDX-License-Identifier: Apache-2.0
//
// One operation of a lane program on one ymm register; for avx2.cpp alone.
#pragma once

#include <array>
#include <span>

#include "jit/lane/layer.hpp"

namespace tenfold::jit {

class Avx2Operation {
 public:
  Avx2Operation(Assembler& assembler, const LaneLayer& layer, const LaneNode& node, const Xbyak::Ymm& d)
      : a_(assembler),
        c_(assembler.code()),
        layer_(layer),
        node_(node),
        d_(d),
        wide_(lane_bytes(node.type) == 8),
        real_(is_real(node.type)) {}

  /// Register 2 v + half of each vector v among `args`, and those of held constants. Clobbers ymm14 and ymm15.
  void emit(int half, std::span<const LaneSource> args);

 private:
  Xbyak::Ymm reg(std::size_t arg, int spare);
  Xbyak::Address memory(std::size_t arg);
  /// Calls `act` with the argument as what may be an instruction's last source.
  template <class Act>
  void with_last(std::size_t arg, const Act& act) {
    if (regs_[arg] >= 0) {
      act(Xbyak::Ymm(regs_[arg]));
    } else {
      act(memory(arg));
    }
  }

  void arithmetic();
  void compare();
  void fused();
  void select();
  void shift(const Xbyak::Ymm& a, std::uint8_t bits);
  void integer();
  bool integer64();
  void combine_bits();
  void multiply8();
  void multiply64();
  void extreme64(bool greatest, bool is_signed);

  Assembler& a_;
  Xbyak::CodeGenerator& c_;
  const LaneLayer& layer_;
  const LaneNode& node_;
  Xbyak::Ymm d_;
  bool wide_, real_;
  std::array<int, 3> regs_{-1, -1, -1};
  std::span<const LaneSource> args_;
};

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// A masked store keeps a Zen 3 core busy for a dozen cycles. So at most one is done: by the masks of its ends, the
// first half is whole, or the second one has nothing.
#include "jit/vector/wide_tail.hpp"

namespace tenfold::jit {

void store_wide_tail(Xbyak::CodeGenerator& code, const Memory& to, const std::array<Xbyak::Ymm, 2>& s,
                     const Memory& masks, int lane_bytes) {
  constexpr int kHalf = 32, kDword = 4;
  const Xbyak::Ymm mask(15);
  const auto store_masked = [&](int half) {
    const Xbyak::Address at = code.ptr[to + kHalf * half];
    code.vmovdqu(mask, code.ptr[masks + kHalf * half]);
    const Xbyak::Ymm& lanes = s[static_cast<std::size_t>(half)];
    lane_bytes == 8 ? code.vpmaskmovq(at, mask, lanes) : code.vpmaskmovd(at, mask, lanes);
  };
  Xbyak::Label first, done;
  code.cmp(code.dword[masks + (kHalf - kDword)], 0);
  code.je(first);
  code.vmovdqu(code.ptr[to], s[0]);
  code.cmp(code.dword[masks + kHalf], 0);
  code.je(done);
  store_masked(1);
  code.jmp(done);
  code.L(first);
  store_masked(0);
  code.L(done);
}

}  // namespace tenfold::jit

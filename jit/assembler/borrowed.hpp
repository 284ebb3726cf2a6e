// SPDX-License-Identifier: Apache-2.0
//
// General registers for code within a nest that has leased all there are.
#pragma once

#include <cstddef>
#include <vector>

#include "jit/assembler/assembler.hpp"

namespace tenfold::jit {

/// Registers that are none of the arguments, whoever else has them, as long as this lives: leases of the nests around a
/// copy have few to spare.
class Borrowed {
 public:
  Borrowed(Xbyak::CodeGenerator& code, std::size_t count, const std::vector<Xbyak::Reg64>& arguments) : code_(code) {
    for (const Xbyak::Reg64& reg : {code.rax, code.rcx, code.rdx, code.rbx, code.rsi, code.r8}) {
      bool is_argument = false;
      for (const Xbyak::Reg64& argument : arguments) is_argument = is_argument || argument == reg;
      if (own_.size() < count && !is_argument) own_.push_back(reg);
    }
    for (const Xbyak::Reg64& reg : own_) code_.push(reg);
  }
  ~Borrowed() {
    for (std::size_t i = own_.size(); i-- > 0;) code_.pop(own_[i]);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  const Xbyak::Reg64& operator[](std::size_t i) const { return own_[i]; }

 private:
  Xbyak::CodeGenerator& code_;
  std::vector<Xbyak::Reg64> own_;
};

}  // namespace tenfold::jit

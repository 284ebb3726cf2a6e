// SPDX-License-Identifier: Apache-2.0
//
// An emulator of the x86-64 subset that kernels use: it runs code of any of our levels on any machine that can run
// tests, and checks what a CPU would not: that every byte touched lies in an operand, that no instruction is above the
// declared level, that registers and stack are given back. Not a general emulator: an instruction that it does not
// know is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "instruction.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::emulator {

class Emulator {
 public:
  /// `code` must outlive the emulator; it is readable as data too (constants behind the instructions).
  Emulator(std::span<const std::uint8_t> code, target::Isa isa);

  /// Ranges that the code may touch besides itself and its stack.
  AddressSpace& memory() { return memory_; }

  void set_step_limit(std::int64_t steps) { step_limit_ = steps; }

  /// Calls the code with `argument` in rdi, as the ABI of kernels has it (jit/abi.hpp). internal_error names the
  /// instruction and what it did wrong.
  Status run(const void* argument);

  /// Registers after run(), for tests of the emulator itself; set before run() by `set_registers`.
  const Machine& machine() const { return machine_; }
  void set_registers(const Machine& machine);

  std::int64_t steps() const { return steps_; }

 private:
  /// Where the caller's frame would begin, 64-byte aligned; nothing above may be touched.
  std::uint64_t stack_top() const;
  void reset(const void* argument);
  Result<const Instruction*> fetch();
  Status step(const Instruction& instruction);
  Status finish() const;
  Status at(const Instruction& instruction, const std::string& what) const;

  std::span<const std::uint8_t> code_;
  target::Isa isa_;
  AddressSpace memory_;
  std::vector<std::uint8_t> stack_;
  std::vector<std::unique_ptr<const Instruction>> decoded_;  ///< by their offsets
  Machine machine_, start_;
  bool registers_set_ = false;
  std::int64_t steps_ = 0, step_limit_ = 200'000'000;
};

/// Whether this host can emulate: the lane arithmetic uses its own AVX2, FMA and F16C.
bool can_emulate();

}  // namespace tenfold::emulator

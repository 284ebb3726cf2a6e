// SPDX-License-Identifier: Apache-2.0
//
// One instruction being executed: how handlers read and write its operands. Here live the rules that all instructions
// share: opmask merging and zeroing, embedded broadcast, no access by masked-out lanes, zeroed upper bits, widths of
// general registers. The first error is kept; later accesses do nothing.
#pragma once

#include <cstdint>
#include <string>

#include "instruction.hpp"
#include "machine.hpp"
#include "memory.hpp"

namespace tenfold::emulator {

class Step {
 public:
  Step(const Instruction& instruction, Machine& machine, const AddressSpace& memory)
      : instruction_(instruction), machine_(machine), memory_(memory) {}

  Machine& machine() { return machine_; }
  const Instruction& instruction() const { return instruction_; }
  const std::string& error() const { return error_; }
  void fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }

  /// Operands are counted without EVEX's opmask.
  int count() const { return instruction_.data_count; }
  bool is_memory(int n) const { return operand(n).type == ZYDIS_OPERAND_TYPE_MEMORY; }
  bool is_immediate(int n) const { return operand(n).type == ZYDIS_OPERAND_TYPE_IMMEDIATE; }
  bool is_gpr(int n) const;
  bool is_opmask(int n) const;
  /// The operand's width as the instruction says, in bits.
  int bits(int n) const { return operand(n).size; }
  std::uint64_t address(int n);

  /// A general register, memory or immediate, zero-extended from its width (immediates: sign-extended).
  std::uint64_t read(int n);
  /// Writes the operand's width; 32-bit registers clear the upper half.
  void write(int n, std::uint64_t value);
  int immediate(int n) const { return static_cast<int>(operand(n).imm.value.u & 0xff); }
  std::int64_t branch_target() const;

  /// Bytes of the instruction's vector length, and lanes of T in it.
  int vector_bytes() const { return instruction_.info.avx.vector_length / 8; }
  template <class T>
  int lanes() const {
    return vector_bytes() / static_cast<int>(sizeof(T));
  }

  bool active(int lane) const { return instruction_.mask == 0 || ((mask() >> lane) & 1) != 0; }
  std::uint64_t mask() const {
    return instruction_.mask == 0 ? ~std::uint64_t{0} : machine_.opmask[static_cast<std::size_t>(instruction_.mask)];
  }

  /// `count` lanes of T, each of which is read from memory only when its mask bit is set; an embedded broadcast
  /// repeats one element.
  template <class T>
  Vector lanes_of(int n, int count) {
    return read_lanes(n, static_cast<int>(sizeof(T)), count, true);
  }
  /// The same for instructions whose source lanes are not its result's lanes: no lane is spared.
  template <class T>
  Vector all_of(int n, int count) {
    return read_lanes(n, static_cast<int>(sizeof(T)), count, false);
  }

  /// Writes `count` lanes of T under the mask; in a register, the bytes beyond become zero.
  template <class T>
  void put(int n, const Vector& value, int count) {
    write_lanes(n, value, static_cast<int>(sizeof(T)), count);
  }

  /// Writes the low `bytes` of a register, which no mask governs, and clears the rest.
  void put_whole(int n, const Vector& value, int bytes);

  std::uint64_t opmask(int n) const { return machine_.opmask[opmask_index(n)]; }
  /// Writes the low `count` bits and clears the others.
  void put_opmask(int n, std::uint64_t value, int count);
  void require_aligned(int n, int bytes);

  void load(std::uint64_t from, void* to, std::size_t size);
  void store(std::uint64_t to, const void* from, std::size_t size);
  void push(std::uint64_t value);
  std::uint64_t pop();

 private:
  const ZydisDecodedOperand& operand(int n) const { return instruction_.operands[instruction_.data[n]]; }
  std::size_t opmask_index(int n) const;
  std::size_t vector_index(int n) const;
  std::size_t gpr_index(ZydisRegister reg);
  std::uint64_t gpr_value(ZydisRegister reg);
  Vector read_lanes(int n, int size, int count, bool masked);
  void write_lanes(int n, const Vector& value, int size, int count);

  const Instruction& instruction_;
  Machine& machine_;
  const AddressSpace& memory_;
  std::string error_;
};

}  // namespace tenfold::emulator

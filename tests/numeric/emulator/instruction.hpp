// SPDX-License-Identifier: Apache-2.0
//
// One decoded instruction, and whether an instruction-set level may use it. The only file, besides the handlers'
// mnemonics, that speaks Zydis.
#pragma once

#include <Zydis/Zydis.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::emulator {

struct Instruction {
  static constexpr int kMaxData = 5;

  std::uint64_t address = 0;
  ZydisDecodedInstruction info{};
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]{};
  /// Indices into `operands` of the visible ones, the opmask that EVEX puts second left out.
  int data[kMaxData]{};
  int data_count = 0;
  /// EVEX: number of the opmask register (0: all lanes), and whether lanes outside it become zero.
  int mask = 0;
  bool zeroing = false;

  bool is_evex() const { return info.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX; }
};

/// Decodes the instruction at code[offset].
Result<Instruction> decode(std::span<const std::uint8_t> code, std::size_t offset);

/// As an assembler would write it, with its offset from `code_begin`: "+0x1c vaddps zmm0, zmm1, [rdi]".
std::string describe(const Instruction& instruction, std::uint64_t code_begin);

/// True when a CPU of level `isa` has the instruction, and a kernel may use it there: of the legacy encodings only
/// integer ones, prefetches and the fence of stores, since mixing in legacy SSE costs transitions.
bool available_at(const Instruction& instruction, target::Isa isa);

}  // namespace tenfold::emulator

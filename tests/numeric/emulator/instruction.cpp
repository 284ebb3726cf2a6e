// SPDX-License-Identifier: Apache-2.0
//
// Decoding, and the table of instruction sets by level.
#include "instruction.hpp"

#include <array>

#include "memory.hpp"

namespace tenfold::emulator {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  return made;
}

target::Isa vector_512_level(ZydisISASet set) {
  switch (set) {
    case ZYDIS_ISA_SET_AVX512F_128:
    case ZYDIS_ISA_SET_AVX512F_128N:
    case ZYDIS_ISA_SET_AVX512F_256:
    case ZYDIS_ISA_SET_AVX512F_512:
    case ZYDIS_ISA_SET_AVX512F_KOP:
    case ZYDIS_ISA_SET_AVX512F_SCALAR:
    case ZYDIS_ISA_SET_AVX512BW_128:
    case ZYDIS_ISA_SET_AVX512BW_128N:
    case ZYDIS_ISA_SET_AVX512BW_256:
    case ZYDIS_ISA_SET_AVX512BW_512:
    case ZYDIS_ISA_SET_AVX512BW_KOP:
    case ZYDIS_ISA_SET_AVX512DQ_128:
    case ZYDIS_ISA_SET_AVX512DQ_128N:
    case ZYDIS_ISA_SET_AVX512DQ_256:
    case ZYDIS_ISA_SET_AVX512DQ_512:
    case ZYDIS_ISA_SET_AVX512DQ_KOP:
    case ZYDIS_ISA_SET_AVX512DQ_SCALAR: return target::Isa::avx512_core;
    case ZYDIS_ISA_SET_AVX512_BF16_128:
    case ZYDIS_ISA_SET_AVX512_BF16_256:
    case ZYDIS_ISA_SET_AVX512_BF16_512: return target::Isa::avx512_core_bf16;
    // Whoever has AVX512_FP16 has these as well (target::detect()).
    case ZYDIS_ISA_SET_AVX512_VBMI_128:
    case ZYDIS_ISA_SET_AVX512_VBMI_256:
    case ZYDIS_ISA_SET_AVX512_VBMI_512:
    case ZYDIS_ISA_SET_AVX512_FP16_128:
    case ZYDIS_ISA_SET_AVX512_FP16_128N:
    case ZYDIS_ISA_SET_AVX512_FP16_256:
    case ZYDIS_ISA_SET_AVX512_FP16_512:
    case ZYDIS_ISA_SET_AVX512_FP16_SCALAR: return target::Isa::avx512_core_fp16;
    default: return target::Isa::reference;
  }
}

bool is_avx2_level(ZydisISASet set) {
  switch (set) {
    case ZYDIS_ISA_SET_I86:
    case ZYDIS_ISA_SET_I186:
    case ZYDIS_ISA_SET_I386:
    case ZYDIS_ISA_SET_I486REAL:
    case ZYDIS_ISA_SET_LONGMODE:
    case ZYDIS_ISA_SET_CMOV:
    case ZYDIS_ISA_SET_FAT_NOP:
    case ZYDIS_ISA_SET_CET:
    case ZYDIS_ISA_SET_PREFETCH_NOP:
    case ZYDIS_ISA_SET_SSE_PREFETCH:
    case ZYDIS_ISA_SET_AVX:
    case ZYDIS_ISA_SET_AVX2:
    case ZYDIS_ISA_SET_FMA:
    case ZYDIS_ISA_SET_F16C:
    case ZYDIS_ISA_SET_BMI1:
    case ZYDIS_ISA_SET_BMI2: return true;
    default: return false;
  }
}

}  // namespace

Result<Instruction> decode(std::span<const std::uint8_t> code, std::size_t offset) {
  Instruction result;
  result.address = reinterpret_cast<std::uint64_t>(code.data()) + offset;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), code.data() + offset, code.size() - offset, &result.info,
                                           result.operands)))
    return Status(Code::internal_error, "the bytes at +" + hex(offset) + " are no instruction");
  for (int i = 0; i < result.info.operand_count && result.data_count < Instruction::kMaxData; ++i) {
    const ZydisDecodedOperand& operand = result.operands[i];
    const bool hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (!hidden && operand.encoding != ZYDIS_OPERAND_ENCODING_MASK) result.data[result.data_count++] = i;
  }
  if (result.is_evex()) {
    result.mask = result.info.raw.evex.aaa;
    result.zeroing = result.info.raw.evex.z != 0;
  }
  return result;
}

std::string describe(const Instruction& instruction, std::uint64_t code_begin) {
  static const ZydisFormatter formatter = [] {
    ZydisFormatter f;
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
    return f;
  }();
  std::array<char, 160> text{};
  const std::uint64_t offset = instruction.address - code_begin;
  ZydisFormatterFormatInstruction(&formatter, &instruction.info, instruction.operands,
                                  instruction.info.operand_count_visible, text.data(), text.size(), offset, nullptr);
  return "+" + hex(offset) + " " + text.data();
}

bool available_at(const Instruction& instruction, target::Isa isa) {
  const ZydisISASet set = instruction.info.meta.isa_set;
  if (is_avx2_level(set) || instruction.info.mnemonic == ZYDIS_MNEMONIC_SFENCE) return isa >= target::Isa::avx2;
  const target::Isa needed = vector_512_level(set);
  return needed != target::Isa::reference && isa >= needed;
}

}  // namespace tenfold::emulator

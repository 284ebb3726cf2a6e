// SPDX-License-Identifier: Apache-2.0
#include "jit/listing.hpp"

#if TENFOLD_HAVE_ZYDIS
#include <Zydis/Zydis.h>

#include <cstdio>
#endif

namespace tenfold::jit {

#if TENFOLD_HAVE_ZYDIS

Result<std::string> listing(std::span<const std::uint8_t> code) {
  ZydisDecoder decoder;
  ZydisFormatter formatter;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
    return Status(Code::internal_error, "the disassembler cannot be set up");
  std::string out;
  for (std::size_t at = 0; at < code.size();) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    char text[256] = "db";
    std::size_t length = 1;
    if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data() + at, code.size() - at, &instruction, operands))) {
      length = instruction.length;
      ZydisFormatterFormatInstruction(&formatter, &instruction, operands, instruction.operand_count_visible, text,
                                      sizeof text, at, nullptr);
    }
    std::string bytes;
    char number[24];
    for (std::size_t i = 0; i < length; ++i) {
      std::snprintf(number, sizeof number, "%02x", static_cast<unsigned>(code[at + i]));
      bytes += number;
    }
    std::snprintf(number, sizeof number, "%6zx  ", at);
    out += number + bytes + std::string(bytes.size() < 24 ? 24 - bytes.size() : 0, ' ') + "  " + text + "\n";
    at += length;
  }
  return out;
}

#else

Result<std::string> listing(std::span<const std::uint8_t>) {
  return Status(Code::unsupported_target, "built without Zydis (libzydis-dev): there is no listing");
}

#endif

}  // namespace tenfold::jit

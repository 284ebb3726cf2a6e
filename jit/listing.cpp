// SPDX-License-Identifier: Apache-2.0
#include "jit/listing.hpp"

#if TENFOLD_HAVE_ZYDIS
#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#endif

namespace tenfold::jit {

#if TENFOLD_HAVE_ZYDIS

namespace {

class Lister {
 public:
  explicit Lister(std::span<const std::uint8_t> code) : code_(code) {}

  bool start() {
    return ZYAN_SUCCESS(ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
           ZYAN_SUCCESS(ZydisFormatterInit(&formatter_, ZYDIS_FORMATTER_STYLE_INTEL));
  }

  std::string run() {
    std::string out;
    const std::size_t end = code_end();
    for (std::size_t at = 0; at < end;) at += instruction(at, end, out);
    for (std::size_t at = end; at < code_.size(); at += kLine) constants(at, out);
    return out;
  }

 private:
  static constexpr std::size_t kLine = 32;  ///< bytes of constants

  struct Decoded {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  };
  bool decode(std::size_t at, std::size_t end, Decoded& into) const {
    return ZYAN_SUCCESS(
        ZydisDecoderDecodeFull(&decoder_, code_.data() + at, end - at, &into.instruction, into.operands));
  }

  /// The first constant: what instructions read at a distance from themselves lies behind all of them.
  std::size_t code_end() const {
    std::size_t end = code_.size();
    Decoded decoded;
    for (std::size_t at = 0; at < end;) {
      if (!decode(at, end, decoded)) {
        ++at;
        continue;
      }
      for (std::size_t i = 0; i < decoded.instruction.operand_count_visible; ++i) {
        const ZydisDecodedOperand& operand = decoded.operands[i];
        ZyanU64 target = 0;
        const bool is_near = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
        if (is_near && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded.instruction, &operand, at, &target)))
          if (target > at) end = std::min(end, static_cast<std::size_t>(target));
      }
      at += decoded.instruction.length;
    }
    return end;
  }

  std::size_t instruction(std::size_t at, std::size_t end, std::string& out) const {
    Decoded decoded;
    char text[256] = "db";
    std::size_t length = 1;
    if (decode(at, end, decoded)) {
      length = decoded.instruction.length;
      ZydisFormatterFormatInstruction(&formatter_, &decoded.instruction, decoded.operands,
                                      decoded.instruction.operand_count_visible, text, sizeof text, at, nullptr);
    }
    std::string bytes;
    char number[24];
    for (std::size_t i = 0; i < length; ++i) {
      std::snprintf(number, sizeof number, "%02x", static_cast<unsigned>(code_[at + i]));
      bytes += number;
    }
    std::snprintf(number, sizeof number, "%6zx  ", at);
    out += number + bytes + std::string(bytes.size() < 24 ? 24 - bytes.size() : 0, ' ') + "  " + text + "\n";
    return length;
  }

  /// As numbers of 32 bits.
  void constants(std::size_t at, std::string& out) const {
    char number[24];
    std::snprintf(number, sizeof number, "%6zx  dd", at);
    out += number;
    for (std::size_t i = at; i < std::min(at + kLine, code_.size()); i += 4) {
      std::uint32_t value = 0;
      std::memcpy(&value, code_.data() + i, std::min<std::size_t>(4, code_.size() - i));
      std::snprintf(number, sizeof number, " %08x", static_cast<unsigned>(value));
      out += number;
    }
    out += "\n";
  }

  std::span<const std::uint8_t> code_;
  ZydisDecoder decoder_{};
  ZydisFormatter formatter_{};
};

}  // namespace

Result<std::string> listing(std::span<const std::uint8_t> code) {
  Lister lister(code);
  if (!lister.start()) return Status(Code::internal_error, "the disassembler cannot be set up");
  return lister.run();
}

#else

Result<std::string> listing(std::span<const std::uint8_t>) {
  return Status(Code::unsupported_target, "built without Zydis (libzydis-dev): there is no listing");
}

#endif

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
#include "jit/assembler/assembler.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace tenfold::jit {
namespace {

/// Bodies of a dozen long functions in three passes come to a tenth of it; beyond is an internal_error. Only what is
/// written of it is ever memory.
constexpr std::size_t kBufferBytes = 512 << 10;

// rsp, rbp (scratch) and rdi (arguments) are spoken for. Callers' scratch registers are leased first.
constexpr int kLeasable[] = {Xbyak::Operand::R15, Xbyak::Operand::R14, Xbyak::Operand::R13, Xbyak::Operand::R12,
                             Xbyak::Operand::RBX, Xbyak::Operand::R11, Xbyak::Operand::R10, Xbyak::Operand::R9,
                             Xbyak::Operand::R8,  Xbyak::Operand::RSI, Xbyak::Operand::RDX, Xbyak::Operand::RCX,
                             Xbyak::Operand::RAX};
constexpr int kCalleeSaved[] = {Xbyak::Operand::RBX, Xbyak::Operand::RBP, Xbyak::Operand::R12,
                                Xbyak::Operand::R13, Xbyak::Operand::R14, Xbyak::Operand::R15};

}  // namespace

Assembler::Assembler(Encoding encoding)
    : encoding_(encoding),
      buffer_(std::make_unique_for_overwrite<Block[]>(kBufferBytes / sizeof(Block))),
      free_(std::begin(kLeasable), std::end(kLeasable)) {
  Xbyak::ClearError();
  generator_ = std::make_unique<Xbyak::CodeGenerator>(kBufferBytes, buffer_.get());
  generator_->setDefaultJmpNEAR(true);
}

void Assembler::select(const Xbyak::Ymm& d, const Xbyak::Ymm& mask, const Xbyak::Operand& yes, const Xbyak::Ymm& no) {
  if (encoding_ == Encoding::vex) return generator_->vpblendvb(d, no, yes, mask);
  // Each bit of the last operand is the answer for the bits of d, the second and the third, as a number.
  constexpr int kSecondAsksThirdElseFirst = 0xb8, kFirstAsksThirdElseSecond = 0xac, kSecondAsksFirstElseThird = 0xe2;
  if (d == mask) return generator_->vpternlogd(d, no, yes, kFirstAsksThirdElseSecond);
  if (d == yes) return generator_->vpternlogd(d, mask, no, kSecondAsksFirstElseThird);
  if (d != no) generator_->vmovdqa(d, no);
  generator_->vpternlogd(d, mask, yes, kSecondAsksThirdElseFirst);
}

Xbyak::Address Assembler::constant(const Bytes64& bytes, int at) {
  for (const auto& known : constants_)
    if (known->bytes == bytes) return generator_->ptr[generator_->rip + known->label + at];
  constants_.push_back(std::make_unique<Constant>());
  constants_.back()->bytes = bytes;
  return generator_->ptr[generator_->rip + constants_.back()->label + at];
}

Xbyak::Address Assembler::splat(std::uint64_t pattern, int bytes) {
  // A copy in each of `bytes`: the low ones times 1, 2^(8 bytes), 2^(16 bytes), ...
  const std::uint64_t low = bytes == 8 ? pattern : pattern & ((std::uint64_t{1} << 8 * bytes) - 1);
  const std::uint64_t ones = bytes == 8 ? 1 : ~std::uint64_t{0} / ((std::uint64_t{1} << 8 * bytes) - 1);
  std::array<std::uint64_t, 8> all;
  all.fill(low * ones);
  return constant(std::bit_cast<Bytes64>(all), 0);
}

Xbyak::Address Assembler::iota(int first, int step, int bytes, int at) {
  Bytes64 all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t lane = i / static_cast<std::size_t>(bytes);
    const std::size_t byte = i % static_cast<std::size_t>(bytes);
    all[i] = static_cast<std::uint8_t>((std::int64_t{first} + step * static_cast<int>(lane)) >> (8 * byte));
  }
  return constant(all, at);
}

Xbyak::Address Assembler::bytes(const std::array<std::uint8_t, 32>& value) {
  Bytes64 all{};
  std::copy(value.begin(), value.end(), all.begin());
  std::copy(value.begin(), value.end(), all.begin() + value.size());
  return constant(all, 0);
}

void Assembler::prologue() {
  generator_->endbr64();
  for (const int reg : kCalleeSaved) generator_->push(Xbyak::Reg64(reg));
}

void Assembler::epilogue() {
  for (std::size_t i = std::size(kCalleeSaved); i-- > 0;) generator_->pop(Xbyak::Reg64(kCalleeSaved[i]));
  generator_->ret();
  for (const auto& emit : asides_) emit();
}

Result<std::vector<std::uint8_t>> Assembler::finish() {
  if (!constants_.empty()) generator_->align(64, false);
  for (const auto& constant : constants_) {
    generator_->L(constant->label);
    generator_->db(constant->bytes.data(), constant->bytes.size());
  }
  generator_->ready();
  const int error = Xbyak::GetError();
  Xbyak::ClearError();
  if (ran_out_) return Status(Code::internal_error, "emitter: ran out of general registers");
  if (too_few_vectors_) return Status(Code::internal_error, "emitter: ran out of vector registers");
  if (error != 0) return Status(Code::internal_error, std::string("emitter: ") + Xbyak::ConvertErrorToString(error));
  const std::uint8_t* const start = generator_->getCode();
  return std::vector<std::uint8_t>(start, start + generator_->getSize());
}

Gpr::Gpr(Assembler& assembler) : assembler_(assembler) {
  if (assembler_.free_.empty()) {
    assembler_.ran_out_ = true;
    return;
  }
  reg_ = Xbyak::Reg64(assembler_.free_.back());
  assembler_.free_.pop_back();
}

Gpr::~Gpr() {
  if (!assembler_.ran_out_) assembler_.free_.push_back(reg_.getIdx());
}

void align_loop(Xbyak::CodeGenerator& code) {
  constexpr std::size_t kLine = 64, kMiddle = 32;
  code.nop((kLine + kMiddle - code.getSize() % kLine) % kLine);
}

void cut_into_runs(Xbyak::CodeGenerator& code, const Xbyak::Reg64& rows, int runs, int odd_from) {
  Xbyak::Label is_short;
  code.shr(rows, std::countr_zero(static_cast<unsigned>(runs)));
  code.cmp(rows, odd_from);
  code.jb(is_short);
  code.dec(rows);
  code.or_(rows, 1);
  code.L(is_short);
}

}  // namespace tenfold::jit

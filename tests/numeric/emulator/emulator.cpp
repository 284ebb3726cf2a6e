// SPDX-License-Identifier: Apache-2.0
//
// The loop: fetch, check the level, execute, check the stack pointer; at the end, what must have been given back.
#include "emulator.hpp"

#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;
/// Where `ret` goes; not canonical, so it can be no code address.
constexpr std::uint64_t kReturnAddress = 0x7e17'0000'0000'0bad;
constexpr int kCalleeSaved[] = {kRbx, kRbp, 12, 13, 14, 15};

bool may_move_stack(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_PUSH || mnemonic == ZYDIS_MNEMONIC_POP || mnemonic == ZYDIS_MNEMONIC_SUB ||
         mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_RET;
}

/// Registers start with what a caller may leave in them: anything, NaNs and stale mask bits included.
Machine junk() {
  Machine m;
  std::uint64_t x = 0x9e37'79b9'7f4a'7c15;
  const auto next = [&x] {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
  };
  for (std::uint64_t& r : m.gpr) r = next();
  for (std::uint64_t& k : m.opmask) k = next();
  for (Vector& v : m.vector)
    for (int i = 0; i < 8; ++i) v.set<std::uint64_t>(i, next() | 0x7fc0'0000'7fc0'0000);
  return m;
}

}  // namespace

bool can_emulate() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
}

const HandlerTable& handlers() {
  static const HandlerTable table = [] {
    HandlerTable t;
    add_general(t);
    add_moves(t);
    add_opmasks(t);
    add_float(t);
    add_convert(t);
    add_integer(t);
    add_shift(t);
    add_shuffle(t);
    add_permute(t);
    return t;
  }();
  return table;
}

Emulator::Emulator(std::span<const std::uint8_t> code, target::Isa isa)
    : code_(code), isa_(isa), stack_(kStackBytes), decoded_(code.size()) {
  memory_.allow(code.data(), code.size(), Access::read, "code");
  const std::size_t size = stack_top() - reinterpret_cast<std::uint64_t>(stack_.data());
  memory_.allow(stack_.data(), size, Access::read_write, "stack");
}

std::uint64_t Emulator::stack_top() const {
  return (reinterpret_cast<std::uint64_t>(stack_.data()) + stack_.size()) & ~std::uint64_t{63};
}

void Emulator::set_registers(const Machine& machine) {
  start_ = machine;
  registers_set_ = true;
}

void Emulator::reset(const void* argument) {
  machine_ = registers_set_ ? start_ : junk();
  machine_.gpr[kRdi] = reinterpret_cast<std::uint64_t>(argument);
  machine_.gpr[kRsp] = stack_top() - 8;
  std::memcpy(reinterpret_cast<void*>(machine_.gpr[kRsp]), &kReturnAddress, 8);
  machine_.rip = reinterpret_cast<std::uint64_t>(code_.data());
  start_.gpr = machine_.gpr;
  steps_ = 0;
}

Result<const Instruction*> Emulator::fetch() {
  const std::uint64_t offset = machine_.rip - reinterpret_cast<std::uint64_t>(code_.data());
  if (offset >= code_.size())
    return Status(Code::internal_error, "jump to " + hex(machine_.rip) + ", outside the code");
  if (decoded_[offset] != nullptr) return decoded_[offset].get();
  Result<Instruction> decoded = decode(code_, offset);
  if (!decoded.ok()) return decoded.status();
  decoded_[offset] = std::make_unique<const Instruction>(std::move(decoded).value());
  const Instruction& instruction = *decoded_[offset];
  if (!available_at(instruction, isa_))
    return at(instruction, std::string("instruction of set ") + ZydisISASetGetString(instruction.info.meta.isa_set) +
                               " in a kernel for " + std::string(target::to_string(isa_)));
  return &instruction;
}

Status Emulator::at(const Instruction& instruction, const std::string& what) const {
  return Status(Code::internal_error,
                "emulated '" + describe(instruction, reinterpret_cast<std::uint64_t>(code_.data())) + "': " + what);
}

Status Emulator::step(const Instruction& instruction) {
  const Handler* handler = handlers().find(instruction.info.mnemonic);
  if (handler == nullptr) return at(instruction, "the emulator does not know the instruction");
  if (instruction.info.avx.has_sae || instruction.info.avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID)
    return at(instruction, "embedded rounding is not emulated");
  const std::uint64_t stack_before = machine_.gpr[kRsp];
  machine_.rip = instruction.address + instruction.info.length;
  Step executing(instruction, machine_, memory_);
  (*handler)(executing);
  if (!executing.error().empty()) return at(instruction, executing.error());
  if (machine_.gpr[kRsp] != stack_before && !may_move_stack(instruction.info.mnemonic))
    return at(instruction, "the stack pointer moves other than by push, pop, sub or add");
  return Status();
}

Status Emulator::finish() const {
  if (machine_.gpr[kRsp] != start_.gpr[kRsp] + 8)
    return Status(Code::internal_error,
                  "the stack is off by " +
                      std::to_string(static_cast<std::int64_t>(machine_.gpr[kRsp] - start_.gpr[kRsp] - 8)) +
                      " bytes on return");
  for (const int r : kCalleeSaved)
    if (machine_.gpr[static_cast<std::size_t>(r)] != start_.gpr[static_cast<std::size_t>(r)])
      return Status(Code::internal_error, "callee-saved register " + std::to_string(r) + " is not restored");
  return Status();
}

Status Emulator::run(const void* argument) {
  reset(argument);
  while (machine_.rip != kReturnAddress) {
    Result<const Instruction*> instruction = fetch();
    if (!instruction.ok()) return instruction.status();
    if (++steps_ > step_limit_)
      return at(*instruction.value(), "the limit of " + std::to_string(step_limit_) + " steps is reached");
    const Status status = step(*instruction.value());
    if (!status.ok()) return status;
  }
  return finish();
}

}  // namespace tenfold::emulator

// SPDX-License-Identifier: Apache-2.0
//
// Operand access: registers by their Zydis names, memory by its ranges, lanes under the opmask.
#include "step.hpp"

#include <algorithm>

namespace tenfold::emulator {
namespace {

std::uint64_t low_bits(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

bool in(ZydisRegister reg, ZydisRegister first, ZydisRegister last) { return reg >= first && reg <= last; }

}  // namespace

bool Step::is_gpr(int n) const {
  const ZydisDecodedOperand& op = operand(n);
  return op.type == ZYDIS_OPERAND_TYPE_REGISTER && in(op.reg.value, ZYDIS_REGISTER_AL, ZYDIS_REGISTER_R15);
}

bool Step::is_opmask(int n) const {
  const ZydisDecodedOperand& op = operand(n);
  return op.type == ZYDIS_OPERAND_TYPE_REGISTER && in(op.reg.value, ZYDIS_REGISTER_K0, ZYDIS_REGISTER_K7);
}

std::size_t Step::opmask_index(int n) const {
  return static_cast<std::size_t>(operand(n).reg.value - ZYDIS_REGISTER_K0);
}

std::size_t Step::vector_index(int n) const {
  const ZydisRegister reg = operand(n).reg.value;
  const ZydisRegister first = reg >= ZYDIS_REGISTER_ZMM0   ? ZYDIS_REGISTER_ZMM0
                              : reg >= ZYDIS_REGISTER_YMM0 ? ZYDIS_REGISTER_YMM0
                                                           : ZYDIS_REGISTER_XMM0;
  return static_cast<std::size_t>(reg - first) % 32;
}

std::size_t Step::gpr_index(ZydisRegister reg) {
  if (in(reg, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D)) return static_cast<std::size_t>(reg - ZYDIS_REGISTER_EAX);
  if (in(reg, ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH)) fail("high byte registers are not emulated");
  const ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (!in(wide, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15)) {
    fail("an operand is no general register");
    return 0;
  }
  return static_cast<std::size_t>(wide - ZYDIS_REGISTER_RAX);
}

std::uint64_t Step::gpr_value(ZydisRegister reg) {
  if (in(reg, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15))
    return machine_.gpr[static_cast<std::size_t>(reg - ZYDIS_REGISTER_RAX)];
  return low_bits(machine_.gpr[gpr_index(reg)], ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg));
}

std::uint64_t Step::address(int n) {
  const ZydisDecodedOperandMem& mem = operand(n).mem;
  if (mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS) fail("segments are not emulated");
  std::uint64_t result = static_cast<std::uint64_t>(mem.disp.value);
  if (mem.base == ZYDIS_REGISTER_RIP)
    result += instruction_.address + instruction_.info.length;
  else if (mem.base != ZYDIS_REGISTER_NONE)
    result += gpr_value(mem.base);
  if (mem.index != ZYDIS_REGISTER_NONE) result += gpr_value(mem.index) * mem.scale;
  return result;
}

std::uint64_t Step::read(int n) {
  const ZydisDecodedOperand& op = operand(n);
  switch (op.type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: return gpr_value(op.reg.value);
    case ZYDIS_OPERAND_TYPE_IMMEDIATE: return op.imm.value.u;
    default: break;
  }
  std::uint64_t value = 0;
  load(address(n), &value, op.size / 8U);
  return value;
}

void Step::write(int n, std::uint64_t value) {
  const ZydisDecodedOperand& op = operand(n);
  if (op.type == ZYDIS_OPERAND_TYPE_MEMORY) return store(address(n), &value, op.size / 8U);
  std::uint64_t& reg = machine_.gpr[gpr_index(op.reg.value)];
  if (!error_.empty()) return;
  if (op.size >= 32)
    reg = low_bits(value, op.size);
  else
    reg = (reg & ~low_bits(~std::uint64_t{0}, op.size)) | low_bits(value, op.size);
}

std::int64_t Step::branch_target() const {
  return static_cast<std::int64_t>(instruction_.address) + instruction_.info.length + operand(0).imm.value.s;
}

Vector Step::read_lanes(int n, int size, int count, bool masked) {
  if (!is_memory(n)) return machine_.vector[vector_index(n)];
  Vector result;
  const std::uint64_t from = address(n);
  const auto bytes = static_cast<std::size_t>(size);
  const auto broadcast = instruction_.info.avx.broadcast;
  if (broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !broadcast.is_static) {
    bool any = false;
    for (int lane = 0; lane < count; ++lane) any = any || !masked || active(lane);
    if (!any) return result;
    load(from, result.bytes.data(), bytes);
    for (int lane = 1; lane < count; ++lane)
      std::copy_n(result.bytes.data(), bytes, result.bytes.data() + static_cast<std::size_t>(lane) * bytes);
    return result;
  }
  if (!masked || instruction_.mask == 0) {
    load(from, result.bytes.data(), bytes * static_cast<std::size_t>(count));
    return result;
  }
  for (int lane = 0; lane < count; ++lane) {
    const std::size_t at = static_cast<std::size_t>(lane) * bytes;
    if (active(lane)) load(from + at, result.bytes.data() + at, bytes);
  }
  return result;
}

void Step::write_lanes(int n, const Vector& value, int size, int count) {
  if (!error_.empty()) return;
  const auto bytes = static_cast<std::size_t>(size);
  const std::size_t total = bytes * static_cast<std::size_t>(count);
  if (is_memory(n)) {
    const std::uint64_t to = address(n);
    if (instruction_.mask == 0) return store(to, value.bytes.data(), total);
    for (int lane = 0; lane < count; ++lane) {
      const std::size_t at = static_cast<std::size_t>(lane) * bytes;
      if (active(lane)) store(to + at, value.bytes.data() + at, bytes);
    }
    return;
  }
  Vector& reg = machine_.vector[vector_index(n)];
  if (instruction_.mask == 0) {
    std::copy_n(value.bytes.data(), total, reg.bytes.data());
  } else {
    for (int lane = 0; lane < count; ++lane) {
      const std::size_t at = static_cast<std::size_t>(lane) * bytes;
      if (active(lane))
        std::copy_n(value.bytes.data() + at, bytes, reg.bytes.data() + at);
      else if (instruction_.zeroing)
        std::fill_n(reg.bytes.data() + at, bytes, std::uint8_t{0});
    }
  }
  std::fill(reg.bytes.begin() + static_cast<std::ptrdiff_t>(total), reg.bytes.end(), std::uint8_t{0});
}

void Step::put_whole(int n, const Vector& value, int bytes) {
  if (!error_.empty()) return;
  Vector& reg = machine_.vector[vector_index(n)];
  reg = Vector{};
  std::copy_n(value.bytes.data(), bytes, reg.bytes.data());
}

void Step::put_opmask(int n, std::uint64_t value, int count) {
  if (error_.empty()) machine_.opmask[opmask_index(n)] = low_bits(value, count);
}

void Step::require_aligned(int n, int bytes) {
  if (is_memory(n) && address(n) % static_cast<std::uint64_t>(bytes) != 0)
    fail("the address " + hex(address(n)) + " is not aligned to " + std::to_string(bytes) + " bytes");
}

void Step::load(std::uint64_t from, void* to, std::size_t size) {
  std::string error;
  if (error_.empty() && !memory_.load(from, to, size, error)) fail(std::move(error));
}

void Step::store(std::uint64_t to, const void* from, std::size_t size) {
  std::string error;
  if (error_.empty() && !memory_.store(to, from, size, error)) fail(std::move(error));
}

void Step::push(std::uint64_t value) {
  machine_.gpr[kRsp] -= 8;
  store(machine_.gpr[kRsp], &value, 8);
}

std::uint64_t Step::pop() {
  std::uint64_t value = 0;
  load(machine_.gpr[kRsp], &value, 8);
  machine_.gpr[kRsp] += 8;
  return value;
}

}  // namespace tenfold::emulator

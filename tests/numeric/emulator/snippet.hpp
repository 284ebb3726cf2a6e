// SPDX-License-Identifier: Apache-2.0
//
// For the emulator's own tests: one instruction between a load of all registers from a block of memory and a store of
// them back, so that the same bytes can run on the CPU and in the emulator and the two blocks be compared.
#pragma once

#include <gtest/gtest.h>
#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "emulator/emulator.hpp"

namespace tenfold::emulator {

inline constexpr int kSlots = 6;

/// What a snippet starts from and leaves: vectors 0 to 5, six general registers, opmasks 1 to 6, memory, flags.
struct Block {
  alignas(64) std::array<Vector, kSlots> vector;
  alignas(64) std::array<std::uint8_t, 128> memory;
  std::array<std::uint64_t, kSlots> gpr;
  std::array<std::uint64_t, kSlots> opmask;
  std::array<std::uint8_t, 8> flags;  ///< o, c, z, s, p
};

using Body = std::function<void(Xbyak::CodeGenerator&)>;

struct Case {
  std::string name;
  Body body;
  std::string flags;  ///< of "oczsp", those that the instruction defines
};

/// The memory operand of snippets: 128 bytes, 64-byte aligned.
inline Xbyak::Address memory_operand(int offset = 0) {
  using namespace Xbyak::util;
  return ptr[rdi + offsetof(Block, memory) + static_cast<std::size_t>(offset)];
}

/// Emits loads, the body, stores and `ret`. `wide`: zmm registers and opmasks too.
class Snippet : public Xbyak::CodeGenerator {
 public:
  Snippet(const Case& test, bool wide) : Xbyak::CodeGenerator(4096, Xbyak::DontSetProtectRWE) {
    using namespace Xbyak::util;
    const std::array<Xbyak::Reg64, kSlots> gprs{rax, rcx, rdx, rsi, r8, r9};
    for (int i = 0; i < kSlots; ++i) {
      move_vector(i, wide, true);
      mov(gprs[static_cast<std::size_t>(i)], qword[rdi + offsetof(Block, gpr) + static_cast<std::size_t>(8 * i)]);
      if (wide) kmovq(Xbyak::Opmask(i + 1), qword[rdi + offsetof(Block, opmask) + static_cast<std::size_t>(8 * i)]);
    }
    test.body(*this);
    const auto flag = [&](std::size_t i) { return byte[rdi + offsetof(Block, flags) + i]; };
    if (test.flags.find('o') != std::string::npos) seto(flag(0));
    if (test.flags.find('c') != std::string::npos) setc(flag(1));
    if (test.flags.find('z') != std::string::npos) setz(flag(2));
    if (test.flags.find('s') != std::string::npos) sets(flag(3));
    if (test.flags.find('p') != std::string::npos) setp(flag(4));
    for (int i = 0; i < kSlots; ++i) {
      move_vector(i, wide, false);
      mov(qword[rdi + offsetof(Block, gpr) + static_cast<std::size_t>(8 * i)], gprs[static_cast<std::size_t>(i)]);
      if (wide) kmovq(qword[rdi + offsetof(Block, opmask) + static_cast<std::size_t>(8 * i)], Xbyak::Opmask(i + 1));
    }
    vzeroupper();
    ret();
  }

  std::span<const std::uint8_t> bytes() const { return {getCode(), getSize()}; }

  void run_native(Block& block) {
    setProtectModeRE();
    getCode<void (*)(Block*)>()(&block);
  }

 private:
  void move_vector(int i, bool wide, bool loads) {
    using namespace Xbyak::util;
    const auto at = ptr[rdi + offsetof(Block, vector) + static_cast<std::size_t>(64 * i)];
    if (wide)
      loads ? vmovups(Xbyak::Zmm(i), at) : vmovups(at, Xbyak::Zmm(i));
    else
      loads ? vmovups(Xbyak::Ymm(i), at) : vmovups(at, Xbyak::Ymm(i));
  }
};

/// Fills every register with one kind of content each: bits, or lanes of a type's ordinary and special values.
inline void randomize(Block& block, std::mt19937_64& random) {
  constexpr std::array<std::uint32_t, 16> kSpecial32{
      0, 0x8000'0000, 0x7f80'0000, 0xff80'0000, 0x7fc0'0001, 0xffc1'2345, 0x7f80'0001, 0xffbf'ffff,
      1, 0x8000'0001, 0x007f'ffff, 0x0080'0000, 0x7f7f'ffff, 0x3f80'0000, 0xbf80'0000, 0x4b00'0001};
  constexpr std::array<std::uint16_t, 10> kSpecial16{0,      0x8000, 0x7c00, 0xfc00, 0x7e01,
                                                     0xfd23, 1,      0x83ff, 0x3c00, 0x7bff};
  const auto fill = [&](std::uint8_t* bytes, std::size_t size) {
    const auto kind = random() % 6;
    for (std::size_t at = 0; at < size; at += 8) {
      std::uint64_t x = random();
      const std::uint32_t special = kSpecial32[random() % 16], other = kSpecial32[random() % 16];
      if (kind == 1) x = special | std::uint64_t{other} << 32;
      if (kind == 2) x = 0x3f80'0000'3f80'0000 ^ (x & 0x81ff'ffff'81ff'ffff);
      if (kind == 3) x = std::uint64_t{special} << 32 | (random() % 2 == 0 ? 0 : random() & 0xffff'ffff);
      if (kind == 4)
        x = kSpecial16[random() % 10] | std::uint64_t{kSpecial16[random() % 10]} << 16 | (x & 0xffff'ffff'0000'0000);
      if (kind == 5) x &= 0x0000'003f'0000'0027;
      std::memcpy(bytes + at, &x, 8);
    }
  };
  for (Vector& v : block.vector) fill(v.bytes.data(), v.bytes.size());
  fill(block.memory.data(), block.memory.size());
  for (std::uint64_t& r : block.gpr)
    r = random() % 4 == 0 ? random() % 70 : random() % 3 == 0 ? ~random() % 9 : random();
  for (std::uint64_t& k : block.opmask) k = random();
  block.flags.fill(0);
}

inline std::string difference(const Block& native, const Block& emulated) {
  std::string out;
  for (int i = 0; i < kSlots; ++i) {
    const auto s = static_cast<std::size_t>(i);
    for (int lane = 0; lane < 16; ++lane) {
      const auto a = native.vector[s].get<std::uint32_t>(lane), b = emulated.vector[s].get<std::uint32_t>(lane);
      if (a != b)
        out += " v" + std::to_string(i) + "[" + std::to_string(lane) + "] cpu " + hex(a) + " emulator " + hex(b);
    }
    if (native.gpr[s] != emulated.gpr[s])
      out += " gpr" + std::to_string(i) + " cpu " + hex(native.gpr[s]) + " emulator " + hex(emulated.gpr[s]);
    if (native.opmask[s] != emulated.opmask[s])
      out += " k" + std::to_string(i + 1) + " cpu " + hex(native.opmask[s]) + " emulator " + hex(emulated.opmask[s]);
  }
  if (native.memory != emulated.memory) out += " memory";
  for (std::size_t i = 0; i < 5; ++i)
    if (native.flags[i] != emulated.flags[i]) out += std::string(" flag ") + "oczsp"[i];
  return out;
}

/// Runs the case, with 512-bit registers, in the emulator alone.
inline void expect_runs(const Case& test, target::Isa isa) {
  const Snippet snippet(test, true);
  std::mt19937_64 random(1);
  Block block;
  randomize(block, random);
  Emulator emulator(snippet.bytes(), isa);
  emulator.memory().allow(&block, sizeof block, Access::read_write, "block");
  const Status status = emulator.run(&block);
  ASSERT_TRUE(status.ok()) << test.name << ": " << status.message();
}

/// Runs the case on the CPU and in the emulator with random contents, and expects the same bits.
inline void expect_same_as_cpu(const Case& test, bool wide, target::Isa isa, std::uint64_t seed, int rounds) {
  Snippet snippet(test, wide);
  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds; ++round) {
    Block native;
    randomize(native, random);
    Block emulated = native;
    Emulator emulator(snippet.bytes(), isa);
    emulator.memory().allow(&emulated, sizeof emulated, Access::read_write, "block");
    const Status status = emulator.run(&emulated);
    ASSERT_TRUE(status.ok()) << test.name << ": " << status.message();
    snippet.run_native(native);
    ASSERT_EQ(difference(native, emulated), "") << test.name << " seed " << seed << " round " << round;
  }
}

}  // namespace tenfold::emulator

// SPDX-License-Identifier: Apache-2.0
//
// The assembler that emitters hold: Xbyak writing into ordinary memory, general registers that are leased and come
// back, and a pool of 64-byte constants behind the code. This is the one header that includes Xbyak.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#define XBYAK_NO_EXCEPTION
#include <xbyak/xbyak.h>

#include "tenfold/status.hpp"

namespace tenfold::jit {

/// Of instructions on vectors of up to 32 bytes: that of AVX2, or AVX-512's as well, which has more of them, with
/// permutations of bytes (AVX512_VBMI) or without.
enum class Encoding { vex, evex, evex_vbmi };

class Assembler {
 public:
  using Bytes64 = std::array<std::uint8_t, 64>;

  explicit Assembler(Encoding encoding = Encoding::vex);
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  Xbyak::CodeGenerator& code() noexcept { return *generator_; }
  Encoding encoding() const noexcept { return encoding_; }

  /// d = yes in bytes whose mask is all ones, no where it is 0. In EVEX one operation, where Golden Cove takes
  /// three for a blend.
  void select(const Xbyak::Ymm& d, const Xbyak::Ymm& mask, const Xbyak::Operand& yes, const Xbyak::Ymm& no);

  /// 64 bytes, all of them copies of the low `bytes` (2, 4 or 8) of `pattern`, as a memory operand.
  Xbyak::Address splat(std::uint64_t pattern, int bytes);

  /// Lane numbers as 64 bytes of `bytes` (2, 4 or 8) each: first, first + step, ...; as a memory operand that starts at
  /// byte `at`.
  Xbyak::Address iota(int first, int step, int bytes, int at);

  /// 32 bytes as they are, and again behind them, as a memory operand.
  Xbyak::Address bytes(const std::array<std::uint8_t, 32>& value);
  /// 64 bytes as they are, from byte `at` on.
  Xbyak::Address bytes(const Bytes64& value, int at = 0) { return constant(value, at); }

  /// Pushes what the calling convention wants kept; epilogue() pops it and returns.
  void prologue();
  void epilogue();

  /// Emits code that is hardly ever run behind the kernel's own, when that ends. It is jumped to, and jumps back.
  void aside(std::function<void()> emit) { asides_.push_back(std::move(emit)); }

  /// What is being emitted needs more vector registers than it was given: finish() will fail.
  void report_too_few_vectors() noexcept { too_few_vectors_ = true; }

  /// Appends the constants and hands out the bytes; internal_error when anything on the way failed.
  Result<std::vector<std::uint8_t>> finish();

 private:
  friend class Gpr;
  struct Constant {
    Bytes64 bytes;
    Xbyak::Label label;
  };
  Xbyak::Address constant(const Bytes64& bytes, int at);

  /// Aligned: Xbyak aligns by address, and the same kernel must have the same bytes each time.
  struct alignas(64) Block {
    std::uint8_t bytes[64];
  };
  Encoding encoding_;
  std::unique_ptr<Block[]> buffer_;
  std::unique_ptr<Xbyak::CodeGenerator> generator_;
  std::vector<std::unique_ptr<Constant>> constants_;
  std::vector<std::function<void()>> asides_;
  std::vector<int> free_;  ///< general registers that can be leased
  bool ran_out_ = false, too_few_vectors_ = false;
};

/// A leased general register; it goes back when the lease ends.
class Gpr {
 public:
  explicit Gpr(Assembler& assembler);
  ~Gpr();
  Gpr(const Gpr&) = delete;
  Gpr& operator=(const Gpr&) = delete;

  operator const Xbyak::Reg64&() const noexcept { return reg_; }  // NOLINT: a lease is used as the register
  const Xbyak::Reg64& reg() const noexcept { return reg_; }
  Xbyak::Reg32 r32() const { return reg_.cvt32(); }

 private:
  Assembler& assembler_;
  Xbyak::Reg64 reg_;
};

/// Pads before a loop, so that it begins in the middle of a line of code. Zen 5 takes nearly twice as long for a short
/// one that begins with a line and ends a few bytes into the next: 73 bytes of a max took 5.2 cycles, 3.0 at any other
/// place.
void align_loop(Xbyak::CodeGenerator& code);

/// Replaces the number of rows by that of each of `runs` (a power of two). From `odd_from` on it becomes odd: runs a
/// large power of two apart meet in the same sets of the caches and the same banks of memory.
void cut_into_runs(Xbyak::CodeGenerator& code, const Xbyak::Reg64& rows, int runs, int odd_from = 32);

}  // namespace tenfold::jit

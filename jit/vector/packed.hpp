// SPDX-License-Identifier: Apache-2.0
//
// What packed rows and keys speak: registers of 32 bytes and the shuffles that bring lanes of several rows together.
// There is one implementation, in AVX2 (avx2_packed.cpp, avx2_keys.cpp, avx2_places.cpp,
// avx2_constants.cpp), for all levels, and the bits are the same everywhere by construction. Sums have another
// on AVX-512 (gather.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "jit/vector/vector.hpp"
#include "kernel/tables.hpp"

namespace tenfold::jit {

class PackedVectors {
 public:
  static constexpr int kBytes = 32;
  /// Registers that emitters may use: [0, kRegisters). The others are this layer's.
  static constexpr int kRegisters = 13;
  using Register = int;
  /// Where each byte of a half (16 bytes) comes from in the same half of the source; kZero: from nowhere.
  using Bytes = std::array<std::uint8_t, kBytes>;
  static constexpr std::uint8_t kZero = 0x80;

  explicit PackedVectors(Assembler& assembler) : assembler_(assembler), code_(assembler.code()) {}

  /// What the operations so far have taken from memory that never changes, and how often.
  struct Constant {
    Bytes bytes;
    int uses;
    Xbyak::Address place;
  };
  const std::vector<Constant>& constants() const { return constants_; }
  /// From here on an operation counts for so many, as those of a loop run.
  void weigh(int uses) { weight_ = uses; }
  /// From here on `bytes` are read in `reg`, which nobody else writes and load_kept() fills.
  void keep(Register reg, const Bytes& bytes) { kept_.push_back({bytes, reg}); }
  void load_kept();

  void load(Register d, const Memory& from);
  /// The first 4, 8 or 16 bytes; the others become zero.
  void load_first(Register d, int bytes, const Memory& from);
  /// 16 bytes to each half; of `low` 32 are read. Inserting them would keep the one port busy that lanes are crossed
  /// on.
  void load_halves(Register d, const Memory& low, const Memory& high);
  /// The upper half of 32 bytes to that of `d`.
  void load_upper(Register d, const Memory& from);
  /// Eight bf16 or f16 elements, as f32.
  void load_widened(Register d, DType dtype, const Memory& from);
  /// The first 16 bytes at `from`, each byte where `bytes` (16 of them) says, then as load_widened().
  void load_spread_widened(Register d, DType dtype, const Memory& from, const Bytes& bytes);
  /// Four f16 elements of each, as f32 in a half each.
  void load_widened_quarters(Register d, const Memory& low, const Memory& high);
  /// Of pairs of bf16 in lanes of 32 bits the first ones, and in `d` itself the second ones, as f32.
  void widen_pairs(Register first, Register d);
  void store(const Memory& to, Register s);
  /// The first `bytes` of it, up to all; or of its upper half. Clobbers nothing of `s`.
  void store_first(const Memory& to, Register s, int bytes);
  void store_first_of_upper(const Memory& to, Register s, int bytes);
  /// Eight f32 lanes to eight elements of `dtype`, in the first bytes of `s`, to nearest even. NaNs must be canonical.
  void narrow32(Register s, DType dtype);
  /// The same and stores them. Clobbers `s`.
  void store32(const Memory& to, DType dtype, Register s);
  /// The same as bf16, lanes of the lower half and of the upper one in turn.
  void store_in_turn(const Memory& to, Register s);

  /// Lanes of `bytes`, whose lower half holds a code (all of its bits `inverted` or none), as so many of `dtype` (s32
  /// or s64) without what is above. Clobbers `s`.
  void store_codes(const Memory& to, Register s, int bytes, bool inverted, DType dtype);

  void splat(Register d, std::uint64_t pattern, int bytes);
  void and_bytes(Register d, const Bytes& mask);
  void or_bytes(Register d, const Bytes& pattern);
  /// Bytes that are 0xff in `inside` stay; the others, where `outside` may be what is not zero, become those of it.
  void keep_inside(Register d, const Bytes& inside, const Bytes& outside);
  /// Lanes of 32 bits whose bit is set in `lanes` become `pattern`, which is of `bytes`.
  void fill_dwords(Register d, int lanes, std::uint64_t pattern, int bytes);
  void shuffle_in_halves(Register d, const Bytes& from) { shuffle_in_halves(d, d, from); }
  void shuffle_in_halves(Register d, Register s, const Bytes& from);
  /// In each half two lanes of 32 bits of `a`, then two of `b`, by number.
  void shuffle_pair(Register d, Register a, Register b, const std::array<int, 4>& from);
  void permute_dwords(Register d, const std::array<std::uint32_t, 8>& from);
  /// In each half the words of `b` at places whose bit is set, else of `a`.
  void blend_words(Register d, Register a, Register b, int places);
  /// In each half word `by` becomes the first one, and those before it the last ones.
  void rotate_words(Register d, int by);
  /// Any byte to any place, where it permutes_bytes(), from memory or within a register.
  bool permutes_bytes() const { return assembler_.encoding() == Encoding::evex_vbmi; }
  void load_permuted(Register d, const Memory& from, const Bytes& bytes);
  void permute_bytes(Register d, const Bytes& bytes);

  /// Lanes `bytes` apart meet: `x` becomes the lanes of `x` whose number has that bit clear beside those of `y` whose
  /// has it set, and the result is what to combine `x` with.
  Register meet(Register x, Register y, int bytes);

  /// Quarters 1 and 2 change places.
  void swap_quarters(Register d);
  /// d = other where the mask is `set` or where it is not, else d.
  void blend(Register d, const Bytes& other, Register mask, bool set);
  /// Of each two lanes of `bytes` (1, 2, 4 or 16) next to each other the first ones of `x` and `y` in `early`, the
  /// second ones in `y`. Pairs of `x` and of `y` take turns; of 4 bytes, in each half those of `x` come first. Clobbers
  /// `x`.
  void part(Register early, Register x, Register y, int bytes);
  void add_bytes(Register d, Register s, const Bytes& to, int bytes);
  /// Jumps unless lanes of `greatest` (2 or 4 bytes) are above 0 and up to `infinity`, and those of `seen`, without a
  /// sign of theirs, up to its negative. Clobbers both.
  void jump_unless_settled(Register greatest, Register seen, std::uint64_t infinity, int bytes,
                           const Xbyak::Label& target);
  /// d = where the mask is set: taken, else other.
  void choose(Register d, Register mask, const Bytes& taken, const Bytes& other);
  /// Lanes of `bytes` (1, 2 or 4) with places below zero, as so many of `dtype` (s32 or s64) above it. Clobbers `s`.
  void store_places(const Memory& to, Register s, int bytes, DType dtype);

  void arithmetic(Arithmetic op, Register d, Register a, Register b, int bytes);
  void integer(IntegerOp op, Register d, Register a, Register b, int lane_bits);
  void abs_float(Register d, int bytes);
  void abs_integer(Register d, int lane_bits);
  void add_zero(Register d, int bytes);
  void divide32(Register d, float by);
  void divide64(Register d, const Memory& by);
  void square_root(Register d, int bytes);
  void canonical_nan(Register d, int bytes);
  /// Four f32 lanes each, as f64. `low` may be `s`.
  void widen(Register low, Register high, Register s);
  /// The same back: `low` and `high` into `d`.
  void narrow(Register d, Register low, Register high);

  /// Bits of floats to integers of the same order, NaNs beyond both ends, and back.
  void order_key(Register d, int bytes);
  /// The first step of a NaN's replacement: keys that are above (or below) `limit` become `other`.
  void replace_beyond(Register d, bool above, std::uint64_t limit, std::uint64_t other, int bytes);
  /// The greater (less) of numbers, +0 above -0. Where one is a NaN the result may be anything.
  void extreme_number(Register d, Register a, Register b, bool greatest, int bytes);
  /// The same of f64 in one operation, but for the signs of zeros.
  void extreme64(Register d, Register a, Register b, bool greatest);
  void jump_if_zero64(Register s, const Xbyak::Label& target);
  /// Jumps when a lane of either is a NaN.
  void jump_if_nan(Register a, Register b, int bytes, const Xbyak::Label& target);
  /// The same of lanes of 16 bits, whose type has this infinity.
  void jump_if_nan_of_16(Register a, Register b, std::uint64_t infinity, const Xbyak::Label& target);
  /// Jumps unless the sign of each lane is `set`.
  void jump_unless_signs(Register s, bool set, int bytes, const Xbyak::Label& target);
  /// Lanes of 16 or 32 bits: `negative` where `s` has its sign bit set, else `positive`.
  void choose_by_sign(Register d, Register s, Register negative, Register positive, int bytes);
  void copy(Register d, Register s);
  /// Jumps when a key is above (below) `limit`.
  void jump_if_beyond(Register keys, bool above, std::uint64_t limit, int bytes, const Xbyak::Label& target);

  /// Floats of 2 or 4 bytes to two's complement of the same order, -0 as 0; `magnitude` gets their bits but the sign.
  void sign_to_integer(Register d, Register magnitude, int bytes);
  void flip_bits(Register d, std::uint64_t pattern, int bytes);
  void flip_signs(Register d, int bytes);
  /// Elements of `d` above `codes`, as lanes of twice as many `bytes`: of each half's first 8 bytes in `d`, of its last
  /// 8 in `upper`.
  void unpack_keys(Register d, Register upper, const Bytes& codes, int bytes);
  void unpack_keys(Register d, Register upper, Register codes, int bytes);
  void load_constant(Register d, const Bytes& bytes);
  void add_constant(Register d, int value, int bytes);
  void broadcast32(Register d, const Memory& from);
  void first_lane(const Xbyak::Reg32& d, Register s);
  /// The low `bytes` (1 or 2) of `s` in all lanes of so many.
  void broadcast_element(Register d, const Xbyak::Reg32& s, int bytes);
  /// Lanes of `bytes` (1, 2 or 4) in which `late` is greater (less) than `early`, as a mask.
  void beats(Register mask, Register late, Register early, bool greatest, int bytes);
  /// `codes`, in lanes of the mask one less, or one more.
  void step_codes(Register d, Register codes, Register mask, bool down, int bytes);
  void equal(Register mask, Register a, Register b, int bytes);
  /// d = where the mask is set: taken, else d.
  void blend(Register d, Register taken, Register mask);
  /// A bit for each byte of lanes that are equal. Clobbers `a`.
  void equal_bytes(const Xbyak::Reg32& d, Register a, Register b, int bytes);
  /// The greatest (least) of eight lanes of 32 bits. Clobbers `s`.
  void fold32(const Xbyak::Reg32& d, Register s, IntegerOp op);
  /// Eight integers of `bytes` (1 or 2), as lanes of 32 bits.
  void load_integers(Register d, const Memory& from, int bytes, bool is_signed);
  /// Lanes of 32 bits: where x is greater (less) than best, best = x and index = at.
  void take_better(Register best, Register index, Register x, Register at, bool greatest);
  /// Eight lanes of 32 bits as `dtype` (s32 or s64).
  void store_indices(const Memory& to, Register s, DType dtype);

 private:
  struct Kept {
    Bytes bytes;
    Register reg;
  };
  /// A constant as the last operand of an instruction. Valid until the next one.
  const Xbyak::Operand& constant(const Bytes& bytes);
  const Xbyak::Operand& splat_of(std::uint64_t pattern, int bytes) { return constant(splat_bytes(pattern, bytes)); }
  static Bytes splat_bytes(std::uint64_t pattern, int bytes);
  /// The same as a register: `spare`, if it must be.
  Xbyak::Ymm in_register(const Bytes& bytes, Register spare);
  /// d = (d & mask) | other; in EVEX one operation.
  void and_or(Register d, const Xbyak::Operand& mask, const Xbyak::Ymm& other);
  void round_to_bf16(Register s);
  void store_words(const Memory& to, const Xbyak::Xmm& s, int bytes);
  Xbyak::Ymm beyond(Register keys, bool above, std::uint64_t limit, int bytes);

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  std::vector<Constant> constants_;
  int weight_ = 1;
  std::vector<Kept> kept_;
  Xbyak::Ymm register_;  ///< of the last constant that is in one
};

}  // namespace tenfold::jit

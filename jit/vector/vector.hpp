// SPDX-License-Identifier: Apache-2.0
//
// The portable vector layer that kernels speak: virtual vectors of 64 bytes, one zmm or two ymm, so that a lane is the
// same lane on every instruction set and sums have the same bits. Only avx2*.cpp and avx512*.cpp know
// which.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "jit/assembler/assembler.hpp"
#include "jit/assembler/staging.hpp"
#include "target/target.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::jit {

class ArgVectors;
class GatherVectors;
class NanWatch;

/// A virtual vector by number.
using Vec = int;

/// How much of a vector an operation concerns.
enum class Part {
  full,  ///< all lanes
  tail,  ///< the first lanes, as many as prepare_tail() was given; memory past them is not touched
  one,   ///< lane 0; the others may hold anything
};

enum class Arithmetic { add, multiply };
/// On lanes of 8, 16, 32 or 64 bits; add and multiply wrap.
enum class IntegerOp { add, multiply, greatest_signed, greatest_unsigned, least_signed, least_unsigned };

/// Memory operands are base + index * scale + displacement; `tail` parts take no index.
using Memory = Xbyak::RegExp;

class VectorLayer {
 public:
  static std::unique_ptr<VectorLayer> make(Assembler& assembler, target::Isa isa);
  explicit VectorLayer(Assembler& assembler) : assembler_(assembler), code_(assembler.code()) {}
  virtual ~VectorLayer() = default;
  Assembler& assembler() { return assembler_; }
  VectorLayer(const VectorLayer&) = delete;
  VectorLayer& operator=(const VectorLayer&) = delete;

  /// Vectors that emitters may use: [0, vectors()).
  virtual int vectors() const = 0;
  /// Registers of the layer's own that are free between its operations, but for whole steps of chains.
  virtual SpareVectors spare() const = 0;

  /// What arg-reductions need besides (jit/vector/arg.hpp).
  virtual std::unique_ptr<ArgVectors> arg_vectors() = 0;
  /// Whether it has what gathered rows need, and that (jit/vector/gather.hpp).
  virtual bool gathers() const { return false; }
  virtual std::unique_ptr<GatherVectors> gather_vectors();
  /// What watches for the NaNs that an extreme of bits of `dtype` does not show (jit/vector/nan_watch.hpp), in slots
  /// that have a vector each; nothing where another extreme is as fast.
  virtual std::unique_ptr<NanWatch> nan_watch(DType dtype, bool maximum, const std::vector<Vec>& slots) = 0;

  /// Makes the masks for tails of `count` lanes (1 to lanes - 1) of `lane_bits`, read from elements of `element_bytes`.
  virtual void prepare_tail(const Xbyak::Reg64& count, int lane_bits, int element_bytes) = 0;
  /// Lanes of `v` past the tail become `pattern`.
  virtual void fill_past_tail(Vec v, std::uint64_t pattern, int lane_bits) = 0;

  /// 16 elements of `dtype` (f32, bf16, f16), widened exactly to 32-bit lanes. Tail: lanes past it are zero.
  virtual void load32(Vec d, DType dtype, const Memory& from, Part part) = 0;
  /// Whether load_split() is there for this dtype, which is to say that it is faster.
  virtual bool splits(DType) const { return false; }
  /// 16 whole elements, widened, in another order of lanes, which join() puts right.
  virtual void load_split(Vec, const Memory&) {}
  virtual void join(Vec) {}
  /// The same of what widen() has made of such lanes.
  virtual void join64(Vec /*lo*/, Vec /*hi*/) {}
  /// 32 elements of 16 bits, as they are.
  virtual void load16(Vec d, const Memory& from, Part part) = 0;
  /// 64 bytes of integers of `lane_bits`, as they are. Tail: lanes past it are zero.
  virtual void load_integers(Vec d, const Memory& from, int lane_bits, Part part) = 0;
  /// Whether what stores 64 bytes, here and below, does so past the caches; places must begin with lines then.
  void set_around(bool around) { around_ = around; }
  /// Lanes 0-7 (half 0) or 8-15 (half 1) of 16 elements of f64 that begin at `from`. Tail, of 32-bit lanes: those past
  /// it become `past`.
  virtual void load64(Vec d, const Memory& from, int half, Part part, double past) = 0;
  /// 64 bytes as they are; `full` parts of everything.
  virtual void load_bytes(Vec d, const Memory& from) = 0;
  virtual void store_bytes(const Memory& to, Vec s) = 0;

  /// Rounds 16 f32 lanes to `dtype`, to nearest even, and stores them. NaNs must be canonical. Clobbers `s`.
  virtual void store32(const Memory& to, DType dtype, Vec s, Part part) = 0;
  virtual void store_integers(const Memory& to, Vec s, int lane_bits, Part part) = 0;
  /// Lane 0 of an f64 vector.
  virtual void store64_one(const Memory& to, Vec s) = 0;
  /// True when stores of a tail of elements of this size exist; loads do of each size.
  virtual bool stores_tails_of(int element_bytes) const = 0;

  virtual void splat(Vec d, std::uint64_t pattern, int bytes) = 0;
  virtual void arithmetic32(Arithmetic op, Vec d, Vec a, Vec b) = 0;
  virtual void arithmetic32(Arithmetic op, Vec d, Vec a, const Memory& b) = 0;
  /// d = d + a, which elements of `dtype` have been widened to.
  virtual void sum32(Vec d, Vec a, DType /*dtype*/) { arithmetic32(Arithmetic::add, d, d, a); }
  /// Whether two whole steps of this dtype, one after another, are added faster together: sums `d` and d + 1 then have
  /// a form of the layer's own from start_pair() on until join_pair(), which says whether lanes are then in an order
  /// that join() puts right. Clobbers the last two vectors, and may use d + 16 and d + 17.
  virtual bool pairs(DType) const { return false; }
  virtual void start_pair(Vec, DType) {}
  virtual void sum_pair(Vec, DType, const Memory&) {}
  virtual bool join_pair(Vec, DType) { return false; }
  /// Before load_split() and sum32(); nothing but these, load32() and arithmetic32() of whole vectors may come between.
  virtual void start_chain() {}
  virtual void integer(IntegerOp op, Vec d, Vec a, Vec b, int lane_bits) = 0;
  /// Whether extremes of 64-bit integers are one operation each.
  virtual bool has_extremes_of_64_bits() const = 0;
  virtual void abs_integer(Vec d, int lane_bits) = 0;
  /// Of floats in lanes of 16, 32 or 64 bits.
  virtual void abs_float(Vec d, int lane_bits) = 0;

  /// f32 lanes 0-7 into `lo`, 8-15 into `hi`, as f64. `lo` may be `s`.
  virtual void widen(Vec lo, Vec hi, Vec s) = 0;
  /// The same behind a join(). Clobbers `s`.
  virtual void join_and_widen(Vec lo, Vec hi, Vec s) {
    join(s);
    widen(lo, hi, s);
  }
  virtual void widen(Vec lo, Vec hi, const Memory& from) = 0;
  virtual void narrow(Vec d, Vec lo, Vec hi, Part part) = 0;
  virtual void arithmetic64(Arithmetic op, Vec d, Vec a, Vec b) = 0;
  virtual void arithmetic64(Arithmetic op, Vec d, Vec a, const Memory& b) = 0;
  virtual void divide32(Vec d, const Memory& by_f64) = 0;
  virtual void square_root32(Vec d) = 0;
  virtual void divide64(Vec d, const Memory& by_f64, Part part) = 0;
  virtual void square_root64(Vec d, Part part) = 0;
  /// Every NaN becomes 0x7fc00000.
  virtual void canonical_nan32(Vec d, Part part) = 0;
  /// Every NaN becomes 0x7ff8000000000000.
  virtual void canonical_nan64(Vec d, Part part) = 0;

  /// Lanes to one: lane i with lane i + 8, then + 4, + 2, + 1. The result is lane 0 of `lo`; clobbers both.
  virtual void fold64(Arithmetic op, Vec lo, Vec hi) = 0;
  /// Clobbers vector vectors() - 1.
  virtual void fold_integer(IntegerOp op, Vec d, int lane_bits) = 0;
  /// Jumps when every lane's sign bit is `set`. Clobbers nothing.
  virtual void jump_if_signs(Vec v, bool set, int lane_bits, const Xbyak::Label& target, Part part) = 0;
  /// Jumps when all elements of `bytes` are `pattern`. Clobbers nothing.
  virtual void jump_if_equal(Vec v, std::uint64_t pattern, int bytes, const Xbyak::Label& target) = 0;
  /// Lanes of `d`, 32 or 64 bits, become those of `if_set` where their sign bit is set, else those of `if_clear`.
  virtual void choose_by_sign(Vec d, int lane_bits, Vec if_clear, Vec if_set) = 0;
  /// The answer of an order state (signed greatest, unsigned greatest, unsigned least of raw bits), in `greatest`; of a
  /// minimum in `greatest_unsigned`.
  virtual void finish_order(bool maximum, DType dtype, Vec greatest, Vec greatest_unsigned, Vec least_unsigned,
                            Part part) = 0;

 protected:
  /// Whole registers of one width, which is that of `d`.
  void arithmetic_ps(Arithmetic op, const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Operand& b);
  void arithmetic_pd(Arithmetic op, const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Operand& b);

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  bool around_ = false;
};

/// Bit patterns of a floating type that order states compare with.
struct FloatBits {
  std::uint64_t infinity, negative_infinity, canonical_nan;
};
FloatBits float_bits(DType dtype);
/// All bits of a lane of `bits` but its uppermost.
constexpr std::uint64_t all_but_sign(int bits) { return (~std::uint64_t{0} >> (64 - bits)) >> 1; }

}  // namespace tenfold::jit

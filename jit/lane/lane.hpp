// SPDX-License-Identifier: Apache-2.0
//
// Lane programs: what one lane computes, as straight-line code of the few operations that every vector unit has; sums
// along a row alone also look at the lanes beside it. The scalar functions of kernels (exp, gelu, comparisons, casts,
// ...) are written in it once (jit/function/); the vector layers speak it, and so does the interpreter of the tests.
// Knows no register and no instruction.
//
// Every operation is defined to the bit, so that a program gives the same bits on each instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenfold::jit {

enum class LaneType : std::uint8_t { f32, f64, i32, i64, i16, i8 };

constexpr int lane_bytes(LaneType type) {
  constexpr std::array<int, 6> kBytes{4, 8, 4, 8, 2, 1};
  return kBytes[static_cast<std::size_t>(type)];
}
constexpr bool is_real(LaneType type) { return type == LaneType::f32 || type == LaneType::f64; }
/// The integer type as wide as `type`; also the type of its masks (a lane is all ones or all zeros).
constexpr LaneType integer_of(LaneType type) {
  return type == LaneType::f32 ? LaneType::i32 : type == LaneType::f64 ? LaneType::i64 : type;
}

/// Operations on lanes of LaneNode::type, which is the arguments' type; the result has it too, unless said otherwise.
/// Lanes of 8 and of 16 bits have but those that has_operation() says.
enum class LaneOp : std::uint8_t {
  input,     ///< argument `immediate` of the program
  constant,  ///< the bits `immediate`

  add,       ///< integers wrap
  subtract,  ///<
  multiply,  ///< the low half, of integers; of i64, `immediate` is what is known of the factors, a LaneFactors
  divide,    ///< reals
  lesser,    ///< reals: a < b ? a : b, so b when they are equal zeros or one is a NaN
  greater,   ///< reals: a > b ? a : b, likewise
  fma,       ///< a b + c, rounded once; reals
  fnma,      ///< c - a b, rounded once; reals
  sqrt,      ///< reals
  round,     ///< reals, to an integer: `immediate` is a LaneRounding

  bit_and,      ///< of any type, on the bits
  bit_or,       ///<
  bit_xor,      ///<
  bit_and_not,  ///< ~a & b

  shift_left,                 ///< integers, by `immediate` bits, below the width
  shift_right,                ///< zeros come in
  shift_right_arithmetic,     ///< copies of the sign come in
  shift_left_by,              ///< integers, by b: 0 when b is the width or more (as unsigned)
  shift_right_by,             ///<
  shift_right_arithmetic_by,  ///< b of the width or more: copies of the sign

  equal,       ///< a mask; reals: false for NaN
  less,        ///< a mask; reals: false for NaN; integers are signed
  less_equal,  ///< a mask; reals only, false for NaN
  unordered,   ///< a mask; reals only: a or b is a NaN
  select,      ///< the top bit of a (of this width) ? b : c

  greatest_signed,    ///< integers
  greatest_unsigned,  ///<
  least_signed,       ///<
  least_unsigned,     ///<

  // Conversions; `type` is the argument's.
  to_i32,         ///< f32 or f64 to i32, toward zero; out of range, and NaN: 0x80000000
  to_f32,         ///< i32 to f32, to nearest even
  to_f64,         ///< i32 to f64, exact
  widen,          ///< f32 to f64, exact
  narrow,         ///< f64 to f32, to nearest even
  round_f16,      ///< f32, to nearest even, as f16 holds it
  extend_signed,  ///< i32 to i64
  extend_zero,    ///< i32 to i64
  low_half,       ///< i64 to i32
  exp2_eighths,   ///< f32: 2^(s + b), its factor 2^(i/8) rounded, of b = k / 8 from -120 - s to 0, s = `immediate`; the
                  ///< low 12 bits of a are those of k + 8 s. Of a NaN b, anything
  join_bf16,      ///< two f32 to bf16, to nearest even, any NaN to the canonical one: the 16 lanes of a, then those of
                  ///< b, in the 64 bytes of a vector, for a store alone; where LaneLayer::joins() says so. `immediate`
                  ///< kExactJoin: there is nothing to round

  // Between the lanes of a step, of f64, i32 and i64, in straight order.
  prefix_sum,  ///< lane i: the sum of lanes 0 to i. By halves: those of the upper half of 2, 4, 8, ... lanes add the
               ///< sum of the lower one, whose last lane has it, others 0
  last_lane,   ///< what the last lane has, in all lanes
  shift_in,    ///< lane i: lane i - 1 of a; lane 0: the last one of b

  // One lane after the other, in general registers: what vector units lack.
  divide_signed,    ///< integers, toward zero; b is not 0 and a / b does not overflow
  divide_unsigned,  ///< integers; b is not 0
};

inline constexpr std::uint64_t kExactJoin = 1;
enum class LaneFactors : std::uint8_t { any, signed_halves, unsigned_halves };  ///< an extended i32 each
enum class LaneRounding : std::uint8_t { nearest_even, floor, ceil, truncate };

/// The bits of 2^(i/8), rounded to f32: what LaneOp::exp2_eighths takes by the low three bits of a.
inline constexpr std::array<std::uint32_t, 8> kEighthRoots{0x3f800000, 0x3f8b95c2, 0x3f9837f0, 0x3fa5fed7,
                                                           0x3fb504f3, 0x3fc5672a, 0x3fd744fd, 0x3feac0c7};

struct LaneNode {
  LaneOp op = LaneOp::constant;
  LaneType type = LaneType::f32;
  std::array<int, 3> args{-1, -1, -1};  ///< earlier nodes
  std::uint64_t immediate = 0;
  friend bool operator==(const LaneNode&, const LaneNode&) = default;
};

constexpr int arity(LaneOp op) {
  switch (op) {
    case LaneOp::input:
    case LaneOp::constant: return 0;
    case LaneOp::fma:
    case LaneOp::fnma:
    case LaneOp::select: return 3;
    case LaneOp::sqrt:
    case LaneOp::round:
    case LaneOp::round_f16:
    case LaneOp::shift_left:
    case LaneOp::shift_right:
    case LaneOp::shift_right_arithmetic:
    case LaneOp::to_i32:
    case LaneOp::to_f32:
    case LaneOp::to_f64:
    case LaneOp::widen:
    case LaneOp::narrow:
    case LaneOp::extend_signed:
    case LaneOp::extend_zero:
    case LaneOp::low_half:
    case LaneOp::prefix_sum:
    case LaneOp::last_lane: return 1;
    default: return 2;
  }
}

/// Whether lanes of a step see each other.
constexpr bool is_between_lanes(LaneOp op) { return op >= LaneOp::prefix_sum && op <= LaneOp::shift_in; }

LaneType result_type(const LaneNode& node);
/// Whether every vector unit has the operation on lanes of this type, all of them integers.
bool has_operation(LaneOp op, LaneType type);

/// Straight-line code; arguments come before their users.
struct LaneProgram {
  std::vector<LaneNode> nodes;
  std::vector<int> results;

  /// The same without nodes that no result needs.
  LaneProgram without_idle() const;

  /// Lanes that a vector of 64 bytes takes through it: 16; 8 when anything in it has 64 bits; 32 or 64 when everything
  /// in it has 16 or 8.
  int lanes() const;
  std::string print() const;  ///< a line a node, for people
};

class LaneBuilder;

/// A value of a program being built. Operators build nodes; a number beside a lane is a constant of its type.
struct Lane {
  LaneBuilder* builder = nullptr;
  int node = -1;
  LaneType type = LaneType::f32;
};

/// Builds a program. Equal nodes are made once, and operations on constants alone are not folded: write the constant.
class LaneBuilder {
 public:
  LaneBuilder() { buckets_.fill(-1); }

  Lane input(int index, LaneType type);
  /// Reals: `value` rounded to the type. Integers: its bits after truncation.
  Lane constant(LaneType type, double value);
  Lane bits(LaneType type, std::uint64_t pattern);
  Lane make(LaneOp op, LaneType type, std::span<const Lane> args, std::uint64_t immediate = 0);
  void result(Lane lane) { program_.results.push_back(lane.node); }
  const LaneProgram& program() const { return program_; }
  LaneProgram finish() const { return program_.without_idle(); }

 private:
  Lane add(LaneNode node);
  LaneProgram program_;
  /// Nodes by hash: the last of each bucket, and the one before each node in its bucket; -1 for none.
  std::array<int, 256> buckets_;
  std::vector<int> before_;
};

Lane operator+(Lane a, Lane b);
Lane operator-(Lane a, Lane b);
Lane operator*(Lane a, Lane b);
Lane operator/(Lane a, Lane b);
Lane operator+(Lane a, double b);
Lane operator-(Lane a, double b);
Lane operator*(Lane a, double b);
Lane operator/(Lane a, double b);
Lane operator-(double a, Lane b);
Lane operator/(double a, Lane b);
Lane operator&(Lane a, Lane b);
Lane operator|(Lane a, Lane b);
Lane operator^(Lane a, Lane b);
Lane operator<(Lane a, Lane b);
Lane operator<=(Lane a, Lane b);
Lane operator<(Lane a, double b);
Lane operator<=(Lane a, double b);
Lane operator>(Lane a, double b);   ///< b < a
Lane operator>=(Lane a, double b);  ///< b <= a, reals
Lane equal(Lane a, Lane b);
Lane equal(Lane a, double b);
Lane unordered(Lane a, Lane b);
Lane is_nan(Lane a);
Lane select(Lane mask, Lane yes, Lane no);
Lane select(Lane mask, double yes, Lane no);
Lane select(Lane mask, Lane yes, double no);
Lane fma(Lane a, Lane b, Lane c);
Lane fma(Lane a, Lane b, double c);
Lane fma(Lane a, double b, double c);
Lane fma(Lane a, double b, Lane c);
Lane fnma(Lane a, Lane b, Lane c);
Lane fnma(Lane a, double b, Lane c);
Lane sqrt(Lane a);
Lane round(Lane a, LaneRounding rounding);
Lane and_not(Lane a, Lane b);  ///< ~a & b
Lane complement(Lane a);       ///< ~a
Lane exp2_eighths(Lane shifted, Lane eighths, int scale_bits);
Lane round_f16(Lane a);
Lane shift_left(Lane a, int bits);
Lane shift_right(Lane a, int bits);
Lane shift_right_arithmetic(Lane a, int bits);
/// The same bits as another type of the same width.
Lane as(LaneType type, Lane a);
/// One of the conversions, or of the two-argument operations without an operator.
Lane convert(LaneOp op, Lane a);
Lane combine(LaneOp op, Lane a, Lane b);
Lane abs(Lane a);                   ///< reals: the sign bit cleared; integers: wraps
Lane negate(Lane a);                ///< reals: the sign bit flipped; integers: wraps
Lane copy_sign(Lane a, Lane sign);  ///< reals: |a| with the sign bit of `sign`; a's own must be clear
/// c[0] + x (c[1] + x (c[2] + ...)), Horner's rule with fma.
Lane polynomial(Lane x, std::span<const double> c);
/// The same by halves: even and odd powers in a chain each, half as long, of `square`, x^2.
Lane polynomial_by_halves(Lane x, Lane square, std::span<const double> c);

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
#include "jit/lane/lane.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <sstream>
#include <utility>

#include "kernel/text_stream.hpp"

namespace tenfold::jit {
namespace {

constexpr const char* kNames[] = {"input",
                                  "constant",
                                  "add",
                                  "subtract",
                                  "multiply",
                                  "divide",
                                  "lesser",
                                  "greater",
                                  "fma",
                                  "fnma",
                                  "sqrt",
                                  "round",
                                  "bit_and",
                                  "bit_or",
                                  "bit_xor",
                                  "bit_and_not",
                                  "shift_left",
                                  "shift_right",
                                  "shift_right_arithmetic",
                                  "shift_left_by",
                                  "shift_right_by",
                                  "shift_right_arithmetic_by",
                                  "equal",
                                  "less",
                                  "less_equal",
                                  "unordered",
                                  "select",
                                  "greatest_signed",
                                  "greatest_unsigned",
                                  "least_signed",
                                  "least_unsigned",
                                  "to_i32",
                                  "to_f32",
                                  "to_f64",
                                  "widen",
                                  "narrow",
                                  "round_f16",
                                  "extend_signed",
                                  "extend_zero",
                                  "low_half",
                                  "exp2_eighths",
                                  "join_bf16",
                                  "prefix_sum",
                                  "last_lane",
                                  "shift_in",
                                  "divide_signed",
                                  "divide_unsigned"};
constexpr const char* kTypes[] = {"f32", "f64", "i32", "i64", "i16", "i8"};

Lane make(LaneOp op, std::initializer_list<Lane> args, std::uint64_t immediate = 0) {
  const Lane first = *args.begin();
  return first.builder->make(op, first.type, {args.begin(), args.size()}, immediate);
}

std::uint64_t all_ones(LaneType type) { return ~0ULL >> (64 - 8 * lane_bytes(type)); }

Lane constant_like(Lane a, double value) { return a.builder->constant(a.type, value); }

std::size_t hash(const LaneNode& node) {
  std::uint64_t mixed = static_cast<std::uint64_t>(node.op) << 8 | static_cast<std::uint64_t>(node.type);
  for (const int arg : node.args) mixed = mixed * 31 + static_cast<std::uint64_t>(arg + 1);
  // Constants differ in their upper bits as a rule.
  mixed = (mixed ^ node.immediate) * 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(mixed >> 48);
}

}  // namespace

LaneType result_type(const LaneNode& node) {
  switch (node.op) {
    case LaneOp::equal:
    case LaneOp::less:
    case LaneOp::less_equal:
    case LaneOp::unordered: return integer_of(node.type);
    case LaneOp::to_i32:
    case LaneOp::low_half: return LaneType::i32;
    case LaneOp::to_f32:
    case LaneOp::narrow: return LaneType::f32;
    case LaneOp::to_f64:
    case LaneOp::widen: return LaneType::f64;
    case LaneOp::extend_signed:
    case LaneOp::extend_zero: return LaneType::i64;
    default: return node.type;
  }
}

bool has_operation(LaneOp op, LaneType type) {
  switch (op) {
    case LaneOp::input:
    case LaneOp::constant:
    case LaneOp::add:
    case LaneOp::subtract:
    case LaneOp::multiply:
    case LaneOp::bit_and:
    case LaneOp::bit_or:
    case LaneOp::bit_xor:
    case LaneOp::bit_and_not:
    case LaneOp::equal:
    case LaneOp::less:
    case LaneOp::select:
    case LaneOp::greatest_signed:
    case LaneOp::greatest_unsigned:
    case LaneOp::least_signed:
    case LaneOp::least_unsigned: return true;
    case LaneOp::shift_left:
    case LaneOp::shift_right:
    case LaneOp::shift_right_arithmetic: return lane_bytes(type) > 1;
    default: return lane_bytes(type) >= 4;
  }
}

int LaneProgram::lanes() const {
  int widest = 1;
  for (const LaneNode& node : nodes) widest = std::max({widest, lane_bytes(node.type), lane_bytes(result_type(node))});
  return 64 / widest;
}

LaneProgram LaneProgram::without_idle() const {
  std::vector<bool> needed(nodes.size(), false);
  for (const int result : results) needed[static_cast<std::size_t>(result)] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const int arg : nodes[i].args)
      if (arg >= 0) needed[static_cast<std::size_t>(arg)] = true;
  }
  LaneProgram kept;
  std::vector<int> at(nodes.size(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    LaneNode node = nodes[i];
    for (int& arg : node.args)
      if (arg >= 0) arg = at[static_cast<std::size_t>(arg)];
    at[i] = static_cast<int>(kept.nodes.size());
    kept.nodes.push_back(node);
  }
  for (const int result : results) kept.results.push_back(at[static_cast<std::size_t>(result)]);
  return kept;
}

std::string LaneProgram::print() const {
  kernel::TextStream text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const LaneNode& node = nodes[i];
    text << '%' << i << " = " << kNames[static_cast<std::size_t>(node.op)] << ' '
         << kTypes[static_cast<std::size_t>(node.type)];
    for (int arg = 0; arg < arity(node.op); ++arg) text << " %" << node.args[static_cast<std::size_t>(arg)];
    if (node.immediate != 0) text << " 0x" << std::hex << node.immediate << std::dec;
    text << '\n';
  }
  for (const int result : results) text << "result %" << result << '\n';
  return text.str();
}

Lane LaneBuilder::add(LaneNode node) {
  int& bucket = buckets_[hash(node) % buckets_.size()];
  int known = bucket;
  while (known >= 0 && !(program_.nodes[static_cast<std::size_t>(known)] == node))
    known = before_[static_cast<std::size_t>(known)];
  if (known < 0) {
    known = static_cast<int>(program_.nodes.size());
    program_.nodes.push_back(node);
    before_.push_back(std::exchange(bucket, known));
  }
  return {this, known, result_type(node)};
}

Lane LaneBuilder::input(int index, LaneType type) {
  return add({LaneOp::input, type, {-1, -1, -1}, static_cast<std::uint64_t>(index)});
}

Lane LaneBuilder::constant(LaneType type, double value) {
  switch (type) {
    case LaneType::f32: return bits(type, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    case LaneType::f64: return bits(type, std::bit_cast<std::uint64_t>(value));
    default: return bits(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & all_ones(type));
  }
}

Lane LaneBuilder::bits(LaneType type, std::uint64_t pattern) {
  return add({LaneOp::constant, type, {-1, -1, -1}, pattern});
}

Lane LaneBuilder::make(LaneOp op, LaneType type, std::span<const Lane> args, std::uint64_t immediate) {
  LaneNode node{op, type, {-1, -1, -1}, immediate};
  for (std::size_t i = 0; i < args.size(); ++i) node.args[i] = args[i].node;
  return add(node);
}

Lane operator+(Lane a, Lane b) { return make(LaneOp::add, {a, b}); }
Lane operator-(Lane a, Lane b) { return make(LaneOp::subtract, {a, b}); }
Lane operator*(Lane a, Lane b) {
  const auto both = [&](LaneOp extension) {
    const std::vector<LaneNode>& nodes = a.builder->program().nodes;
    return nodes[static_cast<std::size_t>(a.node)].op == extension &&
           nodes[static_cast<std::size_t>(b.node)].op == extension;
  };
  const LaneFactors factors = both(LaneOp::extend_signed) ? LaneFactors::signed_halves
                              : both(LaneOp::extend_zero) ? LaneFactors::unsigned_halves
                                                          : LaneFactors::any;
  return make(LaneOp::multiply, {a, b}, static_cast<std::uint64_t>(factors));
}
Lane operator/(Lane a, Lane b) { return make(LaneOp::divide, {a, b}); }
Lane operator+(Lane a, double b) { return a + constant_like(a, b); }
Lane operator-(Lane a, double b) { return a - constant_like(a, b); }
Lane operator*(Lane a, double b) { return a * constant_like(a, b); }
Lane operator/(Lane a, double b) { return a / constant_like(a, b); }
Lane operator-(double a, Lane b) { return constant_like(b, a) - b; }
Lane operator/(double a, Lane b) { return constant_like(b, a) / b; }
Lane operator&(Lane a, Lane b) { return make(LaneOp::bit_and, {a, b}); }
Lane operator|(Lane a, Lane b) { return make(LaneOp::bit_or, {a, b}); }
Lane operator^(Lane a, Lane b) { return make(LaneOp::bit_xor, {a, b}); }
Lane operator<(Lane a, Lane b) { return make(LaneOp::less, {a, b}); }
Lane operator<=(Lane a, Lane b) { return make(LaneOp::less_equal, {a, b}); }
Lane operator<(Lane a, double b) { return a < constant_like(a, b); }
Lane operator<=(Lane a, double b) { return a <= constant_like(a, b); }
Lane operator>(Lane a, double b) { return constant_like(a, b) < a; }
Lane operator>=(Lane a, double b) { return constant_like(a, b) <= a; }
Lane equal(Lane a, Lane b) { return make(LaneOp::equal, {a, b}); }
Lane equal(Lane a, double b) { return equal(a, constant_like(a, b)); }
Lane unordered(Lane a, Lane b) { return make(LaneOp::unordered, {a, b}); }
Lane is_nan(Lane a) { return unordered(a, a); }

Lane select(Lane mask, Lane yes, Lane no) {
  const Lane args[] = {mask, yes, no};
  return yes.builder->make(LaneOp::select, yes.type, args);
}
Lane select(Lane mask, double yes, Lane no) { return select(mask, constant_like(no, yes), no); }
Lane select(Lane mask, Lane yes, double no) { return select(mask, yes, constant_like(yes, no)); }

Lane fma(Lane a, Lane b, Lane c) { return make(LaneOp::fma, {a, b, c}); }
Lane fma(Lane a, Lane b, double c) { return fma(a, b, constant_like(a, c)); }
Lane fma(Lane a, double b, double c) { return fma(a, constant_like(a, b), constant_like(a, c)); }
Lane fma(Lane a, double b, Lane c) { return fma(a, constant_like(a, b), c); }
Lane fnma(Lane a, Lane b, Lane c) { return make(LaneOp::fnma, {a, b, c}); }
Lane fnma(Lane a, double b, Lane c) { return fnma(a, constant_like(a, b), c); }
Lane sqrt(Lane a) { return make(LaneOp::sqrt, {a}); }
Lane round_f16(Lane a) { return make(LaneOp::round_f16, {a}); }
Lane round(Lane a, LaneRounding rounding) { return make(LaneOp::round, {a}, static_cast<std::uint64_t>(rounding)); }
Lane exp2_eighths(Lane shifted, Lane eighths, int scale_bits) {
  return make(LaneOp::exp2_eighths, {shifted, eighths}, static_cast<std::uint64_t>(scale_bits));
}
Lane and_not(Lane a, Lane b) { return make(LaneOp::bit_and_not, {a, b}); }
Lane complement(Lane a) { return a ^ a.builder->bits(a.type, all_ones(a.type)); }
Lane shift_left(Lane a, int bits) { return make(LaneOp::shift_left, {a}, static_cast<std::uint64_t>(bits)); }
Lane shift_right(Lane a, int bits) { return make(LaneOp::shift_right, {a}, static_cast<std::uint64_t>(bits)); }
Lane shift_right_arithmetic(Lane a, int bits) {
  return make(LaneOp::shift_right_arithmetic, {a}, static_cast<std::uint64_t>(bits));
}

Lane as(LaneType type, Lane a) {
  a.type = type;
  return a;
}

Lane convert(LaneOp op, Lane a) { return make(op, {a}); }
Lane combine(LaneOp op, Lane a, Lane b) { return make(op, {a, b}); }

Lane abs(Lane a) {
  if (is_real(a.type)) return a & a.builder->bits(a.type, lane_bytes(a.type) == 4 ? 0x7fffffffU : ~0ULL >> 1);
  const Lane negative = a < 0.0;
  return (a ^ negative) - negative;
}

Lane negate(Lane a) {
  if (!is_real(a.type)) return 0.0 - a;
  const Lane sign = a.builder->bits(a.type, lane_bytes(a.type) == 4 ? 0x80000000U : 1ULL << 63);
  // A maximum is the negation of a minimum, and a maximum of maxima negates those again.
  const LaneNode& made = a.builder->program().nodes[static_cast<std::size_t>(a.node)];
  if (made.op == LaneOp::bit_xor && made.args[1] == sign.node) return {a.builder, made.args[0], a.type};
  return a ^ sign;
}

Lane copy_sign(Lane a, Lane sign) {
  return a | (sign & a.builder->bits(a.type, lane_bytes(a.type) == 4 ? 0x80000000U : 1ULL << 63));
}

Lane polynomial(Lane x, std::span<const double> c) {
  Lane value = constant_like(x, c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;) value = fma(value, x, c[i]);
  return value;
}

Lane polynomial_by_halves(Lane x, Lane square, std::span<const double> c) {
  std::array<Lane, 2> halves;  // by the last bit of their powers
  for (std::size_t i = c.size(); i-- > 0;) {
    const bool is_first = i + 2 >= c.size();
    halves[i % 2] = is_first ? constant_like(x, c[i]) : fma(halves[i % 2], square, c[i]);
  }
  return fma(halves[1], x, halves[0]);
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// Node after node over short blocks of lanes, each in an array of its own, so that the compiler can vectorize the
// loops: the long tests run programs on every f32. Compiled without contraction of products and sums.
#include "lane_interpreter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

// ThreadSanitizer instruments what chooses a clone, which runs before it is there itself.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define TENFOLD_CLONES __attribute__((target_clones("default", "arch=haswell"), flatten))
#else
#define TENFOLD_CLONES
#endif

namespace tenfold::jit {
namespace {

constexpr std::size_t kBlock = 512;

/// Lanes of one node; any type may be read from what another was written to.
struct Lanes {
  alignas(64) std::array<std::byte, kBlock * 8> bytes;
};

template <class T>
T get(const Lanes& lanes, std::size_t i) {
  T value;
  std::memcpy(&value, lanes.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void put(Lanes& lanes, std::size_t i, T value) {
  std::memcpy(lanes.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

template <std::size_t bytes>
using Bits = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;
template <class T>
using Unsigned = Bits<sizeof(T)>;
template <class T>
using Signed = std::make_signed_t<Unsigned<T>>;

using Arguments = std::array<const Lanes*, 3>;

template <class To, class From, class Fn>
inline void each1(Lanes& d, const Arguments& a, Fn fn) {
  for (std::size_t i = 0; i < kBlock; ++i) put<To>(d, i, static_cast<To>(fn(get<From>(*a[0], i))));
}
template <class To, class From, class Fn>
inline void each2(Lanes& d, const Arguments& a, Fn fn) {
  for (std::size_t i = 0; i < kBlock; ++i) put<To>(d, i, static_cast<To>(fn(get<From>(*a[0], i), get<From>(*a[1], i))));
}
template <class T, class Fn>
inline void each3(Lanes& d, const Arguments& a, Fn fn) {
  for (std::size_t i = 0; i < kBlock; ++i)
    put<T>(d, i, static_cast<T>(fn(get<T>(*a[0], i), get<T>(*a[1], i), get<T>(*a[2], i))));
}

/// Of steps of so many lanes.
template <class T>
void run_between_lanes(LaneOp op, Lanes& d, const Arguments& a, std::size_t lanes) {
  for (std::size_t first = 0; first < kBlock; first += lanes) {
    std::vector<T> step(lanes);
    for (std::size_t i = 0; i < lanes; ++i) step[i] = get<T>(*a[0], first + i);
    const std::vector<T> before = step;
    for (std::size_t half = 1; op == LaneOp::prefix_sum && half < lanes; half *= 2) {
      const std::vector<T> halves = step;
      for (std::size_t i = 0; i < lanes; ++i) step[i] += i & half ? halves[(i & ~(half - 1)) - 1] : T{0};
    }
    for (std::size_t i = 0; op == LaneOp::last_lane && i < lanes; ++i) step[i] = before.back();
    for (std::size_t i = 0; op == LaneOp::shift_in && i < lanes; ++i)
      step[i] = i == 0 ? get<T>(*a[1], first + lanes - 1) : before[i - 1];
    for (std::size_t i = 0; i < lanes; ++i) put(d, first + i, step[i]);
  }
}

void run_between_lanes(const LaneNode& node, Lanes& d, const Arguments& a, std::size_t lanes) {
  switch (node.type) {
    case LaneType::f64: return run_between_lanes<double>(node.op, d, a, lanes);
    case LaneType::i64: return run_between_lanes<std::uint64_t>(node.op, d, a, lanes);
    case LaneType::i32: return run_between_lanes<std::uint32_t>(node.op, d, a, lanes);
    default: std::abort();
  }
}

template <class T>
T rounded(T x, std::uint64_t rounding) {
  switch (static_cast<LaneRounding>(rounding)) {
    case LaneRounding::nearest_even: return std::nearbyint(x);
    case LaneRounding::floor: return std::floor(x);
    case LaneRounding::ceil: return std::ceil(x);
    case LaneRounding::truncate: return std::trunc(x);
  }
  return x;
}

/// A step is 2^-10 of the power of two below, but not less than 2^-24.
float rounded_to_f16(float x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const float step = std::ldexp(1.0F, std::max(exponent - 11, -24)), nearest = std::nearbyint(x / step) * step;
  return std::abs(nearest) < 65536 ? nearest : std::isnan(x) ? x : std::copysign(HUGE_VALF, x);
}

/// Toward zero; the least integer where that is out of range.
template <class To, class From>
To truncated(From x) {
  constexpr From least = static_cast<From>(std::numeric_limits<To>::min());
  return x >= least && x < -least ? static_cast<To>(x) : std::numeric_limits<To>::min();
}

/// All ones or all zeros.
template <class T>
Signed<T> mask_of(bool truth) {
  return truth ? Signed<T>{-1} : Signed<T>{0};
}

/// Comparisons, and what looks at bits alone.
template <class T>
void run_any(const LaneNode& node, Lanes& d, const Arguments& a) {
  using U = Unsigned<T>;
  using S = Signed<T>;
  switch (node.op) {
    case LaneOp::bit_and: return each2<U, U>(d, a, [](U x, U y) { return x & y; });
    case LaneOp::bit_or: return each2<U, U>(d, a, [](U x, U y) { return x | y; });
    case LaneOp::bit_xor: return each2<U, U>(d, a, [](U x, U y) { return x ^ y; });
    case LaneOp::bit_and_not: return each2<U, U>(d, a, [](U x, U y) { return ~x & y; });
    case LaneOp::select: return each3<U>(d, a, [](U m, U x, U y) { return m >> (8 * sizeof(U) - 1) ? x : y; });
    case LaneOp::equal: return each2<S, T>(d, a, [](T x, T y) { return mask_of<T>(x == y); });
    case LaneOp::less: return each2<S, T>(d, a, [](T x, T y) { return mask_of<T>(x < y); });
    case LaneOp::less_equal: return each2<S, T>(d, a, [](T x, T y) { return mask_of<T>(x <= y); });
    case LaneOp::unordered: return each2<S, T>(d, a, [](T x, T y) { return mask_of<T>(x != x || y != y); });
    default: std::abort();
  }
}

template <class T>
void run_real(const LaneNode& node, Lanes& d, const Arguments& a) {
  switch (node.op) {
    case LaneOp::add: return each2<T, T>(d, a, [](T x, T y) { return x + y; });
    case LaneOp::subtract: return each2<T, T>(d, a, [](T x, T y) { return x - y; });
    case LaneOp::multiply: return each2<T, T>(d, a, [](T x, T y) { return x * y; });
    case LaneOp::divide: return each2<T, T>(d, a, [](T x, T y) { return x / y; });
    case LaneOp::lesser: return each2<T, T>(d, a, [](T x, T y) { return x < y ? x : y; });
    case LaneOp::greater: return each2<T, T>(d, a, [](T x, T y) { return x > y ? x : y; });
    case LaneOp::fma: return each3<T>(d, a, [](T x, T y, T z) { return std::fma(x, y, z); });
    case LaneOp::fnma: return each3<T>(d, a, [](T x, T y, T z) { return std::fma(-x, y, z); });
    case LaneOp::sqrt: return each1<T, T>(d, a, [](T x) { return std::sqrt(x); });
    case LaneOp::round_f16: return each1<float, float>(d, a, rounded_to_f16);
    case LaneOp::round: return each1<T, T>(d, a, [&](T x) { return rounded(x, node.immediate); });
    case LaneOp::to_i32: return each1<std::int32_t, T>(d, a, [](T x) { return truncated<std::int32_t>(x); });
    case LaneOp::widen: return each1<double, float>(d, a, [](float x) { return static_cast<double>(x); });
    case LaneOp::narrow: return each1<float, double>(d, a, [](double x) { return static_cast<float>(x); });
    case LaneOp::exp2_eighths:
      return each2<float, float>(d, a, [&](float, float b) {
        const float whole = std::floor(b);
        const auto scale = static_cast<int>(node.immediate);
        if (!(b >= static_cast<float>(-120 - scale) && b <= 0)) return b;  // a NaN, or what no program asks for
        const float root = std::bit_cast<float>(kEighthRoots[static_cast<std::size_t>(8 * (b - whole))]);
        return std::ldexp(root, static_cast<int>(whole) + scale);
      });
    default: return run_any<T>(node, d, a);
  }
}

template <class S>
void run_shift(const LaneNode& node, Lanes& d, const Arguments& a) {
  using U = Unsigned<S>;
  constexpr unsigned width = sizeof(S) * 8;
  const auto by = static_cast<int>(node.immediate);
  switch (node.op) {
    case LaneOp::shift_left: return each1<U, U>(d, a, [=](U x) { return x << by; });
    case LaneOp::shift_right: return each1<U, U>(d, a, [=](U x) { return x >> by; });
    case LaneOp::shift_right_arithmetic: return each1<S, S>(d, a, [=](S x) { return x >> by; });
    case LaneOp::shift_left_by: return each2<U, U>(d, a, [](U x, U n) { return n < width ? x << n : 0; });
    case LaneOp::shift_right_by: return each2<U, U>(d, a, [](U x, U n) { return n < width ? x >> n : 0; });
    case LaneOp::shift_right_arithmetic_by:
      return each2<S, S>(d, a, [](S x, S n) { return x >> std::min(static_cast<U>(n), static_cast<U>(width - 1)); });
    default: return run_any<S>(node, d, a);
  }
}

template <class S>
void run_integer(const LaneNode& node, Lanes& d, const Arguments& a) {
  using U = Unsigned<S>;
  switch (node.op) {
    case LaneOp::add: return each2<U, U>(d, a, [](U x, U y) { return x + y; });
    case LaneOp::subtract: return each2<U, U>(d, a, [](U x, U y) { return x - y; });
    case LaneOp::multiply: return each2<U, U>(d, a, [](U x, U y) { return x * y; });
    case LaneOp::greatest_signed: return each2<S, S>(d, a, [](S x, S y) { return std::max(x, y); });
    case LaneOp::greatest_unsigned: return each2<U, U>(d, a, [](U x, U y) { return std::max(x, y); });
    case LaneOp::least_signed: return each2<S, S>(d, a, [](S x, S y) { return std::min(x, y); });
    case LaneOp::least_unsigned: return each2<U, U>(d, a, [](U x, U y) { return std::min(x, y); });
    // A program never uses what it must not ask for; lanes past the end of the data may.
    case LaneOp::divide_signed:
      return each2<S, S>(d, a,
                         [](S x, S y) { return y == 0 || y == -1 ? static_cast<S>(U{0} - static_cast<U>(x)) : x / y; });
    case LaneOp::divide_unsigned: return each2<U, U>(d, a, [](U x, U y) { return y == 0 ? x : x / y; });
    case LaneOp::to_f32: return each1<float, S>(d, a, [](S x) { return static_cast<float>(x); });
    case LaneOp::to_f64: return each1<double, S>(d, a, [](S x) { return static_cast<double>(x); });
    case LaneOp::extend_signed: return each1<std::int64_t, std::int32_t>(d, a, [](std::int32_t x) { return x; });
    case LaneOp::extend_zero: return each1<std::uint64_t, std::uint32_t>(d, a, [](std::uint32_t x) { return x; });
    case LaneOp::low_half: return each1<std::uint32_t, std::uint64_t>(d, a, [](std::uint64_t x) { return x; });
    default: return run_shift<S>(node, d, a);
  }
}

/// Products in 32 bits, which those of 16 cannot overflow.
template <class S>
void run_narrow(const LaneNode& node, Lanes& d, const Arguments& a) {
  using U = Unsigned<S>;
  if (!has_operation(node.op, node.type)) std::abort();
  if (node.op == LaneOp::multiply) return each2<U, U>(d, a, [](std::uint32_t x, std::uint32_t y) { return x * y; });
  run_integer<S>(node, d, a);
}

TENFOLD_CLONES void run_node(const LaneNode& node, Lanes& d, const Arguments& a) {
  switch (node.type) {
    case LaneType::f32: return run_real<float>(node, d, a);
    case LaneType::f64: return run_real<double>(node, d, a);
    case LaneType::i32: return run_integer<std::int32_t>(node, d, a);
    case LaneType::i64: return run_integer<std::int64_t>(node, d, a);
    case LaneType::i16: return run_narrow<std::int16_t>(node, d, a);
    case LaneType::i8: return run_narrow<std::int8_t>(node, d, a);
  }
}

void fill(Lanes& d, const LaneNode& node) {
  const auto bytes = static_cast<std::size_t>(lane_bytes(node.type));
  for (std::size_t i = 0; i < kBlock; ++i) std::memcpy(d.bytes.data() + i * bytes, &node.immediate, bytes);
}

}  // namespace

void interpret(const LaneProgram& program, std::size_t count, std::span<const void* const> inputs,
               std::span<void* const> results, std::size_t step) {
  std::vector<Lanes> values(program.nodes.size());
  for (std::size_t at = 0; at < count; at += kBlock) {
    const std::size_t lanes = std::min(kBlock, count - at);
    for (std::size_t n = 0; n < program.nodes.size(); ++n) {
      const LaneNode& node = program.nodes[n];
      const auto bytes = static_cast<std::size_t>(lane_bytes(node.type));
      if (node.op == LaneOp::input) {
        const auto* const from = static_cast<const std::byte*>(inputs[node.immediate]);
        std::memcpy(values[n].bytes.data(), from + at * bytes, lanes * bytes);
      } else if (node.op == LaneOp::constant) {
        if (at == 0) fill(values[n], node);
      } else {
        Arguments arguments{};
        for (std::size_t k = 0; k < 3; ++k)
          if (node.args[k] >= 0) arguments[k] = &values[static_cast<std::size_t>(node.args[k])];
        is_between_lanes(node.op) ? run_between_lanes(node, values[n], arguments, step)
                                  : run_node(node, values[n], arguments);
      }
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      const auto n = static_cast<std::size_t>(program.results[r]);
      const auto bytes = static_cast<std::size_t>(lane_bytes(result_type(program.nodes[n])));
      std::memcpy(static_cast<std::byte*>(results[r]) + at * bytes, values[n].bytes.data(), lanes * bytes);
    }
  }
}

}  // namespace tenfold::jit

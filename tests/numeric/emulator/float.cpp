// SPDX-License-Identifier: Apache-2.0
//
// Floating-point arithmetic and comparison. Every operation is one scalar instruction of the host, written as inline
// assembly, so that NaN payloads, signed zeros and rounding are the CPU's own and no compiler reorders operands.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

float add(float a, float b) {
  asm("addss %1, %0" : "+x"(a) : "x"(b));
  return a;
}
double add(double a, double b) {
  asm("addsd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
float sub(float a, float b) {
  asm("subss %1, %0" : "+x"(a) : "x"(b));
  return a;
}
double sub(double a, double b) {
  asm("subsd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
float mul(float a, float b) {
  asm("mulss %1, %0" : "+x"(a) : "x"(b));
  return a;
}
double mul(double a, double b) {
  asm("mulsd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
float div(float a, float b) {
  asm("divss %1, %0" : "+x"(a) : "x"(b));
  return a;
}
double div(double a, double b) {
  asm("divsd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
float max(float a, float b) {
  asm("maxss %1, %0" : "+x"(a) : "x"(b));
  return a;
}
double max(double a, double b) {
  asm("maxsd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
float min(float a, float b) {
  asm("minss %1, %0" : "+x"(a) : "x"(b));
  return a;
}
double min(double a, double b) {
  asm("minsd %1, %0" : "+x"(a) : "x"(b));
  return a;
}
float sqrt(float a) {
  asm("sqrtss %0, %0" : "+x"(a));
  return a;
}
double sqrt(double a) {
  asm("sqrtsd %0, %0" : "+x"(a));
  return a;
}

/// The three operand orders matter only for which NaN wins, so each form runs as itself: d, a, b are operands 1, 2, 3.
enum class Form { f132, f213, f231 };

template <Form form>
float fma(float d, float a, float b) {
  if constexpr (form == Form::f132) asm("vfmadd132ss %2, %1, %0" : "+x"(d) : "x"(a), "x"(b));
  if constexpr (form == Form::f213) asm("vfmadd213ss %2, %1, %0" : "+x"(d) : "x"(a), "x"(b));
  if constexpr (form == Form::f231) asm("vfmadd231ss %2, %1, %0" : "+x"(d) : "x"(a), "x"(b));
  return d;
}
template <Form form>
double fma(double d, double a, double b) {
  if constexpr (form == Form::f132) asm("vfmadd132sd %2, %1, %0" : "+x"(d) : "x"(a), "x"(b));
  if constexpr (form == Form::f213) asm("vfmadd213sd %2, %1, %0" : "+x"(d) : "x"(a), "x"(b));
  if constexpr (form == Form::f231) asm("vfmadd231sd %2, %1, %0" : "+x"(d) : "x"(a), "x"(b));
  return d;
}

/// The negated forms negate the product's or the addend's sign inside; a NaN operand keeps its own.
template <class T>
T flip(T x) {
  return x != x ? x : -x;
}

template <class T, Form form, bool negate_product, bool negate_addend>
T fused(T d, T a, T b) {
  // One factor and the addend by form: 132: d*b+a, 213: a*d+b, 231: a*b+d.
  T& factor = form == Form::f132 ? b : a;
  T& addend = form == Form::f132 ? a : form == Form::f213 ? b : d;
  if (negate_product) factor = flip(factor);
  if (negate_addend) addend = flip(addend);
  return fma<form>(d, a, b);
}

template <class T, Form form, bool negate_product, bool negate_addend>
void add_fused(HandlerTable& table, ZydisMnemonic packed, ZydisMnemonic single) {
  const auto f = [](T d, T a, T b) { return fused<T, form, negate_product, negate_addend>(d, a, b); };
  table.add(packed, ternary<T>(f));
  table.add(single, [f](Step& s) {
    Vector d = s.lanes_of<T>(0, 1);
    const Vector a = s.lanes_of<T>(1, 1), b = s.lanes_of<T>(2, 1);
    const T value = f(d.get<T>(0), a.get<T>(0), b.get<T>(0));
    if (s.active(0))
      d.set<T>(0, value);
    else if (s.instruction().zeroing)
      d.set<T>(0, T{});
    s.put_whole(0, d, 16);
  });
}

/// Predicates 16 to 31 answer as 0 to 15 do and differ only in whether quiet NaNs signal.
template <class T>
bool holds(int predicate, T a, T b) {
  const bool unordered = a != a || b != b;
  switch (predicate & 15) {
    case 0: return !unordered && a == b;
    case 1: return !unordered && a < b;
    case 2: return !unordered && a <= b;
    case 3: return unordered;
    case 4: return unordered || a != b;
    case 5: return unordered || a >= b;
    case 6: return unordered || a > b;
    case 7: return !unordered;
    case 8: return unordered || a == b;
    case 9: return unordered || a < b;
    case 10: return unordered || a <= b;
    case 11: return false;
    case 12: return !unordered && a != b;
    case 13: return !unordered && a >= b;
    case 14: return !unordered && a > b;
    default: return true;
  }
}

template <class T>
void compare_packed(Step& s) {
  const int predicate = s.immediate(3) & 31;
  compare<T>(s, [predicate](T a, T b) { return holds(predicate, a, b); });
}

template <class T>
void compare_scalar(Step& s) {
  const int predicate = s.immediate(3) & 31;
  Vector a = s.lanes_of<T>(1, 1);
  const Vector b = s.lanes_of<T>(2, 1);
  const bool yes = holds(predicate, a.get<T>(0), b.get<T>(0));
  if (s.is_opmask(0)) return s.put_opmask(0, yes && s.active(0) ? 1 : 0, 1);
  for (std::size_t i = 0; i < sizeof(T); ++i) a.bytes[i] = yes ? std::uint8_t{0xff} : std::uint8_t{0};
  s.put_whole(0, a, 16);
}

template <class T>
void compare_to_flags(Step& s) {
  const T a = s.lanes_of<T>(0, 1).template get<T>(0), b = s.lanes_of<T>(1, 1).template get<T>(0);
  const bool unordered = a != a || b != b;
  s.machine().flags = {
      .zero = unordered || a == b, .sign = false, .carry = unordered || a < b, .overflow = false, .parity = unordered};
}

/// Classes of vfpclass: quiet NaN, +0, -0, +inf, -inf, denormal, negative finite, signalling NaN.
template <class T, class U>
void classify(Step& s) {
  const int n = s.lanes<T>();
  const Vector a = s.lanes_of<T>(1, n);
  const int wanted = s.immediate(2);
  std::uint64_t bits = 0;
  for (int i = 0; i < n; ++i) {
    const T x = a.get<T>(i);
    const bool negative = std::signbit(x), nan = std::isnan(x), inf = std::isinf(x), zero = x == 0;
    const bool quiet = nan && ((a.get<U>(i) >> (std::numeric_limits<T>::digits - 2)) & 1) != 0;
    const bool denormal = !nan && !inf && !zero && std::abs(x) < std::numeric_limits<T>::min();
    const std::array<bool, 8> is{quiet,
                                 zero && !negative,
                                 zero && negative,
                                 inf && !negative,
                                 inf && negative,
                                 denormal,
                                 negative && !nan && !inf && !zero,
                                 nan && !quiet};
    for (std::size_t c = 0; c < is.size(); ++c)
      if (is[c] && ((wanted >> c) & 1) != 0 && s.active(i)) bits |= std::uint64_t{1} << i;
  }
  s.put_opmask(0, bits, n);
}

template <class T>
void add_arithmetic(HandlerTable& table, const std::array<ZydisMnemonic, 6>& packed,
                    const std::array<ZydisMnemonic, 6>& single) {
  const auto both = [&](std::size_t i, auto f) {
    table.add(packed[i], binary<T>(f));
    table.add(single[i], scalar<T>(f));
  };
  both(0, [](T a, T b) { return add(a, b); });
  both(1, [](T a, T b) { return sub(a, b); });
  both(2, [](T a, T b) { return mul(a, b); });
  both(3, [](T a, T b) { return div(a, b); });
  both(4, [](T a, T b) { return max(a, b); });
  both(5, [](T a, T b) { return min(a, b); });
}

void add_all_fused(HandlerTable& t) {
  using enum Form;
  add_fused<float, f132, false, false>(t, ZYDIS_MNEMONIC_VFMADD132PS, ZYDIS_MNEMONIC_VFMADD132SS);
  add_fused<float, f213, false, false>(t, ZYDIS_MNEMONIC_VFMADD213PS, ZYDIS_MNEMONIC_VFMADD213SS);
  add_fused<float, f231, false, false>(t, ZYDIS_MNEMONIC_VFMADD231PS, ZYDIS_MNEMONIC_VFMADD231SS);
  add_fused<double, f132, false, false>(t, ZYDIS_MNEMONIC_VFMADD132PD, ZYDIS_MNEMONIC_VFMADD132SD);
  add_fused<double, f213, false, false>(t, ZYDIS_MNEMONIC_VFMADD213PD, ZYDIS_MNEMONIC_VFMADD213SD);
  add_fused<double, f231, false, false>(t, ZYDIS_MNEMONIC_VFMADD231PD, ZYDIS_MNEMONIC_VFMADD231SD);
  add_fused<float, f132, false, true>(t, ZYDIS_MNEMONIC_VFMSUB132PS, ZYDIS_MNEMONIC_VFMSUB132SS);
  add_fused<float, f213, false, true>(t, ZYDIS_MNEMONIC_VFMSUB213PS, ZYDIS_MNEMONIC_VFMSUB213SS);
  add_fused<float, f231, false, true>(t, ZYDIS_MNEMONIC_VFMSUB231PS, ZYDIS_MNEMONIC_VFMSUB231SS);
  add_fused<double, f132, false, true>(t, ZYDIS_MNEMONIC_VFMSUB132PD, ZYDIS_MNEMONIC_VFMSUB132SD);
  add_fused<double, f213, false, true>(t, ZYDIS_MNEMONIC_VFMSUB213PD, ZYDIS_MNEMONIC_VFMSUB213SD);
  add_fused<double, f231, false, true>(t, ZYDIS_MNEMONIC_VFMSUB231PD, ZYDIS_MNEMONIC_VFMSUB231SD);
  add_fused<float, f132, true, false>(t, ZYDIS_MNEMONIC_VFNMADD132PS, ZYDIS_MNEMONIC_VFNMADD132SS);
  add_fused<float, f213, true, false>(t, ZYDIS_MNEMONIC_VFNMADD213PS, ZYDIS_MNEMONIC_VFNMADD213SS);
  add_fused<float, f231, true, false>(t, ZYDIS_MNEMONIC_VFNMADD231PS, ZYDIS_MNEMONIC_VFNMADD231SS);
  add_fused<double, f132, true, false>(t, ZYDIS_MNEMONIC_VFNMADD132PD, ZYDIS_MNEMONIC_VFNMADD132SD);
  add_fused<double, f213, true, false>(t, ZYDIS_MNEMONIC_VFNMADD213PD, ZYDIS_MNEMONIC_VFNMADD213SD);
  add_fused<double, f231, true, false>(t, ZYDIS_MNEMONIC_VFNMADD231PD, ZYDIS_MNEMONIC_VFNMADD231SD);
}

template <class U>
void add_logic(HandlerTable& table, ZydisMnemonic band, ZydisMnemonic bandn, ZydisMnemonic bor, ZydisMnemonic bxor) {
  table.add(band, binary<U>([](U a, U b) { return a & b; }));
  table.add(bandn, binary<U>([](U a, U b) { return ~a & b; }));
  table.add(bor, binary<U>([](U a, U b) { return a | b; }));
  table.add(bxor, binary<U>([](U a, U b) { return a ^ b; }));
}

/// a 2^floor(b). A NaN of `a` comes first, but for a quiet one and an infinite b.
float scale(float a, float b) {
  const auto quiet = [](float nan) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nan) | 0x400000U); };
  const float indefinite = std::bit_cast<float>(0xffc00000U);
  const bool is_quiet = (std::bit_cast<std::uint32_t>(a) & 0x400000U) != 0;
  if (std::isnan(a)) return std::isinf(b) && is_quiet ? (b > 0 ? b : 0.0F) : quiet(a);
  if (std::isnan(b)) return quiet(b);
  if (std::isinf(b)) {
    if (b > 0 ? a == 0 : std::isinf(a)) return indefinite;
    return std::copysign(b > 0 ? b : 0.0F, a);
  }
  return std::ldexp(a, static_cast<int>(std::floor(std::clamp(b, -1000.0F, 1000.0F))));
}

}  // namespace

void add_float(HandlerTable& table) {
  add_arithmetic<float>(table,
                        {ZYDIS_MNEMONIC_VADDPS, ZYDIS_MNEMONIC_VSUBPS, ZYDIS_MNEMONIC_VMULPS, ZYDIS_MNEMONIC_VDIVPS,
                         ZYDIS_MNEMONIC_VMAXPS, ZYDIS_MNEMONIC_VMINPS},
                        {ZYDIS_MNEMONIC_VADDSS, ZYDIS_MNEMONIC_VSUBSS, ZYDIS_MNEMONIC_VMULSS, ZYDIS_MNEMONIC_VDIVSS,
                         ZYDIS_MNEMONIC_VMAXSS, ZYDIS_MNEMONIC_VMINSS});
  add_arithmetic<double>(table,
                         {ZYDIS_MNEMONIC_VADDPD, ZYDIS_MNEMONIC_VSUBPD, ZYDIS_MNEMONIC_VMULPD, ZYDIS_MNEMONIC_VDIVPD,
                          ZYDIS_MNEMONIC_VMAXPD, ZYDIS_MNEMONIC_VMINPD},
                         {ZYDIS_MNEMONIC_VADDSD, ZYDIS_MNEMONIC_VSUBSD, ZYDIS_MNEMONIC_VMULSD, ZYDIS_MNEMONIC_VDIVSD,
                          ZYDIS_MNEMONIC_VMAXSD, ZYDIS_MNEMONIC_VMINSD});
  table.add(ZYDIS_MNEMONIC_VSQRTPS, unary<float>([](float a) { return sqrt(a); }));
  table.add(ZYDIS_MNEMONIC_VSQRTPD, unary<double>([](double a) { return sqrt(a); }));
  table.add(ZYDIS_MNEMONIC_VSQRTSS, scalar<float>([](float, float b) { return sqrt(b); }));
  table.add(ZYDIS_MNEMONIC_VSQRTSD, scalar<double>([](double, double b) { return sqrt(b); }));
  table.add(ZYDIS_MNEMONIC_VSCALEFPS, binary<float>(scale));
  add_all_fused(table);
  add_logic<std::uint32_t>(table, ZYDIS_MNEMONIC_VANDPS, ZYDIS_MNEMONIC_VANDNPS, ZYDIS_MNEMONIC_VORPS,
                           ZYDIS_MNEMONIC_VXORPS);
  add_logic<std::uint64_t>(table, ZYDIS_MNEMONIC_VANDPD, ZYDIS_MNEMONIC_VANDNPD, ZYDIS_MNEMONIC_VORPD,
                           ZYDIS_MNEMONIC_VXORPD);
  table.add(ZYDIS_MNEMONIC_VCMPPS, compare_packed<float>);
  table.add(ZYDIS_MNEMONIC_VCMPPD, compare_packed<double>);
  table.add(ZYDIS_MNEMONIC_VCMPSS, compare_scalar<float>);
  table.add(ZYDIS_MNEMONIC_VCMPSD, compare_scalar<double>);
  table.add({ZYDIS_MNEMONIC_VUCOMISS, ZYDIS_MNEMONIC_VCOMISS}, compare_to_flags<float>);
  table.add({ZYDIS_MNEMONIC_VUCOMISD, ZYDIS_MNEMONIC_VCOMISD}, compare_to_flags<double>);
  table.add(ZYDIS_MNEMONIC_VFPCLASSPS, classify<float, std::uint32_t>);
  table.add(ZYDIS_MNEMONIC_VFPCLASSPD, classify<double, std::uint64_t>);
}

}  // namespace tenfold::emulator

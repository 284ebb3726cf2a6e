// SPDX-License-Identifier: Apache-2.0
//
// Conversions: between float widths, to and from integers, rounding to integers, widening and narrowing integers.
#include <immintrin.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

double widen(float a) {
  double r = 0;
  asm("cvtss2sd %1, %0" : "+x"(r) : "x"(a));
  return r;
}
float narrow(double a) {
  float r = 0;
  asm("cvtsd2ss %1, %0" : "+x"(r) : "x"(a));
  return r;
}
float half_to_float(std::uint16_t a) { return _cvtsh_ss(a); }
std::int32_t nearest(float a) { return _mm_cvtss_si32(_mm_set_ss(a)); }
std::int32_t nearest(double a) { return _mm_cvtsd_si32(_mm_set_sd(a)); }
std::int32_t toward_zero(float a) { return _mm_cvttss_si32(_mm_set_ss(a)); }
std::int32_t toward_zero(double a) { return _mm_cvttsd_si32(_mm_set_sd(a)); }

/// To nearest even; NaNs quieted, denormals flushed in and out, as vcvtneps2bf16 does whatever MXCSR says.
std::uint16_t float_to_bf16(float a) {
  const auto bits = std::bit_cast<std::uint32_t>(a);
  if (a != a) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  if ((bits & 0x7f80'0000) == 0) return static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Each of the destination's lanes from the source's lane of the same number. Lanes: as many as the wider type has in
/// the vector length.
template <class From, class To, class F>
Handler convert(F f) {
  return [f](Step& s) {
    const int n = s.vector_bytes() / static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));
    // A store's mask governs what is written; a register source is read whole either way.
    const Vector a = s.lanes_of<From>(1, n);
    Vector r;
    for (int i = 0; i < n; ++i) r.set<To>(i, static_cast<To>(f(a.get<From>(i))));
    s.put<To>(0, r, n);
  };
}

template <class From, class To>
Handler extend() {
  return convert<From, To>([](From a) { return a; });
}

template <class From, class To>
Handler saturate() {
  return convert<From, To>([](From a) {
    const From low = static_cast<From>(std::numeric_limits<To>::min());
    const From high = static_cast<From>(std::numeric_limits<To>::max());
    return a < low ? low : a > high ? high : a;
  });
}

/// Lane 0 from the third operand, the rest of the xmm register from the second.
template <class From, class To, class F>
Handler convert_scalar(F f) {
  return [f](Step& s) {
    Vector r = s.lanes_of<To>(1, 1);
    const Vector b = s.lanes_of<From>(2, 1), old = s.lanes_of<To>(0, 1);
    const To value = f(b.get<From>(0));
    r.set<To>(0, s.active(0) ? value : s.instruction().zeroing ? To{} : old.get<To>(0));
    s.put_whole(0, r, 16);
  };
}

template <class T>
void integer_to_scalar(Step& s) {
  Vector r = s.lanes_of<T>(1, 1);
  const std::uint64_t x = s.read(2);
  r.set<T>(
      0, s.bits(2) == 64 ? static_cast<T>(static_cast<std::int64_t>(x)) : static_cast<T>(static_cast<std::int32_t>(x)));
  s.put_whole(0, r, 16);
}

template <class T, bool truncating>
void scalar_to_integer(Step& s) {
  const double x = static_cast<double>(s.lanes_of<T>(1, 1).template get<T>(0));
  if (s.bits(0) == 64)
    s.write(0, static_cast<std::uint64_t>(truncating ? _mm_cvttsd_si64(_mm_set_sd(x)) : _mm_cvtsd_si64(_mm_set_sd(x))));
  else
    s.write(0, static_cast<std::uint32_t>(truncating ? _mm_cvttsd_si32(_mm_set_sd(x)) : _mm_cvtsd_si32(_mm_set_sd(x))));
}

float rounded(float a, int mode) {
  const __m128 x = _mm_set_ss(a);
  switch (mode & 7) {
    case 0: return _mm_cvtss_f32(_mm_round_ss(x, x, 0));
    case 1: return _mm_cvtss_f32(_mm_round_ss(x, x, 1));
    case 2: return _mm_cvtss_f32(_mm_round_ss(x, x, 2));
    case 3: return _mm_cvtss_f32(_mm_round_ss(x, x, 3));
    default: return _mm_cvtss_f32(_mm_round_ss(x, x, 4));
  }
}
double rounded(double a, int mode) {
  const __m128d x = _mm_set_sd(a);
  switch (mode & 7) {
    case 0: return _mm_cvtsd_f64(_mm_round_sd(x, x, 0));
    case 1: return _mm_cvtsd_f64(_mm_round_sd(x, x, 1));
    case 2: return _mm_cvtsd_f64(_mm_round_sd(x, x, 2));
    case 3: return _mm_cvtsd_f64(_mm_round_sd(x, x, 3));
    default: return _mm_cvtsd_f64(_mm_round_sd(x, x, 4));
  }
}

template <class T>
void round_packed(Step& s) {
  const int mode = s.immediate(2);
  if (mode >> 4 != 0) return s.fail("rounding to fraction bits is not emulated");
  unary<T>([mode](T a) { return rounded(a, mode); })(s);
}

template <class T>
void round_scalar(Step& s) {
  const int mode = s.immediate(3);
  if (mode >> 4 != 0) return s.fail("rounding to fraction bits is not emulated");
  scalar<T>([mode](T, T b) { return rounded(b, mode); })(s);
}

std::uint16_t float_to_half(float a, int mode) {
  switch (mode & 7) {
    case 1: return _cvtss_sh(a, 1);
    case 2: return _cvtss_sh(a, 2);
    case 3: return _cvtss_sh(a, 3);
    default: return _cvtss_sh(a, 0);
  }
}

void pack_bf16_pair(Step& s) {
  const int n = s.lanes<std::uint16_t>();
  if (s.instruction().mask != 0) return s.fail("vcvtne2ps2bf16 under a mask is not emulated");
  const Vector high = s.all_of<float>(1, n / 2), low = s.all_of<float>(2, n / 2);
  Vector r;
  for (int i = 0; i < n; ++i)
    r.set<std::uint16_t>(i, float_to_bf16(i < n / 2 ? low.get<float>(i) : high.get<float>(i - n / 2)));
  s.put<std::uint16_t>(0, r, n);
}

void add_integer_widths(HandlerTable& t) {
  using s8 = std::int8_t;
  using u8 = std::uint8_t;
  using s16 = std::int16_t;
  using u16 = std::uint16_t;
  using s32 = std::int32_t;
  using u32 = std::uint32_t;
  using s64 = std::int64_t;
  using u64 = std::uint64_t;
  t.add(ZYDIS_MNEMONIC_VPMOVZXBW, extend<u8, u16>());
  t.add(ZYDIS_MNEMONIC_VPMOVZXBD, extend<u8, u32>());
  t.add(ZYDIS_MNEMONIC_VPMOVZXBQ, extend<u8, u64>());
  t.add(ZYDIS_MNEMONIC_VPMOVZXWD, extend<u16, u32>());
  t.add(ZYDIS_MNEMONIC_VPMOVZXWQ, extend<u16, u64>());
  t.add(ZYDIS_MNEMONIC_VPMOVZXDQ, extend<u32, u64>());
  t.add(ZYDIS_MNEMONIC_VPMOVSXBW, extend<s8, s16>());
  t.add(ZYDIS_MNEMONIC_VPMOVSXBD, extend<s8, s32>());
  t.add(ZYDIS_MNEMONIC_VPMOVSXBQ, extend<s8, s64>());
  t.add(ZYDIS_MNEMONIC_VPMOVSXWD, extend<s16, s32>());
  t.add(ZYDIS_MNEMONIC_VPMOVSXWQ, extend<s16, s64>());
  t.add(ZYDIS_MNEMONIC_VPMOVSXDQ, extend<s32, s64>());
  t.add(ZYDIS_MNEMONIC_VPMOVWB, extend<u16, u8>());
  t.add(ZYDIS_MNEMONIC_VPMOVDB, extend<u32, u8>());
  t.add(ZYDIS_MNEMONIC_VPMOVDW, extend<u32, u16>());
  t.add(ZYDIS_MNEMONIC_VPMOVQB, extend<u64, u8>());
  t.add(ZYDIS_MNEMONIC_VPMOVQW, extend<u64, u16>());
  t.add(ZYDIS_MNEMONIC_VPMOVQD, extend<u64, u32>());
  t.add(ZYDIS_MNEMONIC_VPMOVSWB, saturate<s16, s8>());
  t.add(ZYDIS_MNEMONIC_VPMOVSDB, saturate<s32, s8>());
  t.add(ZYDIS_MNEMONIC_VPMOVSDW, saturate<s32, s16>());
  t.add(ZYDIS_MNEMONIC_VPMOVSQD, saturate<s64, s32>());
  t.add(ZYDIS_MNEMONIC_VPMOVUSWB, saturate<u16, u8>());
  t.add(ZYDIS_MNEMONIC_VPMOVUSDB, saturate<u32, u8>());
  t.add(ZYDIS_MNEMONIC_VPMOVUSDW, saturate<u32, u16>());
  t.add(ZYDIS_MNEMONIC_VPMOVUSQD, saturate<u64, u32>());
}

void add_scalars(HandlerTable& t) {
  t.add(ZYDIS_MNEMONIC_VCVTSS2SD, convert_scalar<float, double>(widen));
  t.add(ZYDIS_MNEMONIC_VCVTSD2SS, convert_scalar<double, float>(narrow));
  t.add(ZYDIS_MNEMONIC_VCVTSI2SS, integer_to_scalar<float>);
  t.add(ZYDIS_MNEMONIC_VCVTSI2SD, integer_to_scalar<double>);
  t.add(ZYDIS_MNEMONIC_VCVTSS2SI, scalar_to_integer<float, false>);
  t.add(ZYDIS_MNEMONIC_VCVTSD2SI, scalar_to_integer<double, false>);
  t.add(ZYDIS_MNEMONIC_VCVTTSS2SI, scalar_to_integer<float, true>);
  t.add(ZYDIS_MNEMONIC_VCVTTSD2SI, scalar_to_integer<double, true>);
  t.add({ZYDIS_MNEMONIC_VROUNDSS, ZYDIS_MNEMONIC_VRNDSCALESS}, round_scalar<float>);
  t.add({ZYDIS_MNEMONIC_VROUNDSD, ZYDIS_MNEMONIC_VRNDSCALESD}, round_scalar<double>);
}

}  // namespace

void add_convert(HandlerTable& t) {
  using u16 = std::uint16_t;
  using s32 = std::int32_t;
  using u32 = std::uint32_t;
  using s64 = std::int64_t;
  t.add(ZYDIS_MNEMONIC_VCVTPS2PD, convert<float, double>(widen));
  t.add(ZYDIS_MNEMONIC_VCVTPD2PS, convert<double, float>(narrow));
  t.add({ZYDIS_MNEMONIC_VCVTPH2PS, ZYDIS_MNEMONIC_VCVTPH2PSX}, convert<u16, float>(half_to_float));
  t.add(ZYDIS_MNEMONIC_VCVTPS2PH, [](Step& s) {
    const int mode = s.immediate(2);
    convert<float, u16>([mode](float a) { return float_to_half(a, mode); })(s);
  });
  t.add(ZYDIS_MNEMONIC_VCVTPS2PHX, convert<float, u16>([](float a) { return float_to_half(a, 4); }));
  t.add(ZYDIS_MNEMONIC_VCVTNEPS2BF16, convert<float, u16>(float_to_bf16));
  t.add(ZYDIS_MNEMONIC_VCVTNE2PS2BF16, pack_bf16_pair);
  t.add(ZYDIS_MNEMONIC_VCVTDQ2PS, convert<s32, float>([](s32 a) { return static_cast<float>(a); }));
  t.add(ZYDIS_MNEMONIC_VCVTDQ2PD, convert<s32, double>([](s32 a) { return a; }));
  t.add(ZYDIS_MNEMONIC_VCVTUDQ2PS, convert<u32, float>([](u32 a) { return static_cast<float>(a); }));
  t.add(ZYDIS_MNEMONIC_VCVTUDQ2PD, convert<u32, double>([](u32 a) { return a; }));
  t.add(ZYDIS_MNEMONIC_VCVTQQ2PD, convert<s64, double>([](s64 a) { return static_cast<double>(a); }));
  t.add(ZYDIS_MNEMONIC_VCVTPS2DQ, convert<float, s32>([](float a) { return nearest(a); }));
  t.add(ZYDIS_MNEMONIC_VCVTTPS2DQ, convert<float, s32>([](float a) { return toward_zero(a); }));
  t.add(ZYDIS_MNEMONIC_VCVTPD2DQ, convert<double, s32>([](double a) { return nearest(a); }));
  t.add(ZYDIS_MNEMONIC_VCVTTPD2DQ, convert<double, s32>([](double a) { return toward_zero(a); }));
  t.add({ZYDIS_MNEMONIC_VROUNDPS, ZYDIS_MNEMONIC_VRNDSCALEPS}, round_packed<float>);
  t.add({ZYDIS_MNEMONIC_VROUNDPD, ZYDIS_MNEMONIC_VRNDSCALEPD}, round_packed<double>);
  add_integer_widths(t);
  add_scalars(t);
}

}  // namespace tenfold::emulator

// SPDX-License-Identifier: Apache-2.0
//
// Integer lanes: arithmetic, extremes, comparison, logic, packing, sign masks.
#include <array>
#include <limits>
#include <type_traits>

#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

using s8 = std::int8_t;
using u8 = std::uint8_t;
using s16 = std::int16_t;
using u16 = std::uint16_t;
using s32 = std::int32_t;
using u32 = std::uint32_t;
using s64 = std::int64_t;
using u64 = std::uint64_t;

template <class T>
constexpr auto kAdd = [](T a, T b) { return static_cast<T>(a + b); };
template <class T>
constexpr auto kSub = [](T a, T b) { return static_cast<T>(a - b); };
template <class T>
constexpr auto kMul = [](T a, T b) { return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b)); };
template <class T>
constexpr auto kMax = [](T a, T b) { return a > b ? a : b; };
template <class T>
constexpr auto kMin = [](T a, T b) { return a < b ? a : b; };
template <class T>
constexpr auto kAbs = [](T a) { return static_cast<T>(a < 0 ? u64{0} - static_cast<u64>(a) : static_cast<u64>(a)); };
/// The first operand with the second's sign taken over, 0 where that is 0.
template <class T>
constexpr auto kSign = [](T a, T b) {
  return static_cast<T>(b < 0 ? u64{0} - static_cast<u64>(a) : b == 0 ? 0 : a);
};

template <class T>
void equal(Step& s) {
  compare<T>(s, [](T a, T b) { return a == b; });
}
template <class T>
void greater(Step& s) {
  compare<T>(s, [](T a, T b) { return a > b; });
}

template <class T>
void compare_by_immediate(Step& s) {
  const int predicate = s.immediate(3) & 7;
  compare<T>(s, [predicate](T a, T b) {
    switch (predicate) {
      case 0: return a == b;
      case 1: return a < b;
      case 2: return a <= b;
      case 3: return false;
      case 4: return a != b;
      case 5: return a >= b;
      case 6: return a > b;
      default: return true;
    }
  });
}

template <class T, bool wanted>
void test_to_opmask(Step& s) {
  compare<T>(s, [](T a, T b) { return ((a & b) != 0) == wanted; });
}

template <class T>
void ternary_logic(Step& s) {
  const auto table = static_cast<unsigned>(s.immediate(3));
  ternary<T>([table](T d, T a, T b) {
    T r = 0;
    for (unsigned row = 0; row < 8; ++row) {
      if (((table >> row) & 1) == 0) continue;
      const T x = (row & 4) != 0 ? d : static_cast<T>(~d);
      const T y = (row & 2) != 0 ? a : static_cast<T>(~a);
      const T z = (row & 1) != 0 ? b : static_cast<T>(~b);
      r = static_cast<T>(r | (x & y & z));
    }
    return r;
  })(s);
}

/// Each 128-bit piece: the first source's lanes, then the second's, saturated to half their width.
template <class From, class To>
void pack(Step& s) {
  const int pieces = s.vector_bytes() / 16, each = 16 / static_cast<int>(sizeof(From));
  const Vector a = s.all_of<From>(1, pieces * each), b = s.all_of<From>(2, pieces * each);
  const From low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  Vector r;
  for (int piece = 0; piece < pieces; ++piece)
    for (int i = 0; i < 2 * each; ++i) {
      const From x = i < each ? a.get<From>(piece * each + i) : b.get<From>(piece * each + i - each);
      r.set<To>(piece * 2 * each + i, static_cast<To>(x < low ? low : x > high ? high : x));
    }
  s.put<To>(0, r, pieces * each * 2);
}

template <class T>
void sign_bits(Step& s) {
  const int n = s.bits(1) / 8 / static_cast<int>(sizeof(T));
  const Vector a = s.all_of<T>(1, n);
  u64 bits = 0;
  for (int i = 0; i < n; ++i)
    if (a.get<T>(i) < 0) bits |= u64{1} << i;
  s.write(0, bits);
}

/// ZF: no common bit; CF: no bit of the second outside the first. `signs` looks at each lane's top bit alone.
template <class T, bool signs>
void test_to_flags(Step& s) {
  const int n = s.lanes<T>();
  const Vector a = s.all_of<T>(0, n), b = s.all_of<T>(1, n);
  const T looked_at = signs ? static_cast<T>(T{1} << (sizeof(T) * 8 - 1)) : static_cast<T>(~T{0});
  bool common = false, beyond = false;
  for (int i = 0; i < n; ++i) {
    common = common || (a.get<T>(i) & b.get<T>(i) & looked_at) != 0;
    beyond = beyond || (static_cast<T>(~a.get<T>(i)) & b.get<T>(i) & looked_at) != 0;
  }
  s.machine().flags = {.zero = !common, .sign = false, .carry = !beyond, .overflow = false, .parity = false};
}

template <class T>
void add_logic(HandlerTable& t, ZydisMnemonic band, ZydisMnemonic bandn, ZydisMnemonic bor, ZydisMnemonic bxor) {
  t.add(band, binary<T>([](T a, T b) { return a & b; }));
  t.add(bandn, binary<T>([](T a, T b) { return ~a & b; }));
  t.add(bor, binary<T>([](T a, T b) { return a | b; }));
  t.add(bxor, binary<T>([](T a, T b) { return a ^ b; }));
}

void add_arithmetic(HandlerTable& t) {
  t.add(ZYDIS_MNEMONIC_VPADDB, binary<u8>(kAdd<u8>));
  t.add(ZYDIS_MNEMONIC_VPADDW, binary<u16>(kAdd<u16>));
  t.add(ZYDIS_MNEMONIC_VPADDD, binary<u32>(kAdd<u32>));
  t.add(ZYDIS_MNEMONIC_VPADDQ, binary<u64>(kAdd<u64>));
  t.add(ZYDIS_MNEMONIC_VPSUBB, binary<u8>(kSub<u8>));
  t.add(ZYDIS_MNEMONIC_VPSUBW, binary<u16>(kSub<u16>));
  t.add(ZYDIS_MNEMONIC_VPSUBD, binary<u32>(kSub<u32>));
  t.add(ZYDIS_MNEMONIC_VPSUBQ, binary<u64>(kSub<u64>));
  t.add(ZYDIS_MNEMONIC_VPSUBUSW, binary<u16>([](u16 a, u16 b) { return static_cast<u16>(a > b ? a - b : 0); }));
  t.add(ZYDIS_MNEMONIC_VPMULLW, binary<u16>(kMul<u16>));
  t.add(ZYDIS_MNEMONIC_VPMULLD, binary<u32>(kMul<u32>));
  t.add(ZYDIS_MNEMONIC_VPMULLQ, binary<u64>(kMul<u64>));
  t.add(ZYDIS_MNEMONIC_VPMULUDQ, binary<u64>([](u64 a, u64 b) { return (a & 0xffff'ffff) * (b & 0xffff'ffff); }));
  t.add(ZYDIS_MNEMONIC_VPMULDQ,
        binary<s64>([](s64 a, s64 b) { return s64{static_cast<s32>(a)} * s64{static_cast<s32>(b)}; }));
  t.add(ZYDIS_MNEMONIC_VPABSB, unary<s8>(kAbs<s8>));
  t.add(ZYDIS_MNEMONIC_VPABSW, unary<s16>(kAbs<s16>));
  t.add(ZYDIS_MNEMONIC_VPABSD, unary<s32>(kAbs<s32>));
  t.add(ZYDIS_MNEMONIC_VPABSQ, unary<s64>(kAbs<s64>));
  t.add(ZYDIS_MNEMONIC_VPSIGNW, binary<s16>(kSign<s16>));
  t.add(ZYDIS_MNEMONIC_VPSIGND, binary<s32>(kSign<s32>));
}

void add_extremes(HandlerTable& t) {
  t.add(ZYDIS_MNEMONIC_VPMAXSB, binary<s8>(kMax<s8>));
  t.add(ZYDIS_MNEMONIC_VPMAXSW, binary<s16>(kMax<s16>));
  t.add(ZYDIS_MNEMONIC_VPMAXSD, binary<s32>(kMax<s32>));
  t.add(ZYDIS_MNEMONIC_VPMAXSQ, binary<s64>(kMax<s64>));
  t.add(ZYDIS_MNEMONIC_VPMAXUB, binary<u8>(kMax<u8>));
  t.add(ZYDIS_MNEMONIC_VPMAXUW, binary<u16>(kMax<u16>));
  t.add(ZYDIS_MNEMONIC_VPMAXUD, binary<u32>(kMax<u32>));
  t.add(ZYDIS_MNEMONIC_VPMAXUQ, binary<u64>(kMax<u64>));
  t.add(ZYDIS_MNEMONIC_VPMINSB, binary<s8>(kMin<s8>));
  t.add(ZYDIS_MNEMONIC_VPMINSW, binary<s16>(kMin<s16>));
  t.add(ZYDIS_MNEMONIC_VPMINSD, binary<s32>(kMin<s32>));
  t.add(ZYDIS_MNEMONIC_VPMINSQ, binary<s64>(kMin<s64>));
  t.add(ZYDIS_MNEMONIC_VPMINUB, binary<u8>(kMin<u8>));
  t.add(ZYDIS_MNEMONIC_VPMINUW, binary<u16>(kMin<u16>));
  t.add(ZYDIS_MNEMONIC_VPMINUD, binary<u32>(kMin<u32>));
  t.add(ZYDIS_MNEMONIC_VPMINUQ, binary<u64>(kMin<u64>));
}

void add_comparisons(HandlerTable& t) {
  t.add(ZYDIS_MNEMONIC_VPCMPEQB, equal<u8>);
  t.add(ZYDIS_MNEMONIC_VPCMPEQW, equal<u16>);
  t.add(ZYDIS_MNEMONIC_VPCMPEQD, equal<u32>);
  t.add(ZYDIS_MNEMONIC_VPCMPEQQ, equal<u64>);
  t.add(ZYDIS_MNEMONIC_VPCMPGTB, greater<s8>);
  t.add(ZYDIS_MNEMONIC_VPCMPGTW, greater<s16>);
  t.add(ZYDIS_MNEMONIC_VPCMPGTD, greater<s32>);
  t.add(ZYDIS_MNEMONIC_VPCMPGTQ, greater<s64>);
  t.add(ZYDIS_MNEMONIC_VPCMPB, compare_by_immediate<s8>);
  t.add(ZYDIS_MNEMONIC_VPCMPW, compare_by_immediate<s16>);
  t.add(ZYDIS_MNEMONIC_VPCMPD, compare_by_immediate<s32>);
  t.add(ZYDIS_MNEMONIC_VPCMPQ, compare_by_immediate<s64>);
  t.add(ZYDIS_MNEMONIC_VPCMPUB, compare_by_immediate<u8>);
  t.add(ZYDIS_MNEMONIC_VPCMPUW, compare_by_immediate<u16>);
  t.add(ZYDIS_MNEMONIC_VPCMPUD, compare_by_immediate<u32>);
  t.add(ZYDIS_MNEMONIC_VPCMPUQ, compare_by_immediate<u64>);
  t.add(ZYDIS_MNEMONIC_VPTESTMB, test_to_opmask<u8, true>);
  t.add(ZYDIS_MNEMONIC_VPTESTMW, test_to_opmask<u16, true>);
  t.add(ZYDIS_MNEMONIC_VPTESTMD, test_to_opmask<u32, true>);
  t.add(ZYDIS_MNEMONIC_VPTESTMQ, test_to_opmask<u64, true>);
  t.add(ZYDIS_MNEMONIC_VPTESTNMB, test_to_opmask<u8, false>);
  t.add(ZYDIS_MNEMONIC_VPTESTNMW, test_to_opmask<u16, false>);
  t.add(ZYDIS_MNEMONIC_VPTESTNMD, test_to_opmask<u32, false>);
  t.add(ZYDIS_MNEMONIC_VPTESTNMQ, test_to_opmask<u64, false>);
}

}  // namespace

void add_integer(HandlerTable& t) {
  add_arithmetic(t);
  add_extremes(t);
  add_comparisons(t);
  add_logic<u64>(t, ZYDIS_MNEMONIC_VPAND, ZYDIS_MNEMONIC_VPANDN, ZYDIS_MNEMONIC_VPOR, ZYDIS_MNEMONIC_VPXOR);
  add_logic<u32>(t, ZYDIS_MNEMONIC_VPANDD, ZYDIS_MNEMONIC_VPANDND, ZYDIS_MNEMONIC_VPORD, ZYDIS_MNEMONIC_VPXORD);
  add_logic<u64>(t, ZYDIS_MNEMONIC_VPANDQ, ZYDIS_MNEMONIC_VPANDNQ, ZYDIS_MNEMONIC_VPORQ, ZYDIS_MNEMONIC_VPXORQ);
  t.add(ZYDIS_MNEMONIC_VPTERNLOGD, ternary_logic<u32>);
  t.add(ZYDIS_MNEMONIC_VPTERNLOGQ, ternary_logic<u64>);
  t.add(ZYDIS_MNEMONIC_VPACKSSDW, pack<s32, s16>);
  t.add(ZYDIS_MNEMONIC_VPACKUSDW, pack<s32, u16>);
  t.add(ZYDIS_MNEMONIC_VPACKSSWB, pack<s16, s8>);
  t.add(ZYDIS_MNEMONIC_VPACKUSWB, pack<s16, u8>);
  t.add(ZYDIS_MNEMONIC_VPMOVMSKB, sign_bits<s8>);
  t.add(ZYDIS_MNEMONIC_VMOVMSKPS, sign_bits<s32>);
  t.add(ZYDIS_MNEMONIC_VMOVMSKPD, sign_bits<s64>);
  t.add(ZYDIS_MNEMONIC_VPTEST, test_to_flags<u64, false>);
  t.add(ZYDIS_MNEMONIC_VTESTPS, test_to_flags<u32, true>);
  t.add(ZYDIS_MNEMONIC_VTESTPD, test_to_flags<u64, true>);
}

}  // namespace tenfold::emulator

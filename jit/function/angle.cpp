// SPDX-License-Identifier: Apache-2.0
//
// Circular functions of f64 arguments. x = 2^E M with an integer M of 53 bits; of 2 / pi 2^E the part that counts,
// modulo 4 and down to 2^-190, is cut out of the bits of 2 / pi by the exponent: whole words by selections, one for
// each bit of their number, the rest by shifts. Its product with M, in 32-bit digits, is x in quarter turns modulo 4 to
// within 2^-124; no f64 comes closer than 2^-62 to a whole number of them. What is left, times pi / 2, is a sum of two
// numbers of which the polynomials take the second to first order. Errors of the polynomials: 2^-58 (sin), 2^-64 (cos).
#include <array>
#include <cstdint>
#include <vector>

#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

/// 2 / pi after 55 zeros, so that the window of the least exponent that is reduced, -53, begins with the first bit.
constexpr std::array<std::uint64_t, 20> kTwoByPi{
    0x0000000000000145, 0xf306dc9c882a53f8, 0x4eafa3ea69bb81b6, 0xc52b3278872083fc, 0xa2c757bd778ac36e,
    0x48dc74849ba5c00c, 0x925dd413a32439fc, 0x3bd63962534e7dd1, 0x046bea5d768909d3, 0x38e04d68befc8273,
    0x23ac7306a673e939, 0x08bf177bf250763f, 0xf12fffbc0b301fde, 0x5e2316b414da3eda, 0x6cfd9e4f96136e9e,
    0x8c7ecd3cbfd45aea, 0x4f758fd7cbe2f67a, 0x0e73ef14a525d4d7, 0xf6bf623f1aba10ac, 0x06608df8f6d757e1};
constexpr int kFirstExponent = 1022;  ///< biased, of |x| >= 1/2
constexpr std::array kSinPoly{-0.16666666666666632,   0.008333333333322429,   -0.00019841269829817856,
                              2.7557313694694162e-06, -2.505075845264213e-08, 1.5896810492581858e-10};
constexpr std::array kCosPoly{0.0416666666666666,     -0.001388888888887413,  2.480158728948439e-05,
                              -2.755731435278237e-07, 2.0875723316021863e-09, -1.1359649325336603e-11};
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;
constexpr double kQuarterPi = 0.78;  ///< at most that; below it nothing is reduced

struct WideAngle {
  Lane quadrant;   ///< modulo 4
  Lane high, low;  ///< in radians, the sum at most pi / 4 beside 0
};

Lane digit(Lane x) { return x & x.builder->bits(LaneType::i64, 0xffffffffU); }
Lane upper(Lane x) { return shift_right(x, 32); }
Lane bits_of(Lane like, std::uint64_t pattern) { return like.builder->bits(LaneType::i64, pattern); }

/// An integer below 2^51 in magnitude as f64, by the last bits of 1.5 2^52.
Lane small_to_real(Lane x) { return as(LaneType::f64, x + bits_of(x, 0x4338000000000000)) - 0x1.8p52; }

/// The four words of 2 / pi that begin with word start >> 6.
std::vector<Lane> words_from(Lane start) {
  std::vector<Lane> words;
  for (const std::uint64_t word : kTwoByPi) words.push_back(bits_of(start, word));
  for (int step = 16; step > 0; step /= 2) {
    const auto by = static_cast<std::size_t>(step);
    const Lane stays = equal(start & bits_of(start, by << 6), 0.0);
    const std::size_t left = 4 + by - 1;
    for (std::size_t i = 0; i < left && i + by < words.size(); ++i) words[i] = select(stays, words[i], words[i + by]);
    words.resize(left, words.back());
  }
  return words;
}

/// The digits of (2 / pi) 2^E modulo 4, least first, the last having two bits before the point.
std::array<Lane, 6> window(Lane start) {
  const std::vector<Lane> words = words_from(start);
  const Lane shift = start & bits_of(start, 63);
  const Lane back = bits_of(start, 64) - shift;
  std::array<Lane, 6> digits;
  for (std::size_t i = 0; i < 3; ++i) {
    const Lane word =
        combine(LaneOp::shift_left_by, words[i], shift) | combine(LaneOp::shift_right_by, words[i + 1], back);
    digits[5 - 2 * i] = upper(word);
    digits[4 - 2 * i] = digit(word);
  }
  return digits;
}

/// The upper four digits of the product with M, as two words; three units of the last may be missing.
std::array<Lane, 2> times_window(Lane m, const std::array<Lane, 6>& p) {
  const Lane low = digit(m), high = upper(m);
  Lane carry = upper(low * p[1]) + upper(high * p[0]);
  std::array<Lane, 4> sums;
  Lane product = low * p[2];
  for (std::size_t i = 0; i < 4; ++i) {
    sums[i] = carry + digit(product) + high * p[i + 1];
    if (i == 3) break;
    carry = upper(sums[i]) + upper(product);
    product = low * p[i + 3];
  }
  return {shift_left(sums[3], 32) | digit(sums[2]), shift_left(sums[1], 32) | digit(sums[0])};
}

/// Of a = |x|; anything of one that is not finite.
WideAngle reduce(Lane a) {
  const Lane bits = as(LaneType::i64, a);
  const Lane start = shift_right(bits, 52) - bits_of(bits, kFirstExponent);
  const Lane m = (bits & bits_of(bits, (1ULL << 52) - 1)) | bits_of(bits, 1ULL << 52);
  const auto [high, low] = times_window(m, window(start));
  const Lane quadrant = shift_right(high + bits_of(bits, 1ULL << 61), 62);
  const Lane top = shift_left(high, 2) | shift_right(low, 62);
  const Lane rest = shift_left(low, 2);
  // In units of 2^-32: digits, the first one signed, into a sum of two.
  const Lane first = small_to_real(shift_right_arithmetic(top, 32));
  const Lane second = small_to_real(digit(top)) * 0x1p-32;
  const Lane sum = first + second;
  const Lane lost = second - (sum - first);
  const Lane more = lost + fma(small_to_real(digit(rest)), 0x1p-96, small_to_real(upper(rest)) * 0x1p-64);
  const Lane fraction = sum + more;
  const Lane fraction_low = more - (fraction - sum);

  const Lane radians = fraction * (kHalfPi * 0x1p-32);
  const Lane missing = fnma(fraction, kHalfPi * 0x1p-32, radians);
  const Lane radians_low = fma(fraction, kHalfPiLow * 0x1p-32, fraction_low * (kHalfPi * 0x1p-32) - missing);
  const Lane small = a < kQuarterPi;
  return {and_not(small, quadrant), select(small, a, radians), select(small, 0.0, radians_low)};
}

Lane sine_of(const WideAngle& angle) {
  const Lane h = angle.high;
  const Lane z = h * h;
  return h + fma(h * z, polynomial(z, kSinPoly), fnma(angle.low, z * 0.5, angle.low));
}

/// 1 - z / 2 is rounded, and what that lost comes after.
Lane cosine_of(const WideAngle& angle) {
  const Lane h = angle.high;
  const Lane z = h * h;
  const Lane half = z * 0.5;
  const Lane near = 1.0 - half;
  return near + (((1.0 - near) - half) + fnma(h, angle.low, z * z * polynomial(z, kCosPoly)));
}

Lane is_odd(Lane quadrant) { return negate(quadrant & bits_of(quadrant, 1)); }

/// `value`, negated where the bit of value 2 of `quadrant` is set.
Lane signed_by(Lane value, Lane quadrant) {
  return as(value.type, as(quadrant.type, value) ^ shift_left(quadrant & bits_of(quadrant, 2), 62));
}

Lane with_sign_of(Lane value, Lane x) { return value ^ (x & x.builder->constant(x.type, -0.0)); }

Lane unless_infinite(Lane x, Lane value) { return select(abs(x) < kInfinity, value, not_a_number(x)); }

}  // namespace

Lane sin_wide_lane(Lane x) {
  const WideAngle angle = reduce(abs(x));
  const Lane value = select(is_odd(angle.quadrant), cosine_of(angle), sine_of(angle));
  return unless_infinite(x, with_sign_of(signed_by(value, angle.quadrant), x));
}

Lane cos_wide_lane(Lane x) {
  const WideAngle angle = reduce(abs(x));
  const Lane value = select(is_odd(angle.quadrant), sine_of(angle), cosine_of(angle));
  return unless_infinite(x, signed_by(value, angle.quadrant + bits_of(angle.quadrant, 1)));
}

Lane tan_wide_lane(Lane x) {
  const WideAngle angle = reduce(abs(x));
  const Lane odd = is_odd(angle.quadrant);
  const Lane sine = sine_of(angle), cosine = cosine_of(angle);
  const Lane value = select(odd, negate(cosine), sine) / select(odd, sine, cosine);
  return unless_infinite(x, with_sign_of(value, x));
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/narrow_casts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "compile/lower/body.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;

/// Operations on unsigned words of one width.
class Words {
 public:
  Words(BodyWriter& body, DType dtype) : body_(body), dtype_(dtype) {}

  int of(double number) { return body_.constant(dtype_, number); }
  int apply(Function function, int word, double number) { return body_.apply(function, {word, of(number)}); }
  int masked(int word, double bits) { return apply(Function::bitwise_and, word, bits); }
  int moved(int word, double by) { return apply(Function::shift_left, word, by); }
  int moved_down(int word, double by) { return apply(Function::shift_right, word, by); }
  int sum(int a, int b) { return body_.apply(Function::add, {a, b}); }
  int number_of(int truth) { return body_.cast(dtype_, truth); }
  int either(int a, int b) { return body_.apply(Function::bitwise_or, {a, b}); }
  int select(int condition, int yes, int no) { return body_.apply(Function::select, {condition, yes, no}); }

 private:
  BodyWriter& body_;
  DType dtype_;
};

/// The low half of a byte to the low byte of a word, the high half to the high one.
int write_halves(Words words, int byte, bool is_signed) {
  const int apart = words.masked(words.either(byte, words.moved(byte, 4)), 0x0f0f);
  if (!is_signed) return apart;
  // A sign, 8 in its byte, times 30 are the four bits above it.
  return words.either(apart, words.apply(Function::mul, words.masked(apart, 0x0808), 30));
}

constexpr double kSign = 0x80, kAllButSign = 0x7f, kNan = 0x7e00;

/// f16 with the same exponent and two bits of its fraction; a NaN has more than infinity's.
int write_e5m2(Words words, int byte) {
  const int is_number = words.apply(Function::less, words.masked(byte, kAllButSign), 0x7d);
  return words.select(is_number, words.moved(byte, 8), words.of(kNan));
}

/// The exponent is 8 less than that of f16. What has none is m times 2^-9: 1 is 2^-9, 2 and 3 have a bit behind the
/// point, more have two. NaN is the greatest of either sign.
int write_e4m3(Words words, int byte) {
  const int magnitude = words.masked(byte, kAllButSign);
  const int normal = words.apply(Function::add, words.moved(magnitude, 7), 0x2000);
  const int of_four = words.apply(Function::add, words.moved(magnitude, 8), 0x1c00);
  const int of_two = words.apply(Function::add, words.moved(magnitude, 9), 0x1800);
  const int of_one = words.apply(Function::mul, magnitude, 0x1800);
  const auto below = [&](double number) { return words.apply(Function::less, magnitude, number); };
  const int half =
      words.select(below(8), words.select(below(4), words.select(below(2), of_one, of_two), of_four), normal);
  const int sign = words.moved(words.masked(byte, kSign), 8);
  return words.select(words.apply(Function::equal, magnitude, kAllButSign), words.of(kNan), words.either(half, sign));
}

/// f32 to f8, as bits: those of numbers are in their order.
struct Rounding {
  int dropped;                       ///< bits of the fraction
  double bias;                       ///< bits of f32's number whose code would be 0, had f8 no subnormal ones
  double least_normal;               ///< bits of f32
  double greatest, nan;              ///< codes
  std::array<double, 8> subnormals;  ///< bits of f32 from which on numbers round to the code 1, 2, ...; 0: no more
};
/// Halves go to even: those above even codes are the first to round up only with more than half.
constexpr Rounding kE4m3{
    20,   0x3c000000, 0x3c800000,
    0x7e, 0x7f,       {0x3a800001, 0x3b400000, 0x3ba00001, 0x3be00000, 0x3c100001, 0x3c300000, 0x3c500001, 0x3c700000}};
constexpr Rounding kE5m2{21, 0x38000000, 0x38800000, 0x7b, 0x7e, {0x37000001, 0x37c00000, 0x38200001, 0x38600000}};

/// Beyond the greatest number it saturates.
int write_f8(Words words, int bits, const Rounding& to) {
  const int magnitude = words.masked(bits, 0x7fffffff);
  const double less_than_half = static_cast<double>((1 << (to.dropped - 1)) - 1);
  const int is_odd = words.masked(words.moved_down(magnitude, to.dropped), 1);
  const int raised = words.sum(words.apply(Function::sub, magnitude, to.bias - less_than_half), is_odd);
  const int normal = words.apply(Function::min, words.moved_down(raised, to.dropped), to.greatest);
  int subnormal = words.of(0);
  for (const double from : to.subnormals)
    if (from != 0)
      subnormal = words.sum(subnormal, words.number_of(words.apply(Function::greater_equal, magnitude, from)));
  const int code = words.select(words.apply(Function::less, magnitude, to.least_normal), subnormal, normal);
  const int sign = words.masked(words.moved_down(bits, 24), kSign);
  return words.select(words.apply(Function::greater, magnitude, 0x7f800000), words.of(to.nan),
                      words.either(code, sign));
}

bool is_f8(DType dtype) { return dtype == DType::f8_e5m2 || dtype == DType::f8_e4m3; }

bool is_of_4_bits(DType dtype) { return row(dtype).bits == 4; }

/// The dim along which elements are neighbours, two to a byte and, unpacked, to a word.
Result<std::size_t> dim_of_pairs(const TensorDesc& in, const TensorDesc& out) {
  const std::vector<std::int64_t> from = strides_of(in), to = strides_of(out);
  for (std::size_t dim = 0; dim < from.size(); ++dim)
    if (from[dim] == 1 && to[dim] == 1 && in.shape[dim] % 2 == 0) return dim;
  return Status(Code::unsupported_shape,
                "elements of 4 bits that are neighbours along a dim of an odd extent, or none");
}

/// Strides in pairs of elements, where all but `dim` have whole ones.
Result<std::vector<std::int64_t>> in_pairs(std::vector<std::int64_t> strides, const Dims& shape, std::size_t dim) {
  for (std::size_t other = 0; other < strides.size(); ++other) {
    if (other == dim || shape[other] == 1) continue;
    if (strides[other] % 2 != 0)
      return Status(Code::unsupported_shape, "elements of 4 bits of which a byte belongs to two rows");
    strides[other] /= 2;
  }
  return strides;
}

}  // namespace

bool is_narrow_cast(const graph::Graph& graph, const graph::Op& op) noexcept {
  if (op.dialect != graph::Dialect::core || op.kind != "cast") return false;
  const DType from = graph.values[op.inputs[0]].dtype, to = graph.values[op.outputs[0]].dtype;
  return (from == DType::s4 && to == DType::s8) || (from == DType::u4 && to == DType::u8) ||
         (is_f8(from) && to == DType::f16) || (from == DType::f32 && is_f8(to));
}

Result<Lowered> lower_narrow_cast(const graph::Graph& graph, const graph::Op& op) {
  const TensorDesc in = graph::desc_of(graph.values[op.inputs[0]]), out = graph::desc_of(graph.values[op.outputs[0]]);
  kernel::KernelSpec spec;
  for (const std::int64_t extent : in.shape) spec.levels.push_back({extent, false});
  std::vector<std::int64_t> from = strides_of(in), to = strides_of(out);
  if (is_of_4_bits(in.dtype)) {
    const Result<std::size_t> dim = dim_of_pairs(in, out);
    if (!dim.ok()) return dim.status();
    spec.levels[dim.value()].extent /= 2;
    for (std::vector<std::int64_t>* strides : {&from, &to}) {
      Result<std::vector<std::int64_t>> pairs = in_pairs(*strides, in.shape, dim.value());
      if (!pairs.ok()) return pairs.status();
      *strides = std::move(pairs).value();
    }
  }
  const bool packs = is_f8(out.dtype);
  spec.inputs.push_back({packs ? DType::u32 : DType::u8, std::move(from)});
  spec.outputs.push_back({packs ? DType::u8 : DType::u16, std::move(to)});
  BodyWriter body(spec);
  const int element = body.load(0);
  const Words words(body, packs ? DType::u32 : DType::u16);
  int made_of = packs ? element : body.cast(DType::u16, element);
  if (packs) {
    made_of = body.cast(DType::u8, write_f8(words, made_of, out.dtype == DType::f8_e4m3 ? kE4m3 : kE5m2));
  } else if (is_of_4_bits(in.dtype)) {
    made_of = write_halves(words, made_of, in.dtype == DType::s4);
  } else {
    made_of = in.dtype == DType::f8_e5m2 ? write_e5m2(words, made_of) : write_e4m3(words, made_of);
  }
  spec.stores.push_back({0, made_of});
  Result<kernel::KernelSpec> made = kernel::collapse(std::move(spec));
  if (!made.ok()) return made.status();
  return Lowered{std::move(made).value(), {{op.inputs[0]}}, {{op.outputs[0]}}};
}

}  // namespace tenfold::compiler

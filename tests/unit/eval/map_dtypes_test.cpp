// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops in all dtypes: any number of inputs, wraps, divisions, shifts, clips, casts, and ONNX's names and
// defaults.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "numeric_types.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Op onnx(const char* kind, std::vector<NamedAttribute> attributes = {}) {
  return make_op(Dialect::onnx, kind, std::move(attributes));
}

Op map_of(const char* function, std::vector<NamedAttribute> attributes = {}) {
  attributes.push_back({"function", std::string(function)});
  return make_op(Dialect::core, "map", std::move(attributes));
}

/// Of scalars of one dtype, exactly.
std::int64_t integer_of(const Op& op, DType dtype, const std::vector<Integer>& x, DType to = DType::undef) {
  std::vector<Tensor> tensors;
  for (const Integer value : x) tensors.push_back(exact(dtype, {}, {value}));
  std::vector<ConstTensor> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back(tensor.in());
  return exact_at(result_of(op, inputs, to == DType::undef ? dtype : to, {}), 0);
}

double real_of(const Op& op, const std::vector<double>& x, DType dtype = DType::f64, DType to = DType::undef) {
  std::vector<Tensor> tensors;
  for (const double value : x) tensors.emplace_back(dtype, Dims{}, std::vector<double>{value});
  std::vector<ConstTensor> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back(tensor.in());
  return result_of(op, inputs, to == DType::undef ? dtype : to, {}).at(0);
}

/// The examples of ONNX's document of Max.
TEST(Variadic, TheDocumentsExamples) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::s8, DType::u8, DType::s16,
                            DType::u16, DType::s32, DType::u32, DType::s64, DType::u64}) {
    const Tensor a(dtype, {3}, {3, 2, 1}), b(dtype, {3}, {1, 4, 4}), c(dtype, {3}, {2, 5, 3});
    const std::vector<ConstTensor> three = {a.in(), b.in(), c.in()}, two = {a.in(), b.in()}, one = {a.in()};
    EXPECT_TRUE(same_values(result_of(onnx("Max"), three, dtype, {3}).values(), {3, 5, 4})) << to_string(dtype);
    EXPECT_TRUE(same_values(result_of(onnx("Max"), two, dtype, {3}).values(), {3, 4, 4}));
    EXPECT_TRUE(same_values(result_of(onnx("Max"), one, dtype, {3}).values(), {3, 2, 1}));
    EXPECT_TRUE(same_values(result_of(onnx("Min"), three, dtype, {3}).values(), {1, 2, 1}));
    EXPECT_TRUE(same_values(result_of(onnx("Sum"), three, dtype, {3}).values(), {6, 11, 8}));
    EXPECT_TRUE(same_values(result_of(onnx("Mean"), one, dtype, {3}).values(), {3, 2, 1}));
    const bool real = is_floating(dtype);
    const auto third = [&](double x) {
      return real ? static_cast<double>(round_to(dtype, static_cast<Real>(x / 3))) : std::trunc(x / 3);
    };
    EXPECT_TRUE(same_values(result_of(onnx("Mean"), three, dtype, {3}).values(), {third(6), third(11), third(8)}));
  }
}

TEST(Variadic, BroadcastsInAllDirections) {
  const Tensor a(DType::s32, {2, 1}, {1, 10}), b(DType::s32, {3}, {0, 5, 20}), c(DType::s32, {}, {4});
  const std::vector<ConstTensor> inputs = {a.in(), b.in(), c.in()};
  EXPECT_TRUE(same_values(result_of(onnx("Max"), inputs, DType::s32, {2, 3}).values(), {4, 5, 20, 10, 10, 20}));
  EXPECT_TRUE(same_values(result_of(map_of("add"), inputs, DType::s32, {2, 3}).values(), {5, 10, 25, 14, 19, 34}));
  Tensor out(DType::s32, {2, 3});
  EXPECT_EQ(run_op(onnx("Add"), inputs, out).message(), "op 7 'it' (Add): 3 inputs for function 'add', which takes 2");
}

TEST(Variadic, NanZerosAndWideIntegers) {
  EXPECT_TRUE(std::isnan(real_of(onnx("Max"), {1, kNan, kInf})));
  EXPECT_TRUE(same(real_of(onnx("Max"), {-0.0, 0.0, -0.0}), 0.0));
  EXPECT_TRUE(same(real_of(onnx("Min"), {0.0, -0.0}), -0.0));
  const Integer two53 = Integer{1} << 53;
  EXPECT_EQ(integer_of(onnx("Max"), DType::s64, {two53, two53 + 1}), static_cast<std::int64_t>(two53 + 1));
  EXPECT_EQ(integer_of(onnx("Min"), DType::u64, {(Integer{1} << 64) - 1, (Integer{1} << 64) - 2}), -2);
  EXPECT_EQ(integer_of(onnx("Sum"), DType::s8, {100, 100, 100}), 44);
  EXPECT_EQ(integer_of(onnx("Mean"), DType::s8, {100, 100}), -28) << "half of the wrapped sum";
}

TEST(IntegerMap, EveryPairOfBytes) {
  const auto floor_mod = [](int a, int b) { return b == 0 ? 0 : ((a % b) + b) % b; };
  struct Row {
    Op op;
    std::function<int(int, int)> expected;
  };
  const Row rows[] = {
      {onnx("Add"), [](int a, int b) { return a + b; }},
      {onnx("Sub"), [](int a, int b) { return a - b; }},
      {onnx("Mul"), [](int a, int b) { return a * b; }},
      {onnx("Div"), [](int a, int b) { return b == 0 ? 0 : a / b; }},
      {onnx("Mod"), floor_mod},
      {onnx("Mod", {{"fmod", std::int64_t{1}}}), [](int a, int b) { return b == 0 ? 0 : a % b; }},
      {onnx("BitwiseAnd"), [](int a, int b) { return a & b; }},
      {onnx("BitwiseOr"), [](int a, int b) { return a | b; }},
      {onnx("BitwiseXor"), [](int a, int b) { return a ^ b; }},
      {onnx("PRelu"), [](int a, int b) { return a >= 0 ? a : a * b; }},
  };
  for (const DType dtype : {DType::s8, DType::u8}) {
    const int least = static_cast<int>(lowest_integer(dtype));
    std::vector<Integer> a, b;
    for (int i = 0; i < 256; ++i) a.push_back(least + i);
    const Tensor x = exact(dtype, {256, 1}, a), y = exact(dtype, {256}, a);
    for (const Row& row : rows) {
      const Tensor out = result_of(row.op, {x.in(), y.in()}, dtype, {256, 256});
      for (int i = 0; i < 256; ++i)
        for (int j = 0; j < 256; ++j)
          ASSERT_EQ(exact_at(out, i * 256 + j), static_cast<int>(wrapped(dtype, row.expected(least + i, least + j))))
              << row.op.kind << " " << least + i << " " << least + j;
    }
  }
}

TEST(IntegerMap, TheLeastIntegerWraps) {
  for (const DType dtype : {DType::s8, DType::s16, DType::s32, DType::s64}) {
    const Integer least = lowest_integer(dtype);
    for (const char* kind : {"Abs", "Neg"}) EXPECT_EQ(integer_of(onnx(kind), dtype, {least}), std::int64_t(least));
    EXPECT_EQ(integer_of(onnx("Div"), dtype, {least, -1}), static_cast<std::int64_t>(least));
    EXPECT_EQ(integer_of(onnx("Mod"), dtype, {least, -1}), 0);
    EXPECT_EQ(integer_of(onnx("Sign"), dtype, {least}), -1);
    EXPECT_EQ(integer_of(onnx("BitwiseNot"), dtype, {least}), static_cast<std::int64_t>(highest_integer(dtype)));
  }
  EXPECT_EQ(integer_of(onnx("Neg"), DType::u8, {1}), 255);
  EXPECT_EQ(integer_of(map_of("bitwise_not"), DType::boolean, {1}), 0);
}

TEST(IntegerMap, PowersAndShifts) {
  EXPECT_EQ(integer_of(onnx("Pow"), DType::s64, {3, 39}), 4052555153018976267) << "beyond 2^53";
  EXPECT_EQ(integer_of(onnx("Pow"), DType::s32, {3, 21}), static_cast<std::int64_t>(wrapped(DType::s32, 10460353203)));
  EXPECT_EQ(integer_of(onnx("Pow"), DType::s32, {0, 0}), 1);
  EXPECT_EQ(integer_of(onnx("Pow"), DType::s32, {2, -1}), 0);
  EXPECT_EQ(integer_of(onnx("Pow"), DType::s32, {-1, -3}), -1);
  EXPECT_EQ(integer_of(map_of("pow", {{"beta", 0.5}}), DType::s32, {17}), 4);
  const Tensor base(DType::s32, {}, {-2}), exponent(DType::f32, {}, {3}), half(DType::f32, {}, {0.5});
  EXPECT_EQ(result_of(onnx("Pow"), {base.in(), exponent.in()}, DType::s32, {}).at(0), -8);
  EXPECT_EQ(result_of(onnx("Pow"), {base.in(), half.in()}, DType::s32, {}).at(0), 0) << "NaN";
  EXPECT_EQ(result_of(onnx("Pow"), {half.in(), base.in()}, DType::f32, {}).at(0), 4);
  const Op left = onnx("BitShift", {{"direction", std::string("LEFT")}});
  const Op right = onnx("BitShift", {{"direction", std::string("RIGHT")}});
  EXPECT_EQ(integer_of(left, DType::u8, {0x81, 1}), 2);
  EXPECT_EQ(integer_of(left, DType::u8, {1, 8}), 0);
  EXPECT_EQ(integer_of(left, DType::u64, {1, 63}), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_of(left, DType::u64, {1, 64}), 0);
  EXPECT_EQ(integer_of(right, DType::u64, {(Integer{1} << 64) - 1, 63}), 1);
  EXPECT_EQ(integer_of(right, DType::u64, {(Integer{1} << 64) - 1, 200}), 0);
}

TEST(Comparisons, OfRealsWithNanAndOfWideIntegers) {
  struct Row {
    const char* kind;
    bool less, equal, greater, unordered;
  };
  const Integer two53 = Integer{1} << 53;
  for (const Row& row : {Row{"Equal", false, true, false, false}, Row{"Greater", false, false, true, false},
                         Row{"GreaterOrEqual", false, true, true, false}, Row{"Less", true, false, false, false},
                         Row{"LessOrEqual", true, true, false, false}}) {
    EXPECT_EQ(real_of(onnx(row.kind), {1, 2}, DType::f32, DType::boolean), row.less) << row.kind;
    EXPECT_EQ(real_of(onnx(row.kind), {0.0, -0.0}, DType::f32, DType::boolean), row.equal) << row.kind;
    EXPECT_EQ(real_of(onnx(row.kind), {2, 1}, DType::f32, DType::boolean), row.greater) << row.kind;
    EXPECT_EQ(real_of(onnx(row.kind), {kNan, kNan}, DType::f32, DType::boolean), row.unordered) << row.kind;
    EXPECT_EQ(integer_of(onnx(row.kind), DType::s64, {two53, two53 + 1}, DType::boolean), row.less) << row.kind;
  }
}

TEST(Logic, TruthTables) {
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      EXPECT_EQ(integer_of(onnx("And"), DType::boolean, {a, b}), a & b);
      EXPECT_EQ(integer_of(onnx("Or"), DType::boolean, {a, b}), a | b);
      EXPECT_EQ(integer_of(onnx("Xor"), DType::boolean, {a, b}), a ^ b);
      EXPECT_EQ(integer_of(onnx("Not"), DType::boolean, {a}), 1 - a);
    }
  EXPECT_EQ(real_of(onnx("IsNaN"), {kNan}, DType::bf16, DType::boolean), 1);
  EXPECT_EQ(real_of(onnx("IsNaN"), {kInf}, DType::bf16, DType::boolean), 0);
  const Op no_negative = onnx("IsInf", {{"detect_negative", std::int64_t{0}}});
  EXPECT_EQ(real_of(onnx("IsInf"), {-kInf}, DType::f32, DType::boolean), 1);
  EXPECT_EQ(real_of(no_negative, {-kInf}, DType::f32, DType::boolean), 0);
  EXPECT_EQ(real_of(no_negative, {kInf}, DType::f32, DType::boolean), 1);
}

TEST(Clip, BoundsMayBeLeftOut) {
  const Tensor x(DType::s32, {4}, {-9, -1, 3, 9}), low(DType::s32, {}, {-2}), high(DType::s32, {}, {4});
  const ConstTensor missing;
  const auto clip = [&](std::vector<ConstTensor> inputs) {
    return result_of(onnx("Clip"), inputs, DType::s32, {4}).values();
  };
  EXPECT_TRUE(same_values(clip({x.in(), low.in(), high.in()}), {-2, -1, 3, 4}));
  EXPECT_TRUE(same_values(clip({x.in(), missing, high.in()}), {-9, -1, 3, 4}));
  EXPECT_TRUE(same_values(clip({x.in(), low.in(), missing}), {-2, -1, 3, 9}));
  EXPECT_TRUE(same_values(clip({x.in(), low.in()}), {-2, -1, 3, 9}));
  EXPECT_TRUE(same_values(clip({x.in()}), {-9, -1, 3, 9}));
  EXPECT_TRUE(same_values(clip({x.in(), high.in(), low.in()}), {-2, -2, -2, -2})) << "the maximum wins";
  Tensor out(DType::s32, {4});
  EXPECT_EQ(run_op(onnx("Clip"), {missing, low.in()}, out).code(), Code::unsupported_dtype);
  EXPECT_EQ(run_op(onnx("Add"), {x.in(), missing}, out).code(), Code::unsupported_dtype);
  EXPECT_TRUE(std::isnan(real_of(onnx("Clip"), {kNan, 0, 1}, DType::f32)));
  EXPECT_EQ(real_of(onnx("Clip", {{"max", 2.0}}), {5}, DType::f32), 2);
  EXPECT_EQ(real_of(onnx("Clip", {{"max", 2.0}}), {-kInf}, DType::f32), -kInf);
}

TEST(Clip, ClampsEveryDtype) {
  const Op clamp = make_op(Dialect::onednn, "Clamp", {{"min", 1.0}, {"max", 100.75}});
  for (const DType dtype : kIntegers) {
    EXPECT_EQ(integer_of(clamp, dtype, {0}), 1);
    EXPECT_EQ(integer_of(clamp, dtype, {127}), 100) << "the bound truncates";
  }
  const Op wide = map_of("clamp", {{"min", -1e30}, {"max", 1e30}});
  EXPECT_EQ(integer_of(wide, DType::s64, {std::numeric_limits<std::int64_t>::max()}),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer_of(wide, DType::u8, {0}), 0);
}

TEST(OnnxMap, DefaultsOfItsAttributes) {
  EXPECT_EQ(real_of(onnx("LeakyRelu"), {-2}), -2 * static_cast<double>(0.01F));
  EXPECT_DOUBLE_EQ(real_of(onnx("Elu"), {-1}), std::expm1(-1.0));
  EXPECT_DOUBLE_EQ(real_of(onnx("Selu"), {-1}), 1.0507009873554805 * 1.6732632423543772 * std::expm1(-1.0) *
                                                    (1.05070102214813232421875 / 1.0507009873554805) *
                                                    (1.67326319217681884765625 / 1.6732632423543772));
  EXPECT_DOUBLE_EQ(real_of(onnx("Celu", {{"alpha", 2.0}}), {-1}), 2 * std::expm1(-0.5));
  EXPECT_DOUBLE_EQ(real_of(onnx("Swish"), {1}), 1 / (1 + std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(real_of(onnx("Swish", {{"alpha", 0.5}}), {-3}), -3 / (1 + std::exp(1.5)));
  EXPECT_DOUBLE_EQ(real_of(onnx("HardSigmoid"), {1}), static_cast<double>(0.2F) + 0.5);
  EXPECT_EQ(real_of(onnx("ThresholdedRelu"), {1}), 0);
  EXPECT_EQ(real_of(onnx("ThresholdedRelu"), {1.5}), 1.5);
  EXPECT_DOUBLE_EQ(real_of(onnx("Gelu"), {1}), 0.84134474606854293);
  EXPECT_DOUBLE_EQ(real_of(onnx("Gelu", {{"approximate", std::string("tanh")}}), {1}), 0.84119199060827670);
  EXPECT_FALSE(can_evaluate(onnx("Gelu", {{"approximate", std::string("fast")}})));
}

TEST(OnnxMap, FunctionsOfOneArgument) {
  struct Row {
    const char* kind;
    double x, expected;
  };
  const double pi = 3.14159265358979323846;
  for (const Row& row : {Row{"Neg", 2, -2},
                         Row{"Floor", -1.5, -2},
                         Row{"Ceil", -1.5, -1},
                         Row{"Round", 2.5, 2},
                         Row{"Sqrt", 9, 3},
                         Row{"Exp", 0, 1},
                         Row{"Log", 1, 0},
                         Row{"Erf", 1, 0.84270079294971487},
                         Row{"Sigmoid", 0, 0.5},
                         Row{"Tanh", 0, 0},
                         Row{"Relu", -1, 0},
                         Row{"HardSwish", 1, 2.0 / 3},
                         Row{"Softplus", 0, 0.69314718055994531},
                         Row{"Softsign", -3, -0.75},
                         Row{"Mish", 1, 0.86509838826731034},
                         Row{"Sign", -7, -1},
                         Row{"Sin", pi / 6, 0.5},
                         Row{"Cos", pi / 3, 0.5},
                         Row{"Tan", pi / 4, 1},
                         Row{"Asin", 1, pi / 2},
                         Row{"Acos", 0, pi / 2},
                         Row{"Atan", 1, pi / 4},
                         Row{"Sinh", 1, 1.1752011936438014},
                         Row{"Cosh", 1, 1.5430806348152437},
                         Row{"Asinh", 1, 0.88137358701954305},
                         Row{"Acosh", 2, 1.3169578969248166},
                         Row{"Atanh", 0.5, 0.54930614433405489},
                         Row{"Reciprocal", 4, 0.25},
                         Row{"Abs", -3, 3},
                         Row{"Identity", 5, 5}})
    EXPECT_DOUBLE_EQ(real_of(onnx(row.kind), {row.x}), row.expected) << row.kind;
  EXPECT_TRUE(std::isnan(real_of(onnx("Sign"), {kNan})));
  EXPECT_TRUE(same(real_of(onnx("Mod"), {-5, 3}), 1));
  EXPECT_TRUE(same(real_of(onnx("Mod", {{"fmod", true}}), {-5, 3}), -2));
  EXPECT_TRUE(same(real_of(onnx("Mod"), {5, -3}), -1));
}

TEST(OnnxMap, WhereBroadcastsThreeWays) {
  const Tensor condition(DType::boolean, {2, 1, 1}, {1, 0}), x(DType::s64, {2, 1}, {1, 2}), y(DType::s64, {2}, {7, 8});
  const Tensor out = result_of(onnx("Where"), {condition.in(), x.in(), y.in()}, DType::s64, {2, 2, 2});
  EXPECT_TRUE(same_values(out.values(), {1, 1, 2, 2, 7, 8, 7, 8}));
}

TEST(OnnxCast, AnyToAny) {
  std::vector<DType> all(std::begin(kFloating), std::end(kFloating));
  all.insert(all.end(), std::begin(kIntegers), std::end(kIntegers));
  all.push_back(DType::boolean);
  for (const DType from : all)
    for (const DType to : all) {
      const Tensor x(from, {2}, {1, 0});
      EXPECT_TRUE(same_values(result_of(onnx("Cast"), {x.in()}, to, {2}).values(), {1, 0}));
      const Tensor like(to, {1});
      EXPECT_TRUE(same_values(result_of(onnx("CastLike"), {x.in(), like.in()}, to, {2}).values(), {1, 0}));
    }
  const Tensor reals(DType::f64, {6}, {-1.9, 1.9, 300, -300, kNan, kInf});
  EXPECT_TRUE(same_values(result_of(onnx("Cast"), {reals.in()}, DType::s8, {6}).values(), {-1, 1, 127, -128, 0, 127}));
  EXPECT_TRUE(same_values(result_of(onnx("Cast"), {reals.in()}, DType::u8, {6}).values(), {0, 1, 255, 0, 0, 255}));
  EXPECT_TRUE(same_values(result_of(onnx("Cast"), {reals.in()}, DType::boolean, {6}).values(), {1, 1, 1, 1, 1, 1}));
  const Tensor fine(DType::f64, {1}, {1 + 0x1p-8 + 0x1p-40});
  EXPECT_EQ(result_of(onnx("Cast"), {fine.in()}, DType::bf16, {1}).at(0), 1 + 0x1p-7) << "rounds once";
}

}  // namespace
}  // namespace tenfold::graph

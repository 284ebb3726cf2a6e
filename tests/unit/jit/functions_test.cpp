// SPDX-License-Identifier: Apache-2.0
//
// Every function of kernels, on every dtype that has it, against the reference evaluator: special values (each with
// each for two arguments), and random bits. The interpreter of lane programs stands for the machine.
#include "jit/function/functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>

#include "function_cases.hpp"
#include "graph/eval/element.hpp"
#include "graph/eval/eval.hpp"
#include "lane_elements.hpp"

namespace tenfold::jit {
namespace {

DType result_dtype(const FunctionCase& c, DType dtype) {
  return kernel::row(c.function).gives == kernel::Gives::boolean ? DType::boolean : dtype;
}

graph::Op reference_op(const FunctionCase& c) {
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = takes_condition(c) ? "select" : "map";
  std::string name(kernel::row(c.function).name);
  const auto set = [&](const char* key, auto value) { op.attributes.push_back({key, value}); };
  switch (c.function) {
    case Function::is_infinite: name = "isinf"; break;
    case Function::is_negative_infinity: name = "isinf", set("detect_positive", false); break;
    case Function::is_positive_infinity: name = "isinf", set("detect_negative", false); break;
    case Function::logical_not: name = "not"; break;
    case Function::logical_and: name = "and"; break;
    case Function::logical_or: name = "or"; break;
    case Function::logical_xor: name = "xor"; break;
    case Function::remainder: name = "mod", set("fmod", true); break;
    case Function::shift_left: name = "bit_shift", set("direction", std::string("LEFT")); break;
    case Function::shift_right: name = "bit_shift", set("direction", std::string("RIGHT")); break;
    case Function::clamp: set("min", c.constants[0]), set("max", c.constants[1]); break;
    case Function::hardsigmoid: set("alpha", c.constants[0]), set("beta", c.constants[1]); break;
    case Function::selu: set("alpha", c.constants[0]), set("gamma", c.constants[1]); break;
    case Function::softplus: set("beta", c.constants[0]); break;
    case Function::max:
    case Function::min: break;
    default:
      if (!c.constants.empty()) set(c.function == Function::pow ? "beta" : "alpha", c.constants[0]);
  }
  set("function", name);
  return op;
}

/// In double for real results, so that an error shows in fractions of a unit.
Elements reference(const FunctionCase& c, std::vector<Elements> inputs, DType out) {
  if (c.function == Function::max || c.function == Function::min) {
    for (const double value : c.constants) {
      inputs.emplace_back(inputs[0].dtype, inputs[0].size());
      for (std::size_t i = 0; i < inputs[0].size(); ++i)
        graph::store_rounded(inputs[0].dtype, inputs.back().bytes.data(), static_cast<std::int64_t>(i), value);
    }
  }
  Elements result(is_floating(out) ? DType::f64 : out, inputs[0].size());
  std::vector<graph::ConstTensor> tensors;
  for (const Elements& input : inputs) tensors.push_back({input.desc(), input.bytes.data()});
  const graph::MutableTensor outputs[] = {{result.desc(), result.bytes.data()}};
  const Status status = graph::evaluate_op(reference_op(c), tensors, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

struct Worst {
  double ulps = 0;
  std::size_t at = 0;
  std::string failure;
};

/// How far `got` is from `exact`, in ulps of the lanes' type beyond the half ulp of a 16-bit dtype.
/// `floor`: the result of a sum that may cancel is judged by this one.
void judge(DType dtype, double bound, double floor, double exact, const Elements& got, std::size_t i, Worst& worst) {
  const double value = static_cast<double>(got.real(i));
  const auto fail = [&](const char* why) {
    if (worst.failure.empty()) worst = {worst.ulps, i, why};
  };
  if (std::isnan(exact) || std::isnan(value)) {
    if (std::isnan(exact) != std::isnan(value)) fail("NaN");
    return;
  }
  const double expected = static_cast<double>(graph::round_to(dtype, exact));
  if (std::signbit(expected) != std::signbit(value)) return fail("sign");
  if (expected == value && (bound == 0 || !std::isfinite(value))) return;
  if (bound == 0) return fail("not the reference's bits");
  const DType lanes = lane_type(dtype) == LaneType::f32 ? DType::f32 : DType::f64;
  const double greatest = static_cast<double>(graph::largest_finite(dtype));
  const auto clipped = [&](double x) {
    return std::isinf(x) || std::fabs(x) > greatest ? std::copysign(greatest, x) : x;
  };
  const double unit = graph::ulp(lanes, std::max(floor, std::fabs(clipped(exact))));
  double off = std::fabs(clipped(value) - clipped(exact));
  if (dtype != lanes) off = std::max(0.0, off - graph::ulp(dtype, clipped(exact)) / 2);
  if (off / unit > worst.ulps) worst.ulps = off / unit, worst.at = worst.failure.empty() ? i : worst.at;
  // f64: the reference's own error. Below the normal range, a tie's half.
  const double slack =
      dtype == DType::f64 ? 1 : 0.5 * (std::fabs(exact) < static_cast<double>(std::numeric_limits<float>::min()));
  if (off > (bound + slack) * unit) fail("too far off");
}

std::string describe(const FunctionCase& c, DType dtype) {
  std::string text = std::string(kernel::row(c.function).name) + ' ' + std::string(to_string(dtype));
  for (const double value : c.constants) text += ' ' + std::to_string(value);
  return text;
}

Worst compare(const FunctionCase& c, DType dtype, const std::vector<Elements>& inputs) {
  const DType out = result_dtype(c, dtype);
  Elements got(out, inputs[0].size());
  run_program(program_of(c, dtype), inputs, got);
  const Elements expected = reference(c, inputs, out);
  Worst worst;
  const double floor = c.function == Function::hardsigmoid ? c.constants[1] : 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (is_floating(out))
      judge(out, bound_of(c.function, out), floor, static_cast<double>(expected.real(i)), got, i, worst);
    else if (got.bits(i) != expected.bits(i) && worst.failure.empty())
      worst = {0, i, "integer"};
  }
  if (!worst.failure.empty()) {
    std::string arguments;
    char buffer[128];
    for (const Elements& input : inputs) {
      std::snprintf(buffer, sizeof buffer, " %.17Lg (%#llx)", input.real(worst.at),
                    static_cast<unsigned long long>(input.bits(worst.at)));
      arguments += buffer;
    }
    std::snprintf(buffer, sizeof buffer, " gives %.17Lg, expected %.17Lg; ", got.real(worst.at),
                  expected.real(worst.at));
    ADD_FAILURE() << describe(c, dtype) << ": " << worst.failure << ":" << arguments << buffer << worst.ulps << " ulp";
  }
  return worst;
}

std::vector<Elements> special_inputs(const FunctionCase& c, DType dtype) {
  const std::vector<std::uint64_t> bits = special_bits(dtype);
  std::size_t count = 1;
  for (int i = 0; i < std::min(c.tensors, 2); ++i) count *= bits.size();
  std::vector<Elements> inputs;
  for (int k = 0; k < c.tensors; ++k) {
    Elements& input = inputs.emplace_back(k == 0 && takes_condition(c) ? DType::boolean : dtype, count);
    for (std::size_t i = 0; i < count; ++i) input.set_bits(i, bits[(k == 1 ? i / bits.size() : i) % bits.size()]);
  }
  return inputs;
}

std::vector<Elements> random_inputs(const FunctionCase& c, DType dtype, std::mt19937_64& random) {
  const bool all = row(dtype).bits <= 16 && c.tensors == 1;
  const std::size_t count = all ? 65536 : random_count();
  std::vector<Elements> inputs;
  for (int k = 0; k < c.tensors; ++k) {
    Elements& input = inputs.emplace_back(k == 0 && takes_condition(c) ? DType::boolean : dtype, count);
    for (std::size_t i = 0; i < count; ++i) input.set_bits(i, all ? i : random_bits(dtype, random));
  }
  return inputs;
}

TEST(Functions, EqualTheReference) {
  std::mt19937_64 random(printed_seed());
  for (const FunctionCase& c : all_cases()) {
    for (const DType dtype : kDTypesToTest) {
      if (!takes(c, dtype)) continue;
      const Worst special = compare(c, dtype, special_inputs(c, dtype));
      const Worst any = compare(c, dtype, random_inputs(c, dtype, random));
      const bool has_units = bound_of(c.function, dtype) > 0 && is_floating(dtype);
      if (std::getenv("TENFOLD_TEST_VERBOSE") != nullptr && has_units)
        std::printf("%s: %.3f ulp\n", describe(c, dtype).c_str(), std::max(special.ulps, any.ulps));
    }
  }
}

/// The reference states of no other function that it may be off by more in 16 bits.
TEST(Functions, AreBriefWhereTheReferenceSaysSo) {
  int brief = 0;
  for (const kernel::FunctionRow& row : kernel::kFunctions) {
    const graph::FunctionRow* const stated = graph::find_function(row.name);
    const bool is_brief = brief_function(row.function) != nullptr;
    EXPECT_EQ(stated != nullptr && stated->is_brief, is_brief) << row.name;
    brief += is_brief ? 1 : 0;
  }
  EXPECT_EQ(brief, 4);
}

/// The function in lanes of the width of `dtype`; nothing where these lack an operation of it.
std::optional<LaneProgram> narrow_program_of(const FunctionCase& c, DType dtype) {
  const LaneType type = byte_size(dtype) == 1 ? LaneType::i8 : LaneType::i16;
  LaneProgram program = program_of(c, dtype, type);
  const bool all = std::ranges::all_of(
      program.nodes, [type](const LaneNode& node) { return node.type == type && has_operation(node.op, type); });
  return all ? std::optional(std::move(program)) : std::nullopt;
}

/// Also of booleans that are neither 0 nor 1, for which any lane but 0 is true.
TEST(Functions, EqualTheReferenceInNarrowLanes) {
  std::mt19937_64 random(printed_seed());
  std::vector<Function> narrow;
  for (const FunctionCase& c : all_cases())
    for (const DType dtype : {DType::s8, DType::u8, DType::s16, DType::u16, DType::boolean}) {
      const bool widths_differ = takes_condition(c) || kernel::row(c.function).gives == kernel::Gives::boolean;
      if (!takes(c, dtype) || (widths_differ && byte_size(dtype) != 1)) continue;
      const std::optional<LaneProgram> program = narrow_program_of(c, dtype);
      if (!program) continue;
      if (dtype == DType::u8) narrow.push_back(c.function);
      for (const bool special : {true, false}) {
        std::vector<Elements> inputs = special ? special_inputs(c, dtype) : random_inputs(c, dtype, random);
        if (!special && takes_condition(c))
          for (std::byte& truth : inputs[0].bytes) truth = static_cast<std::byte>(random());
        const DType out = result_dtype(c, dtype);
        Elements got(out, inputs[0].size());
        std::vector<const void*> from;
        for (const Elements& input : inputs) from.push_back(input.bytes.data());
        void* const results[] = {got.bytes.data()};
        interpret(*program, got.size(), from, results);
        const Elements expected = reference(c, inputs, out);
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got.bits(i), expected.bits(i)) << describe(c, dtype) << " of " << inputs[0].bits(i);
      }
    }
  for (const Function function : {Function::add, Function::mul, Function::less, Function::select, Function::max,
                                  Function::logical_and, Function::bitwise_not, Function::clamp, Function::square})
    EXPECT_NE(std::ranges::find(narrow, function), narrow.end()) << kernel::row(function).name;
}

/// All bits of each format.
TEST(Functions, OfBitsEqualTheReference) {
  for (const FunctionCase& c : all_cases())
    for (const DType dtype : {DType::bf16, DType::f16}) {
      if (!kernel::is_of_bits(c.function)) continue;
      LaneBuilder builder;
      const Lane x = canonical_nan_of_bits(dtype, builder.input(0, LaneType::i16));
      builder.result(function_of_bits(c.function, dtype, x));
      std::mt19937_64 unused;
      const std::vector<Elements> inputs = random_inputs(c, dtype, unused);
      Elements got(dtype, inputs[0].size());
      const void* const from[] = {inputs[0].bytes.data()};
      void* const to[] = {got.bytes.data()};
      interpret(builder.finish(), got.size(), from, to);
      const Elements exact = reference(c, inputs, dtype);
      Elements expected(dtype, 1);
      for (std::size_t i = 0; i < got.size(); ++i) {
        graph::store_rounded(dtype, expected.bytes.data(), 0, exact.real(i));
        ASSERT_EQ(got.bits(i), expected.bits(0)) << describe(c, dtype) << " of " << inputs[0].bits(i);
      }
    }
}

/// In units of the last place of `exact`.
double units_off(double got, double exact) { return std::fabs(got - exact) / graph::ulp(DType::f64, std::fabs(exact)); }

double value_of(Function function, const std::vector<double>& arguments) {
  std::vector<Elements> inputs;
  for (const double argument : arguments) {
    inputs.emplace_back(DType::f64, 1);
    inputs.back().set_bits(0, std::bit_cast<std::uint64_t>(argument));
  }
  Elements result(DType::f64, 1);
  run_program(program_of({function, static_cast<int>(arguments.size()), {}}, DType::f64), inputs, result);
  return std::bit_cast<double>(result.bits(0));
}

TEST(Functions, NegationsOfNegationsAreNone) {
  for (const LaneType type : {LaneType::f32, LaneType::f64}) {
    LaneBuilder builder;
    const Lane x = builder.input(0, type), once = negate(x);
    EXPECT_NE(once.node, x.node);
    EXPECT_EQ(negate(once).node, x.node);
    EXPECT_EQ(negate(negate(once)).node, once.node);
    EXPECT_NE(negate(once ^ builder.bits(type, 1)).node, once.node) << "another constant is no sign";
  }
}

TEST(Functions, ReduceTheHardestAngles) {
  // From a computation with 2000 bits. The first is the f64 closest to a multiple of pi / 2; the C library that the
  // reference takes is off by 8 units there.
  constexpr double kAngles[][4] = {
      {0x1.6ac5b262ca1ffp+849, 1, -0x1.14ae72e6ba22fp-61, -0x1.d9ba9a7975636p+60},
      {0x1.0000000000001p+1000, -0x1.7d0477bf8f1b9p-1, -0x1.5602223b9ee2ap-1, 0x1.1d32f7ecdc804p+0},
      {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1, -0x1.4530cfe729484p-8},
      {0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1, -0x1.a0f79c1b6b257p+0}};
  for (const auto& [angle, sine, cosine, tangent] : kAngles)
    for (const double sign : {1.0, -1.0}) {
      EXPECT_LE(units_off(value_of(Function::sin, {sign * angle}), sign * sine), 1) << angle;
      EXPECT_LE(units_off(value_of(Function::cos, {sign * angle}), cosine), 1) << angle;
      EXPECT_LE(units_off(value_of(Function::tan, {sign * angle}), sign * tangent), 2) << angle;
    }
}

TEST(Functions, GiveHardPowersToTheLastPlaceButOne) {
  constexpr double kPowers[][3] = {
      {0x1.0000000000001p+0, 0x1.bc16d674ec800p+59, 0x1.44a12826f5073p+320},
      {0x1.fffffffffffffp-1, 0x1.68d28e3f00280p+62, 0x0.00001d939ead4p-1022},
      {0x1.8000000000000p+1, -0x1.52c0000000000p+9, 0x0.0000000000001p-1022},
      {0x1.56e1fc2f8f359p-997, 0x1.0cccccccccccdp+0, 0x0.000000c1069cdp-1022},
      {0x0.0000000000001p-1022, 0x1.5555555555555p-2, 0x1.000000000003ep-358},
      {0x1.6a09e667f3bcep-1, 0x1.fec0000000000p+10, 0x1.6a09e667f4741p-1022},
  };
  for (const auto& [x, y, exact] : kPowers) EXPECT_LE(units_off(value_of(Function::pow, {x, y}), exact), 1) << x;
}

}  // namespace
}  // namespace tenfold::jit

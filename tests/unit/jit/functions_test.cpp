// SPDX-License-Identifier: Apache-2.0
//
// Every function of kernels, on every dtype that has it, against the reference evaluator: special values (each with
// each for two arguments), and random bits. The interpreter of lane programs stands for the machine.
#include "jit/functions.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "function_cases.hpp"
#include "graph/eval/element.hpp"
#include "graph/eval/eval.hpp"
#include "lane_interpreter.hpp"

namespace tenfold::jit {
namespace {

constexpr DType kDTypesToTest[] = {DType::f32, DType::f64, DType::bf16,   DType::f16, DType::s8,
                                   DType::u8,  DType::s16, DType::u16,    DType::s32, DType::u32,
                                   DType::s64, DType::u64, DType::boolean};

/// Elements of a dtype, one after the other.
struct Elements {
  DType dtype;
  std::vector<std::byte> bytes;
  Elements(DType d, std::size_t count) : dtype(d), bytes(count * static_cast<std::size_t>(byte_size(d))) {}
  std::size_t size() const { return bytes.size() / static_cast<std::size_t>(byte_size(dtype)); }
  TensorDesc desc() const { return {dtype, {static_cast<std::int64_t>(size())}, {}}; }
  void set_bits(std::size_t i, std::uint64_t bits) {
    if (dtype == DType::boolean) bits &= 1;
    std::memcpy(bytes.data() + i * static_cast<std::size_t>(byte_size(dtype)), &bits,
                static_cast<std::size_t>(byte_size(dtype)));
  }
  std::uint64_t bits(std::size_t i) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * static_cast<std::size_t>(byte_size(dtype)),
                static_cast<std::size_t>(byte_size(dtype)));
    return value;
  }
  graph::Real real(std::size_t i) const { return graph::load_exact(dtype, bytes.data(), static_cast<std::int64_t>(i)); }
};

/// As a vector layer loads and stores them.
std::vector<std::byte> load_lanes(const Elements& from) {
  const LaneType type = lane_type(from.dtype);
  std::vector<std::byte> lanes(from.size() * static_cast<std::size_t>(lane_bytes(type)));
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::uint64_t bits = from.bits(i);
    const int width = row(from.dtype).bits;
    if (from.dtype == DType::bf16 || from.dtype == DType::f16)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(from.real(i)));
    else if (row(from.dtype).kind == DTypeKind::signed_integer)
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width));
    const auto bytes = static_cast<std::size_t>(lane_bytes(type));
    std::memcpy(lanes.data() + i * bytes, &bits, bytes);
  }
  return lanes;
}

void store_lanes(Elements& to, const std::vector<std::byte>& lanes) {
  const auto bytes = static_cast<std::size_t>(lane_bytes(lane_type(to.dtype)));
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, lanes.data() + i * bytes, bytes);
    const auto index = static_cast<std::int64_t>(i);
    if (lane_type(to.dtype) == LaneType::f32)
      graph::store_rounded(to.dtype, to.bytes.data(), index, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    else if (to.dtype == DType::f64)
      graph::store_rounded(to.dtype, to.bytes.data(), index, std::bit_cast<double>(bits));
    else
      std::memcpy(to.bytes.data() + i * static_cast<std::size_t>(byte_size(to.dtype)), &bits,
                  static_cast<std::size_t>(byte_size(to.dtype)));
  }
}

void run_program(const LaneProgram& program, const std::vector<Elements>& inputs, Elements& output) {
  std::vector<std::vector<std::byte>> lanes;
  for (const Elements& input : inputs) lanes.push_back(load_lanes(input));
  std::vector<const void*> pointers;
  for (const std::vector<std::byte>& input : lanes) pointers.push_back(input.data());
  std::vector<std::byte> out(output.size() * static_cast<std::size_t>(lane_bytes(lane_type(output.dtype))));
  void* const results[] = {out.data()};
  interpret(program, output.size(), pointers, results);
  store_lanes(output, out);
}

DType result_dtype(const FunctionCase& c, DType dtype) {
  return kernel::row(c.function).gives == kernel::Gives::boolean ? DType::boolean : dtype;
}

bool takes_condition(const FunctionCase& c) { return c.function == Function::select; }

LaneProgram program_of(const FunctionCase& c, DType dtype) {
  LaneBuilder builder;
  std::vector<Lane> args;
  for (int i = 0; i < c.tensors; ++i)
    args.push_back(builder.input(i, i == 0 && takes_condition(c) ? LaneType::i32 : lane_type(dtype)));
  for (const double value : c.constants) {
    const auto as_integer = [&] { return static_cast<std::uint64_t>(graph::to_integer(dtype, value)); };
    args.push_back(is_floating(dtype) ? builder.constant(lane_type(dtype), value)
                                      : builder.bits(lane_type(dtype), as_integer()));
  }
  builder.result(apply_function(c.function, dtype, args));
  return builder.finish();
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
      judge(out, bound_of(c.function, out != DType::f64), floor, static_cast<double>(expected.real(i)), got, i, worst);
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

std::vector<std::uint64_t> special_bits(DType dtype) {
  std::vector<std::uint64_t> bits;
  const int width = row(dtype).bits;
  if (!is_floating(dtype)) {
    for (int shift = 0; shift < width; ++shift)
      for (const std::int64_t delta : {-1, 0, 1}) bits.push_back((1ULL << shift) + static_cast<std::uint64_t>(delta));
    for (std::uint64_t i = 0; i < 9; ++i) bits.push_back(i), bits.push_back(~i), bits.push_back((~0ULL >> 1) - i);
    return bits;
  }
  Elements one(dtype, 1);
  const auto add = [&](long double value) {
    for (const long double sign : {1.0L, -1.0L}) {
      graph::store_rounded(dtype, one.bytes.data(), 0, sign * value);
      const std::uint64_t at = one.bits(0);
      for (const std::uint64_t near : {at, at + 1, at - 1}) bits.push_back(near);
    }
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {0.0,
                         infinity,
                         0.5,
                         1.0,
                         1.5,
                         2.0,
                         2.5,
                         3.0,
                         4.0,
                         6.0,
                         7.0,
                         0.25,
                         0.1,
                         1e-3,
                         1e-10,
                         1e10,
                         10.0,
                         1.5707963267948966,
                         3.1415926535897931,
                         0.70710678118654752,
                         1.4142135623730951,
                         9.0,
                         17.0,
                         19.0,
                         13.5,
                         14.5,
                         87.5,
                         88.72,
                         103.9,
                         104.0,
                         709.78,
                         745.1,
                         2147483648.0,
                         4294967296.0,
                         8388607.5,
                         0x1p-126,
                         0x1p-149,
                         0x1p-140,
                         0x1p-1022,
                         0x1p-1060,
                         0x1p-24,
                         0x1p-25,
                         0x1p-14,
                         1e30,
                         1e300,
                         0x1p63,
                         0x1p64,
                         127.5,
                         128.5,
                         255.5,
                         32767.5,
                         65535.5,
                         0x1p53,
                         0x1p52})
    add(x);
  add(graph::largest_finite(dtype));
  const std::uint64_t exponent = row(dtype).bits == 64 ? 0x7ff0000000000000U
                                 : dtype == DType::f32 ? 0x7f800000U
                                 : dtype == DType::f16 ? 0x7c00U
                                                       : 0x7f80U;
  for (const std::uint64_t nan :
       {exponent + 1, exponent | exponent >> 1, exponent | std::uint64_t{1} << (width - 1) | 5})
    bits.push_back(nan);
  return bits;
}

/// Random bits, half of the reals with moderate exponents.
std::uint64_t random_bits(DType dtype, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if (!is_floating(dtype) || bits % 2 == 0) {
    if (!is_floating(dtype) && bits % 4 == 1) return random() % 16 - 8;
    return random();
  }
  Elements one(dtype, 1);
  const double magnitude =
      std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 17) - 9);
  graph::store_rounded(dtype, one.bytes.data(), 0, bits % 4 == 1 ? magnitude : -magnitude);
  return one.bits(0);
}

std::size_t random_count() {
  const char* const text = std::getenv("TENFOLD_TEST_CASES");
  return text != nullptr ? static_cast<std::size_t>(std::atol(text)) : 50000;
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
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (const FunctionCase& c : all_cases()) {
    for (const DType dtype : kDTypesToTest) {
      if (!has_function(c.function, dtype)) continue;
      const Worst special = compare(c, dtype, special_inputs(c, dtype));
      const Worst any = compare(c, dtype, random_inputs(c, dtype, random));
      if (std::getenv("TENFOLD_TEST_VERBOSE") != nullptr && (dtype == DType::f32 || dtype == DType::f64))
        std::printf("%s: %.3f ulp\n", describe(c, dtype).c_str(), std::max(special.ulps, any.ulps));
    }
  }
}

}  // namespace
}  // namespace tenfold::jit

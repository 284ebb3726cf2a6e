// SPDX-License-Identifier: Apache-2.0
//
// All reductions in all dtypes, and ONNX's ways of naming axes: wraps, truncations, empty sets, logarithms.
#include <gtest/gtest.h>

#include <limits>

#include "numeric_types.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kTwo53 = std::int64_t{1} << 53;

double reduced(const char* reduction, DType dtype, const std::vector<double>& x) {
  const Tensor in(dtype, {static_cast<std::int64_t>(x.size())}, x);
  return result_of(make_reduce(reduction, {0}), {in.in()}, dtype, {}).at(0);
}

std::int64_t reduced_exactly(const char* reduction, DType dtype, const std::vector<Integer>& x) {
  const Tensor in = exact(dtype, {static_cast<std::int64_t>(x.size())}, x);
  return exact_at(result_of(make_reduce(reduction, {0}), {in.in()}, dtype, {}), 0);
}

TEST(ReduceDtypes, EveryReductionInEveryDtype) {
  const std::pair<const char*, double> rows[] = {{"l1", 10},        {"l2", 5},   {"max", 4},  {"mean", 2},
                                                 {"min", 0},        {"prod", 0}, {"sum", 10}, {"log_sum", std::log(10)},
                                                 {"sum_square", 28}};
  for (const auto& [reduction, expected] : rows) {
    for (const DType dtype : kFloating) {
      const std::vector<double> x = {1, 4, 3, 2, 0};
      double value = expected;
      if (std::string(reduction) == "l2") value = std::sqrt(30.0);
      if (std::string(reduction) == "sum_square") value = 30;
      EXPECT_EQ(reduced(reduction, dtype, x), static_cast<double>(round_to(dtype, static_cast<Real>(value))))
          << reduction << " " << to_string(dtype);
    }
  }
  const std::pair<const char*, std::int64_t> integers[] = {
      {"l1", 10},  {"l2", 5},   {"max", 4},     {"mean", 2},        {"min", 0},
      {"prod", 0}, {"sum", 10}, {"log_sum", 2}, {"sum_square", 30}, {"log_sum_exp", 4}};
  for (const auto& [reduction, expected] : integers)
    for (const DType dtype : kIntegers)
      EXPECT_EQ(reduced_exactly(reduction, dtype, {1, 4, 3, 2, 0}), expected) << reduction << " " << to_string(dtype);
}

TEST(ReduceDtypes, IntegersWrapAtTheirWidth) {
  for (const DType dtype : kIntegers) {
    const Integer most = highest_integer(dtype), least = lowest_integer(dtype);
    EXPECT_EQ(reduced_exactly("sum", dtype, {most, 1}), static_cast<std::int64_t>(least)) << to_string(dtype);
    EXPECT_EQ(reduced_exactly("prod", dtype, {most, 2}), static_cast<std::int64_t>(wrapped(dtype, most * 2)));
    EXPECT_EQ(reduced_exactly("l1", dtype, {least}), static_cast<std::int64_t>(least)) << "its magnitude wraps";
    EXPECT_EQ(reduced_exactly("sum_square", dtype, {most}), 1) << "(2^n - 1)^2 and (2^(n-1) - 1)^2 end in 1";
    EXPECT_EQ(reduced_exactly("mean", dtype, {most, most}), least < 0 ? -1 : static_cast<std::int64_t>((most - 1) / 2));
  }
  EXPECT_EQ(reduced_exactly("sum", DType::s8, {100, 100, 100}), 44);
  EXPECT_EQ(reduced_exactly("mean", DType::s32, {-5, 2}), -1) << "truncated toward zero";
  EXPECT_EQ(reduced_exactly("mean", DType::u32, {4000000000, 4000000000}), 1852516352);
}

TEST(ReduceDtypes, NothingPassesThroughFloatingPoint) {
  EXPECT_EQ(reduced_exactly("max", DType::s64, {kTwo53, kTwo53 + 1, kTwo53 - 1}), kTwo53 + 1);
  EXPECT_EQ(reduced_exactly("min", DType::s64, {-kTwo53, -kTwo53 - 1}), -kTwo53 - 1);
  EXPECT_EQ(reduced_exactly("sum", DType::s64, {kTwo53, 1, 2}), kTwo53 + 3);
  EXPECT_EQ(reduced_exactly("prod", DType::u64, {kTwo53 + 1, 3}), 3 * kTwo53 + 3);
  EXPECT_EQ(reduced_exactly("mean", DType::s64, {kTwo53 + 1, kTwo53 + 3}), kTwo53 + 2);
  const Integer top = (Integer{1} << 64) - 1;
  EXPECT_EQ(reduced_exactly("max", DType::u64, {top - 1, top, 5}), -1) << "all bits set";
}

TEST(ReduceDtypes, RootsAndLogarithmsOfIntegersTruncate) {
  EXPECT_EQ(reduced_exactly("l2", DType::s8, {-3, 4, 1}), 5);
  EXPECT_EQ(reduced_exactly("l2", DType::s8, {100, 100}), 127) << "141 saturates";
  EXPECT_EQ(reduced_exactly("l2", DType::s64, {Integer{1} << 31, Integer{1} << 31, Integer{1} << 31}), 0)
      << "the sum wraps below zero, which has no root";
  EXPECT_EQ(reduced_exactly("log_sum", DType::s32, {0, 0}), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(reduced_exactly("log_sum", DType::s32, {1, -3}), 0) << "no logarithm";
  EXPECT_EQ(reduced_exactly("log_sum", DType::s8, {127, 127, 127}), 5) << "of the exact sum 381";
  EXPECT_EQ(reduced_exactly("log_sum_exp", DType::s32, {1000000, 1000000}), 1000000);
  EXPECT_EQ(reduced_exactly("log_sum_exp", DType::s32, {-7, -7}), -6);
}

TEST(ReduceDtypes, Booleans) {
  for (int bits = 0; bits < 8; ++bits) {
    const std::vector<Integer> x = {bits & 1, bits >> 1 & 1, bits >> 2 & 1};
    EXPECT_EQ(reduced_exactly("max", DType::boolean, x), bits != 0) << "any";
    EXPECT_EQ(reduced_exactly("min", DType::boolean, x), bits == 7) << "all";
    EXPECT_EQ(reduced_exactly("sum", DType::boolean, x), bits != 0);
    EXPECT_EQ(reduced_exactly("prod", DType::boolean, x), bits == 7);
  }
}

TEST(ReduceDtypes, EmptySets) {
  struct Row {
    const char* reduction;
    double real;
    std::int64_t integer;
  };
  for (const Row& row : {Row{"sum", 0, 0}, Row{"l1", 0, 0}, Row{"l2", 0, 0}, Row{"sum_square", 0, 0}, Row{"prod", 1, 1},
                         Row{"mean", kNan, 0}}) {
    for (const DType dtype : kFloating) EXPECT_TRUE(same(reduced(row.reduction, dtype, {}), row.real)) << row.reduction;
    for (const DType dtype : kIntegers) EXPECT_EQ(reduced_exactly(row.reduction, dtype, {}), row.integer);
  }
  for (const DType dtype : kFloating) {
    for (const char* reduction : {"max", "log_sum", "log_sum_exp"}) EXPECT_EQ(reduced(reduction, dtype, {}), -kInf);
    EXPECT_EQ(reduced("min", dtype, {}), kInf);
  }
  for (const DType dtype : kIntegers) {
    for (const char* reduction : {"max", "log_sum", "log_sum_exp"})
      EXPECT_EQ(reduced_exactly(reduction, dtype, {}), static_cast<std::int64_t>(lowest_integer(dtype))) << reduction;
    EXPECT_EQ(reduced_exactly("min", dtype, {}), static_cast<std::int64_t>(highest_integer(dtype)));
  }
  EXPECT_EQ(reduced_exactly("max", DType::boolean, {}), 0);
  EXPECT_EQ(reduced_exactly("min", DType::boolean, {}), 1);
}

TEST(LogSumExp, IsStableAndGuardsInfinities) {
  for (const DType dtype : kFloating) {
    const auto rounded = [&](double x) { return static_cast<double>(round_to(dtype, static_cast<Real>(x))); };
    EXPECT_EQ(reduced("log_sum_exp", dtype, {1000, 1000}), rounded(1000 + std::log(2.0)));
    EXPECT_EQ(reduced("log_sum_exp", dtype, {-1000, -1000}), rounded(-1000 + std::log(2.0)));
    EXPECT_EQ(reduced("log_sum_exp", dtype, {2}), 2);
    EXPECT_EQ(reduced("log_sum_exp", dtype, {-kInf, -kInf}), -kInf);
    EXPECT_EQ(reduced("log_sum_exp", dtype, {-kInf, 3}), 3);
    EXPECT_EQ(reduced("log_sum_exp", dtype, {kInf, 3, -kInf}), kInf);
    EXPECT_EQ(reduced("log_sum_exp", dtype, {kInf, kInf}), kInf);
    EXPECT_TRUE(std::isnan(reduced("log_sum_exp", dtype, {kInf, kNan})));
    EXPECT_TRUE(std::isnan(reduced("log_sum_exp", dtype, {-kInf, kNan})));
    EXPECT_EQ(reduced("log_sum", dtype, {0, -0.0}), -kInf);
    EXPECT_TRUE(std::isnan(reduced("log_sum", dtype, {-1})));
    EXPECT_EQ(reduced("log_sum", dtype, {kInf, 1}), kInf);
  }
}

Op onnx_reduce(const char* kind, std::vector<NamedAttribute> attributes = {}) {
  return make_op(Dialect::onnx, kind, std::move(attributes));
}

/// The examples of ONNX's document of ReduceMax, which all versions share.
TEST(OnnxReduce, TheDocumentsExamples) {
  const Tensor data(DType::f32, {3, 2, 2}, {5, 1, 20, 2, 30, 1, 40, 2, 55, 1, 60, 2});
  const std::vector<double> rows = {20, 2, 40, 2, 60, 2};
  const NamedAttribute axes{"axes", Dims{1}}, back{"axes", Dims{-2}}, drop{"keepdims", std::int64_t{0}};
  const auto values = [&](const Op& op, Dims shape) {
    return result_of(op, {data.in()}, DType::f32, std::move(shape)).values();
  };
  EXPECT_TRUE(same_values(values(onnx_reduce("ReduceMax", {axes, drop}), {3, 2}), rows));
  EXPECT_TRUE(same_values(values(onnx_reduce("ReduceMax", {axes}), {3, 1, 2}), rows));
  EXPECT_TRUE(same_values(values(onnx_reduce("ReduceMax", {back}), {3, 1, 2}), rows));
  EXPECT_TRUE(same_values(values(onnx_reduce("ReduceMax"), {1, 1, 1}), {60}));
  const Tensor one(DType::s64, {1}, {1}), none(DType::s64, {0});
  const ConstTensor missing;
  const Op plain = onnx_reduce("ReduceMax");
  EXPECT_TRUE(same_values(result_of(plain, {data.in(), one.in()}, DType::f32, {3, 1, 2}).values(), rows));
  EXPECT_TRUE(same_values(result_of(plain, {data.in(), none.in()}, DType::f32, {1, 1, 1}).values(), {60}));
  EXPECT_TRUE(same_values(result_of(plain, {data.in(), missing}, DType::f32, {1, 1, 1}).values(), {60}));
  const Tensor truth(DType::boolean, {2, 2}, {1, 1, 0, 0});
  const Op last = onnx_reduce("ReduceMax", {{"axes", Dims{1}}});
  EXPECT_TRUE(same_values(result_of(last, {truth.in()}, DType::boolean, {2, 1}).values(), {1, 0}));
}

TEST(OnnxReduce, WithoutAxesTheElementwisePartRemains) {
  const Tensor x(DType::f64, {2}, {-3, 4});
  const std::pair<const char*, std::vector<double>> rows[] = {
      {"ReduceL1", {3, 4}},        {"ReduceL2", {3, 4}},         {"ReduceMax", {-3, 4}},
      {"ReduceMean", {-3, 4}},     {"ReduceMin", {-3, 4}},       {"ReduceProd", {-3, 4}},
      {"ReduceSum", {-3, 4}},      {"ReduceSumSquare", {9, 16}}, {"ReduceLogSum", {kNan, std::log(4.0)}},
      {"ReduceLogSumExp", {-3, 4}}};
  const Tensor none(DType::s64, {0});
  for (const auto& [kind, expected] : rows) {
    const Op op = onnx_reduce(kind, {{"noop_with_empty_axes", std::int64_t{1}}});
    EXPECT_TRUE(same_values(result_of(op, {x.in()}, DType::f64, {2}).values(), expected)) << kind;
    EXPECT_TRUE(same_values(result_of(op, {x.in(), none.in()}, DType::f64, {2}).values(), expected)) << kind;
    const Op all = onnx_reduce(kind, {{"noop_with_empty_axes", std::int64_t{0}}});
    EXPECT_EQ(result_of(all, {x.in(), none.in()}, DType::f64, {1}).values().size(), 1U);
  }
  const Op core = make_op(Dialect::core, "reduce", {{"reduction", std::string("l1")}, {"noop_with_empty_axes", true}});
  EXPECT_TRUE(same_values(result_of(core, {x.in()}, DType::f64, {2}).values(), {3, 4}));
}

Op arg_reduce(const char* mode, std::int64_t axis, bool last = false, bool keep = false) {
  return make_op(Dialect::core, "arg_reduce",
                 {{"mode", std::string(mode)}, {"axis", axis}, {"keep_dims", keep}, {"select_last", last}});
}

/// By its definition: the least (greatest) index of those that no other element is more extreme than.
std::int64_t expected_position(const std::vector<double>& x, bool greatest, bool last) {
  std::int64_t best = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double a = x[i], b = x[static_cast<std::size_t>(best)];
    const bool equal = a == b || (std::isnan(a) && std::isnan(b));
    const bool beats = std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && (greatest ? a > b : a < b);
    if (beats || (equal && last)) best = static_cast<std::int64_t>(i);
  }
  return best;
}

TEST(ArgReduce, EveryTripleOfSpecialValues) {
  const double values[] = {-kInf, -1, -0.0, 0.0, 2, kInf, kNan};
  for (const DType dtype : kFloating)
    for (const double a : values)
      for (const double b : values)
        for (const double c : values)
          for (const bool greatest : {false, true})
            for (const bool last : {false, true}) {
              const Tensor in(dtype, {3}, {a, b, c});
              const Op op = arg_reduce(greatest ? "argmax" : "argmin", 0, last);
              ASSERT_EQ(result_of(op, {in.in()}, DType::s64, {}).at(0), expected_position({a, b, c}, greatest, last))
                  << a << " " << b << " " << c << " " << greatest << last;
            }
}

TEST(ArgReduce, NanAndTiesByHand) {
  const Tensor in(DType::f32, {5}, {1, kNan, 7, kNan, 7});
  EXPECT_EQ(result_of(arg_reduce("argmax", 0), {in.in()}, DType::s64, {}).at(0), 1);
  EXPECT_EQ(result_of(arg_reduce("argmin", 0), {in.in()}, DType::s32, {}).at(0), 1);
  EXPECT_EQ(result_of(arg_reduce("argmin", -1, true), {in.in()}, DType::s64, {}).at(0), 3);
  const Tensor zeros(DType::f16, {3}, {-0.0, 0.0, -0.0});
  EXPECT_EQ(result_of(arg_reduce("argmax", 0), {zeros.in()}, DType::s64, {}).at(0), 0);
  EXPECT_EQ(result_of(arg_reduce("argmax", 0, true), {zeros.in()}, DType::s64, {}).at(0), 2);
  const Tensor big = exact(DType::s64, {3}, {kTwo53, kTwo53 + 1, kTwo53});
  EXPECT_EQ(result_of(arg_reduce("argmax", 0), {big.in()}, DType::s64, {}).at(0), 1);
  const Integer top = (Integer{1} << 64) - 1;
  const Tensor unsigned_big = exact(DType::u64, {3}, {top - 1, top, top - 2});
  EXPECT_EQ(result_of(arg_reduce("argmax", 0), {unsigned_big.in()}, DType::s64, {}).at(0), 1);
  EXPECT_EQ(result_of(arg_reduce("argmin", 0), {unsigned_big.in()}, DType::s64, {}).at(0), 2);
}

TEST(ArgReduce, EmptyAxesAndWrongIndicesAreRefused) {
  const Tensor empty(DType::f32, {2, 0});
  Tensor out(DType::s64, {2}), none(DType::s64, {0}), real(DType::f32, {0});
  EXPECT_EQ(run_op(arg_reduce("argmax", 1), {empty.in()}, out).code(), Code::invalid_shape);
  EXPECT_TRUE(run_op(arg_reduce("argmax", 0), {empty.in()}, none).ok()) << "no outputs, but a full axis";
  EXPECT_EQ(run_op(arg_reduce("argmax", 0), {empty.in()}, real).code(), Code::invalid_dtype);
  EXPECT_EQ(run_op(arg_reduce("argmax", 2), {empty.in()}, out).code(), Code::invalid_op);
  EXPECT_FALSE(can_evaluate(arg_reduce("argmean", 0)));
}

/// The examples of ONNX's document of ArgMax.
TEST(ArgReduce, TheDocumentsExamples) {
  const Tensor data(DType::f32, {2, 2}, {2, 1, 3, 10}), ties(DType::f32, {2, 2}, {2, 2, 3, 10});
  const NamedAttribute axis{"axis", std::int64_t{1}}, back{"axis", std::int64_t{-1}};
  const NamedAttribute drop{"keepdims", std::int64_t{0}}, last{"select_last_index", std::int64_t{1}};
  const auto arg_max = [](const Tensor& x, std::vector<NamedAttribute> attributes, Dims shape) {
    return result_of(onnx_reduce("ArgMax", std::move(attributes)), {x.in()}, DType::s64, std::move(shape)).values();
  };
  EXPECT_TRUE(same_values(arg_max(data, {axis, drop}, {2}), {0, 1}));
  EXPECT_TRUE(same_values(arg_max(data, {axis}, {2, 1}), {0, 1}));
  EXPECT_TRUE(same_values(arg_max(data, {}, {1, 2}), {1, 1}));
  EXPECT_TRUE(same_values(arg_max(data, {back}, {2, 1}), {0, 1}));
  EXPECT_TRUE(same_values(arg_max(ties, {axis, drop, last}, {2}), {1, 1}));
  EXPECT_TRUE(same_values(arg_max(ties, {last}, {1, 2}), {1, 1}));
}

}  // namespace
}  // namespace tenfold::graph

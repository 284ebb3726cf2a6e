// SPDX-License-Identifier: Apache-2.0
//
// The function table of lane programs: one row a function, in the order of kernel::Function. To add a function is to
// add a row, and its builder where it takes more than a line.
#include "jit/function/functions.hpp"

#include <cstddef>

#include "jit/function/brief.hpp"
#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

using kernel::Function;
using Args = LaneArgs;

struct Row {
  Function function;
  Lane (*real)(Args);            ///< null: not there for reals
  Lane (*integer)(DType, Args);  ///< null: not there for integers and booleans
};

bool is_narrow(Lane x) { return lane_bytes(x.type) < 4; }
Lane no(Lane x) { return x.builder->constant(is_narrow(x) ? x.type : LaneType::i32, 0); }
Lane is_set(Lane x) { return complement(equal(x, 0.0)); }
/// NaN counts as negative.
Lane unless_negative(Lane x, Lane otherwise) { return select(x >= 0.0, x, otherwise); }

/// A mask of all ones is minus a condition's 1; of what is not 1 either it has the sign only in wider lanes.
Lane chosen(Args x) {
  if (is_narrow(x[0])) return select(equal(x[0], 0.0), x[2], x[1]);
  const Lane mask = negate(x[0]);
  return select(lane_bytes(x[1].type) == 8 ? convert(LaneOp::extend_signed, mask) : mask, x[1], x[2]);
}

Lane circular(Args x, Lane (*of_single)(Args), Lane (*of_double)(Lane)) {
  return x[0].type == LaneType::f64 ? of_double(x[0]) : through_f64(of_single, x);
}

constexpr Row kRows[] = {
    {Function::abs, [](Args x) { return abs(x[0]); }, [](DType t, Args x) { return is_signed(t) ? abs(x[0]) : x[0]; }},
    {Function::acos, [](Args x) { return through_f64(acos_lane, x); }, nullptr},
    {Function::acosh, [](Args x) { return through_f64(acosh_lane, x); }, nullptr},
    {Function::asin, [](Args x) { return through_f64(asin_lane, x); }, nullptr},
    {Function::asinh, [](Args x) { return through_f64(asinh_lane, x); }, nullptr},
    {Function::atan, [](Args x) { return through_f64(atan_lane, x); }, nullptr},
    {Function::atanh, [](Args x) { return through_f64(atanh_lane, x); }, nullptr},
    {Function::bitwise_not, nullptr,
     [](DType t, Args x) { return t == DType::boolean ? truth(equal(x[0], 0.0)) : complement(x[0]); }},
    {Function::ceil, [](Args x) { return round(x[0], LaneRounding::ceil); }, [](DType, Args x) { return x[0]; }},
    {Function::cos, [](Args x) { return circular(x, cos_lane, cos_wide_lane); }, nullptr},
    {Function::cosh, [](Args x) { return through_f64(cosh_lane, x); }, nullptr},
    {Function::erf, [](Args x) { return erf_lane(x[0]); }, nullptr},
    {Function::exp, [](Args x) { return exp_lane(x[0]); }, nullptr},
    {Function::floor, [](Args x) { return round(x[0], LaneRounding::floor); }, [](DType, Args x) { return x[0]; }},
    {Function::gelu_erf, [](Args x) { return gelu_erf_lane(x[0]); }, nullptr},
    {Function::gelu_tanh, [](Args x) { return gelu_tanh_lane(x[0]); }, nullptr},
    {Function::hardswish, [](Args x) { return hardswish_lane(x[0]); }, nullptr},
    {Function::identity, [](Args x) { return x[0]; }, [](DType, Args x) { return x[0]; }},
    {Function::is_infinite, [](Args x) { return truth(equal(abs(x[0]), kInfinity)); },
     [](DType, Args x) { return no(x[0]); }},
    {Function::is_negative_infinity, [](Args x) { return truth(equal(x[0], -kInfinity)); },
     [](DType, Args x) { return no(x[0]); }},
    {Function::is_positive_infinity, [](Args x) { return truth(equal(x[0], kInfinity)); },
     [](DType, Args x) { return no(x[0]); }},
    {Function::isnan, [](Args x) { return truth(is_nan(x[0])); }, [](DType, Args x) { return no(x[0]); }},
    {Function::log, [](Args x) { return log_lane(x[0]); }, nullptr},
    {Function::mish, [](Args x) { return mish_lane(x[0]); }, nullptr},
    {Function::neg, [](Args x) { return negate(x[0]); }, [](DType, Args x) { return negate(x[0]); }},
    {Function::logical_not, [](Args x) { return truth(equal(x[0], 0.0)); },
     [](DType, Args x) { return truth(equal(x[0], 0.0)); }},
    {Function::reciprocal, [](Args x) { return 1.0 / x[0]; }, nullptr},
    {Function::relu, [](Args x) { return maximum_lane(x[0], x[0].builder->constant(x[0].type, 0)); },
     [](DType t, Args x) {
       return is_signed(t) ? combine(LaneOp::greatest_signed, x[0], x[0].builder->constant(x[0].type, 0)) : x[0];
     }},
    {Function::round, [](Args x) { return round(x[0], LaneRounding::nearest_even); },
     [](DType, Args x) { return x[0]; }},
    {Function::sigmoid, [](Args x) { return sigmoid_lane(x[0]); }, nullptr},
    {Function::sign, [](Args x) { return sign_lane(x[0]); }, [](DType t, Args x) { return integer_sign(t, x[0]); }},
    {Function::sin, [](Args x) { return circular(x, sin_lane, sin_wide_lane); }, nullptr},
    {Function::sinh, [](Args x) { return through_f64(sinh_lane, x); }, nullptr},
    {Function::softsign, [](Args x) { return x[0] / (abs(x[0]) + 1.0); }, nullptr},
    {Function::sqrt, [](Args x) { return sqrt(x[0]); }, nullptr},
    {Function::square, [](Args x) { return x[0] * x[0]; }, [](DType, Args x) { return x[0] * x[0]; }},
    {Function::tan, [](Args x) { return circular(x, tan_lane, tan_wide_lane); }, nullptr},
    {Function::tanh, [](Args x) { return tanh_lane(x[0]); }, nullptr},
    {Function::add, [](Args x) { return x[0] + x[1]; }, [](DType, Args x) { return x[0] + x[1]; }},
    {Function::logical_and, [](Args x) { return truth(is_set(x[0]) & is_set(x[1])); },
     [](DType, Args x) { return truth(is_set(x[0]) & is_set(x[1])); }},
    {Function::bitwise_and, nullptr, [](DType, Args x) { return x[0] & x[1]; }},
    {Function::bitwise_or, nullptr, [](DType, Args x) { return x[0] | x[1]; }},
    {Function::bitwise_xor, nullptr, [](DType, Args x) { return x[0] ^ x[1]; }},
    {Function::celu, [](Args x) { return celu_lane(x[0], x[1]); }, nullptr},
    {Function::div, [](Args x) { return x[0] / x[1]; },
     [](DType t, Args x) { return integer_quotient(t, x[0], x[1]); }},
    {Function::elu, [](Args x) { return elu_lane(x[0], x[1]); }, nullptr},
    {Function::equal, [](Args x) { return truth(equal(x[0], x[1])); },
     [](DType, Args x) { return truth(equal(x[0], x[1])); }},
    {Function::greater, [](Args x) { return truth(x[1] < x[0]); },
     [](DType t, Args x) { return truth(integer_less(t, x[1], x[0])); }},
    {Function::greater_equal, [](Args x) { return truth(x[1] <= x[0]); },
     [](DType t, Args x) { return truth(complement(integer_less(t, x[0], x[1]))); }},
    {Function::leakyrelu, [](Args x) { return unless_negative(x[0], x[1] * x[0]); }, nullptr},
    {Function::less, [](Args x) { return truth(x[0] < x[1]); },
     [](DType t, Args x) { return truth(integer_less(t, x[0], x[1])); }},
    {Function::less_equal, [](Args x) { return truth(x[0] <= x[1]); },
     [](DType t, Args x) { return truth(complement(integer_less(t, x[1], x[0]))); }},
    {Function::max, [](Args x) { return maximum_lane(x[0], x[1]); },
     [](DType t, Args x) { return integer_greatest(t, x[0], x[1]); }},
    {Function::min, [](Args x) { return minimum_lane(x[0], x[1]); },
     [](DType t, Args x) { return integer_least(t, x[0], x[1]); }},
    {Function::mod, nullptr, [](DType t, Args x) { return integer_mod(t, x[0], x[1]); }},
    {Function::mul, [](Args x) { return x[0] * x[1]; }, [](DType, Args x) { return x[0] * x[1]; }},
    {Function::logical_or, [](Args x) { return truth(is_set(x[0]) | is_set(x[1])); },
     [](DType, Args x) { return truth(is_set(x[0]) | is_set(x[1])); }},
    {Function::pow, [](Args x) { return pow_lane(x); }, [](DType t, Args x) { return integer_power(t, x[0], x[1]); }},
    {Function::prelu, [](Args x) { return unless_negative(x[0], x[0] * x[1]); },
     [](DType t, Args x) { return is_signed(t) ? select(x[0] < 0.0, x[0] * x[1], x[0]) : x[0]; }},
    {Function::remainder, [](Args x) { return remainder_lane(x); },
     [](DType t, Args x) { return integer_remainder(t, x[0], x[1]); }},
    {Function::shift_left, nullptr, [](DType, Args x) { return combine(LaneOp::shift_left_by, x[0], x[1]); }},
    {Function::shift_right, nullptr, [](DType t, Args x) { return integer_shift_right(t, x[0], x[1]); }},
    {Function::softplus, [](Args x) { return softplus_lane(x[0], x[1]); }, nullptr},
    {Function::squared_difference, [](Args x) { return (x[0] - x[1]) * (x[0] - x[1]); },
     [](DType, Args x) { return (x[0] - x[1]) * (x[0] - x[1]); }},
    {Function::sub, [](Args x) { return x[0] - x[1]; }, [](DType, Args x) { return x[0] - x[1]; }},
    {Function::swish, [](Args x) { return swish_lane(x[0], x[1]); }, nullptr},
    {Function::thresholded_relu, [](Args x) { return select(x[0] <= x[1], 0.0, x[0]); }, nullptr},
    {Function::logical_xor, [](Args x) { return truth(is_set(x[0]) ^ is_set(x[1])); },
     [](DType, Args x) { return truth(is_set(x[0]) ^ is_set(x[1])); }},
    {Function::clamp, [](Args x) { return minimum_lane(maximum_lane(x[0], x[1]), x[2]); },
     [](DType t, Args x) { return integer_least(t, integer_greatest(t, x[0], x[1]), x[2]); }},
    {Function::hardsigmoid, [](Args x) { return hardsigmoid_lane(x[0], x[1], x[2]); }, nullptr},
    {Function::select, [](Args x) { return chosen(x); }, [](DType, Args x) { return chosen(x); }},
    {Function::selu, [](Args x) { return selu_lane(x[0], x[1], x[2]); }, nullptr},
};

constexpr bool rows_are_in_order() {
  std::size_t index = 0;
  for (const Row& row : kRows)
    if (static_cast<std::size_t>(row.function) != index++) return false;
  return index == kernel::kFunctions.size();
}
static_assert(rows_are_in_order());

const Row& row_of(Function function) { return kRows[static_cast<std::size_t>(function)]; }

}  // namespace

bool has_function(Function function, DType dtype) {
  if (!has_cast(dtype, dtype)) return false;
  const Row& row = row_of(function);
  return (is_floating(dtype) ? row.real != nullptr : row.integer != nullptr);
}

Lane apply_function(Function function, DType dtype, std::span<const Lane> args) {
  const Row& row = row_of(function);
  if (is_floating(dtype)) {
    const auto brief = byte_size(dtype) == 2 ? brief_function(function) : nullptr;
    return brief == nullptr ? row.real(args) : brief(args);
  }
  const Lane value = row.integer(dtype, args);
  const bool is_truth = kernel::row(function).gives == kernel::Gives::boolean;
  return dtype == DType::boolean && !is_truth ? normalized(dtype, value) : value;
}

}  // namespace tenfold::jit

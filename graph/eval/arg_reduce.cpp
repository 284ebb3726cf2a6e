// SPDX-License-Identifier: Apache-2.0
//
// Arg-max and arg-min: the position of the extreme along one axis. A NaN is more extreme than any number, and -0 equals
// +0; among equals the first wins, or the last with `select_last`.
#include <cmath>
#include <string>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

constexpr std::string_view kArgMax = "argmax";
constexpr std::string_view kArgMin = "argmin";

/// `Real` holds the elements of every dtype exactly.
class ExtremePosition {
 public:
  ExtremePosition(bool greatest, bool last) : greatest_(greatest), last_(last) {}
  void add(Real x) {
    if (count_ == 0 || beats(x)) {
      extreme_ = x;
      position_ = count_;
    }
    ++count_;
  }
  std::int64_t position() const { return position_; }

 private:
  bool beats(Real x) const {
    const bool nan = std::isnan(x);
    if (nan != static_cast<bool>(std::isnan(extreme_))) return nan;
    if (nan || x == extreme_) return last_;
    return greatest_ ? x > extreme_ : x < extreme_;
  }

  bool greatest_;
  bool last_;
  Real extreme_ = 0;
  std::int64_t position_ = 0;
  std::int64_t count_ = 0;
};

Status check_index(const Op& op, DType dtype, std::int64_t extent) {
  if (dtype != DType::s64 && dtype != DType::s32)
    return fail(op, Code::invalid_dtype, "indices are " + std::string(to_string(dtype)) + ", not s64 or s32");
  if (extent - 1 > highest_integer(dtype))
    return fail(op, Code::invalid_dtype, "an axis of " + std::to_string(extent) + " needs indices of s64");
  return {};
}

}  // namespace

bool is_arg_reduction(std::string_view name) noexcept { return name == kArgMax || name == kArgMin; }

Status evaluate_arg_reduce(const Op& op, std::string_view mode, const ConstTensor& input, const MutableTensor& output) {
  if (!is_arg_reduction(mode))
    return fail(op, Code::invalid_op, "there is no mode '" + std::string(mode) + "', only argmax and argmin");
  Result<ReducePlan> planned = plan_arg_reduce(op, input);
  if (!planned.ok()) return planned.status();
  const ReducePlan& plan = planned.value();
  if (Status s = expect_shape(op, output, plan.output); !s.ok()) return s;
  if (Status s = check_index(op, output.desc.dtype, plan.reduced[0]); !s.ok()) return s;

  const bool last = flag(op, op.dialect == Dialect::onnx ? "select_last_index" : "select_last", false);
  const std::array<Dims, 2> outer{plan.kept_strides, plan.output_strides(output.desc)};
  walk(plan.kept, outer, [&](const auto& at) {
    ExtremePosition extreme(mode == kArgMax, last);
    walk(plan.reduced, std::array<Dims, 1>{plan.reduced_strides},
         [&](const auto& step) { extreme.add(load_exact(input.desc.dtype, input.data, at[0] + step[0])); });
    store_integer(output.desc.dtype, output.data, at[1], extreme.position());
  });
  return {};
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops: scalar functions, select, and plain copies with conversion (cast, reshape, identity).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/functions.hpp"
#include "graph/eval/narrow.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

bool all_integral(std::span<const ConstTensor> inputs) {
  for (const ConstTensor& input : inputs)
    if (!is_missing(input) && !is_integral(input.desc.dtype)) return false;
  return true;
}

Status check_map(const Op& op, const OpRow& row, const FunctionRow* function, std::string_view name,
                 std::span<const ConstTensor> inputs, const MutableTensor& output) {
  const std::string quoted = "function '" + std::string(name) + "'";
  if (function == nullptr) return fail(op, Code::invalid_op, "there is no " + quoted);
  const Arity arity = row.inputs == 0 ? function->arity : Arity{row.inputs, row.inputs};
  if (!arity.takes(inputs.size())) {
    std::string most = arity.most == kAnyNumber ? " or more" : " to " + std::to_string(arity.most);
    if (arity.most == arity.least) most.clear();
    return fail(op, Code::invalid_op,
                std::to_string(inputs.size()) + " inputs for " + quoted + ", which takes " +
                    std::to_string(arity.least) + most);
  }
  const bool integral = all_integral(inputs) && is_integral(output.desc.dtype);
  if (integral && function->integer == nullptr)
    return fail(op, Code::unsupported_dtype, quoted + " is not defined on integers");
  if (!integral && function->real == nullptr)
    return fail(op, Code::unsupported_dtype, quoted + " is defined on integers alone");
  return {};
}

/// Arguments of `positions`, one position's beside another's. Those of a clip that are left out bound nothing: all
/// values lie between these two.
template <class T>
std::vector<T> arguments(std::int64_t positions, std::size_t count, T lowest, T highest) {
  std::vector<T> x(static_cast<std::size_t>(positions) * count, highest);
  for (std::size_t i = 1; count > 1 && i < x.size(); i += count) x[i] = lowest;
  return x;
}

/// Row by row: `load` puts an input's elements among the arguments, `apply` makes a result of each position's, and
/// `store` stores a row of them.
template <class T, class Load, class Apply, class Store>
void map_rows(const Dims& shape, const std::vector<Dims>& strides, std::span<const ConstTensor> inputs,
              std::vector<T> x, Load load, Apply apply, Store store) {
  const std::size_t arity = inputs.size();
  std::vector<T> results(static_cast<std::size_t>(kLongestRow));
  walk_rows(shape, strides, [&](const auto& at, const auto& steps, std::int64_t count) {
    for (std::size_t k = 0; k < arity; ++k)
      if (!is_missing(inputs[k])) load(inputs[k], Row{at[k], steps[k], count}, x.data() + k);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      results[i] = apply(std::span<const T>(x.data() + i * arity, arity));
    store(Row{at.back(), steps.back(), count}, results.data());
  });
}

}  // namespace

Status evaluate_map(const Op& op, const OpRow& row, std::string_view name, std::span<const ConstTensor> inputs,
                    const MutableTensor& output) {
  const FunctionRow* function = find_function(name);
  if (Status s = check_map(op, row, function, name, inputs, output); !s.ok()) return s;
  Result<Parameters> read = read_parameters(op, *function, inputs.size(), inputs[0].desc.dtype);
  if (!read.ok()) return read.status();
  const Parameters& parameters = read.value();
  Result<Dims> shape = plan_broadcast(op, row, inputs);
  if (!shape.ok()) return shape.status();
  if (Status s = expect_shape(op, output, shape.value()); !s.ok()) return s;

  std::vector<Dims> strides;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    strides.push_back(broadcast_strides(op, row, inputs, k, shape.value()));
  strides.push_back(strides_of(output.desc));
  const DType to = output.desc.dtype;
  const auto apart = static_cast<std::int64_t>(inputs.size());
  if (all_integral(inputs) && is_integral(to)) {
    map_rows(
        shape.value(), strides, inputs,
        arguments(kLongestRow, inputs.size(), lowest_integer(DType::s64), highest_integer(DType::u64)),
        [&](const ConstTensor& input, const Row& at, Integer* x) {
          for (std::int64_t i = 0; i < at.count; ++i)
            x[i * apart] = load_integer(input.desc.dtype, input.data, at.first + i * at.step);
        },
        [&](std::span<const Integer> x) { return function->integer(x, parameters); },
        [&](const Row& at, const Integer* results) {
          for (std::int64_t i = 0; i < at.count; ++i)
            store_integer(to, output.data, at.first + i * at.step, results[i]);
        });
    return {};
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool whole = truncates(to);
  map_rows(
      shape.value(), strides, inputs, arguments(kLongestRow, inputs.size(), -kInfinity, kInfinity),
      [&](const ConstTensor& input, const Row& at, double* x) { load_row(input.desc.dtype, input.data, at, x, apart); },
      [&](std::span<const double> x) {
        const double result = function->real(x, parameters);
        return whole ? std::trunc(result) : result;
      },
      [&](const Row& at, const double* results) { store_row(to, output.data, at, results); });
  return {};
}

Status evaluate_select(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs,
                       const MutableTensor& output) {
  if (inputs.size() != 3) return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 3");
  Result<Dims> shape = plan_broadcast(op, row, inputs);
  if (!shape.ok()) return shape.status();
  if (Status s = expect_shape(op, output, shape.value()); !s.ok()) return s;
  const std::array<Dims, 4> strides{broadcast_strides(op, row, inputs, 0, shape.value()),
                                    broadcast_strides(op, row, inputs, 1, shape.value()),
                                    broadcast_strides(op, row, inputs, 2, shape.value()), strides_of(output.desc)};
  const ConstTensor& condition = inputs[0];
  walk(shape.value(), strides, [&](const auto& at) {
    const std::size_t chosen = load_exact(condition.desc.dtype, condition.data, at[0]) != 0 ? 1 : 2;
    const ConstTensor& source = inputs[chosen];
    convert(source.desc.dtype, source.data, at[chosen], output.desc.dtype, output.data, at[3]);
  });
  return {};
}

Status evaluate_cast(const Op& op, const ConstTensor& input, const MutableTensor& output) {
  const DType from = input.desc.dtype, to = output.desc.dtype;
  const bool saturates = attribute_or<std::int64_t>(op, "saturate", 1) != 0;
  if (from == to || !saturates || !is_floating(to) || !is_narrow(to)) return evaluate_copy(op, input, output);
  walk(input.desc.shape, std::array<Dims, 2>{strides_of(input.desc), strides_of(output.desc)}, [&](const auto& at) {
    const Real value = load_exact(from, input.data, at[0]), most = largest_narrow(to);
    store_narrow(to, output.data, at[1], std::isnan(value) ? value : std::clamp(value, -most, most));
  });
  return {};
}

Status evaluate_copy(const Op& op, const ConstTensor& input, const MutableTensor& output) {
  const Result<std::int64_t> from = numel(input.desc.shape);
  const Result<std::int64_t> to = numel(output.desc.shape);
  if (!from.ok()) return from.status();
  if (!to.ok()) return to.status();
  if (from.value() != to.value())
    return fail(op, Code::invalid_shape,
                std::to_string(from.value()) + " elements do not fill an output of " + std::to_string(to.value()));
  const DType dtype = input.desc.dtype;
  if (input.desc.shape == output.desc.shape) {
    const std::array<Dims, 2> strides{strides_of(input.desc), strides_of(output.desc)};
    walk_rows(input.desc.shape, strides, [&](const auto& at, const auto& steps, std::int64_t count) {
      convert_row(dtype, input.data, {at[0], steps[0], count}, output.desc.dtype, output.data,
                  {at[1], steps[1], count});
    });
    return {};
  }
  const Dims strides = strides_of(output.desc);
  std::int64_t position = 0;
  walk(input.desc.shape, std::array<Dims, 1>{strides_of(input.desc)}, [&](const auto& at) {
    std::int64_t rest = position++;
    std::int64_t offset = 0;
    for (std::size_t i = strides.size(); i-- > 0; rest /= output.desc.shape[i])
      offset += rest % output.desc.shape[i] * strides[i];
    convert(dtype, input.data, at[0], output.desc.dtype, output.data, offset);
  });
  return {};
}

}  // namespace tenfold::graph

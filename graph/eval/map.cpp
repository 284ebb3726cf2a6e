// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops: scalar functions, select, and plain copies with conversion (cast, reshape, identity).
#include <string>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/functions.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

bool all_integral(std::span<const ConstTensor> inputs) {
  for (const ConstTensor& input : inputs)
    if (!is_integral(input.desc.dtype)) return false;
  return true;
}

Status check_map(const Op& op, const FunctionRow* function, std::string_view name, std::span<const ConstTensor> inputs,
                 const MutableTensor& output) {
  if (function == nullptr) return fail(op, Code::invalid_op, "there is no function '" + std::string(name) + "'");
  if (inputs.size() != static_cast<std::size_t>(function->arity))
    return fail(op, Code::invalid_op,
                std::to_string(inputs.size()) + " inputs for function '" + std::string(name) + "', which takes " +
                    std::to_string(function->arity));
  if (all_integral(inputs) && is_integral(output.desc.dtype) && function->integer == nullptr)
    return fail(op, Code::unsupported_dtype, "function '" + std::string(name) + "' is not defined on integers");
  return {};
}

}  // namespace

Status evaluate_map(const Op& op, const OpRow& row, std::string_view name, std::span<const ConstTensor> inputs,
                    const MutableTensor& output) {
  const FunctionRow* function = find_function(name);
  if (Status s = check_map(op, function, name, inputs, output); !s.ok()) return s;
  Result<Parameters> parameters = read_parameters(op, *function);
  if (!parameters.ok()) return parameters.status();
  Result<Dims> shape = plan_broadcast(op, row, inputs);
  if (!shape.ok()) return shape.status();
  if (Status s = expect_shape(op, output, shape.value()); !s.ok()) return s;

  // A function of one argument walks its input a second time and looks away, which keeps this one loop for all.
  const std::size_t second = inputs.size() - 1;
  const std::array<Dims, 3> strides{broadcast_strides(op, row, inputs, 0, shape.value()),
                                    broadcast_strides(op, row, inputs, second, shape.value()), strides_of(output.desc)};
  const ConstTensor& a = inputs[0];
  const ConstTensor& b = inputs[second];
  const DType to = output.desc.dtype;
  if (all_integral(inputs) && is_integral(to)) {
    walk(shape.value(), strides, [&](const auto& at) {
      const Integer x[kMaxArity] = {load_integer(a.desc.dtype, a.data, at[0]),
                                    load_integer(b.desc.dtype, b.data, at[1])};
      store_integer(to, output.data, at[2], function->integer(x));
    });
    return {};
  }
  walk(shape.value(), strides, [&](const auto& at) {
    const double x[kMaxArity] = {load_real(a.desc.dtype, a.data, at[0]), load_real(b.desc.dtype, b.data, at[1])};
    store_real(to, output.data, at[2], function->real(x, parameters.value()));
  });
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
    walk(input.desc.shape, strides,
         [&](const auto& at) { convert(dtype, input.data, at[0], output.desc.dtype, output.data, at[1]); });
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

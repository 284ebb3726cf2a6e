// SPDX-License-Identifier: Apache-2.0
#include "compile/lower.hpp"

#include <algorithm>
#include <string_view>

#include "compile/lower_arg.hpp"
#include "graph/check/check.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::Monoid;
using kernel::Node;

/// Builds the body of a reduction, by the name that core.reduce has for it.
class ReductionBody {
 public:
  ReductionBody(kernel::KernelSpec& spec, DType dtype) : spec_(spec), dtype_(dtype) {}

  /// False when there is no such reduction.
  bool write(std::string_view name) {
    const bool integers = !is_floating(dtype_);
    int value = add({Node::Kind::load, 0, Function::abs, Monoid::sum, {}});
    if (name == "max" || name == "min") {
      value = reduce(name == "max" ? Monoid::max : Monoid::min, value);
    } else if (dtype_ == DType::boolean) {
      return false;
    } else if (name == "sum" || name == "prod") {
      value = reduce(name == "sum" ? Monoid::sum : Monoid::prod, value);
    } else if (name == "mean") {
      const int sum = reduce(Monoid::sum, value);
      value = apply(Function::div, {sum, add({Node::Kind::count, 0, Function::abs, Monoid::sum, {}})});
    } else if (name == "l1") {
      value = reduce(Monoid::sum, apply(Function::abs, {value}));
    } else if (name == "sum_square") {
      value = reduce(Monoid::sum, apply(Function::square, {value}));
    } else if (name == "l2") {
      if (integers) value = cast(wide_integer(), value);
      value = reduce(Monoid::sum, apply(Function::square, {value}));
      value = apply(Function::sqrt, {integers ? cast(DType::f64, value) : value});
    } else if (name == "log_sum") {
      if (integers) value = cast(wide_integer(), value);
      value = reduce(Monoid::sum, value);
      value = apply(Function::log, {integers ? cast(DType::f64, value) : value});
    } else if (name == "log_sum_exp") {
      value = log_sum_exp(integers ? cast(DType::f64, value) : value);
    } else {
      return false;
    }
    const bool converted = integers && (name == "l2" || name == "log_sum" || name == "log_sum_exp");
    spec_.stores.push_back({0, converted ? cast(dtype_, value) : value});
    return true;
  }

  /// A reduction along no axis copies: an extreme keeps every bit of what is not a NaN.
  void write_copy() { write("max"); }

 private:
  int add(Node node) {
    spec_.body.push_back(std::move(node));
    return static_cast<int>(spec_.body.size()) - 1;
  }
  int apply(Function function, std::vector<int> args) {
    return add({Node::Kind::apply, 0, function, Monoid::sum, std::move(args)});
  }
  int reduce(Monoid monoid, int value) { return add({Node::Kind::reduce, 0, Function::abs, monoid, {value}}); }
  int cast(DType to, int value) {
    Node node{Node::Kind::cast, 0, Function::abs, Monoid::sum, {value}};
    node.dtype = to;
    return add(std::move(node));
  }
  /// Where sums of integers are exact, or wrap as the reference's do.
  DType wide_integer() const { return row(dtype_).kind == DTypeKind::signed_integer ? DType::s64 : DType::u64; }

  /// log(sum(exp(x - m))) + m, m being the greatest element, or 0 where that is infinite.
  int log_sum_exp(int value) {
    const int greatest = reduce(Monoid::max, value);
    Node zero{Node::Kind::constant, 0, Function::abs, Monoid::sum, {}};
    zero.dtype = kernel::dtype_of(spec_, value);
    const int infinite = apply(Function::is_infinite, {greatest});
    const int shift = apply(Function::select, {infinite, add(std::move(zero)), greatest});
    const int sum = reduce(Monoid::sum, apply(Function::exp, {apply(Function::sub, {value, shift})}));
    return apply(Function::add, {apply(Function::log, {sum}), shift});
  }

  kernel::KernelSpec& spec_;
  DType dtype_;
};

/// One level per dim of the input; the output's stride is 0 along reduced ones.
void write_space(const TensorDesc& in, const TensorDesc& out, const std::vector<std::int64_t>& axes, bool keep_dims,
                 kernel::KernelSpec& spec) {
  const Dims in_strides = strides_of(in);
  const Dims out_strides = strides_of(out);
  spec.inputs.push_back({in.dtype, in_strides});
  spec.outputs.push_back({out.dtype, {}});
  std::size_t out_dim = 0;
  for (std::size_t dim = 0; dim < in.shape.size(); ++dim) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(dim));
    spec.levels.push_back({in.shape[dim], reduced});
    spec.outputs[0].strides.push_back(reduced ? 0 : out_strides[out_dim]);
    if (!reduced || keep_dims) ++out_dim;
  }
}

Result<Lowered> lower_reduce(const graph::Graph& graph, const graph::Op& op) {
  const TensorDesc in = graph::desc_of(graph.values[op.inputs[0]]);
  const TensorDesc out = graph::desc_of(graph.values[op.outputs[0]]);
  if (in.dtype == DType::undef || row(in.dtype).bits < 8 || in.dtype == DType::f8_e5m2 || in.dtype == DType::f8_e4m3)
    return Status(Code::unsupported_dtype, "no kernels for " + std::string(to_string(in.dtype)));
  const auto written = graph::attribute_or<std::vector<std::int64_t>>(op, "axes", {});
  Result<std::vector<std::int64_t>> axes =
      graph::normalize_axes(written, static_cast<int>(in.shape.size()), graph::describe(op));
  if (!axes.ok()) return axes.status();
  const std::string name = graph::attribute_or<std::string>(op, "reduction", "");
  // ONNX's empty axes are all axes, or with the noop flag each element alone; without that attribute they copy.
  const graph::Attribute* const noop = graph::find_attribute(op, "noop_with_empty_axes");
  const bool copies = axes.value().empty() && noop == nullptr;
  if (axes.value().empty() && noop != nullptr && !graph::attribute_or<bool>(op, "noop_with_empty_axes", false))
    for (std::size_t dim = 0; dim < in.shape.size(); ++dim) axes.value().push_back(static_cast<std::int64_t>(dim));
  kernel::KernelSpec spec;
  write_space(in, out, axes.value(), graph::attribute_or<bool>(op, "keep_dims", false), spec);
  ReductionBody body(spec, in.dtype);
  if (copies) {
    body.write_copy();
  } else if (!body.write(name)) {
    return Status(Code::unsupported_op,
                  "no kernel for reduction '" + name + "' of " + std::string(to_string(in.dtype)));
  }
  Result<kernel::KernelSpec> collapsed = kernel::collapse(std::move(spec));
  if (!collapsed.ok()) return collapsed.status();
  return Lowered{std::move(collapsed).value(), {op.inputs[0]}, {op.outputs[0]}};
}

}  // namespace

Result<Lowered> lower(const graph::Graph& graph, const graph::Op& op) {
  if (op.dialect == graph::Dialect::core) {
    if (op.kind == "reduce") return lower_reduce(graph, op);
    if (op.kind == "arg_reduce") return lower_arg_reduce(graph, op);
    if (op.kind == "map" || op.kind == "cast" || op.kind == "select") return lower_elementwise(graph, op);
  }
  return Status(Code::unsupported_op, "kernels of this version run reductions and elementwise ops; this is " + op.kind);
}

}  // namespace tenfold::compiler

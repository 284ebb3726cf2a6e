// SPDX-License-Identifier: Apache-2.0
#include "compile/body.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

namespace tenfold::compiler {

using kernel::Function;
using kernel::Monoid;
using kernel::Node;

int BodyWriter::add(Node node) {
  // 0.0 == -0.0, but they are not the same constant.
  const auto is_same = [&node](const Node& other) {
    return other == node && std::bit_cast<std::uint64_t>(other.value) == std::bit_cast<std::uint64_t>(node.value);
  };
  const auto known = std::find_if(spec_.body.begin(), spec_.body.end(), is_same);
  const auto index = static_cast<int>(known - spec_.body.begin());
  if (known == spec_.body.end()) spec_.body.push_back(std::move(node));
  return index;
}

int BodyWriter::load(int input) { return add({.kind = Node::Kind::load, .index = input, .args = {}}); }
int BodyWriter::count() { return add({.kind = Node::Kind::count, .args = {}}); }
int BodyWriter::constant(DType dtype, double value) {
  return add({.kind = Node::Kind::constant, .args = {}, .dtype = dtype, .value = value});
}
int BodyWriter::cast(DType to, int value) { return add({.kind = Node::Kind::cast, .args = {value}, .dtype = to}); }
int BodyWriter::apply(Function function, std::vector<int> args) {
  return add({.kind = Node::Kind::apply, .function = function, .args = std::move(args)});
}
int BodyWriter::reduce(Monoid monoid, int value) {
  return add({.kind = Node::Kind::reduce, .monoid = monoid, .args = {value}});
}

namespace {

/// log(sum(exp(x - m))) + m, m being the greatest element; that one itself where it is infinite.
int write_log_sum_exp(BodyWriter& body, int value) {
  const int greatest = body.reduce(Monoid::max, value);
  const int sum = body.reduce(Monoid::sum, body.apply(Function::exp, {body.apply(Function::sub, {value, greatest})}));
  const int total = body.apply(Function::add, {body.apply(Function::log, {sum}), greatest});
  return body.apply(Function::select, {body.apply(Function::is_infinite, {greatest}), greatest, total});
}

/// Of integers, whose sums are taken in 64 bits, where they are exact or wrap as NumPy's do.
int write_of_wide_sum(BodyWriter& body, std::string_view name, int value) {
  const DType dtype = body.dtype_of(value);
  const bool has_sign = row(dtype).kind == DTypeKind::signed_integer;
  value = body.cast(has_sign ? DType::s64 : DType::u64, value);
  if (name == "l2") value = body.apply(Function::square, {value});
  const int sum = body.cast(DType::f64, body.reduce(Monoid::sum, value));
  return body.cast(dtype, body.apply(name == "l2" ? Function::sqrt : Function::log, {sum}));
}

}  // namespace

Result<int> write_reduction(BodyWriter& body, const graph::Op& op, int value) {
  const std::string name = graph::attribute_or<std::string>(op, "reduction", "");
  const DType dtype = body.dtype_of(value);
  const bool integers = !is_floating(dtype);
  if (name == "max" || name == "min") return body.reduce(name == "max" ? Monoid::max : Monoid::min, value);
  if (dtype != DType::boolean) {
    if (name == "sum" || name == "prod") return body.reduce(name == "sum" ? Monoid::sum : Monoid::prod, value);
    if (name == "mean") return body.apply(Function::div, {body.reduce(Monoid::sum, value), body.count()});
    if (name == "l1") return body.reduce(Monoid::sum, body.apply(Function::abs, {value}));
    if (name == "sum_square") return body.reduce(Monoid::sum, body.apply(Function::square, {value}));
    if (integers && (name == "l2" || name == "log_sum")) return write_of_wide_sum(body, name, value);
    if (name == "l2")
      return body.apply(Function::sqrt, {body.reduce(Monoid::sum, body.apply(Function::square, {value}))});
    if (name == "log_sum") return body.apply(Function::log, {body.reduce(Monoid::sum, value)});
    if (name == "log_sum_exp") {
      const DType computed = integers ? DType::f64 : byte_size(dtype) == 2 ? DType::f32 : dtype;
      return body.cast(dtype, write_log_sum_exp(body, body.cast(computed, value)));
    }
  }
  return Status(Code::unsupported_op, "no kernel for reduction '" + name + "' of " + std::string(to_string(dtype)));
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/body.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "kernel/nodes.hpp"

namespace tenfold::compiler {

using kernel::Function;
using kernel::Monoid;
using kernel::Node;

int BodyWriter::add(Node node) {
  // 0.0 == -0.0, but they are not the same constant.
  Key key{node.kind,
          node.index,
          node.function,
          node.monoid,
          node.args,
          node.dtype,
          std::bit_cast<std::uint64_t>(node.value),
          node.last};
  const auto [known, is_new] = known_.emplace(std::move(key), static_cast<int>(spec_.body.size()));
  if (is_new) spec_.body.push_back(std::move(node));
  return known->second;
}

int BodyWriter::load(int input) { return add(kernel::load_node(input)); }
int BodyWriter::count() { return add(kernel::count_node()); }
int BodyWriter::constant(DType dtype, double value) { return add(kernel::constant_node(dtype, value)); }
int BodyWriter::cast(DType to, int value) { return add(kernel::cast_node(to, value)); }
int BodyWriter::apply(Function function, std::vector<int> args) {
  return add(kernel::apply_node(function, std::move(args)));
}
int BodyWriter::reduce(Monoid monoid, int value, bool last) { return add(kernel::reduce_node(monoid, value, last)); }

namespace {

/// What becomes of a reduction's result.
enum class Then : std::uint8_t { nothing, divide_by_count, root, logarithm };

struct ReductionRow {
  std::string_view name;
  Function of = Function::identity;  ///< what of each element is reduced
  Monoid monoid;
  Then then = Then::nothing;
};

/// core.reduce's, but for log_sum_exp, which reduces twice.
constexpr ReductionRow kReductions[] = {
    {.name = "l1", .of = Function::abs, .monoid = Monoid::sum},
    {.name = "l2", .of = Function::square, .monoid = Monoid::sum, .then = Then::root},
    {.name = "log_sum", .monoid = Monoid::sum, .then = Then::logarithm},
    {.name = "max", .monoid = Monoid::max},
    {.name = "mean", .monoid = Monoid::sum, .then = Then::divide_by_count},
    {.name = "min", .monoid = Monoid::min},
    {.name = "prod", .monoid = Monoid::prod},
    {.name = "sum", .monoid = Monoid::sum},
    {.name = "sum_square", .of = Function::square, .monoid = Monoid::sum},
};

/// The sum wraps in its own type, which may have no room for the count.
int write_mean(BodyWriter& body, int sum) {
  const DType dtype = body.dtype_of(sum);
  const bool fits =
      is_floating(dtype) || byte_size(dtype) == 8 || body.reduced_count() <= std::numeric_limits<std::int32_t>::max();
  if (!fits) sum = body.cast(DType::s64, sum);
  const int mean = body.apply(Function::div, {sum, body.count()});
  return fits ? mean : body.cast(dtype, mean);
}

/// Integers' roots and logarithms are of sums in 64 bits, where they are exact or wrap as NumPy's do, and taken in f64.
int write_row(BodyWriter& body, const ReductionRow& form, int value) {
  const DType dtype = body.dtype_of(value);
  const bool is_wide = !is_floating(dtype) && (form.then == Then::root || form.then == Then::logarithm);
  if (is_wide) value = body.cast(row(dtype).kind == DTypeKind::signed_integer ? DType::s64 : DType::u64, value);
  if (form.of != Function::identity) value = body.apply(form.of, {value});
  value = body.reduce(form.monoid, value);
  if (is_wide) value = body.cast(DType::f64, value);
  switch (form.then) {
    case Then::divide_by_count: value = write_mean(body, value); break;
    case Then::root: value = body.apply(Function::sqrt, {value}); break;
    case Then::logarithm: value = body.apply(Function::log, {value}); break;
    case Then::nothing: break;
  }
  return is_wide ? body.cast(dtype, value) : value;
}

/// log(sum(exp(x - m))) + m, m being the greatest element; that one itself where it is infinite. Integers are taken as
/// f64, 16-bit floats as f32.
int write_log_sum_exp(BodyWriter& body, int value) {
  const DType dtype = body.dtype_of(value);
  value = body.cast(!is_floating(dtype) ? DType::f64 : byte_size(dtype) == 2 ? DType::f32 : dtype, value);
  const int greatest = body.reduce(Monoid::max, value);
  const int sum = body.reduce(Monoid::sum, body.apply(Function::exp, {body.apply(Function::sub, {value, greatest})}));
  const int total = body.apply(Function::add, {body.apply(Function::log, {sum}), greatest});
  return body.cast(dtype,
                   body.apply(Function::select, {body.apply(Function::is_infinite, {greatest}), greatest, total}));
}

}  // namespace

int write_arg_reduction(BodyWriter& body, const graph::Op& op, int value, DType to) {
  const bool greatest = graph::attribute_or<std::string>(op, "mode", "") == "argmax";
  const int index = body.reduce(greatest ? Monoid::argmax : Monoid::argmin, value,
                                graph::attribute_or<bool>(op, "select_last", false));
  return to == DType::s64 ? index : body.cast(to, index);
}

Result<int> write_reduction(BodyWriter& body, const graph::Op& op, int value) {
  const std::string name = graph::attribute_or<std::string>(op, "reduction", "");
  const DType dtype = body.dtype_of(value);
  for (const ReductionRow& form : kReductions)
    if (form.name == name && (dtype != DType::boolean || kernel::is_order_free(form.monoid)))
      return write_row(body, form, value);
  if (name == "log_sum_exp" && dtype != DType::boolean) return write_log_sum_exp(body, value);
  return Status(Code::unsupported_op, "no kernel for reduction '" + name + "' of " + std::string(to_string(dtype)));
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
#include "compile/cost.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::Node;

/// A core moves about 8 bytes a cycle; a step of 8 lanes takes about a cycle for a simple function, 5 for a division or
/// a root, 25 for a polynomial with its reduction of the argument.
constexpr double kSimple = 1, kDivision = 5, kPolynomial = 25;
/// To call a kernel takes about 100 ns.
constexpr double kCall = 2000;

double weight(Function function) {
  switch (function) {
    case Function::abs:
    case Function::add:
    case Function::bitwise_and:
    case Function::bitwise_not:
    case Function::bitwise_or:
    case Function::bitwise_xor:
    case Function::ceil:
    case Function::clamp:
    case Function::equal:
    case Function::floor:
    case Function::greater:
    case Function::greater_equal:
    case Function::identity:
    case Function::is_infinite:
    case Function::is_negative_infinity:
    case Function::is_positive_infinity:
    case Function::isnan:
    case Function::leakyrelu:
    case Function::less:
    case Function::less_equal:
    case Function::logical_and:
    case Function::logical_not:
    case Function::logical_or:
    case Function::logical_xor:
    case Function::max:
    case Function::min:
    case Function::mul:
    case Function::neg:
    case Function::relu:
    case Function::round:
    case Function::select:
    case Function::sign:
    case Function::square:
    case Function::sub: return kSimple;
    case Function::div:
    case Function::reciprocal:
    case Function::sqrt: return kDivision;
    default: return kPolynomial;
  }
}

double elements_of(const kernel::KernelSpec& spec, const kernel::Operand& operand) {
  double count = 1;
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (operand.strides[level] != 0) count *= static_cast<double>(spec.levels[level].extent);
  return count;
}

}  // namespace

double cost_of(const kernel::KernelSpec& spec) {
  double cost = kCall;
  for (const kernel::Operand& in : spec.inputs) cost += elements_of(spec, in) * byte_size(in.dtype);
  for (const kernel::Operand& out : spec.outputs) cost += elements_of(spec, out) * byte_size(out.dtype);
  const double rows = static_cast<double>(kernel::kept_count(spec));
  const double elements = rows * static_cast<double>(kernel::reduced_count(spec));
  const std::vector<bool> per_row = kernel::per_row(spec);
  for (std::size_t index = 0; index < spec.body.size(); ++index) {
    const Node& node = spec.body[index];
    if (node.kind == Node::Kind::apply) cost += weight(node.function) * (per_row[index] ? rows : elements);
    if (node.kind == Node::Kind::cast) cost += kSimple * (per_row[index] ? rows : elements);
    if (node.kind == Node::Kind::reduce) cost += kSimple * elements;
  }
  return cost;
}

}  // namespace tenfold::compiler

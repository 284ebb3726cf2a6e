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
  switch (kernel::row(function).effort) {
    case kernel::Effort::light: return kSimple;
    case kernel::Effort::division: return kDivision;
    case kernel::Effort::polynomial: break;
  }
  return kPolynomial;
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

// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/reciprocals.hpp"

#include <map>
#include <utility>
#include <vector>

#include "kernel/nodes.hpp"
#include "kernel/passes.hpp"
#include "kernel/words.hpp"

namespace tenfold::compiler {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Node;

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// By node: whether it is a quotient that may be such a product.
std::vector<bool> find_quotients(const KernelSpec& spec) {
  const std::vector<bool> ends = kernel::ends_in_words(spec), per_row = kernel::per_row(spec);
  const std::vector<int> passes = kernel::passes_of(spec);
  std::vector<bool> found(spec.body.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Node& node = spec.body[i];
    if (node.kind != Node::Kind::apply || node.function != Function::div) continue;
    const int divisor = node.args[1];
    const Node& of = kernel::node(spec, divisor);
    const bool is_root = of.kind == Node::Kind::apply && of.function == Function::sqrt;
    found[i] = ends[i] && is_root && kernel::dtype_of(spec, divisor) == DType::f32 && per_row[at(divisor)] &&
               passes[at(divisor)] > 0 && !per_row[i];
  }
  return found;
}

}  // namespace

KernelSpec with_reciprocals(const KernelSpec& spec) {
  const std::vector<bool> quotients = find_quotients(spec);
  KernelSpec made = spec;
  made.body.clear();
  std::vector<int> place;          // by node of `spec`
  std::map<int, int> reciprocals;  // by divisor
  const auto add = [&made](Node node) {
    made.body.push_back(std::move(node));
    return static_cast<int>(made.body.size()) - 1;
  };
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    Node node = spec.body[i];
    for (int& arg : node.args) arg = place[at(arg)];
    if (quotients[i]) {
      const int divisor = node.args[1];
      if (!reciprocals.contains(divisor)) {
        const int one = add(kernel::constant_node(DType::f32, 1));
        reciprocals[divisor] = add(kernel::apply_node(Function::div, {one, divisor}));
      }
      node = kernel::apply_node(Function::mul, {node.args[0], reciprocals[divisor]});
    }
    place.push_back(add(std::move(node)));
  }
  for (kernel::Store& store : made.stores) store.node = place[at(store.node)];
  return made;
}

}  // namespace tenfold::compiler

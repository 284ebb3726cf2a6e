// SPDX-License-Identifier: Apache-2.0
#include "jit/nan_flow.hpp"

#include <algorithm>
#include <vector>

namespace tenfold::jit {
namespace {

using kernel::Function;
using kernel::Node;

/// A NaN argument gives a NaN.
bool hands_nan_on(const Node& node) {
  if (node.kind == Node::Kind::cast) return is_floating(node.dtype);
  if (node.kind == Node::Kind::reduce) return node.monoid == kernel::Monoid::sum;
  if (node.kind != Node::Kind::apply) return false;
  switch (node.function) {
    case Function::add:
    case Function::sub:
    case Function::mul:
    case Function::div:
    case Function::neg:
    case Function::exp:
    case Function::log: return true;
    default: return false;
  }
}

class Flow {
 public:
  Flow(const kernel::KernelSpec& spec, int max) : spec_(spec), max_(max), facts_(spec.body.size()) {}

  bool only_shifts() {
    for (std::size_t i = 0; i < spec_.body.size(); ++i) {
      const Node& node = spec_.body[i];
      Fact& fact = facts_[i];
      fact.difference = is_difference(node);
      for (const int arg : node.args) {
        const Fact& of = facts_[static_cast<std::size_t>(arg)];
        if (!may_use(node, arg)) return false;
        fact.depends = fact.depends || of.depends || arg == max_;
        fact.element_is_nan = fact.element_is_nan || (of.element_is_nan && hands_nan_on(node));
        fact.row_is_nan = fact.row_is_nan || (of.row_is_nan && hands_nan_on(node));
      }
      if (fact.difference) fact.element_is_nan = true;
      if (node.kind == Node::Kind::reduce && fact.element_is_nan) fact.row_is_nan = true;
    }
    return std::all_of(spec_.stores.begin(), spec_.stores.end(), [this](const kernel::Store& store) {
      const Fact& fact = facts_[static_cast<std::size_t>(store.node)];
      return store.node != max_ && !fact.difference && (!fact.depends || fact.row_is_nan);
    });
  }

 private:
  struct Fact {
    bool depends = false;         ///< on the max
    bool difference = false;      ///< an element less the max, perhaps rounded
    bool element_is_nan = false;  ///< where the max's element is
    bool row_is_nan = false;      ///< where any of the row is
  };

  bool is_difference(const Node& node) const {
    if (node.kind == Node::Kind::cast)
      return is_floating(node.dtype) && facts_[static_cast<std::size_t>(node.args[0])].difference;
    return node.kind == Node::Kind::apply && node.function == Function::sub && node.args[1] == max_ &&
           node.args[0] == spec_.body[static_cast<std::size_t>(max_)].args[0];
  }

  /// Of the max, differences; of these, exponentials, and what is taken from them.
  bool may_use(const Node& node, int arg) const {
    if (arg == max_) return is_difference(node);
    if (!facts_[static_cast<std::size_t>(arg)].difference || is_difference(node)) return true;
    if (node.kind != Node::Kind::apply) return false;
    return node.function == Function::exp ||
           (node.function == Function::sub && node.args[0] == arg && node.args[1] != arg);
  }

  const kernel::KernelSpec& spec_;
  int max_;
  std::vector<Fact> facts_;
};

}  // namespace

bool only_shifts_exponents(const kernel::KernelSpec& spec, int node) { return Flow(spec, node).only_shifts(); }

}  // namespace tenfold::jit

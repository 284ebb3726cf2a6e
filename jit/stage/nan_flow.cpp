// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/nan_flow.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "schedule/arg_body.hpp"

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
  /// `guarded`: where the max is infinite, all may be otherwise.
  Flow(const kernel::KernelSpec& spec, int max, bool guarded)
      : spec_(spec), max_(max), guarded_(guarded), facts_(spec.body.size()) {}

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
      if (is_guarded(node)) fact.row_is_nan = facts_[static_cast<std::size_t>(node.args[2])].row_is_nan;
      if (node.kind == Node::Kind::reduce && fact.element_is_nan && !schedule::is_arg_reduction(node))
        fact.row_is_nan = true;
    }
    return std::all_of(spec_.stores.begin(), spec_.stores.end(), [this](const kernel::Store& store) {
      const Fact& fact = facts_[static_cast<std::size_t>(store.node)];
      return store.node != max_ && !fact.difference &&
             (!fact.depends || fact.row_is_nan || is_index_of_nans(store.node));
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
           node.args[0] == at(max_).args[0];
  }

  /// A logarithm, or 0 times a sum of exponentials, that is NaN where any of the row is, plus the max: neither is -0,
  /// so that the sum is the same with either zero.
  bool is_beside_what_shows_nan(const Node& node) const {
    if (node.kind != Node::Kind::apply || node.function != Function::add) return false;
    const int other = node.args[node.args[0] == max_ ? 1 : 0];
    const Node& of = at(other);
    if (of.kind != Node::Kind::apply || !facts_[static_cast<std::size_t>(other)].row_is_nan) return false;
    return of.function == Function::log ||
           (of.function == Function::mul && is_sum_of_exponentials(at(of.args[0])) && is_zero(at(of.args[1])));
  }

  const Node& at(int node) const { return kernel::node(spec_, node); }
  bool is_sum_of_exponentials(const Node& node) const {
    if (node.kind != Node::Kind::reduce || node.monoid != kernel::Monoid::sum) return false;
    const Node& of = at(node.args[0]);
    return of.kind == Node::Kind::apply && of.function == Function::exp;
  }
  static bool is_zero(const Node& node) {
    return node.kind == Node::Kind::constant && node.value == 0 && !std::signbit(node.value);
  }

  /// The index of an extreme, which is 0 or the last one where all elements are NaN.
  bool is_index_of_nans(int index) const {
    const Node& node = at(index);
    return schedule::is_arg_reduction(node) && facts_[static_cast<std::size_t>(node.args[0])].row_is_nan;
  }

  bool is_guard(const Node& node) const {
    return guarded_ && node.kind == Node::Kind::apply && node.function == Function::is_infinite && node.args[0] == max_;
  }

  /// The max itself where it is infinite, or else what does not need it.
  bool is_guarded(const Node& node) const {
    return guarded_ && node.kind == Node::Kind::apply && node.function == Function::select &&
           is_guard(at(node.args[0])) && node.args[1] == max_ && node.args[2] != max_;
  }

  /// Of the max, differences, and sums that show NaN; of differences, exponentials, and what is taken from them.
  bool may_use(const Node& node, int arg) const {
    if (arg == max_) return is_difference(node) || is_beside_what_shows_nan(node) || is_guard(node) || is_guarded(node);
    if (is_guard(at(arg))) return is_guarded(node) && node.args[2] != arg;
    if (!facts_[static_cast<std::size_t>(arg)].difference || is_difference(node)) return true;
    if (node.kind != Node::Kind::apply) return false;
    return node.function == Function::exp ||
           (node.function == Function::sub && node.args[0] == arg && node.args[1] != arg);
  }

  const kernel::KernelSpec& spec_;
  int max_;
  bool guarded_;
  std::vector<Fact> facts_;
};

/// What is known of the lower 16 bits of f32 lanes.
enum class Bits : std::uint8_t {
  any,
  short_nans,   ///< of a NaN they are 0
  short_values  ///< they are 0
};

/// `least`: of the arguments, the first of which is `from`.
Bits bits_of(const Node& node, DType dtype, DType from, Bits least) {
  const bool has_bf16 = dtype == DType::bf16;
  switch (node.kind) {
    case Node::Kind::scan:
    case Node::Kind::rank: return Bits::any;
    case Node::Kind::load: return has_bf16 ? Bits::short_values : Bits::any;
    case Node::Kind::constant: return is_floating(dtype) && !std::isnan(node.value) ? Bits::short_nans : Bits::any;
    case Node::Kind::count: return Bits::short_nans;
    case Node::Kind::cast:
      if (has_bf16 && from != DType::f64) return Bits::short_values;
      if (!is_floating(node.dtype) || least == Bits::any) return Bits::any;
      return has_bf16 ? Bits::short_values : Bits::short_nans;
    case Node::Kind::reduce:
      if (kernel::row(node.monoid).state == kernel::State::order)
        return least == Bits::short_values ? least : Bits::any;
      return kernel::row(node.monoid).state == kernel::State::chained ? std::min(least, Bits::short_nans) : Bits::any;
    case Node::Kind::apply: break;
  }
  switch (node.function) {
    case Function::add:
    case Function::sub:
    case Function::mul:
    case Function::div:
    case Function::sqrt:
    case Function::square:
    case Function::exp: return std::min(least, Bits::short_nans);
    case Function::neg:
    case Function::abs: return least;
    // Bits of a NaN and of a number may be joined.
    case Function::max:
    case Function::min: return least == Bits::short_values ? least : Bits::any;
    default: return Bits::any;
  }
}

}  // namespace

bool only_shifts_exponents(const kernel::KernelSpec& spec, int node) { return Flow(spec, node, false).only_shifts(); }

bool only_shifts_where_finite(const kernel::KernelSpec& spec, int node) { return Flow(spec, node, true).only_shifts(); }

bool has_short_nans(const kernel::KernelSpec& spec, int node) {
  const DType dtype = kernel::dtype_of(spec, node);
  if (dtype != DType::f32 && dtype != DType::bf16) return false;
  std::vector<Bits> bits;
  for (int i = 0; i <= node; ++i) {
    const Node& at = kernel::node(spec, i);
    Bits least = Bits::short_values;
    for (const int arg : at.args) least = std::min(least, bits[static_cast<std::size_t>(arg)]);
    const DType from = at.args.empty() ? dtype : kernel::dtype_of(spec, at.args.front());
    bits.push_back(bits_of(at, kernel::dtype_of(spec, i), from, least));
  }
  return bits.back() != Bits::any;
}

}  // namespace tenfold::jit

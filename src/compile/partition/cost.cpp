// SPDX-License-Identifier: Apache-2.0
#include "compile/partition/cost.hpp"

#include <algorithm>
#include <vector>

#include "kernel/passes.hpp"

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

/// What evaluating functions of elements again in later passes costs: a pass computes anew all that it needs of passes
/// before it, but for one value, which scratch or an output keeps (Schedule::keep). Per element, of what is no light
/// function.
class Recomputed {
 public:
  explicit Recomputed(const kernel::KernelSpec& spec)
      : body_(spec.body),
        per_row_(kernel::per_row(spec)),
        pass_(kernel::passes_of(spec)),
        wanted_(static_cast<std::size_t>(kernel::pass_count(spec))) {
    for (std::size_t node = 0; node < body_.size(); ++node)
      if (body_[node].kind == Node::Kind::reduce) want(static_cast<std::size_t>(pass_[node]) - 1, body_[node].args[0]);
    for (const kernel::Store& store : spec.stores)
      if (!per_row_[at(store.node)]) want(static_cast<std::size_t>(pass_[at(store.node)]), store.node);
  }

  double weight() const {
    double once = 0;
    for (std::size_t node = 0; node < body_.size(); ++node) once += own_weight(node);
    double least = in_passes(kNone);
    for (std::size_t node = 0; node < body_.size() && least > once; ++node)
      if (is_worth_keeping(node)) least = std::min(least, in_passes(node));
    return std::max(0.0, least - once);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }

  void want(std::size_t pass, int node) {
    if (pass < wanted_.size()) wanted_[pass].push_back(node);
  }
  double own_weight(std::size_t node) const {
    if (per_row_[node] || body_[node].kind != Node::Kind::apply) return 0;
    const double own = compiler::weight(body_[node].function);
    return own > kSimple ? own : 0;
  }
  bool is_worth_keeping(std::size_t node) const {
    const auto& args = body_[node].args;
    return own_weight(node) > 0 ||
           (!per_row_[node] && body_[node].kind == Node::Kind::apply &&
            std::any_of(args.begin(), args.end(), [&](int arg) { return own_weight(at(arg)) > 0; }));
  }
  double in_passes(std::size_t kept) const {
    double sum = 0;
    for (std::size_t pass = 0; pass < wanted_.size(); ++pass) {
      std::vector<bool> needed(body_.size(), false);
      for (const int node : wanted_[pass]) needed[at(node)] = true;
      for (std::size_t node = body_.size(); node-- > 0;) {
        const bool is_there = node == kept && pass > at(pass_[node]);
        if (!needed[node] || per_row_[node] || is_there) continue;
        sum += own_weight(node);
        for (const int arg : body_[node].args) needed[at(arg)] = true;
      }
    }
    return sum;
  }

  const std::vector<Node>& body_;
  std::vector<bool> per_row_;
  std::vector<int> pass_;
  std::vector<std::vector<int>> wanted_;  ///< by pass: values of elements that it reduces or stores
};

}  // namespace

double cost_of(const kernel::KernelSpec& spec) {
  double cost = kCall + static_cast<double>(kernel::bytes_moved(spec));
  const double rows = static_cast<double>(kernel::kept_count(spec));
  const double elements = rows * static_cast<double>(kernel::reduced_count(spec));
  const std::vector<bool> per_row = kernel::per_row(spec);
  for (std::size_t index = 0; index < spec.body.size(); ++index) {
    const Node& node = spec.body[index];
    if (node.kind == Node::Kind::apply) cost += weight(node.function) * (per_row[index] ? rows : elements);
    if (node.kind == Node::Kind::cast) cost += kSimple * (per_row[index] ? rows : elements);
    if (node.kind == Node::Kind::reduce) cost += kSimple * elements;
  }
  return cost + Recomputed(spec).weight() * elements;
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
#include "kernel/moments.hpp"

namespace tenfold::kernel {
namespace {

class Matcher {
 public:
  explicit Matcher(const KernelSpec& spec) : spec_(spec) {}

  int sum_beside(int index) const {
    const Node& squares = node(index);
    if (!is_sum(squares) || !is_f32(squares.args[0])) return -1;
    const Node& square = node(squares.args[0]);
    if (square.kind != Node::Kind::apply) return -1;
    if (square.function == Function::squared_difference) return sum_of_mean(square.args[0], square.args[1]);
    const bool is_product = square.function == Function::mul && square.args[0] == square.args[1];
    if (square.function != Function::square && !is_product) return -1;
    const Node& rest = node(square.args[0]);
    const bool is_difference = rest.kind == Node::Kind::apply && rest.function == Function::sub;
    return is_difference ? sum_of_mean(rest.args[0], rest.args[1]) : -1;
  }

 private:
  const Node& node(int index) const { return kernel::node(spec_, index); }
  bool is_f32(int index) const { return dtype_of(spec_, index) == DType::f32; }
  static bool is_sum(const Node& of) { return of.kind == Node::Kind::reduce && of.monoid == Monoid::sum; }

  /// The sum of the elements of which `mean` is the mean.
  int sum_of_mean(int element, int mean) const {
    const Node& quotient = node(mean);
    const bool by_count = quotient.kind == Node::Kind::apply && quotient.function == Function::div &&
                          node(quotient.args[1]).kind == Node::Kind::count;
    if (!by_count || !is_f32(element)) return -1;
    const Node& sum = node(quotient.args[0]);
    return is_sum(sum) && sum.args[0] == element ? quotient.args[0] : -1;
  }

  const KernelSpec& spec_;
};

}  // namespace

std::vector<int> sums_beside_moments(const KernelSpec& spec) {
  const Matcher matcher(spec);
  std::vector<int> sums;
  sums.reserve(spec.body.size());
  for (int i = 0; i < static_cast<int>(spec.body.size()); ++i) sums.push_back(matcher.sum_beside(i));
  return sums;
}

}  // namespace tenfold::kernel

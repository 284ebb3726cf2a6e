// SPDX-License-Identifier: Apache-2.0
#include "kernel/exponentials.hpp"

namespace tenfold::kernel {

bool is_sum_of_exponentials(const KernelSpec& spec, int sum, int max) {
  const auto reduces = [&](int index, Monoid monoid) {
    return node(spec, index).kind == Node::Kind::reduce && node(spec, index).monoid == monoid;
  };
  if (!reduces(sum, Monoid::sum) || !reduces(max, Monoid::max) || !is_floating(dtype_of(spec, sum))) return false;
  const Node& exponential = node(spec, node(spec, sum).args[0]);
  if (exponential.kind != Node::Kind::apply || exponential.function != Function::exp) return false;
  const Node& difference = node(spec, exponential.args[0]);
  return difference.kind == Node::Kind::apply && difference.function == Function::sub &&
         difference.args == std::vector<int>{node(spec, max).args[0], max};
}

std::vector<int> maxima_beside_exponentials(const KernelSpec& spec) {
  std::vector<int> maxima(spec.body.size(), -1);
  for (int sum = 0; sum < static_cast<int>(maxima.size()); ++sum)
    for (int max = 0; max < sum; ++max)
      if (is_sum_of_exponentials(spec, sum, max) && dtype_of(spec, max) == DType::f32 &&
          dtype_of(spec, node(spec, sum).args[0]) == DType::f32)
        maxima[static_cast<std::size_t>(sum)] = max;
  return maxima;
}

}  // namespace tenfold::kernel

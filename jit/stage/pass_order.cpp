// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/pass_order.hpp"

#include <algorithm>

namespace tenfold::jit {

std::vector<bool> find_backward_passes(const Stages& stages) {
  const auto keeps_order = [&](const StagePass& pass) {
    return std::any_of(pass.reductions.begin(), pass.reductions.end(), [&](int r) {
      return !kernel::is_order_free(stages.reductions[static_cast<std::size_t>(r)].monoid);
    });
  };
  const std::vector<StagePass>& passes = stages.passes;
  const auto first = static_cast<std::size_t>(std::find_if(passes.begin(), passes.end(), keeps_order) - passes.begin());
  std::vector<bool> backward(passes.size());
  for (std::size_t pass = first == passes.size() ? 0 : first; pass-- > 0;) backward[pass] = !backward[pass + 1];
  for (std::size_t pass = first == passes.size() ? 1 : first + 1; pass < passes.size(); ++pass)
    backward[pass] = !keeps_order(passes[pass]) && !backward[pass - 1];
  return backward;
}

std::vector<bool> find_reverse_passes(const Stages& stages) {
  std::vector<bool> reverse;
  for (const StagePass& pass : stages.passes)
    reverse.push_back(std::ranges::any_of(
        pass.reductions, [&](int r) { return stages.reductions[static_cast<std::size_t>(r)].reverse; }));
  return reverse;
}

}  // namespace tenfold::jit

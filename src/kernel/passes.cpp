// SPDX-License-Identifier: Apache-2.0
#include "kernel/passes.hpp"

#include <algorithm>

namespace tenfold::kernel {

std::vector<int> passes_of(const KernelSpec& spec) {
  std::vector<int> passes;
  for (const Node& node : spec.body) {
    int own = 0;
    for (const int arg : node.args) own = std::max(own, passes[static_cast<std::size_t>(arg)]);
    passes.push_back(own + (node.kind == Node::Kind::reduce ? 1 : 0));
  }
  return passes;
}

}  // namespace tenfold::kernel

// SPDX-License-Identifier: Apache-2.0
#include "kernel/passes.hpp"

#include <algorithm>

namespace tenfold::kernel {

namespace {

/// Whether it takes all elements of a row.
bool reduces(const Node& node) { return node.kind == Node::Kind::reduce || node.kind == Node::Kind::rank; }

}  // namespace

std::vector<int> passes_of(const KernelSpec& spec) {
  std::vector<int> passes;
  for (const Node& node : spec.body) {
    int own = 0;
    for (const int arg : node.args) own = std::max(own, passes[static_cast<std::size_t>(arg)]);
    passes.push_back(own + (reduces(node) ? 1 : 0));
  }
  return passes;
}

int pass_count(const KernelSpec& spec) {
  const std::vector<bool> is_per_row = per_row(spec);
  const std::vector<int> pass = passes_of(spec);
  int count = 0;
  for (std::size_t i = 0; i < pass.size(); ++i)
    if (reduces(spec.body[i])) count = std::max(count, pass[i]);
  for (const Store& store : spec.stores)
    if (const auto node = static_cast<std::size_t>(store.node); !is_per_row[node])
      count = std::max(count, pass[node] + 1);
  return count;
}

}  // namespace tenfold::kernel

// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/kept_value.hpp"

#include <algorithm>

namespace tenfold::jit {

using kernel::Node;

bool is_read_after(const kernel::KernelSpec& spec, const std::vector<Position>& positions, int node, int pass) {
  std::vector<bool> needs(spec.body.size());
  needs[static_cast<std::size_t>(node)] = true;
  for (std::size_t i = 0; i < spec.body.size(); ++i)
    for (const int arg : spec.body[i].args)
      if (needs[static_cast<std::size_t>(arg)] && !positions[i].per_row) needs[i] = true;
  for (std::size_t i = 0; i < spec.body.size(); ++i)
    if (spec.body[i].kind == Node::Kind::reduce && positions[i].pass - 1 > pass &&
        needs[static_cast<std::size_t>(spec.body[i].args[0])])
      return true;
  return std::any_of(spec.stores.begin(), spec.stores.end(), [&](const kernel::Store& store) {
    return needs[static_cast<std::size_t>(store.node)] && positions[static_cast<std::size_t>(store.node)].pass > pass;
  });
}

bool stands_alone(const kernel::KernelSpec& spec, const std::vector<Position>& positions, const KeptValue& kept) {
  std::vector<bool> reads_input, reads_kept;
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    const Node& at = spec.body[i];
    const bool is_kept = static_cast<int>(i) == kept.node, per_row = positions[i].per_row;
    const auto any = [&at](const std::vector<bool>& of) {
      return std::any_of(at.args.begin(), at.args.end(), [&of](int arg) { return of[static_cast<std::size_t>(arg)]; });
    };
    reads_input.push_back(!is_kept && !per_row && (at.kind == Node::Kind::load || any(reads_input)));
    reads_kept.push_back(is_kept || (!per_row && any(reads_kept)));
    const bool later = at.kind == Node::Kind::reduce && positions[i].pass - 1 > kept.pass;
    if (later && (any(reads_input) || any(reads_kept))) return false;
  }
  return std::none_of(spec.stores.begin(), spec.stores.end(), [&](const kernel::Store& store) {
    const auto node = static_cast<std::size_t>(store.node);
    if (positions[node].per_row) return false;
    const bool later = positions[node].pass > kept.pass;
    return (later && reads_input[node]) || (later && store.output != kept.output && reads_kept[node]);
  });
}

}  // namespace tenfold::jit

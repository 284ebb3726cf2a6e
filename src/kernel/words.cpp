// SPDX-License-Identifier: Apache-2.0
#include "kernel/words.hpp"

namespace tenfold::kernel {

/// From the last node to the first, so that it is known of all that is made of one.
std::vector<bool> ends_in_words(const KernelSpec& spec) {
  std::vector<bool> ends(spec.body.size(), true);
  for (const Store& store : spec.stores) ends[static_cast<std::size_t>(store.node)] = false;
  for (int user = static_cast<int>(spec.body.size()) - 1; user >= 0; --user) {
    const Node& made = node(spec, user);
    const bool rounds = made.kind == Node::Kind::cast && is_floating(made.dtype) && byte_size(made.dtype) == 2;
    const bool is_linear =
        made.kind == Node::Kind::apply && (made.function == Function::add || made.function == Function::mul);
    if (rounds || (is_linear && ends[static_cast<std::size_t>(user)] && dtype_of(spec, user) == DType::f32)) continue;
    for (const int arg : made.args) ends[static_cast<std::size_t>(arg)] = false;
  }
  return ends;
}

}  // namespace tenfold::kernel

// SPDX-License-Identifier: Apache-2.0
#include "schedule/stage_traits.hpp"

#include <algorithm>
#include <vector>

#include "kernel/passes.hpp"

namespace tenfold::schedule {

using kernel::KernelSpec;

bool writes_elements(const KernelSpec& spec) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  return std::any_of(spec.stores.begin(), spec.stores.end(),
                     [&](const kernel::Store& store) { return !per_row[static_cast<std::size_t>(store.node)]; });
}

bool stores_value(const KernelSpec& spec, int value) {
  const kernel::Node& at = kernel::node(spec, value);
  const int unrounded = at.kind == kernel::Node::Kind::cast ? at.args[0] : value;
  return std::any_of(spec.stores.begin(), spec.stores.end(), [&](const kernel::Store& store) {
    const DType dtype = spec.outputs[static_cast<std::size_t>(store.output)].dtype;
    return (store.node == value || store.node == unrounded) && dtype == kernel::dtype_of(spec, value);
  });
}

std::ptrdiff_t reductions(const KernelSpec& spec) {
  return std::count_if(spec.body.begin(), spec.body.end(),
                       [](const kernel::Node& node) { return node.kind == kernel::Node::Kind::reduce; });
}

bool reduces_one_at_a_time(const KernelSpec& spec) {
  const std::vector<int> pass = kernel::passes_of(spec);
  std::vector<int> seen;
  for (std::size_t i = 0; i < pass.size(); ++i)
    if (spec.body[i].kind == kernel::Node::Kind::reduce) seen.push_back(pass[i]);
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

std::ptrdiff_t expensive_functions(const KernelSpec& spec) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    count += kernel::is_expensive(spec.body[i]) && !per_row[i] ? 1 : 0;
  }
  return count;
}

int moving_inputs(const KernelSpec& spec) {
  return static_cast<int>(std::count_if(spec.inputs.begin(), spec.inputs.end(), [&](const kernel::Operand& input) {
    return kernel::moves_along_reduced(spec, input);
  }));
}

}  // namespace tenfold::schedule

// SPDX-License-Identifier: Apache-2.0
#include "schedule/stage_traits.hpp"

#include <algorithm>
#include <vector>

#include "kernel/exponentials.hpp"
#include "kernel/passes.hpp"

namespace tenfold::schedule {

using kernel::KernelSpec;

namespace {

/// What a column ends with then takes as long as some twenty elements.
constexpr std::int64_t kLeastRowsOfPowers = 256;
/// Exponentials that are asked for again are computed again then, which takes longer than another pass where a cache
/// holds what is read.
constexpr std::int64_t kLeastBytesOfPowers = 4 << 20;

}  // namespace

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

bool is_read_again(const KernelSpec& spec, int node) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  const std::vector<int> pass = kernel::passes_of(spec);
  std::vector<bool> reads(spec.body.size());
  const int own = pass[static_cast<std::size_t>(node)];
  reads[static_cast<std::size_t>(node)] = true;
  for (std::size_t i = 0; i < spec.body.size(); ++i)
    for (const int arg : spec.body[i].args)
      if (reads[static_cast<std::size_t>(arg)] && !per_row[i]) reads[i] = true;
  return std::any_of(spec.stores.begin(), spec.stores.end(), [&](const kernel::Store& store) {
    return reads[static_cast<std::size_t>(store.node)] && pass[static_cast<std::size_t>(store.node)] > own;
  });
}

std::vector<int> maxima_in_one_pass(const KernelSpec& spec) {
  std::vector<int> maxima = kernel::maxima_beside_exponentials(spec);
  for (int sum = 0; sum < static_cast<int>(maxima.size()); ++sum) {
    int& max = maxima[static_cast<std::size_t>(sum)];
    const bool again = max >= 0 && is_read_again(spec, kernel::node(spec, sum).args[0]);
    if (kernel::reduced_count(spec) < kLeastRowsOfPowers || (again && kernel::bytes_read(spec) < kLeastBytesOfPowers))
      max = -1;
  }
  return maxima;
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

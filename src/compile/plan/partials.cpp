// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/partials.hpp"

#include <algorithm>
#include <utility>

#include "kernel/nodes.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;
using kernel::Node;

std::size_t reduce_node(const KernelSpec& spec) {
  const auto at = std::find_if(spec.body.begin(), spec.body.end(),
                               [](const Node& node) { return node.kind == Node::Kind::reduce; });
  return static_cast<std::size_t>(at - spec.body.begin());
}

/// The part before: the body up to the reduction, stored unfinished.
KernelSpec first_part(const KernelSpec& spec, DType partial) {
  KernelSpec first = spec;
  const std::size_t reduce = reduce_node(spec);
  first.body.resize(reduce + 1);
  first.stores = {{0, static_cast<int>(reduce)}};
  first.outputs[0] = {partial, kernel::dense_kept_strides(spec)};
  return first;
}

/// The part after, over levels that are yet to be said: the same reduction of what was handed on, then what the body
/// does after it.
KernelSpec second_part(const KernelSpec& spec, DType partial) {
  KernelSpec second;
  second.inputs.push_back({partial, {}});
  second.outputs.push_back({spec.outputs[0].dtype, {}});
  const std::size_t reduce = reduce_node(spec);
  second.body.push_back(kernel::load_node(0));
  for (std::size_t index = reduce; index < spec.body.size(); ++index) {
    Node node = spec.body[index];
    for (int& arg : node.args) arg = std::max(0, arg - static_cast<int>(reduce) + 1);
    second.body.push_back(std::move(node));
  }
  second.stores = {{0, static_cast<int>(second.body.size()) - 1}};
  return second;
}

void add_level(KernelSpec& spec, kernel::Level level, std::int64_t input_stride, std::int64_t output_stride) {
  spec.levels.push_back(level);
  spec.inputs[0].strides.push_back(input_stride);
  spec.outputs[0].strides.push_back(output_stride);
}

/// The levels of the kernel after: the pieces, reduced, then those that `spec` keeps; its output's strides as given.
void add_levels_of_pieces(KernelSpec& second, const KernelSpec& spec, std::int64_t pieces,
                          const std::vector<std::int64_t>& output_strides) {
  add_level(second, {pieces, true}, kernel::kept_count(spec), 0);
  const std::vector<std::int64_t> dense = kernel::dense_kept_strides(spec);
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (!spec.levels[level].reduced) add_level(second, spec.levels[level], dense[level], output_strides[level]);
  if (second.levels.size() == 1) add_level(second, {1, false}, 1, 1);
}

/// One after the other, with `bytes` between them.
KernelCut one_after_another(KernelSpec first, KernelSpec second, std::int64_t bytes, double count) {
  const Place between{Place::Kind::between, 0, 0};
  KernelCut cut;
  cut.kernels.push_back({std::move(first), {Place{}}, {between}, count});
  cut.kernels.push_back({std::move(second), {between}, {Place{}}, count});
  cut.between = {bytes};
  return cut;
}

/// The same of a first kernel that writes `partial` of each piece.
KernelCut split(KernelSpec first, KernelSpec second, DType partial, std::int64_t pieces, double count) {
  const std::int64_t piece_bytes = kernel::kept_count(first) * byte_size(partial);
  KernelCut cut = one_after_another(std::move(first), std::move(second), pieces * piece_bytes, count);
  cut.kernels[0].partial_stride_bytes = piece_bytes;
  return cut;
}

double count_of(const KernelSpec& spec) { return static_cast<double>(kernel::reduced_count(spec)); }

}  // namespace

KernelCut in_pieces(const KernelSpec& spec, DType partial, std::int64_t pieces) {
  KernelSpec second = second_part(spec, partial);
  add_levels_of_pieces(second, spec, pieces, spec.outputs[0].strides);
  return split(first_part(spec, partial), std::move(second), partial, pieces, count_of(spec));
}

KernelCut index_in_pieces(const KernelSpec& spec, std::int64_t pieces) {
  KernelSpec second = second_part(spec, spec.inputs[0].dtype);
  second.outputs[0].dtype = DType::s32;
  add_levels_of_pieces(second, spec, pieces, kernel::dense_kept_strides(spec));
  return split(first_part(spec, DType::s32), std::move(second), DType::s32, pieces, 0);
}

Result<KernelCut> with_levels_apart(const KernelSpec& spec, DType partial, const std::vector<int>& levels) {
  KernelSpec kept = spec;
  for (const int level : levels) kept.levels[static_cast<std::size_t>(level)].reduced = false;
  KernelSpec first = first_part(kept, partial), second = second_part(spec, partial);
  const std::vector<std::int64_t> dense = kernel::dense_kept_strides(kept);
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (!kept.levels[level].reduced)
      add_level(second, spec.levels[level], dense[level], spec.outputs[0].strides[level]);
  for (KernelSpec* part : {&first, &second}) {
    Result<KernelSpec> collapsed = kernel::collapse(std::move(*part));
    if (!collapsed.ok()) return collapsed.status();
    *part = std::move(collapsed).value();
  }
  return one_after_another(std::move(first), std::move(second), kernel::kept_count(kept) * byte_size(partial),
                           count_of(spec));
}

}  // namespace tenfold::compiler

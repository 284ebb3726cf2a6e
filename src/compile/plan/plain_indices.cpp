// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/plain_indices.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "compile/plan/body_rest.hpp"
#include "compile/plan/kernel_draft.hpp"
#include "kernel/passes.hpp"
#include "schedule/arg_body.hpp"
#include "schedule/body.hpp"
#include "schedule/levels.hpp"
#include "schedule/packed.hpp"
#include "schedule/stage_traits.hpp"
#include "schedule/turned.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;
using kernel::Node;

/// Up to so much, which the caches hold, the input may be read once more.
constexpr std::int64_t kMostNearBytes = 16 << 20;
/// Longer packed rows of 32 bits take longer to read twice.
constexpr std::int64_t kMostPackedTwice = 128;

bool is_index_of_input(const KernelSpec& spec, const Node& node) {
  return schedule::is_arg_reduction(node) && kernel::node(spec, node.args[0]).kind == Node::Kind::load;
}

bool runs_along_rows(const KernelSpec& spec) {
  return kernel::level(spec, schedule::vector_level_of(spec, spec.inputs[0])).reduced;
}

/// Stages take a step for each of such rows; an index alone takes several rows a step.
bool has_narrow_columns(const KernelSpec& spec) {
  constexpr std::int64_t kStep = 16;
  return !runs_along_rows(spec) && !schedule::turned_levels(spec).found() &&
         kernel::level(spec, schedule::vector_level_of(spec, spec.inputs[0])).extent < kStep;
}

class IndexCutter {
 public:
  explicit IndexCutter(const KernelSpec& spec) : spec_(spec), users_(spec.body.size(), 0), rest_(spec) {
    for (const Node& node : spec.body)
      for (const int arg : node.args) ++users_[at(arg)];
    for (const kernel::Store& store : spec.stores) ++users_[at(store.node)];
  }

  KernelCut run(const RowPieces& pieces) {
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i)
      if (is_of_input(i)) indices_.push_back(i);
    if (indices_.empty() || is_shared_alone(spec_)) return {};
    for (const int index : indices_)
      if (!add_index(index)) return {};
    return add_rest() && pays(pieces) ? made_.finish() : KernelCut();
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  const Node& node(int index) const { return kernel::node(spec_, index); }

  bool is_of_input(int index) const { return is_index_of_input(spec_, node(index)); }

  /// The output that takes the index, and nothing else does.
  const kernel::Store* only_store(int index) const {
    const auto store = std::ranges::find(spec_.stores, index, &kernel::Store::node);
    return store == spec_.stores.end() || users_[at(index)] > 1 ? nullptr : &*store;
  }

  bool add_index(int index) {
    KernelDraft draft(spec_.levels);
    const int input = node(node(index).args[0]).index;
    Node reduction = node(index);
    reduction.args = {draft.load(spec_.inputs[at(input)], {Place::Kind::operand, input, 0})};
    const int made = draft.add(std::move(reduction));
    if (const kernel::Store* store = only_store(index)) {
      draft.store(made, spec_.outputs[at(store->output)], {Place::Kind::operand, store->output, 0});
      rest_.leave_out(store->output);
    } else {
      const Place buffer = made_.new_buffer(kernel::kept_count(spec_), DType::s64);
      draft.store(made, {DType::s64, kernel::dense_kept_strides(spec_)}, buffer);
      rest_.find(index, DType::s64, buffer);
    }
    return made_.add(draft, kernel::reduced_count(spec_), {}).ok();
  }

  /// What is left. If it reduces nothing it is of rows, and neither stores elements nor counts them.
  bool add_rest() {
    const auto is_left = [this](int node) { return std::ranges::find(indices_, node) == indices_.end(); };
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i)
      reduces_ = reduces_ || (node(i).kind == Node::Kind::reduce && is_left(i));
    if (!reduces_ && schedule::writes_elements(spec_)) return false;
    KernelDraft draft = rest_.draft(reduces_);
    if (!draft.stores()) return true;
    if (rest_.counts(draft) && !reduces_) return false;
    Result<CutKernel> kernel = draft.finish(static_cast<double>(kernel::reduced_count(spec_)));
    if (!kernel.ok()) return false;
    left_ = kernel.value().spec;
    made_.add(std::move(kernel).value());
    return true;
  }

  /// Where nothing else reads the elements; where they are narrow, or several reductions would want more vectors than
  /// there are, and near; or where the rows are in pieces without it.
  bool pays(const RowPieces& pieces) const {
    if (schedule::read_body(spec_).ok()) return pays_beside_extreme();
    if ((!reduces_ && indices_.size() == 1) || has_narrow_columns(spec_)) return true;
    const kernel::Operand& input = spec_.inputs[at(node(node(indices_[0]).args[0]).index)];
    const bool near = kernel::bytes_read(spec_) <= kMostNearBytes;
    if (near && (byte_size(input.dtype) <= 2 || indices_.size() > 1)) return true;
    return reduces_ && row_cut(left_, pieces).cuts();
  }

  /// One kernel gives the two alone as well, but in lanes of 32 bits, and of short rows turned: of narrow elements, and
  /// of packed rows, both are faster by themselves. Of an index alone there is nothing to cut off.
  bool pays_beside_extreme() const {
    if (!reduces_ || kernel::bytes_read(spec_) > kMostNearBytes || kernel::kept_count(spec_) < kFewRows) return false;
    const bool blocks = schedule::turned_levels(spec_).found() && !spec_.levels.back().reduced;
    const int bytes = byte_size(spec_.inputs[0].dtype);
    if (bytes <= 2) return !blocks;
    const Result<schedule::ReduceBody> extreme = schedule::read_body(left_);
    return bytes == 4 && kernel::reduced_count(left_) <= kMostPackedTwice && extreme.ok() &&
           schedule::packs(left_, extreme.value());
  }

  const KernelSpec& spec_;
  std::vector<int> users_;  ///< by node: how many ask for it
  std::vector<int> indices_;
  BodyRest rest_;
  bool reduces_ = false;  ///< what is left
  KernelSpec left_;
  CutDraft made_;
};

}  // namespace

KernelCut cut_off_indices(const KernelSpec& spec, const RowPieces& pieces) {
  if (!schedule::has_arg_reduction(spec)) return {};
  return IndexCutter(spec).run(pieces);
}

bool is_shared_alone(const KernelSpec& spec) {
  constexpr std::int64_t kLeastBytes = 1 << 20, kFewColumns = 1024;
  return kernel::bytes_read(spec) >= kLeastBytes &&
         kernel::kept_count(spec) < (runs_along_rows(spec) ? kFewRows : kFewColumns) &&
         std::ranges::any_of(spec.body, [&spec](const Node& node) { return is_index_of_input(spec, node); });
}

bool has_slow_index(const KernelSpec& spec) {
  const std::vector<int> passes = kernel::passes_of(spec);
  const bool rows = runs_along_rows(spec), narrow = has_narrow_columns(spec);
  const bool turned = schedule::turned_levels(spec).found() && !spec.levels.back().reduced;
  if (turned || (!narrow && kernel::bytes_read(spec) > kMostNearBytes)) return false;
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    const Node& node = spec.body[i];
    if (!schedule::is_arg_reduction(node) || is_index_of_input(spec, node)) continue;
    if (narrow) return true;
    const bool slow =
        rows || passes[i] > 1 || schedule::reductions(spec) > 1 || schedule::stores_value(spec, node.args[0]);
    if (byte_size(kernel::dtype_of(spec, node.args[0])) <= 2 && slow) return true;
  }
  return false;
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/pilots.hpp"

#include <algorithm>
#include <set>

#include "compile/plan/row_merges.hpp"

namespace tenfold::compiler {

using kernel::Function;
using kernel::Monoid;

Status Pilots::make(const std::vector<int>& reductions, CutDraft& cut) {
  std::set<int> sums;
  for (const int reduction : reductions)
    if (sum_beside(reduction) >= 0) sums.insert(sum_beside(reduction));
  Status status;
  for (const int sum : sums) {
    if (status.ok()) status = read_means(sum, cut);
    if (status.ok()) status = read_pilots(sum, cut);
  }
  return status;
}

Status Pilots::read_means(int sum, CutDraft& cut) {
  const std::int64_t rows = kernel::kept_count(spec_);
  const Place partials = cut.new_buffer(rows * layout_.pieces(), DType::f64), mean = cut.new_buffer(rows, DType::f64);
  Status status;
  for (const PieceRange& range : layout_.ranges()) {
    KernelDraft draft(layout_.levels_of(range));
    const int scale = draft.constant(DType::f32, kPilotScale);
    const int scaled = draft.apply(Function::mul, {body_.copy(draft, kernel::node(spec_, sum).args[0], &range), scale});
    draft.store(draft.reduce(Monoid::sum, scaled), {DType::f64, layout_.partial_strides_of_pieces()},
                layout_.partials_of(range, DType::f64, partials));
    if (status.ok()) status = cut.add(draft, range.piece, layout_.vector_level(true));
  }
  KernelDraft draft(layout_.levels_of_pieces(true));
  const int total = draft.reduce(Monoid::sum, draft.load({DType::f64, layout_.partial_strides()}, partials));
  draft.store(mean_of_scaled(draft, total, draft.count()), {DType::f64, layout_.row_strides()}, mean);
  means_[sum] = mean;
  return status.ok() ? cut.add(draft, layout_.extent(), layout_.vector_level(false)) : status;
}

Status Pilots::read_pilots(int sum, CutDraft& cut) {
  pilots_[sum] = cut.new_buffer(kernel::kept_count(spec_) * layout_.pieces(), DType::f32);
  KernelDraft draft(layout_.levels_of_pieces(false));
  const int pilot = pilot_of(draft, draft.load({DType::f64, layout_.row_strides()}, means_.at(sum)));
  draft.store(pilot, {DType::f32, layout_.partial_strides()}, pilots_.at(sum));
  return cut.add(draft, layout_.extent(), layout_.vector_level(false));
}

bool Pilots::has(int reduction) const {
  return sum_beside(reduction) >= 0 || std::find(sums_.begin(), sums_.end(), reduction) != sums_.end();
}

int Pilots::reduce(KernelDraft& draft, int reduction, const PieceRange& range) const {
  const int sum = sum_beside(reduction) < 0 ? reduction : sum_beside(reduction);
  // Once in a kernel, so that both find it; by a number that no node has.
  const int key = -1 - sum;
  if (!draft.known.contains(key)) {
    const int pilot = draft.load({DType::f32, layout_.partial_strides_of_pieces()}, pilots_.at(sum));
    const int element = body_.copy(draft, kernel::node(spec_, sum).args[0], &range);
    draft.known[key] = draft.apply(Function::sub, {element, pilot});
  }
  const int off = draft.known[key];
  return draft.reduce(Monoid::sum, sum == reduction ? off : draft.apply(Function::mul, {off, off}));
}

std::vector<std::pair<int, int>> Pilots::combine(KernelDraft& draft, const std::vector<int>& reductions,
                                                 const std::vector<int>& loaded) const {
  std::vector<std::pair<int, int>> made;
  std::map<int, int> totals;  // by reduction
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    totals[reductions[i]] = draft.reduce(kernel::node(spec_, reductions[i]).monoid, loaded[i]);
    if (!has(reductions[i])) made.emplace_back(reductions[i], totals[reductions[i]]);
  }
  const int count = draft.count();
  for (const int moment : reductions) {
    const int sum = sum_beside(moment);
    if (sum < 0) continue;
    const int mean = draft.load({DType::f64, layout_.row_strides()}, means_.at(sum));
    const RowMoments row = moments_about_pilot(draft, mean, totals.at(sum), totals.at(moment), count);
    made.emplace_back(sum, draft.apply(Function::mul, {row.mean, count}));
    made.emplace_back(moment, row.moment);
  }
  return made;
}

}  // namespace tenfold::compiler

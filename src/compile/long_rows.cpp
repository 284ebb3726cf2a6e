// SPDX-License-Identifier: Apache-2.0
#include "compile/long_rows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compile/kernel_draft.hpp"
#include "compile/row_pieces.hpp"
#include "kernel/moments.hpp"
#include "kernel/passes.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Monoid;
using kernel::Node;

/// A last piece of less is none: with one element there would be nothing to reduce.
constexpr std::int64_t kLeastPiece = 16;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// How what the pieces gave is combined.
enum class Merge : std::uint8_t {
  plain,    ///< by the reduction itself
  online,   ///< max and sum of exponentials
  moments,  ///< sums, and centred second moments beside them
};

class Cutter {
 public:
  Cutter(const KernelSpec& spec, std::int64_t piece)
      : spec_(spec),
        level_(reduced_level(spec)),
        stages_(kernel::passes_of(spec)),
        per_row_(kernel::per_row(spec)),
        sums_(kernel::sums_beside_moments(spec)),
        vector_level_(level_of_neighbours(spec)),
        extent_(spec.levels[level_].extent),
        piece_(piece) {
    while (extent_ % piece_ > 0 && extent_ % piece_ < kLeastPiece) piece_ += kLeastPiece;
    pieces_ = extent_ / piece_ + (extent_ % piece_ > 0 ? 1 : 0);
    std::int64_t step = 1;
    rows_.assign(spec.levels.size(), 0);
    for (std::size_t level = spec.levels.size(); level-- > 0;) {
      if (level == level_) continue;
      rows_[level] = step;
      step *= spec.levels[level].extent;
    }
  }

  Result<LongRows> run() {
    Status status = check();
    if (!status.ok()) return status;
    const int last = *std::max_element(stages_.begin(), stages_.end());
    for (int stage = 1; stage <= last;) {
      const Merge merge = merge_of(stage);
      const int end = stage + (merge == Merge::plain ? 1 : 2);
      const std::vector<int> reductions = reductions_of(stage, end);
      std::vector<Place> partials = new_partials(reductions, merge);
      for (std::int64_t first = 0; first < extent_ && status.ok();) {
        const std::int64_t whole = extent_ / piece_ * piece_, elements = first < whole ? whole : extent_ - whole;
        status = reduce_pieces(reductions, merge, partials, first, elements);
        first += elements;
      }
      if (status.ok()) status = combine(reductions, merge, partials, stage, end, last);
      if (!status.ok()) return status;
      stage = end;
    }
    status = store_elements();
    if (!status.ok()) return status;
    return std::move(made_);
  }

 private:
  const Node& node(int index) const { return spec_.body[at(index)]; }
  DType dtype(int index) const { return kernel::dtype_of(spec_, index); }
  bool is_reduction(int index) const { return node(index).kind == Node::Kind::reduce; }

  Status check() const {
    if (pieces_ < 2) return {Code::unsupported_shape, "rows of one piece"};
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i) {
      const Node& one = node(i);
      if (one.kind == Node::Kind::reduce && !can_combine(i))
        return {Code::unsupported_op, "results of pieces that cannot be combined"};
      // Elsewhere it would be a number of elements that one kernel has, and not another.
      for (const int arg : one.args)
        if (node(arg).kind == Node::Kind::count && (!per_row_[at(i)] || stages_[at(i)] == 0))
          return {Code::unsupported_op, "elements that are computed with their number"};
    }
    return {};
  }

  bool can_combine(int reduction) const {
    const kernel::State state = kernel::row(node(reduction).monoid).state;
    const DType of = dtype(reduction);
    if (state == kernel::State::arg || of == DType::boolean) return false;
    return state != kernel::State::chained || !is_floating(of) || byte_size(of) >= 4;
  }

  std::vector<int> reductions_of(int begin, int end) const {
    std::vector<int> found;
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i)
      if (is_reduction(i) && stages_[at(i)] >= begin && stages_[at(i)] < end) found.push_back(i);
    return found;
  }

  Merge merge_of(int stage) const {
    const std::vector<int> first = reductions_of(stage, stage + 1), second = reductions_of(stage + 1, stage + 2);
    if (first.size() == 1 && second.size() == 1 && is_sum_of_exponentials(spec_, second[0], first[0]))
      return Merge::online;
    const auto is_moment = [&](int reduction) {
      return std::find(first.begin(), first.end(), sums_[at(reduction)]) != first.end();
    };
    const bool moments = !second.empty() && std::all_of(second.begin(), second.end(), is_moment);
    return moments ? Merge::moments : Merge::plain;
  }

  /// Sums and products of f32 go on as they are, in f64.
  DType partial_dtype(int reduction) const {
    const bool chained = kernel::row(node(reduction).monoid).state == kernel::State::chained;
    return chained && dtype(reduction) == DType::f32 ? DType::f64 : dtype(reduction);
  }

  Place new_buffer(std::int64_t elements, DType of) {
    made_.between.push_back(elements * byte_size(of));
    return {Place::Kind::between, static_cast<int>(made_.between.size()) - 1, 0};
  }

  /// Of each reduction; of moments also how many elements a piece has.
  std::vector<Place> new_partials(const std::vector<int>& reductions, Merge merge) {
    const std::int64_t count = kernel::kept_count(spec_) * pieces_;
    std::vector<Place> places;
    for (const int reduction : reductions) places.push_back(new_buffer(count, partial_dtype(reduction)));
    if (merge == Merge::moments) places.push_back(new_buffer(count, DType::f64));
    return places;
  }

  bool of_columns() const { return vector_level_ != level_; }
  /// From a piece's results to the next one's: rows have theirs side by side, columns those of a piece.
  std::int64_t partial_stride() const { return of_columns() ? kernel::kept_count(spec_) : 1; }
  std::vector<std::int64_t> partial_strides() const {
    std::vector<std::int64_t> strides = rows_;
    if (!of_columns())
      for (std::int64_t& stride : strides) stride *= pieces_;
    strides[level_] = partial_stride();
    return strides;
  }

  /// The strides along the level of pieces and the one within them, in place of the one along the row.
  void split_stride(std::vector<std::int64_t>& strides) const {
    const auto level = static_cast<std::ptrdiff_t>(level_);
    strides.insert(strides.begin() + level, strides[level_] * piece_);
  }

  /// A node of the whole and all that it is made of, up to what is known or held in a buffer. Of the inputs, elements
  /// from `first` on; `split`: the draft has a level of pieces.
  int copy(KernelDraft& draft, int index, std::int64_t first, bool split) const {
    const auto known = draft.known.find(index);
    if (known != draft.known.end()) return known->second;
    int made = 0;
    if (const auto held = held_.find(index); held != held_.end()) {
      kernel::Operand operand{dtype(index), rows_};
      if (split) split_stride(operand.strides);
      made = draft.load(std::move(operand), held->second);
      if (is_online_sum(index)) made = within_its_bounds(draft, index, made);
    } else if (is_exponential(index)) {
      const int difference = copy(draft, node(index).args[0], first, split);
      made = draft.apply(Function::exp, {draft.apply(Function::min, {difference, draft.constant(dtype(index), 0)})});
    } else if (node(index).kind == Node::Kind::load) {
      kernel::Operand operand = spec_.inputs[at(node(index).index)];
      const std::int64_t offset = first * operand.strides[level_] * byte_size(operand.dtype);
      if (split) split_stride(operand.strides);
      made = draft.load(std::move(operand), {Place::Kind::operand, node(index).index, offset});
    } else {
      Node one = node(index);
      for (int& arg : one.args) arg = copy(draft, arg, first, split);
      made = draft.add(std::move(one));
    }
    draft.known[index] = made;
    return made;
  }

  /// Of what is left when a maximum is taken off that is held, so that a kernel cannot see that it is one.
  bool is_exponential(int index) const {
    return online_.contains(index) && held_.contains(node(node(index).args[0]).args[1]);
  }

  bool is_online_sum(int index) const {
    return std::any_of(online_.begin(), online_.end(), [index](const auto& pair) { return pair.second == index; });
  }

  /// The greatest exponential is 1, and a row has less than 2^63: what a kernel is told that has not made the sum.
  int within_its_bounds(KernelDraft& draft, int index, int sum) const {
    const int below = draft.apply(Function::min, {sum, draft.constant(dtype(index), 0x1p63)});
    return draft.apply(Function::max, {below, draft.constant(dtype(index), 1)});
  }

  Status add(KernelDraft& draft, std::int64_t count, bool split) {
    Result<LongRowKernel> kernel = draft.finish(count, vector_level_ + (split && vector_level_ >= level_ ? 1 : 0));
    if (!kernel.ok()) return kernel.status();
    made_.kernels.push_back(std::move(kernel).value());
    return {};
  }

  /// The space of so many elements of each row: whole pieces, or what is left.
  std::vector<kernel::Level> levels_of_pieces(std::int64_t elements) const {
    std::vector<kernel::Level> levels = spec_.levels;
    const std::int64_t piece = std::min(piece_, elements);
    levels[level_].extent = piece;
    levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(level_), {elements / piece, false});
    return levels;
  }

  /// Reduces the elements from `first` on.
  Status reduce_pieces(const std::vector<int>& reductions, Merge merge, const std::vector<Place>& partials,
                       std::int64_t first, std::int64_t elements) {
    KernelDraft draft(levels_of_pieces(elements));
    const auto store = [&](int value, DType of, Place to) {
      std::vector<std::int64_t> strides = partial_strides();
      strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(level_) + 1, 0);
      to.offset = first / piece_ * partial_stride() * byte_size(of);
      draft.store(value, {of, std::move(strides)}, to);
    };
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      int value = copy(draft, reductions[i], first, true);
      if (merge == Merge::online && i == 0) value = max_or_nan(draft, value, copy(draft, reductions[1], first, true));
      store(value, partial_dtype(reductions[i]), partials[i]);
    }
    if (merge == Merge::moments) store(draft.count(), DType::f64, partials.back());
    return add(draft, std::min(piece_, elements), true);
  }

  /// The max, or NaN where the sum of the exponentials says so: kernels need not look for NaN in the max itself then.
  int max_or_nan(KernelDraft& draft, int max, int sum) const {
    const int nothing = draft.apply(Function::mul, {sum, draft.constant(draft.dtype(max), 0)});
    return draft.apply(Function::select,
                       {draft.apply(Function::is_infinite, {max}), max, draft.apply(Function::add, {max, nothing})});
  }

  /// Combines the pieces of each row, and makes what further kernels ask for of the rows' values.
  Status combine(const std::vector<int>& reductions, Merge merge, const std::vector<Place>& partials, int begin,
                 int end, int last) {
    std::vector<kernel::Level> levels = spec_.levels;
    levels[level_].extent = pieces_;
    KernelDraft draft(std::move(levels));
    std::vector<int> loaded;
    for (std::size_t i = 0; i < partials.size(); ++i) {
      const DType of = i < reductions.size() ? partial_dtype(reductions[i]) : DType::f64;
      loaded.push_back(draft.load({of, partial_strides()}, partials[i]));
    }
    switch (merge) {
      case Merge::plain:
        for (std::size_t i = 0; i < reductions.size(); ++i)
          know(draft, reductions[i], reduced(draft, reductions[i], loaded[i]));
        break;
      case Merge::online: combine_online(draft, reductions, loaded); break;
      case Merge::moments: combine_moments(draft, reductions, loaded); break;
    }
    const std::set<int> asked = asked_for(end);
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i) {
      const int stage = stages_[at(i)];
      if (!per_row_[at(i)] || stage >= end || (stage < begin && (stage > 0 || end <= last))) continue;
      for (const kernel::Store& store : spec_.stores)
        if (store.node == i)
          draft.store(copy(draft, i, 0, false), spec_.outputs[at(store.output)],
                      {Place::Kind::operand, store.output, 0});
      if (asked.contains(i)) hold(draft, i);
    }
    for (const auto& [index, place] : waiting_) held_[index] = place;
    waiting_.clear();
    return draft.stores() ? add(draft, extent_, false) : Status();
  }

  void know(KernelDraft& draft, int reduction, int value) const {
    draft.known[reduction] = draft.cast(dtype(reduction), value);
  }
  int reduced(KernelDraft& draft, int reduction, int partials) const {
    return draft.reduce(node(reduction).monoid, partials);
  }

  /// A piece without a number above -inf has nothing to add, and the sum of its exponentials is none. Of a row without
  /// one the sum is NaN, as is an infinite maximum less itself.
  void combine_online(KernelDraft& draft, const std::vector<int>& reductions, const std::vector<int>& loaded) {
    const int max = loaded[0], sum = loaded[1], greatest = draft.reduce(Monoid::max, max);
    const DType wide = partial_dtype(reductions[1]);
    const int factor = draft.apply(Function::exp, {draft.apply(Function::sub, {max, greatest})});
    const int moved = draft.apply(Function::mul, {sum, draft.cast(wide, factor)});
    const int none = draft.apply(Function::is_negative_infinity, {max});
    const int added = draft.apply(Function::select, {none, draft.constant(wide, 0), moved});
    know(draft, reductions[0], greatest);
    const int nothing = draft.cast(wide, draft.apply(Function::sub, {greatest, greatest}));
    know(draft, reductions[1], draft.apply(Function::add, {draft.reduce(Monoid::sum, added), nothing}));
    online_[node(reductions[1]).args[0]] = reductions[1];
  }

  void combine_moments(KernelDraft& draft, const std::vector<int>& reductions, const std::vector<int>& loaded) const {
    const int count = loaded.back(), all = draft.count();
    std::map<int, int> partials, totals;  // by reduction
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      partials[reductions[i]] = loaded[i];
      if (sums_[at(reductions[i])] >= 0) continue;
      totals[reductions[i]] = reduced(draft, reductions[i], loaded[i]);
      know(draft, reductions[i], totals[reductions[i]]);
    }
    for (const int moment : reductions) {
      const int sum = sums_[at(moment)];
      if (sum < 0) continue;
      const int mean = draft.apply(Function::div, {totals[sum], all}),
                own = draft.apply(Function::div, {partials[sum], count});
      const int off = draft.apply(Function::sub, {own, mean});
      const int moved = draft.apply(Function::mul, {count, draft.apply(Function::mul, {off, off})});
      know(draft, moment, draft.reduce(Monoid::sum, draft.apply(Function::add, {partials[moment], moved})));
    }
  }

  /// The values of rows, known before stage `end`, that what further kernels store and reduce is made of.
  std::set<int> asked_for(int end) const {
    std::set<int> seen, found;
    std::vector<int> open;
    const auto visit = [&](int index) {
      if (seen.insert(index).second) open.push_back(index);
    };
    for (const kernel::Store& store : spec_.stores)
      if (!per_row_[at(store.node)] || stages_[at(store.node)] >= end) visit(store.node);
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      const bool is_known = per_row_[at(index)] && stages_[at(index)] > 0 && stages_[at(index)] < end;
      if (is_known) found.insert(index);
      if (!is_known)
        for (const int arg : node(index).args) visit(arg);
    }
    return found;
  }

  void hold(KernelDraft& draft, int index) {
    const Place place = new_buffer(kernel::kept_count(spec_), dtype(index));
    draft.store(copy(draft, index, 0, false), {dtype(index), rows_}, place);
    waiting_[index] = place;
  }

  /// In pieces, too: their kernels ask for what comes next.
  Status store_elements() {
    const std::int64_t whole = extent_ / piece_ * piece_;
    Status status = store_elements(KernelDraft(levels_of_pieces(whole)), 0);
    if (status.ok() && whole < extent_) status = store_elements(KernelDraft(levels_of_pieces(extent_ - whole)), whole);
    return status;
  }

  Status store_elements(KernelDraft draft, std::int64_t first) {
    for (const kernel::Store& store : spec_.stores) {
      if (per_row_[at(store.node)]) continue;
      kernel::Operand operand = spec_.outputs[at(store.output)];
      const std::int64_t offset = first * operand.strides[level_] * byte_size(operand.dtype);
      split_stride(operand.strides);
      draft.store(copy(draft, store.node, first, true), std::move(operand),
                  {Place::Kind::operand, store.output, offset});
    }
    return draft.stores() ? add(draft, extent_, true) : Status();
  }

  const KernelSpec& spec_;
  std::size_t level_;        ///< the reduced one
  std::vector<int> stages_;  ///< kernel::passes_of
  std::vector<bool> per_row_;
  std::vector<int> sums_;     ///< kernel::sums_beside_moments
  std::size_t vector_level_;  ///< of neighbours in memory: the reduced one, or else there are columns
  std::int64_t extent_, piece_, pieces_ = 0;
  std::vector<std::int64_t> rows_;  ///< strides of a dense buffer over the kept levels
  std::map<int, Place> held_;       ///< by node: values of rows that a kernel before has stored
  std::map<int, Place> waiting_;    ///< those of the kernel that is being written
  std::map<int, int> online_;       ///< by exponential: the sum that was made with its max, one piece at a time
  LongRows made_;
};

}  // namespace

Result<LongRows> cut_long_rows(const KernelSpec& spec, std::int64_t piece) { return Cutter(spec, piece).run(); }

}  // namespace tenfold::compiler

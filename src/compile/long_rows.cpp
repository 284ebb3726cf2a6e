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
#include "schedule/levels.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Monoid;
using kernel::Node;

/// A shorter last piece is joined to the one before it: with one element there would be nothing to reduce.
constexpr std::int64_t kLeastPiece = 16;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// How what the pieces gave is combined.
enum class Merge : std::uint8_t {
  plain,    ///< by the reduction itself
  online,   ///< max and sum of exponentials
  moments,  ///< sums, and centred second moments beside them
};

/// Elements of each row from `first` on, in pieces of so many.
struct Range {
  std::int64_t first, piece, pieces;
};

class Cutter {
 public:
  Cutter(const KernelSpec& spec, const RowCut& cut)
      : spec_(spec),
        level_(at(kernel::innermost(spec, true))),
        passes_(kernel::passes_of(spec)),
        per_row_(kernel::per_row(spec)),
        sums_(kernel::sums_beside_moments(spec)),
        vector_level_(at(schedule::vector_level_of(spec, spec.inputs[0]))),
        extent_(spec.levels[level_].extent),
        in_turn_(cut.in_turn > 0) {
    std::int64_t piece = in_turn_ ? extent_ / cut.in_turn : cut.piece;
    if (!in_turn_)
      while (piece < extent_ && extent_ % piece > 0 && extent_ % piece < kLeastPiece) piece += kLeastPiece;
    const std::int64_t whole = in_turn_ ? cut.in_turn : extent_ / piece, rest = extent_ - whole * piece;
    if (whole > 0 && piece > 0) ranges_.push_back({0, piece, whole});
    if (rest > 0) ranges_.push_back({whole * piece, rest, 1});
    pieces_ = whole + (rest > 0 ? 1 : 0);
    rows_ = dense_strides(level_);
  }

  Result<KernelCut> run() {
    Status status = check();
    if (!status.ok()) return status;
    const int last = *std::max_element(passes_.begin(), passes_.end());
    for (int pass = 1; pass <= last;) {
      const Merge merge = merge_of(pass);
      const int end = pass + (merge == Merge::plain ? 1 : 2);
      const std::vector<int> reductions = reductions_of(pass, end);
      std::vector<Place> partials = new_partials(reductions, merge);
      for (std::size_t range = 0; range < ranges_.size() && status.ok(); ++range)
        status = reduce_pieces(reductions, merge, partials, ranges_[range], range > 0 ? ranges_[0].pieces : 0);
      if (status.ok()) status = combine(reductions, merge, partials, pass, end, last);
      if (!status.ok()) return status;
      pass = end;
    }
    status = store_elements();
    if (!status.ok()) return status;
    return std::move(made_);
  }

 private:
  const Node& node(int index) const { return kernel::node(spec_, index); }
  DType dtype(int index) const { return kernel::dtype_of(spec_, index); }
  bool is_reduction(int index) const { return node(index).kind == Node::Kind::reduce; }

  Status check() const {
    if (pieces_ < 2) return {Code::unsupported_shape, "rows of one piece"};
    if (std::any_of(ranges_.begin(), ranges_.end(), [](const Range& range) { return range.piece < 2; }))
      return {Code::unsupported_shape, "pieces of one element"};
    // Means of a few rows differ so much that what they are rounded by would show.
    if (in_turn_ && std::any_of(sums_.begin(), sums_.end(), [](int sum) { return sum >= 0; }))
      return {Code::unsupported_op, "moments of pieces that take rows in turn"};
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i) {
      const Node& one = node(i);
      if (one.kind == Node::Kind::reduce && !can_combine(i))
        return {Code::unsupported_op, "results of pieces that cannot be combined"};
      // Elsewhere it would be a number of elements that one kernel has, and not another.
      for (const int arg : one.args)
        if (node(arg).kind == Node::Kind::count && (!per_row_[at(i)] || passes_[at(i)] == 0))
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
      if (is_reduction(i) && passes_[at(i)] >= begin && passes_[at(i)] < end) found.push_back(i);
    return found;
  }

  Merge merge_of(int pass) const {
    const std::vector<int> first = reductions_of(pass, pass + 1), second = reductions_of(pass + 1, pass + 2);
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
  /// Those of a dense buffer over the kept levels, and 0 along `without`.
  std::vector<std::int64_t> dense_strides(std::size_t without) const {
    std::vector<std::int64_t> strides(spec_.levels.size(), 0);
    std::int64_t step = 1;
    for (std::size_t level = spec_.levels.size(); level-- > 0;) {
      if (level == without) continue;
      strides[level] = step;
      step *= level == level_ ? pieces_ : spec_.levels[level].extent;
    }
    return strides;
  }
  /// Of what the pieces gave: rows have theirs side by side, columns those of a piece, and of pieces in turn those of a
  /// block of columns.
  std::vector<std::int64_t> partial_strides() const {
    if (in_turn_) return dense_strides(spec_.levels.size());
    std::vector<std::int64_t> strides = rows_;
    if (!of_columns())
      for (std::int64_t& stride : strides) stride *= pieces_;
    strides[level_] = of_columns() ? kernel::kept_count(spec_) : 1;
    return strides;
  }

  /// The level of pieces comes before the one within them, or after it where pieces take elements in turn.
  std::ptrdiff_t level_of_pieces() const { return static_cast<std::ptrdiff_t>(level_) + (in_turn_ ? 1 : 0); }
  std::ptrdiff_t level_of_piece() const { return static_cast<std::ptrdiff_t>(level_) + (in_turn_ ? 0 : 1); }

  /// The strides along both, in place of the one along the row.
  void split_stride(std::vector<std::int64_t>& strides, const Range& range) const {
    const std::int64_t stride = strides[level_];
    strides[level_] = in_turn_ ? stride * range.pieces : stride;
    strides.insert(strides.begin() + level_of_pieces(), in_turn_ ? stride : stride * range.piece);
  }

  /// A node of the whole and all that it is made of, up to what is known or held in a buffer. `range`: the draft has a
  /// level of pieces, and takes its elements.
  int copy(KernelDraft& draft, int index, const Range* range) const {
    const auto known = draft.known.find(index);
    if (known != draft.known.end()) return known->second;
    int made = 0;
    if (const auto held = held_.find(index); held != held_.end()) {
      kernel::Operand operand{dtype(index), rows_};
      if (range != nullptr) split_stride(operand.strides, *range);
      made = draft.load_total(std::move(operand), held->second);
      if (is_online_sum(index)) made = within_its_bounds(draft, index, made);
    } else if (is_exponential(index)) {
      const int difference = copy(draft, node(index).args[0], range);
      made = draft.apply(Function::exp, {draft.apply(Function::min, {difference, draft.constant(dtype(index), 0)})});
    } else if (node(index).kind == Node::Kind::load) {
      kernel::Operand operand = spec_.inputs[at(node(index).index)];
      const std::int64_t first = range != nullptr ? range->first : 0;
      const std::int64_t offset = first * operand.strides[level_] * byte_size(operand.dtype);
      if (range != nullptr) split_stride(operand.strides, *range);
      made = draft.load(std::move(operand), {Place::Kind::operand, node(index).index, offset});
    } else {
      Node one = node(index);
      for (int& arg : one.args) arg = copy(draft, arg, range);
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
    Result<CutKernel> kernel =
        draft.finish(static_cast<double>(count), vector_level_ + (split && vector_level_ >= level_ ? 1 : 0));
    if (!kernel.ok()) return kernel.status();
    made_.kernels.push_back(std::move(kernel).value());
    return {};
  }

  std::vector<kernel::Level> levels_of(const Range& range) const {
    std::vector<kernel::Level> levels = spec_.levels;
    levels[level_].extent = range.piece;
    levels.insert(levels.begin() + level_of_pieces(), {range.pieces, false});
    return levels;
  }

  /// Reduces the elements of the range, of which the first piece is number `number`.
  Status reduce_pieces(const std::vector<int>& reductions, Merge merge, const std::vector<Place>& partials,
                       const Range& range, std::int64_t number) {
    KernelDraft draft(levels_of(range));
    const auto store = [&](int value, DType of, Place to) {
      std::vector<std::int64_t> strides = partial_strides();
      to.offset = number * strides[level_] * byte_size(of);
      strides.insert(strides.begin() + level_of_piece(), 0);
      draft.store(value, {of, std::move(strides)}, to);
    };
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      int value = copy(draft, reductions[i], &range);
      if (merge == Merge::online && i == 0) value = max_or_nan(draft, value, copy(draft, reductions[1], &range));
      store(value, partial_dtype(reductions[i]), partials[i]);
    }
    if (merge == Merge::moments) store(draft.count(), DType::f64, partials.back());
    return add(draft, range.piece, true);
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
      const int pass = passes_[at(i)];
      if (!per_row_[at(i)] || pass >= end || (pass < begin && (pass > 0 || end <= last))) continue;
      for (const kernel::Store& store : spec_.stores)
        if (store.node == i)
          draft.store(copy(draft, i, nullptr), spec_.outputs[at(store.output)],
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

  /// The values of rows, known before pass `end`, that what further kernels store and reduce is made of.
  std::set<int> asked_for(int end) const {
    std::set<int> seen, found;
    std::vector<int> open;
    const auto visit = [&](int index) {
      if (seen.insert(index).second) open.push_back(index);
    };
    for (const kernel::Store& store : spec_.stores)
      if (!per_row_[at(store.node)] || passes_[at(store.node)] >= end) visit(store.node);
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      const bool is_known = per_row_[at(index)] && passes_[at(index)] > 0 && passes_[at(index)] < end;
      if (is_known) found.insert(index);
      if (!is_known)
        for (const int arg : node(index).args) visit(arg);
    }
    return found;
  }

  void hold(KernelDraft& draft, int index) {
    const Place place = new_buffer(kernel::kept_count(spec_), dtype(index));
    draft.store(copy(draft, index, nullptr), {dtype(index), rows_}, place);
    waiting_[index] = place;
  }

  /// In pieces, too: their kernels ask for what comes next. Those in turn are whole rows beside one that repeats.
  Status store_elements() {
    if (in_turn_) {
      std::vector<kernel::Level> levels = spec_.levels;
      levels[level_].reduced = false;
      return store_elements(KernelDraft(std::move(levels)), nullptr);
    }
    Status status;
    for (const Range& range : ranges_)
      if (status.ok()) status = store_elements(KernelDraft(levels_of(range)), &range);
    return status;
  }

  Status store_elements(KernelDraft draft, const Range* range) {
    for (const kernel::Store& store : spec_.stores) {
      if (per_row_[at(store.node)]) continue;
      kernel::Operand operand = spec_.outputs[at(store.output)];
      const std::int64_t first = range != nullptr ? range->first : 0;
      const std::int64_t offset = first * operand.strides[level_] * byte_size(operand.dtype);
      if (range != nullptr) split_stride(operand.strides, *range);
      draft.store(copy(draft, store.node, range), std::move(operand), {Place::Kind::operand, store.output, offset});
    }
    return draft.stores() ? add(draft, extent_, range != nullptr) : Status();
  }

  const KernelSpec& spec_;
  std::size_t level_;        ///< the reduced one
  std::vector<int> passes_;  ///< kernel::passes_of
  std::vector<bool> per_row_;
  std::vector<int> sums_;     ///< kernel::sums_beside_moments
  std::size_t vector_level_;  ///< of neighbours in memory: the reduced one, or else there are columns
  std::int64_t extent_, pieces_ = 0;
  bool in_turn_;
  std::vector<Range> ranges_;
  std::vector<std::int64_t> rows_;  ///< strides of a dense buffer over the kept levels
  std::map<int, Place> held_;       ///< by node: values of rows that a kernel before has stored
  std::map<int, Place> waiting_;    ///< those of the kernel that is being written
  std::map<int, int> online_;       ///< by exponential: the sum that was made with its max, one piece at a time
  KernelCut made_;
};

}  // namespace

Result<KernelCut> cut_long_rows(const KernelSpec& spec, const RowCut& cut) { return Cutter(spec, cut).run(); }

}  // namespace tenfold::compiler

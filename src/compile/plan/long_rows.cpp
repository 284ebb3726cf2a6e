// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/long_rows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compile/plan/body_copy.hpp"
#include "compile/plan/kernel_draft.hpp"
#include "compile/plan/piece_layout.hpp"
#include "compile/plan/pilots.hpp"
#include "compile/plan/reciprocals.hpp"
#include "compile/plan/repeats.hpp"
#include "compile/plan/row_merges.hpp"
#include "compile/plan/row_pieces.hpp"
#include "kernel/exponentials.hpp"
#include "kernel/moments.hpp"
#include "kernel/nodes.hpp"
#include "kernel/passes.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Monoid;
using kernel::Node;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// How what the pieces gave is combined.
enum class Merge : std::uint8_t {
  plain,    ///< by the reduction itself
  online,   ///< max and sum of exponentials
  moments,  ///< sums, and centred second moments beside them
  pilots,   ///< these of pieces in turn: about a pilot, which is made first
};

class Cutter {
 public:
  Cutter(const KernelSpec& spec, const RowCut& cut)
      : spec_(spec),
        layout_(spec, cut),
        body_(spec, layout_),
        passes_(kernel::passes_of(spec)),
        per_row_(kernel::per_row(spec)),
        sums_(kernel::sums_beside_moments(spec)),
        pilots_(spec, layout_, body_, sums_) {}

  Result<KernelCut> run() {
    Status status = check();
    if (!status.ok()) return status;
    const int last = *std::max_element(passes_.begin(), passes_.end());
    for (int pass = 1; pass <= last;) {
      const Merge merge = merge_of(pass);
      const int end = pass + passes_in(merge);
      const std::vector<int> reductions = reductions_of(pass, end);
      if (merge == Merge::pilots) status = pilots_.make(reductions, made_);
      std::vector<Place> partials = new_partials(reductions, merge);
      for (const PieceRange& range : layout_.ranges())
        if (status.ok()) status = reduce_pieces(reductions, merge, partials, range);
      if (status.ok()) status = combine(reductions, merge, partials, pass, end, last);
      if (!status.ok()) return status;
      pass = end;
    }
    status = store_elements();
    if (!status.ok()) return status;
    return made_.finish();
  }

 private:
  const Node& node(int index) const { return kernel::node(spec_, index); }
  DType dtype(int index) const { return kernel::dtype_of(spec_, index); }
  bool is_reduction(int index) const { return node(index).kind == Node::Kind::reduce; }

  Status check() const {
    if (layout_.pieces() < 2) return {Code::unsupported_shape, "rows of one piece"};
    if (std::any_of(layout_.ranges().begin(), layout_.ranges().end(),
                    [](const PieceRange& range) { return range.piece < 2; }))
      return {Code::unsupported_shape, "pieces of one element"};
    if (layout_.in_turn() && !moments_have_pilots())
      return {Code::unsupported_op, "moments beside other reductions, of pieces that take rows in turn"};
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i) {
      const Node& one = node(i);
      if (one.kind == Node::Kind::reduce && !can_combine(spec_, i))
        return {Code::unsupported_op, "results of pieces that cannot be combined"};
      // Elsewhere it would be a number of elements that one kernel has, and not another.
      for (const int arg : one.args)
        if (node(arg).kind == Node::Kind::count && (!per_row_[at(i)] || passes_[at(i)] == 0))
          return {Code::unsupported_op, "elements that are computed with their number"};
    }
    return {};
  }

  static int passes_in(Merge merge) { return merge == Merge::plain ? 1 : 2; }

  bool moments_have_pilots() const {
    const int last = *std::max_element(passes_.begin(), passes_.end());
    for (int pass = 1; pass <= last; pass += passes_in(merge_of(pass)))
      for (const int reduction : reductions_of(pass, pass + 1))
        if (sums_[at(reduction)] >= 0) return false;
    return true;
  }

  std::vector<int> reductions_of(int begin, int end) const {
    std::vector<int> found;
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i)
      if (is_reduction(i) && passes_[at(i)] >= begin && passes_[at(i)] < end) found.push_back(i);
    return found;
  }

  Merge merge_of(int pass) const {
    const std::vector<int> first = reductions_of(pass, pass + 1), second = reductions_of(pass + 1, pass + 2);
    if (first.size() == 1 && second.size() == 1 && kernel::is_sum_of_exponentials(spec_, second[0], first[0]))
      return Merge::online;
    const auto is_moment = [&](int reduction) {
      return std::find(first.begin(), first.end(), sums_[at(reduction)]) != first.end();
    };
    // A moment of the first pass is of other elements, whose sum is not here.
    const bool apart = std::none_of(first.begin(), first.end(), [this](int one) { return sums_[at(one)] >= 0; });
    const bool moments = apart && !second.empty() && std::all_of(second.begin(), second.end(), is_moment);
    if (!moments) return Merge::plain;
    return layout_.in_turn() ? Merge::pilots : Merge::moments;
  }

  /// A sum or product of f32, or of 16 bits, which goes on as it is, in f64.
  bool goes_on(int reduction) const {
    const bool chained = kernel::row(node(reduction).monoid).state == kernel::State::chained;
    return chained && is_floating(dtype(reduction)) && byte_size(dtype(reduction)) <= 4;
  }
  DType partial_dtype(int reduction) const { return goes_on(reduction) ? DType::f64 : dtype(reduction); }

  /// The sums that moments among these are beside, in the order of these.
  std::vector<int> sums_of_moments(const std::vector<int>& reductions) const {
    std::vector<int> found;
    for (const int sum : reductions)
      if (std::find(sums_.begin(), sums_.end(), sum) != sums_.end()) found.push_back(sum);
    return found;
  }

  /// Of each reduction; of moments also how many elements a piece has, or, of levels apart, where all have as many,
  /// sums that follow from the moments.
  std::vector<Place> new_partials(const std::vector<int>& reductions, Merge merge) {
    const std::int64_t count = kernel::kept_count(spec_) * layout_.pieces();
    std::vector<Place> places;
    places.reserve(reductions.size());
    for (const int reduction : reductions) places.push_back(made_.new_buffer(count, partial_dtype(reduction)));
    if (merge != Merge::moments) return places;
    const std::size_t more = layout_.apart() ? sums_of_moments(reductions).size() : 1;
    for (std::size_t i = 0; i < more; ++i) places.push_back(made_.new_buffer(count, DType::f64));
    return places;
  }

  Status add(KernelDraft& draft, std::int64_t count, bool split) {
    Result<CutKernel> kernel = draft.finish(static_cast<double>(count), layout_.vector_level(split));
    if (!kernel.ok()) return kernel.status();
    if (split) read_repeats_once(kernel.value().spec);
    made_.add(std::move(kernel).value());
    return {};
  }

  /// What a piece gives. Of 16 bits it is not rounded to them, nor does a sum of elements follow from a moment.
  int of_piece(KernelDraft& draft, int reduction, const PieceRange& range) const {
    const bool is_rounded = goes_on(reduction) && dtype(reduction) != DType::f32;
    if (!is_rounded && !is_centred(draft, reduction)) return body_.copy(draft, reduction, &range);
    const int element = body_.copy(draft, node(reduction).args[0], &range);
    return draft.reduce(node(reduction).monoid, draft.cast(DType::f32, element));
  }

  /// The means of pieces whose elements lie apart may differ much, by less than what a sum of f32 is rounded by: their
  /// differences, which moments are moved by, are those of sums that follow from the moments.
  void store_centred_sums(KernelDraft& draft, const std::vector<int>& reductions, const std::vector<Place>& places,
                          const PieceRange& range) const {
    std::size_t place = reductions.size();
    for (const int sum : sums_of_moments(reductions)) {
      Node centred = kernel::reduce_node(Monoid::sum, body_.copy(draft, node(sum).args[0], &range));
      centred.centred = true;
      draft.known[sum] = draft.add(std::move(centred));  // the one that the moments find
      draft.store(draft.known[sum], {DType::f64, layout_.partial_strides_of_pieces()},
                  layout_.partials_of(range, DType::f64, places[place++]));
    }
  }

  static bool is_centred(const KernelDraft& draft, int reduction) {
    const auto known = draft.known.find(reduction);
    return known != draft.known.end() && draft.node(known->second).centred;
  }

  /// Reduces the elements of the range.
  Status reduce_pieces(const std::vector<int>& reductions, Merge merge, const std::vector<Place>& partials,
                       const PieceRange& range) {
    KernelDraft draft(layout_.levels_of(range));
    const std::vector<std::int64_t> strides = layout_.partial_strides_of_pieces();
    const bool centred = merge == Merge::moments && layout_.apart();
    if (centred) store_centred_sums(draft, reductions, partials, range);
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      int value = merge == Merge::pilots && pilots_.has(reductions[i]) ? pilots_.reduce(draft, reductions[i], range)
                                                                       : of_piece(draft, reductions[i], range);
      if (merge == Merge::online && i == 0) value = max_or_nan(draft, value, body_.copy(draft, reductions[1], &range));
      const DType of = partial_dtype(reductions[i]);
      draft.store(value, {of, strides}, layout_.partials_of(range, of, partials[i]));
    }
    if (merge == Merge::moments && !centred)
      draft.store(draft.count(), {DType::f64, strides}, layout_.partials_of(range, DType::f64, partials.back()));
    return add(draft, range.piece, true);
  }

  /// Combines the pieces of each row, and makes what further kernels ask for of the rows' values.
  Status combine(const std::vector<int>& reductions, Merge merge, const std::vector<Place>& partials, int begin,
                 int end, int last) {
    KernelDraft draft(layout_.levels_of_pieces(true));
    std::vector<int> loaded;
    for (std::size_t i = 0; i < partials.size(); ++i) {
      const DType of = i < reductions.size() ? partial_dtype(reductions[i]) : DType::f64;
      loaded.push_back(draft.load({of, layout_.partial_strides()}, partials[i]));
    }
    switch (merge) {
      case Merge::plain:
        for (std::size_t i = 0; i < reductions.size(); ++i)
          know(draft, reductions[i], reduced(draft, reductions[i], loaded[i]));
        break;
      case Merge::online: combine_online(draft, reductions, loaded); break;
      case Merge::moments: combine_moments(draft, reductions, loaded); break;
      case Merge::pilots:
        for (const auto& [reduction, value] : pilots_.combine(draft, reductions, loaded)) know(draft, reduction, value);
        break;
    }
    const std::set<int> asked = asked_for(end);
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i) {
      const int pass = passes_[at(i)];
      if (!per_row_[at(i)] || pass >= end || (pass < begin && (pass > 0 || end <= last))) continue;
      for (const kernel::Store& store : spec_.stores)
        if (store.node == i)
          draft.store(body_.copy(draft, i, nullptr), spec_.outputs[at(store.output)],
                      {Place::Kind::operand, store.output, 0});
      if (asked.contains(i)) hold(draft, i);
    }
    body_.end_kernel();
    Status status = draft.stores() ? add(draft, layout_.extent(), false) : Status();
    if (layout_.repeats_rows())
      for (const int index : asked)
        if (status.ok() && !body_.is_repeated(index) && (layout_.apart() || is_reduced_from(end, index)))
          status = repeat(index);
    return status;
  }

  /// Whether a reduction of pass `end` or later is made of the value of rows `index`, known before.
  bool is_reduced_from(int end, int index) const {
    std::vector<bool> of_it(spec_.body.size());
    of_it[at(index)] = true;
    for (int i = index + 1; i < static_cast<int>(spec_.body.size()); ++i) {
      if (per_row_[at(i)] && passes_[at(i)] < end) continue;
      for (const int arg : node(i).args)
        if (of_it[at(arg)]) of_it[at(i)] = true;
      if (of_it[at(i)] && is_reduction(i)) return true;
    }
    return false;
  }

  /// A value of rows once for each of the pieces that take them in turn, so that it lies beside their columns.
  Status repeat(int index) {
    KernelDraft draft(layout_.levels_of_pieces(false));
    const Place place = made_.new_buffer(kernel::kept_count(spec_) * layout_.pieces(), dtype(index));
    const int value = draft.load({dtype(index), layout_.row_strides()}, body_.held(index));
    draft.store(value, {dtype(index), layout_.partial_strides()}, place);
    body_.repeat(index, place);
    return add(draft, layout_.extent(), false);
  }

  /// As in one kernel, a sum stays f64 through the division by the count and the root that may follow, and is rounded
  /// once.
  void know(KernelDraft& draft, int index, int value) const {
    draft.known[index] = draft.cast(dtype(index), value);
    if (dtype(index) == DType::f64 || draft.dtype(value) != DType::f64) return;
    for (int i = index + 1; i < static_cast<int>(spec_.body.size()); ++i) {
      const Node& user = node(i);
      if (user.kind != Node::Kind::apply || user.args[0] != index || draft.known.contains(i)) continue;
      if (user.function == Function::div && node(user.args[1]).kind == Node::Kind::count)
        know(draft, i, draft.apply(Function::div, {value, draft.count()}));
      else if (user.function == Function::sqrt)
        know(draft, i, draft.apply(Function::sqrt, {value}));
    }
  }
  int reduced(KernelDraft& draft, int reduction, int partials) const {
    return draft.reduce(node(reduction).monoid, partials);
  }

  void combine_online(KernelDraft& draft, const std::vector<int>& reductions, const std::vector<int>& loaded) {
    const MaxAndSum made = online_of_pieces(draft, {loaded[0], loaded[1]}, partial_dtype(reductions[1]));
    know(draft, reductions[0], made.max);
    know(draft, reductions[1], made.sum);
    body_.made_online(reductions[1]);
  }

  int pieces_of(KernelDraft& draft) const { return draft.constant(DType::f64, static_cast<double>(layout_.pieces())); }

  void combine_moments(KernelDraft& draft, const std::vector<int>& reductions, const std::vector<int>& loaded) const {
    const int all = draft.count();
    const int count = layout_.apart() ? draft.apply(Function::div, {all, pieces_of(draft)}) : loaded.back();
    std::map<int, int> partials, totals;  // by reduction
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      partials[reductions[i]] = loaded[i];
      if (sums_[at(reductions[i])] >= 0) continue;
      totals[reductions[i]] = reduced(draft, reductions[i], loaded[i]);
      know(draft, reductions[i], totals[reductions[i]]);
    }
    std::size_t place = reductions.size();
    if (layout_.apart())
      for (const int sum : sums_of_moments(reductions)) {
        partials[sum] = loaded[place++];
        totals[sum] = reduced(draft, sum, partials[sum]);
      }
    for (const int moment : reductions) {
      const int sum = sums_[at(moment)];
      if (sum < 0) continue;
      const int mean = draft.apply(Function::div, {totals.at(sum), all});
      know(draft, moment,
           draft.reduce(Monoid::sum, moved_moment(draft, partials.at(sum), count, partials.at(moment), mean)));
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
    const Place place = made_.new_buffer(kernel::kept_count(spec_), dtype(index));
    draft.store(body_.copy(draft, index, nullptr), {dtype(index), layout_.row_strides()}, place);
    body_.hold(index, place);
  }

  /// In pieces, too: their kernels ask for what comes next. Those in turn are whole rows beside one that repeats, and
  /// so are those of levels apart.
  Status store_elements() {
    if (layout_.repeats_rows()) return store_elements(KernelDraft(layout_.kept_levels()), nullptr);
    Status status;
    for (const PieceRange& range : layout_.ranges())
      if (status.ok()) status = store_elements(KernelDraft(layout_.levels_of(range)), &range);
    return status;
  }

  Status store_elements(KernelDraft draft, const PieceRange* range) {
    for (const kernel::Store& store : spec_.stores) {
      if (per_row_[at(store.node)]) continue;
      kernel::Operand operand = spec_.outputs[at(store.output)];
      const std::int64_t offset = layout_.take_range(operand, range);
      draft.store(body_.copy(draft, store.node, range), std::move(operand),
                  {Place::Kind::operand, store.output, offset});
    }
    return draft.stores() ? add(draft, layout_.extent(), range != nullptr) : Status();
  }

  const KernelSpec& spec_;
  PieceLayout layout_;
  BodyCopy body_;
  std::vector<int> passes_;  ///< kernel::passes_of
  std::vector<bool> per_row_;
  std::vector<int> sums_;  ///< kernel::sums_beside_moments
  Pilots pilots_;
  CutDraft made_;
};

}  // namespace

Result<KernelCut> cut_long_rows(const KernelSpec& spec, const RowCut& cut) {
  // What stores elements beside rows that repeat is elementwise.
  const bool repeats = cut.apart || cut.in_turn > 0;
  return Cutter(repeats ? with_reciprocals(spec) : spec, cut).run();
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/row_merges.hpp"

#include <algorithm>
#include <limits>

#include "kernel/spec.hpp"
#include "kernel/tables.hpp"

namespace tenfold::compiler {

using kernel::Function;
using kernel::Monoid;

namespace {

int is_finite(KernelDraft& draft, int value) {
  const int nothing = draft.apply(Function::sub, {value, value});
  return draft.apply(Function::equal, {nothing, draft.constant(DType::f64, 0)});
}

/// Whether what is made of a value of rows rounds it to its 16 bits first, but for the division by the count and the
/// root: so that it is not asked for any better.
bool is_rounded_next(const kernel::KernelSpec& spec, int value) {
  for (int i = value + 1; i < static_cast<int>(spec.body.size()); ++i) {
    const kernel::Node& user = kernel::node(spec, i);
    if (std::find(user.args.begin(), user.args.end(), value) == user.args.end()) continue;
    const bool rounds = user.kind == kernel::Node::Kind::cast && user.dtype == kernel::dtype_of(spec, value);
    const bool goes_on =
        user.kind == kernel::Node::Kind::apply &&
        (user.function == Function::sqrt ||
         (user.function == Function::div && kernel::node(spec, user.args[1]).kind == kernel::Node::Kind::count));
    if (!rounds && !(goes_on && is_rounded_next(spec, i))) return false;
  }
  return true;
}

}  // namespace

bool can_combine(const kernel::KernelSpec& spec, int reduction) {
  const kernel::State state = kernel::row(kernel::node(spec, reduction).monoid).state;
  const DType of = kernel::dtype_of(spec, reduction);
  if (state == kernel::State::arg || of == DType::boolean) return false;
  const bool is_wide = state != kernel::State::chained || !is_floating(of) || byte_size(of) >= 4;
  return is_wide || is_rounded_next(spec, reduction);
}

int max_or_nan(KernelDraft& draft, int max, int sum) {
  const int nothing = draft.apply(Function::mul, {sum, draft.constant(draft.dtype(max), 0)});
  return draft.apply(Function::select,
                     {draft.apply(Function::is_infinite, {max}), max, draft.apply(Function::add, {max, nothing})});
}

/// A piece without a number above -inf has nothing to add, and the sum of its exponentials is none. Of a row without
/// one the sum is NaN, as is an infinite maximum less itself.
MaxAndSum online_of_pieces(KernelDraft& draft, const MaxAndSum& loaded, DType wide) {
  const int greatest = draft.reduce(Monoid::max, loaded.max);
  const int factor = draft.apply(Function::exp, {draft.apply(Function::sub, {loaded.max, greatest})});
  const int moved = draft.apply(Function::mul, {loaded.sum, draft.cast(wide, factor)});
  const int none = draft.apply(Function::is_negative_infinity, {loaded.max});
  const int added = draft.apply(Function::select, {none, draft.constant(wide, 0), moved});
  const int nothing = draft.cast(wide, draft.apply(Function::sub, {greatest, greatest}));
  return {greatest, draft.apply(Function::add, {draft.reduce(Monoid::sum, added), nothing})};
}

int within_bounds_of_online_sum(KernelDraft& draft, int sum) {
  const DType of = draft.dtype(sum);
  const int below = draft.apply(Function::min, {sum, draft.constant(of, 0x1p63)});
  return draft.apply(Function::max, {below, draft.constant(of, 1)});
}

int moved_moment(KernelDraft& draft, int sum, int count, int moment, int mean) {
  const int apart = draft.apply(Function::sub, {draft.apply(Function::div, {sum, count}), mean});
  // Where a sum is no number, the moment of that piece is none, or infinite.
  const int off = draft.apply(Function::select, {is_finite(draft, apart), apart, draft.constant(DType::f64, 0)});
  const int moved = draft.apply(Function::mul, {count, draft.apply(Function::mul, {off, off})});
  return draft.apply(Function::add, {moment, moved});
}

int mean_of_scaled(KernelDraft& draft, int sum, int count) {
  const int scaled = draft.apply(Function::div, {sum, count});
  return draft.apply(Function::mul, {scaled, draft.constant(DType::f64, 1 / kPilotScale)});
}

int pilot_of(KernelDraft& draft, int mean) {
  const int finite = is_finite(draft, mean);
  return draft.cast(DType::f32, draft.apply(Function::select, {finite, mean, draft.constant(DType::f64, 0)}));
}

RowMoments moments_about_pilot(KernelDraft& draft, int mean, int deviations, int squares, int count) {
  const int none = draft.constant(DType::f64, 0);
  const int fits = is_finite(draft, deviations);
  const int off = draft.apply(Function::select, {fits, draft.apply(Function::div, {deviations, count}), none});
  const int exact = draft.apply(Function::add, {draft.cast(DType::f64, pilot_of(draft, mean)), off});
  // Squares that f32 loses may sum to less than what their sum's own square takes away.
  const int left = draft.apply(Function::sub, {squares, draft.apply(Function::mul, {deviations, off})});
  const int moment = draft.apply(Function::select, {draft.apply(Function::less, {left, none}), none, left});
  // Of elements that are numbers, deviations that overflow have squares that do.
  const int infinite = draft.constant(DType::f64, std::numeric_limits<double>::infinity());
  const int of_numbers = draft.apply(Function::select, {fits, moment, infinite});
  const int none_or_nan = draft.apply(Function::sub, {mean, mean});
  return {draft.apply(Function::select, {is_finite(draft, mean), exact, mean}),
          draft.apply(Function::add, {of_numbers, none_or_nan})};
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/builder.hpp"

#include <algorithm>
#include <limits>

#include "jit/function/families.hpp"
#include "jit/stage/centred.hpp"
#include "jit/stage/nan_flow.hpp"
#include "jit/stage/numbered.hpp"
#include "jit/stage/ranked.hpp"
#include "schedule/arg_body.hpp"

namespace tenfold::jit {

using kernel::Function;
using kernel::Node;

namespace {

/// Takes the power of scaled exponentials away: exact, of f64 totals and of the reciprocals of what is moderate.
constexpr double kUnscale = 1 / static_cast<double>(std::int64_t{1} << kScaledExpBits);

/// Too far for exponentials of the elements themselves: they are out of range, or far less than 1 to be added up.
Lane is_far_from_zero(Lane max) { return abs(max) > kMostScaledExp; }

}  // namespace

std::vector<Position> positions_of(const kernel::KernelSpec& spec, const std::vector<int>& beside) {
  std::vector<Position> positions;
  for (const Node& node : spec.body) {
    const int other = beside[positions.size()];
    Position at;
    if (node.kind == Node::Kind::load) {
      at.per_row = !kernel::moves_along_reduced(spec, spec.inputs[static_cast<std::size_t>(node.index)]);
      at.reduced = node.total;
    }
    for (const int arg : node.args) {
      const Position& of = positions[static_cast<std::size_t>(arg)];
      at.per_row = at.per_row && of.per_row;
      at.reduced = at.reduced || of.reduced;
      at.pass = std::max(at.pass, of.pass);
    }
    if (node.kind == Node::Kind::scan) at.per_row = false;
    if (node.kind == Node::Kind::reduce || node.kind == Node::Kind::rank)
      at = {true, other < 0 ? at.pass + 1 : positions[static_cast<std::size_t>(other)].pass, true};
    positions.push_back(at);
  }
  return positions;
}

Lane StageBuilder::input(StagePlace place) {
  const auto known = std::find(made_.inputs.begin(), made_.inputs.end(), place);
  const auto index = static_cast<int>(known - made_.inputs.begin());
  if (known == made_.inputs.end()) made_.inputs.push_back(place);
  return builder_.input(index, place.type);
}

void StageBuilder::result(Lane lane, StagePlace place) {
  builder_.result(lane);
  made_.results.push_back(place);
}

Lane StageBuilder::value(int index) {
  const auto known = values_.find(index);
  if (known != values_.end()) return known->second;
  const Lane lane = make(index);
  values_.emplace(index, lane);
  return lane;
}

void StageBuilder::store(const kernel::Store& store) {
  const Lane lane = stored(store);
  if (lane.type != lane_type(spec_.outputs[static_cast<std::size_t>(store.output)].dtype) && status_.ok())
    status_ = {Code::internal_error, "a store that converts"};
  const bool is_f32 = lane.type == LaneType::f32;
  result(is_f32 && facts_.is_never_negative(store.node) ? canonical_of_positive(lane)
         : is_real(lane.type)                           ? canonical_nan(lane)
                                                        : lane,
         {StagePlace::Kind::operand, static_cast<int>(spec_.inputs.size()) + store.output, lane.type});
}

/// A sum that is handed on to be summed up further is stored unrounded, as f64; an index may be stored as s32; what is
/// stored in 16 bits is rounded by the store.
Lane StageBuilder::stored(const kernel::Store& store) {
  const int index = store.node;
  const bool goes_on = spec_.outputs[static_cast<std::size_t>(store.output)].dtype == DType::f64;
  if (goes_on && dtype(index) == DType::f32)
    if (const std::optional<Lane> unfinished = wide(index)) return *unfinished;
  const Node& at = node(index);
  if (lane_type(spec_.outputs[static_cast<std::size_t>(store.output)].dtype) == LaneType::i32 &&
      dtype(index) == DType::s64)
    return convert(LaneOp::low_half, value(index));
  const bool rounds = at.kind == Node::Kind::cast && is_floating(at.dtype) && byte_size(at.dtype) == 2;
  const bool is_kept = index == kept_.node || (elements_ && positions_[static_cast<std::size_t>(index)].per_row);
  if (!rounds || is_kept) return value(index);
  if (dtype(at.args[0]) == DType::f64) return narrow_before_rounding(at.dtype, value(at.args[0]));
  return value(dtype(at.args[0]) == DType::f32 ? at.args[0] : index);
}

StageProgram StageBuilder::finish() {
  made_.lanes = builder_.finish();
  return std::move(made_);
}

Lane StageBuilder::make(int index) {
  const Node& at = node(index);
  if (at.kind == Node::Kind::constant) return builder_.constant(lane_type(at.dtype), at.value);
  if (index == kept_.node) return input(place_of(kept_));
  const bool per_row = positions_[static_cast<std::size_t>(index)].per_row;
  if (elements_ && per_row)
    return slot({index, shifts_.contains(index) ? SavedValue::Part::shift : SavedValue::Part::whole});
  switch (at.kind) {
    case Node::Kind::load: return input({StagePlace::Kind::operand, at.index, lane_type(dtype(index))});
    case Node::Kind::count: return input({StagePlace::Kind::count, 0, LaneType::f64});
    case Node::Kind::cast:
      if (!has_cast(dtype(at.args[0]), at.dtype)) return missing("a cast", dtype(at.args[0]));
      if (is_widened_load(at)) return input({StagePlace::Kind::operand, node(at.args[0]).index, LaneType::f64});
      if (at.dtype == DType::bf16 && has_short_nans(spec_, at.args[0])) return bf16_of_short_nan(value(at.args[0]));
      return cast_lane(dtype(at.args[0]), at.dtype, value(at.args[0]));
    case Node::Kind::reduce: return reduced(index);
    case Node::Kind::scan: return running(index);
    case Node::Kind::rank: return ranked(index);
    default: return applied(index);
  }
}

/// Of elements f32 as f64, which a load of it gives.
bool StageBuilder::is_widened_load(const Node& cast) const {
  const Node& from = node(cast.args[0]);
  return cast.dtype == DType::f64 && elements_ && from.kind == Node::Kind::load && dtype(cast.args[0]) == DType::f32 &&
         !positions_[static_cast<std::size_t>(cast.args[0])].per_row;
}

StagePlace StageBuilder::place_of(const KeptValue& kept) const {
  const LaneType type = lane_type(dtype(kept.node));
  if (kept.output == KeptValue::kInScratch) return {StagePlace::Kind::kept, 0, type};
  return {StagePlace::Kind::operand, static_cast<int>(spec_.inputs.size()) + kept.output, type};
}

StagePlace StageBuilder::save_slot(const SavedValue& what) {
  const int slot = saved_.emplace(what, static_cast<int>(saved_.size())).first->second;
  return {StagePlace::Kind::saved, slot, lane_type(dtype(what.node))};
}

Lane StageBuilder::saved_value(const SavedValue& what) {
  if (what.part == SavedValue::Part::whole) return value(what.node);
  const auto made = divisors_.find(what.node);
  const Divisor divisor =
      made != divisors_.end() ? made->second : make_divisor(value(what.node), facts_.is_moderate(what.node));
  divisors_.emplace(what.node, divisor);
  switch (what.part) {
    case SavedValue::Part::scale: return divisor.scale;
    case SavedValue::Part::high: return divisor.high;
    case SavedValue::Part::low: return divisor.low;
    case SavedValue::Part::high_of_scaled: return divisor.high * kUnscale;
    default: return divisor.low * kUnscale;
  }
}

/// Elements divided by what follows from a reduction of the row, which another kernel may have made. Other quotients
/// are the nearest.
bool StageBuilder::is_by_row(const Node& at) const {
  if (at.function != Function::div || lane_type(dtype(at.args[0])) != LaneType::f32) return false;
  const Position &dividend = positions_[static_cast<std::size_t>(at.args[0])],
                 &divisor = positions_[static_cast<std::size_t>(at.args[1])];
  return !dividend.per_row && divisor.per_row && divisor.reduced;
}

Lane StageBuilder::divided_by_row(int index) {
  const Node& at = node(index);
  const int divisor = at.args[1];
  Lane x = value(at.args[0]);
  const bool scaled = is_scaled(at.args[0]);
  if (facts_.is_rounded(divisor) && facts_.ends_in_words(index))
    return x * slot({divisor, scaled ? SavedValue::Part::high_of_scaled : SavedValue::Part::high});
  if (scaled)
    return divide_by(x, slot({divisor, SavedValue::Part::high_of_scaled}),
                     slot({divisor, SavedValue::Part::low_of_scaled}));
  if (!facts_.is_moderate(divisor)) x = x * slot({divisor, SavedValue::Part::scale});
  return divide_by(x, slot({divisor, SavedValue::Part::high}), slot({divisor, SavedValue::Part::low}));
}

/// Exponentials that are only summed, or divided by what is moderate, may be a power of two too great until then.
bool StageBuilder::is_scaled(int index) const {
  const Node& at = node(index);
  if (at.kind != Node::Kind::apply || at.function != Function::exp || dtype(index) != DType::f32) return false;
  if (positions_[static_cast<std::size_t>(index)].per_row || !facts_.is_never_positive(at.args[0])) return false;
  const auto takes_power_away = [&](const Node& user) {
    if (std::find(user.args.begin(), user.args.end(), index) == user.args.end()) return true;
    if (user.kind == Node::Kind::reduce) return user.monoid == kernel::Monoid::sum;
    return user.kind == Node::Kind::apply && is_by_row(user) && facts_.is_moderate(user.args[1]);
  };
  return std::all_of(spec_.body.begin(), spec_.body.end(), takes_power_away) &&
         std::none_of(spec_.stores.begin(), spec_.stores.end(),
                      [index](const kernel::Store& store) { return store.node == index; });
}

Lane StageBuilder::missing(const std::string& what, DType of) {
  if (status_.ok()) status_ = {Code::unsupported_op, "no kernel for " + what + " of " + std::string(to_string(of))};
  return builder_.constant(LaneType::f32, 0);
}

/// A sum of f32 stays f64 through the division by the count and the root that may follow, and is rounded once.
std::optional<Lane> StageBuilder::wide(int index) {
  const Node& at = node(index);
  if (at.kind == Node::Kind::reduce) {
    const int reduction = reduction_of_[static_cast<std::size_t>(index)];
    const StageReduction& r = reductions_[static_cast<std::size_t>(reduction)];
    if (r.total_type != LaneType::f64 || r.set_type != LaneType::f32) return std::nullopt;
    const auto total = [&](int which) { return input({StagePlace::Kind::total, which, LaneType::f64}); };
    const auto count = [&] { return input({StagePlace::Kind::count, 0, LaneType::f64}); };
    if (r.form == StageForm::deviations)
      return sum_about(input(save_slot({r.element, SavedValue::Part::pilot})), total(reduction), count());
    if (r.form == StageForm::powers) return sum_of_powers(index, reduction);
    if (r.form != StageForm::squares) return is_scaled(at.args[0]) ? total(reduction) * kUnscale : total(reduction);
    const int first = reduction - CentredMoment::kSquares;
    const Lane finite =
        r.exact < 0 ? total(r.sum) : convert(LaneOp::widen, input({StagePlace::Kind::total, r.exact, LaneType::f32}));
    return centred_moment(finite, total(first), total(reduction), count());
  }
  if (at.kind != Node::Kind::apply) return std::nullopt;
  const std::optional<Lane> of = at.function == Function::sqrt || is_by_count(at) ? wide(at.args[0]) : std::nullopt;
  if (!of) return std::nullopt;
  return at.function == Function::sqrt ? sqrt(*of) : *of / value(at.args[1]);
}

bool StageBuilder::is_by_count(const Node& at) const {
  return at.function == Function::div && node(at.args[1]).kind == Node::Kind::count;
}

Lane StageBuilder::reduced(int index) {
  if (const std::optional<Lane> lane = wide(index)) return convert(LaneOp::narrow, *lane);
  const int reduction = reduction_of_[static_cast<std::size_t>(index)];
  const StageReduction& r = reductions_[static_cast<std::size_t>(reduction)];
  if (r.form == StageForm::extreme) return number_of_extreme(reduction);
  if (r.one_of_three) return extreme(reduction, node(index).monoid == kernel::Monoid::max);
  const Lane total = input({StagePlace::Kind::total, reduction, r.total_type});
  if (r.form == StageForm::bits) return as(LaneType::f32, total);
  if (r.form == StageForm::plain) return plain_or_exact(reduction);
  return r.form == StageForm::negated ? negate(total) : normalized(r.dtype, total);
}

/// With its own element, unless it is exclusive.
Lane StageBuilder::running(int index) {
  const int reduction = reduction_of_[static_cast<std::size_t>(index)];
  const StageReduction& r = reductions_[static_cast<std::size_t>(reduction)];
  const Lane before = input({StagePlace::Kind::set, reduction, r.set_type});
  if (node(index).exclusive && !r.in_lanes) return before;
  const Lane element = value(node(index).args[0]);
  const Lane so_far = normalized(dtype(index), before + (r.in_lanes ? convert(LaneOp::prefix_sum, element) : element));
  return node(index).exclusive ? combine(LaneOp::shift_in, so_far, before) : so_far;
}

Lane StageBuilder::ranked(int index) {
  const Node& at = node(index);
  const int first = reduction_of_[static_cast<std::size_t>(index)];
  const StageReduction& r = reductions_[static_cast<std::size_t>(first)];
  const auto total = [&](int reduction) { return input({StagePlace::Kind::total, reduction, r.total_type}); };
  const Lane number = total(ranked_number_at(first, at.index));
  if (kernel::row(at.monoid).state == kernel::State::arg) return ranked_index(r.dtype, number);
  return ranked_element(at.monoid, r.dtype, total(ranked_at(first, at.index)), number);
}

/// The number of an extreme, as s64.
Lane StageBuilder::number_of_extreme(int extreme) {
  const int of = reductions_[static_cast<std::size_t>(extreme)].number;
  const int exact = reductions_[static_cast<std::size_t>(of)].exact;
  Lane found = number(of);
  if (exact >= 0) {
    const Lane open = is_open(extreme);
    found = select(found.type == LaneType::i32 ? narrow_mask(open) : open, number(exact), found);
  }
  return found.type == LaneType::i64 ? found : convert(LaneOp::extend_zero, found);
}

Lane StageBuilder::number(int reduction) {
  const StageReduction& r = reductions_[static_cast<std::size_t>(reduction)];
  const Lane total = input({StagePlace::Kind::total, reduction, r.total_type});
  return r.is_wide() ? number_of(total, r.last) : total;
}

/// As the first look has it.
Lane StageBuilder::plain_max(int reduction) {
  return input({StagePlace::Kind::total, reduction, reductions_[static_cast<std::size_t>(reduction)].total_type});
}

Lane StageBuilder::is_open(int reduction) {
  const StageReduction& r = reductions_[static_cast<std::size_t>(reduction)];
  if (r.form == StageForm::powers) return is_far_from_zero(first_max(r.max));
  if (r.doubt >= 0)
    return is_nan(input({StagePlace::Kind::total, r.doubt, reductions_[static_cast<std::size_t>(r.doubt)].total_type}));
  if (r.form != StageForm::squares) return equal(abs(plain_max(reduction)), std::numeric_limits<double>::infinity());
  const Lane deviations = input({StagePlace::Kind::total, reduction - CentredMoment::kSquares, LaneType::f64});
  return is_nan(deviations - deviations);
}

Lane StageBuilder::first_max(int node) {
  const int reduction = reduction_of_[static_cast<std::size_t>(node)];
  const bool plain = reductions_[static_cast<std::size_t>(reduction)].form == StageForm::plain;
  return plain ? plain_max(reduction) : value(node);
}

/// Of e^(x - max), f64, as the totals have it.
Lane StageBuilder::sum_of_powers(int index, int reduction) {
  const StageReduction& r = reductions_[static_cast<std::size_t>(reduction)];
  const auto total = [&](int which) { return input({StagePlace::Kind::total, which, LaneType::f64}); };
  const Lane max = convert(LaneOp::widen, first_max(r.max));
  const Lane moved = total(reduction) * kUnscale * exp_lane(negate(max));
  const Lane exact = total(r.exact);
  return select(is_far_from_zero(max), is_scaled(node(index).args[0]) ? exact * kUnscale : exact, moved);
}

Lane StageBuilder::plain_or_exact(int reduction) {
  const StageReduction& r = reductions_[static_cast<std::size_t>(reduction)];
  const Lane plain = plain_max(reduction);
  if (r.exact < 0) return plain;
  return select(is_open(reduction), input({StagePlace::Kind::total, r.exact, r.total_type}), plain);
}

/// Of no elements, the signed greatest is negative and the unsigned one 0.
Lane StageBuilder::extreme(int reductions, bool max) {
  const auto total = [&](int which) { return input({StagePlace::Kind::total, reductions + which, LaneType::i32}); };
  const Lane greatest = total(ExtremeBits::kGreatestSigned), farthest = total(ExtremeBits::kGreatestUnsigned),
             nearest = total(ExtremeBits::kLeastUnsigned);
  const Lane negatives = farthest < 0.0, positives = complement(greatest < 0.0);
  const Lane none = builder_.bits(LaneType::i32, max ? 0xff800000U : 0x7f800000U);
  const Lane among_alike = select(positives | negatives, nearest, none);
  const Lane found = select(max ? positives : negatives, max ? greatest : farthest, among_alike);
  const Lane other = as(LaneType::f32, max ? farthest : greatest);
  return select(is_nan(other), other, as(LaneType::f32, found));
}

Lane StageBuilder::applied(int index) {
  const Node& at = node(index);
  if (!elements_)
    if (const std::optional<Lane> lane = wide(index)) return convert(LaneOp::narrow, *lane);
  if (elements_ && is_by_row(at)) return divided_by_row(index);
  if (at.function == Function::exp && facts_.is_never_positive(at.args[0]))
    return is_scaled(index) ? scaled_exp_of_negative(value(at.args[0])) : exp_of_negative(value(at.args[0]));
  if (facts_.is_below_constant(index))
    return jit::combine(LaneOp::lesser, builder_.constant(LaneType::f32, node(at.args[1]).value), value(at.args[0]));
  const DType of = dtype(at.function == Function::select ? at.args.back() : at.args.front());
  if (!has_function(at.function, of)) return missing(std::string(kernel::row(at.function).name), of);
  std::vector<Lane> args;
  for (const int arg : at.args)
    args.push_back(node(arg).kind == Node::Kind::count ? input({StagePlace::Kind::count, 0, lane_type(of)})
                                                       : value(arg));
  const Lane result = apply_function(at.function, of, args);
  return is_real(result.type) || dtype(index) == DType::boolean ? result : normalized(of, result);
}

}  // namespace tenfold::jit

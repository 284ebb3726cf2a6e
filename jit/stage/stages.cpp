// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/stages.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "jit/function/families.hpp"
#include "jit/stage/body_program.hpp"
#include "jit/stage/builder.hpp"
#include "jit/stage/centred.hpp"
#include "jit/stage/index_programs.hpp"
#include "jit/stage/kept_value.hpp"
#include "jit/stage/ranked.hpp"
#include "jit/stage/reductions.hpp"
#include "kernel/moments.hpp"
#include "schedule/stage_traits.hpp"

namespace tenfold::jit {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Monoid;

/// Whether scratch keeps a value, and when it is asked: a row in L2 is as good in an output; not so columns, of which
/// scratch has a part, nor where outputs are stored around the caches.
enum class Scratch : std::uint8_t { never, after_outputs, before_outputs };

/// By node: the reduction that another one is found beside, in its pass, or -1.
struct Beside {
  std::vector<int> sums;    ///< of centred moments
  std::vector<int> maxima;  ///< of sums of exponentials
  std::vector<int> reductions() const {
    std::vector<int> all = sums;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], maxima[i]);
    return all;
  }
};

class Finder {
 public:
  Finder(const KernelSpec& spec, const schedule::Schedule& schedule, Scratch scratch, Beside beside)
      : spec_(spec),
        facts_(spec),
        scratch_(scratch),
        outputs_keep_(!schedule.around),
        beside_(std::move(beside)),
        pilot_steps_(schedule.pilot),
        along_rows_(schedule.nest == schedule::Nest::staged_rows),
        positions_(positions_of(spec, beside_.reductions())),
        expensive_(kernel::expensive_elements(spec)) {}

  Result<Stages> run() {
    Result<FoundReductions> found =
        find_reductions(spec_, positions_, {beside_.sums, beside_.maxima, pilot_steps_ > 0, along_rows_});
    if (!found.ok()) return found.status();
    stages_.reductions = std::move(found.value().reductions);
    reduction_of_ = std::move(found.value().of_node);
    for (std::size_t r = 0; r < stages_.reductions.size(); ++r) {
      stages_.reductions[r].flush = combine(static_cast<int>(r), true);
      stages_.reductions[r].fold = combine(static_cast<int>(r), false);
    }
    if (scratch_ == Scratch::before_outputs) choose_kept();
    for (const kernel::Store& store : spec_.stores)
      if (outputs_keep_ && stages_.kept.node < 0) choose_kept(store);
    if (scratch_ == Scratch::after_outputs && stages_.kept.node < 0) choose_kept();
    for (int pass = 0; pass < pass_count(); ++pass) {
      StagePass made;
      for (std::size_t r = 0; r < stages_.reductions.size(); ++r)
        if (stages_.reductions[r].pass == pass && !stages_.reductions[r].again)
          made.reductions.push_back(static_cast<int>(r));
      made.step = step(pass, made, false);
      made.tail = step(pass, made, true);
      made.enters = enters(pass, made);
      if (pilot_steps_ > 0) {
        make_pilot_of_row(pass, made);
      } else {
        made.pilot = pilot(pass, made);
        made.recentre = recentre(made);
      }
      look_twice(pass, made);
      stages_.passes.push_back(std::move(made));
      slots_by_pass_.push_back(saved_);
    }
    for (int pass = 0; pass <= pass_count(); ++pass) stages_.rows.push_back(rows(pass));
    stages_.saved.resize(saved_.size());
    for (const auto& [what, slot] : saved_)
      stages_.saved[static_cast<std::size_t>(slot)] = lane_type(kernel::dtype_of(spec_, what.node));
    for (const StagePass& pass : stages_.passes) stages_.lanes = std::min(stages_.lanes, pass.tail.lanes.lanes());
    for (const LaneType type : stages_.saved)
      if (lane_bytes(type) == 8) stages_.lanes = 8;
    if (!status_.ok()) return status_;
    return std::move(stages_);
  }

 private:
  int pass_count() const {
    int count = 0;
    for (const StageReduction& r : stages_.reductions) count = std::max(count, r.pass + 1);
    for (const kernel::Store& store : spec_.stores) {
      const Position& at = positions_[static_cast<std::size_t>(store.node)];
      if (!at.per_row) count = std::max(count, at.pass + 1);
    }
    return count;
  }

  StageBuilder program(bool elements) {
    StageBuilder made(spec_, facts_, positions_, stages_.reductions, reduction_of_, saved_);
    made.set_elements(elements);
    return made;
  }

  StageProgram finish(StageBuilder& made) {
    if (status_.ok()) status_ = made.status();
    return made.finish();
  }

  Lane combined(const StageReduction& r, LaneType type, Lane a, Lane b) {
    if (r.form == StageForm::plain) return jit::combine(LaneOp::greater, b, a);
    const DType of = type == LaneType::f64 && r.set_type == LaneType::f32 ? DType::f64 : r.dtype;
    const Lane args[] = {a, b};
    const Function combine = kernel::row(r.monoid).combine;
    if (of == DType::boolean || has_function(combine, of)) return apply_function(combine, of, args);
    status_ = {Code::unsupported_op, "no kernel for this reduction of " + std::string(to_string(r.dtype))};
    return a;
  }

  /// A set and one more element. A sum takes up a square unrounded; not a product, which may overflow where this way it
  /// would not, and its infinity may meet another of the other sign.
  Lane taken_up(const StageReduction& r, Lane set, Lane element) {
    const LaneNode& made = element.builder->program().nodes[static_cast<std::size_t>(element.node)];
    if (r.monoid != Monoid::sum || made.op != LaneOp::multiply || !is_real(made.type) || made.args[0] != made.args[1])
      return combined(r, r.set_type, set, element);
    const Lane root{element.builder, made.args[0], made.type};
    return fma(root, root, set);
  }

  /// Of columns, where the sets are the totals.
  static bool goes_by_order(const StageReduction& r) {
    return r.form == StageForm::running || r.form == StageForm::ranked || r.form == StageForm::ranked_number;
  }

  StageProgram combine(int reduction, bool with_set) {
    const StageReduction& r = stages_.reductions[static_cast<std::size_t>(reduction)];
    if (!r.has_total() || (r.form == StageForm::number && !r.is_wide()) || goes_by_order(r)) return {};
    StageBuilder made = program(false);
    if (r.form == StageForm::number) {
      join_index(made, stages_.reductions, reduction, with_set);
      return finish(made);
    }
    const StagePlace total{StagePlace::Kind::total, reduction, r.total_type};
    const Lane a = made.input(total);
    Lane b;
    if (with_set) {
      b = made.input({StagePlace::Kind::set, reduction, r.set_type});
      if (r.set_type != r.total_type) b = convert(LaneOp::widen, b);
    } else {
      b = made.input({StagePlace::Kind::other, reduction, r.total_type});
    }
    made.result(combined(r, r.total_type, a, b), total);
    return finish(made);
  }

  const Position& position(int node) const { return positions_[static_cast<std::size_t>(node)]; }

  /// Looks for what a pass computes for a reduction, and a later pass needs again. Scratch has lanes of 32 bits.
  void choose_kept() {
    for (const StageReduction& r : stages_.reductions) {
      const int node = r.element;
      if (position(node).per_row || position(node).pass != r.pass || stages_.kept.node >= 0) continue;
      const bool fits = lane_type(kernel::dtype_of(spec_, node)) == LaneType::f32;
      if (fits && is_read_after(spec_, positions_, node, r.pass) && expensive_[static_cast<std::size_t>(node)])
        stages_.kept = {node, KeptValue::kInScratch, r.pass};
    }
  }

  /// Looks for a value of the store's that an earlier pass computes for a reduction, and without which nothing after
  /// that pass reads an input again, nor that pass itself, as where a row's pilot moves. So the output may even be the
  /// memory of an input.
  void choose_kept(const kernel::Store& store) {
    const DType dtype = spec_.outputs[static_cast<std::size_t>(store.output)].dtype;
    if (position(store.node).per_row || (dtype != DType::f32 && dtype != DType::f64)) return;
    // Until the last pass the output is the kept value's.
    if (position(store.node).pass + 1 != pass_count()) return;
    for (const StageReduction& r : stages_.reductions) {
      const int node = r.element;
      const KeptValue kept{node, store.output, r.pass};
      const bool moves = pilot_steps_ > 0 && (r.form == StageForm::deviations || r.form == StageForm::squares);
      if (moves || r.again || r.pass >= position(store.node).pass || position(node).per_row ||
          position(node).pass != r.pass)
        continue;
      if (kernel::dtype_of(spec_, node) == dtype && expensive_[static_cast<std::size_t>(node)] &&
          stands_alone(spec_, positions_, kept))
        stages_.kept = kept;
    }
  }

  /// A program of elements, which finds the kept value where an earlier pass has left it, or the first look of its own.
  StageBuilder elements_of(int pass, bool again = false) {
    StageBuilder made = program(true);
    const KeptValue& kept = stages_.kept;
    if (kept.node >= 0 && (pass > kept.pass || (again && pass == kept.pass))) made.read_kept(kept);
    return made;
  }

  StageProgram step(int pass, const StagePass& of, bool masked) {
    const bool again = !of.reductions.empty() && at(of.reductions[0]).again;
    StageBuilder made = elements_of(pass, again);
    for (const int reduction : of.reductions)
      if (again && at(reduction).max >= 0) made.read_shift(at(reduction).max);
    const KeptValue& kept = stages_.kept;
    if (kept.node >= 0 && pass == kept.pass && !again) made.result(made.value(kept.node), made.place_of(kept));
    for (const int reduction : of.reductions) {
      const StageReduction& r = stages_.reductions[static_cast<std::size_t>(reduction)];
      if (r.form == StageForm::extreme) take_up_index(made, stages_.reductions, reduction, masked);
      if (r.form == StageForm::extreme || r.form == StageForm::number) continue;
      if (r.places > 0) take_up_ranks(made, stages_.reductions, reduction);
      if (goes_by_order(r)) continue;
      Lane element = made.value(r.element);
      if (r.form == StageForm::negated) element = negate(element);
      if (r.form == StageForm::bits) element = as(LaneType::i32, element);
      if (r.form == StageForm::deviations || r.form == StageForm::squares)
        element = element - made.input(made.save_slot({r.element, SavedValue::Part::pilot}));
      if (r.form == StageForm::squares) element = element * element;
      if (r.form == StageForm::powers) element = scaled_exp_of_moderate(element);
      if (r.form == StageForm::remainders) element = element - element;
      if (masked) {
        const Lane mask = made.input({StagePlace::Kind::mask, 0, integer_of(r.set_type)});
        element = select(mask, element, made.builder().bits(r.set_type, r.set_identity));
      }
      const StagePlace set{StagePlace::Kind::set, reduction, r.set_type};
      made.result(masked ? combined(r, r.set_type, made.input(set), element) : taken_up(r, made.input(set), element),
                  set);
    }
    for (const kernel::Store& store : spec_.stores) {
      const Position& at = positions_[static_cast<std::size_t>(store.node)];
      if (!at.per_row && at.pass == pass && !again) made.store(store);
    }
    // Behind what is stored of the sums so far.
    for (const int reduction : of.reductions)
      if (at(reduction).form == StageForm::running) take_up_running(made, reduction);
    return finish(made);
  }

  StageProgram enters(int pass, const StagePass& of) {
    StageBuilder made = elements_of(pass);
    for (const int reduction : of.reductions) {
      if (at(reduction).places == 0) continue;
      const Lane takes = takes_a_place(made, stages_.reductions, reduction);
      made.result(takes, {StagePlace::Kind::open, 0, takes.type});
    }
    return finish(made);
  }

  void take_up_running(StageBuilder& made, int reduction) {
    const StageReduction& r = at(reduction);
    const StagePlace set{StagePlace::Kind::set, reduction, r.set_type};
    Lane more = made.value(r.element);
    if (r.in_lanes) more = convert(LaneOp::last_lane, convert(LaneOp::prefix_sum, more));
    made.result(normalized(r.dtype, made.input(set) + more), set);
  }

  const StageReduction& at(int reduction) const { return stages_.reductions[static_cast<std::size_t>(reduction)]; }

  /// The elements again, for rows of which any of the totals is open.
  void look_twice(int pass, StagePass& of) {
    StagePass again;
    StageBuilder made = program(false);
    Lane open;
    for (const int reduction : of.reductions) {
      if (at(reduction).exact < 0) continue;
      const Lane mask = narrow_mask(made.is_open(reduction));
      open = again.reductions.empty() ? mask : open | mask;
      again.reductions.push_back(at(reduction).exact);
    }
    if (again.reductions.empty()) return;
    made.result(open, {StagePlace::Kind::open, 0, open.type});
    of.question = finish(made);
    of.shifts = shifts(again);
    again.step = step(pass, again, false);
    again.tail = step(pass, again, true);
    of.second_look.push_back(std::move(again));
  }

  StageProgram shifts(const StagePass& again) {
    StageBuilder made = program(false);
    for (const int reduction : again.reductions)
      if (const int max = at(reduction).max; max >= 0)
        made.result(made.first_max(max), made.save_slot({max, SavedValue::Part::shift}));
    return finish(made);
  }

  StageProgram pilot(int pass, const StagePass& of) {
    StageBuilder made = elements_of(pass);
    for (const int reduction : of.reductions) {
      const StageReduction& r = stages_.reductions[static_cast<std::size_t>(reduction)];
      if (r.form != StageForm::deviations) continue;
      const StagePlace pilot = made.save_slot({r.element, SavedValue::Part::pilot});
      const Lane share = made.input({StagePlace::Kind::share, 0, LaneType::f32});
      const Lane mean = pilot_with(made.input(pilot), made.value(r.element), share);
      made.result(r.gives_sum() ? pilot_for_sum(mean) : mean, pilot);
    }
    return finish(made);
  }

  /// The schedule has made sure that there is but one.
  void make_pilot_of_row(int pass, StagePass& of) {
    for (const int reduction : of.reductions) {
      const StageReduction& r = stages_.reductions[static_cast<std::size_t>(reduction)];
      if (r.form != StageForm::deviations) continue;
      StageBuilder more = elements_of(pass), fold = program(false), end = program(false), far = program(false),
                   move = program(false);
      const StagePlace pilot = more.save_slot({r.element, SavedValue::Part::pilot});
      more.result(more.input(pilot) + more.value(r.element), pilot);
      fold.result(fold.input(pilot) + fold.input({StagePlace::Kind::other, reduction, LaneType::f32}), pilot);
      end.result(pilot_for_sum(end.input(pilot) * end.input({StagePlace::Kind::share, 0, LaneType::f32})), pilot);
      of.pilot = finish(more);
      of.fold_pilot = finish(fold);
      of.end_pilot = finish(end);
      const auto about = [&](StageBuilder& made) {
        return Deviations{made.input(pilot), made.input({StagePlace::Kind::total, reduction, r.total_type}),
                          made.input({StagePlace::Kind::total, reduction + CentredMoment::kSquares, r.total_type})};
      };
      const Lane mask = narrow_mask(is_far(about(far), far.input({StagePlace::Kind::count, 0, LaneType::f64})));
      far.result(mask, {StagePlace::Kind::open, 0, mask.type});
      move.result(moved_pilot(about(move), move.input({StagePlace::Kind::count, 0, LaneType::f64})), pilot);
      of.drift = finish(far);
      of.move_pilot = finish(move);
    }
  }

  StageProgram recentre(const StagePass& of) {
    StageBuilder made = program(false);
    for (const int reduction : of.reductions) {
      const StageReduction& r = stages_.reductions[static_cast<std::size_t>(reduction)];
      if (r.form != StageForm::deviations) continue;
      const StagePlace pilot = made.save_slot({r.element, SavedValue::Part::pilot}),
                       sum{StagePlace::Kind::total, reduction + CentredMoment::kDeviations, r.total_type},
                       squares{StagePlace::Kind::total, reduction + CentredMoment::kSquares, r.total_type};
      const Deviations moved = recentred({made.input(pilot), made.input(sum), made.input(squares)},
                                         made.input({StagePlace::Kind::taken, 0, LaneType::f64}), r.gives_sum());
      made.result(moved.pilot, pilot);
      made.result(moved.sum, sum);
      made.result(moved.squares, squares);
    }
    return finish(made);
  }

  /// Saves what pass `pass` is the first to read, and stores at the end.
  StageProgram rows(int pass) {
    StageBuilder made = program(false);
    for (const auto& [what, slot] : saved_) {
      const bool known = pass > 0 && slots_by_pass_[static_cast<std::size_t>(pass) - 1].contains(what);
      const bool needed = pass < pass_count() && slots_by_pass_[static_cast<std::size_t>(pass)].contains(what);
      if (!known && needed && !what.is_of_own_pass())
        made.result(made.saved_value(what),
                    {StagePlace::Kind::saved, slot, lane_type(kernel::dtype_of(spec_, what.node))});
    }
    if (pass == pass_count())
      for (const kernel::Store& store : spec_.stores)
        if (positions_[static_cast<std::size_t>(store.node)].per_row) made.store(store);
    return finish(made);
  }

  const KernelSpec& spec_;
  BodyFacts facts_;
  Scratch scratch_;
  bool outputs_keep_;  ///< what is stored around the caches is no place to read from
  Beside beside_;
  int pilot_steps_;  ///< of rows, whose sums follow from the deviations
  bool along_rows_;
  std::vector<Position> positions_;
  std::vector<bool> expensive_;    ///< by node, kernel::expensive_elements
  std::vector<int> reduction_of_;  ///< by node
  SavedSlots saved_;               ///< of all passes so far
  std::vector<SavedSlots> slots_by_pass_;
  Stages stages_;
  Status status_;
};

}  // namespace

bool reads_numbers(const StageProgram& program) {
  return std::ranges::any_of(program.inputs,
                             [](const StagePlace& place) { return place.kind == StagePlace::Kind::number; });
}

std::vector<int> sets_read_by(const StageProgram& program) {
  std::vector<int> sets;
  for (const StagePlace& place : program.inputs)
    if (place.kind == StagePlace::Kind::set) sets.push_back(place.index);
  return sets;
}

StageProgram with_operands(const LaneProgram& program, const kernel::KernelSpec& spec) {
  StageProgram made{program, {}, {}};
  const auto place = [](std::size_t k, LaneType type) {
    return StagePlace{StagePlace::Kind::operand, static_cast<int>(k), type};
  };
  for (std::size_t k = 0; k < spec.inputs.size(); ++k) made.inputs.push_back(place(k, LaneType::f32));
  for (std::size_t i = 0; i < program.results.size(); ++i)
    made.results.push_back(place(spec.inputs.size() + static_cast<std::size_t>(spec.stores[i].output),
                                 result_type(program.nodes[static_cast<std::size_t>(program.results[i])])));
  return made;
}

namespace {

/// One pass, of the program that a flat kernel would run, where nothing is reduced and all elements differ along the
/// levels that count as reduced (schedule/turned.hpp).
std::optional<Result<Stages>> stages_of_elements(const KernelSpec& spec) {
  if (kernel::is_ordered(spec)) return std::nullopt;
  const bool all_differ =
      std::ranges::none_of(spec.body,
                           [](const kernel::Node& node) { return node.kind == kernel::Node::Kind::reduce; }) &&
      std::ranges::all_of(spec.inputs, [&](const auto& input) { return kernel::moves_along_reduced(spec, input); });
  if (!all_differ) return std::nullopt;
  const Result<LaneProgram> program = body_program(spec);
  if (!program.ok()) return program.status();
  Stages stages;
  stages.lanes = program.value().lanes();
  StagePass pass;
  pass.step = pass.tail = with_operands(program.value(), spec);
  stages.passes.push_back(std::move(pass));
  stages.rows.resize(2);
  return stages;
}

}  // namespace

const StagePass* trailing_pass(const Stages& stages, const schedule::Schedule& schedule) {
  const bool can = stages.passes.size() > 1 && stages.passes.back().reductions.empty();
  return schedule.trails && can ? &stages.passes.back() : nullptr;
}

Result<Stages> find_stages(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  if (std::optional<Result<Stages>> elements = stages_of_elements(spec)) return *std::move(elements);
  const std::vector<int> none(spec.body.size(), -1);
  const bool columns = schedule.nest == schedule::Nest::staged_columns;
  Beside beside{columns || schedule.pilot > 0 ? kernel::sums_beside_moments(spec) : none,
                columns ? schedule::maxima_in_one_pass(spec) : none};
  const Scratch scratch = schedule.keep == 0           ? Scratch::never
                          : columns || schedule.around ? Scratch::before_outputs
                                                       : Scratch::after_outputs;
  return Finder(spec, schedule, scratch, std::move(beside)).run();
}

}  // namespace tenfold::jit

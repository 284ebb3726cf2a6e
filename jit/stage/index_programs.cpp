// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/index_programs.hpp"

#include <algorithm>
#include <optional>

#include "jit/stage/numbered.hpp"

namespace tenfold::jit {
namespace {

const StageReduction& at(const std::vector<StageReduction>& reductions, int reduction) {
  return reductions[static_cast<std::size_t>(reduction)];
}

StagePlace set_of(const std::vector<StageReduction>& reductions, int reduction) {
  return {StagePlace::Kind::set, reduction, at(reductions, reduction).set_type};
}

Numbered sets(StageBuilder& made, const std::vector<StageReduction>& reductions, int extreme) {
  const Lane element = made.input(set_of(reductions, extreme));
  return {element, made.input(set_of(reductions, at(reductions, extreme).number))};
}

}  // namespace

void take_up_index(StageBuilder& made, const std::vector<StageReduction>& reductions, int extreme, bool masked) {
  const StageReduction& of = at(reductions, extreme);
  const LaneType type = at(reductions, of.number).set_type;
  const Lane element = compared(of.monoid, of.dtype, made.value(of.element));
  const Numbered next{element, made.input({StagePlace::Kind::number, 0, type})};
  std::optional<Lane> mask;
  if (masked) mask = made.input({StagePlace::Kind::mask, 0, type});
  const auto take_up = of.again ? taken_up : number_taken_up;
  const Numbered now = take_up(sets(made, reductions, extreme), next, of.last, mask);
  made.result(now.element, set_of(reductions, extreme));
  made.result(now.number, set_of(reductions, of.number));
}

void join_index(StageBuilder& made, const std::vector<StageReduction>& reductions, int number, bool with_sets) {
  const StageReduction& of = at(reductions, number);
  const StagePlace total{StagePlace::Kind::total, number, of.total_type};
  const auto extreme = std::ranges::find(reductions, number, &StageReduction::number) - reductions.begin();
  const Lane so_far = made.input(total);
  const Lane more = with_sets ? joined(sets(made, reductions, static_cast<int>(extreme)), of.last)
                              : made.input({StagePlace::Kind::other, number, of.total_type});
  made.result(combine(LaneOp::greatest_signed, so_far, more), total);
}

}  // namespace tenfold::jit

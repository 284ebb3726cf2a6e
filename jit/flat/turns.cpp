// SPDX-License-Identifier: Apache-2.0
#include "jit/flat/turns.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "jit/lane/emit.hpp"
#include "jit/stage/side_by_side.hpp"

namespace tenfold::jit {
namespace {

/// Nodes of a program whose steps take turns, two to four of them, in pairs where two are rounded together. A scheduler
/// holds some 50 to 100 operations that wait, one or two such chains, and of several that wait for nothing from one
/// another it finds more that are ready.
constexpr std::size_t kLongStep = 16;
constexpr int kMostSteps = 4;
/// A third step gains less than constants lose that have to be read from memory.
constexpr int kHeldBesideThree = 4;

class TurnsFinder {
 public:
  TurnsFinder(const StageProgram& one, const OperandAccess& access, const LaneLayer& layer)
      : access_(access), layer_(layer), variants_{one, reading_again(one)} {
    for (const StagePlace& to : one.results) joins_ = joins_ || joins(to.index);
    for (const StagePlace& from : one.inputs) repeating_ += repeats(from.index) ? 1 : 0;
  }

  Turns find() const {
    const bool is_long = variants_[0].lanes.nodes.size() >= kLongStep;
    if (!joins_ && !is_long) return {};
    for (int steps = is_long ? kMostSteps : 2; steps >= 2; steps -= joins_ ? 2 : 1)
      for (const StageProgram& variant : variants_)
        if (std::optional<StageProgram> made = in_turns(variant, steps)) return {steps, std::move(made)};
    return {};
  }

 private:
  bool joins(int k) const { return access_.joins(layer_, static_cast<std::size_t>(k)); }
  bool repeats(int k) const { return access_.repeats(static_cast<std::size_t>(k)); }
  static int needed(const StageProgram& program) {
    return vectors_needed(program.lanes, std::vector<bool>(program.inputs.size(), false));
  }

  /// Nothing where vectors have no room.
  std::optional<StageProgram> in_turns(const StageProgram& one, int steps) const {
    const int room = layer_.vectors() - (steps % 2 == 0 ? 0 : kHeldBesideThree);
    // About as many as it will be, and cheaper to know.
    if (steps * (needed(one) - repeating_) - (steps - 1) > room) return std::nullopt;
    StageProgram made = with_joined_results(
        side_by_side(one, steps, [this](int k) { return repeats(k); }), [this](int k) { return joins(k); },
        [this](int k) { return access_.is_bf16(static_cast<std::size_t>(k)); });
    if (needed(made) > room) return std::nullopt;
    return made;
  }

  const OperandAccess& access_;
  const LaneLayer& layer_;
  std::array<StageProgram, 2> variants_;
  bool joins_ = false;
  int repeating_ = 0;  ///< inputs that all steps read the same of
};

}  // namespace

Turns find_turns(const StageProgram& one, const OperandAccess& access, const LaneLayer& layer) {
  return TurnsFinder(one, access, layer).find();
}

}  // namespace tenfold::jit

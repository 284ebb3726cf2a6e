// SPDX-License-Identifier: Apache-2.0
#include "jit/side_by_side.hpp"

#include <array>
#include <vector>

namespace tenfold::jit {
namespace {

constexpr int kSteps = 2;

bool is_of_element(const StagePlace& place) {
  return place.kind == StagePlace::Kind::operand || place.kind == StagePlace::Kind::set ||
         place.kind == StagePlace::Kind::kept;
}

bool is_of_column(const StagePlace& place) {
  return is_of_element(place) || place.kind == StagePlace::Kind::total || place.kind == StagePlace::Kind::saved;
}

/// `moves`: whether each step has a place of its own.
StageProgram two_steps(const StageProgram& program, bool (*moves)(const StagePlace& place)) {
  StageProgram made;
  std::vector<std::array<int, kSteps>> node_of(program.lanes.nodes.size());
  const auto add_input = [&](StagePlace place, int step) {
    place.step = step;
    made.inputs.push_back(place);
    return made.inputs.size() - 1;
  };
  for (std::size_t i = 0; i < program.lanes.nodes.size(); ++i) {
    const LaneNode& node = program.lanes.nodes[i];
    const bool is_input = node.op == LaneOp::input;
    const bool shared = node.op == LaneOp::constant || (is_input && !moves(program.inputs[node.immediate]));
    for (int step = 0; step < kSteps; ++step) {
      const auto at = static_cast<std::size_t>(step);
      if (shared && step > 0) {
        node_of[i][at] = node_of[i][0];
        continue;
      }
      LaneNode copy = node;
      for (int arg = 0; arg < arity(node.op); ++arg) {
        const auto a = static_cast<std::size_t>(arg);
        copy.args[a] = node_of[static_cast<std::size_t>(node.args[a])][at];
      }
      if (is_input) copy.immediate = add_input(program.inputs[node.immediate], step);
      node_of[i][at] = static_cast<int>(made.lanes.nodes.size());
      made.lanes.nodes.push_back(copy);
    }
  }
  for (int step = 0; step < kSteps; ++step)
    for (std::size_t i = 0; i < program.results.size(); ++i) {
      const int node = program.lanes.results[i];
      made.lanes.results.push_back(node_of[static_cast<std::size_t>(node)][static_cast<std::size_t>(step)]);
      made.results.push_back(program.results[i]);
      made.results.back().step = step;
    }
  return made;
}

}  // namespace

StageProgram side_by_side(const StageProgram& program) { return two_steps(program, is_of_element); }

StageProgram columns_side_by_side(const StageProgram& program) { return two_steps(program, is_of_column); }

}  // namespace tenfold::jit

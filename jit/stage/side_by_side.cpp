// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/side_by_side.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tenfold::jit {
namespace {

constexpr std::uint64_t kCanonicalNan = 0x7fc00000;

bool is_of_element(const StagePlace& place) {
  return place.kind == StagePlace::Kind::operand || place.kind == StagePlace::Kind::set ||
         place.kind == StagePlace::Kind::kept || place.kind == StagePlace::Kind::number;
}

bool is_of_column(const StagePlace& place) {
  return is_of_element(place) || place.kind == StagePlace::Kind::total || place.kind == StagePlace::Kind::saved;
}

/// `moves`: whether each step has a place of its own.
StageProgram in_turns(const StageProgram& program, int steps, const std::function<bool(const StagePlace&)>& moves) {
  StageProgram made;
  std::vector<std::vector<int>> node_of(program.lanes.nodes.size(), std::vector<int>(static_cast<std::size_t>(steps)));
  const auto add_input = [&](StagePlace place, int step) {
    place.step = step;
    made.inputs.push_back(place);
    return made.inputs.size() - 1;
  };
  for (std::size_t i = 0; i < program.lanes.nodes.size(); ++i) {
    const LaneNode& node = program.lanes.nodes[i];
    const bool is_input = node.op == LaneOp::input;
    const bool shared = node.op == LaneOp::constant || (is_input && !moves(program.inputs[node.immediate]));
    for (int step = 0; step < steps; ++step) {
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
  for (int step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < program.results.size(); ++i) {
      const int node = program.lanes.results[i];
      made.lanes.results.push_back(node_of[static_cast<std::size_t>(node)][static_cast<std::size_t>(step)]);
      made.results.push_back(program.results[i]);
      made.results.back().step = step;
    }
  return made;
}

/// The value of which `node` is the canonical form, as function/functions.hpp makes it; `node` where it is none.
int before_canonical(const LaneProgram& program, int node) {
  const auto at = [&](int index) -> const LaneNode& { return program.nodes[static_cast<std::size_t>(index)]; };
  const LaneNode& made = at(node);
  const auto is_nan = [&](int arg) { return at(arg).op == LaneOp::constant && at(arg).immediate == kCanonicalNan; };
  const auto asks_for_nan = [&](int mask, int of) {
    return at(mask).op == LaneOp::unordered && at(mask).args[0] == of && at(mask).args[1] == of;
  };
  if (made.op == LaneOp::select && is_nan(made.args[1]) && asks_for_nan(made.args[0], made.args[2]))
    return made.args[2];
  return made.op == LaneOp::least_unsigned && is_nan(made.args[1]) ? made.args[0] : node;
}

/// By node: whether its lower 16 bits are zeros in each lane of 32 bits.
std::vector<bool> upper_halves(const StageProgram& program, const std::function<bool(int operand)>& loads_bf16) {
  std::vector<bool> upper(program.lanes.nodes.size());
  for (std::size_t i = 0; i < upper.size(); ++i) {
    const LaneNode& node = program.lanes.nodes[i];
    const auto arg = [&](std::size_t a) { return bool{upper[static_cast<std::size_t>(node.args[a])]}; };
    switch (node.op) {
      case LaneOp::input: {
        const StagePlace& place = program.inputs[node.immediate];
        upper[i] = place.kind == StagePlace::Kind::operand && loads_bf16(place.index);
        break;
      }
      case LaneOp::constant: upper[i] = (node.immediate & 0xffff) == 0; break;
      case LaneOp::bit_and: upper[i] = arg(0) || arg(1); break;
      case LaneOp::bit_and_not:
      case LaneOp::round: upper[i] = arg(node.op == LaneOp::round ? 0 : 1); break;
      case LaneOp::lesser:
      case LaneOp::greater:
      case LaneOp::bit_or:
      case LaneOp::bit_xor: upper[i] = arg(0) && arg(1); break;
      case LaneOp::select: upper[i] = arg(1) && arg(2); break;
      default: break;
    }
    upper[i] = upper[i] && lane_bytes(node.type) == 4;
  }
  return upper;
}

}  // namespace

StageProgram with_joined_results(const StageProgram& steps, const std::function<bool(int operand)>& joins,
                                 const std::function<bool(int operand)>& loads_bf16) {
  StageProgram made{steps.lanes, steps.inputs, {}};
  made.lanes.results.clear();
  const auto add = [&](int node, const StagePlace& place) {
    made.lanes.results.push_back(node);
    made.results.push_back(place);
  };
  const std::vector<bool> upper = upper_halves(steps, loads_bf16);
  const auto value_of = [&](std::size_t result) { return before_canonical(steps.lanes, steps.lanes.results[result]); };
  for (std::size_t i = 0; i < steps.results.size(); ++i) {
    StagePlace place = steps.results[i];
    const bool is_constant = steps.lanes.nodes[static_cast<std::size_t>(value_of(i))].op == LaneOp::constant;
    if (place.kind != StagePlace::Kind::operand || is_constant || !joins(place.index)) {
      add(steps.lanes.results[i], place);
      continue;
    }
    if (place.step % 2 == 1) continue;
    ++place.step;
    const auto other = std::find(steps.results.begin(), steps.results.end(), place) - steps.results.begin();
    --place.step;
    place.kind = StagePlace::Kind::joined;
    const std::array<int, 3> args{value_of(i), value_of(static_cast<std::size_t>(other)), -1};
    const bool exact = upper[static_cast<std::size_t>(args[0])] && upper[static_cast<std::size_t>(args[1])];
    made.lanes.nodes.push_back({LaneOp::join_bf16, LaneType::f32, args, exact ? kExactJoin : 0});
    add(static_cast<int>(made.lanes.nodes.size()) - 1, place);
  }
  made.lanes = made.lanes.without_idle();
  return made;
}

StageProgram reading_again(const StageProgram& program) {
  constexpr std::size_t kMuchLater = 8;
  struct Read {
    int node = -1;
    std::size_t last_use = 0;
  };
  StageProgram made{{}, program.inputs, program.results};
  std::vector<int> node_of(program.lanes.nodes.size());
  std::vector<Read> reads(program.lanes.nodes.size());
  for (std::size_t i = 0; i < program.lanes.nodes.size(); ++i) {
    LaneNode copy = program.lanes.nodes[i];
    for (int arg = 0; arg < arity(copy.op); ++arg) {
      int& of = copy.args[static_cast<std::size_t>(arg)];
      const auto from = static_cast<std::size_t>(of);
      if (program.lanes.nodes[from].op == LaneOp::input) {
        Read& read = reads[from];
        if (read.node >= 0 && i > read.last_use + kMuchLater) {
          node_of[from] = static_cast<int>(made.lanes.nodes.size());
          made.lanes.nodes.push_back(program.lanes.nodes[from]);
        }
        read = {node_of[from], i};
      }
      of = node_of[from];
    }
    node_of[i] = static_cast<int>(made.lanes.nodes.size());
    made.lanes.nodes.push_back(copy);
  }
  for (const int result : program.lanes.results)
    made.lanes.results.push_back(node_of[static_cast<std::size_t>(result)]);
  return made;
}

StageProgram side_by_side(const StageProgram& program, int steps, const std::function<bool(int operand)>& repeats) {
  const auto moves = [&](const StagePlace& place) {
    if (place.kind == StagePlace::Kind::operand && repeats) return !repeats(place.index);
    return is_of_element(place);
  };
  return in_turns(program, steps, moves);
}

StageProgram columns_side_by_side(const StageProgram& program) { return in_turns(program, 2, is_of_column); }

}  // namespace tenfold::jit

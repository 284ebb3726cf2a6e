// SPDX-License-Identifier: Apache-2.0
//
// Register allocation of straight-line code. Constants stay in memory and are operands of instructions. When vectors
// run out, the value that is needed latest leaves: an input is dropped and read again, anything else is written to its
// place in scratch, once.
#include "jit/lane/emit.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace tenfold::jit {
namespace {

constexpr int kNone = -1;
constexpr int kVectorBytes = 64;
/// Places for the arguments of operations that go lane by lane, before those of spilled values.
constexpr int kOwnPlaces = 2;

/// What may be left in a mask: comparisons, and a bit that is shifted to the top.
bool asks(LaneOp op) { return (op >= LaneOp::equal && op <= LaneOp::unordered) || op == LaneOp::shift_left; }

bool goes_lane_by_lane(LaneOp op) { return op >= LaneOp::divide_signed; }

bool is_result(const LaneProgram& program, int node) {
  return std::find(program.results.begin(), program.results.end(), node) != program.results.end();
}

/// Whether the operation brings a constant into a vector beside its other arguments, as it is no instruction.
bool brings_constant(const LaneProgram& program, const LaneNode& node) {
  const auto is_constant = [&](int arg) { return program.nodes[static_cast<std::size_t>(arg)].op == LaneOp::constant; };
  return goes_lane_by_lane(node.op) && std::any_of(node.args.begin(), node.args.begin() + arity(node.op), is_constant);
}

class Emission {
 public:
  Emission(Assembler& assembler, LaneLayer& layer, const LaneProgram& program, const Memory& spill,
           const LaneOperands& operands)
      : a_(assembler),
        layer_(layer),
        program_(program),
        spill_(spill),
        operands_(operands),
        values_(program.nodes.size()),
        held_(static_cast<std::size_t>(operands.free < 0 ? layer.vectors() : operands.free), kNone),
        masks_(static_cast<std::size_t>(layer.masks()), kNone) {
    for (std::size_t i = 0; i < program.nodes.size(); ++i)
      for (int arg = 0; arg < arity(program.nodes[i].op); ++arg)
        values_[at(program.nodes[i].args[at(arg)])].uses.push_back(static_cast<int>(i));
  }

  std::int64_t run() {
    for (now_ = 0; now_ < static_cast<int>(program_.nodes.size()); ++now_) {
      const LaneNode& node = program_.nodes[at(now_)];
      if (node.op == LaneOp::input || node.op == LaneOp::constant) {
        if (!is_result(program_, now_)) continue;
        bring(now_);
      } else {
        compute(node);
      }
      for (std::size_t result = 0; result < program_.results.size(); ++result)
        if (program_.results[result] == now_) put(static_cast<int>(result), node);
      is_constant(now_) ? release(now_) : release_if_dead(now_);
    }
    return kVectorBytes * (kOwnPlaces + places_);
  }

 private:
  struct Value {
    Vec vec = kNone;
    int mask = kNone;       ///< of the layer's: what selections alone read
    int place = kNone;      ///< in scratch
    std::vector<int> uses;  ///< nodes, in order
  };
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  static Vec resident(const std::vector<Vec>& vectors, int index) {
    return at(index) < vectors.size() ? vectors[at(index)] : kNone;
  }

  void put(int result, const LaneNode& node) {
    const Vec home = resident(operands_.resident_results, result), vec = values_[at(now_)].vec;
    if (home == kNone) {
      const auto spare = std::find(held_.begin(), held_.end(), kNone);
      layer_.lend(spare == held_.end() ? kNone : static_cast<Vec>(spare - held_.begin()));
      operands_.store(result, vec);
      layer_.lend(kNone);
    } else if (home != vec) {
      const LaneSource source[] = {{vec, 0, 4}, {vec, 0, 4}};
      layer_.operate({LaneOp::bit_and, result_type(node), {}, 0}, home, source);
    }
  }

  /// Where to compute the current node: at once where it is to stay, if what has been there is not needed any more.
  Vec destination() {
    for (std::size_t result = 0; result < program_.results.size(); ++result) {
      const Vec home = resident(operands_.resident_results, static_cast<int>(result));
      if (program_.results[result] != now_ || home == kNone || is_read_later(home)) continue;
      return values_[at(now_)].vec = home;
    }
    return take(now_);
  }
  bool is_read_later(Vec home) const {
    for (std::size_t i = 0; i < program_.nodes.size(); ++i)
      if (program_.nodes[i].op == LaneOp::input && is_used_later(static_cast<int>(i)) &&
          resident(operands_.resident_inputs, static_cast<int>(program_.nodes[i].immediate)) == home)
        return true;
    return false;
  }

  int next_use(int value) const {
    const std::vector<int>& uses = values_[at(value)].uses;
    const auto next = std::lower_bound(uses.begin(), uses.end(), now_);
    return next == uses.end() ? std::numeric_limits<int>::max() : *next;
  }
  bool is_used_later(int value) const {
    const std::vector<int>& uses = values_[at(value)].uses;
    return !uses.empty() && uses.back() > now_;
  }

  void release_if_dead(int value) {
    Value& v = values_[at(value)];
    if (is_used_later(value)) return;
    if (v.mask != kNone) masks_[at(v.mask)] = kNone;
    release(value);
  }
  void release(int value) {
    Value& v = values_[at(value)];
    if (v.vec != kNone && at(v.vec) < held_.size()) held_[at(v.vec)] = kNone;
    v.vec = kNone;
  }

  /// A free vector. Values that the current operation has brought in are used by it now, so they leave last of all.
  Vec take(int for_value) {
    auto free = std::find(held_.begin(), held_.end(), kNone);
    if (free == held_.end()) {
      const auto later = [this](int a, int b) { return next_use(a) < next_use(b); };
      free = std::max_element(held_.begin(), held_.end(), later);
      // An argument would make way for another.
      if (next_use(*free) == now_) a_.report_too_few_vectors();
      leave(*free);
    }
    *free = for_value;
    const Vec vec = static_cast<Vec>(free - held_.begin());
    values_[at(for_value)].vec = vec;
    return vec;
  }

  void leave(int value) {
    Value& v = values_[at(value)];
    const LaneOp op = program_.nodes[at(value)].op;
    if (op != LaneOp::input && op != LaneOp::constant && v.place == kNone) {
      v.place = kOwnPlaces + places_++;
      layer_.spill(place(v.place), v.vec);
    }
    v.vec = kNone;
  }

  Memory place(int index) const { return spill_ + kVectorBytes * index; }

  void bring(int value) {
    Value& v = values_[at(value)];
    if (v.vec != kNone) return;
    const LaneNode& node = program_.nodes[at(value)];
    if (node.op == LaneOp::input) v.vec = resident(operands_.resident_inputs, static_cast<int>(node.immediate));
    if (v.vec != kNone) return;
    const Vec vec = take(value);
    if (node.op == LaneOp::input) {
      operands_.load(static_cast<int>(node.immediate), vec);
    } else if (node.op == LaneOp::constant) {
      // x & x, all of it a constant: the one instruction that takes two.
      const LaneSource source[] = {{kNone, node.immediate, lane_bytes(node.type)},
                                   {kNone, node.immediate, lane_bytes(node.type)}};
      layer_.operate({LaneOp::bit_and, node.type, {}, 0}, vec, source);
    } else {
      layer_.reload(vec, place(v.place));
    }
  }

  void compute(const LaneNode& node) {
    if (goes_lane_by_lane(node.op)) return lane_by_lane(node);
    const int count = arity(node.op);
    std::array<LaneSource, 3> sources;
    bool any_vector = false;
    for (int arg = 0; arg < count; ++arg) any_vector = any_vector || !is_constant(node.args[at(arg)]);
    for (int arg = 0; arg < count; ++arg) {
      const int value = node.args[at(arg)];
      const LaneNode& made = program_.nodes[at(value)];
      if (values_[at(value)].mask != kNone) continue;
      if (is_constant(value) && (any_vector || arg > 0)) {
        sources[at(arg)] = {kNone, made.immediate, lane_bytes(made.type)};
        continue;
      }
      bring(value);
    }
    for (int arg = 0; arg < count; ++arg)
      if (values_[at(node.args[at(arg)])].vec != kNone) sources[at(arg)].vec = values_[at(node.args[at(arg)])].vec;
    // What a selection reads in a mask is there until a later operation.
    const int mask = asks(node.op) ? mask_for_now() : values_[at(node.args[0])].mask;
    for (int arg = 0; arg < count; ++arg) release_if_dead(node.args[at(arg)]);
    // Room for constants is not counted: one that is alone with others makes way for what comes of them.
    for (int arg = 0; arg < count; ++arg)
      if (is_constant(node.args[at(arg)])) release(node.args[at(arg)]);
    const std::span<const LaneSource> args(sources.data(), at(count));
    if (mask == kNone) {
      layer_.operate(node, destination(), args);
    } else if (asks(node.op)) {
      layer_.compare_into(mask, node, args);
    } else {
      layer_.select_by(mask, node, destination(), args);
    }
  }

  /// A free mask, if the current value is but the mask of selections; kNone otherwise.
  int mask_for_now() {
    const auto free = std::find(masks_.begin(), masks_.end(), kNone);
    const std::vector<int>& results = program_.results;
    if (free == masks_.end() || std::find(results.begin(), results.end(), now_) != results.end()) return kNone;
    for (const int use : values_[at(now_)].uses) {
      const LaneNode& node = program_.nodes[at(use)];
      if (node.op != LaneOp::select || node.args[1] == now_ || node.args[2] == now_) return kNone;
    }
    *free = now_;
    return values_[at(now_)].mask = static_cast<int>(free - masks_.begin());
  }

  bool is_constant(int value) const { return program_.nodes[at(value)].op == LaneOp::constant; }

  void lane_by_lane(const LaneNode& node) {
    for (int arg = 0; arg < arity(node.op); ++arg) {
      const int value = node.args[at(arg)];
      bring(value);
      layer_.spill(place(arg), values_[at(value)].vec);
      if (is_constant(value)) release(value);
    }
    for (int arg = 0; arg < arity(node.op); ++arg) release_if_dead(node.args[at(arg)]);
    emit_lane_by_lane(a_, node, layer_.lanes(), place(0), place(0), place(1));
    layer_.reload(take(now_), place(0));
  }

  Assembler& a_;
  LaneLayer& layer_;
  const LaneProgram& program_;
  Memory spill_;
  const LaneOperands& operands_;
  std::vector<Value> values_;
  std::vector<int> held_;   ///< by vector: its value
  std::vector<int> masks_;  ///< by mask: likewise
  int now_ = 0;
  int places_ = 0;
};

}  // namespace

int vectors_needed(const LaneProgram& program, const std::vector<bool>& resident) {
  const auto count = program.nodes.size();
  std::vector<std::size_t> first(count), last(count, 0);  // an input is loaded for its first use
  for (std::size_t i = 0; i < count; ++i) {
    const bool comes_later = program.nodes[i].op == LaneOp::input && !is_result(program, static_cast<int>(i));
    first[i] = comes_later ? count : i + (program.nodes[i].op == LaneOp::input ? 0 : 1);
    for (int arg = 0; arg < arity(program.nodes[i].op); ++arg) {
      const auto value = static_cast<std::size_t>(program.nodes[i].args[static_cast<std::size_t>(arg)]);
      first[value] = std::min(first[value], i);
      last[value] = i;
    }
  }
  // How many more there are from each node on.
  std::vector<int> before(count + 1, 0), after(count + 1, 0);
  for (std::size_t value = 0; value < count; ++value) {
    const LaneNode& node = program.nodes[value];
    const bool elsewhere = node.op == LaneOp::constant || (node.op == LaneOp::input && resident[node.immediate]);
    if (elsewhere || first[value] > last[value]) continue;
    ++before[first[value]], --before[last[value] + 1];
    ++after[first[value]], --after[last[value]];
  }
  int most = 0, read = 0, left = 0;
  for (std::size_t now = 0; now < count; ++now) {
    read += before[now], left += after[now];
    const LaneNode& node = program.nodes[now];
    if (arity(node.op) == 0 && !is_result(program, static_cast<int>(now))) continue;  // comes where it is used
    most = std::max(most, read);
    // The result may take the place of an argument.
    if (node.op != LaneOp::input) most = std::max(most, left + 1);
    if (brings_constant(program, node)) most = std::max(most, read + 1);
  }
  return most;
}

int fewest_vectors(const LaneProgram& program, const std::vector<bool>& resident) {
  std::vector<std::size_t> last(program.nodes.size(), 0);
  for (std::size_t i = 0; i < program.nodes.size(); ++i)
    for (int arg = 0; arg < arity(program.nodes[i].op); ++arg)
      last[static_cast<std::size_t>(program.nodes[i].args[static_cast<std::size_t>(arg)])] = i;
  int most = 1;
  for (std::size_t now = 0; now < program.nodes.size(); ++now) {
    std::vector<std::size_t> args;
    for (int arg = 0; arg < arity(program.nodes[now].op); ++arg) {
      const auto value = static_cast<std::size_t>(program.nodes[now].args[static_cast<std::size_t>(arg)]);
      const LaneNode& node = program.nodes[value];
      const bool elsewhere = node.op == LaneOp::constant || (node.op == LaneOp::input && resident[node.immediate]);
      if (!elsewhere && std::find(args.begin(), args.end(), value) == args.end()) args.push_back(value);
    }
    const bool makes_room = std::any_of(args.begin(), args.end(), [&](std::size_t arg) { return last[arg] == now; });
    const bool takes_more = !makes_room || brings_constant(program, program.nodes[now]);
    most = std::max(most, static_cast<int>(args.size()) + (takes_more ? 1 : 0));
  }
  return most;
}

std::vector<LaneSource> constants_by_use(const LaneProgram& program) {
  std::vector<std::pair<int, LaneSource>> found;
  std::vector<LaneSource> constants;
  for (const LaneNode& node : program.nodes) {
    const LaneSource roots = LaneSource::roots(node.immediate);
    if (node.op == LaneOp::exp2_eighths && std::find(constants.begin(), constants.end(), roots) == constants.end())
      constants.push_back(roots);
    for (int arg = 0; arg < arity(node.op); ++arg) {
      const LaneNode& made = program.nodes[static_cast<std::size_t>(node.args[static_cast<std::size_t>(arg)])];
      if (made.op != LaneOp::constant) continue;
      const LaneSource constant{kNone, made.immediate, lane_bytes(made.type)};
      const auto known = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.second == constant; });
      if (known == found.end()) {
        found.emplace_back(1, constant);
      } else {
        ++known->first;
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [uses, constant] : found) constants.push_back(constant);
  return constants;
}

std::int64_t emit_lanes(Assembler& assembler, LaneLayer& layer, const LaneProgram& program, const Memory& spill,
                        const LaneOperands& operands) {
  return Emission(assembler, layer, program, spill, operands).run();
}

}  // namespace tenfold::jit

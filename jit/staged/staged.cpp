// SPDX-License-Identifier: Apache-2.0
#include "jit/staged/staged.hpp"

#include <algorithm>

#include "jit/abi.hpp"
#include "jit/assembler/frame.hpp"
#include "jit/lane/emit.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;

/// Nodes of a step that is over before the one before it would let its set go on.
constexpr std::size_t kShortStep = 8;

/// Places before the nests' own: the mask and the count, each as 32 and as 64 bits, the count also as f64.
enum Own { kMask32, kMask64, kCount32, kCount64, kCountReal, kOwnPlaces };

/// Programs of rows in 8 lanes take the lanes of columns by halves, which must then be halves of memory too.
LaneOrder order_of(const Stages& stages, const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  const auto takes_halves = [&](const StageProgram& program) {
    const auto is_operand = [](const StagePlace& place) { return place.kind == StagePlace::Kind::operand; };
    return program.lanes.lanes() < stages.lanes &&
           (std::any_of(program.inputs.begin(), program.inputs.end(), is_operand) ||
            std::any_of(program.results.begin(), program.results.end(), is_operand));
  };
  const auto in_lanes = [](const StageReduction& r) { return r.in_lanes; };
  if (std::any_of(stages.reductions.begin(), stages.reductions.end(), in_lanes)) return LaneOrder::straight;
  if (schedule.nest == schedule::Nest::staged_columns &&
      std::any_of(stages.rows.begin(), stages.rows.end(), takes_halves))
    return LaneOrder::straight;
  return lane_order(spec, schedule.vector_level, stages.lanes);
}

}  // namespace

StagedKernel::StagedKernel(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                           const schedule::Schedule& schedule)
    : a_(assembler),
      c_(assembler.code()),
      stages_(stages),
      spec_(spec),
      schedule_(schedule),
      walk_(assembler, spec, schedule.vector_level),
      access_(assembler, walk_),
      layer_(LaneLayer::make(assembler, schedule.isa, stages.lanes, order_of(stages, spec, schedule))),
      narrow_layer_(LaneLayer::make(assembler, schedule.isa, 8)),
      few_layer_(LaneLayer::make(assembler, schedule.isa, 4)),
      lanes_(stages.lanes),
      places_(walk_.scratch_end() + kOwnPlaces * kPlaceBytes) {}

Memory StagedKernel::tail_count() const { return c_.rbp + frame::kTailCount; }

std::vector<int> StagedKernel::levels(bool reduced) const {
  std::vector<int> found;
  for (int level = 0; level < static_cast<int>(spec_.levels.size()); ++level)
    if (level != schedule_.vector_level && kernel::level(spec_, level).reduced == reduced) found.push_back(level);
  return found;
}

void StagedKernel::plan_vectors(int sets, int most, int total_parts) {
  for (const StagePass& pass : stages_.passes) {
    vectors_.emplace(&pass, plan(pass, sets, most, total_parts));
    for (const StagePass& again : pass.second_look) vectors_.emplace(&again, plan(again, sets, most, 0));
  }
}

PassVectors StagedKernel::plan(const StagePass& pass, int sets, int most, int total_parts) const {
  const StagePass* const trailing = trailing_pass();
  const StagePass* const beside = trailing != nullptr && &pass == trailing - 1 ? trailing : nullptr;
  const bool in_any_order = std::all_of(pass.reductions.begin(), pass.reductions.end(), [this](int r) {
    return kernel::is_order_free(stages_.reductions[static_cast<std::size_t>(r)].monoid);
  });
  if (most > sets && in_any_order && !pass.reductions.empty() && pass.step.lanes.nodes.size() <= kShortStep)
    if (PassVectors more(stages_, pass, *layer_, most, total_parts, beside); more.holds_sets(pass)) return more;
  PassVectors made(stages_, pass, *layer_, sets, total_parts, beside);
  // How many sets a sum has decides its bits, but not those of an arg-reduction, which takes two or three vectors for
  // each.
  const bool sums = std::ranges::any_of(
      pass.reductions, [this](int r) { return stages_.reductions[static_cast<std::size_t>(r)].is_chained(); });
  if (sets > 1 && !made.holds_sets(pass) && reads_numbers(pass.step) && !sums)
    return PassVectors(stages_, pass, *layer_, 1, total_parts, beside);
  return made;
}

void StagedKernel::start(int frames, int frame_bytes) {
  walk_.start();
  access_.prepare(*layer_);
  Gpr left(a_);
  Label again;
  if (frames > 1) {
    c_.mov(left.r32(), frames);
    c_.L(again);
  }
  fill_frame();
  if (frames > 1) {
    c_.add(c_.rbp, frame_bytes);
    c_.dec(left);
    c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
    c_.mov(c_.rbp, c_.qword[c_.rdi + offsetof(KernelArgs, scratch)]);
  }
  if (schedule_.around) access_.find_lines(*layer_, frames, frame_bytes);
}

std::int64_t StagedKernel::end() {
  if (schedule_.around) access_.fence();
  return spill_ + spilled_;
}

void StagedKernel::fill_frame() {
  Gpr tail(a_);
  Label whole;
  walk_.load_vector_extent(tail);
  c_.and_(tail, lanes_ - 1);
  c_.mov(c_.qword[tail_count()], tail);
  c_.jz(whole, Xbyak::CodeGenerator::T_NEAR);
  layer_->prepare_tail(tail);
  write_mask();
  c_.L(whole);
  write_count();
}

/// All bits set, loaded as a tail is: zeros past it. Lanes of 64 bits are in kernels of eight alone.
void StagedKernel::write_mask() {
  const auto write = [&](int place, DType dtype) {
    const Memory at = c_.rbp + walk_.scratch_end() + place * kPlaceBytes;
    c_.mov(c_.qword[at], -1);
    layer_->broadcast(0, dtype, at);
    layer_->spill(at, 0);
    layer_->load(0, dtype, at, Part::tail);
    layer_->spill(at, 0);
  };
  write(kMask32, DType::s32);
  if (lanes_ == narrow_layer_->lanes()) write(kMask64, DType::s64);
}

void StagedKernel::write_count() {
  const Memory first = c_.rbp + walk_.scratch_end();
  const Memory argument = c_.rdi + offsetof(KernelArgs, count);
  narrow_layer_->broadcast(0, DType::f64, argument);
  narrow_layer_->spill(first + kCountReal * kPlaceBytes, 0);
  Gpr integer(a_);
  c_.vcvttsd2si(integer, c_.qword[argument]);
  c_.mov(c_.qword[first + kCount64 * kPlaceBytes], integer);
  narrow_layer_->broadcast(0, DType::s64, first + kCount64 * kPlaceBytes);
  narrow_layer_->spill(first + kCount64 * kPlaceBytes, 0);
  layer_->broadcast(0, DType::s32, first + kCount64 * kPlaceBytes);
  layer_->spill(first + kCount32 * kPlaceBytes, 0);
}

void StagedKernel::load_mask(LaneLayer& layer, Vec d, LaneType type) {
  const int place = lane_bytes(type) == 8 ? kMask64 : kMask32;
  load_lanes(layer, d, type, c_.rbp + walk_.scratch_end() + place * kPlaceBytes);
}

void StagedKernel::load_count(LaneLayer& layer, Vec d, LaneType type) {
  const int place = type == LaneType::f64 ? kCountReal : type == LaneType::i64 ? kCount64 : kCount32;
  const Memory at = c_.rbp + walk_.scratch_end() + place * kPlaceBytes;
  if (type != LaneType::f32) {
    load_lanes(layer, d, type, at);
    return;
  }
  load_lanes(layer, d, LaneType::i32, at);
  const LaneSource count[] = {{d, 0, 4}};
  layer.operate({LaneOp::to_f32, LaneType::i32, {}, 0}, d, count);
}

void StagedKernel::each_way(const StagePass& pass, const std::function<void()>& body) {
  // Where outputs keep a value, that has to stay in the caches.
  const bool may = schedule_.around && stages_.kept.output < 0 &&
                   std::any_of(pass.step.results.begin(), pass.step.results.end(), [&](const StagePlace& to) {
                     return to.kind == StagePlace::Kind::operand &&
                            access_.may_go_around(*layer_, static_cast<std::size_t>(to.index));
                   });
  if (!may) return body();
  access_.either_way([&](bool around) {
    around_ = around;
    body();
  });
}

LaneLayer& StagedKernel::layer_for(const StageProgram& program) {
  return program.lanes.lanes() < lanes_ ? *narrow_layer_ : *layer_;
}

LaneLayer& StagedKernel::layer_for(const StageProgram& program, int lanes) {
  return lanes > few_layer_->lanes() ? layer_for(program) : *few_layer_;
}

void StagedKernel::run(const StageProgram& program, LaneLayer& layer, const Access& load, const Access& store) {
  run(
      program, layer, load, store, [](const StagePlace&) { return -1; }, layer.vectors());
}

void StagedKernel::run(const StageProgram& program, LaneLayer& layer, const Access& load, const Access& store,
                       const Home& home, int free) {
  LaneOperands operands;
  operands.load = [&](int input, Vec d) { load(program.inputs[static_cast<std::size_t>(input)], d); };
  operands.store = [&](int result, Vec s) { store(program.results[static_cast<std::size_t>(result)], s); };
  for (const StagePlace& place : program.inputs) operands.resident_inputs.push_back(home(place));
  for (const StagePlace& place : program.results) operands.resident_results.push_back(home(place));
  operands.free = free;
  spilled_ = std::max(spilled_, emit_lanes(a_, layer, program.lanes, c_.rbp + spill_, operands));
}

void StagedKernel::load_lanes(LaneLayer& layer, Vec d, LaneType type, const Memory& from) {
  layer.load_lanes(d, type, from);
}

void StagedKernel::store_lanes(LaneLayer& layer, Vec s, LaneType type, const Memory& to) {
  layer.store_lanes(to, type, s);
}

void StagedKernel::fill(LaneLayer& layer, Vec d, LaneType type, std::uint64_t pattern) {
  const LaneSource constant[] = {{-1, pattern, lane_bytes(type)}, {-1, pattern, lane_bytes(type)}};
  layer.operate({LaneOp::bit_and, type, {}, 0}, d, constant);
}

void StagedKernel::fill(const Memory& to, LaneType type, std::uint64_t pattern) {
  const int bytes = lane_bytes(type);
  LaneLayer& layer = bytes == 8 ? *narrow_layer_ : *layer_;
  fill(layer, 0, type, pattern);
  for (int lane = 0; lane < lanes_; lane += layer.lanes()) store_lanes(layer, 0, type, to + lane * bytes);
}

}  // namespace tenfold::jit

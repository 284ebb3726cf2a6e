// SPDX-License-Identifier: Apache-2.0
//
// Staged rows: lanes run along a reduced level. For each output, each pass walks the reduced levels; a run of the
// vector level is cut into blocks of at most kChain steps for each of a few sets, which are flushed into totals after
// each block; what is left goes to set 0. At last the lanes of a total fold to one.
#include <algorithm>
#include <bit>

#include "jit/frame.hpp"
#include "jit/staged.hpp"
#include "schedule/body.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

class StagedRows final : StagedKernel {
 public:
  StagedRows(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
             const schedule::Schedule& schedule)
      : StagedKernel(assembler, stages, spec, schedule), sets_(schedule.unroll) {
    const auto reductions = static_cast<int>(stages.reductions.size());
    saved_ = places_;
    totals_ = saved_ + static_cast<int>(stages.saved.size()) * kPlaceBytes;
    // A fold reads up to half a place beyond a total.
    set_places_ = totals_ + reductions * 2 * kPlaceBytes;
    spill_ = set_places_ + reductions * sets_ * kPlaceBytes;
  }

  std::int64_t emit() {
    start();
    const std::vector<int> kept = levels(false), reduced = levels(true);
    walk_.over(kept, 0, [&](std::size_t depth) {
      for (std::size_t pass = 0; pass < stages_.passes.size(); ++pass) {
        rows(stages_.rows[pass], depth);
        const StagePass& of = stages_.passes[pass];
        for (const int r : of.reductions) fill(total(r), reduction(r).total_type, reduction(r).total_identity);
        walk_.over(reduced, depth, [&](std::size_t inner) { row(of, inner); });
        for (const int r : of.reductions) fold(r);
      }
      rows(stages_.rows.back(), depth);
    });
    return scratch_bytes();
  }

 private:
  const StageReduction& reduction(int r) const { return stages_.reductions[static_cast<std::size_t>(r)]; }
  Memory saved(int slot) const { return c_.rbp + (saved_ + slot * kPlaceBytes); }
  Memory total(int r) const { return c_.rbp + (totals_ + r * 2 * kPlaceBytes); }
  Memory set(int r, int which) const { return c_.rbp + (set_places_ + (r * sets_ + which) * kPlaceBytes); }

  /// Values of this row: lane 0 counts. Saved ones are spread to all lanes.
  void rows(const StageProgram& program, std::size_t depth) {
    LaneLayer& layer = layer_for(program);
    run(
        program, layer,
        [&](const StagePlace& place, Vec d) {
          switch (place.kind) {
            case StagePlace::Kind::operand:
              walk_.broadcast(layer, static_cast<std::size_t>(place.index), d, depth);
              break;
            case StagePlace::Kind::total: load_lanes(layer, d, place.type, total(place.index)); break;
            case StagePlace::Kind::count: load_count(layer, d, place.type); break;
            default: load_lanes(layer, d, place.type, saved(place.index)); break;
          }
        },
        [&](const StagePlace& place, Vec s) {
          if (place.kind == StagePlace::Kind::saved) {
            store_lanes(layer, s, place.type, saved(place.index));
            return;
          }
          const auto k = static_cast<std::size_t>(place.index);
          layer.store(c_.rbp + frame::kStaging, walk_.operand(k).dtype, s, Part::full);
          walk_.put_one(k, depth);
        });
    for (const StagePlace& place : program.results)
      if (place.kind == StagePlace::Kind::saved) spread(place);
  }

  void spread(const StagePlace& place) {
    layer_->broadcast(0, dtype_of(place.type), saved(place.index));
    store_lanes(*layer_, 0, place.type, saved(place.index));
  }

  enum class Which { chained, others };
  std::vector<int> among(const StagePass& pass, Which which) const {
    std::vector<int> found;
    for (const int r : pass.reductions)
      if (reduction(r).is_chained() == (which == Which::chained)) found.push_back(r);
    return found;
  }

  /// One run of the vector level.
  void row(const StagePass& pass, std::size_t depth) {
    Gpr index(a_), left(a_);
    const OperandWalk::KeptPointers pointers(walk_, depth);
    const std::vector<int> chained = among(pass, Which::chained), others = among(pass, Which::others);
    Label block, rest, again, tail, flush;
    init_sets(pass, others, sets_);
    c_.xor_(index.r32(), index.r32());
    walk_.load_vector_extent(left);
    c_.shr(left, std::countr_zero(static_cast<unsigned>(lanes_)));
    c_.mov(c_.qword[steps_left()], left);
    c_.L(block);
    c_.mov(left, c_.qword[steps_left()]);
    c_.shr(left, std::countr_zero(static_cast<unsigned>(sets_)));
    c_.test(left, left);  // a shift by 0 keeps the flags
    c_.jz(rest, Xbyak::CodeGenerator::T_NEAR);
    take_groups(left, !chained.empty());
    init_sets(pass, chained, sets_);
    c_.align(32);
    c_.L(again);
    for (int which = 0; which < sets_; ++which)
      step(pass, pass.step, {depth, index, Part::full, tail_count(), which * lanes_}, which);
    c_.add(index, sets_ * lanes_);
    c_.dec(left);
    c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
    flush_sets(pass, chained, sets_);
    c_.jmp(block, Xbyak::CodeGenerator::T_NEAR);

    c_.L(rest);
    c_.mov(left, c_.qword[steps_left()]);
    init_sets(pass, chained, 1);
    if (sets_ > 1) {
      Label single;
      c_.test(left, left);
      c_.jz(tail, Xbyak::CodeGenerator::T_NEAR);
      c_.L(single);
      step(pass, pass.step, {depth, index, Part::full, tail_count()}, 0);
      c_.add(index, lanes_);
      c_.dec(left);
      c_.jnz(single, Xbyak::CodeGenerator::T_NEAR);
    }
    c_.L(tail);
    c_.cmp(c_.qword[tail_count()], 0);
    c_.jz(flush, Xbyak::CodeGenerator::T_NEAR);
    step(pass, pass.tail, {depth, index, Part::tail, tail_count()}, 0);
    c_.L(flush);
    flush_sets(pass, chained, 1);
    flush_sets(pass, others, sets_);
  }

  /// At most kChain of the `groups` that are left, or all.
  void take_groups(const Reg64& groups, bool chained) {
    Gpr most(a_);
    if (chained) {
      c_.mov(most.r32(), schedule::kChain);
      c_.cmp(groups, most);
      c_.cmova(groups, most);
    }
    c_.mov(most, groups);
    c_.shl(most, std::countr_zero(static_cast<unsigned>(sets_)));
    c_.sub(c_.qword[steps_left()], most);
  }

  /// The sets of a pass stay in vectors where that leaves half of them to its program; a vector per set, from the last.
  bool in_vectors(const StagePass& pass) const {
    return static_cast<int>(pass.reductions.size()) * sets_ <= layer_->vectors() / 2;
  }
  Vec home(const StagePass& pass, int r, int which) const {
    if (!in_vectors(pass)) return -1;
    const auto place = std::find(pass.reductions.begin(), pass.reductions.end(), r) - pass.reductions.begin();
    return layer_->vectors() - 1 - (static_cast<int>(place) * sets_ + which);
  }
  int free_vectors(const StagePass& pass) const {
    return layer_->vectors() - (in_vectors(pass) ? static_cast<int>(pass.reductions.size()) * sets_ : 0);
  }

  void init_sets(const StagePass& pass, const std::vector<int>& reductions, int sets) {
    for (const int r : reductions)
      for (int which = 0; which < sets; ++which) {
        const StageReduction& of = reduction(r);
        if (in_vectors(pass)) {
          fill(*layer_, home(pass, r, which), of.set_type, of.set_identity);
        } else {
          fill(set(r, which), of.set_type, of.set_identity);
        }
      }
  }

  void step(const StagePass& pass, const StageProgram& program, const OperandWalk::At& at, int which) {
    run(
        program, *layer_,
        [&](const StagePlace& place, Vec d) {
          switch (place.kind) {
            case StagePlace::Kind::operand: walk_.load(*layer_, static_cast<std::size_t>(place.index), d, at); break;
            case StagePlace::Kind::set: load_lanes(*layer_, d, place.type, set(place.index, which)); break;
            case StagePlace::Kind::mask: load_mask(*layer_, d, place.type); break;
            default: load_lanes(*layer_, d, place.type, saved(place.index)); break;
          }
        },
        [&](const StagePlace& place, Vec s) {
          if (place.kind == StagePlace::Kind::set) {
            store_lanes(*layer_, s, place.type, set(place.index, which));
          } else {
            walk_.store(*layer_, static_cast<std::size_t>(place.index), s, at);
          }
        },
        [&](int r) { return home(pass, r, which); }, free_vectors(pass));
  }

  void flush_sets(const StagePass& pass, const std::vector<int>& reductions, int sets) {
    for (const int r : reductions)
      for (int which = 0; which < sets; ++which) {
        if (in_vectors(pass)) store_lanes(*layer_, home(pass, r, which), reduction(r).set_type, set(r, which));
        combine(r, reduction(r).flush, set(r, which), 16, free_vectors(pass));
      }
  }

  void fold(int r) {
    for (int width = lanes_ / 2; width > 0; width /= 2)
      combine(r, reduction(r).fold, total(r) + width * lane_bytes(reduction(r).total_type), width, layer_->vectors());
  }

  /// Lanes of the total with those of `other`; `width` of them count.
  void combine(int r, const StageProgram& program, const Memory& other, int width, int free) {
    LaneLayer& layer = layer_for(program);
    for (int lane = 0; lane < std::min(width, lanes_); lane += layer.lanes()) {
      const Memory at = total(r) + lane * lane_bytes(reduction(r).total_type);
      run(
          program, layer,
          [&](const StagePlace& place, Vec d) {
            const bool is_total = place.kind == StagePlace::Kind::total;
            load_lanes(layer, d, place.type, is_total ? at : other + lane * lane_bytes(place.type));
          },
          [&](const StagePlace& place, Vec s) { store_lanes(layer, s, place.type, at); }, [](int) { return -1; }, free);
    }
  }

  Memory steps_left() const { return c_.rbp + frame::kStepsLeft; }

  int sets_;
  int saved_ = 0, totals_ = 0, set_places_ = 0;
};

}  // namespace

std::int64_t emit_staged_rows(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                              const schedule::Schedule& schedule) {
  return StagedRows(assembler, stages, spec, schedule).emit();
}

}  // namespace tenfold::jit

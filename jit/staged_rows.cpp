// SPDX-License-Identifier: Apache-2.0
//
// Staged rows: lanes run along a reduced level. For each output, each pass walks the reduced levels; a run of the
// vector level is cut into blocks of at most kChain steps for each of a few sets, which are flushed into totals after
// each block; what is left goes to set 0. At last the lanes of a total fold to one. The passes over short rows take a
// few of them in turns.
#include <algorithm>
#include <bit>

#include "jit/frame.hpp"
#include "jit/lane_emit.hpp"
#include "jit/next_rows.hpp"
#include "jit/side_by_side.hpp"
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
      : StagedKernel(assembler, stages, spec, schedule), most_sets_(schedule.unroll > 1 ? kMostSets : 1) {
    plan_vectors(schedule.unroll, most_sets_, total_parts());
    const auto reductions = static_cast<int>(stages.reductions.size());
    saved_ = places_;
    totals_ = saved_ + static_cast<int>(stages.saved.size()) * kPlaceBytes;
    set_places_ = totals_ + reductions * kPlaceBytes;
    kept_ = set_places_ + reductions * most_sets_ * kPlaceBytes;
    // A partial step writes a whole vector.
    const bool keeps = stages.kept.node >= 0 && stages.kept.output == KeptValue::kInScratch;
    frame_bytes_ = kept_ + (keeps ? static_cast<int>(schedule.keep * kKeptBytes) : 0) + kPlaceBytes;
    spill_ = group_rows() * frame_bytes_;
  }

  std::int64_t emit() {
    start(group_rows(), frame_bytes_);
    std::vector<int> kept = levels(false);
    if (schedule_.runs) {
      const int last = kept.back();
      kept.pop_back();
      walk_.over(kept, 0, [&](std::size_t depth) {
        walk_.over_runs(last, depth, [this](std::size_t inner) { passes(inner); });
      });
    } else if (group_rows() == 1) {
      walk_.over(kept, 0, [this](std::size_t depth) { passes(depth); });
    } else {
      const int last = kept.back();
      kept.pop_back();
      walk_.over(kept, 0, [&](std::size_t depth) {
        walk_.over_groups(last, depth, group_rows(), frame_bytes_, [this](std::size_t inner) { passes(inner); });
      });
    }
    return end() + (group_rows() - 1) * frame_bytes_;
  }

 private:
  static constexpr int kMostSets = 4;

  const StageReduction& reduction(int r) const { return stages_.reductions[static_cast<std::size_t>(r)]; }
  Memory saved(int slot) const { return c_.rbp + (saved_ + slot * kPlaceBytes); }
  Memory total(int r) const { return c_.rbp + (totals_ + r * kPlaceBytes); }
  Memory set(int r, int which) const { return c_.rbp + (set_places_ + (r * most_sets_ + which) * kPlaceBytes); }

  Memory kept(const OperandWalk::At& at) const {
    return c_.rbp + at.index * kKeptBytes + (kept_ + at.offset * kKeptBytes);
  }

  /// Each pass takes the rows of a group in turns, so that the end of one row hides behind the next one's elements.
  void passes(std::size_t depth) {
    const std::vector<int> reduced = levels(true);
    for (std::size_t pass = 0; pass < stages_.passes.size(); ++pass) {
      const StagePass& of = stages_.passes[pass];
      if (pass == 0 && !stages_.rows[0].results.empty()) each_row([&] { rows(stages_.rows[0], depth); });
      if (!of.pilot.results.empty()) each_row([&] { pilot(of, depth); });
      each_row([&] {
        for (const int r : of.reductions) init_total(of, r);
        each_way(of, [&] { walk_.over(reduced, depth, [&](std::size_t inner) { row(of, inner); }); });
        for (const int r : of.reductions) fold(of, r);
        if (!of.second_look.empty()) look_again(of, of.second_look[0], depth);
        rows(stages_.rows[pass + 1], depth, &of);
      });
    }
  }

  /// For a row that the pass leaves open. Its own totals are in memory as well.
  void look_again(const StagePass& pass, const StagePass& again, std::size_t depth) {
    Label settled;
    rows(pass.question, depth, &pass);
    c_.cmp(c_.dword[c_.rbp + frame::kStaging], 0);
    c_.jz(settled, Xbyak::CodeGenerator::T_NEAR);
    for (const int r : again.reductions) init_total(again, r);
    walk_.over(levels(true), depth, [&](std::size_t inner) { row(again, inner); });
    for (const int r : again.reductions) fold(again, r);
    for (const int r : pass.reductions)
      if (const Vec home = vectors_of(pass).total(r, 0); home >= 0)
        load_lanes(layer_for(reduction(r).fold), home, reduction(r).total_type, total(r));
    c_.L(settled);
  }

  void each_row(const std::function<void()>& body) {
    if (group_rows() == 1) {
      body();
    } else {
      walk_.each_of_group(frame_bytes_, body);
    }
  }

  /// Values of this row, after the pass `after` if any: lane 0 counts. Saved ones are spread to all lanes.
  void rows(const StageProgram& program, std::size_t depth, const StagePass* after = nullptr) {
    LaneLayer& layer = layer_for(program, 1);
    const auto home = [&](const StagePlace& place) {
      return after != nullptr && place.kind == StagePlace::Kind::total ? vectors_of(*after).total(place.index, 0) : -1;
    };
    std::vector<bool> resident;
    for (const StagePlace& place : program.inputs) resident.push_back(home(place) >= 0);
    const int free = after == nullptr ? layer.vectors() : vectors_of(*after).folding();
    const bool fits = vectors_needed(program.lanes, resident) <= free;
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
            layer_->store_first(saved(place.index), place.type, s);
            return;
          }
          if (place.kind == StagePlace::Kind::open) {
            store_lanes(layer, s, place.type, c_.rbp + frame::kStaging);
            return;
          }
          const auto k = static_cast<std::size_t>(place.index);
          layer.store(c_.rbp + frame::kStaging, walk_.operand(k).dtype, s, Part::full);
          walk_.put_one(k, depth);
        },
        [&](const StagePlace& place) { return fits ? home(place) : -1; }, fits ? free : layer.vectors());
  }

  /// So many steps are summed in a lane before their sum meets that of others: sums of up to four equal numbers, and of
  /// so many such sums, are exact, and their mean is that number.
  static constexpr int kPilotGroup = 4;

  /// The mean of the first steps of the row, which is one run of the vector level.
  void pilot(const StagePass& pass, std::size_t depth) {
    Gpr index(a_);
    const OperandWalk::KeptPointers pointers(walk_, depth);
    const StagePlace to = pass.pilot.results[0];
    const Vec mean = layer_->vectors() - 1, other = mean - 1;
    const auto take = [&](const StageProgram& program, LaneLayer& layer, Vec into, int step = 0) {
      run(
          program, layer,
          [&](const StagePlace& place, Vec d) {
            if (place.kind == StagePlace::Kind::operand) {
              walk_.load(*layer_, static_cast<std::size_t>(place.index), d,
                         {depth, index, Part::full, tail_count(), step * lanes_, true, false});
            } else if (place.kind == StagePlace::Kind::share) {
              const float share = 1.0F / static_cast<float>(schedule_.pilot * lanes_);
              fill(layer, d, place.type, std::bit_cast<std::uint32_t>(share));
            } else {
              load_lanes(*layer_, d, place.type, saved(place.index));
            }
          },
          [](const StagePlace&, Vec) {},
          [&](const StagePlace& place) {
            if (place.kind == StagePlace::Kind::other) return other;
            return place == to ? into : -1;
          },
          other);
    };
    c_.xor_(index.r32(), index.r32());
    for (int step = 0; step < schedule_.pilot; ++step) {
      const Vec into = step < kPilotGroup ? mean : other;
      if (step % kPilotGroup == 0) fill(*layer_, into, LaneType::f32, 0);
      take(pass.pilot, *layer_, into, step);
      if (into == other && (step + 1) % kPilotGroup == 0) take(pass.fold_pilot, *layer_, mean);
    }
    for (int width = lanes_ / 2; width > 0; width /= 2) {
      layer_->shift_lanes(other, mean, LaneType::f32, width);
      take(pass.fold_pilot, layer_for(pass.fold_pilot, width), mean);
    }
    take(pass.end_pilot, *few_layer_, mean);
    layer_->store_first(saved(to.index), LaneType::f32, mean);
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
    const int sets = vectors_of(pass).sets();
    const OperandWalk::KeptPointers pointers(walk_, depth);
    const std::vector<int> chained = among(pass, Which::chained), others = among(pass, Which::others);
    Label block, rest, again, tail, flush, flushed;
    const auto at = [&](Part part, int offset = 0) {
      return OperandWalk::At{depth, index, part, tail_count(), offset, true, around_, schedule_.claim};
    };
    for (const int slot : vectors_of(pass).saved_slots())
      load_lanes(*layer_, vectors_of(pass).saved(slot), stages_.saved[static_cast<std::size_t>(slot)], saved(slot));
    layer_->hold(vectors_of(pass).constants(), vectors_of(pass).free());
    init_sets(pass, others, sets);
    NextRows next(a_, walk_, stages_, schedule_, pass);
    next.start(depth);
    c_.xor_(index.r32(), index.r32());
    walk_.load_vector_extent(left);
    c_.shr(left, std::countr_zero(static_cast<unsigned>(lanes_)));
    c_.mov(c_.qword[steps_left()], left);
    c_.L(block);
    c_.mov(left, c_.qword[steps_left()]);
    c_.shr(left, std::countr_zero(static_cast<unsigned>(sets)));
    c_.test(left, left);  // a shift by 0 keeps the flags
    c_.jz(rest, Xbyak::CodeGenerator::T_NEAR);
    take_groups(left, sets, !chained.empty());
    init_sets(pass, chained, sets);
    next.load_distances();
    c_.align(32);
    c_.L(again);
    next.ask(at(Part::full), sets * lanes_);
    const bool by_two = sets > 1 && vectors_of(pass).has_room_for(side_by_side(pass.step));
    const StageProgram program = by_two ? two_steps(pass) : pass.step;
    for (int which = 0; which < sets; which += by_two ? 2 : 1)
      step(pass, program, at(Part::full, which * lanes_), which);
    c_.add(index, sets * lanes_);
    c_.dec(left);
    c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
    flush_sets(pass, chained, sets);
    c_.jmp(block, Xbyak::CodeGenerator::T_NEAR);

    c_.L(rest);
    c_.mov(left, c_.qword[steps_left()]);
    if (!chained.empty()) {
      Gpr some(a_);
      c_.mov(some, left);
      c_.or_(some, c_.qword[tail_count()]);
      c_.jz(flushed, Xbyak::CodeGenerator::T_NEAR);
    }
    init_sets(pass, chained, 1);
    if (sets > 1) {
      Label single;
      c_.test(left, left);
      c_.jz(tail, Xbyak::CodeGenerator::T_NEAR);
      c_.L(single);
      step(pass, pass.step, at(Part::full), 0);
      c_.add(index, lanes_);
      c_.dec(left);
      c_.jnz(single, Xbyak::CodeGenerator::T_NEAR);
    }
    c_.L(tail);
    c_.cmp(c_.qword[tail_count()], 0);
    c_.jz(flush, Xbyak::CodeGenerator::T_NEAR);
    step(pass, pass.tail, at(Part::tail), 0);
    c_.L(flush);
    flush_sets(pass, chained, 1);
    c_.L(flushed);
    flush_sets(pass, others, sets);
    layer_->hold({}, 0);
  }

  /// Of which the machine may round the results together.
  StageProgram two_steps(const StagePass& pass) const {
    StageProgram both = side_by_side(pass.step);
    if (!layer_->joins()) return both;
    StageProgram joined = with_joined_results(both, [this](int k) {
      const auto operand = static_cast<std::size_t>(k);
      return walk_.operand(operand).dtype == DType::bf16 && walk_.vector_stride(operand) == 1;
    });
    return vectors_of(pass).has_room_for(joined) ? joined : both;
  }

  /// At most kChain of the `groups` of `sets` steps that are left, or all.
  void take_groups(const Reg64& groups, int sets, bool chained) {
    Gpr most(a_);
    if (chained) {
      c_.mov(most.r32(), schedule::kChain);
      c_.cmp(groups, most);
      c_.cmova(groups, most);
    }
    c_.mov(most, groups);
    c_.shl(most, std::countr_zero(static_cast<unsigned>(sets)));
    c_.sub(c_.qword[steps_left()], most);
  }

  void init_total(const StagePass& pass, int r) {
    const StageReduction& of = reduction(r);
    if (vectors_of(pass).total(r, 0) < 0) {
      fill(total(r), of.total_type, of.total_identity);
      return;
    }
    if (!of.is_chained()) {
      fill(*layer_, vectors_of(pass).total(r, 0), of.total_type, of.total_identity);
      return;
    }
    for (int part = 0; part < total_parts(); ++part)
      fill(*narrow_layer_, vectors_of(pass).total(r, part), of.total_type, of.total_identity);
  }

  void init_sets(const StagePass& pass, const std::vector<int>& reductions, int sets) {
    for (const int r : reductions)
      for (int which = 0; which < sets; ++which) {
        const StageReduction& of = reduction(r);
        if (const Vec home = vectors_of(pass).set(r, which); home >= 0) {
          fill(*layer_, home, of.set_type, of.set_identity);
        } else {
          fill(set(r, which), of.set_type, of.set_identity);
        }
      }
  }

  void step(const StagePass& pass, const StageProgram& program, const OperandWalk::At& at, int which) {
    const PassVectors& vectors = vectors_of(pass);
    const auto here = [&](const StagePlace& place) {
      OperandWalk::At moved = at;
      moved.offset += place.step * lanes_;
      return moved;
    };
    run(
        program, *layer_,
        [&](const StagePlace& place, Vec d) {
          switch (place.kind) {
            case StagePlace::Kind::operand:
              walk_.load(*layer_, static_cast<std::size_t>(place.index), d, here(place));
              break;
            case StagePlace::Kind::set: load_lanes(*layer_, d, place.type, set(place.index, which + place.step)); break;
            case StagePlace::Kind::mask: load_mask(*layer_, d, place.type); break;
            case StagePlace::Kind::kept: load_lanes(*layer_, d, place.type, kept(here(place))); break;
            default: load_lanes(*layer_, d, place.type, saved(place.index)); break;
          }
        },
        [&](const StagePlace& place, Vec s) {
          if (place.kind == StagePlace::Kind::set) {
            store_lanes(*layer_, s, place.type, set(place.index, which + place.step));
          } else if (place.kind == StagePlace::Kind::kept) {
            store_lanes(*layer_, s, place.type, kept(here(place)));
          } else if (place.kind == StagePlace::Kind::joined) {
            walk_.store_joined(*layer_, static_cast<std::size_t>(place.index), s, here(place));
          } else {
            walk_.store(*layer_, static_cast<std::size_t>(place.index), s, here(place));
          }
        },
        [&](const StagePlace& place) {
          if (place.kind == StagePlace::Kind::set) return vectors.set(place.index, which + place.step);
          return place.kind == StagePlace::Kind::saved ? vectors.saved(place.index) : -1;
        },
        vectors.free());
  }

  /// Part by part, where a total's lanes are wider. A total in memory is loaded and stored but once for all sets where
  /// there is a vector for it.
  void flush_sets(const StagePass& pass, const std::vector<int>& reductions, int sets) {
    for (const int r : reductions) {
      const StageReduction& of = reduction(r);
      LaneLayer& layer = layer_for(of.flush);
      const Vec spare = vectors_of(pass).free() - 2;
      const bool has_spare = sets > 1 && vectors_of(pass).set(r, 0) >= 0 &&
                             vectors_needed(of.flush.lanes, std::vector<bool>(of.flush.inputs.size(), true)) <= spare;
      for (int lane = 0; lane < lanes_; lane += layer.lanes()) {
        const Vec home = vectors_of(pass).total(r, lane / layer.lanes());
        const Memory at = total(r) + lane * lane_bytes(of.total_type);
        const bool passes = home < 0 && has_spare;
        if (passes) load_lanes(layer, spare, of.total_type, at);
        for (int which = 0; which < sets; ++which) flush_set(pass, r, which, lane, passes ? spare : home);
        if (passes) store_lanes(layer, spare, of.total_type, at);
      }
    }
  }

  /// The lanes from `lane` on, into a total in the vector `into`, or in memory.
  void flush_set(const StagePass& pass, int r, int which, int lane, Vec into) {
    const StageReduction& of = reduction(r);
    LaneLayer& layer = layer_for(of.flush);
    const PassVectors& vectors = vectors_of(pass);
    const Vec shifted = vectors.free() - 1;
    Vec from = vectors.set(r, which);
    if (from >= 0 && lane > 0) {
      layer_->shift_lanes(shifted, from, of.set_type, lane);
      from = shifted;
    }
    const auto at = [&](const StagePlace& place) {
      const Memory first = place.kind == StagePlace::Kind::set ? set(r, which) : total(r);
      return first + lane * lane_bytes(place.type);
    };
    run(
        of.flush, layer, [&](const StagePlace& place, Vec d) { load_lanes(layer, d, place.type, at(place)); },
        [&](const StagePlace& place, Vec s) { store_lanes(layer, s, place.type, at(place)); },
        [&](const StagePlace& place) { return place.kind == StagePlace::Kind::set ? from : into; },
        into == shifted - 1 ? into : shifted);
  }

  /// Halves of the total's lanes, until one is left; at first in two vectors, if they are so wide.
  void fold(const StagePass& pass, int r) {
    const StageReduction& of = reduction(r);
    LaneLayer& layer = layer_for(of.fold);
    const PassVectors& vectors = vectors_of(pass);
    const Vec spare = vectors.folding() - 1;
    const bool in_vectors = vectors.total(r, 0) >= 0, halves = layer.lanes() < lanes_;
    const Vec mine = in_vectors ? vectors.total(r, 0) : spare - 1;
    const auto combine = [&](Vec other, int width) {
      run(
          of.fold, layer_for(of.fold, width), [](const StagePlace&, Vec) {}, [](const StagePlace&, Vec) {},
          [&](const StagePlace& place) { return place.kind == StagePlace::Kind::other ? other : mine; },
          in_vectors ? spare : spare - 1);
    };
    if (!in_vectors) {
      load_lanes(layer, mine, of.total_type, total(r));
      if (halves) load_lanes(layer, spare, of.total_type, total(r) + layer.lanes() * lane_bytes(of.total_type));
    }
    if (halves) combine(in_vectors ? vectors.total(r, 1) : spare, layer.lanes());
    for (int width = layer.lanes() / 2; width > 0; width /= 2) {
      layer.shift_lanes(spare, mine, of.total_type, width);
      combine(spare, width);
    }
    store_lanes(*few_layer_, mine, of.total_type, total(r));
  }

  int total_parts() const { return lanes_ / narrow_layer_->lanes(); }
  Memory steps_left() const { return c_.rbp + frame::kStepsLeft; }

  int group_rows() const { return schedule_.rows_at_once; }

  int most_sets_;        ///< of any pass
  int frame_bytes_ = 0;  ///< scratch of a row
  int saved_ = 0, totals_ = 0, set_places_ = 0, kept_ = 0;
};

}  // namespace

std::int64_t emit_staged_rows(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                              const schedule::Schedule& schedule) {
  return StagedRows(assembler, stages, spec, schedule).emit();
}

}  // namespace tenfold::jit

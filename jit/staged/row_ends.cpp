// SPDX-License-Identifier: Apache-2.0
//
// Staged rows: what comes at the ends of a row, that is before its elements, after each block of them, and behind.
#include <algorithm>
#include <bit>

#include "jit/assembler/frame.hpp"
#include "jit/lane/emit.hpp"
#include "jit/staged/rows.hpp"

namespace tenfold::jit {
namespace {

/// So many steps are summed in a lane before their sum meets that of others: sums of up to four equal numbers, and of
/// so many such sums, are exact, and their mean is that number.
constexpr int kPilotGroup = 4;

}  // namespace

void StagedRows::init_total(const StagePass& pass, int r) {
  const StageReduction& of = reduction(r);
  if (!of.has_total()) return;
  if (vectors_of(pass).total(r, 0) < 0) {
    fill(total(r), of.total_type, of.total_identity);
    return;
  }
  if (!of.is_wide()) {
    fill(*layer_, vectors_of(pass).total(r, 0), of.total_type, of.total_identity);
    return;
  }
  for (int part = 0; part < total_parts(); ++part)
    fill(*narrow_layer_, vectors_of(pass).total(r, part), of.total_type, of.total_identity);
}

void StagedRows::init_sets(const StagePass& pass, const std::vector<int>& reductions, int sets) {
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

/// Values of this row, after the pass `after` if any: lane 0 counts.
void StagedRows::rows(const StageProgram& program, std::size_t depth, const StagePass* after) {
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
            access_.broadcast(layer, static_cast<std::size_t>(place.index), d, depth);
            break;
          case StagePlace::Kind::total: load_lanes(layer, d, place.type, total(place.index)); break;
          case StagePlace::Kind::count: load_count(layer, d, place.type); break;
          default: layer.load_all(d, place.type, saved(place.index)); break;
        }
      },
      [&](const StagePlace& place, Vec s) {
        if (place.kind == StagePlace::Kind::saved) {
          store_lanes(layer, s, place.type, saved(place.index));
          return;
        }
        if (place.kind == StagePlace::Kind::open) {
          store_lanes(layer, s, place.type, c_.rbp + frame::kStaging);
          return;
        }
        const auto k = static_cast<std::size_t>(place.index);
        layer.store(c_.rbp + frame::kStaging, walk_.operand(k).dtype, s, Part::full);
        access_.put_one(k, depth);
      },
      [&](const StagePlace& place) { return fits ? home(place) : -1; }, fits ? free : layer.vectors());
}

bool StagedRows::take_one_program(const StageProgram& program) const {
  return group_rows() == few_layer_->lanes() &&
         std::none_of(program.inputs.begin(), program.inputs.end(),
                      [](const StagePlace& place) { return place.kind == StagePlace::Kind::operand; });
}

void StagedRows::rows_of_group(const StageProgram& program, std::size_t depth) {
  LaneLayer& layer = *few_layer_;
  const Memory staging = c_.rbp + frame::kStaging;
  run(
      program, layer,
      [&](const StagePlace& place, Vec d) {
        if (place.kind == StagePlace::Kind::count) return load_count(layer, d, place.type);
        const Memory from = place.kind == StagePlace::Kind::total ? total(place.index) : saved(place.index);
        layer.gather_lanes(d, place.type, from, frame_bytes_);
      },
      [&](const StagePlace& place, Vec s) {
        if (place.kind != StagePlace::Kind::saved) {
          const auto k = static_cast<std::size_t>(place.index);
          layer.store(staging, walk_.operand(k).dtype, s, Part::full);
          return access_.put_group(k, depth, group_rows(), frame_bytes_);
        }
        store_lanes(layer, s, place.type, staging);
        Gpr lane(a_);
        const int bytes = lane_bytes(place.type);
        for (int row = 0; row < group_rows(); ++row) {
          const Xbyak::Reg value = bytes == 8 ? Xbyak::Reg(lane.reg()) : Xbyak::Reg(lane.r32());
          c_.mov(value, c_.ptr[staging + row * bytes]);
          c_.mov(c_.ptr[saved(place.index) + row * frame_bytes_], value);
        }
      });
}

/// The mean of the first steps of the row, which is one run of the vector level.
void StagedRows::pilot(const StagePass& pass, std::size_t depth) {
  Gpr index(a_);
  const OperandWalk::KeptPointers pointers(walk_, depth);
  const StagePlace to = pass.pilot.results[0];
  const Vec mean = layer_->vectors() - 1, other = mean - 1;
  const auto take = [&](const StageProgram& program, LaneLayer& layer, Vec into, int step = 0) {
    run(
        program, layer,
        [&](const StagePlace& place, Vec d) {
          if (place.kind == StagePlace::Kind::operand) {
            access_.load(*layer_, static_cast<std::size_t>(place.index), d,
                         {depth, index, Part::full, tail_count(), step * lanes_, true, false}, place.type);
          } else if (place.kind == StagePlace::Kind::share) {
            const float share = 1.0F / static_cast<float>(schedule_.pilot * lanes_);
            fill(layer, d, place.type, std::bit_cast<std::uint32_t>(share));
          } else {
            layer_->load_all(d, place.type, saved(place.index));
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
  few_layer_->store_lanes(saved(to.index), LaneType::f32, mean);
}

/// Part by part, where a total's lanes are wider. A total in memory is loaded and stored but once for all sets where
/// there is a vector for it.
void StagedRows::flush_sets(const StagePass& pass, const std::vector<int>& reductions, int sets) {
  for (const int r : reductions) {
    const StageReduction& of = reduction(r);
    if (!of.has_total()) continue;
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

/// The lanes from `lane` on, into a total in the vector `into`, or in memory. Where several sets make one, vectors have
/// no room for parts of each: they come from memory.
void StagedRows::flush_set(const StagePass& pass, int r, int which, int lane, Vec into) {
  const StageReduction& of = reduction(r);
  LaneLayer& layer = layer_for(of.flush);
  const PassVectors& vectors = vectors_of(pass);
  const Vec shifted = vectors.free() - 1;
  Vec from = vectors.set(r, which);
  if (const std::vector<int> sets = sets_read_by(of.flush); sets.size() > 1) {
    from = -1;
    for (const int s : sets)
      if (const Vec home = vectors.set(s, which); home >= 0 && lane == 0)
        store_lanes(*layer_, home, reduction(s).set_type, set(s, which));
  } else if (from >= 0 && lane > 0) {
    layer_->shift_lanes(shifted, from, of.set_type, lane);
    from = shifted;
  }
  const auto at = [&](const StagePlace& place) {
    const Memory first = place.kind == StagePlace::Kind::set ? set(place.index, which) : total(r);
    return first + lane * lane_bytes(place.type);
  };
  run(
      of.flush, layer, [&](const StagePlace& place, Vec d) { load_lanes(layer, d, place.type, at(place)); },
      [&](const StagePlace& place, Vec s) { store_lanes(layer, s, place.type, at(place)); },
      [&](const StagePlace& place) { return place.kind == StagePlace::Kind::set ? from : into; },
      into == shifted - 1 ? into : shifted);
}

/// Halves of the total's lanes, until one is left; at first in two vectors, if they are so wide.
void StagedRows::fold(const StagePass& pass, int r) {
  const StageReduction& of = reduction(r);
  if (!of.has_total()) return;
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

}  // namespace tenfold::jit

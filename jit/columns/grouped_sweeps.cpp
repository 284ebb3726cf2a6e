// SPDX-License-Identifier: Apache-2.0
#include "jit/columns/grouped_sweeps.hpp"

#include "jit/columns/next_block.hpp"
#include "jit/columns/strips.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

/// Vector steps of a group: a line of 16-bit elements. Four gain no more.
constexpr int kGroupSteps = 2;

class GroupedSweeps {
 public:
  GroupedSweeps(LoopNest& nest, const Reg64& first, const Reg64& at, const Reg64& stream,
                const std::function<void()>& tail)
      : n_(nest), c_(nest.c), first_(first), at_(at), stream_(stream), tail_(tail), stream3_(std::in_place, nest.a) {
    c_.lea(*stream3_, c_.ptr[stream + stream * 2]);
  }

  void emit(const Reg64& row_stride, const Reg64& count) {
    Gpr record(n_.a), steps(n_.a);
    Label chain, next, done;
    const auto sweep = [&](bool begins) {
      over_tile(record, steps, begins);
      c_.add(first_, row_stride);
      c_.dec(count);
      c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
    };
    c_.test(count, count);
    c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
    c_.L(chain);
    c_.mov(n_.slot(frame::kChainLeft), n_.s.traits().chain / schedule::kChainedStreams);
    sweep(true);
    c_.L(next);
    c_.dec(n_.slot(frame::kChainLeft));
    c_.jz(chain, Xbyak::CodeGenerator::T_NEAR);
    sweep(false);
    c_.jmp(next, Xbyak::CodeGenerator::T_NEAR);
    c_.L(done);
  }

 private:
  /// `begins`: with chains that begin here.
  void over_tile(const Reg64& record, const Reg64& steps, bool begins) {
    Label whole;
    c_.mov(at_, first_);
    c_.lea(record, c_.ptr[c_.rbp + frame::kRecords]);
    c_.mov(steps, n_.slot(frame::kTileSteps));
    n_.set_whole_steps(true);
    n_.s.roles().chains->start_sets();
    for (const int sets : {kGroupSteps, 1}) groups(record, steps, sets, begins);
    n_.set_whole_steps(false);
    c_.cmp(n_.slot(frame::kTileTail), 0);
    c_.jz(whole);
    if (n_.ends_whole) {
      n_.set_whole_steps(true);
      n_.step_back(at_, n_.s.input_bytes());
      c_.mov(steps.cvt32(), 1);
      groups(record, steps, 1, begins);
      n_.set_whole_steps(false);
    } else {
      begins ? n_.s.flush_record(record) : n_.s.load_set(record);
      tail_();
      n_.s.store_set(record);
    }
    c_.L(whole);
  }

  void groups(const Reg64& record, const Reg64& steps, int sets, bool begins) {
    Chains& chains = *n_.s.roles().chains;
    Label again, done;
    c_.cmp(steps, sets);
    c_.jb(done);
    align_loop(c_);
    c_.L(again);
    begins ? chains.begin_sets(record, sets) : chains.load_sets(record, sets);
    for (const Memory& row : places_of_streams(at_, stream_, stream3_, schedule::kChainedStreams)) {
      for (int set = 0; set < sets; ++set) n_.s.step(set, row + set * n_.s.step_bytes(), Part::full);
      ask_next_block(n_, row, sets * n_.s.step_bytes());
    }
    chains.store_sets(record, sets);
    c_.add(at_, sets * n_.s.step_bytes());
    c_.add(record, sets * n_.s.record_bytes());
    c_.sub(steps, sets);
    c_.cmp(steps, sets);
    c_.jae(again);
    c_.L(done);
  }

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  const Reg64 &first_, &at_, &stream_;
  const std::function<void()>& tail_;
  std::optional<Gpr> stream3_;
};

}  // namespace

bool sweeps_groups(const LoopNest& nest) {
  return nest.s.is_sum() && nest.s.input_bytes() == 2 && nest.input_contiguous() && nest.schedule.columns > 0 &&
         nest.schedule.width == 0 && !is_strip(nest);
}

void sweep_groups(LoopNest& nest, const Reg64& first, const Reg64& at, const Reg64& row_stride, const Reg64& stream,
                  const Reg64& count, const std::function<void()>& tail) {
  GroupedSweeps(nest, first, at, stream, tail).emit(row_stride, count);
}

}  // namespace tenfold::jit

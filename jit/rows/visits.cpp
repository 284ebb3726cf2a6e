// SPDX-License-Identifier: Apache-2.0
//
// Streams of rows that are visited in turns, where a state has not sets enough to read all of them step by step: what a
// stream has seen waits in a record while the others are read. A row takes its blocks in their order, so its bits are
// those of a row that is read by itself. One row of sums is cut into runs, whose totals meet at the end; they come one
// after another where one stream takes all that memory gives.
//
// A visit is short, so that the machine's prefetching does not give a stream up between two of them, and begins by
// asking for the lines that the next one begins with, which are elsewhere.
#include <algorithm>
#include <bit>

#include "jit/nest/blocks.hpp"
#include "jit/rows/rows.hpp"

namespace tenfold::jit {
namespace {

constexpr int kStreams = 4;
/// A visit, of states whose chains do not say how long one is, and what it asks for. ArgMax f32 over the last axis of
/// [2000, 35820] takes 18.4 and 17.9 ms with AVX2 and AVX-512; with visits of 1 KiB 19.7 and 18.4, of 4 KiB 23.7 and
/// 22.8, and where 512 bytes are asked for 20.3 and 18.7.
constexpr int kVisitBytes = 512, kAheadBytes = 1024;
constexpr int kLineBytes = 64;

int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(power)); }

}  // namespace

using Xbyak::Label;
using Xbyak::Reg64;

int Rows::visit_groups() const {
  return n_.s.chained() ? n_.s.traits().chain : std::max(1, kVisitBytes / (unroll_ * n_.s.step_bytes()));
}

int Rows::visit_steps() const { return visit_groups() * unroll_; }

/// `body` for the record of each stream in turn.
void Rows::each_record(const std::function<void(const Reg64& record)>& body) {
  Gpr record(n_.a), left(n_.a);
  Label again;
  c_.lea(record, c_.ptr[c_.rbp + frame::kRecords]);
  c_.mov(left.r32(), kStreams);
  c_.L(again);
  body(record);
  c_.add(record, n_.s.record_bytes());
  c_.dec(left);
  c_.jnz(again);
}

/// `visits` visits, at least one, to each of the streams that begin at `p_`, `distance` apart. Afterwards `p_` is where
/// the first of them has come to.
void Rows::visit_streams(const Reg64& distance, const Reg64& visits) {
  const int bytes = visit_steps() * n_.s.step_bytes();
  Gpr next(n_.a);
  Label round;
  c_.L(round);
  c_.lea(next, c_.ptr[p_.reg() + bytes]);
  {
    Gpr record(n_.a), left(n_.a);
    Label stream;
    c_.lea(record, c_.ptr[c_.rbp + frame::kRecords]);
    c_.mov(left.r32(), kStreams);
    c_.L(stream);
    {
      Gpr ahead(n_.a);
      c_.lea(ahead, c_.ptr[p_.reg() + distance]);
      c_.cmp(left, 1);
      c_.cmove(ahead, next);
      for (int line = 0; line < kAheadBytes; line += kLineBytes) c_.prefetcht0(c_.ptr[ahead.reg() + line]);
    }
    visit(record);
    c_.lea(p_, c_.ptr[p_.reg() + distance - bytes]);
    c_.add(record, n_.s.record_bytes());
    c_.dec(left);
    c_.jnz(stream);
  }
  c_.mov(p_, next);
  c_.dec(visits);
  c_.jnz(round);
}

/// A visit at `p_`, which moves behind it.
void Rows::visit(const Reg64& record) {
  Gpr groups(n_.a);
  c_.mov(groups.r32(), visit_groups());
  if (n_.s.chained()) {
    n_.s.load_totals(record);
    take_block(n_, groups, unroll_, true, [this] { group(); });
    n_.s.keep_totals(record);
    return;
  }
  init_sets(n_.s, unroll_);
  n_.s.load_set(record);
  repeat_groups(n_, groups, [this] { group(); });
  merge_sets(n_.s, unroll_);
  n_.s.store_set(record);
}

/// The rows where the streams stand, `distance` apart, and their outputs.
void Rows::rows_in_visits(const Reg64& distance) {
  Label ends;
  n_.s.set_pass(n_.s.traits().has_second_pass ? Pass::first : Pass::whole);
  each_record([this](const Reg64& record) { n_.s.init_record(record); });
  {
    Gpr visits(n_.a);
    n_.load_extent(visits, n_.schedule.vector_level);
    c_.shr(visits, log2_of(n_.s.lanes() * visit_steps()));
    c_.jz(ends);
    c_.mov(p_, n_.in);
    visit_streams(distance, visits);
  }
  c_.L(ends);
  each_record([&](const Reg64& record) {
    output([&] { end_of_stream(record); });
    next_stream(distance);
  });
  for (int stream = 0; stream < kStreams; ++stream) {
    c_.sub(n_.in, distance);
    c_.sub(n_.out, n_.slot(frame::kStreamOutput));
  }
}

/// What visits have left of the row at `in`, behind what its record has.
void Rows::end_of_stream(const Reg64& record) {
  n_.load_extent(steps_, n_.schedule.vector_level);
  c_.shr(steps_, log2_of(n_.s.lanes()));
  c_.mov(p_, steps_);
  c_.and_(p_, -visit_steps());
  c_.shl(p_, log2_of(n_.s.step_bytes()));
  c_.add(p_, n_.in);
  c_.and_(steps_, visit_steps() - 1);
  if (element_stride_) n_.load_input_stride(*element_stride_, n_.schedule.vector_level);
  if (n_.s.chained()) {
    n_.s.load_totals(record);
    along();
    return;
  }
  init_sets(n_.s, unroll_);
  n_.s.load_set(record);
  along();
  merge_sets(n_.s, unroll_);
}

/// `visits` visits, at least one, to each of the runs of the row at `p_`, of which one follows the other.
void Rows::visit_in_order(const Reg64& visits) {
  each_record([&](const Reg64& record) {
    Gpr left(n_.a);
    Label again;
    c_.mov(left, visits);
    c_.L(again);
    visit(record);
    c_.dec(left);
    c_.jnz(again);
  });
}

/// Of the row at `p_`, runs; their totals, and what is left, from `p_` on.
void Rows::runs_in_visits() {
  Gpr distance(n_.a), visits(n_.a);
  Label done;
  c_.mov(visits, steps_);
  c_.shr(visits, log2_of(visit_steps()));
  n_.divide_into_streams(visits, kStreams, false);
  c_.test(visits, visits);
  c_.jz(done);
  each_record([this](const Reg64& record) { n_.s.init_record(record); });
  c_.imul(distance, visits, kStreams * visit_steps());
  c_.sub(steps_, distance);
  if (n_.schedule.ahead) {
    c_.imul(distance, visits, visit_steps() * n_.s.step_bytes());
    visit_streams(distance, visits);
    c_.lea(distance, c_.ptr[distance.reg() + distance.reg() * 2]);
    c_.add(p_, distance);
  } else {
    visit_in_order(visits);
  }
  const Memory first = Xbyak::util::rbp + frame::kRecords;
  n_.s.load_totals(first);
  for (int stream = 1; stream < kStreams; ++stream)
    n_.s.roles().wide_totals->merge_totals(first + stream * n_.s.record_bytes());
  c_.L(done);
}

}  // namespace tenfold::jit

// SPDX-License-Identifier: Apache-2.0
//
// Columns of more than one vector step, whose number is no multiple of the lanes, or which are few: so many rows are
// taken as one that a group of them is whole steps, and long enough for a sweep. Its columns are reduced as if they
// were that many outputs; then those that are one column meet. For states whose elements may come in any order.
#include <bit>
#include <optional>

#include "jit/columns/narrow.hpp"
#include "jit/columns/next_block.hpp"
#include "jit/nest/blocks.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

constexpr int kStreams = 4;

}  // namespace

int NarrowColumns::records_of_row() const { return (width_ + n_.s.lanes() - 1) / n_.s.lanes(); }

int NarrowColumns::group_bytes() const { return rows_of_group() * row_bytes(); }

int NarrowColumns::rows_of_group() const { return static_cast<int>(n_.schedule.columns) / width_; }

Memory NarrowColumns::group_record() const { return record(records_of_row() + 1); }

void NarrowColumns::in_groups(const Reg64& first, const Reg64& rows) {
  const int rows_of_sweep = kStreams * rows_of_group();
  Gpr sweeps(n_.a), stream(n_.a);
  Label again, single, folded, done;
  c_.mov(sweeps, rows);
  c_.shr(sweeps, std::countr_zero(static_cast<unsigned>(rows_of_sweep)));
  c_.jz(done);
  c_.and_(rows, rows_of_sweep - 1);
  c_.imul(stream, sweeps, group_bytes());
  n_.s.set_pass(Pass::whole);
  each_group_record([this](const Reg64& at) { n_.s.init_record(at); });
  c_.L(again);
  sweep_streams(first, stream);
  c_.add(first, group_bytes());
  c_.dec(sweeps);
  c_.jnz(again);
  // The first stream has ended where the second began.
  for (int other = 1; other < kStreams; ++other) c_.add(first, stream);
  c_.L(single);
  c_.cmp(rows, rows_of_group());
  c_.jb(folded);
  sweep(first, 1);
  c_.add(first, group_bytes());
  c_.sub(rows, rows_of_group());
  c_.jmp(single);
  c_.L(folded);
  if (n_.s.traits().takes_twice) {
    Label none;
    step_back(first, rows, rows_of_group(), none);
    sweep(first, 1);
    c_.add(first, group_bytes());
    c_.L(none);
  }
  fold_group();
  c_.L(done);
}

void NarrowColumns::each_group_record(const std::function<void(const Reg64&)>& body) {
  Gpr at(n_.a), left(n_.a);
  Label again;
  c_.lea(at, c_.ptr[group_record()]);
  c_.mov(left.r32(), static_cast<std::uint32_t>(n_.schedule.columns / n_.s.lanes()));
  align_loop(c_);
  c_.L(again);
  body(at);
  c_.add(at, n_.s.record_bytes());
  c_.dec(left);
  c_.jnz(again);
}

void NarrowColumns::sweep_streams(const Reg64& first, const Reg64& stream) {
  Gpr p(n_.a);
  std::optional<Gpr> stream3(std::in_place, n_.a);
  c_.lea(*stream3, c_.ptr[stream + stream * 2]);
  sweep_rows(first, p, places_of_streams(p, stream, stream3, kStreams));
}

void NarrowColumns::sweep(const Reg64& first, int at_once) {
  Gpr p(n_.a);
  std::vector<Memory> rows;
  for (int group = 0; group < at_once; ++group) rows.push_back(p.reg() + group * group_bytes());
  sweep_rows(first, p, rows);
}

void NarrowColumns::sweep_rows(const Reg64& first, const Reg64& p, const std::vector<Memory>& rows) {
  take_sweep(n_, [&](Pass pass) {
    c_.mov(p, first);
    each_group_record([&](const Reg64& at) {
      const auto step = [&](Pass which) {
        n_.s.set_pass(which);
        n_.s.load_set(at);
        n_.s.step_rows(0, rows);
        n_.s.store_set(at);
      };
      step(pass);
      for (const Memory& row : rows) ask_next_block(n_, row, n_.s.step_bytes());
      if (pass == Pass::first && !n_.s.traits().second_pass_redoes) {
        Label settled;
        n_.s.jump_if_settled(settled, Part::full);
        step(Pass::second);
        c_.L(settled);
      }
      c_.add(p, n_.s.step_bytes());
    });
  });
}

/// Lanes a row apart into the records of a row.
void NarrowColumns::fold_group() {
  Gpr at(n_.a), from(n_.a), left(n_.a);
  Label again;
  c_.lea(at, c_.ptr[record(0)]);
  c_.lea(from, c_.ptr[group_record()]);
  c_.mov(left.r32(), records_of_row());
  c_.L(again);
  n_.s.load_set(at.reg());
  n_.s.init_set(1);
  n_.s.merge(1, 0);
  for (int row = 0; row < rows_of_group(); ++row) {
    n_.s.load_set(from.reg() + row * row_bytes());
    n_.s.merge(1, 0);
  }
  n_.s.init_set(0);
  n_.s.merge(0, 1);
  n_.s.store_set(at.reg());
  c_.add(at, n_.s.record_bytes());
  c_.add(from, n_.s.record_bytes());
  c_.dec(left);
  c_.jnz(again);
}

}  // namespace tenfold::jit

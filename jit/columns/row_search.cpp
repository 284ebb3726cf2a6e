// SPDX-License-Identifier: Apache-2.0
#include "jit/columns/row_search.hpp"

#include "schedule/columns.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

/// The number of the last row that has as many behind it as are looked at; bytes from a row to the next.
constexpr int kLastNumber = frame::kStreamRows, kStride = frame::kStreamOutput;
/// Rows of a vector step each are staged.
static_assert(schedule::kSearchedRows * 64 <= frame::kRows - frame::kStaging);

}  // namespace

void RowSearcher::begin(const Reg64& rows, const Reg64& stride) {
  c_.sub(rows, n_.schedule.rows_at_once);
  c_.jb(none_, Xbyak::CodeGenerator::T_NEAR);
  c_.mov(n_.slot(kLastNumber), rows);
  c_.mov(n_.slot(kStride), stride);
}

void RowSearcher::record(const Reg64& record, const Reg64& columns, Part part) {
  RowSearch& search = *n_.s.roles().row_search;
  const int lanes = n_.s.lanes() / search.numbers();
  for (int at = 0; at < search.numbers(); ++at) copy(search.numbers_of(record, at), columns, at * lanes, part);
  search.search(record, LoopNest::staging());
  if (part == Part::full) c_.add(columns, n_.s.step_bytes());
}

void RowSearcher::end() { c_.L(none_); }

void RowSearcher::copy(const Memory& numbers, const Reg64& columns, int first, Part part) {
  const int bytes = n_.s.input_bytes(), lanes = n_.s.lanes() / n_.s.roles().row_search->numbers();
  Gpr lane(n_.a), from(n_.a);
  Label again, done;
  c_.xor_(lane.r32(), lane.r32());
  c_.L(again);
  if (part == Part::tail) {
    c_.lea(from, c_.ptr[lane.reg() + first]);
    c_.cmp(from, n_.slot(frame::kTileTail));
    c_.jae(done, Xbyak::CodeGenerator::T_NEAR);
  }
  const int number_bytes = n_.s.roles().row_search->number_bytes();
  const Xbyak::Address number = c_.ptr[numbers + lane.reg() * number_bytes];
  number_bytes == 8 ? c_.mov(from, number) : c_.mov(from.r32(), number);
  c_.cmp(from, n_.slot(kLastNumber));
  c_.cmova(from, n_.slot(kLastNumber));
  number_bytes == 8 ? c_.mov(number, from) : c_.mov(number, from.r32());
  c_.imul(from, n_.slot(kStride));
  c_.add(from, columns);
  Gpr element(n_.a);
  for (int row = 0; row < n_.schedule.rows_at_once; ++row) {
    if (row > 0) c_.add(from, n_.slot(kStride));
    const Memory place = from.reg() + lane.reg() * bytes + first * bytes;
    const Memory to = LoopNest::staging() + lane.reg() * bytes + (row * n_.s.step_bytes() + first * bytes);
    switch (bytes) {
      case 1:
        c_.movzx(element.r32(), c_.byte[place]);
        c_.mov(c_.byte[to], element.reg().cvt8());
        break;
      case 2:
        c_.movzx(element.r32(), c_.word[place]);
        c_.mov(c_.word[to], element.reg().cvt16());
        break;
      case 4:
        c_.mov(element.r32(), c_.dword[place]);
        c_.mov(c_.dword[to], element.r32());
        break;
      default: c_.mov(element, c_.qword[place]); c_.mov(c_.qword[to], element);
    }
  }
  c_.inc(lane);
  c_.cmp(lane, lanes);
  c_.jb(again);
  c_.L(done);
}

}  // namespace tenfold::jit

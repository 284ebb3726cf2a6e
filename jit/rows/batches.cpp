// SPDX-License-Identifier: Apache-2.0
//
// Rows of chained sums that end sixteen at a time.
#include "jit/rows/rows.hpp"

namespace tenfold::jit {
namespace {

/// Rows that end together: the lanes of the totals.
constexpr int kBatch = 16;

}  // namespace

using Xbyak::Label;

/// The rows of `level`, where outputs lie side by side sixteen at a time: their totals end, are rounded and stored as
/// a vector. What a row ends with is a chain of some thirty cycles, which the machine's queues hold but two of.
void Rows::in_batches(int level) {
  const Memory record = Xbyak::util::rbp + frame::kRows;
  const Xbyak::Address left = n_.slot(frame::kStreamRows), lane = n_.slot(frame::kStreamOutput);
  Label batch, row, single;
  c_.mov(n_.slot(frame::kNestInput), n_.in);
  n_.save_outputs(frame::kNestOutput, frame::kNestOutput2);
  {
    Gpr rows(n_.a), stride(n_.a);
    n_.load_extent(rows, level);
    c_.mov(left, rows);
    n_.load_output_stride(stride, 0, level);
    c_.cmp(stride, n_.s.output_bytes(0));
    c_.jne(single);
  }
  c_.L(batch);
  c_.cmp(left, kBatch);
  c_.jb(single);
  c_.mov(lane, 0);
  c_.L(row);
  take_rows();
  n_.s.fold();
  {
    Gpr number(n_.a), stride(n_.a);
    c_.mov(number, lane);
    n_.s.roles().wide_totals->keep_total(record, number);
    n_.load_input_stride(stride, level);
    c_.add(n_.in, stride);
    c_.inc(number);
    c_.mov(lane, number);
    c_.cmp(number, kBatch);
    c_.jb(row);
  }
  n_.s.load_totals(record);
  n_.s.finish(Part::full);
  n_.s.store(0, n_.out.reg(), Part::full);
  c_.add(n_.out, kBatch * n_.s.output_bytes(0));
  c_.sub(left, kBatch);
  c_.jmp(batch);
  c_.L(single);
  row_by_row(level);
}

}  // namespace tenfold::jit

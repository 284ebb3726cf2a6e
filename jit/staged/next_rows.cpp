// SPDX-License-Identifier: Apache-2.0
#include "jit/staged/next_rows.hpp"

#include <algorithm>

namespace tenfold::jit {
namespace {

constexpr int kLine = 64;

}  // namespace

NextRows::NextRows(Assembler& assembler, OperandWalk& walk, const Stages& stages, const schedule::Schedule& schedule,
                   const StagePass& pass)
    : a_(assembler), walk_(walk), schedule_(schedule) {
  const std::size_t last = stages.passes.size() - (trailing_pass(stages, schedule) != nullptr ? 2 : 1);
  const std::size_t asks = std::min<std::size_t>(1, last);
  if (!schedule.ahead || &pass != &stages.passes[asks]) return;
  places_ = stages.passes[0].step.inputs;
  level_ = walk.last_kept_level();
}

void NextRows::start(std::size_t depth) {
  if (!schedule_.runs || places_.empty()) return;
  for (const Ahead& found : look_ahead(a_, walk_, places_, level_, 1, 1)) of_runs_ = found.operand;
  if (of_runs_) walk_.start_asking(*of_runs_, level_, depth);
}

void NextRows::load_distances() {
  if (schedule_.runs || places_.empty()) return;
  const int rows = schedule_.rows_at_once;
  ahead_ = look_ahead(a_, walk_, places_, level_, schedule_.early ? 3 * rows : rows, most_ahead(walk_.spec()));
  if (schedule_.early)
    for (const Ahead& of : ahead_) a_.code().sar(*of.distance, 1);
}

void NextRows::ask(const OperandWalk::At& at, int elements) {
  if (of_runs_) ask_for_runs(at, elements);
  for (const Ahead& of : ahead_) {
    const int bytes = elements * byte_size(walk_.operand(of.operand).dtype);
    walk_.ahead(of.operand, at, *of.distance, [&](const Memory& place) {
      for (int byte = 0; byte < bytes; byte += kLine) {
        const Xbyak::Address next = a_.code().ptr[place + byte];
        schedule_.far ? a_.code().prefetcht1(next) : a_.code().prefetcht0(next);
      }
    });
  }
}

/// As many lines of the runs' rows as the steps take of their own.
void NextRows::ask_for_runs(const OperandWalk::At& at, int elements) {
  constexpr int kBurst = kLine * OperandWalk::kRuns;
  const int bytes = elements * byte_size(walk_.operand(*of_runs_).dtype);
  for (int byte = kBurst; byte <= bytes; byte += kBurst) walk_.ask_for_runs();
  if (bytes >= kBurst) return;
  Xbyak::Label not_now;
  a_.code().test(at.index.cvt32(), elements * (kBurst / bytes - 1));
  a_.code().jnz(not_now);
  walk_.ask_for_runs();
  a_.code().L(not_now);
}

}  // namespace tenfold::jit

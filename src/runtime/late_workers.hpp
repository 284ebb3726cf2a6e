// SPDX-License-Identifier: Apache-2.0
//
// Workers that were woken behind their caller. Linux puts a thread that wakes on an idle CPU, if it finds one; in a
// virtual machine it does not take a CPU for idle that has been halted, as its host may have given it to somebody else.
// It puts the worker on the CPU that wakes it, which is the caller's, who has its own share to do: the worker waits for
// milliseconds until the system moves it. So the caller does. docs/threads.md has what it gains.
#pragma once

namespace tenfold::runtime {

/// A worker comes to a pool, or leaves it, to sleep perhaps. It is known until its thread ends.
void note_arrival() noexcept;
void note_departure() noexcept;

/// For as long as a caller has woken workers, and takes tasks itself.
class WorkersWanted {
 public:
  WorkersWanted() noexcept;
  ~WorkersWanted();
  WorkersWanted(const WorkersWanted&) = delete;
  WorkersWanted& operator=(const WorkersWanted&) = delete;
};

/// Whoever has done a task. If it is a caller that has wanted workers for 50 us, in one job or in several close
/// together, those that have not come leave its CPU, if that is where they wait and if they may run on others. Costs
/// nothing to speak of before, then a microsecond a worker, of eight at most, every 100 us.
void move_late_workers() noexcept;

}  // namespace tenfold::runtime

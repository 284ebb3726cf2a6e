// SPDX-License-Identifier: Apache-2.0
//
// Workers that were woken behind their caller. Linux puts a thread that wakes on an idle CPU, if it finds one; in a
// virtual machine it does not take a CPU for idle that has been halted, as its host may have given it to somebody else.
// It puts the worker on the CPU that wakes it, which is the caller's, who has its own share to do: the worker waits for
// milliseconds until the system moves it. So the caller does. docs/threads.md has what it gains.
#pragma once

namespace tenfold::runtime {

/// Whoever comes to do jobs, and whoever begins with a share of one. A thread that has never been a caller is a worker,
/// and known until it ends.
void note_share() noexcept;

/// For as long as a caller wants workers to come, and takes tasks itself. Begins with move_late_workers(), for bursts
/// of short jobs.
class WorkersWanted {
 public:
  WorkersWanted() noexcept;
  ~WorkersWanted();
  WorkersWanted(const WorkersWanted&) = delete;
  WorkersWanted& operator=(const WorkersWanted&) = delete;
};

/// Whoever has done a long task. If it is a caller that has wanted workers for 150 us, in one job or in several close
/// together, those that have not begun with a share since leave its CPU, if that is where they wait and if they may run
/// on others. Costs a microsecond a worker, of eight at most; who does not come then is asked again after 200 us, after
/// twice as long, and so on.
void move_late_workers() noexcept;

}  // namespace tenfold::runtime

// SPDX-License-Identifier: Apache-2.0
//
// A worker that waits for the CPU of its caller goes elsewhere, and may run where it might before. The worker here
// spins, and both are put on one CPU by hand: what a system does with threads that wake cannot be had at will.
#include "runtime/late_workers.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace tenfold::runtime {
namespace {

using namespace std::chrono_literals;

cpu_set_t allowed_to(pid_t thread) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(thread, sizeof allowed, &allowed), 0);
  return allowed;
}

void allow(pid_t thread, const cpu_set_t& cpus) { ASSERT_EQ(sched_setaffinity(thread, sizeof cpus, &cpus), 0); }

cpu_set_t only(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return one;
}

/// The CPU that a thread runs on, or waits for.
int cpu_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line, word;
  std::getline(file, line);
  constexpr int kBehindTheName = 36;
  std::istringstream words(line.substr(line.rfind(')') + 2));
  for (int i = 0; i <= kBehindTheName; ++i) words >> word;
  return std::stoi(word);
}

void spin_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// A thread that is known as a worker, and begins with no other share, while it spins.
class Spinning {
 public:
  Spinning()
      : thread_([this] {
          note_share();
          id_ = static_cast<pid_t>(syscall(SYS_gettid));
          while (!stop_)
            if (comes_.exchange(false)) note_share();
        }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~Spinning() {
    stop_ = true;
    thread_.join();
  }
  pid_t id() const { return id_; }
  /// It begins with a share, and longer ago than jobs of one burst lie apart.
  void come() {
    comes_ = true;
    while (comes_) std::this_thread::yield();
    spin_for(300us);
  }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<bool> comes_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class LateWorkers : public testing::Test {
 protected:
  void SetUp() override {
    all_ = allowed_to(0);
    if (CPU_COUNT(&all_) < 2) GTEST_SKIP() << "NOT RUN: this process has one CPU";
    here_ = sched_getcpu();
    allow(0, only(here_));
  }
  void TearDown() override { allow(0, all_); }

  /// Behind this thread, which goes on, allowed to be elsewhere. Whether the worker is still there is not for us to
  /// say.
  bool put_behind_this(const Spinning& worker) const {
    allow(worker.id(), only(here_));
    allow(worker.id(), all_);
    return cpu_of(worker.id()) == here_;
  }

  cpu_set_t all_;
  int here_ = 0;
};

TEST_F(LateWorkers, LeaveTheCpuOfTheirCallerAndMayComeBack) {
  Spinning worker;
  int behind = 0, moved = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    worker.come();
    const WorkersWanted wanted;
    spin_for(200us);
    if (!put_behind_this(worker)) continue;
    ++behind;
    move_late_workers();
    moved += cpu_of(worker.id()) == here_ ? 0 : 1;
    const cpu_set_t now = allowed_to(worker.id());
    EXPECT_TRUE(CPU_EQUAL(&now, &all_));
  }
  // The system may move either of them in between.
  EXPECT_GE(moved, behind - behind / 4) << "of " << behind;
  EXPECT_GT(behind, 0);
}

TEST_F(LateWorkers, StayWhereNobodyHasWaitedForThem) {
  const Spinning worker;
  int stayed = 0;
  for (int attempt = 0; attempt < 20 && stayed == 0; ++attempt) {
    std::this_thread::sleep_for(1ms);  // no burst of jobs
    if (!put_behind_this(worker)) continue;
    move_late_workers();
    const WorkersWanted wanted;
    move_late_workers();
    stayed += cpu_of(worker.id()) == here_ ? 1 : 0;
  }
  EXPECT_GT(stayed, 0);
}

TEST_F(LateWorkers, KeepToTheOneCpuThatTheyMayRunOn) {
  const Spinning worker;
  const cpu_set_t one = only(here_);
  allow(worker.id(), one);
  const WorkersWanted wanted;
  spin_for(300us);
  move_late_workers();
  const cpu_set_t now = allowed_to(worker.id());
  EXPECT_TRUE(CPU_EQUAL(&now, &one));
  EXPECT_EQ(cpu_of(worker.id()), here_);
}

TEST_F(LateWorkers, AreForgottenWhenTheyEnd) {
  for (int round = 0; round < 20; ++round) {
    const Spinning worker;  // of eight that are known, each is free again
    const WorkersWanted wanted;
    spin_for(200us);
    move_late_workers();
  }
  Spinning worker;
  int moved = 0;
  for (int attempt = 0; attempt < 20 && moved == 0; ++attempt) {
    worker.come();
    const WorkersWanted wanted;
    spin_for(200us);
    if (!put_behind_this(worker)) continue;
    move_late_workers();
    moved += cpu_of(worker.id()) == here_ ? 0 : 1;
  }
  EXPECT_GT(moved, 0) << "the last one is not known";
}

}  // namespace
}  // namespace tenfold::runtime

// SPDX-License-Identifier: Apache-2.0
//
// Executing on the host's threads: a pool of std::thread, and OpenMP and oneTBB where this file is compiled with them.
// The results have the same bits whoever runs them.
#include <condition_variable>
#include <cstring>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <tenfold/graph.hpp>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef EXAMPLE_WITH_TBB
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

using namespace tenfold::graph;
using tenfold::threadpool_interop::threadpool_iface;
using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;

namespace {

thread_local bool is_worker = false;

/// Workers that sleep until there are calls to make. The caller makes some of them.
class StdPool : public threadpool_iface {
 public:
  explicit StdPool(int workers) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }
  ~StdPool() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    for (std::thread& one : workers_) one.join();
  }
  int get_num_threads() const override { return static_cast<int>(workers_.size()) + 1; }
  bool get_in_parallel() const override { return is_worker; }
  std::uint64_t get_flags() const override { return 0; }

  void parallel_for(int n, const std::function<void(int, int)>& fn) override {
    const std::lock_guard<std::mutex> one_job_at_a_time(jobs_);
    std::unique_lock<std::mutex> lock(mutex_);
    fn_ = &fn;
    count_ = n;
    next_ = done_ = 0;
    wake_.notify_all();
    make_calls(lock);
    all_done_.wait(lock, [this] { return done_ == count_; });
    fn_ = nullptr;
  }

 private:
  void make_calls(std::unique_lock<std::mutex>& lock) {
    while (fn_ != nullptr && next_ < count_) {
      const std::function<void(int, int)>& fn = *fn_;
      const int i = next_++, n = count_;
      lock.unlock();
      fn(i, n);
      lock.lock();
      if (++done_ == count_) all_done_.notify_all();
    }
  }
  void work() {
    is_worker = true;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!is_over_) {
      make_calls(lock);
      wake_.wait(lock, [this] { return is_over_ || (fn_ != nullptr && next_ < count_); });
    }
  }

  std::mutex jobs_, mutex_;
  std::condition_variable wake_, all_done_;
  const std::function<void(int, int)>* fn_ = nullptr;
  int count_ = 0, next_ = 0, done_ = 0;
  bool is_over_ = false;
  std::vector<std::thread> workers_;
};

#ifdef _OPENMP
class OpenMpPool : public threadpool_iface {
 public:
  int get_num_threads() const override { return omp_get_max_threads(); }
  bool get_in_parallel() const override { return omp_in_parallel() != 0; }
  std::uint64_t get_flags() const override { return 0; }
  void parallel_for(int n, const std::function<void(int, int)>& fn) override {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; ++i) fn(i, n);
  }
};
#endif

#ifdef EXAMPLE_WITH_TBB
class TbbPool : public threadpool_iface {
 public:
  int get_num_threads() const override { return tbb::this_task_arena::max_concurrency(); }
  bool get_in_parallel() const override { return false; }  // what waits in oneTBB helps, so nesting is fine
  std::uint64_t get_flags() const override { return 0; }
  void parallel_for(int n, const std::function<void(int, int)>& fn) override {
    tbb::parallel_for(0, n, [&](int i) { fn(i, n); });
  }
};
#endif

constexpr int64_t kRows = 2048, kColumns = 1024;

compiled_partition sum_of_rows(const engine& eng) {
  const logical_tensor x(0, data_type::f32, {kRows, kColumns}, layout_type::strided);
  op sum(0, op::kind::ReduceSum, {x}, {logical_tensor(1, data_type::f32)}, "sum");
  sum.set_attr<std::vector<int64_t>>(op::attr::axes, {1});
  graph g(engine::kind::cpu);
  g.add_op(sum);
  g.finalize();
  return g.get_partitions().at(0).compile({x}, {}, eng);
}

}  // namespace

int main() {
  const engine eng(engine::kind::cpu, 0);
  const compiled_partition compiled = sum_of_rows(eng);
  std::vector<float> x(static_cast<std::size_t>(kRows * kColumns)), wanted(kRows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0F / static_cast<float>(i % 1000 + 1);
  const std::vector<tensor> in{tensor(compiled.get_inputs()[0], eng, x.data())};

  stream alone(eng);
  alone.set_threads(1);
  compiled.execute(alone, in, {tensor(compiled.get_outputs()[0], eng, wanted.data())});

  bool same = true;
  const auto try_pool = [&](const std::string& name, threadpool_iface& pool) {
    stream strm = tenfold::threadpool_interop::make_stream(eng, &pool);
    std::vector<float> sums(kRows);
    compiled.execute(strm, in, {tensor(compiled.get_outputs()[0], eng, sums.data())});
    const bool is_same = std::memcmp(sums.data(), wanted.data(), sums.size() * sizeof(float)) == 0;
    std::cout << name << ", " << pool.get_num_threads() << " threads: " << (is_same ? "the same" : "OTHER")
              << " bits\n";
    same = same && is_same;
  };
  StdPool std_pool(3);
  try_pool("std::thread", std_pool);
#ifdef _OPENMP
  OpenMpPool openmp_pool;
  try_pool("OpenMP", openmp_pool);
#endif
#ifdef EXAMPLE_WITH_TBB
  TbbPool tbb_pool;
  try_pool("oneTBB", tbb_pool);
#endif
  return same ? 0 : 1;
}

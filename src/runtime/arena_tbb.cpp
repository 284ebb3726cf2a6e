// SPDX-License-Identifier: Apache-2.0
//
// TbbArena: see the header. docs/threads.md says why oneTBB and not pthreadpool, with the measurements.
#include "runtime/arena_tbb.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <cstddef>
#include <optional>

#include "runtime/late_workers.hpp"

namespace tenfold::runtime {

struct TbbArena::Impl {
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
};

TbbArena::TbbArena(int threads) : impl_(std::make_unique<Impl>()) {
  // oneTBB makes no more workers than there are cores unless told so; told a lower number it would hold back the host's
  // own use of oneTBB, so that is never done.
  if (threads > cores())
    impl_->limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  impl_->arena.initialize(threads);
}

TbbArena::~TbbArena() = default;

bool TbbArena::spread(int times, void (*fn)(void* context), void* context) noexcept try {
  const WorkersWanted wanted;
  impl_->arena.execute([=] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, times, 1),
        [=](const tbb::blocked_range<int>&) {
          note_share();
          fn(context);
        },
        tbb::simple_partitioner());
  });
  return true;
} catch (...) {
  return false;
}

int TbbArena::cores() noexcept { return tbb::info::default_concurrency(); }

}  // namespace tenfold::runtime

// SPDX-License-Identifier: Apache-2.0
//
// TbbArena: see the header. docs/threads.md says why oneTBB and not pthreadpool, with the measurements.
#include "runtime/arena_tbb.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <cstddef>
#include <optional>

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

bool TbbArena::enqueue(void (*fn)(void* context), void* context) noexcept try {
  if (tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) < 2) return false;
  impl_->arena.enqueue([=] { fn(context); });
  return true;
} catch (...) {
  return false;
}

int TbbArena::cores() noexcept { return tbb::info::default_concurrency(); }

}  // namespace tenfold::runtime

// SPDX-License-Identifier: Apache-2.0
//
// The process-wide log callback; see log.hpp.
#include "capi/log.hpp"

#include <atomic>
#include <mutex>

#include "capi/boundary.hpp"
#include "target/fork.hpp"

namespace tenfold::capi {

namespace {

struct Callback {
  tenfold_log_callback_t function = nullptr;
  void* context = nullptr;
};

struct Listener {
  std::mutex mutex;  ///< guards callback
  target::HeldAcrossFork held{mutex};
  Callback callback;
};

std::atomic<Listener*> made_listener;
Listener& listener() { return target::one_of_process(made_listener); }
std::atomic<int> listener_level{tenfold_log_none};

}  // namespace

bool log_wants(tenfold_log_level_t level) noexcept { return level <= listener_level.load(std::memory_order_relaxed); }

void log(tenfold_log_level_t level, const std::string& message) {
  if (!log_wants(level)) return;
  Callback now;
  {
    const std::lock_guard lock(listener().mutex);
    now = listener().callback;
  }
  // Outside the lock, so that the callback may call functions that fail and log in their turn.
  if (now.function != nullptr) now.function(now.context, level, message.c_str());
}

}  // namespace tenfold::capi

tenfold_status_t tenfold_set_log_callback(tenfold_log_callback_t callback, void* context, tenfold_log_level_t level) {
  using namespace tenfold;
  return capi::answer(__func__, [&]() -> Status {
    if (level < tenfold_log_none || level > tenfold_log_info)
      return Status(Code::invalid_argument,
                    "level is " + std::to_string(level) + "; the levels are 0 (none) to 3 (info)");
    const std::lock_guard lock(capi::listener().mutex);
    capi::listener().callback = {callback, context};
    capi::listener_level.store(callback == nullptr ? tenfold_log_none : level, std::memory_order_relaxed);
    return {};
  });
}

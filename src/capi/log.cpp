// SPDX-License-Identifier: Apache-2.0
//
// The process-wide log callback; see log.hpp.
#include "capi/log.hpp"

#include <atomic>
#include <mutex>

#include "capi/boundary.hpp"

namespace tenfold::capi {

namespace {

struct Listener {
  tenfold_log_callback_t callback = nullptr;
  void* context = nullptr;
};

std::mutex listener_mutex;  // guards listener
Listener listener;
std::atomic<int> listener_level{tenfold_log_none};

}  // namespace

bool log_wants(tenfold_log_level_t level) noexcept { return level <= listener_level.load(std::memory_order_relaxed); }

void log(tenfold_log_level_t level, const std::string& message) {
  if (!log_wants(level)) return;
  Listener now;
  {
    const std::lock_guard lock(listener_mutex);
    now = listener;
  }
  // Outside the lock, so that the callback may call functions that fail and log in their turn.
  if (now.callback != nullptr) now.callback(now.context, level, message.c_str());
}

}  // namespace tenfold::capi

tenfold_status_t tenfold_set_log_callback(tenfold_log_callback_t callback, void* context, tenfold_log_level_t level) {
  using namespace tenfold;
  return capi::answer(__func__, [&]() -> Status {
    if (level < tenfold_log_none || level > tenfold_log_info)
      return Status(Code::invalid_argument,
                    "level is " + std::to_string(level) + "; the levels are 0 (none) to 3 (info)");
    const std::lock_guard lock(capi::listener_mutex);
    capi::listener = {callback, context};
    capi::listener_level.store(callback == nullptr ? tenfold_log_none : level, std::memory_order_relaxed);
    return {};
  });
}

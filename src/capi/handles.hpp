// SPDX-License-Identifier: Apache-2.0
//
// What the C API's opaque handles hold, and how their references are counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/split.hpp"
#include "capi/boundary.hpp"
#include "capi/draft.hpp"
#include "capi/host_pool.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/tenfold.h"

namespace tenfold::capi {

class Counted {
 public:
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  /// True when this was the last reference.
  bool release() noexcept { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  std::atomic<std::uint32_t> references_{1};
};

}  // namespace tenfold::capi

struct tenfold_op : tenfold::capi::Counted {
  tenfold::capi::DraftOp draft;
};

struct tenfold_graph : tenfold::capi::Counted {
  tenfold::capi::Draft draft;  ///< empty when finished
  std::optional<tenfold::Graph> finished;
};

struct tenfold_partition : tenfold::capi::Counted {
  explicit tenfold_partition(tenfold::api::Part part);
  tenfold::Graph graph;
  bool supported;
  std::size_t id;   ///< unique in the process
  std::string key;  ///< what the cache of compiled partitions knows the graph by
};

struct tenfold_compiled_partition : tenfold::capi::Counted {
  tenfold_compiled_partition(std::unique_ptr<tenfold::capi::HostPool> host, int most, tenfold::CompiledPartition made)
      : pool(std::move(host)), threads(most), partition(std::move(made)) {}
  std::unique_ptr<tenfold::capi::HostPool> pool;  ///< null: Tenfold's own
  int threads;
  tenfold::CompiledPartition partition;  ///< perhaps shared with others by the cache, so pool and threads are not its
};

namespace tenfold::capi {

template <class Handle>
tenfold_status_t retain(const char* function, Handle* handle) noexcept {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"handle", handle}}); !status.ok()) return status;
    handle->retain();
    return {};
  });
}

/// Sets the caller's variable to null first, so that releasing it again does nothing.
template <class Handle>
tenfold_status_t release(const char* function, Handle** handle) noexcept {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"handle", handle}}); !status.ok()) return status;
    Handle* const released = std::exchange(*handle, nullptr);
    if (released != nullptr && released->release()) delete released;
    return {};
  });
}

}  // namespace tenfold::capi

// SPDX-License-Identifier: Apache-2.0
//
// A host's C function table as a ThreadPool.
#pragma once

#include <algorithm>

#include "capi/growing.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tenfold.h"
#include "tenfold/thread_pool.hpp"

namespace tenfold::capi {

inline Result<tenfold_thread_pool_t> read_pool(const tenfold_thread_pool_t& given) {
  Result<tenfold_thread_pool_t> table = read_growing(given, "pool");
  if (table.ok() && (table.value().num_threads == nullptr || table.value().parallel_for == nullptr))
    return Status(Code::invalid_argument, "pool: 'num_threads' or 'parallel_for' is null");
  return table;
}

class HostPool final : public ThreadPool {
 public:
  explicit HostPool(const tenfold_thread_pool_t& table) : table_(table) {}
  int num_threads() const override { return std::max(1, table_.num_threads(table_.context)); }
  void parallel_for(std::int64_t n, void (*fn)(void* context, std::int64_t i), void* context) override {
    table_.parallel_for(table_.context, n, fn, context);
  }

 private:
  tenfold_thread_pool_t table_;
};

}  // namespace tenfold::capi

// SPDX-License-Identifier: Apache-2.0
//
// Bounds of the process' caches: tenfold_set_*, tenfold_get_*.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "api/partition_cache.hpp"
#include "capi/boundary.hpp"

namespace tenfold::capi {

namespace {

template <class Number>
tenfold_status_t give(const char* function, const char* name, Number* out, auto&& number) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{name, out}}); !status.ok()) return status;
    *out = static_cast<Number>(std::min<std::uint64_t>(number(), std::numeric_limits<Number>::max()));
    return {};
  });
}

}  // namespace

}  // namespace tenfold::capi

using namespace tenfold;

tenfold_status_t tenfold_set_compiled_partition_cache_capacity(int32_t capacity) {
  return capi::answer(__func__, [&]() -> Status {
    if (capacity < 0)
      return Status(Code::invalid_argument, "capacity is " + std::to_string(capacity) + "; it must be 0 or more");
    api::partition_cache().set_capacity(static_cast<std::size_t>(capacity));
    return {};
  });
}

tenfold_status_t tenfold_get_compiled_partition_cache_capacity(int32_t* capacity) {
  return capi::give(__func__, "capacity", capacity, [] { return api::partition_cache().capacity(); });
}

tenfold_status_t tenfold_set_compiled_partition_cache_bytes(size_t bytes) {
  return capi::answer(__func__, [&]() -> Status {
    api::partition_cache().set_bytes(bytes);
    return {};
  });
}

tenfold_status_t tenfold_get_compiled_partition_cache_bytes(size_t* bytes) {
  return capi::give(__func__, "bytes", bytes, [] { return api::partition_cache().bytes(); });
}

tenfold_status_t tenfold_get_compiled_partition_cache_use(int32_t* count, size_t* bytes) {
  return capi::answer(__func__, [&]() -> Status {
    const api::PartitionCache::Use use = api::partition_cache().use();
    if (count != nullptr) *count = static_cast<std::int32_t>(std::min<std::size_t>(use.count, INT32_MAX));
    if (bytes != nullptr) *bytes = use.bytes;
    return {};
  });
}

tenfold_status_t tenfold_set_constant_cache_bytes(size_t bytes) {
  return capi::answer(__func__, [&]() -> Status {
    api::set_constant_cache_bytes(bytes);
    return {};
  });
}

tenfold_status_t tenfold_get_constant_cache_bytes(size_t* bytes) {
  return capi::give(__func__, "bytes", bytes, [] { return api::constant_cache_bytes(); });
}

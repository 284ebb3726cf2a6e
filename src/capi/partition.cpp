// SPDX-License-Identifier: Apache-2.0
//
// Partitions: tenfold_partition_*, but for compiling.
#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/partition_cache.hpp"
#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "capi/memory.hpp"
#include "capi/tensors.hpp"

namespace tenfold::capi {

namespace {

using Ends = std::vector<graph::ValueId> graph::Graph::*;

tenfold_status_t give_count(const char* function, const tenfold_partition* partition, std::size_t* count, Ends ends) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"partition", partition}, {"count", count}}); !status.ok()) return status;
    *count = (partition->graph.ir().*ends).size();
    return {};
  });
}

tenfold_status_t give_ends(const char* function, const tenfold_partition* partition, const char* name,
                           std::size_t count, tenfold_logical_tensor_t* tensors, Ends ends) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"partition", partition}}); !status.ok()) return status;
    const graph::Graph& ir = partition->graph.ir();
    const std::vector<graph::ValueId>& places = ir.*ends;
    if (Status status = require_array(name, tensors, count, places.size()); !status.ok()) return status;
    std::transform(places.begin(), places.end(), tensors,
                   [&](graph::ValueId place) { return tensor_of(ir.values[place]); });
    return {};
  });
}

}  // namespace

}  // namespace tenfold::capi

using namespace tenfold;

tenfold_partition::tenfold_partition(api::Part part)
    : graph(std::move(part.graph)), supported(part.supported), key(api::key_of(graph.ir())) {
  static std::atomic<std::size_t> next{0};
  id = next.fetch_add(1, std::memory_order_relaxed);
}

tenfold_status_t tenfold_partition_get_id(const_tenfold_partition_t partition, size_t* id) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"partition", partition}, {"id", id}}); !status.ok()) return status;
    *id = partition->id;
    return {};
  });
}

tenfold_status_t tenfold_partition_is_supported(const_tenfold_partition_t partition, int32_t* supported) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"partition", partition}, {"supported", supported}}); !status.ok())
      return status;
    *supported = partition->supported ? 1 : 0;
    return {};
  });
}

tenfold_status_t tenfold_partition_get_json(const_tenfold_partition_t partition, const tenfold_allocator_t* allocator,
                                            char** text) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"partition", partition}, {"text", text}}); !status.ok()) return status;
    const Result<std::string> json = partition->graph.to_json();
    return json.ok() ? capi::give_text(json.value(), allocator, text) : json.status();
  });
}

tenfold_status_t tenfold_partition_retain(tenfold_partition_t partition) { return capi::retain(__func__, partition); }
tenfold_status_t tenfold_partition_release(tenfold_partition_t* partition) {
  return capi::release(__func__, partition);
}

tenfold_status_t tenfold_partition_get_op_num(const_tenfold_partition_t partition, size_t* count) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"partition", partition}, {"count", count}}); !status.ok()) return status;
    *count = partition->graph.ir().ops.size();
    return {};
  });
}

tenfold_status_t tenfold_partition_get_op_ids(const_tenfold_partition_t partition, size_t count, int64_t* ids) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"partition", partition}}); !status.ok()) return status;
    const std::vector<graph::Op>& ops = partition->graph.ir().ops;
    if (Status status = capi::require_array("ids", ids, count, ops.size()); !status.ok()) return status;
    std::transform(ops.begin(), ops.end(), ids, [](const graph::Op& op) { return op.id; });
    return {};
  });
}

tenfold_status_t tenfold_partition_get_input_num(const_tenfold_partition_t partition, size_t* count) {
  return capi::give_count(__func__, partition, count, &graph::Graph::inputs);
}

tenfold_status_t tenfold_partition_get_inputs(const_tenfold_partition_t partition, size_t count,
                                              tenfold_logical_tensor_t* inputs) {
  return capi::give_ends(__func__, partition, "inputs", count, inputs, &graph::Graph::inputs);
}

tenfold_status_t tenfold_partition_get_output_num(const_tenfold_partition_t partition, size_t* count) {
  return capi::give_count(__func__, partition, count, &graph::Graph::outputs);
}

tenfold_status_t tenfold_partition_get_outputs(const_tenfold_partition_t partition, size_t count,
                                               tenfold_logical_tensor_t* outputs) {
  return capi::give_ends(__func__, partition, "outputs", count, outputs, &graph::Graph::outputs);
}

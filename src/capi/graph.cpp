// SPDX-License-Identifier: Apache-2.0
//
// Graphs: tenfold_graph_*, built op by op or read from a file.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/boundary.hpp"
#include "capi/growing.hpp"
#include "capi/handles.hpp"
#include "capi/memory.hpp"
#include "capi/tensors.hpp"

struct tenfold_sink {
  std::string bytes;
};

namespace tenfold::capi {

namespace {

Status require_open(const tenfold_graph* graph) {
  if (Status status = require({{"graph", graph}}); !status.ok()) return status;
  if (!graph->finished) return {};
  return Status(Code::invalid_graph, "the graph is finalized; it cannot change any more");
}

Status require_finished(const tenfold_graph* graph) {
  if (Status status = require({{"graph", graph}}); !status.ok()) return status;
  if (graph->finished) return {};
  return Status(Code::invalid_graph, "the graph is not finalized; call tenfold_graph_finalize() first");
}

Status give_graph(Result<Graph> read, tenfold_graph_t* out) {
  if (!read.ok()) return read.status();
  auto made = std::make_unique<tenfold_graph>();
  made->finished = std::move(read).value();
  *out = made.release();
  return {};
}

Result<std::vector<api::Part>> parts_of(const tenfold_graph* graph, tenfold_policy_t policy) {
  if (Status status = require_finished(graph); !status.ok()) return status;
  if (policy != tenfold_policy_fusion && policy != tenfold_policy_debug)
    return Status(Code::invalid_argument, "policy is " + std::to_string(policy) + "; policies are 1 and 2");
  return api::split(*graph->finished, policy == tenfold_policy_debug ? api::Policy::debug : api::Policy::fusion);
}

tenfold_status_t give_partition_num(const char* function, const tenfold_graph* graph, tenfold_policy_t policy,
                                    std::size_t* count) {
  return answer(function, [&]() -> Status {
    const Result<std::vector<api::Part>> parts = parts_of(graph, policy);
    if (!parts.ok()) return parts.status();
    if (Status status = require({{"count", count}}); !status.ok()) return status;
    *count = parts.value().size();
    return {};
  });
}

tenfold_status_t give_partitions(const char* function, const tenfold_graph* graph, tenfold_policy_t policy,
                                 std::size_t count, tenfold_partition_t* partitions) {
  return answer(function, [&]() -> Status {
    Result<std::vector<api::Part>> parts = parts_of(graph, policy);
    if (!parts.ok()) return parts.status();
    if (Status status = require_array("partitions", partitions, count, parts.value().size()); !status.ok())
      return status;
    // All are made before one is given away, so that a failure gives none.
    std::vector<std::unique_ptr<tenfold_partition>> made;
    for (api::Part& part : parts.value()) made.push_back(std::make_unique<tenfold_partition>(std::move(part)));
    for (std::size_t i = 0; i < made.size(); ++i) partitions[i] = made[i].release();
    return {};
  });
}

ExternalDataReader reader_of(const tenfold_onnx_options_t& options) {
  if (options.read_external == nullptr) return {};
  return [options](const std::string& location, std::int64_t offset, std::int64_t length) -> Result<std::string> {
    tenfold_sink sink;
    const tenfold_status_t status = options.read_external(options.context, location.c_str(), offset, length, &sink);
    const std::string what = "external data '" + location + "'";
    if (status != tenfold_success)
      return Status(status == tenfold_out_of_memory ? Code::out_of_memory : Code::invalid_file,
                    what + ": read_external gave " + tenfold_status_to_string(status));
    if (length >= 0 && sink.bytes.size() != static_cast<std::size_t>(length))
      return Status(Code::invalid_file, what + ": read_external wrote " + std::to_string(sink.bytes.size()) +
                                            " bytes; asked for were " + std::to_string(length));
    return std::move(sink.bytes);
  };
}

}  // namespace

}  // namespace tenfold::capi

using namespace tenfold;

tenfold_status_t tenfold_graph_create(tenfold_graph_t* graph) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"graph", graph}}); !status.ok()) return status;
    *graph = std::make_unique<tenfold_graph>().release();
    return {};
  });
}

tenfold_status_t tenfold_graph_retain(tenfold_graph_t graph) { return capi::retain(__func__, graph); }
tenfold_status_t tenfold_graph_release(tenfold_graph_t* graph) { return capi::release(__func__, graph); }

tenfold_status_t tenfold_graph_add_op(tenfold_graph_t graph, const_tenfold_op_t op) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require_open(graph); !status.ok()) return status;
    if (Status status = capi::require({{"op", op}}); !status.ok()) return status;
    return graph->draft.add_op(op->draft);
  });
}

tenfold_status_t tenfold_graph_add_constant(tenfold_graph_t graph, const tenfold_logical_tensor_t* tensor,
                                            const void* data, size_t size) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require_open(graph); !status.ok()) return status;
    if (Status status = capi::require({{"tensor", tensor}}); !status.ok()) return status;
    const Result<graph::Value> value = capi::value_of(*tensor);
    if (!value.ok()) return value.status();
    return graph->draft.add_constant(value.value(), data, size);
  });
}

tenfold_status_t tenfold_graph_set_outputs(tenfold_graph_t graph, const int64_t* ids, size_t count) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require_open(graph); !status.ok()) return status;
    if (Status status = capi::require_list("ids", ids, count); !status.ok()) return status;
    graph->draft.set_outputs(std::vector<TensorId>(ids, ids + count));
    return {};
  });
}

tenfold_status_t tenfold_graph_finalize(tenfold_graph_t graph) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require_open(graph); !status.ok()) return status;
    Result<Graph> finished = graph->draft.finish();
    if (!finished.ok()) return finished.status();
    graph->finished = std::move(finished).value();
    graph->draft = capi::Draft();
    return {};
  });
}

tenfold_status_t tenfold_graph_is_finalized(const_tenfold_graph_t graph, int32_t* finalized) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"graph", graph}, {"finalized", finalized}}); !status.ok()) return status;
    *finalized = graph->finished ? 1 : 0;
    return {};
  });
}

tenfold_status_t tenfold_graph_from_json(tenfold_graph_t* graph, const char* text, size_t size) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"graph", graph}, {"text", text}}); !status.ok()) return status;
    return capi::give_graph(Graph::from_json(std::string_view(text, size)), graph);
  });
}

tenfold_status_t tenfold_sink_write(tenfold_sink_t sink, const void* data, size_t size) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"sink", sink}}); !status.ok()) return status;
    if (size == 0) return {};
    if (Status status = capi::require({{"data", data}}); !status.ok()) return status;
    sink->bytes.append(static_cast<const char*>(data), size);
    return {};
  });
}

tenfold_status_t tenfold_graph_from_onnx(tenfold_graph_t* graph, const void* bytes, size_t size,
                                         const tenfold_onnx_options_t* options) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"graph", graph}, {"bytes", bytes}}); !status.ok()) return status;
    Result<tenfold_onnx_options_t> read = tenfold_onnx_options_t{};
    if (options != nullptr) read = capi::read_growing(*options, "options");
    if (!read.ok()) return read.status();
    const std::string_view model(static_cast<const char*>(bytes), size);
    return capi::give_graph(Graph::from_onnx(model, capi::reader_of(read.value())), graph);
  });
}

tenfold_status_t tenfold_graph_get_text(const_tenfold_graph_t graph, const tenfold_allocator_t* allocator,
                                        char** text) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require_finished(graph); !status.ok()) return status;
    if (Status status = capi::require({{"text", text}}); !status.ok()) return status;
    return capi::give_text(graph->finished->to_text(), allocator, text);
  });
}

tenfold_status_t tenfold_graph_get_json(const_tenfold_graph_t graph, const tenfold_allocator_t* allocator,
                                        char** text) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require_finished(graph); !status.ok()) return status;
    if (Status status = capi::require({{"text", text}}); !status.ok()) return status;
    const Result<std::string> json = graph->finished->to_json();
    return json.ok() ? capi::give_text(json.value(), allocator, text) : json.status();
  });
}

tenfold_status_t tenfold_graph_get_partition_num(const_tenfold_graph_t graph, size_t* count) {
  return capi::give_partition_num(__func__, graph, tenfold_policy_fusion, count);
}

tenfold_status_t tenfold_graph_get_partitions(const_tenfold_graph_t graph, size_t count,
                                              tenfold_partition_t* partitions) {
  return capi::give_partitions(__func__, graph, tenfold_policy_fusion, count, partitions);
}

tenfold_status_t tenfold_graph_get_partition_num_by(const_tenfold_graph_t graph, tenfold_policy_t policy,
                                                    size_t* count) {
  return capi::give_partition_num(__func__, graph, policy, count);
}

tenfold_status_t tenfold_graph_get_partitions_by(const_tenfold_graph_t graph, tenfold_policy_t policy, size_t count,
                                                 tenfold_partition_t* partitions) {
  return capi::give_partitions(__func__, graph, policy, count, partitions);
}

// SPDX-License-Identifier: Apache-2.0
//
// Compiled partitions: tenfold_compiled_partition_*.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "api/partition.hpp"
#include "capi/boundary.hpp"
#include "capi/growing.hpp"
#include "capi/handles.hpp"
#include "capi/host_pool.hpp"
#include "capi/memory.hpp"
#include "capi/tensors.hpp"

namespace tenfold::capi {

namespace {

Ends inputs_of(const tenfold_compiled_partition& compiled) {
  const CompiledPartition::Impl& impl = compiled.partition.impl();
  return {impl.inputs, impl.input_properties};
}

Ends outputs_of(const tenfold_compiled_partition& compiled) {
  const CompiledPartition::Impl& impl = compiled.partition.impl();
  return {impl.outputs, impl.output_properties};
}

using EndsOf = Ends (*)(const tenfold_compiled_partition& compiled);

tenfold_status_t give_count(const char* function, const tenfold_compiled_partition* compiled, std::size_t* count,
                            EndsOf ends_of) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"compiled", compiled}, {"count", count}}); !status.ok()) return status;
    *count = ends_of(*compiled).infos.size();
    return {};
  });
}

tenfold_status_t give_ends(const char* function, const tenfold_compiled_partition* compiled, const char* name,
                           std::size_t count, tenfold_logical_tensor_t* tensors, EndsOf ends_of) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"compiled", compiled}}); !status.ok()) return status;
    return give_tensors(ends_of(*compiled), name, count, tensors);
  });
}

using Inputs = CompiledPartition::Impl::Inputs;
using Outputs = CompiledPartition::Impl::Outputs;

/// Allocates nothing: the host's pool is made on the stack.
Status execute(const tenfold_compiled_partition* compiled, const tenfold_execute_options_t* given, Inputs in,
               Outputs out) {
  if (Status status = require({{"compiled", compiled}}); !status.ok()) return status;
  if ((in.data() == nullptr && !in.empty()) || (out.data() == nullptr && !out.empty()))
    return Status(Code::invalid_argument, "the array of pointers is null");
  const CompiledPartition::Impl& impl = compiled->partition.impl();  // NOLINT: require() has looked for null
  RunOptions how{compiled->pool.get(), compiled->threads, nullptr, 0};
  if (given == nullptr) return impl.execute(in, out, how);
  const Result<tenfold_execute_options_t> read = read_growing(*given, "options");
  if (!read.ok()) return read.status();
  const tenfold_execute_options_t& options = read.value();
  if (options.threads < 0)
    return Status(Code::invalid_argument,
                  "options: threads is " + std::to_string(options.threads) + "; it must be 0 or more");
  if (options.threads > 0) how.threads = options.threads;
  how.scratch = static_cast<std::byte*>(options.scratch);
  how.scratch_bytes = options.scratch_size;
  if (options.pool == nullptr) return impl.execute(in, out, how);
  const Result<tenfold_thread_pool_t> table = read_pool(*options.pool);
  if (!table.ok()) return table.status();
  HostPool pool(table.value());
  how.pool = &pool;
  return impl.execute(in, out, how);
}

std::vector<tenfold_inplace_port_t> inplace_ports(const CompiledPartition::Impl& impl) {
  std::vector<tenfold_inplace_port_t> ports;
  if (!impl.fixed) return ports;
  for (std::size_t o = 0; o < impl.outputs.size(); ++o)
    if (const std::size_t i = impl.fixed->in_place[o]; i != api::Specialisation::kNoInput)
      ports.push_back({impl.inputs[i].id, impl.outputs[o].id});
  return ports;
}

}  // namespace

}  // namespace tenfold::capi

using namespace tenfold;

tenfold_status_t tenfold_compiled_partition_retain(tenfold_compiled_partition_t compiled) {
  return capi::retain(__func__, compiled);
}

tenfold_status_t tenfold_compiled_partition_release(tenfold_compiled_partition_t* compiled) {
  return capi::release(__func__, compiled);
}

tenfold_status_t tenfold_compiled_partition_get_input_num(const_tenfold_compiled_partition_t compiled, size_t* count) {
  return capi::give_count(__func__, compiled, count, capi::inputs_of);
}

tenfold_status_t tenfold_compiled_partition_get_inputs(const_tenfold_compiled_partition_t compiled, size_t count,
                                                       tenfold_logical_tensor_t* inputs) {
  return capi::give_ends(__func__, compiled, "inputs", count, inputs, capi::inputs_of);
}

tenfold_status_t tenfold_compiled_partition_get_output_num(const_tenfold_compiled_partition_t compiled, size_t* count) {
  return capi::give_count(__func__, compiled, count, capi::outputs_of);
}

tenfold_status_t tenfold_compiled_partition_get_outputs(const_tenfold_compiled_partition_t compiled, size_t count,
                                                        tenfold_logical_tensor_t* outputs) {
  return capi::give_ends(__func__, compiled, "outputs", count, outputs, capi::outputs_of);
}

tenfold_status_t tenfold_compiled_partition_query_logical_tensor(const_tenfold_compiled_partition_t compiled,
                                                                 int64_t id, tenfold_logical_tensor_t* tensor) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}, {"tensor", tensor}}); !status.ok()) return status;
    for (const capi::Ends& ends : {capi::inputs_of(*compiled), capi::outputs_of(*compiled)})
      for (std::size_t i = 0; i < ends.infos.size(); ++i) {
        if (ends.infos[i].id != id) continue;
        *tensor = capi::tensor_of(ends.infos[i], ends.properties[i]);
        return {};
      }
    return Status(Code::invalid_argument,
                  "tensor " + std::to_string(id) + " is neither input nor output of the compiled partition");
  });
}

tenfold_status_t tenfold_compiled_partition_query_outputs(const_tenfold_compiled_partition_t compiled,
                                                          const void* const* inputs, size_t input_count,
                                                          tenfold_logical_tensor_t* outputs, size_t output_count) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}}); !status.ok()) return status;
    const Result<std::vector<TensorInfo>> infos = compiled->partition.query_outputs(inputs, input_count);
    if (!infos.ok()) return infos.status();
    const capi::Ends ends{infos.value(), compiled->partition.impl().output_properties};
    return capi::give_tensors(ends, "outputs", output_count, outputs);
  });
}

tenfold_status_t tenfold_compiled_partition_prepare(const_tenfold_compiled_partition_t compiled,
                                                    const void* const* inputs, size_t input_count) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}}); !status.ok()) return status;
    return compiled->partition.prepare(inputs, input_count);
  });
}

tenfold_status_t tenfold_compiled_partition_execute(const_tenfold_compiled_partition_t compiled,
                                                    const void* const* inputs, size_t input_count, void* const* outputs,
                                                    size_t output_count) {
  if (compiled != nullptr && compiled->partition.impl().execute_directly(inputs, input_count, outputs, output_count))
    return tenfold_success;
  return capi::answer(__func__, [&]() -> Status {
    return capi::execute(compiled, nullptr, {inputs, input_count}, {outputs, output_count});
  });
}

tenfold_status_t tenfold_compiled_partition_execute_with(const_tenfold_compiled_partition_t compiled,
                                                         const tenfold_execute_options_t* options,
                                                         const void* const* inputs, size_t input_count,
                                                         void* const* outputs, size_t output_count) {
  return capi::answer(__func__, [&]() -> Status {
    return capi::execute(compiled, options, {inputs, input_count}, {outputs, output_count});
  });
}

tenfold_status_t tenfold_compiled_partition_get_scratch_size(const_tenfold_compiled_partition_t compiled,
                                                             size_t* size) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}, {"size", size}}); !status.ok()) return status;
    *size = compiled->partition.impl().scratch_bytes();
    return {};
  });
}

tenfold_status_t tenfold_compiled_partition_get_inplace_port_num(const_tenfold_compiled_partition_t compiled,
                                                                 size_t* count) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}, {"count", count}}); !status.ok()) return status;
    *count = capi::inplace_ports(compiled->partition.impl()).size();
    return {};
  });
}

tenfold_status_t tenfold_compiled_partition_get_inplace_ports(const_tenfold_compiled_partition_t compiled, size_t count,
                                                              tenfold_inplace_port_t* ports) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}}); !status.ok()) return status;
    const std::vector<tenfold_inplace_port_t> pairs = capi::inplace_ports(compiled->partition.impl());
    if (Status status = capi::require_array("ports", ports, count, pairs.size()); !status.ok()) return status;
    std::copy(pairs.begin(), pairs.end(), ports);
    return {};
  });
}

tenfold_status_t tenfold_compiled_partition_get_explanation(const_tenfold_compiled_partition_t compiled,
                                                            const tenfold_allocator_t* allocator, char** text) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}, {"text", text}}); !status.ok()) return status;
    return capi::give_text(compiled->partition.explain(), allocator, text);
  });
}

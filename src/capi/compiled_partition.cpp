// SPDX-License-Identifier: Apache-2.0
//
// Compiled partitions: tenfold_compiled_partition_*.
#include <span>
#include <string>
#include <vector>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "capi/memory.hpp"
#include "capi/tensors.hpp"

namespace tenfold::capi {

namespace {

using Ends = const std::vector<TensorInfo>& (CompiledPartition::*)() const noexcept;

tenfold_status_t give_count(const char* function, const tenfold_compiled_partition* compiled, std::size_t* count,
                            Ends ends) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"compiled", compiled}, {"count", count}}); !status.ok()) return status;
    *count = (compiled->partition.*ends)().size();
    return {};
  });
}

tenfold_status_t give_ends(const char* function, const tenfold_compiled_partition* compiled, const char* name,
                           std::size_t count, tenfold_logical_tensor_t* tensors, Ends ends) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"compiled", compiled}}); !status.ok()) return status;
    return give_tensors(std::span((compiled->partition.*ends)()), name, count, tensors);
  });
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
  return capi::give_count(__func__, compiled, count, &CompiledPartition::inputs);
}

tenfold_status_t tenfold_compiled_partition_get_inputs(const_tenfold_compiled_partition_t compiled, size_t count,
                                                       tenfold_logical_tensor_t* inputs) {
  return capi::give_ends(__func__, compiled, "inputs", count, inputs, &CompiledPartition::inputs);
}

tenfold_status_t tenfold_compiled_partition_get_output_num(const_tenfold_compiled_partition_t compiled, size_t* count) {
  return capi::give_count(__func__, compiled, count, &CompiledPartition::outputs);
}

tenfold_status_t tenfold_compiled_partition_get_outputs(const_tenfold_compiled_partition_t compiled, size_t count,
                                                        tenfold_logical_tensor_t* outputs) {
  return capi::give_ends(__func__, compiled, "outputs", count, outputs, &CompiledPartition::outputs);
}

tenfold_status_t tenfold_compiled_partition_query_logical_tensor(const_tenfold_compiled_partition_t compiled,
                                                                 int64_t id, tenfold_logical_tensor_t* tensor) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}, {"tensor", tensor}}); !status.ok()) return status;
    for (const auto* ends : {&compiled->partition.inputs(), &compiled->partition.outputs()})
      for (const TensorInfo& info : *ends) {
        if (info.id != id) continue;
        *tensor = capi::tensor_of(info);
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
    return capi::give_tensors(std::span(infos.value()), "outputs", output_count, outputs);
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
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}}); !status.ok()) return status;
    return compiled->partition.execute(inputs, input_count, outputs, output_count);
  });
}

tenfold_status_t tenfold_compiled_partition_get_explanation(const_tenfold_compiled_partition_t compiled,
                                                            const tenfold_allocator_t* allocator, char** text) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}, {"text", text}}); !status.ok()) return status;
    return capi::give_text(compiled->partition.explain(), allocator, text);
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// From a partition to a compiled one: options are read, input tensors bound, and the log told what became of it.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.hpp"
#include "api/partition.hpp"
#include "capi/boundary.hpp"
#include "capi/growing.hpp"
#include "capi/handles.hpp"
#include "capi/log.hpp"
#include "capi/tensors.hpp"

namespace tenfold::capi {

namespace {

Result<tenfold_compile_options_t> read_options(const tenfold_compile_options_t* given) {
  if (given == nullptr) return tenfold_compile_options_t{};
  Result<tenfold_compile_options_t> read = read_growing(*given, "options");
  if (!read.ok()) return read;
  const tenfold_compile_options_t& options = read.value();
  if (options.no_fusion != 0 && options.no_fusion != 1)
    return Status(Code::invalid_argument,
                  "options: no_fusion is " + std::to_string(options.no_fusion) + "; it must be 0 or 1");
  if (options.input_count > 0 && options.inputs == nullptr)
    return Status(Code::invalid_argument, "options: 'inputs' is null");
  return read;
}

Result<std::unique_ptr<HostPool>> make_pool(const tenfold_thread_pool_t* given) {
  if (given == nullptr) return std::unique_ptr<HostPool>();
  const Result<tenfold_thread_pool_t> table = read_growing(*given, "pool");
  if (!table.ok()) return table.status();
  if (table.value().num_threads == nullptr || table.value().parallel_for == nullptr)
    return Status(Code::invalid_argument, "pool: 'num_threads' or 'parallel_for' is null");
  return std::make_unique<HostPool>(table.value());
}

/// Puts the caller's shapes and strides of inputs into the graph.
Status bind_inputs(graph::Graph& ir, std::span<const tenfold_logical_tensor_t> tensors) {
  if (tensors.size() > ir.inputs.size())
    return Status(Code::invalid_argument, "options: " + std::to_string(tensors.size()) + " inputs; the graph has " +
                                              std::to_string(ir.inputs.size()));
  std::vector<std::pair<TensorId, Dims>> shapes;
  std::vector<graph::Value> values;
  for (const tenfold_logical_tensor_t& tensor : tensors) {
    Result<graph::Value> value = value_of(tensor);
    if (!value.ok()) return Status(value.status().code(), "options: input " + value.status().message());
    if (!value.value().ranked)
      return Status(Code::invalid_shape, "options: input tensor " + std::to_string(tensor.id) + ": its rank is open");
    shapes.emplace_back(tensor.id, value.value().shape);
    values.push_back(std::move(value).value());
  }
  if (Status status = api::bind_input_shapes(ir, shapes); !status.ok()) return status;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const graph::ValueId v : ir.inputs) {
      if (ir.values[v].id != values[i].id) continue;
      if (ir.values[v].dtype != values[i].dtype)
        return Status(Code::invalid_dtype, "options: input tensor " + std::to_string(values[i].id) + " is " +
                                               std::string(to_string(values[i].dtype)) + "; in the graph it is " +
                                               std::string(to_string(ir.values[v].dtype)));
      if (tensors[i].layout_type == tenfold_layout_type_strided) ir.values[v].strides = values[i].strides;
    }
  return {};
}

void log_compiled(const CompiledPartition::Impl& impl, std::size_t ops, std::chrono::nanoseconds took) {
  if (log_wants(tenfold_log_warning) && impl.fixed)
    for (const compiler::RegionReport& region : impl.fixed->compiled.regions)
      if (region.kind == compiler::RegionReport::Kind::reference)
        for (const std::string& op : region.ops)
          log(tenfold_log_warning, op + " runs on the reference evaluator: " + region.reason);
  if (log_wants(tenfold_log_info))
    log(tenfold_log_info, "compiled " + std::to_string(ops) + " ops for " +
                              std::string(target::to_string(impl.target.isa)) + " in " +
                              std::to_string(took.count() / 1000) + " us");
}

Status compile_partition(tenfold_compiled_partition_t* out, const tenfold_partition& partition,
                         const tenfold_compile_options_t* given) {
  const auto start = std::chrono::steady_clock::now();
  const Result<tenfold_compile_options_t> read = read_options(given);
  if (!read.ok()) return read.status();
  const tenfold_compile_options_t& options = read.value();
  Result<std::unique_ptr<HostPool>> pool = make_pool(options.pool);
  if (!pool.ok()) return pool.status();

  CompileOptions wanted;
  if (options.isa != nullptr) wanted.target = options.isa;
  wanted.pool = pool.value().get();
  wanted.threads = options.threads;
  wanted.fuse = options.no_fusion == 0;
  Graph graph = partition.graph;
  if (options.input_count > 0) {
    auto bound = std::make_shared<graph::Graph>(graph.ir());
    if (Status status = bind_inputs(*bound, {options.inputs, options.input_count}); !status.ok()) return status;
    graph = Graph(std::move(bound));
  }
  Result<CompiledPartition> compiled = compile(graph, wanted);
  if (!compiled.ok()) return compiled.status();
  log_compiled(compiled.value().impl(), partition.graph.ir().ops.size(), std::chrono::steady_clock::now() - start);
  *out = std::make_unique<tenfold_compiled_partition>(std::move(pool).value(), std::move(compiled).value()).release();
  return {};
}

}  // namespace

}  // namespace tenfold::capi

tenfold_status_t tenfold_partition_compile(tenfold_compiled_partition_t* compiled, const_tenfold_partition_t partition,
                                           const tenfold_compile_options_t* options) {
  using namespace tenfold;
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"compiled", compiled}, {"partition", partition}}); !status.ok()) return status;
    return capi::compile_partition(compiled, *partition, options);
  });
}

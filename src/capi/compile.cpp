// SPDX-License-Identifier: Apache-2.0
//
// From a partition to a compiled one: options are read, input tensors bound, and the log told what became of it.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.hpp"
#include "api/partition.hpp"
#include "api/partition_cache.hpp"
#include "api/places.hpp"
#include "capi/boundary.hpp"
#include "capi/growing.hpp"
#include "capi/handles.hpp"
#include "capi/log.hpp"
#include "capi/tensors.hpp"

namespace tenfold::capi {

namespace {

Result<tenfold_compile_options_t> read_options(const tenfold_compile_options_t* given) {
  if (given == nullptr) return tenfold_compile_options_t{};
  Result<tenfold_compile_options_t> read =
      read_growing(*given, "options", offsetof(tenfold_compile_options_t, output_count));
  if (!read.ok()) return read;
  const tenfold_compile_options_t& options = read.value();
  if (options.no_fusion != 0 && options.no_fusion != 1)
    return Status(Code::invalid_argument,
                  "options: no_fusion is " + std::to_string(options.no_fusion) + "; it must be 0 or 1");
  if (options.input_count > 0 && options.inputs == nullptr)
    return Status(Code::invalid_argument, "options: 'inputs' is null");
  if (options.output_count > 0 && options.outputs == nullptr)
    return Status(Code::invalid_argument, "options: 'outputs' is null");
  return read;
}

Result<std::unique_ptr<HostPool>> make_pool(const tenfold_thread_pool_t* given) {
  if (given == nullptr) return std::unique_ptr<HostPool>();
  const Result<tenfold_thread_pool_t> table = read_pool(*given);
  if (!table.ok()) return table.status();
  return std::make_unique<HostPool>(table.value());
}

/// "; tensor 7 is none of them", for what makes them too many.
std::string extra_text(const graph::Graph& ir, const std::vector<graph::ValueId>& ends,
                       std::span<const tenfold_logical_tensor_t> tensors) {
  std::set<TensorId> left;
  for (const graph::ValueId v : ends) left.insert(ir.values[v].id);
  const std::set<TensorId> all = left;
  for (const tenfold_logical_tensor_t& tensor : tensors)
    if (left.erase(tensor.id) == 0)
      return "; tensor " + std::to_string(tensor.id) +
             (all.contains(tensor.id) ? " is given more than once" : " is none of them");
  return "";
}

/// Before anything reads the arrays, whose sizes may be garbage.
Status check_count(const graph::Graph& ir, const std::vector<graph::ValueId>& ends, const char* role,
                   const tenfold_logical_tensor_t* tensors, std::size_t count) {
  if (count <= ends.size()) return {};
  constexpr std::size_t kCredible = 1024;  ///< how many more than there are may be read, to name one
  const std::string extra = count - ends.size() <= kCredible ? extra_text(ir, ends, {tensors, count}) : "";
  return Status(Code::invalid_argument, "options: " + std::to_string(count) + " " + role + "s; the graph has " +
                                            std::to_string(ends.size()) + ": " + api::values_text(ir, ends) + extra);
}

Status check_counts(const graph::Graph& ir, const tenfold_compile_options_t& options) {
  Status status = check_count(ir, ir.inputs, "input", options.inputs, options.input_count);
  return status.ok() ? check_count(ir, ir.outputs, "output", options.outputs, options.output_count) : status;
}

/// Puts the caller's shapes, strides and properties of inputs into the graph.
Status bind_inputs(graph::Graph& ir, std::span<const tenfold_logical_tensor_t> tensors) {
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
  const api::Places places(ir, ir.inputs);
  for (std::size_t i = 0; i < values.size(); ++i) {
    graph::Value& input = ir.values[ir.inputs[places.find(values[i].id)]];  // api::bind_input_shapes() found them all
    if (input.dtype != values[i].dtype)
      return Status(Code::invalid_dtype, "options: input tensor " + std::to_string(values[i].id) + " is " +
                                             std::string(to_string(values[i].dtype)) + "; in the graph it is " +
                                             std::string(to_string(input.dtype)));
    input.property = values[i].property;
    if (says_strides(tensors[i])) input.strides = values[i].strides;
  }
  return {};
}

/// Puts the caller's wishes for outputs into the graph, whose shapes are inferred again and must agree.
Status bind_outputs(graph::Graph& ir, std::span<const tenfold_logical_tensor_t> tensors) {
  const api::Places places(ir, ir.outputs);
  for (const tenfold_logical_tensor_t& tensor : tensors) {
    const std::string what = "options: output tensor " + std::to_string(tensor.id);
    const Result<graph::Value> wish = value_of(tensor);
    if (!wish.ok()) return Status(wish.status().code(), "options: output " + wish.status().message());
    const std::size_t place = places.find(tensor.id);
    if (place == api::Places::kNowhere)
      return Status(Code::invalid_argument,
                    what + ": the partition has no such output; its outputs are " + api::values_text(ir, ir.outputs));
    graph::Value& value = ir.values[ir.outputs[place]];
    if (value.dtype != wish.value().dtype)
      return Status(Code::invalid_dtype, what + " is " + std::string(to_string(wish.value().dtype)) +
                                             "; in the graph it is " + std::string(to_string(value.dtype)));
    value.property = wish.value().property;
    if (!graph::is_static(wish.value())) continue;
    value.ranked = true;
    value.shape = wish.value().shape;
    if (says_strides(tensor)) value.strides = wish.value().strides;
  }
  return {};
}

void add_to_key(std::string& key, std::span<const tenfold_logical_tensor_t> tensors) {
  const auto add = [&](std::int64_t number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
  add(static_cast<std::int64_t>(tensors.size()));
  for (const tenfold_logical_tensor_t& tensor : tensors) {
    const auto rank = static_cast<std::size_t>(std::clamp(tensor.ndims, 0, TENFOLD_MAX_NDIMS));
    for (const std::int64_t number : {tensor.id, std::int64_t{tensor.ndims}, std::int64_t{tensor.data_type},
                                      std::int64_t{tensor.layout_type}, std::int64_t{tensor.property}})
      add(number);
    for (std::size_t i = 0; i < rank; ++i) add(tensor.dims[i]);
    if (tensor.layout_type == tenfold_layout_type_strided)
      for (std::size_t i = 0; i < rank; ++i) add(tensor.strides[i]);
  }
}

/// The partition's graph with the caller's inputs and outputs in it.
Result<Graph> bind(const tenfold_partition& partition, const tenfold_compile_options_t& options) {
  if (options.input_count == 0 && options.output_count == 0) return partition.graph;
  auto bound = std::make_shared<graph::Graph>(partition.graph.ir());
  if (Status status = bind_inputs(*bound, {options.inputs, options.input_count}); !status.ok()) return status;
  if (Status status = bind_outputs(*bound, {options.outputs, options.output_count}); !status.ok()) return status;
  return Graph(std::move(bound));
}

void log_warnings(const CompiledPartition::Impl& impl) {
  if (!log_wants(tenfold_log_warning)) return;
  if (impl.fixed)
    for (const compiler::RegionReport& region : impl.fixed->compiled.regions)
      if (region.kind == compiler::RegionReport::Kind::reference)
        for (const std::string& op : region.ops)
          log(tenfold_log_warning, op + " runs on the reference evaluator: " + region.reason);
  for (const std::string& notice : impl.notices) log(tenfold_log_warning, notice);
  if (impl.fixed)
    for (const std::string& notice : impl.fixed->compiled.notices) log(tenfold_log_warning, notice);
}

/// What the cache has was warned of when it was compiled.
void log_compiled(const CompiledPartition::Impl& impl, bool is_new, std::size_t ops, std::chrono::nanoseconds took) {
  if (is_new) log_warnings(impl);
  if (log_wants(tenfold_log_info))
    log(tenfold_log_info, (is_new ? "compiled " : "found ") + std::to_string(ops) + " ops" +
                              (is_new ? "" : ", compiled before,") + " for " +
                              std::string(target::to_string(impl.target.isa)) + " in " +
                              std::to_string(took.count() / 1000) + " us");
}

Status compile_partition(tenfold_compiled_partition_t* out, const tenfold_partition& partition,
                         const tenfold_compile_options_t* given) {
  const auto start = std::chrono::steady_clock::now();
  if (!partition.supported)
    return Status(Code::invalid_argument,
                  "the partition is not supported: " + graph::describe(partition.graph.ir().ops.at(0)));
  const Result<tenfold_compile_options_t> read = read_options(given);
  if (!read.ok()) return read.status();
  const tenfold_compile_options_t& options = read.value();
  if (Status status = check_counts(partition.graph.ir(), options); !status.ok()) return status;
  Result<std::unique_ptr<HostPool>> pool = make_pool(options.pool);
  if (!pool.ok()) return pool.status();

  CompileOptions wanted;
  if (options.isa != nullptr) wanted.target = options.isa;
  wanted.threads = options.threads;
  wanted.fuse = options.no_fusion == 0;
  if (options.tuning_file != nullptr) wanted.tuning_file = options.tuning_file;
  const Result<std::string> options_key = api::key_of(wanted);
  if (!options_key.ok()) return options_key.status();
  std::string key = partition.key + options_key.value();
  add_to_key(key, {options.inputs, options.input_count});
  add_to_key(key, {options.outputs, options.output_count});
  bool is_new = false;
  Result<CompiledPartition> compiled = api::partition_cache().find_or_make(key, partition.graph, [&]() {
    is_new = true;
    const Result<Graph> bound = bind(partition, options);
    return bound.ok() ? compile(bound.value(), wanted) : Result<CompiledPartition>(bound.status());
  });
  if (!compiled.ok()) return compiled.status();
  log_compiled(compiled.value().impl(), is_new, partition.graph.ir().ops.size(),
               std::chrono::steady_clock::now() - start);
  *out = std::make_unique<tenfold_compiled_partition>(std::move(pool).value(), options.threads,
                                                      std::move(compiled).value())
             .release();
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

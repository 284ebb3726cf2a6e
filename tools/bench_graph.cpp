// SPDX-License-Identifier: Apache-2.0
//
// `tenfold bench --graph FILE`: a graph file against the machine's roof for the same traffic, and against itself op by
// op.
#include <algorithm>
#include <cstdio>

#include "tenfold/tenfold.hpp"
#include "tools/bench.hpp"
#include "tools/graph_file.hpp"
#include "tools/run_inputs.hpp"

namespace tenfold::tools {
namespace {

/// A graph's tensors. The roof reads and writes tensors of its own, of the same sizes.
struct GraphCase {
  std::vector<FilledInput> inputs;
  std::vector<Tensor> outputs;
  Tensor read, write;
  std::int64_t read_bytes = 0, write_bytes = 0;
  std::vector<const void*> input_addresses;
  std::vector<void*> output_addresses;
};

/// Probes read 256 bytes at a time, and prefetch 4 KiB beyond the end.
Result<Tensor> probe_memory(std::int64_t bytes) { return make_tensor({DType::u8, {bytes + 8192}, {}}); }

Result<std::int64_t> total_bytes(const std::vector<TensorInfo>& infos) {
  std::int64_t total = 0;
  for (const TensorInfo& info : infos) {
    const Result<std::int64_t> bytes = span_bytes(info.desc);
    if (!bytes.ok()) return bytes.status();
    total += bytes.value();
  }
  return total;
}

Status allocate(const Graph& graph, const CompiledPartition& partition, GraphCase& made) {
  Result<std::vector<FilledInput>> inputs = make_inputs(graph.ir(), partition.inputs(), {}, 1);
  if (!inputs.ok()) return inputs.status();
  made.inputs = std::move(inputs).value();
  for (const FilledInput& input : made.inputs) made.input_addresses.push_back(input.tensor.data());
  const Result<std::vector<TensorInfo>> infos =
      partition.query_outputs(made.input_addresses.data(), made.input_addresses.size());
  if (!infos.ok()) return infos.status();
  for (const TensorInfo& info : infos.value()) {
    Result<Tensor> output = make_tensor(info.desc);
    if (!output.ok()) return output.status();
    made.outputs.push_back(std::move(output).value());
    made.output_addresses.push_back(made.outputs.back().data());
  }
  const Result<std::int64_t> read = total_bytes(partition.inputs()), written = total_bytes(infos.value());
  if (!read.ok()) return read.status();
  if (!written.ok()) return written.status();
  made.read_bytes = read.value();
  made.write_bytes = written.value();
  for (auto [bytes, memory] : {std::pair{made.read_bytes, &made.read}, std::pair{made.write_bytes, &made.write}}) {
    Result<Tensor> probe = probe_memory(bytes);
    if (!probe.ok()) return probe.status();
    *memory = std::move(probe).value();
  }
  return Status();
}

void print(const BenchOptions& options, const GraphCase& made, const std::vector<Timing>& timings, double roof) {
  const std::int64_t bytes = made.read_bytes + made.write_bytes;
  if (options.json) {
    Json json = json_answer("bench");
    json.update({{"graph", options.graph},
                 {"threads", options.threads},
                 {"read_bytes", made.read_bytes},
                 {"write_bytes", made.write_bytes},
                 {"contenders", timings_json(timings, bytes, roof)}});
    print_json(json);
    return;
  }
  std::printf("%s, reads %.3f MiB, writes %.3f MiB, %d thread%s\n", options.graph.c_str(),
              static_cast<double>(made.read_bytes) / (1 << 20), static_cast<double>(made.write_bytes) / (1 << 20),
              options.threads, options.threads == 1 ? "" : "s");
  print_timings(timings, bytes, roof);
}

}  // namespace

int run_bench_graph(const BenchOptions& options) {
  const Result<Graph> graph = read_graph_file(options.graph, "");
  if (!graph.ok()) return fail("bench", options.json, graph.status());
  CompileOptions compile_options;
  compile_options.target = options.target;
  compile_options.threads = options.threads;
  const Result<CompiledPartition> fused = compile(graph.value(), compile_options);
  if (!fused.ok()) return fail("bench", options.json, fused.status());
  compile_options.fuse = false;
  const Result<CompiledPartition> apart = compile(graph.value(), compile_options);
  if (!apart.ok()) return fail("bench", options.json, apart.status());
  GraphCase made;
  if (Status s = allocate(graph.value(), fused.value(), made); !s.ok()) return fail("bench", options.json, s);
  const auto run = [&made](const CompiledPartition& partition) {
    return partition.execute(made.input_addresses.data(), made.input_addresses.size(), made.output_addresses.data(),
                             made.output_addresses.size());
  };
  if (Status s = run(fused.value()); !s.ok()) return fail("bench", options.json, s);
  // Beside what is read, a row of results is too little to count.
  const bool only_reads = made.write_bytes * 16 < made.read_bytes;
  std::vector<Contender> contenders =
      only_reads ? read_probes(made.read.data(), (made.read_bytes + 255) / 256 * 256)
                 : copy_probes(made.read.data(), made.read_bytes, made.write.data(), made.write_bytes);
  const std::size_t probes = contenders.size();
  contenders.push_back({"tenfold", [&] { (void)run(fused.value()); }});
  contenders.push_back({"tenfold, op by op", [&] { (void)run(apart.value()); }});
  const std::vector<Timing> timings = measure(contenders, options.seconds);
  print(options, made, timings, roof_seconds(timings, probes));
  return kExitOk;
}

}  // namespace tenfold::tools

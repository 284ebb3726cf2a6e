// SPDX-License-Identifier: Apache-2.0
#include "tools/bench.hpp"

#include <cstdio>

#include "tools/bench_case.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {
namespace {

constexpr std::int64_t kProbeStep = 256;

void print_table(const BenchOptions& options, const BenchCase& made, const std::vector<Timing>& timings, double roof) {
  std::printf("%s %s [%s] axes [%s], %.3f MiB, %d thread%s\n", options.op.c_str(), options.dtype.c_str(),
              options.shape.c_str(), options.axes.c_str(), static_cast<double>(made.input_bytes) / (1 << 20),
              options.threads, options.threads == 1 ? "" : "s");
  print_timings(timings, made.input_bytes, roof);
}

void print_answer(const BenchOptions& options, const BenchCase& made, const std::vector<Timing>& timings, double roof) {
  Json json = json_answer("bench");
  json.update({{"op", options.op},
               {"dtype", options.dtype},
               {"shape", made.in.shape},
               {"axes", made.axes},
               {"keep_dims", options.keep_dims},
               {"with_extreme", options.with_extreme},
               {"threads", options.threads},
               {"bytes", made.input_bytes},
               {"contenders", timings_json(timings, made.input_bytes, roof)}});
  print_json(json);
}

/// There is no file to blame: what is not legal comes from the options.
int fail_of_options(const BenchOptions& options, const Status& status) {
  const ExitCode code = exit_code_of(status);
  return fail("bench", options.json, status, code == kExitBadFile ? kExitUsage : code);
}

}  // namespace

int run_bench(const BenchOptions& options) {
  if (!options.graph.empty()) return run_bench_graph(options);
  Result<BenchCase> made = make_bench_case(options);
  if (!made.ok()) return fail_of_options(options, made.status());
  const BenchCase& bench = made.value();
  Result<CompiledPartition> partition = compile_bench_case(options, bench);
  if (!partition.ok()) return fail_of_options(options, partition.status());
  const std::vector<const void*> inputs{bench.input.get()};
  const std::vector<void*> outputs = bench.output_addresses();
  const Status first = partition.value().execute(inputs.data(), inputs.size(), outputs.data(), outputs.size());
  if (!first.ok()) return fail("bench", options.json, first);

  const std::int64_t probed = (bench.input_bytes + kProbeStep - 1) / kProbeStep * kProbeStep;
  std::vector<Contender> contenders = read_probes(bench.input.get(), probed);
  const std::size_t probes = contenders.size();
  contenders.push_back({"tenfold", [&] {
                          (void)partition.value().execute(inputs.data(), inputs.size(), outputs.data(), outputs.size());
                        }});
  Result<Contender> rival =
      onednn_reduction({options.op, bench.in, bench.kept_shape, bench.input.get(), options.threads});
  if (rival.ok()) contenders.push_back(rival.value());

  const std::vector<Timing> timings = measure(contenders, options.seconds);
  const double roof = roof_seconds(timings, probes);
  if (options.json) {
    print_answer(options, bench, timings, roof);
    return kExitOk;
  }
  print_table(options, bench, timings, roof);
  if (!rival.ok()) std::printf("  oneDNN: NOT RUN: %s\n", rival.status().message().c_str());
  return kExitOk;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
#include "tools/bench.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "schemas/op_table.hpp"
#include "tenfold/tenfold.hpp"
#include "tools/report.hpp"
#include "tools/run_inputs.hpp"

namespace tenfold::tools {
namespace {

constexpr std::int64_t kProbeStep = 256;
constexpr std::int64_t kPrefetchSlack = 8192;

Status usage(const std::string& message) { return Status(Code::invalid_argument, message); }

/// "0,2" as integers; an empty text is no axes.
Result<Dims> parse_axes(const std::string& text) {
  Dims list;
  if (text.empty()) return list;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != ','))
      return usage("--axes '" + text + "' is not integers separated by commas, such as 0,2");
    list.push_back(value);
    if (next == end) return list;
    at = next + 1;
  }
}

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<void, FreeDeleter>;

Buffer allocate(std::int64_t bytes) {
  const std::size_t size = static_cast<std::size_t>((bytes + kPrefetchSlack + 4095) / 4096 * 4096);
  return Buffer(std::aligned_alloc(4096, size));
}

/// Ordinary values near 1 of both signs: what is measured must not depend on denormals or overflow.
void fill(void* data, DType dtype, std::int64_t count) {
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const float value = (bits & 1 ? 1.0F : -1.0F) * (0.5F + static_cast<float>(bits >> 41) * 0x1p-23F);
    std::uint32_t word = 0;
    static_assert(sizeof word == sizeof value);
    std::copy_n(reinterpret_cast<const char*>(&value), sizeof value, reinterpret_cast<char*>(&word));
    if (dtype == DType::f32) {
      static_cast<std::uint32_t*>(data)[i] = word;
    } else if (dtype == DType::bf16) {
      static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(word >> 16);
    } else {
      // 0.5 to 1.5 as f16: rebias the exponent, keep ten bits of the mantissa.
      const std::uint32_t magnitude = ((word & 0x7fffffff) - 0x38000000) >> 13;
      static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>((word >> 31) << 15 | magnitude);
    }
  }
}

struct Case {
  TensorDesc in;
  Dims axes;
  Dims kept_shape;  ///< reduced dims as 1
  Buffer input, output;
  std::int64_t input_bytes = 0;
};

Result<Case> make_case(const BenchOptions& options) {
  Case made;
  if (options.op.rfind("Reduce", 0) != 0 || schemas::find_op(schemas::Dialect::onednn, options.op) == nullptr)
    return usage("--op '" + options.op + "' is no reduction; 'tenfold ops --dialect onednn' lists them");
  const std::optional<DType> dtype = dtype_from_name(options.dtype);
  if (!dtype || (*dtype != DType::f32 && *dtype != DType::bf16 && *dtype != DType::f16))
    return usage("--dtype '" + options.dtype + "' is none of f32, bf16, f16");
  Result<Dims> shape = parse_shape(options.shape);
  if (!shape.ok()) return shape.status();
  Result<Dims> axes = parse_axes(options.axes);
  if (!axes.ok()) return axes.status();
  made.in = {*dtype, shape.value(), {}};
  made.axes = axes.value();
  const Result<std::int64_t> bytes = span_bytes(made.in);
  if (!bytes.ok()) return bytes.status();
  if (bytes.value() == 0) return usage("--shape '" + options.shape + "' has no element");
  made.input_bytes = bytes.value();
  made.kept_shape = made.in.shape;
  const std::int64_t rank = static_cast<std::int64_t>(made.in.shape.size());
  for (const std::int64_t axis : made.axes)
    if (axis >= -rank && axis < rank) made.kept_shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = 1;
  made.input = allocate(made.input_bytes);
  made.output = allocate(made.input_bytes);
  if (!made.input || !made.output) return Status(Code::out_of_memory, "no memory for the tensors");
  fill(made.input.get(), *dtype, made.input_bytes / byte_size(*dtype));
  return made;
}

Result<CompiledPartition> compile_case(const BenchOptions& options, const Case& made) {
  GraphBuilder builder;
  const TensorId x = builder.input(made.in);
  builder.op(options.op, {x}, {{"axes", made.axes}, {"keep_dims", options.keep_dims}});
  Result<Graph> graph = builder.finish();
  if (!graph.ok()) return graph.status();
  CompileOptions compile_options;
  compile_options.target = options.target;
  compile_options.threads = options.threads;
  return compile(graph.value(), compile_options);
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-6) {
    std::snprintf(text, sizeof text, "%.1f ns", seconds * 1e9);
  } else if (seconds < 1e-3) {
    std::snprintf(text, sizeof text, "%.3f us", seconds * 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.3f ms", seconds * 1e3);
  }
  return text;
}

/// Seconds of the fastest probe; 0 when the machine has none.
double roof_seconds(const std::vector<Timing>& timings, std::size_t probes) {
  double roof = 0;
  for (std::size_t i = 0; i < probes; ++i)
    if (roof == 0 || timings[i].least < roof) roof = timings[i].least;
  return roof;
}

void print_table(const BenchOptions& options, const Case& made, const std::vector<Timing>& timings, double roof) {
  std::printf("%s %s [%s] axes [%s], %.3f MiB, %d thread%s\n", options.op.c_str(), options.dtype.c_str(),
              options.shape.c_str(), options.axes.c_str(), static_cast<double>(made.input_bytes) / (1 << 20),
              options.threads, options.threads == 1 ? "" : "s");
  std::printf("  %-28s %12s %12s %9s %8s\n", "", "least", "median", "GB/s", "of roof");
  for (const Timing& timing : timings) {
    std::printf("  %-28s %12s %12s %9.2f", timing.name.c_str(), time_text(timing.least).c_str(),
                time_text(timing.median).c_str(), static_cast<double>(made.input_bytes) / timing.least * 1e-9);
    if (roof > 0) std::printf(" %8.3f", roof / timing.least);
    std::printf("\n");
  }
}

void print_answer(const BenchOptions& options, const Case& made, const std::vector<Timing>& timings, double roof) {
  Json json = json_answer("bench");
  json.update({{"op", options.op},
               {"dtype", options.dtype},
               {"shape", made.in.shape},
               {"axes", made.axes},
               {"keep_dims", options.keep_dims},
               {"threads", options.threads},
               {"bytes", made.input_bytes}});
  for (const Timing& timing : timings)
    json["contenders"].push_back({{"name", timing.name},
                                  {"least_seconds", timing.least},
                                  {"median_seconds", timing.median},
                                  {"batches", timing.batches},
                                  {"bytes_per_second", static_cast<double>(made.input_bytes) / timing.least},
                                  {"of_roof", roof > 0 ? Json(roof / timing.least) : Json()}});
  print_json(json);
}

/// There is no file to blame: what is not legal comes from the options.
int fail_of_options(const BenchOptions& options, const Status& status) {
  const ExitCode code = exit_code_of(status);
  return fail("bench", options.json, status, code == kExitBadFile ? kExitUsage : code);
}

}  // namespace

int run_bench(const BenchOptions& options) {
  Result<Case> made = make_case(options);
  if (!made.ok()) return fail_of_options(options, made.status());
  const Case& bench = made.value();
  Result<CompiledPartition> partition = compile_case(options, bench);
  if (!partition.ok()) return fail_of_options(options, partition.status());
  const Status first = partition.value().execute({bench.input.get()}, {bench.output.get()});
  if (!first.ok()) return fail("bench", options.json, first);

  const std::int64_t probed = (bench.input_bytes + kProbeStep - 1) / kProbeStep * kProbeStep;
  std::vector<Contender> contenders = read_probes(bench.input.get(), probed);
  const std::size_t probes = contenders.size();
  contenders.push_back(
      {"tenfold", [&] { (void)partition.value().execute({bench.input.get()}, {bench.output.get()}); }});
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

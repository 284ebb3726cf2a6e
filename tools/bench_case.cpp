// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_case.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <random>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "tenfold/tenfold.hpp"
#include "tools/run_inputs.hpp"

namespace tenfold::tools {
namespace {

constexpr std::int64_t kPrefetchSlack = 8192;

struct OpRow {
  std::string_view name;  ///< in oneDNN's dialect or in ONNX's
  std::string_view core;  ///< core.reduce's reduction, or core.arg_reduce's mode
  bool is_index = false;
};
constexpr std::array<OpRow, 12> kOps{{
    {"ArgMax", "argmax", true},
    {"ArgMin", "argmin", true},
    {"ReduceL1", "l1"},
    {"ReduceL2", "l2"},
    {"ReduceLogSum", "log_sum"},
    {"ReduceLogSumExp", "log_sum_exp"},
    {"ReduceMax", "max"},
    {"ReduceMean", "mean"},
    {"ReduceMin", "min"},
    {"ReduceProd", "prod"},
    {"ReduceSum", "sum"},
    {"ReduceSumSquare", "sum_square"},
}};

const OpRow* find_row(std::string_view name) {
  const auto* const row = std::find_if(kOps.begin(), kOps.end(), [name](const OpRow& r) { return r.name == name; });
  return row == kOps.end() ? nullptr : row;
}

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

BenchBuffer allocate(std::int64_t bytes) {
  const std::size_t size = static_cast<std::size_t>((bytes + kPrefetchSlack + 4095) / 4096 * 4096);
  return BenchBuffer(std::aligned_alloc(4096, size));
}

/// Of either sign, with a magnitude in [0.5, 1.5), as `dtype` has it; integers are random bits.
std::uint64_t element_bits(DType dtype, std::uint64_t random) {
  const float value = (random & 1 ? 1.0F : -1.0F) * (0.5F + static_cast<float>(random >> 41) * 0x1p-23F);
  const double wide = value;
  std::uint32_t word = 0;
  std::uint64_t bits = 0;
  std::memcpy(&word, &value, sizeof word);
  std::memcpy(&bits, &wide, sizeof bits);
  switch (dtype) {
    case DType::f64: return bits;
    case DType::f32: return word;
    case DType::bf16: return word >> 16;
    // Rebias the exponent, keep ten bits of the mantissa.
    case DType::f16: return (word >> 31) << 15 | ((word & 0x7fffffff) - 0x38000000) >> 13;
    case DType::boolean: return random & 1;
    default: return random;
  }
}

/// Ordinary values: what is measured must not depend on denormals or overflow.
void fill(std::byte* data, DType dtype, std::int64_t count) {
  std::mt19937_64 random(1);
  const std::size_t size = static_cast<std::size_t>(byte_size(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = element_bits(dtype, random());
    std::memcpy(data + static_cast<std::size_t>(i) * size, &bits, size);
  }
}

bool has_kernels(DType dtype) {
  return dtype != DType::undef && row(dtype).bits >= 8 && dtype != DType::f8_e5m2 && dtype != DType::f8_e4m3;
}

graph::ValueId add_value(graph::Graph& graph, DType dtype, const Dims& shape, bool ranked) {
  graph::Value value;
  value.id = static_cast<std::int64_t>(graph.values.size());
  value.dtype = dtype;
  value.ranked = ranked;
  value.shape = shape;
  graph.values.push_back(std::move(value));
  return static_cast<graph::ValueId>(graph.values.size() - 1);
}

void add_op(graph::Graph& graph, const OpRow& row, const BenchOptions& options, const BenchCase& made) {
  graph::Op op;
  op.id = static_cast<std::int64_t>(graph.ops.size());
  op.name = options.op;
  op.dialect = graph::Dialect::core;
  op.kind = row.is_index ? "arg_reduce" : "reduce";
  op.attributes = {{row.is_index ? "mode" : "reduction", std::string(row.core)}, {"keep_dims", options.keep_dims}};
  if (row.is_index) {
    op.attributes.push_back({"axis", made.axes[0]});
  } else {
    op.attributes.push_back({"axes", made.axes});
  }
  op.inputs = {0};
  op.outputs = {add_value(graph, row.is_index ? DType::s64 : made.in.dtype, {}, false)};
  graph.ops.push_back(std::move(op));
}

}  // namespace

std::vector<void*> BenchCase::output_addresses() const {
  std::vector<void*> addresses;
  for (const BenchBuffer& output : outputs) addresses.push_back(output.get());
  return addresses;
}

Result<BenchCase> make_bench_case(const BenchOptions& options) {
  BenchCase made;
  const OpRow* const op = find_row(options.op);
  if (op == nullptr)
    return usage("--op '" + options.op + "' is no reduction, such as ReduceMax, ReduceLogSumExp or ArgMax");
  if (options.with_extreme && !op->is_index) return usage("--with-extreme is for ArgMax and ArgMin");
  const std::optional<DType> dtype = dtype_from_name(options.dtype);
  if (!dtype || !has_kernels(*dtype))
    return usage("--dtype '" + options.dtype + "' is none of f32, f64, bf16, f16, s8 to s64, u8 to u64, boolean");
  Result<Dims> shape = parse_shape(options.shape);
  if (!shape.ok()) return shape.status();
  Result<Dims> axes = parse_axes(options.axes);
  if (!axes.ok()) return axes.status();
  made.in = {*dtype, shape.value(), {}};
  made.axes = axes.value();
  if (op->is_index && made.axes.size() != 1)
    return usage("--axes '" + options.axes + "' is not the one axis that " + options.op + " has");
  const Result<std::int64_t> bytes = span_bytes(made.in);
  if (!bytes.ok()) return bytes.status();
  if (bytes.value() == 0) return usage("--shape '" + options.shape + "' has no element");
  made.input_bytes = bytes.value();
  made.kept_shape = made.in.shape;
  const std::int64_t rank = static_cast<std::int64_t>(made.in.shape.size());
  for (const std::int64_t axis : made.axes)
    if (axis >= -rank && axis < rank) made.kept_shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = 1;
  const std::int64_t elements = made.input_bytes / byte_size(*dtype);
  made.input = allocate(made.input_bytes);
  made.outputs.push_back(allocate(elements * (op->is_index ? 8 : byte_size(*dtype))));
  if (options.with_extreme) made.outputs.push_back(allocate(made.input_bytes));
  if (!made.input || std::any_of(made.outputs.begin(), made.outputs.end(), [](const auto& out) { return !out; }))
    return Status(Code::out_of_memory, "no memory for the tensors");
  fill(static_cast<std::byte*>(made.input.get()), *dtype, elements);
  return made;
}

Result<CompiledPartition> compile_bench_case(const BenchOptions& options, const BenchCase& made) {
  graph::Graph core;
  add_value(core, made.in.dtype, made.in.shape, true);
  add_op(core, *find_row(options.op), options, made);
  if (options.with_extreme) add_op(core, *find_row(options.op == "ArgMax" ? "ReduceMax" : "ReduceMin"), options, made);
  graph::connect(core);
  CompileOptions compile_options;
  compile_options.target = options.target;
  compile_options.threads = options.threads;
  return compile(Graph(std::make_shared<const graph::Graph>(std::move(core))), compile_options);
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// Stores around the caches: they ask for outputs that begin with lines, which a kernel sees when it runs. Wherever an
// output begins, how long its rows are, and where it is its own input, the bits are those of stores through the caches.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "compile/compile.hpp"
#include "compile/tuning.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::byte kUntouched{0xa5};

/// An output of a whole tensor that begins `offset` bytes after a line.
struct Buffer {
  Buffer(std::size_t own, std::size_t offset) : bytes(own + 2 * kLine, kUntouched), size(own) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(bytes.data()) % kLine;
    data = bytes.data() + (kLine - past) % kLine + offset;
  }
  std::vector<std::byte> bytes;
  std::size_t size;
  std::byte* data;
};

std::string elementwise(std::int64_t rows, std::int64_t columns) {
  const std::string shape = "f32[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
  return "graph {\n %0 = input : " + shape + "\n %1 = core.map (%0, %0) {function = \"mul\"} : " + shape +
         "\n output %1\n}\n";
}

std::string less_the_max(const std::string& shape, const std::string& axis, const std::string& reduced) {
  return "graph {\n %0 = input : " + shape +
         "\n %1 = core.reduce (%0) {reduction = \"max\", keep_dims = true, axes = [" + axis + "]} : " + reduced +
         "\n %2 = core.map (%0, %1) {function = \"sub\"} : " + shape + "\n output %2\n}\n";
}

std::string columns_less_their_max(std::int64_t rows, std::int64_t columns) {
  const std::string row = "," + std::to_string(columns) + "]";
  return less_the_max("f32[" + std::to_string(rows) + row, "0", "f32[1" + row);
}

std::string rows_less_their_max(std::int64_t rows, std::int64_t columns) {
  const std::string first = "f32[" + std::to_string(rows) + ",";
  return less_the_max(first + std::to_string(columns) + "]", "1", first + "1]");
}

std::string reduced_columns(const std::string& op, const std::string& to, std::int64_t rows, std::int64_t columns) {
  const std::string row = std::to_string(columns) + "]";
  return "graph {\n %0 = input : f32[" + std::to_string(rows) + "," + row + "\n %1 = core." + op +
         ", keep_dims = false} : " + to + "[" + row + "\n output %1\n}\n";
}

std::string max_of_columns(std::int64_t rows, std::int64_t columns) {
  return reduced_columns("reduce (%0) {reduction = \"max\", axes = [0]", "f32", rows, columns);
}
std::string sum_of_columns(std::int64_t rows, std::int64_t columns) {
  return reduced_columns("reduce (%0) {reduction = \"sum\", axes = [0]", "f32", rows, columns);
}
std::string places_in_columns(std::int64_t rows, std::int64_t columns) {
  return reduced_columns("arg_reduce (%0) {mode = \"argmax\", axis = 0, select_last = false", "s64", rows, columns);
}

struct Kind {
  const char* name;
  std::string (*text)(std::int64_t rows, std::int64_t columns);
  std::int64_t rows = 19, least_columns = 0;
  std::int64_t output_bytes = 0;  ///< of a column; 0: outputs are as large as inputs, and may be these
  int stored = 1;                 ///< rows of columns that are stored at a time
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

/// Around: of any columns, though the heuristic only wants it where all rows lie on lines.
Result<compiler::Compiled> compile(const std::string& text, target::Isa isa, bool around, int stored) {
  Result<graph::Graph> graph = graph::parse(text);
  if (!graph.ok()) return graph.status();
  if (Status status = graph::run_pipeline(graph.value()); !status.ok()) return status;
  target::Target target;
  target.isa = isa;
  if (around) target.l2_bytes = target.l3_bytes = 0, target.l3 = target::L3::far;
  Result<compiler::Compiled> compiled = compiler::compile(graph.value(), target);
  if (!compiled.ok() || !around) return compiled;
  compiler::Tuning tuning;
  for (const compiler::RegionReport& region : compiled.value().regions)
    for (const compiler::KernelReport& kernel : region.kernels) {
      schedule::Schedule wanted = kernel.schedule;
      wanted.around = true;
      wanted.stored = stored;
      tuning.add(kernel.spec, target.cores, wanted);
    }
  return compiler::compile(graph.value(), target, {.tuning = &tuning});
}

bool goes_around(const compiler::Compiled& compiled, int stored) {
  return std::ranges::any_of(compiled.regions, [stored](const compiler::RegionReport& region) {
    return std::ranges::any_of(region.kernels, [stored](const auto& kernel) {
      return kernel.schedule.around && kernel.schedule.stored == stored;
    });
  });
}

class Around : public ::testing::TestWithParam<Kind> {
 protected:
  static Status run(const compiler::Compiled& compiled, target::Isa isa, Buffer& in, Buffer& out) {
    const Bytes in_bytes{in.data, in.size}, out_bytes{out.data, out.size};
    return run_at(compiled.program, isa, {&in_bytes, 1}, {&out_bytes, 1});
  }

  void expect_equal_bits(target::Isa isa, std::int64_t columns, std::size_t offset) {
    const Kind& kind = GetParam();
    const std::string text = kind.text(kind.rows, columns);
    const Result<compiler::Compiled> through = compile(text, isa, false, 1),
                                     around = compile(text, isa, true, kind.stored);
    ASSERT_TRUE(through.ok()) << through.status().message();
    ASSERT_TRUE(around.ok()) << around.status().message();
    EXPECT_FALSE(goes_around(through.value(), 1));
    EXPECT_TRUE(goes_around(around.value(), kind.stored));
    const auto of_input = static_cast<std::size_t>(4 * kind.rows * columns);
    const std::size_t size = kind.output_bytes > 0 ? static_cast<std::size_t>(kind.output_bytes * columns) : of_input;
    Buffer in(of_input, 0), expected(size, offset), got(size, offset);
    std::mt19937_64 random(test_seed());
    for (std::size_t i = 0; i < of_input; i += 4) {
      const auto value = static_cast<float>(static_cast<double>(random()) * 0x1p-63 - 1);
      std::memcpy(in.data + i, &value, 4);
    }
    ASSERT_TRUE(run(through.value(), isa, in, expected).ok());
    const Status status = run(around.value(), isa, in, got);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(std::memcmp(expected.data, got.data, size), 0);
    EXPECT_EQ(std::count(got.bytes.data(), got.data, kUntouched), got.data - got.bytes.data());
    EXPECT_EQ(got.data[size], kUntouched);
    if (kind.output_bytes > 0 || std::ranges::count(native_levels(), isa) == 0) return;
    ASSERT_TRUE(run(around.value(), isa, in, in).ok());
    EXPECT_EQ(std::memcmp(expected.data, in.data, size), 0) << "in place";
  }
};

TEST_P(Around, BitsDoNotDependOnWhereAnOutputBegins) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  for (const target::Isa isa : all_levels())
    for (const std::int64_t columns : {16, 48, 50, 72, 1040})
      for (const std::size_t offset : {std::size_t{0}, std::size_t{4}, std::size_t{32}}) {
        SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + std::to_string(columns) +
                     " columns and the least, offset " + std::to_string(offset) + ", seed " +
                     std::to_string(test_seed()));
        expect_equal_bits(isa, GetParam().least_columns + columns, offset);
      }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Around,
    ::testing::Values(Kind{"flat", &elementwise}, Kind{"columns", &columns_less_their_max},
                      Kind{"eight_rows_of_columns", &columns_less_their_max, 19, 0, 0, 8},
                      Kind{"rows", &rows_less_their_max, 19, 1024}, Kind{"rows_in_turns", &rows_less_their_max},
                      Kind{"max_of_few", &max_of_columns, 5, 0, 4}, Kind{"sum_of_few", &sum_of_columns, 2, 0, 4},
                      Kind{"max", &max_of_columns, 19, 1024, 4}, Kind{"sum", &sum_of_columns, 33, 1024, 4},
                      Kind{"places_in_few", &places_in_columns, 3, 0, 8},
                      Kind{"places", &places_in_columns, 19, 1024, 8}),
    [](const auto& at) { return std::string(at.param.name); });

}  // namespace
}  // namespace tenfold::numeric

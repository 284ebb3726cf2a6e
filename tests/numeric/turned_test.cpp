// SPDX-License-Identifier: Apache-2.0
//
// Short rows, and blocks of short columns, which are turned tile by tile so that lanes run across them: their bits are
// those of the same numbers that lie in memory as columns, for every width and number of rows, with gaps between rows
// or without; and buffers end at pages that cannot be touched.
#include "schedule/turned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::int64_t kMostWidth = 64;

/// What is computed, of elements of which type, into elements of which.
struct Chain {
  const char* name;
  DType in, out;
};

/// `rows` blocks of `width` times `kept` elements: the dims of a tensor are these, or as columns the first one comes
/// last. The middle one is reduced.
struct Space {
  std::int64_t rows, width, kept;
  bool as_columns;

  std::int64_t block() const { return width * kept; }
  std::string dims(std::int64_t of_rows, std::int64_t of_width, std::int64_t of_kept) const {
    const std::string first = std::to_string(of_rows), rest = std::to_string(of_width) + "," + std::to_string(of_kept);
    return as_columns ? "[" + rest + "," + first + "]\n" : "[" + first + "," + rest + "]\n";
  }
};

/// Two outputs: elements, and a value of each row. Of two inputs the second one has a number for each element of a row.
std::string graph_of(const Chain& chain, const Space& space) {
  const bool wide = chain.in == DType::f64;
  const std::string real = wide ? " : f64" : " : f32", in = " : " + std::string(to_string(chain.in)),
                    out = " : " + std::string(to_string(chain.out));
  const std::string all = space.dims(space.rows, space.width, space.kept), row = space.dims(space.rows, 1, space.kept),
                    weights = space.dims(1, space.width, space.kept);
  std::string text = "graph {\n %0 = input" + in + all + " %1 = input" + real + weights;
  int next = 2;
  const auto add = [&](const std::string& op, const std::string& type) {
    text += " %" + std::to_string(next) + " = core." + op + type;
    return "%" + std::to_string(next++);
  };
  const auto cast = [&](const std::string& x, const std::string& type) { return add("cast (" + x + ")", type); };
  const auto map = [&](const std::string& function, const std::string& of, const std::string& shape) {
    return add("map (" + of + ") {function = \"" + function + "\"}", real + shape);
  };
  const auto reduce = [&](const std::string& monoid, const std::string& x) {
    const std::string axis = space.as_columns ? "0" : "1";
    return add("reduce (" + x + ") {reduction = \"" + monoid + "\", keep_dims = true, axes = [" + axis + "]}",
               real + row);
  };
  const auto end = [&](const std::string& elements, const std::string& of_row) {
    return text + " output " + elements + ", " + of_row + "\n}\n";
  };
  const std::string x = real == in ? "%0" : cast("%0", real + all), what = chain.name;
  const auto to_out = [&](const std::string& y) { return real == out ? y : cast(y, out + all); };
  if (what == "normalize") {
    const std::string centred = map("sub", x + ", " + reduce("mean", x), all);
    const std::string deviation = map("sqrt", reduce("mean", map("square", centred, all)), row);
    const std::string scaled = map("mul", map("div", centred + ", " + deviation, all) + ", %1", all);
    return end(to_out(scaled), deviation);
  }
  const std::string greatest = reduce("max", x);
  if (what == "scale") return end(to_out(map("mul", map("div", x + ", " + greatest, all) + ", %1", all)), greatest);
  const std::string exponential = map("exp", map("sub", x + ", " + greatest, all), all);
  const std::string sum = reduce("sum", exponential);
  return end(to_out(map("mul", map("div", exponential + ", " + sum, all) + ", %1", all)),
             map("add", map("log", sum, row) + ", " + greatest, row));
}

/// Compiled, with `pitch` elements from a row to the next one.
void compile(const Chain& chain, const Space& space, std::int64_t pitch, target::Isa isa,
             std::optional<compiler::Compiled>& made) {
  const std::string text = graph_of(chain, space);
  Result<graph::Graph> graph = graph::parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message() << text;
  if (!space.as_columns && pitch != space.block())
    for (const graph::ValueId id : {graph.value().inputs[0], graph.value().outputs[0]})
      graph.value().values[id].strides = {pitch, space.kept, 1};
  ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
  target::Target target;
  target.isa = isa;
  Result<compiler::Compiled> compiled = compiler::compile(graph.value(), target);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  ASSERT_EQ(compiled.value().regions.size(), 1U);
  ASSERT_EQ(compiled.value().regions[0].kernels.size(), 1U);
  const schedule::Schedule& schedule = compiled.value().regions[0].kernels[0].schedule;
  EXPECT_EQ(schedule.nest, schedule::Nest::staged_columns) << print(schedule);
  const bool are_columns = space.as_columns || schedule::fill_lanes(compiled.value().regions[0].kernels[0].spec, isa);
  EXPECT_EQ(schedule.width, are_columns ? 0 : space.block()) << print(schedule);
  made.emplace(std::move(compiled).value());
}

/// Elements about 0, some rows of equal ones, and now and then something that is no ordinary number.
Elements input_of(DType dtype, const Space& space, std::mt19937_64& random) {
  constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(), 0x1p-140, -0.0};
  const auto count = static_cast<std::size_t>(space.rows * space.block());
  Elements in(count * static_cast<std::size_t>(byte_size(dtype)));
  for (std::int64_t row = 0; row < space.rows; ++row) {
    const bool equal = random() % 8 == 0, has_special = is_floating(dtype) && random() % 4 == 0;
    const auto special = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.block()));
    for (std::int64_t column = 0; column < space.block(); ++column) {
      double value = equal ? 2.5 : static_cast<double>(random() >> 16) * 0x1p-44 - (dtype == DType::u8 ? 0 : 8);
      if (!is_floating(dtype)) value = std::trunc(value);
      if (has_special && column == special) value = kSpecial[random() % std::size(kSpecial)];
      graph::store_real(dtype, in.data(), row * space.block() + column, value);
    }
  }
  return in;
}

/// Rows, `pitch` elements apart, in a buffer that ends with the last one.
std::unique_ptr<GuardedBuffer> buffer_of(DType dtype, const Space& space, std::int64_t pitch,
                                         GuardedBuffer::Guard guard) {
  const std::int64_t elements =
      space.as_columns ? space.rows * space.block() : (space.rows - 1) * pitch + space.block();
  auto buffer = std::make_unique<GuardedBuffer>(
      static_cast<std::size_t>(elements) * static_cast<std::size_t>(byte_size(dtype)), guard);
  std::fill_n(buffer->data(), buffer->size(), GuardedBuffer::kCanary);
  return buffer;
}

std::byte* element_of(GuardedBuffer& buffer, DType dtype, const Space& space, std::int64_t pitch, std::int64_t row,
                      std::int64_t column) {
  return buffer.data() + (space.as_columns ? column * space.rows + row : row * pitch + column) * byte_size(dtype);
}

struct Outputs {
  Elements elements, rows;
  bool operator==(const Outputs&) const = default;
};

void run(const Chain& chain, const Space& space, std::int64_t pitch, GuardedBuffer::Guard guard, target::Isa isa,
         const Elements& data, Elements& weights, Outputs& result) {
  std::optional<compiler::Compiled> compiled;
  compile(chain, space, pitch, isa, compiled);
  ASSERT_TRUE(compiled.has_value());
  const DType real = chain.in == DType::f64 ? DType::f64 : DType::f32;
  const std::unique_ptr<GuardedBuffer> in = buffer_of(chain.in, space, pitch, guard),
                                       out = buffer_of(chain.out, space, pitch, guard);
  GuardedBuffer of_rows(static_cast<std::size_t>(space.rows * space.kept * byte_size(real)), guard);
  const auto in_bytes = static_cast<std::size_t>(byte_size(chain.in)),
             out_bytes = static_cast<std::size_t>(byte_size(chain.out));
  for (std::int64_t row = 0; row < space.rows; ++row)
    for (std::int64_t column = 0; column < space.block(); ++column)
      std::memcpy(element_of(*in, chain.in, space, pitch, row, column),
                  data.data() + static_cast<std::size_t>(row * space.block() + column) * in_bytes, in_bytes);
  const Bytes from[] = {{in->data(), in->size()}, {weights.data(), weights.size()}},
              to[] = {{out->data(), out->size()}, {of_rows.data(), of_rows.size()}};
  const Status status = run_at(compiled->program, isa, from, to);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(out->canary_intact() && of_rows.canary_intact());
  for (std::int64_t i = 0; i < space.rows * space.kept; ++i) {
    const std::int64_t place = space.as_columns ? i % space.kept * space.rows + i / space.kept : i;
    const std::byte* const at = of_rows.data() + place * byte_size(real);
    result.rows.insert(result.rows.end(), at, at + byte_size(real));
  }
  for (std::int64_t row = 0; row < space.rows; ++row) {
    for (std::int64_t column = 0; column < space.block(); ++column) {
      const std::byte* const at = element_of(*out, chain.out, space, pitch, row, column);
      result.elements.insert(result.elements.end(), at, at + out_bytes);
    }
    if (space.as_columns || row + 1 == space.rows) continue;
    const std::byte* const gap = element_of(*out, chain.out, space, pitch, row, space.block());
    ASSERT_TRUE(std::all_of(gap, gap + static_cast<std::size_t>(pitch - space.block()) * out_bytes,
                            [](std::byte byte) { return byte == GuardedBuffer::kCanary; }))
        << "bytes behind row " << row << " were written";
  }
}

class Turned : public ::testing::TestWithParam<Chain> {};

TEST_P(Turned, RowsGiveWhatColumnsGive) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const Chain& chain = GetParam();
  std::mt19937_64 random(test_seed());
  std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  constexpr std::int64_t kRows[] = {32, 33, 36, 39, 47, 48, 49, 63, 64, 65, 80, 95, 257, 300, 531};
  for (const target::Isa isa : all_levels()) {
    const std::vector<target::Isa> native = native_levels();
    const bool emulated = std::find(native.begin(), native.end(), isa) == native.end();
    for (std::int64_t width = 2; width <= kMostWidth; width += emulated ? 5 : 1) {
      const std::int64_t rows = kRows[random() % (emulated ? 7 : std::size(kRows))];
      // What is kept inside a block: nothing, or a few elements.
      const std::int64_t kept = emulated || random() % 2 == 0 ? 1 : 2 + static_cast<std::int64_t>(random() % 3);
      const Space as_rows{rows, width, kept, false}, as_columns{rows, width, kept, true};
      const std::int64_t pitch = as_rows.block() + (random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % 7));
      const auto guard = random() % 4 == 0 ? GuardedBuffer::Guard::before : GuardedBuffer::Guard::after;
      SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + std::to_string(rows) + " rows of " +
                   std::to_string(width) + " times " + std::to_string(kept) + ", " + std::to_string(pitch) + " apart");
      const Elements data = input_of(chain.in, as_rows, random);
      Elements weights = input_of(chain.in == DType::f64 ? DType::f64 : DType::f32, {1, width, kept, false}, random);
      Outputs expected, got;
      run(chain, as_columns, 0, guard, isa, data, weights, expected);
      run(chain, as_rows, pitch, guard, isa, data, weights, got);
      ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure());
      ASSERT_TRUE(expected.rows == got.rows);
      ASSERT_TRUE(expected.elements == got.elements);
    }
  }
}

/// Blocks that are turned in a loop, of columns that would leave lanes empty.
TEST_P(Turned, LongBlocksGiveWhatColumnsGive) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const Chain& chain = GetParam();
  std::mt19937_64 random(test_seed());
  std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  constexpr std::array<std::int64_t, 2> kBlocks[] = {{22, 3}, {13, 5},  {18, 8},   {17, 9},  {30, 15},
                                                     {8, 17}, {20, 24}, {129, 15}, {700, 2}, {341, 6}};
  for (const target::Isa isa : all_levels()) {
    const std::vector<target::Isa> native = native_levels();
    const bool emulated = std::find(native.begin(), native.end(), isa) == native.end();
    for (std::size_t i = 0; i < (emulated ? 3 : std::size(kBlocks)); ++i) {
      const std::int64_t rows = 32 + static_cast<std::int64_t>(random() % 40);
      const Space as_rows{rows, kBlocks[i][0], kBlocks[i][1], false},
          as_columns{rows, kBlocks[i][0], kBlocks[i][1], true};
      const auto guard = i % 2 == 0 ? GuardedBuffer::Guard::before : GuardedBuffer::Guard::after;
      SCOPED_TRACE(std::string(target::to_string(isa)) + ", " + std::to_string(rows) + " blocks of " +
                   std::to_string(kBlocks[i][0]) + " times " + std::to_string(kBlocks[i][1]));
      const Elements data = input_of(chain.in, as_rows, random);
      Elements weights =
          input_of(chain.in == DType::f64 ? DType::f64 : DType::f32, {1, kBlocks[i][0], kBlocks[i][1], false}, random);
      Outputs expected, got;
      run(chain, as_columns, 0, guard, isa, data, weights, expected);
      run(chain, as_rows, as_rows.block(), guard, isa, data, weights, got);
      ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure());
      ASSERT_TRUE(expected.rows == got.rows);
      ASSERT_TRUE(expected.elements == got.elements);
    }
  }
}

constexpr Chain kChains[] = {
    {"normalize", DType::f32, DType::f32}, {"normalize", DType::bf16, DType::bf16},
    {"normalize", DType::f16, DType::f32}, {"softmax", DType::f32, DType::f32},
    {"softmax", DType::bf16, DType::bf16}, {"softmax", DType::f64, DType::f64},
    {"scale", DType::f32, DType::s8},      {"scale", DType::u8, DType::f16},
    {"scale", DType::s8, DType::u8},       {"scale", DType::f64, DType::f64},
};

INSTANTIATE_TEST_SUITE_P(Rows, Turned, ::testing::ValuesIn(kChains), [](const auto& at) {
  return std::string(at.param.name) + "_" + std::string(to_string(at.param.in)) + "_" +
         std::string(to_string(at.param.out));
});

}  // namespace
}  // namespace tenfold::numeric

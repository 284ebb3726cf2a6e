// SPDX-License-Identifier: Apache-2.0
//
// What reductions are known to get wrong, by name and with answers worked out by hand, in rows and columns, natively
// and emulated: a NaN at every position of a block, rows of nothing but -inf, integers that f64 cannot tell apart, sums
// that wrap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "graph_value.hpp"
#include "prepared_case.hpp"

namespace tenfold::numeric {
namespace {

using Buffer = std::vector<std::byte>;

/// Past four vectors of 64 bytes; in columns past the records of four rows.
constexpr std::int64_t kLengths[] = {37, 67, 261};
constexpr std::int64_t kOthers = 5;  ///< rows, or columns

struct Place {
  bool rows;
  std::int64_t length;
  std::int64_t others = kOthers;
  std::int64_t index(std::int64_t output, std::int64_t step) const {
    return rows ? output * length + step : step * others + output;
  }
};

/// The core op over rows or columns of `dtype`; arg-reductions give s64.
graph::Graph graph_of(const std::string& reduction, DType dtype, const Place& place) {
  graph::Graph g;
  const bool is_arg = reduction.starts_with("arg");
  const std::int64_t axis = place.rows ? 1 : 0;
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = is_arg ? "arg_reduce" : "reduce";
  if (is_arg)
    op.attributes = {{"mode", reduction}, {"axis", axis}, {"keep_dims", false}, {"select_last", false}};
  else
    op.attributes = {{"reduction", reduction}, {"axes", Dims{axis}}, {"keep_dims", false}};
  op.inputs = {
      add_value(g, {dtype, place.rows ? Dims{place.others, place.length} : Dims{place.length, place.others}, {}})};
  op.outputs = {add_value(g, {is_arg ? DType::s64 : dtype, {place.others}, {}})};
  g.ops.push_back(op);
  graph::connect(g);
  return g;
}

/// Programs of one op for all levels, those that are the same left out.
class Levels {
 public:
  explicit Levels(const graph::Graph& graph) {
    graph::Graph core = graph;
    const Status passes = graph::run_pipeline(core);
    EXPECT_TRUE(passes.ok()) << passes.message();
    for (const target::Isa isa : all_levels()) {
      const bool native = std::ranges::count(native_levels(), isa) > 0;
      if (!native && !emulator::can_emulate()) continue;
      target::Target target = target::host().ok() ? target::host().value() : target::Target{};
      target.isa = isa;
      Result<compiler::Compiled> compiled = compiler::compile(core, target);
      EXPECT_TRUE(compiled.ok()) << compiled.status().message();
      if (!compiled.ok()) continue;
      const auto same = [&](const One& one) { return same_program(one.program, compiled.value().program); };
      if (std::ranges::any_of(all_, same)) continue;
      all_.push_back({isa, std::move(compiled.value().program)});
    }
    EXPECT_FALSE(all_.empty());
  }

  void expect(Buffer& input, const Buffer& expected, const std::string& where) const {
    for (const One& one : all_) {
      Buffer output(expected.size(), std::byte{0x5a});
      const Bytes in{input.data(), input.size()}, out{output.data(), output.size()};
      const Status status = run_at(one.program, one.isa, {&in, 1}, {&out, 1});
      ASSERT_TRUE(status.ok()) << status.message() << "\n" << where;
      ASSERT_EQ(output, expected) << target::to_string(one.isa) << ", " << where;
    }
  }

 private:
  struct One {
    target::Isa isa;
    runtime::Program program;
  };
  std::vector<One> all_;
};

/// Calls `act` for rows and columns of each length.
template <class Act>
void each_place(const Act& act) {
  for (const bool rows : {true, false})
    for (const std::int64_t length : kLengths) act(Place{rows, length});
}

std::string text_of(const std::string& reduction, DType dtype, const Place& place) {
  return reduction + " of " + std::to_string(place.length) + " " + std::string(to_string(dtype)) +
         (place.rows ? " in rows" : " in columns");
}

template <class T>
void put(Buffer& buffer, std::int64_t index, T value) {
  std::memcpy(buffer.data() + static_cast<std::size_t>(index) * sizeof value, &value, sizeof value);
}

Buffer reals(DType dtype, std::int64_t count, double value) {
  Buffer buffer(static_cast<std::size_t>(count) * static_cast<std::size_t>(byte_size(dtype)));
  for (std::int64_t i = 0; i < count; ++i) graph::store_real(dtype, buffer.data(), i, value);
  return buffer;
}

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::bf16, DType::f16};

TEST(Edges, ANaNAtEveryPositionWins) {
  for (const DType dtype : kFloats)
    for (const char* reduction : {"max", "min", "argmax", "argmin"})
      each_place([&](const Place& place) {
        const Levels levels(graph_of(reduction, dtype, place));
        const bool is_arg = reduction[0] == 'a';
        for (std::int64_t at = 0; at < place.length && !::testing::Test::HasFatalFailure(); ++at) {
          // Output 0 keeps no NaN; of the others, each has one further along, of either sign, beside the extremes.
          Buffer input = reals(dtype, place.length * kOthers, 1.5);
          Buffer extremes = reals(dtype, kOthers, std::numeric_limits<double>::quiet_NaN());
          graph::store_real(dtype, extremes.data(), 0, 1.5);
          Buffer indices(kOthers * sizeof(std::int64_t));
          for (std::int64_t output = 1; output < kOthers; ++output) {
            const std::int64_t step = (at + output) % place.length;
            graph::store_real(dtype, input.data(), place.index(output, (step + 1) % place.length), INFINITY);
            graph::store_real(dtype, input.data(), place.index(output, (step + 2) % place.length), -INFINITY);
            graph::store_real(dtype, input.data(), place.index(output, step), output % 2 == 0 ? NAN : -NAN);
            put(indices, output, step);
          }
          levels.expect(input, is_arg ? indices : extremes,
                        text_of(reduction, dtype, place) + ", NaN at " + std::to_string(at));
        }
      });
}

/// Outputs that are reduced side by side: what one of them has met must not show in another.
TEST(Edges, ANaNWinsInItsOwnOutputAlone) {
  constexpr std::int64_t kLong = 300, kMany = 33;
  for (const DType dtype : kFloats)
    for (const char* reduction : {"max", "min"})
      for (const Place& place :
           {Place{true, kLong, kMany}, Place{false, kMany, kLong}, Place{false, 11, kLong}, Place{false, 5, kLong},
            Place{false, kLong, 2}, Place{false, kLong, 13}, Place{false, kLong, 32}, Place{false, kLong, 64}}) {
        const Levels levels(graph_of(reduction, dtype, place));
        // Of every third output all elements have the sign that loses.
        const double winner = reduction == std::string("max") ? 1 : -1;
        const auto value = [&](std::int64_t output) { return output % 3 == 0 ? -2 * winner : winner; };
        Buffer plain = reals(dtype, place.length * place.others, 0);
        Buffer extremes = reals(dtype, place.others, 0);
        for (std::int64_t output = 0; output < place.others; ++output) {
          graph::store_real(dtype, extremes.data(), output, value(output));
          for (std::int64_t step = 0; step < place.length; ++step)
            graph::store_real(dtype, plain.data(), place.index(output, step), value(output));
        }
        for (std::int64_t at = 0; at < kLong && !::testing::Test::HasFatalFailure(); ++at) {
          const std::int64_t output = (7 * at + at / 64) % place.others, step = at % place.length;
          Buffer input = plain, expected = extremes;
          graph::store_real(dtype, input.data(), place.index(output, step), at % 2 == 0 ? -NAN : NAN);
          graph::store_real(dtype, expected.data(), output, std::numeric_limits<double>::quiet_NaN());
          levels.expect(input, expected, text_of(reduction, dtype, place) + ", NaN at " + std::to_string(at));
        }
      }
}

/// log(sum(exp(x - m))) + m, op by op.
graph::Graph log_sum_exp_of(const Place& place) {
  const auto dims = [&](std::int64_t length) {
    const std::string along = std::to_string(length), others = std::to_string(kOthers);
    return "f32[" + (place.rows ? others + ", " + along : along + ", " + others) + "]";
  };
  const std::string whole = dims(place.length), one = dims(1),
                    axes = std::string("axes = [") + (place.rows ? "1" : "0") + "], keep_dims = true} : " + one;
  Result<graph::Graph> parsed = graph::parse(
      "graph {\n %0 = input : " + whole + "\n %1 = core.reduce (%0) {reduction = \"max\", " + axes +
      "\n %2 = core.map (%0, %1) {function = \"sub\"} : " + whole +
      "\n %3 = core.map (%2) {function = \"exp\"} : " + whole + "\n %4 = core.reduce (%3) {reduction = \"sum\", " +
      axes + "\n %5 = core.map (%4) {function = \"log\"} : " + one +
      "\n %6 = core.map (%5, %1) {function = \"add\"} : " + one + "\n output %6\n}\n");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? std::move(parsed).value() : graph::Graph{};
}

TEST(Edges, TheMaxOfALogSumExpNeedsNoEyeForNaNAndZeros) {
  each_place([&](const Place& place) {
    const Levels levels(log_sum_exp_of(place));
    for (std::int64_t at = 0; at < place.length && !::testing::Test::HasFatalFailure(); at += 3) {
      // The logarithm of one is 0, and that with a zero of either sign 0 again; in output 0 a NaN joins.
      Buffer input = reals(DType::f32, place.length * kOthers, -INFINITY);
      for (std::int64_t output = 0; output < kOthers; ++output)
        put(input, place.index(output, (at + output) % place.length), output % 2 == 0 ? -0.0F : 0.0F);
      Buffer expected = reals(DType::f32, kOthers, 0.0);
      levels.expect(input, expected, "log-sum-exp of a zero");
      put(input, place.index(0, (at + 1) % place.length), at % 2 == 0 ? -NAN : NAN);
      put(expected, 0, NAN);
      levels.expect(input, expected, "log-sum-exp of a NaN");
    }
  });
}

TEST(Edges, ANaNBesideAnInfinityIsTheLogSumExp) {
  for (const DType dtype : kFloats)
    each_place([&](const Place& place) {
      const Levels levels(graph_of("log_sum_exp", dtype, place));
      for (std::int64_t at = 0; at < place.length && !::testing::Test::HasFatalFailure(); ++at) {
        // The greatest is an infinity; of the outputs but the first one, a NaN of either sign is there as well.
        for (const double infinity : {INFINITY, -INFINITY}) {
          Buffer input = reals(dtype, place.length * kOthers, infinity < 0 ? infinity : 1.5);
          Buffer expected = reals(dtype, kOthers, NAN);
          graph::store_real(dtype, expected.data(), 0, infinity);
          for (std::int64_t output = 0; output < kOthers; ++output) {
            const std::int64_t step = (at + 7 * output) % place.length;
            graph::store_real(dtype, input.data(), place.index(output, step), infinity);
            if (output == 0) continue;
            graph::store_real(dtype, input.data(), place.index(output, (step + output) % place.length),
                              output % 2 == 0 ? NAN : -NAN);
          }
          levels.expect(input, expected, text_of("log-sum-exp", dtype, place) + ", from " + std::to_string(at));
        }
      }
    });
}

TEST(Edges, AnInfiniteColumnAmongFiniteOnes) {
  constexpr std::int64_t kRows = 19, kColumns = 77;
  for (const DType dtype : kFloats) {
    Result<graph::Graph> parsed = graph::parse(
        "graph {\n %0 = input : " + std::string(to_string(dtype)) +
        "[19, 77]\n %1 = core.reduce (%0) {reduction = \"log_sum_exp\", axes = [0], keep_dims = false} : " +
        std::string(to_string(dtype)) + "[77]\n output %1\n}\n");
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    const Levels levels(parsed.value());
    for (std::int64_t at = 0; at < kColumns && !::testing::Test::HasFatalFailure(); ++at) {
      for (const double infinity : {INFINITY, -INFINITY}) {
        // Of each column, all but one exponential vanish.
        Buffer input = reals(dtype, kRows * kColumns, -INFINITY), expected = reals(dtype, kColumns, 0.0);
        for (std::int64_t column = 0; column < kColumns; ++column)
          graph::store_real(dtype, input.data(), (column % kRows) * kColumns + column, 0.0);
        graph::store_real(dtype, input.data(), (at % kRows) * kColumns + at, infinity);
        graph::store_real(dtype, expected.data(), at, infinity);
        const std::string name = std::string(to_string(dtype)) + ", column " + std::to_string(at);
        levels.expect(input, expected, name);
        graph::store_real(dtype, input.data(), ((at + 5) % kRows) * kColumns + at, at % 2 == 0 ? NAN : -NAN);
        graph::store_real(dtype, expected.data(), at, NAN);
        levels.expect(input, expected, name + " with a NaN");
      }
    }
  }
}

TEST(Edges, OneOfTwoLogSumExpsMayBeInfinite) {
  Result<graph::Graph> parsed = graph::parse(
      "graph {\n %0 = input : f32[5, 67]\n %1 = core.map (%0) {function = \"exp\"} : f32[5, 67]\n"
      " %2 = core.reduce (%0) {reduction = \"log_sum_exp\", axes = [1], keep_dims = true} : f32[5, 1]\n"
      " %3 = core.reduce (%1) {reduction = \"log_sum_exp\", axes = [1], keep_dims = true} : f32[5, 1]\n"
      " %4 = core.map (%2, %3) {function = \"add\"} : f32[5, 1]\n output %4\n}\n");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const Levels levels(parsed.value());
  Buffer input = reals(DType::f32, 5 * 67, -INFINITY);
  levels.expect(input, reals(DType::f32, 5, -INFINITY), "the first one");
  input = reals(DType::f32, 5 * 67, 100);
  levels.expect(input, reals(DType::f32, 5, INFINITY), "the second one");
}

TEST(Edges, NothingButInfinitiesIsInfinite) {
  for (const DType dtype : kFloats)
    each_place([&](const Place& place) {
      for (const double sign : {-1.0, 1.0})
        for (const char* reduction : {"max", "min", "sum", "mean", "log_sum_exp", "argmax", "argmin"}) {
          Buffer input = reals(dtype, place.length * kOthers, sign * INFINITY);
          const Levels levels(graph_of(reduction, dtype, place));
          levels.expect(
              input,
              reduction[0] == 'a' ? Buffer(kOthers * sizeof(std::int64_t)) : reals(dtype, kOthers, sign * INFINITY),
              text_of(reduction, dtype, place));
        }
    });
}

/// The extreme stands alone at each position, one beside its neighbours, which are one f64.
template <class T>
void expect_neighbours_told_apart(DType dtype, T base) {
  for (const char* reduction : {"max", "min", "argmax", "argmin"})
    each_place([&](const Place& place) {
      const Levels levels(graph_of(reduction, dtype, place));
      const std::string name = reduction;
      const bool greatest = name.ends_with("max"), is_arg = name.starts_with("arg");
      for (std::int64_t at = 0; at < place.length && !::testing::Test::HasFatalFailure(); at += 3) {
        Buffer input(static_cast<std::size_t>(place.length * kOthers) * sizeof(T));
        for (std::int64_t i = 0; i < place.length * kOthers; ++i) put(input, i, base);
        Buffer values(kOthers * sizeof(T)), indices(kOthers * sizeof(std::int64_t));
        for (std::int64_t output = 0; output < kOthers; ++output) {
          const std::int64_t step = (at + output) % place.length;
          const T extreme = greatest ? base + 1 : base - 1;
          put(input, place.index(output, step), extreme);
          put(values, output, extreme);
          put(indices, output, step);
        }
        ASSERT_EQ(static_cast<double>(base), static_cast<double>(greatest ? base + 1 : base - 1));
        levels.expect(input, is_arg ? indices : values, text_of(reduction, dtype, place));
      }
    });
}

TEST(Edges, IntegersBeyondF64AreToldApart) {
  expect_neighbours_told_apart<std::int64_t>(DType::s64, (std::int64_t{1} << 60) + 256);
  expect_neighbours_told_apart<std::int64_t>(DType::s64, -(std::int64_t{1} << 60) - 256);
  expect_neighbours_told_apart<std::uint64_t>(DType::u64, (std::uint64_t{1} << 63) + 4096);
}

TEST(Edges, SumsOf64BitsAreExact) {
  each_place([&](const Place& place) {
    // 2^53 + 1 and ones: a sum through f64 would lose them all.
    Buffer input(static_cast<std::size_t>(place.length * kOthers) * sizeof(std::int64_t));
    for (std::int64_t i = 0; i < place.length * kOthers; ++i) put(input, i, std::int64_t{1});
    Buffer expected(kOthers * sizeof(std::int64_t));
    for (std::int64_t output = 0; output < kOthers; ++output) {
      put(input, place.index(output, output * 7), (std::int64_t{1} << 53) + 1);
      put(expected, output, (std::int64_t{1} << 53) + place.length);
    }
    for (const DType dtype : {DType::s64, DType::u64})
      Levels(graph_of("sum", dtype, place)).expect(input, expected, text_of("sum", dtype, place));
  });
}

TEST(Edges, SumsAndProductsWrapAtTheirWidth) {
  each_place([&](const Place& place) {
    const auto count = static_cast<std::size_t>(place.length * kOthers);
    // Of n times 100, and of n times -3.
    Buffer input(count, std::byte{100});
    const auto sum = static_cast<std::byte>(place.length * 100 % 256);
    for (const DType dtype : {DType::s8, DType::u8})
      Levels(graph_of("sum", dtype, place)).expect(input, Buffer(kOthers, sum), text_of("sum", dtype, place));
    input.assign(count, std::byte{0xfd});
    unsigned product = 1;
    for (std::int64_t i = 0; i < place.length; ++i) product = product * 253 % 256;
    Levels(graph_of("prod", DType::s8, place))
        .expect(input, Buffer(kOthers, static_cast<std::byte>(product)), text_of("prod", DType::s8, place));
    // -128 is its own magnitude, and its square is 0.
    input.assign(count, std::byte{0x80});
    const Buffer magnitudes(kOthers, static_cast<std::byte>(place.length % 2 * 128));
    Levels(graph_of("l1", DType::s8, place)).expect(input, magnitudes, text_of("l1", DType::s8, place));
    Levels(graph_of("sum_square", DType::s8, place))
        .expect(input, Buffer(kOthers), text_of("sum_square", DType::s8, place));
  });
}

TEST(Edges, ColumnsAreSummedInTheOrderOfFourStreams) {
  // The first two terms of each chain cancel, and are so large that what f32 added between them would be lost. Whole
  // vector steps, an odd number of them, and a partial one; whole chains, a shorter one, and rows that are left over.
  for (const std::int64_t length : {67, 131}) {
    const Place place{false, length, 1077};
    const std::int64_t run = length / 4 < 32 ? length / 4 : (length / 4 - 1) | 1;
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const double large = dtype == DType::bf16 ? 0x1p30 : 0x1p15, unit = dtype == DType::bf16 ? 1 : 0x1p-10;
      Buffer input = reals(dtype, length * place.others, 0), sums = reals(dtype, place.others, 0);
      for (std::int64_t column = 0; column < place.others; ++column) {
        double sum = 0;
        for (std::int64_t row = 0; row < length; ++row) {
          const bool first = row < 2 * run && row % run % 4 == 0;
          const double small = unit * static_cast<double>((row * 7 + column * 5 + row * column) % 3 % 2);
          const double value = !first ? small : row < run ? large : -large;
          graph::store_real(dtype, input.data(), place.index(column, row), value);
          sum += value;
        }
        graph::store_real(dtype, sums.data(), column, sum);
      }
      Levels(graph_of("sum", dtype, place)).expect(input, sums, text_of("sum", dtype, place));
    }
  }
}

TEST(Edges, RowsThatEndTogetherKeepToTheirPlaces) {
  // Two batches and rows that are left over; a batch alone; none.
  for (const std::int64_t rows : {37, 16, 15}) {
    const Place place{true, 100, rows};
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      Buffer input = reals(dtype, rows * place.length, 0), sums = reals(dtype, rows, 0);
      for (std::int64_t row = 0; row < rows; ++row) {
        for (const std::int64_t step : {std::int64_t{0}, row, place.length - 1})
          graph::store_real(dtype, input.data(), place.index(row, step), static_cast<double>(1 + row));
        graph::store_real(dtype, sums.data(), row, static_cast<double>((row == 0 ? 2 : 3) * (1 + row)));
      }
      Levels(graph_of("sum", dtype, place)).expect(input, sums, text_of("sum", dtype, place));
    }
  }
}

TEST(Edges, ProductsMayLeaveTheRangeOfF32OnTheWay) {
  // 64 steps of four chains in one block, each lane of whose first half has 8^32 or more; columns in one step likewise.
  constexpr std::int64_t kEights[] = {1024, 100};
  for (const Place place : {Place{true, 2048}, Place{false, 476}}) {
    const std::int64_t eights = kEights[place.rows ? 0 : 1];
    for (const DType dtype : kFloats) {
      Buffer input = reals(dtype, place.length * kOthers, 1);
      for (std::int64_t output = 0; output < kOthers; ++output)
        for (std::int64_t step = 0; step < 2 * eights; ++step)
          graph::store_real(dtype, input.data(), place.index(output, step), step < eights ? 8 : 0.125);
      Levels(graph_of("prod", dtype, place)).expect(input, reals(dtype, kOthers, 1), text_of("prod", dtype, place));
    }
  }
}

}  // namespace
}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
//
// Arg-max and arg-min, alone and beside the extreme of the same tensor (one kernel, two outputs), of every dtype:
// random shapes, axes and layouts, and NaNs, ties and extremes at every position, natively on every level of the
// machine with 1, 2 and 3 threads and emulated on the others, against the reference evaluator. Everything must be equal
// to the bit. The axis is the only one, the first, a middle one and the last in turn.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "arg_case.hpp"
#include "compile/compile.hpp"
#include "coverage.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph_value.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "schedule/packed.hpp"
#include "settings.hpp"
#include "subjects.hpp"
#include "test_pool.hpp"

namespace tenfold::numeric {
namespace {

constexpr DType kAllTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16, DType::s8,  DType::u8,     DType::s16,
                               DType::u16, DType::s32, DType::u32,  DType::s64, DType::u64, DType::boolean};
constexpr std::int64_t kCases = 2312;  ///< of each dtype: 30,056 in all
/// Emulation is slow: of the levels that the machine lacks, one case of three, so that the matrix has no hole, and of
/// the cases of one width after another one of five.
constexpr std::int64_t kEmulatedEvery = 3, kEmulatedWidths = 5;
constexpr std::int64_t kLargeEvery = 48;
constexpr std::pair<std::string_view, std::string_view> kPlaces[] = {
    {"only", "rows"}, {"first", "columns"}, {"middle", "columns"}, {"last", "rows"}};

/// What the reference evaluator says.
struct Expected {
  std::vector<std::byte> index, extreme;
};

class ArgReductions : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  }

  static std::vector<std::byte> solve(const ArgCase& c, bool is_index, const std::byte* data) {
    const TensorDesc& desc = is_index ? c.index : c.extreme;
    std::vector<std::byte> expected(bytes_of(desc) + 8);
    const graph::ConstTensor in{c.in, data};
    const graph::MutableTensor out{desc, expected.data()};
    const Status solved = graph::evaluate_op(reduction(c, is_index), {&in, 1}, {&out, 1});
    EXPECT_TRUE(solved.ok()) << solved.message();
    return expected;
  }

  /// `axes` is what the case counts as.
  void check(const ArgCase& c, std::string_view axes, bool emulate, const GuardedBuffer& input,
             GuardedBuffer::Guard guard, const std::string& where) {
    Expected expected{solve(c, true, input.data()), {}};
    if (c.beside) expected.extreme = solve(c, false, input.data());
    graph::Graph core = c.graph();
    const Status passes = graph::run_pipeline(core);
    ASSERT_TRUE(passes.ok()) << passes.message() << "\n" << where;
    std::vector<compiler::Compiled> emulated;
    for (const target::Isa isa : all_levels()) {
      const bool native = std::ranges::count(native_levels(), isa) > 0;
      if (!native && !emulate) continue;
      const std::string at_level = std::string(target::to_string(isa)) + "\n" + where;
      Result<compiler::Compiled> compiled = compile(c, core, isa);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << at_level;
      coverage_.count(name_of(c), axes, compiled.value(), isa);
      const auto same = [&](const compiler::Compiled& e) { return same_program(e.program, compiled.value().program); };
      if (!native && std::ranges::any_of(emulated, same)) continue;
      const bool alone = !native || input.size() < (64 << 10);
      for (const int threads : alone ? std::vector<int>{1} : std::vector<int>{1, 2, 3}) {
        GuardedBuffer index(bytes_of(c.index), guard), extreme(c.beside ? bytes_of(c.extreme) : 1, guard);
        ASSERT_EQ(run(c, compiled.value().program, isa, native ? threads : 0, input, index, extreme), "") << at_level;
        ASSERT_EQ(difference(c.index, expected.index.data(), index), "")
            << "of the index, " << threads << " threads, " << at_level;
        if (!c.beside) continue;
        ASSERT_EQ(difference(c.extreme, expected.extreme.data(), extreme), "")
            << "of the extreme, " << threads << " threads, " << at_level;
      }
      if (!native) emulated.push_back(std::move(compiled).value());
    }
  }

  static std::string name_of(const ArgCase& c) {
    return std::string(c.greatest ? "argmax" : "argmin") + (c.last ? " last" : " first") +
           (c.beside ? " beside the extreme" : "");
  }

  static std::string difference(const TensorDesc& desc, const std::byte* expected, const GuardedBuffer& got) {
    const int size = byte_size(desc.dtype);
    for (const std::int64_t at : element_offsets(desc))
      if (std::memcmp(expected + at * size, got.data() + at * size, static_cast<std::size_t>(size)) != 0)
        return "element at " + std::to_string(at) + " is " +
               std::to_string(graph::load_real(desc.dtype, got.data(), at)) + ", expected " +
               std::to_string(graph::load_real(desc.dtype, expected, at));
    return got.canary_intact() ? "" : "bytes beside the output were written";
  }

  static Result<compiler::Compiled> compile(const ArgCase& c, const graph::Graph& core, target::Isa isa) {
    target::Target target = target::host().ok() ? target::host().value() : target::Target{};
    target.isa = isa;
    // What is cut for threads is cut on every machine.
    target.cores = 3;
    // Pairs are one kernel, or two, of which one may be split, where that is faster (compile/plan/plain_indices.hpp).
    const bool may_be_apart = c.beside && c.extreme_first;
    compiler::RowPieces pieces;
    pieces.plain_apart = may_be_apart;
    Result<compiler::Compiled> compiled = compiler::compile(core, target, {.pieces = pieces});
    if (!compiled.ok()) return compiled;
    // The extreme of one element is a view, and no kernel's.
    const bool pair = c.beside && c.in.shape[static_cast<std::size_t>(c.axis)] == 1;
    if (compiled.value().regions.size() != (pair ? 2U : 1U)) return Status(Code::internal_error, "not one region");
    const compiler::RegionReport& region = compiled.value().regions[0];
    const bool split = !region.kernels.empty() && region.kernels[0].schedule.split.level >= 0;
    const std::size_t least = split ? 2 : 1, most = may_be_apart ? 3 : least;
    if (region.kind != compiler::RegionReport::Kind::kernel || region.kernels.size() < least ||
        region.kernels.size() > most)
      return Status(Code::internal_error, "not one kernel, or two of a split: " + region.reason);
    return compiled;
  }

  /// With 0 threads: emulated.
  std::string run(const ArgCase& c, const runtime::Program& program, target::Isa isa, int threads,
                  const GuardedBuffer& input, GuardedBuffer& index, GuardedBuffer& extreme) {
    const std::size_t outputs = c.beside ? 2 : 1;
    // Outputs are in the order of production.
    GuardedBuffer* order[] = {&index, &extreme};
    if (c.beside && c.extreme_first) std::swap(order[0], order[1]);
    Status status;
    if (threads > 1) {
      const void* const in = input.data();
      void* const out[] = {order[0]->data(), order[1]->data()};
      status = runtime::run(program, {&in, 1}, {out, outputs}, threads == 2 ? &two_ : &three_, threads);
    } else {
      const Bytes in{const_cast<std::byte*>(input.data()), input.size()};
      const Bytes out[] = {{order[0]->data(), order[0]->size()}, {order[1]->data(), order[1]->size()}};
      status = threads == 1 ? run_at(program, isa, {&in, 1}, {out, outputs})
                            : emulated_run(program, isa, {&in, 1}, {out, outputs});
    }
    return status.ok() ? "" : status.message();
  }

  void print(std::uint64_t cases) const {
    const std::string title = std::to_string(cases) + " cases of " + std::string(to_string(GetParam())) + ", seed " +
                              std::to_string(test_seed());
    std::fputs(coverage_.table(title, all_levels()).c_str(), stdout);
  }

  /// Cells that the random cases must have met.
  std::string missing() const {
    std::vector<std::string> ops;
    for (const bool greatest : {true, false})
      for (const bool last : {true, false})
        for (const bool beside : {true, false}) {
          ArgCase c;
          c.greatest = greatest, c.last = last, c.beside = beside;
          ops.push_back(name_of(c));
        }
    return coverage_.missing(ops, kPlaces, all_levels());
  }

  TestPool two_{2}, three_{3};
  Coverage coverage_;
};

TEST_P(ArgReductions, AgreeWithTheReference) {
  constexpr auto kClasses = static_cast<std::int64_t>(kAxes.size());
  const std::int64_t cases = scaled_cases(kCases);
  std::uint64_t index = 0;
  for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const auto axes = static_cast<std::size_t>(i % kClasses);
    const bool large = i / kClasses % kLargeEvery == 1;
    const ArgCase c = draw(GetParam(), axes, large, random);
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    fill_input(c, input.data(), random);
    check(c, kAxes[axes], !large && i / kClasses % kEmulatedEvery == 0, input, guard,
          c.text() + "\n" + repeat_line(test_name(), index));
  }
  print(index);
  if (only_case() || cases < kCases || HasFailure()) return;
  EXPECT_EQ(missing(), "");
  EXPECT_GT(two_.calls(), 0) << "no case was large enough for threads";
  EXPECT_GT(three_.calls(), 0);
}

TEST_P(ArgReductions, PackedRowsOfEveryWidth) {
  // Each of the shorter widths three times, and some of the others.
  constexpr std::int64_t kShort = 256, kOthers = 120;
  const std::int64_t most = schedule::most_packed_width(schedule::Lanes::arg, GetParam());
  const std::int64_t widths = std::min(kShort, most) - schedule::kLeastPackedWidth + 1;
  const std::int64_t others = std::max<std::int64_t>(0, most - kShort);
  const std::int64_t cases = scaled_cases(3 * widths + std::min(others, kOthers));
  std::uint64_t index = 0;
  for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const auto drawn = [&](std::int64_t count) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
    };
    const std::int64_t width = i >= 3 * widths && others > 0
                                   ? kShort + 1 + drawn(others)
                                   : schedule::kLeastPackedWidth + (cases < widths ? drawn(widths) : i % widths);
    const ArgCase c = draw_packed(GetParam(), width, random);
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    fill_input(c, input.data(), random);
    check(c, "last", i % kEmulatedWidths == 0, input, guard, c.text() + "\n" + repeat_line(test_name(), index));
  }
  print(index);
  if (only_case() || cases < widths || HasFailure() || byte_size(GetParam()) == 8) return;
  const std::vector<std::string> ops{"argmax first", "argmax last", "argmin first", "argmin last"};
  EXPECT_EQ(coverage_.missing(ops, std::vector<std::pair<std::string_view, std::string_view>>{{"last", "packed"}},
                              all_levels()),
            "");
}

TEST_P(ArgReductions, PackedCells) {
  constexpr std::int64_t kCells = schedule::kMostCell - 1, kOfEach = 60;
  const std::int64_t cases = scaled_cases(kCells * kOfEach);
  std::uint64_t index = 0;
  for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const ArgCase c = draw_cells(GetParam(), 2 + i % kCells, random);
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    fill_input(c, input.data(), random);
    check(c, "middle", i % kEmulatedWidths == 0, input, guard, c.text() + "\n" + repeat_line(test_name(), index));
  }
  print(index);
  if (only_case() || cases < kCells * kOfEach || HasFailure() || byte_size(GetParam()) == 8) return;
  const std::vector<std::string> ops{"argmax first", "argmax last", "argmin first", "argmin last"};
  EXPECT_EQ(coverage_.missing(ops, std::vector<std::pair<std::string_view, std::string_view>>{{"middle", "packed"}},
                              all_levels()),
            "");
}

TEST_P(ArgReductions, NarrowColumnsOfEveryWidth) {
  constexpr std::int64_t kWidths = 80;
  const std::int64_t cases = scaled_cases(4 * kWidths);
  std::uint64_t index = 0;
  for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const std::int64_t width = 1 + (cases < kWidths ? static_cast<std::int64_t>(random() % kWidths) : i % kWidths);
    const ArgCase c = draw_narrow(GetParam(), width, random);
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    fill_input(c, input.data(), random);
    const bool emulate = (i + i / kWidths) % kEmulatedWidths == 0;
    check(c, "middle", emulate, input, guard, c.text() + "\n" + repeat_line(test_name(), index));
  }
  print(index);
}

TEST_P(ArgReductions, LongRowsInPieces) {
  constexpr std::int64_t kLongCases = 16;
  const std::int64_t cases = scaled_cases(kLongCases);
  std::uint64_t index = 0;
  for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const ArgCase c = draw_long(GetParam(), random);
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    i % 2 == 0 ? fill_input(c, input.data(), random) : fill_few(c, input.data(), random);
    const std::string where = c.text() + "\n" + repeat_line(test_name(), index);
    check(c, c.axis == 0 ? "first" : "last", false, input, guard, where);
    // The extreme beside its index is looked for in one piece.
    graph::Graph core = c.graph();
    ASSERT_TRUE(graph::run_pipeline(core).ok());
    const Result<compiler::Compiled> compiled = compile(c, core, native_levels()[0]);
    ASSERT_TRUE(compiled.ok());
    EXPECT_EQ(compiled.value().regions[0].kernels.size(), c.beside ? 1U : 2U) << where;
  }
  print(index);
}

/// Sweeps that are searched, with rows left over, of narrow columns in groups or of tiles: what is wanted is anywhere,
/// in few places, or in one of the last rows, which no sweep may look behind.
TEST_P(ArgReductions, TallColumns) {
  constexpr std::int64_t kWidths[] = {1, 2, 3, 7, 8, 13, 16, 31, 32, 33, 64, 100, 128, 256, 300, 1000};
  const std::int64_t cases = scaled_cases(2 * static_cast<std::int64_t>(std::size(kWidths)));
  std::uint64_t index = 0;
  std::int64_t searched = 0;
  for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const ArgCase c = draw_tall(GetParam(), kWidths[random() % std::size(kWidths)], random);
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    i % 2 == 0 ? fill_input(c, input.data(), random) : fill_few(c, input.data(), random);
    const std::int64_t elements = c.in.shape[0] * c.in.shape[1];
    if (i % 4 == 1)
      for (std::uint64_t behind = 1 + random() % 40; behind > 0; --behind)
        std::memcpy(input.data() + (elements - static_cast<std::int64_t>(behind)) * byte_size(GetParam()),
                    input.data() + random() % static_cast<std::uint64_t>(elements) * byte_size(GetParam()),
                    static_cast<std::size_t>(byte_size(GetParam())));
    check(c, "first", false, input, guard, c.text() + "\n" + repeat_line(test_name(), index));
    graph::Graph core = c.graph();
    ASSERT_TRUE(graph::run_pipeline(core).ok());
    const Result<compiler::Compiled> compiled = compile(c, core, native_levels()[0]);
    ASSERT_TRUE(compiled.ok());
    if (compiled.value().regions[0].kernels[0].schedule.searches) ++searched;
  }
  print(index);
  // Of these no machine has an extreme in one instruction.
  const bool never = GetParam() == DType::u32 || GetParam() == DType::s64 || GetParam() == DType::u64;
  if (only_case() || cases < static_cast<std::int64_t>(std::size(kWidths))) return;
  EXPECT_EQ(searched > 0, !never);
}

/// One kind of element stands at `first` of the axis and again at `second`; all others are the worst there is.
struct Planted {
  double value = 0;
  std::int64_t first = 0, second = 0;
};

/// A row of `extent`, or a matrix of as many rows and `columns` columns in which column k has it k further on.
ArgCase planted_case(DType dtype, std::int64_t extent, std::int64_t columns) {
  ArgCase c;
  c.in = {dtype, columns > 0 ? Dims{extent, columns} : Dims{extent}, {}};
  c.in.strides = row_major_strides(c.in.shape);
  c.index = {DType::s64, without(c.in.shape, 0, false), {}};
  c.index.strides = row_major_strides(c.index.shape);
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.beside = true;
  return c;
}

void plant(const ArgCase& c, const Planted& planted, std::byte* data) {
  const std::int64_t extent = c.in.shape[0], columns = c.in.shape.size() > 1 ? c.in.shape[1] : 1;
  for (std::int64_t at = 0; at < extent * columns; ++at) put_worst(c, data, at);
  for (std::int64_t column = 0; column < columns; ++column)
    for (const std::int64_t row : {planted.first, planted.second}) {
      const std::int64_t at = (row + column) % extent * columns + column;
      if (is_floating(c.in.dtype)) {
        graph::store_real(c.in.dtype, data, at, planted.value);
      } else {
        // Not the worst, for either of arg-max and arg-min.
        std::memset(data + at * byte_size(c.in.dtype), c.in.dtype == DType::boolean ? (c.greatest ? 1 : 0) : 1,
                    static_cast<std::size_t>(byte_size(c.in.dtype)));
      }
    }
}

TEST_P(ArgReductions, FindANaNATieOrAnExtremeAtEveryPosition) {
  // A NaN beats everything; a zero of either sign, an infinity and a plain number beat the worst.
  const double values[] = {NAN, -NAN, 0.0, -0.0, 3.0, INFINITY, -INFINITY};
  std::uint64_t cases = 0;
  // Two unrolled steps of the widest vector and what is left; three sweeps of four rows over two records and a tail.
  for (const auto& [extent, columns] : {std::pair<std::int64_t, std::int64_t>{75, 0}, {15, 37}, {27, 37}}) {
    for (std::int64_t first = 0; first < extent && !HasFatalFailure(); ++first) {
      for (const std::int64_t second : {first, (first + 1) % extent, (first + 16) % extent, extent - 1}) {
        ArgCase c = planted_case(GetParam(), extent, columns);
        c.greatest = (first + second) % 3 != 0;
        c.last = cases % 2 == 0;
        c.beside = cases % 4 < 2;
        // A NaN at each position, of either sign in turn; then one of the others.
        const double value = second == first ? values[first % 2] : values[2 + cases % (std::size(values) - 2)];
        const Planted planted{value, first, second};
        const auto guard = cases % 8 < 4 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
        GuardedBuffer input(bytes_of(c.in), guard);
        plant(c, planted, input.data());
        check(c, columns > 0 ? "first" : "only", true, input, guard,
              c.text() + " value " + std::to_string(planted.value) + " at " + std::to_string(first) + " and " +
                  std::to_string(second));
        ++cases;
      }
    }
  }
  print(cases);
}

/// Rows whose lanes remember groups of steps: whole groups, two steps and some elements that are left over.
TEST_P(ArgReductions, FindANaNATieOrAnExtremeAtEveryPositionOfALongRow) {
  const double values[] = {NAN, 0.0, -0.0, 3.0, -INFINITY, -NAN, INFINITY};
  const std::int64_t lanes = byte_size(GetParam()) == 8 ? 8 : 16, extent = 26 * lanes + 5;
  std::uint64_t cases = 0;
  for (std::int64_t first = 0; first < extent && !HasFatalFailure(); ++first, ++cases) {
    ArgCase c = planted_case(GetParam(), extent, 0);
    c.greatest = first % 2 == 0;
    c.beside = false;
    const Planted planted{values[cases % std::size(values)], first, std::min(extent - 1, first + first % 5 * 9)};
    const auto guard = cases % 3 > 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    plant(c, planted, input.data());
    check(c, "only", cases % 16 == 0, input, guard,
          c.text() + " value " + std::to_string(planted.value) + " at " + std::to_string(first) + " and " +
              std::to_string(planted.second));
  }
  print(cases);
}

TEST_P(ArgReductions, FindANaNATieOrAnExtremeAtEveryPositionOfPackedRows) {
  const double values[] = {NAN, -NAN, 0.0, -0.0, 3.0, INFINITY, -INFINITY};
  constexpr std::int64_t kRows = 21;
  std::uint64_t cases = 0;
  for (const std::int64_t width : {2, 5, 8, 13, 31, 63}) {
    for (std::int64_t first = 0; first < width && !HasFatalFailure(); ++first, ++cases) {
      ArgCase c;
      c.in = {GetParam(), {kRows, width}, {width, 1}};
      c.index = c.extreme = {DType::s64, {kRows}, {1}};
      c.axis = 1;
      c.greatest = first % 3 != 0;
      c.last = cases % 2 == 0;
      const auto guard = cases % 8 < 4 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
      GuardedBuffer input(bytes_of(c.in), guard);
      // One kind of value, in each row a place further on, and again some places behind.
      for (std::int64_t at = 0; at < kRows * width; ++at) put_worst(c, input.data(), at);
      for (std::int64_t row = 0; row < kRows; ++row)
        for (const std::int64_t behind : {std::int64_t{0}, row % 3 * 4}) {
          const std::int64_t at = row * width + (first + row + behind) % width;
          if (is_floating(GetParam())) {
            graph::store_real(GetParam(), input.data(), at, values[cases % std::size(values)]);
          } else {
            std::memset(input.data() + at * byte_size(GetParam()), c.greatest || GetParam() != DType::boolean ? 1 : 0,
                        static_cast<std::size_t>(byte_size(GetParam())));
          }
        }
      check(c, "last", cases % 4 == 0, input, guard, c.text() + " from " + std::to_string(first));
    }
  }
  print(cases);
}

TEST_P(ArgReductions, FindTheExtremeOfPackedRowsOfTheOtherSign) {
  if (!is_floating(GetParam())) GTEST_SKIP() << "NOT RUN: integers are compared as they are";
  constexpr std::int64_t kRows = 37, kManyRows = 700;
  std::uint64_t cases = 0;
  for (const std::int64_t width : {4, 7, 8, 13, 32, 63, 100, 200}) {
    for (std::int64_t row = 0; row < kRows && !HasFatalFailure(); ++row, ++cases) {
      ArgCase c;
      // Or in so many that blocks no longer look for the other sign, with some of both behind them.
      const std::int64_t rows = row == 0 ? kManyRows : kRows, others = row == 0 ? kManyRows - kRows : 1;
      c.in = {GetParam(), {rows, width}, {width, 1}};
      c.index = c.extreme = {DType::s64, {rows}, {1}};
      c.axis = 1;
      c.greatest = cases % 2 == 0;
      c.last = cases % 3 == 0;
      const auto guard = cases % 8 < 4 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
      GuardedBuffer input(bytes_of(c.in), guard);
      // Ties at every third place, of the sign that loses; in one row no other, or zeros of both signs.
      for (std::int64_t at = 0; at < rows * width; ++at) {
        double value = at % 3 == 0 ? 2.0 : 1.0;
        if (at / width >= row && at / width < row + others)
          value = at % 3 == 0 ? (cases % 4 < 2 ? -1.0 : at % 2 == 0 ? -0.0 : 0.0) : -2.0;
        graph::store_real(GetParam(), input.data(), at, c.greatest ? value : -value);
      }
      check(c, "last", cases % 4 == 0, input, guard, c.text() + " row " + std::to_string(row));
    }
  }
  print(cases);
}

/// Element `at` of a row in which a maximum has this to deal with.
double value_of_row(std::uint64_t kind, std::int64_t at, std::int64_t place) {
  const double loses = -1 - static_cast<double>(at % 5 / 2), wins = 1 + static_cast<double>(at % 3);
  switch (kind) {
    case 0: return at % 2 == 0 ? wins : loses;
    case 1: return loses;
    case 2: return at == place ? -0.0 : loses;
    case 3: return at == place / 2 ? -0.0 : at == place ? 0.0 : loses;
    case 4: return at == place / 2 ? 0.0 : at == place ? -0.0 : loses;
    case 5: return at == place ? NAN : loses;
    case 6: return at == place ? -NAN : loses;
    case 7: return at == place ? -NAN : at == place / 2 ? NAN : wins;
    case 8: return -INFINITY;
    case 9: return at % 2 == 0 ? -INFINITY : loses;
    case 10: return at == place ? -NAN : wins;
    default: return at == place ? INFINITY : at % 2 == 0 ? -INFINITY : wins;
  }
}
constexpr std::uint64_t kKindsOfRow = 12;

TEST_P(ArgReductions, FindTheExtremeOfLongRowsOfEitherSign) {
  if (!is_floating(GetParam())) GTEST_SKIP() << "NOT RUN: integers are compared as they are";
  std::mt19937_64 random(case_seed(test_name(), 0));
  std::uint64_t cases = 0;
  for (const std::int64_t width : {257, 263, 320, 383, 512, 1000, 1024, 66000}) {
    for (int round = 0; round < 6 && !HasFatalFailure(); ++round, ++cases) {
      ArgCase c;
      const std::int64_t rows = width > 2000 ? 3 : 24;
      c.in = {GetParam(), {rows, width}, {width, 1}};
      c.index = c.extreme = {DType::s64, {rows}, {1}};
      c.axis = 1;
      c.greatest = cases % 2 == 0;
      c.last = round == 5;
      const auto guard = round % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
      GuardedBuffer input(bytes_of(c.in), guard);
      for (std::int64_t row = 0; row < rows; ++row) {
        // Two like each other now and then: where one sign settles a row, it goes first in the next one.
        const std::uint64_t kind = row % 3 == 0 ? 1 : random() % kKindsOfRow;
        const std::int64_t place = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width));
        for (std::int64_t at = 0; at < width; ++at) {
          const double value = value_of_row(kind, at, place);
          put_signed(GetParam(), input.data(), row * width + at, c.greatest ? value : -value);
        }
      }
      check(c, "last", false, input, guard, c.text() + " of either sign");
    }
  }
  print(cases);
}

/// Columns are settled by a sign together, so that one of them keeps all others from it, or all are but for NaNs.
TEST_P(ArgReductions, FindTheExtremeOfColumnsOfEitherSign) {
  if (!is_floating(GetParam())) GTEST_SKIP() << "NOT RUN: integers are compared as they are";
  std::mt19937_64 random(case_seed(test_name(), 0));
  std::uint64_t cases = 0;
  for (const std::int64_t rows : {16, 17, 37, 64, 255, 301, 1030, 66000}) {
    for (int round = 0; round < 12 && !HasFatalFailure(); ++round, ++cases) {
      ArgCase c;
      constexpr std::int64_t kColumns[] = {64, 100, 333};
      const std::int64_t columns = rows > 2000 ? 17 : kColumns[random() % std::size(kColumns)];
      c.in = {GetParam(), {rows, columns}, {columns, 1}};
      c.index = c.extreme = {DType::s64, {columns}, {1}};
      c.axis = 0;
      c.greatest = random() % 2 == 0;
      c.last = round == 7;
      const auto guard = round % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
      GuardedBuffer input(bytes_of(c.in), guard);
      constexpr std::uint64_t kSettled[] = {0, 0, 7, 10, kKindsOfRow - 1};
      const std::int64_t odd = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns));
      for (std::int64_t column = 0; column < columns; ++column) {
        const bool any = round % 4 == 3 || (round % 4 != 0 && column == odd);
        const std::uint64_t kind = any ? random() % kKindsOfRow : kSettled[random() % std::size(kSettled)];
        const std::int64_t place = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
        for (std::int64_t row = 0; row < rows; ++row) {
          const double value = value_of_row(kind, row, place);
          put_signed(GetParam(), input.data(), row * columns + column, c.greatest ? value : -value);
        }
      }
      check(c, "last", false, input, guard, c.text() + " of either sign");
    }
  }
  print(cases);
}

INSTANTIATE_TEST_SUITE_P(Random, ArgReductions, ::testing::ValuesIn(kAllTypes),
                         [](const auto& type) { return std::string(to_string(type.param)); });

}  // namespace
}  // namespace tenfold::numeric

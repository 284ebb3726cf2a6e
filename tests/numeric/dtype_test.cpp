// SPDX-License-Identifier: Apache-2.0
//
// Reductions of every dtype, as core ops: random shapes, axes, layouts and bits, natively on every level of the machine
// and, one case of three, emulated on the others, against the reference evaluator. Integers must be exact and extremes
// equal to the bit; the rest is held against the stated bounds. Each program runs once more by schedules beside the
// heuristic's, which a tuning file may ask for. Each kind of axes set takes its turn, so that no cell
// of op, dtype, axes, nest and level stays empty.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "compile/compile.hpp"
#include "coverage.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "gaps.hpp"
#include "graph/eval/bound.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph_value.hpp"
#include "guarded_buffer.hpp"
#include "neighbour.hpp"
#include "prepared_case.hpp"
#include "schedule/packed.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

constexpr DType kAllTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16, DType::s8,  DType::u8,     DType::s16,
                               DType::u16, DType::s32, DType::u32,  DType::s64, DType::u64, DType::boolean};
constexpr const char* kCoreReductions[] = {"max",        "min",  "sum", "prod",    "l1",
                                           "sum_square", "mean", "l2",  "log_sum", "log_sum_exp"};
constexpr std::int64_t kSizes[] = {0,  1,  2,  3,  7,  8,  9,   15,  16,  17,  31,  32,
                                   33, 63, 64, 65, 66, 67, 127, 128, 129, 200, 257, 1030};
constexpr std::int64_t kUsualElements = 1200, kMostElements = 40'000;
constexpr std::int64_t kCasesPerReduction = 238;  ///< of each dtype: 30,940 in all, 34 of each axes class
/// Emulation is slow: of the levels that the machine lacks, one case of three, so that the matrix has no hole, and of
/// the cases of one width after another one of five.
constexpr std::int64_t kEmulatedEvery = 3, kEmulatedWidths = 5;
/// Of those with more elements, which would take most of the time, a quarter.
constexpr std::int64_t kSoonEmulated = 6000;
constexpr std::uint64_t kLateEmulatedEvery = 4;
/// Where each axes class ends up, once extents of 1 and neighbours have been folded.
constexpr std::pair<std::string_view, std::string_view> kPlaces[] = {{"none", "flat|columns"},
                                                                     {"first", "columns|staged_columns"},
                                                                     {"middle", "columns|staged_columns"},
                                                                     {"apart", "columns|staged_columns"},
                                                                     {"last", "rows|packed|staged_rows"},
                                                                     {"around", "rows|packed|staged_rows"},
                                                                     {"all", "rows|packed|staged_rows"}};
/// The same of what may run on the reference evaluator.
constexpr std::pair<std::string_view, std::string_view> kPlacesOrReference[] = {
    {"none", "flat|columns|reference"},
    {"first", "columns|staged_columns|reference"},
    {"middle", "columns|staged_columns|reference"},
    {"apart", "columns|staged_columns|reference"},
    {"last", "rows|packed|staged_rows|reference"},
    {"around", "rows|packed|staged_rows|reference"},
    {"all", "rows|packed|staged_rows|reference"}};

/// No dialect has sums or products of booleans.
bool may_run_on_the_reference(const std::string& reduction, DType dtype) {
  return dtype == DType::boolean && reduction != "max" && reduction != "min";
}

struct Drawn {
  graph::Graph graph;
  std::string text;
  TensorDesc in, out;
  std::int64_t reduced = 1;
};

/// Row-major with a gap after each row in one case of three.
Dims drawn_strides(const Dims& shape, std::mt19937_64& random) {
  Dims strides = row_major_strides(shape);
  if (shape.empty() || random() % 3 != 0) return strides;
  const std::int64_t gap = static_cast<std::int64_t>(random() % 3);
  const std::int64_t step = 1 + static_cast<std::int64_t>(random() % 5);
  std::int64_t at = step;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = at;
    at = at * std::max<std::int64_t>(1, shape[i]) + gap;
  }
  return strides;
}

/// The graph and the text of what is drawn.
void complete(Drawn& drawn, const std::string& reduction, const std::vector<std::int64_t>& axes) {
  graph::Graph& g = drawn.graph;
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = "reduce";
  op.attributes = {{"reduction", reduction}, {"axes", axes}, {"keep_dims", true}};
  op.inputs = {add_value(g, drawn.in)};
  op.outputs = {add_value(g, drawn.out)};
  g.ops.push_back(op);
  graph::connect(g);
  drawn.text = reduction + " " + std::string(to_string(drawn.in.dtype)) + " [";
  for (const std::int64_t dim : drawn.in.shape) drawn.text += std::to_string(dim) + " ";
  drawn.text += "] strides [";
  for (const std::int64_t stride : drawn.in.strides) drawn.text += std::to_string(stride) + " ";
  drawn.text += "] axes [";
  for (const std::int64_t axis : axes) drawn.text += std::to_string(axis) + " ";
  drawn.text += "]";
}

Drawn draw(const std::string& reduction, DType dtype, AxesClass axes_class, std::mt19937_64& random) {
  Drawn drawn;
  drawn.in.dtype = drawn.out.dtype = dtype;
  const auto [rank, axes] = draw_axes(axes_class, random);
  const std::int64_t most = random() % 8 == 0 ? kMostElements : kUsualElements;
  std::int64_t elements = 1;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    std::int64_t size = kSizes[random() % std::size(kSizes)];
    if (elements * size > most) size = 3;
    elements *= std::max<std::int64_t>(1, size);
    const bool is_reduced = std::ranges::count(axes, static_cast<std::int64_t>(dim)) > 0;
    drawn.in.shape.push_back(size);
    drawn.out.shape.push_back(is_reduced ? 1 : size);
    if (is_reduced) drawn.reduced *= size;
  }
  drawn.in.strides = drawn_strides(drawn.in.shape, random);
  drawn.out.strides = drawn_strides(drawn.out.shape, random);
  complete(drawn, reduction, axes);
  return drawn;
}

/// Short rows side by side, some of them with a gap after each, or after every few.
Drawn draw_packed(const std::string& reduction, DType dtype, std::int64_t width, std::mt19937_64& random) {
  Drawn drawn;
  drawn.in.dtype = drawn.out.dtype = dtype;
  const std::int64_t rows = drawn_rows(width, random);
  const std::int64_t outer = random() % 3 == 0 ? 3 : 1, gap = static_cast<std::int64_t>(random() % 4);
  const std::int64_t pitch = width + drawn_gap(random);
  drawn.in.shape = {outer, rows, width};
  drawn.in.strides = {rows * pitch + gap, pitch, 1};
  drawn.out.shape = {outer, rows, 1};
  drawn.out.strides = {rows + gap, 1, 1};
  drawn.reduced = width;
  complete(drawn, reduction, {2});
  return drawn;
}

/// Blocks of short rows over which few elements are kept, side by side.
Drawn draw_cells(const std::string& reduction, DType dtype, std::int64_t cell, std::mt19937_64& random) {
  Drawn drawn;
  drawn.in.dtype = drawn.out.dtype = dtype;
  // One case of four has rows of any length that some type packs, others are short.
  const auto count = static_cast<std::int64_t>(2 + random() % (random() % 4 == 0 ? 520 : 40));
  const auto rows = static_cast<std::int64_t>(8 + random() % (count * cell > 128 ? 12 : 70));
  const std::int64_t outer = random() % 3 == 0 ? 3 : 1, gap = static_cast<std::int64_t>(random() % 4);
  drawn.in.shape = {outer, rows, count, cell};
  const std::int64_t pitch = count * cell + drawn_gap(random);
  drawn.in.strides = {rows * pitch + gap, pitch, cell, 1};
  drawn.out.shape = {outer, rows, 1, cell};
  drawn.out.strides = {rows * cell + gap, cell, cell, 1};
  drawn.reduced = count;
  complete(drawn, reduction, {2});
  return drawn;
}

/// Columns that fit a vector step, enough rows of them for registers, reduced down the middle.
Drawn draw_narrow(const std::string& reduction, DType dtype, std::int64_t width, std::mt19937_64& random) {
  Drawn drawn;
  drawn.in.dtype = drawn.out.dtype = dtype;
  // One case of eight has so many rows that groups of 64 of them, as bytes may have, make some sweeps.
  const std::uint64_t most = random() % 8 == 0 ? 1500 : static_cast<std::uint64_t>(100 + 3000 / width);
  const std::int64_t rows = 20 + static_cast<std::int64_t>(random() % most);
  const std::int64_t outer = random() % 3 == 0 ? 2 : 1, gap = static_cast<std::int64_t>(random() % 4);
  drawn.in.shape = {outer, rows, width};
  drawn.in.strides = {rows * width + gap, width, 1};
  const bool both = random() % 4 == 0;
  drawn.out.shape = {both ? 1 : outer, 1, width};
  drawn.out.strides = {width + gap, width, 1};
  drawn.reduced = both ? outer * rows : rows;
  complete(drawn, reduction, both ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{1});
  return drawn;
}

/// Enough short rows, reduced along with what lies around them, that two kernels share the work.
/// Short rows and what else is reduced, with many rows that lie apart or few: of those the rows themselves come first.
Drawn draw_apart(const std::string& reduction, DType dtype, std::mt19937_64& random) {
  Drawn drawn;
  drawn.in.dtype = drawn.out.dtype = dtype;
  const std::int64_t least_rows = random() % 2 == 0 ? 32 : 2;
  const auto outer = static_cast<std::int64_t>(1 + random() % 3);
  const std::int64_t rows = least_rows + static_cast<std::int64_t>(random() % 30);
  const auto width = static_cast<std::int64_t>(2 + random() % 140), gap = static_cast<std::int64_t>(random() % 2);
  const std::int64_t least = random() % 2 == 0 ? 4000 / (outer * rows * width) + 1 : 2;
  const std::int64_t kept = least + static_cast<std::int64_t>(random() % 9);
  if (random() % 4 == 0) {
    // The innermost level is kept, and few rows of columns are in line.
    const auto inside = static_cast<std::int64_t>(2 + random() % 16),
               columns = static_cast<std::int64_t>(2 + random() % 40);
    drawn.in.shape = {least_rows + 5, outer, inside, columns};
    drawn.in.strides = {outer * inside * columns + gap, inside * columns, columns, 1};
    drawn.out.shape = {1, outer, 1, columns};
    drawn.out.strides = {outer * (columns + gap), columns + gap, columns, 1};
    drawn.reduced = drawn.in.shape[0] * inside;
    complete(drawn, reduction, {0, 2});
    return drawn;
  }
  drawn.in.shape = {outer, rows, kept, width};
  drawn.in.strides = {rows * kept * width + gap, kept * width, width, 1};
  drawn.out.shape = {outer, 1, kept, 1};
  drawn.out.strides = {kept + gap, kept, 1, 1};
  drawn.reduced = rows * width;
  complete(drawn, reduction, {1, 3});
  return drawn;
}

void fill_input(const Drawn& drawn, const std::string& reduction, std::byte* data, std::mt19937_64& random) {
  const bool product = reduction == "prod";
  fill_gaps(data, static_cast<std::size_t>(span_bytes(drawn.in).value()), random);
  // One case of four has values of one sign alone, for which an extreme is found in another way.
  const std::uint64_t signs = random() % 8;
  for (const std::int64_t at : element_offsets(drawn.in)) {
    const std::uint64_t bits = random();
    const int size = byte_size(drawn.in.dtype);
    if (is_floating(drawn.in.dtype)) {
      const double magnitude =
          product ? 1.0 + static_cast<double>(bits >> 54) * 0x1p-14 : static_cast<double>(bits >> 53);
      double value = (bits & 1) != 0 ? -magnitude : magnitude;
      if (!product && bits % 97 == 0) value = (bits & 2) != 0 ? 0.0 : -0.0;
      if (!product && bits % 1009 == 3) value = (bits & 2) != 0 ? NAN : -NAN;
      if (!product && bits % 1009 == 5) value = (bits & 2) != 0 ? INFINITY : -INFINITY;
      if (signs < 2) value = std::copysign(value, signs == 0 ? 1.0 : -1.0);
      graph::store_real(drawn.in.dtype, data, at, value);
    } else if (drawn.in.dtype == DType::boolean) {
      data[at] = static_cast<std::byte>(bits & 1);
    } else {
      const std::uint64_t value = product ? bits | 1 : bits;
      std::memcpy(data + at * size, &value, static_cast<std::size_t>(size));
    }
  }
}

/// Empty when `got` is right.
std::string judge(const Drawn& drawn, const std::byte* expected, const std::byte* got,
                  const std::vector<double>& bounds) {
  const DType dtype = drawn.out.dtype;
  const int size = byte_size(dtype);
  std::size_t position = 0;
  for (const std::int64_t at : element_offsets(drawn.out)) {
    const double bound = bounds.empty() ? 0 : bounds[position];
    ++position;
    if (std::memcmp(expected + at * size, got + at * size, static_cast<std::size_t>(size)) == 0) continue;
    const double want = graph::load_real(dtype, expected, at), have = graph::load_real(dtype, got, at);
    if (bound > 0 && !std::isnan(have) && graph::agree(dtype, want, have, bound)) continue;
    return "element at " + std::to_string(at) + " is " + std::to_string(have) + ", expected " + std::to_string(want) +
           " within " + std::to_string(bound);
  }
  return "";
}

class EveryType : public ::testing::TestWithParam<DType> {
 protected:
  void check(const std::string& reduction, AxesClass axes, bool emulate, std::uint64_t index) {
    std::mt19937_64 random(case_seed(test_name(), index));
    check(draw(reduction, GetParam(), axes, random), reduction, to_string(axes), emulate, index, random);
  }

  void check(const Drawn& drawn, const std::string& reduction, std::string_view cell, bool emulate, std::uint64_t index,
             std::mt19937_64& random) {
    const std::string where = drawn.text + "\n" + repeat_line(test_name(), index);
    const auto guard = index % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    const auto bytes = [](const TensorDesc& desc) { return static_cast<std::size_t>(span_bytes(desc).value()); };
    GuardedBuffer input(bytes(drawn.in), guard);
    std::vector<std::byte> expected(bytes(drawn.out) + 8);
    fill_input(drawn, reduction, input.data(), random);
    graph::Graph core = drawn.graph;
    const Status passes = graph::run_pipeline(core);
    ASSERT_TRUE(passes.ok()) << passes.message() << "\n" << where;
    const graph::ConstTensor in{drawn.in, input.data()};
    const graph::MutableTensor out{drawn.out, expected.data()};
    std::vector<std::vector<double>> bounds;
    const Status solved = graph::evaluate_with_bounds(drawn.graph, {&in, 1}, {&out, 1}, bounds);
    ASSERT_TRUE(solved.ok()) << solved.message() << "\n" << where;
    bounds.resize(1);
    std::vector<std::byte> first;
    std::vector<compiler::Compiled> ran;
    emulate =
        emulate && (numel(drawn.in.shape).value() <= kSoonEmulated || index / kEmulatedEvery % kLateEmulatedEvery == 0);
    for (const target::Isa isa : all_levels()) {
      const bool native = std::ranges::count(native_levels(), isa) > 0;
      if (!native && !emulate) continue;
      Result<compiler::Compiled> compiled = compiler::compile(core, target_of(isa));
      ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << where;
      coverage_.count(reduction, cell, compiled.value(), isa);
      const auto same = [&](const compiler::Compiled& c) { return same_program(c.program, compiled.value().program); };
      if (!native && std::ranges::any_of(ran, same)) continue;
      const std::string at_level = std::string(target::to_string(isa)) + (native ? "\n" : " emulated\n");
      const auto hold = [&](const compiler::Compiled& c, const std::string& what) {
        GuardedBuffer output(bytes(drawn.out), guard);
        ASSERT_EQ(run(c, isa, input, output), "") << at_level << what << where;
        ASSERT_EQ(judge(drawn, expected.data(), output.data(), bounds[0]), "") << at_level << what << where;
        const std::vector<std::byte> elements = gathered(drawn, output);
        if (first.empty()) first = elements;
        ASSERT_EQ(elements, first) << "other bits on " << at_level << what << where;
      };
      hold(compiled.value(), "");
      if (HasFatalFailure()) return;
      const auto neighbour = compile_neighbour(core, target_of(isa), compiled.value(), index / kEmulatedEvery);
      if (neighbour) {
        ASSERT_TRUE(neighbour->ok()) << neighbour->status().message();
        hold(neighbour->value(), first_schedule(neighbour->value()) + "\n");
        if (HasFatalFailure()) return;
      }
      ran.push_back(std::move(compiled).value());
    }
  }

  /// A row's result has the same bits wherever among the others the row lies.
  void check_moved_rows(const Drawn& drawn, const std::string& reduction, std::uint64_t index,
                        std::mt19937_64& random) {
    if (native_levels().empty() || drawn.in.shape[0] != 1) return;
    const target::Isa isa = native_levels().back();
    graph::Graph core = drawn.graph;
    ASSERT_TRUE(graph::run_pipeline(core).ok());
    const Result<compiler::Compiled> compiled = compiler::compile(core, target_of(isa));
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto rows = static_cast<std::size_t>(drawn.in.shape[1]);
    const auto in_row = static_cast<std::size_t>(drawn.in.strides[1] * byte_size(drawn.in.dtype));
    const auto out_row = static_cast<std::size_t>(drawn.out.strides[1] * byte_size(drawn.out.dtype));
    GuardedBuffer input(rows * in_row, GuardedBuffer::Guard::after), moved(rows * in_row, GuardedBuffer::Guard::after);
    GuardedBuffer output(rows * out_row, GuardedBuffer::Guard::after);
    GuardedBuffer moved_output(rows * out_row, GuardedBuffer::Guard::after);
    fill_input(drawn, reduction, input.data(), random);
    const std::size_t by = random() % rows;
    const auto place = [&](std::size_t row) { return (row + by) % rows; };
    for (std::size_t row = 0; row < rows; ++row)
      std::memcpy(moved.data() + place(row) * in_row, input.data() + row * in_row, in_row);
    ASSERT_EQ(run(compiled.value(), isa, input, output), "");
    ASSERT_EQ(run(compiled.value(), isa, moved, moved_output), "");
    for (std::size_t row = 0; row < rows; ++row)
      ASSERT_EQ(std::memcmp(output.data() + row * out_row, moved_output.data() + place(row) * out_row, out_row), 0)
          << "row " << row << ", moved by " << by << "\n"
          << drawn.text << "\n"
          << repeat_line(test_name(), index);
  }

  static std::string first_schedule(const compiler::Compiled& compiled) {
    for (const compiler::RegionReport& region : compiled.regions)
      if (!region.kernels.empty()) return "tuned to " + schedule::print(region.kernels[0].schedule);
    return {};
  }

  static target::Target target_of(target::Isa isa) {
    target::Target target = target::host().ok() ? target::host().value() : target::Target{};
    target.isa = isa;
    return target;
  }

  static std::vector<std::byte> gathered(const Drawn& drawn, const GuardedBuffer& output) {
    std::vector<std::byte> elements;
    const int size = byte_size(drawn.out.dtype);
    for (const std::int64_t at : element_offsets(drawn.out))
      elements.insert(elements.end(), output.data() + at * size, output.data() + (at + 1) * size);
    return elements;
  }

  static std::string run(const compiler::Compiled& compiled, target::Isa isa, const GuardedBuffer& input,
                         GuardedBuffer& output) {
    const Bytes in{const_cast<std::byte*>(input.data()), input.size()}, out{output.data(), output.size()};
    const Status status = run_at(compiled.program, isa, {&in, 1}, {&out, 1});
    return status.ok() ? "" : status.message();
  }

  Coverage coverage_;
};

TEST_P(EveryType, AgreesWithTheReference) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  constexpr auto kClasses = static_cast<std::int64_t>(kAxesClasses.size());
  const std::int64_t cases = scaled_cases(kCasesPerReduction);
  std::uint64_t index = 0;
  for (const char* reduction : kCoreReductions)
    for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
      if (only_case().value_or(index) != index) continue;
      check(reduction, kAxesClasses[static_cast<std::size_t>(i % kClasses)], i / kClasses % kEmulatedEvery == 0, index);
    }
  const std::string title = std::to_string(index) + " cases of " + std::string(to_string(GetParam())) + ", seed " +
                            std::to_string(test_seed());
  std::fputs(coverage_.table(title, all_levels()).c_str(), stdout);
  if (only_case() || cases < kCasesPerReduction || HasFailure()) return;
  std::vector<std::string> kernels, either;
  for (const std::string reduction : kCoreReductions)
    (may_run_on_the_reference(reduction, GetParam()) ? either : kernels).push_back(reduction);
  EXPECT_EQ(coverage_.missing(kernels, kPlaces, all_levels()), "");
  EXPECT_EQ(coverage_.missing(either, kPlacesOrReference, all_levels()), "");
}

TEST_P(EveryType, PackedRowsOfEveryWidth) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  // Each width up to that of sums once, and some that are wider.
  constexpr std::int64_t kWidths = schedule::kMostPackedSum - schedule::kLeastPackedWidth + 1, kWideCases = 55;
  const std::int64_t cases = scaled_cases(kWidths + kWideCases);
  std::uint64_t index = 0;
  for (const char* reduction : kCoreReductions)
    for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
      if (only_case().value_or(index) != index) continue;
      std::mt19937_64 random(case_seed(test_name(), index));
      const auto between = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
      };
      const std::int64_t width = cases < kWidths + kWideCases
                                     ? between(schedule::kLeastPackedWidth, schedule::kMostPackedWidth)
                                 : i < kWidths ? schedule::kLeastPackedWidth + i
                                               : between(schedule::kMostPackedSum + 1, schedule::kMostPackedWidth);
      const Drawn drawn = draw_packed(reduction, GetParam(), width, random);
      check(drawn, reduction, "last", index % kEmulatedWidths == 0, index, random);
      if (!HasFatalFailure()) check_moved_rows(drawn, reduction, index, random);
    }
  const std::string title = std::to_string(index) + " packed cases of " + std::string(to_string(GetParam())) +
                            ", seed " + std::to_string(test_seed());
  std::fputs(coverage_.table(title, all_levels()).c_str(), stdout);
  if (only_case() || cases < kWidths || HasFailure() || GetParam() == DType::boolean) return;
  EXPECT_EQ(
      coverage_.missing(std::vector<std::string>{"max", "min", "sum", "prod"},
                        std::vector<std::pair<std::string_view, std::string_view>>{{"last", "packed"}}, all_levels()),
      "");
}

TEST_P(EveryType, PackedCells) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  constexpr std::int64_t kCells = schedule::kMostCell - 1, kOfEach = 12;
  const std::int64_t cases = scaled_cases(kCells * kOfEach);
  std::uint64_t index = 0;
  for (const char* reduction : kCoreReductions)
    for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
      if (only_case().value_or(index) != index) continue;
      std::mt19937_64 random(case_seed(test_name(), index));
      const Drawn drawn = draw_cells(reduction, GetParam(), 2 + i % kCells, random);
      check(drawn, reduction, "middle", index % kEmulatedWidths == 0, index, random);
      if (!HasFatalFailure()) check_moved_rows(drawn, reduction, index, random);
    }
  const std::string title = std::to_string(index) + " cases of cells of " + std::string(to_string(GetParam())) +
                            ", seed " + std::to_string(test_seed());
  std::fputs(coverage_.table(title, all_levels()).c_str(), stdout);
  if (only_case() || cases < kCells * kOfEach || HasFailure() || GetParam() == DType::boolean) return;
  EXPECT_EQ(
      coverage_.missing(std::vector<std::string>{"max", "min", "sum", "prod"},
                        std::vector<std::pair<std::string_view, std::string_view>>{{"middle", "packed"}}, all_levels()),
      "");
}

TEST_P(EveryType, NarrowColumnsOfEveryWidth) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  constexpr std::int64_t kWidths = 80;
  const std::int64_t cases = scaled_cases(kWidths);
  std::uint64_t index = 0;
  for (const char* reduction : kCoreReductions)
    for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
      if (only_case().value_or(index) != index) continue;
      std::mt19937_64 random(case_seed(test_name(), index));
      const std::int64_t width = 1 + (cases < kWidths ? static_cast<std::int64_t>(random() % kWidths) : i % kWidths);
      const Drawn drawn = draw_narrow(reduction, GetParam(), width, random);
      const bool emulate = (i + static_cast<std::int64_t>(index) / kWidths) % kEmulatedWidths == 0;
      check(drawn, reduction, "middle", emulate, index, random);
    }
  std::printf("%llu narrow cases of %s, seed %llu\n", static_cast<unsigned long long>(index),
              std::string(to_string(GetParam())).c_str(), static_cast<unsigned long long>(test_seed()));
}

TEST_P(EveryType, LevelsApart) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const std::int64_t cases = scaled_cases(40);
  std::uint64_t index = 0;
  for (const char* reduction : kCoreReductions)
    for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
      if (only_case().value_or(index) != index) continue;
      std::mt19937_64 random(case_seed(test_name(), index));
      const Drawn drawn = draw_apart(reduction, GetParam(), random);
      check(drawn, reduction, "around", index % kEmulatedWidths == 0, index, random);
    }
  std::printf("%llu cases apart of %s, seed %llu\n", static_cast<unsigned long long>(index),
              std::string(to_string(GetParam())).c_str(), static_cast<unsigned long long>(test_seed()));
}

INSTANTIATE_TEST_SUITE_P(Random, EveryType, ::testing::ValuesIn(kAllTypes),
                         [](const auto& type) { return std::string(to_string(type.param)); });

}  // namespace
}  // namespace tenfold::numeric

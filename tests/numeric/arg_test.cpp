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

#include "compile/compile.hpp"
#include "coverage.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "gaps.hpp"
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
constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 18, 23, 24, 31, 32, 33, 34, 47, 48, 49, 63, 64,
                                   65, 127, 128, 129, 200, 257,
                                   // In groups of steps, with steps and elements left over or without.
                                   384, 385, 399, 447, 449, 512, 530};
constexpr std::int64_t kUsualElements = 1200, kMostElements = 30'000;
/// For threads: above 256 KiB of one byte an element, below which the runtime touches no pool.
constexpr std::int64_t kLargeElements = 400'000;
constexpr std::array<std::string_view, 4> kAxes{"only", "first", "middle", "last"};
constexpr std::int64_t kCases = 2312;  ///< of each dtype: 30,056 in all
/// Emulation is slow: of the levels that the machine lacks, one case of three.
constexpr std::int64_t kEmulatedEvery = 3;
constexpr std::int64_t kLargeEvery = 48;
constexpr std::pair<std::string_view, std::string_view> kPlaces[] = {
    {"only", "rows"}, {"first", "columns"}, {"middle", "columns"}, {"last", "rows"}};

struct ArgCase {
  TensorDesc in, index, extreme;
  std::int64_t axis = 0;
  bool greatest = true, last = false;
  bool beside = false;         ///< the extreme is wanted too
  bool extreme_first = false;  ///< its op comes first

  graph::Graph graph() const;
  std::string text() const;
};

graph::Op reduction(const ArgCase& c, bool is_index) {
  const TensorDesc& out = is_index ? c.index : c.extreme;
  graph::Op op;
  op.id = is_index ? 1 : 2;
  op.dialect = graph::Dialect::core;
  op.kind = is_index ? "arg_reduce" : "reduce";
  const bool keep = out.shape.size() == c.in.shape.size();
  if (is_index) {
    op.attributes = {{"mode", std::string(c.greatest ? "argmax" : "argmin")},
                     {"axis", c.axis},
                     {"keep_dims", keep},
                     {"select_last", c.last}};
  } else {
    op.attributes = {
        {"reduction", std::string(c.greatest ? "max" : "min")}, {"axes", Dims{c.axis}}, {"keep_dims", keep}};
  }
  op.inputs = {0};
  return op;
}

graph::Graph ArgCase::graph() const {
  graph::Graph g;
  add_value(g, in);
  const auto add_op = [&](bool is_index) {
    graph::Op op = reduction(*this, is_index);
    op.outputs = {add_value(g, is_index ? index : extreme)};
    g.ops.push_back(op);
  };
  if (beside && extreme_first) add_op(false);
  add_op(true);
  if (beside && !extreme_first) add_op(false);
  graph::connect(g);
  return g;
}

std::string list(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t dim : dims) text += std::to_string(dim) + " ";
  return text + "]";
}

std::string ArgCase::text() const {
  return std::string(greatest ? "argmax " : "argmin ") + (last ? "last " : "first ") +
         (beside ? extreme_first ? "after the extreme " : "before the extreme " : "") +
         std::string(to_string(in.dtype)) + " " + list(in.shape) + " strides " + list(in.strides) + " axis " +
         std::to_string(axis) + " gives " + std::string(to_string(index.dtype)) + " " + list(index.shape) +
         " strides " + list(index.strides);
}

/// Row-major, or with gaps between and after the elements of a row.
Dims drawn_strides(const Dims& shape, std::mt19937_64& random) {
  Dims strides = row_major_strides(shape);
  if (shape.empty() || random() % 3 != 0) return strides;
  const std::int64_t gap = static_cast<std::int64_t>(random() % 3);
  std::int64_t at = 1 + static_cast<std::int64_t>(random() % 2);
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = at;
    at = at * std::max<std::int64_t>(1, shape[i]) + gap;
  }
  return strides;
}

Dims without(Dims shape, std::int64_t axis, bool keep) {
  if (keep) {
    shape[static_cast<std::size_t>(axis)] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  return shape;
}

/// The rank and the axis, `axes` being an index into kAxes.
std::pair<std::size_t, std::size_t> draw_axis(std::size_t axes, std::mt19937_64& random) {
  if (axes == 0) return {1, 0};
  const std::size_t rank = (axes == 2 ? 3 : 2) + random() % (axes == 2 ? 2 : 3);
  if (axes == 1) return {rank, 0};
  return {rank, axes == 3 ? rank - 1 : 1 + random() % (rank - 2)};
}

ArgCase draw(DType dtype, std::size_t axes, bool large, std::mt19937_64& random) {
  ArgCase c;
  c.in.dtype = c.extreme.dtype = dtype;
  c.index.dtype = random() % 3 == 0 ? DType::s32 : DType::s64;
  const auto [rank, axis] = draw_axis(axes, random);
  const std::int64_t most = large ? kLargeElements : random() % 8 == 0 ? kMostElements : kUsualElements;
  std::int64_t elements = 1;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    std::int64_t size = kSizes[random() % std::size(kSizes)];
    if (elements * size > most) size = 3;
    elements *= size;
    c.in.shape.push_back(size);
  }
  if (large) c.in.shape[random() % rank] *= std::max<std::int64_t>(1, most / elements);
  c.axis = static_cast<std::int64_t>(axis);
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  c.beside = random() % 2 == 0;
  c.extreme_first = random() % 2 == 0;
  c.index.shape = without(c.in.shape, c.axis, random() % 2 == 0);
  c.extreme.shape = without(c.in.shape, c.axis, random() % 2 == 0);
  c.in.strides = drawn_strides(c.in.shape, random);
  c.index.strides = drawn_strides(c.index.shape, random);
  c.extreme.strides = drawn_strides(c.extreme.shape, random);
  return c;
}

/// Short rows side by side, some of them with a gap after each, or after every few.
ArgCase draw_packed(DType dtype, std::int64_t width, std::mt19937_64& random) {
  ArgCase c;
  const auto rows = static_cast<std::int64_t>(8 + random() % (width > 128 ? 40 : 120));
  const std::int64_t outer = random() % 3 == 0 ? 3 : 1, gap = static_cast<std::int64_t>(random() % 4);
  const std::int64_t pitch = width + drawn_gap(random);
  c.in = {dtype, {outer, rows, width}, {rows * pitch + gap, pitch, 1}};
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outer, rows, 1}, {rows + gap, 1, 1}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.axis = 2;
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  return c;
}

/// Rows of cells, few elements side by side that have an index each.
ArgCase draw_cells(DType dtype, std::int64_t cell, std::mt19937_64& random) {
  ArgCase c;
  const auto count = static_cast<std::int64_t>(2 + random() % (random() % 4 == 0 ? 300 : 40));
  const auto rows = static_cast<std::int64_t>(8 + random() % (count * cell > 128 ? 12 : 70));
  const std::int64_t outer = random() % 3 == 0 ? 3 : 1, gap = static_cast<std::int64_t>(random() % 4);
  const std::int64_t pitch = count * cell + drawn_gap(random);
  c.in = {dtype, {outer, rows, count, cell}, {rows * pitch + gap, pitch, cell, 1}};
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outer, rows, 1, cell}, {rows * cell + gap, cell, cell, 1}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.axis = 2;
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  return c;
}

/// Rows of few columns one after another, enough of them for steps, or groups, of several rows.
ArgCase draw_narrow(DType dtype, std::int64_t width, std::mt19937_64& random) {
  ArgCase c;
  // One case of eight has so many rows that keys of bytes are flushed between two steps.
  const std::uint64_t most = random() % 8 == 0 ? 6000 : static_cast<std::uint64_t>(100 + 3000 / width);
  const auto rows = static_cast<std::int64_t>(17 + random() % most);
  const std::int64_t outer = random() % 3 == 0 ? 2 : 1, gap = static_cast<std::int64_t>(random() % 4);
  c.in = {dtype, {outer, rows, width}, {rows * width + gap, width, 1}};
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outer, 1, width}, {width + gap, width, 1}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.axis = 1;
  c.greatest = random() % 2 == 0;
  c.last = random() % 3 == 0;
  c.beside = random() % 4 == 0;
  return c;
}

/// Few long rows, or a long tensor of few columns: what is read in pieces where there are several cores.
ArgCase draw_long(DType dtype, std::mt19937_64& random) {
  ArgCase c;
  const bool rows = random() % 2 == 0;
  const auto outputs = static_cast<std::int64_t>(1 + random() % (rows ? 2 : 9));
  const auto gap = static_cast<std::int64_t>(random() % 4);
  const std::int64_t extent =
      (1 << 20) / byte_size(dtype) / outputs + 1 + static_cast<std::int64_t>(random() % (1 << 15));
  c.in = rows ? TensorDesc{dtype, {outputs, extent}, {extent + gap, 1}}
              : TensorDesc{dtype, {extent, outputs}, {outputs + gap, 1}};
  c.axis = rows ? 1 : 0;
  c.index = {random() % 3 == 0 ? DType::s32 : DType::s64, {outputs}, {1 + gap}};
  c.extreme = {dtype, c.index.shape, c.index.strides};
  c.greatest = random() % 2 == 0;
  c.last = random() % 2 == 0;
  // Beyond 2^20 elements a row's index and extreme are two regions.
  c.beside = byte_size(dtype) > 1 && random() % 8 == 0;
  return c;
}

/// The value that arg-max, or arg-min, wants least.
void put_worst(const ArgCase& c, std::byte* data, std::int64_t at) {
  const int size = byte_size(c.in.dtype);
  const DTypeKind kind = row(c.in.dtype).kind;
  if (is_floating(c.in.dtype)) return graph::store_real(c.in.dtype, data, at, c.greatest ? -INFINITY : INFINITY);
  std::uint64_t bits = c.greatest ? 0 : kind == DTypeKind::boolean ? 1 : ~std::uint64_t{0};
  if (kind == DTypeKind::signed_integer) bits = (std::uint64_t{1} << (8 * size - 1)) - (c.greatest ? 0 : 1);
  std::memcpy(data + at * size, &bits, static_cast<std::size_t>(size));
}

/// A real, NaNs with their signs.
void put_signed(DType dtype, std::byte* data, std::int64_t at, double value) {
  graph::store_real(dtype, data, at, value);
  if (std::isnan(value) && std::signbit(value)) data[(at + 1) * byte_size(dtype) - 1] |= std::byte{0x80};
}

enum class Fill { any, few, worst, ordered };

void fill_input(const ArgCase& c, std::byte* data, std::mt19937_64& random) {
  fill_gaps(data, static_cast<std::size_t>(span_bytes(c.in).value()), random);
  const Fill fill = static_cast<Fill>(random() % 4);
  const int size = byte_size(c.in.dtype);
  const bool nans = random() % 3 == 0;
  std::uint64_t counted = random();
  for (const std::int64_t at : element_offsets(c.in)) {
    const std::uint64_t bits = random();
    counted += fill == Fill::ordered ? 1 : 0;
    if (fill == Fill::worst && bits % 61 != 0) {
      put_worst(c, data, at);
    } else if (is_floating(c.in.dtype)) {
      // Few different ones make ties, zeros of both signs among them.
      double value = fill == Fill::few ? static_cast<double>(bits % 3) - 1 : static_cast<double>(bits >> 40);
      if ((bits & 1) != 0) value = -value;
      if (fill == Fill::ordered) value = static_cast<double>(counted % 1024);
      if (bits % 211 == 3) value = (bits & 1024) != 0 ? INFINITY : -INFINITY;
      if (nans && bits % 199 == 5) value = (bits & 1024) != 0 ? NAN : -NAN;
      put_signed(c.in.dtype, data, at, value);
    } else if (c.in.dtype == DType::boolean) {
      data[at] = static_cast<std::byte>(bits & 1);
    } else {
      // Beyond 2^53 two neighbours are one double; ties of the few.
      std::uint64_t value = fill == Fill::few ? bits % 3 - 1 : bits;
      if (fill == Fill::ordered) value = (std::uint64_t{1} << 62) + counted % 256;
      std::memcpy(data + at * size, &value, static_cast<std::size_t>(size));
    }
  }
}

/// The worst there is, but for a few elements that are all the same.
void fill_few(const ArgCase& c, std::byte* data, std::mt19937_64& random) {
  const std::vector<std::int64_t> offsets = element_offsets(c.in);
  for (const std::int64_t at : offsets) put_worst(c, data, at);
  const double value = random() % 2 == 0 ? NAN : 0;
  for (std::uint64_t few = 1 + random() % 6; few > 0; --few) {
    const std::int64_t at = offsets[random() % offsets.size()];
    const auto size = static_cast<std::size_t>(byte_size(c.in.dtype));
    if (is_floating(c.in.dtype)) {
      graph::store_real(c.in.dtype, data, at, value);
    } else {
      std::memset(data + at * byte_size(c.in.dtype), c.in.dtype == DType::boolean && !c.greatest ? 0 : 1, size);
    }
  }
}

std::size_t bytes_of(const TensorDesc& desc) { return static_cast<std::size_t>(span_bytes(desc).value()); }

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
  const std::int64_t widths =
      schedule::most_packed_width(schedule::Lanes::arg, GetParam()) - schedule::kLeastPackedWidth + 1;
  const std::int64_t cases = scaled_cases(3 * widths);
  std::uint64_t index = 0;
  for (std::int64_t i = 0; i < cases && !HasFatalFailure(); ++i, ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const std::int64_t width =
        schedule::kLeastPackedWidth +
        (cases < widths ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(widths)) : i % widths);
    const ArgCase c = draw_packed(GetParam(), width, random);
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.in), guard);
    fill_input(c, input.data(), random);
    check(c, "last", i % kEmulatedEvery == 0, input, guard, c.text() + "\n" + repeat_line(test_name(), index));
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
    check(c, "middle", i % kEmulatedEvery == 0, input, guard, c.text() + "\n" + repeat_line(test_name(), index));
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
    check(c, "middle", i % kEmulatedEvery == 0, input, guard, c.text() + "\n" + repeat_line(test_name(), index));
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

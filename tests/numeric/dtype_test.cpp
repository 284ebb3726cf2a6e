// SPDX-License-Identifier: Apache-2.0
//
// Reductions of every dtype, as core ops: random shapes, axes, layouts and bits, natively on every level of the machine
// and, one case of three, emulated on the others, against the reference evaluator. Integers must be exact and extremes
// equal to the bit; the rest is held against the stated bounds. Each kind of axes set takes its turn, so that no cell
// of op, dtype, axes, nest and level stays empty.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "compile/compile.hpp"
#include "coverage.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/bound.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
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
/// Emulation is slow: of the levels that the machine lacks, one case of three.
constexpr std::int64_t kEmulatedEvery = 3;
/// Where each axes class ends up, once extents of 1 and neighbours have been folded.
constexpr std::pair<std::string_view, std::string_view> kPlaces[] = {{"none", "flat|columns"},
                                                                     {"first", "columns|staged_columns"},
                                                                     {"middle", "columns|staged_columns"},
                                                                     {"apart", "columns|staged_columns"},
                                                                     {"last", "rows|staged_rows"},
                                                                     {"around", "rows|staged_rows"},
                                                                     {"all", "rows|staged_rows"}};
/// The same of what may run on the reference evaluator.
constexpr std::pair<std::string_view, std::string_view> kPlacesOrReference[] = {
    {"none", "flat|columns|reference"},
    {"first", "columns|staged_columns|reference"},
    {"middle", "columns|staged_columns|reference"},
    {"apart", "columns|staged_columns|reference"},
    {"last", "rows|staged_rows|reference"},
    {"around", "rows|staged_rows|reference"},
    {"all", "rows|staged_rows|reference"}};

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
  const std::int64_t step = 1 + static_cast<std::int64_t>(random() % 2);
  std::int64_t at = step;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = at;
    at = at * std::max<std::int64_t>(1, shape[i]) + gap;
  }
  return strides;
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
  graph::Graph& g = drawn.graph;
  for (const TensorDesc& desc : {drawn.in, drawn.out}) {
    graph::Value value;
    value.id = static_cast<std::int64_t>(g.values.size());
    value.dtype = desc.dtype;
    value.ranked = true;
    value.shape = desc.shape;
    value.strides = desc.strides == row_major_strides(desc.shape) ? Dims() : desc.strides;
    g.values.push_back(value);
  }
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = "reduce";
  op.attributes = {{"reduction", reduction}, {"axes", axes}, {"keep_dims", true}};
  op.inputs = {0};
  op.outputs = {1};
  g.ops.push_back(op);
  graph::connect(g);
  drawn.text = reduction + " " + std::string(to_string(dtype)) + " [";
  for (const std::int64_t dim : drawn.in.shape) drawn.text += std::to_string(dim) + " ";
  drawn.text += "] strides [";
  for (const std::int64_t stride : drawn.in.strides) drawn.text += std::to_string(stride) + " ";
  drawn.text += "] axes [";
  for (const std::int64_t axis : axes) drawn.text += std::to_string(axis) + " ";
  drawn.text += "]";
  return drawn;
}

void fill_input(const Drawn& drawn, const std::string& reduction, std::byte* data, std::mt19937_64& random) {
  const bool product = reduction == "prod";
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
    const Drawn drawn = draw(reduction, GetParam(), axes, random);
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
    for (const target::Isa isa : all_levels()) {
      const bool native = std::ranges::count(native_levels(), isa) > 0;
      if (!native && !emulate) continue;
      Result<compiler::Compiled> compiled = compiler::compile(core, target_of(isa));
      ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << where;
      coverage_.count(reduction, to_string(axes), compiled.value(), isa);
      const auto same = [&](const compiler::Compiled& c) { return same_program(c.program, compiled.value().program); };
      if (!native && std::ranges::any_of(ran, same)) continue;
      GuardedBuffer output(bytes(drawn.out), guard);
      const std::string at_level = std::string(target::to_string(isa)) + (native ? "\n" : " emulated\n") + where;
      ASSERT_EQ(run(compiled.value(), isa, native, input, output), "") << at_level;
      ASSERT_EQ(judge(drawn, expected.data(), output.data(), bounds[0]), "") << at_level;
      const std::vector<std::byte> elements = gathered(drawn, output);
      if (ran.empty()) first = elements;
      ASSERT_EQ(elements, first) << "other bits on " << at_level;
      ran.push_back(std::move(compiled).value());
    }
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

  static std::string run(const compiler::Compiled& compiled, target::Isa isa, bool native, const GuardedBuffer& input,
                         GuardedBuffer& output) {
    Status status;
    if (native) {
      const void* const in = input.data();
      void* const out = output.data();
      status = runtime::run(compiled.program, {&in, 1}, {&out, 1}, nullptr, 1);
    } else {
      const Bytes in{const_cast<std::byte*>(input.data()), input.size()}, out{output.data(), output.size()};
      status = emulated_run(compiled.program, isa, {&in, 1}, {&out, 1});
    }
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

INSTANTIATE_TEST_SUITE_P(Random, EveryType, ::testing::ValuesIn(kAllTypes),
                         [](const auto& type) { return std::string(to_string(type.param)); });

}  // namespace
}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
//
// Ops that walk lines in order (compile/lower/ordered.hpp): sums so far, from either end, with and without their own
// element, and the first of all elements in either direction with their indices, of long lines or in many places too.
// Random shapes, axes, layouts and numbers with ties, zeros of both signs, infinities and NaNs, lines around the widths
// of pieces, buffers that end at a page that cannot be touched. The sums of these numbers are exact, so that every
// level must give the reference's bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/element.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "graph_value.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16, DType::s8,  DType::u8,
                            DType::s16, DType::u16, DType::s32,  DType::u32, DType::s64, DType::u64};
/// Around vectors, sweeps, and pieces of lines, of which there may be one, two, or some and a rest.
constexpr std::int64_t kLines[] = {2,  3,  4,  5,  7,  8,  9,  15,  16,  17,  31,  33,  47,  48,
                                   49, 63, 64, 65, 95, 96, 97, 127, 128, 131, 192, 193, 200, 333};
constexpr std::int64_t kOthers[] = {1, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70, 129};
/// Of few lines, which are cut into pieces where their length has a divisor that does.
constexpr std::int64_t kLongLines[] = {512,  520,  521,  577,  593,  600,  999,  1000,
                                       1024, 1031, 1600, 2048, 3000, 4096, 4219, 8200};
constexpr std::int64_t kMostElements = 12'000;
constexpr std::uint64_t kCases = 250;  ///< of each dtype

struct OrderedCase {
  std::vector<TensorDesc> tensors;  ///< the input, then the outputs
  graph::Op op;
};

/// Row-major, or with gaps, or with the first two dims the other way round.
Dims drawn_strides(const Dims& shape, std::mt19937_64& random) {
  Dims strides = row_major_strides(shape);
  const std::uint64_t kind = random() % 5;
  if (kind >= 2) return strides;
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (kind == 0 && order.size() > 1) std::swap(order[0], order[1]);
  std::int64_t at = 1 + static_cast<std::int64_t>(random() % 2);
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = at;
    at = at * shape[order[i]] + static_cast<std::int64_t>(random() % 3);
  }
  return strides;
}

OrderedCase draw(DType dtype, bool is_long, std::mt19937_64& random) {
  OrderedCase c;
  Dims shape;
  const std::size_t rank = 1 + random() % 4, axis = random() % rank;
  std::int64_t elements = is_long ? kLongLines[random() % std::size(kLongLines)] : kLines[random() % std::size(kLines)];
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const std::int64_t size = dim == axis ? elements : kOthers[random() % std::size(kOthers)];
    shape.push_back(size);
  }
  for (std::size_t dim = 0; dim < rank; ++dim) {
    if (dim == axis) continue;
    if (is_long || elements * shape[dim] > kMostElements) shape[dim] = 1 + shape[dim] % 2;
    elements *= shape[dim];
  }
  c.tensors.push_back({dtype, shape, drawn_strides(shape, random)});
  c.op.dialect = graph::Dialect::core;
  c.op.kind = random() % 2 == 0 ? "scan" : "top_k";
  c.op.attributes = {{"axis", static_cast<std::int64_t>(axis)}};
  if (c.op.kind == "scan") {
    c.op.attributes.push_back({"exclusive", random() % 3 == 0});
    c.op.attributes.push_back({"reverse", random() % 3 == 0});
    c.tensors.push_back({dtype, shape, drawn_strides(shape, random)});
    return c;
  }
  // More than 16 are selected (compile/lower/selection.hpp), and so are the first of long lines.
  constexpr std::uint64_t kPlaces[] = {6, 6, 6, 16, 16, 60};
  const auto k = static_cast<std::int64_t>(1 + random() % kPlaces[random() % std::size(kPlaces)]);
  c.op.attributes.push_back({"k", std::min(k, shape[axis])});
  c.op.attributes.push_back({"largest", random() % 3 != 0});
  shape[axis] = std::min(k, shape[axis]);
  c.tensors.push_back({dtype, shape, drawn_strides(shape, random)});
  c.tensors.push_back({random() % 3 == 0 ? DType::s32 : DType::s64, shape, drawn_strides(shape, random)});
  return c;
}

graph::Graph graph_of(const OrderedCase& c) {
  graph::Graph g;
  graph::Op op = c.op;
  op.id = 9;
  for (const TensorDesc& desc : c.tensors) {
    const graph::ValueId value = add_value(g, desc);
    (value == 0 ? op.inputs : op.outputs).push_back(value);
  }
  g.ops.push_back(op);
  graph::connect(g);
  return g;
}

void fill(const OrderedCase& c, std::byte* data, std::mt19937_64& random) {
  const DType dtype = c.tensors[0].dtype;
  const bool few = random() % 2 == 0, special = random() % 3 == 0, zeros = random() % 8 == 0;
  for (const std::int64_t at : element_offsets(c.tensors[0])) {
    const std::uint64_t bits = random();
    if (!is_floating(dtype)) {
      const std::uint64_t least = std::uint64_t{1} << (8 * byte_size(dtype) - 1);
      const std::uint64_t value = special && bits % 3 == 0 ? least - bits / 3 % 2 : few ? bits % 4 - 1 : bits;
      std::memcpy(data + at * byte_size(dtype), &value, static_cast<std::size_t>(byte_size(dtype)));
      continue;
    }
    double value = static_cast<double>(bits % (few ? 3 : 64)) - (few ? 1 : 31);
    if (zeros || value == 0) value = bits & 1024 ? -0.0 : 0.0;
    if (special && bits % 97 == 3) value = bits & 1024 ? INFINITY : -INFINITY;
    if (special && bits % 89 == 5) value = NAN;
    graph::store_real(dtype, data, at, value);
    if (std::isnan(value) && bits & 1024) data[(at + 1) * byte_size(dtype) - 1] |= std::byte{0x80};
  }
}

Result<compiler::Compiled> compile_for(target::Isa isa, const graph::Graph& core) {
  target::Target target;
  target.isa = isa;
  return compiler::compile(core, target);
}

std::size_t bytes_of(const TensorDesc& desc) { return static_cast<std::size_t>(span_bytes(desc).value()); }

class Ordered : public ::testing::TestWithParam<DType> {
 protected:
  void check(const OrderedCase& c, std::mt19937_64& random) {
    graph::Graph core = graph_of(c);
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + "\n" + graph::print(core));
    ASSERT_TRUE(graph::run_pipeline(core).ok());
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    GuardedBuffer input(bytes_of(c.tensors[0]), guard);
    fill(c, input.data(), random);
    const graph::ConstTensor in{c.tensors[0], input.data()};
    std::vector<std::vector<std::byte>> expected;
    std::vector<graph::MutableTensor> outputs;
    for (std::size_t i = 1; i < c.tensors.size(); ++i) expected.emplace_back(bytes_of(c.tensors[i]), std::byte{0xa5});
    for (std::size_t i = 1; i < c.tensors.size(); ++i) outputs.push_back({c.tensors[i], expected[i - 1].data()});
    ASSERT_TRUE(graph::evaluate_op(c.op, {&in, 1}, outputs).ok());
    for (const target::Isa isa : all_levels()) {
      const Result<compiler::Compiled> compiled = compile_for(isa, core);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message();
      for (const compiler::RegionReport& region : compiled.value().regions) {
        if (region.kind == compiler::RegionReport::Kind::selection) {
          (region.selection->block > 0 ? selected_in_blocks_ : selected_) += 1;
          continue;
        }
        ASSERT_EQ(region.kind, compiler::RegionReport::Kind::kernel) << region.reason;
        several_ += region.kernels.size() > 1 ? 1 : 0;
        for (const compiler::KernelReport& kernel : region.kernels)
          (kernel.schedule.nest == schedule::Nest::staged_rows ? along_
           : kernel.schedule.width > 0                         ? turned_
                                                               : across_) += 1;
      }
      std::deque<GuardedBuffer> got;
      std::vector<Bytes> to;
      for (const std::vector<std::byte>& bytes : expected) {
        got.emplace_back(bytes.size(), guard);
        std::memset(got.back().data(), 0xa5, bytes.size());
      }
      for (GuardedBuffer& buffer : got) to.push_back({buffer.data(), buffer.size()});
      const Bytes from{input.data(), input.size()};
      const Status ran = run_at(compiled.value().program, isa, {&from, 1}, to);
      ASSERT_TRUE(ran.ok()) << ran.message();
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(std::memcmp(got[i].data(), expected[i].data(), expected[i].size()), 0)
            << target::to_string(isa) << ", output " << i;
    }
  }

  int along_ = 0, turned_ = 0, across_ = 0, several_ = 0, selected_ = 0, selected_in_blocks_ = 0;
};

TEST_P(Ordered, HasTheReferencesBitsOnEveryLevel) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  std::mt19937_64 random(case_seed("ordered", static_cast<std::uint64_t>(GetParam())));
  for (std::uint64_t n = 0; n < kCases && !HasFatalFailure(); ++n) check(draw(GetParam(), n % 5 == 0, random), random);
  EXPECT_GT(along_, 50);
  EXPECT_GT(turned_, 50);
  EXPECT_GT(across_, 50);
  EXPECT_GT(several_, 20);
}

/// Lines that are long, or of which many places are asked for.
OrderedCase draw_selection(DType dtype, std::mt19937_64& random) {
  OrderedCase c;
  const std::size_t rank = 1 + random() % 3, axis = random() % rank;
  const auto extent = static_cast<std::int64_t>(random() % 3 == 0 ? 17 + random() % 600 : 600 + random() % 12'000);
  Dims shape(rank);
  for (std::size_t dim = 0; dim < rank; ++dim)
    shape[dim] = dim == axis ? extent : static_cast<std::int64_t>(1 + random() % (extent > 600 ? 3 : 8));
  const auto most = static_cast<std::uint64_t>(random() % 4 == 0 ? extent : std::min<std::int64_t>(extent, 300));
  const auto k = static_cast<std::int64_t>(17 + random() % (most - 16));
  c.op.dialect = graph::Dialect::core;
  c.op.kind = "top_k";
  c.op.attributes = {{"axis", static_cast<std::int64_t>(axis)}, {"k", k}, {"largest", random() % 2 == 0}};
  c.tensors.push_back({dtype, shape, drawn_strides(shape, random)});
  shape[axis] = k;
  c.tensors.push_back({dtype, shape, drawn_strides(shape, random)});
  c.tensors.push_back({random() % 3 == 0 ? DType::s32 : DType::s64, shape, drawn_strides(shape, random)});
  return c;
}

TEST_P(Ordered, SelectsTheFirstOfLongLines) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  std::mt19937_64 random(case_seed("selections", static_cast<std::uint64_t>(GetParam())));
  for (std::uint64_t n = 0; n < kCases / 2 && !HasFatalFailure(); ++n)
    check(draw_selection(GetParam(), random), random);
  EXPECT_GT(selected_, 50);
  EXPECT_GT(selected_in_blocks_, 50);
}

/// Of numbers whose sums are not exact: off by half a unit in the last place, and next to nothing more.
TEST(OrderedSums, AreThoseOfDouble) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  std::mt19937_64 random(case_seed("ordered sums", 0));
  std::normal_distribution<float> normal(0.1F);
  for (const Dims& shape : {Dims{1, 4096}, Dims{3, 1000}, Dims{1, 997}, Dims{40, 300}, Dims{300, 40}, Dims{2, 16384},
                            Dims{1, 131072}, Dims{3, 16400}})
    for (const auto& [axis, reverse] : {std::pair{0, false}, {0, true}, {1, false}, {1, true}}) {
      OrderedCase c;
      c.tensors = {{DType::f32, shape, row_major_strides(shape)}, {DType::f32, shape, row_major_strides(shape)}};
      c.op.dialect = graph::Dialect::core;
      c.op.kind = "scan";
      c.op.attributes = {{"axis", std::int64_t{axis}}, {"exclusive", random() % 2 == 0}, {"reverse", reverse}};
      const auto count = static_cast<std::size_t>(numel(shape).value());
      std::vector<float> x(count), got(count);
      for (float& value : x) value = normal(random);
      const std::vector<double> wide(x.begin(), x.end());
      std::vector<double> exact(count);
      const TensorDesc desc{DType::f64, shape, row_major_strides(shape)};
      const graph::ConstTensor in{desc, wide.data()};
      const graph::MutableTensor out{desc, exact.data()};
      ASSERT_TRUE(graph::evaluate_op(c.op, {&in, 1}, {&out, 1}).ok());
      graph::Graph core = graph_of(c);
      ASSERT_TRUE(graph::run_pipeline(core).ok());
      for (const target::Isa isa : all_levels()) {
        const Result<compiler::Compiled> compiled = compile_for(isa, core);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        const Bytes from{x.data(), 4 * count}, to{got.data(), 4 * count};
        ASSERT_TRUE(run_at(compiled.value().program, isa, {&from, 1}, {&to, 1}).ok());
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_LE(std::fabs(got[i] - exact[i]), 0.5001 * graph::ulp(DType::f32, exact[i]) + 1e-12)
              << target::to_string(isa) << " at " << i << "\n"
              << graph::print(core);
      }
    }
}

/// Lines of views, read where they lie or written out before: by many places and by few, long ones and short ones.
TEST(OrderedViews, AreSelectedFromAsTheyLie) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  std::mt19937_64 random(case_seed("ordered views", 0));
  const struct {
    const char *input, *view, *made;
    Dims shape;
    std::vector<std::int64_t> places;
  } kViews[] = {
      {"f32[300,40]", "core.transpose (%0) {permutation = [1, 0]}", "f32[40,300]", {40, 300}, {5, 50}},
      {"f32[5000,3]", "core.transpose (%0) {permutation = [1, 0]}", "f32[3,5000]", {3, 5000}, {5, 50}},
      {"f32[300,40]", "core.reshape (%0) {shape = [2, 6000]}", "f32[2,6000]", {2, 6000}, {5, 50}},
      {"f32[1,5000]", "core.broadcast (%0) {shape = [3, 5000]}", "f32[3,5000]", {3, 5000}, {5, 50}},
      {"f32[3,1]", "core.broadcast (%0) {shape = [3, 5000]}", "f32[3,5000]", {3, 5000}, {5, 50}},
      {"f32[4,6000]",
       "core.slice (%0) {starts = [1, 700], steps = [2, 1], shape = [2, 5000]}",
       "f32[2,5000]",
       {2, 5000},
       {5, 50}},
  };
  for (const auto& [input, view, made, shape, places] : kViews)
    for (const std::int64_t k : places) {
      const std::string dims = "[" + std::to_string(shape[0]) + "," + std::to_string(k) + "]";
      const std::string text = std::string("graph {\n  %0 = input : ") + input + "\n  %1 = " + view + " : " + made +
                               "\n  %2, %3 = core.top_k (%1) {axis = 1, k = " + std::to_string(k) +
                               ", largest = true} : f32" + dims + ", s64" + dims + "\n  output %2, %3\n}\n";
      SCOPED_TRACE(text);
      Result<graph::Graph> parsed = graph::parse(text);
      ASSERT_TRUE(parsed.ok()) << parsed.status().message();
      graph::Graph core = parsed.value();
      const TensorDesc in_desc = graph::desc_of(core.values[core.inputs[0]]);
      std::vector<float> x(static_cast<std::size_t>(numel(in_desc.shape).value()));
      for (float& value : x) value = static_cast<float>(random() % 4096);
      const auto count = static_cast<std::size_t>(shape[0] * k);
      std::vector<float> values(count), expected_values(count);
      std::vector<std::int64_t> indices(count), expected_indices(count);
      const graph::ConstTensor in{in_desc, x.data()};
      const graph::MutableTensor outs[] = {{graph::desc_of(core.values[core.outputs[0]]), expected_values.data()},
                                           {graph::desc_of(core.values[core.outputs[1]]), expected_indices.data()}};
      ASSERT_TRUE(graph::evaluate(core, {&in, 1}, outs).ok());
      ASSERT_TRUE(graph::run_pipeline(core).ok());
      for (const target::Isa isa : all_levels()) {
        const Result<compiler::Compiled> compiled = compile_for(isa, core);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        const Bytes from{x.data(), 4 * x.size()};
        const std::vector<Bytes> to{{values.data(), 4 * count}, {indices.data(), 8 * count}};
        ASSERT_TRUE(run_at(compiled.value().program, isa, {&from, 1}, to).ok());
        ASSERT_EQ(values, expected_values) << target::to_string(isa);
        ASSERT_EQ(indices, expected_indices) << target::to_string(isa);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Ordered, ::testing::ValuesIn(kTypes),
                         [](const auto& at) { return std::string(to_string(at.param)); });

}  // namespace
}  // namespace tenfold::numeric

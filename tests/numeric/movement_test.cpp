// SPDX-License-Identifier: Apache-2.0
//
// Copies: random slices (steps of either sign), concatenations and transpositions of every width of element, with
// gapped strides, against the reference evaluator, bit by bit, natively and emulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "compile/compile.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/eval.hpp"
#include "graph/ir/graph.hpp"
#include "graph_value.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f64, DType::s8, DType::boolean, DType::u64};
constexpr std::int64_t kSizes[] = {1, 2, 3, 5, 8, 9, 16, 17, 33, 64, 65};
constexpr std::int64_t kCases = 600;

Dims gapped(const Dims& shape, std::mt19937_64& random) {
  Dims strides(shape.size());
  std::int64_t at = 1 + static_cast<std::int64_t>(random() % 4 == 0);
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = at;
    at = at * shape[i] + static_cast<std::int64_t>(random() % 3);
  }
  return strides;
}

graph::ValueId add_drawn(graph::Graph& g, DType dtype, const Dims& shape, std::mt19937_64& random) {
  return add_value(g, {dtype, shape, random() % 2 == 0 ? gapped(shape, random) : Dims()});
}

/// Few elements beside one dim of many, or two of a middle size, in any order.
graph::Op draw_transpose(graph::Graph& g, DType dtype, std::mt19937_64& random) {
  constexpr std::int64_t kLong[] = {32, 40, 63, 64, 65, 100, 127, 128, 129, 130, 191, 192, 200, 300, 1000};
  constexpr std::int64_t kMost = 60'000;
  Dims shape;
  const std::size_t rank = 2 + random() % 3;
  for (std::size_t dim = 0; dim < rank; ++dim)
    shape.push_back(random() % 2 == 0 ? kSizes[random() % 6] : kLong[random() % std::size(kLong)]);
  while (std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()) > kMost) {
    std::int64_t& widest = *std::ranges::max_element(shape);
    widest = (widest + 2) / 3;
  }
  Dims permutation(rank), out(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::ranges::shuffle(permutation, random);
  for (std::size_t dim = 0; dim < rank; ++dim) out[dim] = shape[static_cast<std::size_t>(permutation[dim])];
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = "transpose";
  op.attributes = {{"permutation", permutation}};
  op.inputs = {add_drawn(g, dtype, shape, random)};
  op.outputs = {add_drawn(g, dtype, out, random)};
  return op;
}

/// One core.slice, core.concat or core.transpose.
graph::Graph draw(DType dtype, std::mt19937_64& random) {
  graph::Graph g;
  graph::Op op;
  if (random() % 3 == 0) {
    g.ops.push_back(draw_transpose(g, dtype, random));
    graph::connect(g);
    return g;
  }
  op.dialect = graph::Dialect::core;
  const std::size_t rank = 1 + random() % 3;
  Dims shape;
  for (std::size_t dim = 0; dim < rank; ++dim) shape.push_back(kSizes[random() % std::size(kSizes)]);
  if (random() % 2 == 0) {
    Dims starts, steps, out;
    for (const std::int64_t extent : shape) {
      const auto count = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
      const auto step = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent / count));
      const std::int64_t last = (count - 1) * step;
      const bool back = random() % 3 == 0;
      out.push_back(count);
      steps.push_back(back ? -step : step);
      starts.push_back(back ? last : extent - 1 - last);
    }
    op.kind = "slice";
    op.attributes = {{"starts", starts}, {"steps", steps}, {"shape", out}};
    op.inputs = {add_drawn(g, dtype, shape, random)};
    op.outputs = {add_drawn(g, dtype, out, random)};
  } else {
    const std::size_t axis = random() % rank;
    Dims out = shape;
    out[axis] = 0;
    for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
      shape[axis] = kSizes[random() % std::size(kSizes)];
      out[axis] += shape[axis];
      op.inputs.push_back(add_drawn(g, dtype, shape, random));
    }
    op.kind = "concat";
    op.attributes = {{"axis", static_cast<std::int64_t>(axis)}};
    op.outputs = {add_drawn(g, dtype, out, random)};
  }
  g.ops.push_back(op);
  graph::connect(g);
  return g;
}

class Movement : public ::testing::TestWithParam<DType> {
 protected:
  std::int64_t turned_ = 0;

  void check(std::uint64_t index, std::mt19937_64& random) {
    const graph::Graph g = draw(GetParam(), random);
    const std::string where = repeat_line(test_name(), index);
    const auto guard = index % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    const auto size_of = [&g](graph::ValueId v) {
      return static_cast<std::size_t>(span_bytes(graph::desc_of(g.values[v])).value());
    };
    std::vector<std::unique_ptr<GuardedBuffer>> inputs;
    std::vector<const void*> ins;
    std::vector<Bytes> in_bytes;
    std::vector<graph::ConstTensor> tensors;
    for (const graph::ValueId v : g.ops[0].inputs) {
      inputs.push_back(std::make_unique<GuardedBuffer>(size_of(v), guard));
      GuardedBuffer& input = *inputs.back();
      for (std::size_t i = 0; i < input.size(); ++i)
        input.data()[i] = static_cast<std::byte>(GetParam() == DType::boolean ? random() & 1 : random());
      ins.push_back(input.data());
      in_bytes.push_back({input.data(), input.size()});
      tensors.push_back({graph::desc_of(g.values[v]), input.data()});
    }
    const std::size_t out_size = size_of(g.outputs[0]);
    std::vector<std::byte> expected(out_size, GuardedBuffer::kCanary);
    const graph::MutableTensor out{graph::desc_of(g.values[g.outputs[0]]), expected.data()};
    ASSERT_TRUE(graph::evaluate_op(g.ops[0], tensors, {&out, 1}).ok()) << where;
    for (const target::Isa isa : all_levels()) {
      const bool native = std::ranges::count(native_levels(), isa) > 0;
      if (!native && index % 4 != 0) continue;
      target::Target target = target::host().ok() ? target::host().value() : target::Target{};
      target.isa = isa;
      const Result<compiler::Compiled> compiled = compiler::compile(g, target);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << where;
      ASSERT_EQ(compiled.value().regions[0].kind, compiler::RegionReport::Kind::kernel) << where;
      turned_ += compiled.value().regions[0].kernels[0].schedule.width > 0 ? 1 : 0;
      GuardedBuffer output(out_size, guard);
      std::fill_n(output.data(), out_size, GuardedBuffer::kCanary);
      void* const address = output.data();
      const Bytes out_bytes{output.data(), out_size};
      const Status status = native ? runtime::run(compiled.value().program, ins, {&address, 1}, nullptr, 1)
                                   : emulated_run(compiled.value().program, isa, in_bytes, {&out_bytes, 1});
      ASSERT_TRUE(status.ok()) << status.message() << "\n" << where;
      ASSERT_EQ(std::memcmp(expected.data(), output.data(), out_size), 0)
          << g.ops[0].kind << " on " << target::to_string(isa) << "\n"
          << where;
      ASSERT_TRUE(output.canary_intact()) << where;
    }
  }
};

TEST_P(Movement, CopiesEachBit) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  for (std::int64_t index = 0; index < scaled_cases(kCases) && !HasFatalFailure(); ++index) {
    if (only_case().value_or(static_cast<std::uint64_t>(index)) != static_cast<std::uint64_t>(index)) continue;
    std::mt19937_64 random(case_seed(test_name(), static_cast<std::uint64_t>(index)));
    check(static_cast<std::uint64_t>(index), random);
  }
  std::printf("%lld kernels turned blocks, seed %llu\n", static_cast<long long>(turned_),
              static_cast<unsigned long long>(test_seed()));
  if (!only_case() && !HasFatalFailure()) {
    EXPECT_GT(turned_, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Movement, ::testing::ValuesIn(kTypes),
                         [](const auto& type) { return std::string(to_string(type.param)); });

}  // namespace
}  // namespace tenfold::numeric

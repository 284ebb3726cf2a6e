// SPDX-License-Identifier: Apache-2.0
//
// Partitions of thousands of inputs and outputs: what is done for each of them when compiling and at each call takes as
// long for each as it does for few.
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.hpp"
#include "api/spans.hpp"
#include "tenfold/tenfold.hpp"
#include "tests/unit/growth.hpp"

namespace tenfold::api {
namespace {

constexpr std::int64_t kElements = 4;

/// Squares of `count` inputs of four elements.
CompiledPartition squares(std::size_t count) {
  const auto tensor = [](std::size_t id) {
    return R"({"id": )" + std::to_string(id) + R"(, "dtype": "f32", "shape": [4]})";
  };
  std::string ops;
  for (std::size_t i = 0; i < count; ++i)
    ops += (i > 0 ? "," : "") + std::string(R"({"id": )") + std::to_string(i) + R"(, "kind": "Square", "inputs": [)" +
           tensor(i) + R"(], "outputs": [)" + tensor(count + i) + "]}";
  const auto graph = Graph::from_json(R"({"graph": [)" + ops + "]}");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.threads = 1;
  auto compiled = compile(graph.value(), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return std::move(compiled).value();
}

/// Rows of `buffer`, from its last one on, so that addresses fall.
std::vector<void*> rows_of(std::vector<float>& buffer) {
  std::vector<void*> rows;
  for (std::size_t i = buffer.size(); i > 0; i -= kElements) rows.push_back(buffer.data() + i - kElements);
  return rows;
}

struct Call {
  explicit Call(std::size_t count) : in(count * kElements, 3.0F), out(count * kElements), outputs(rows_of(out)) {
    for (void* const row : rows_of(in)) inputs.push_back(row);
  }
  std::vector<float> in, out;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

Status run(const CompiledPartition& partition, const Call& call) {
  return partition.execute(call.inputs.data(), call.inputs.size(), call.outputs.data(), call.outputs.size());
}

TEST(ManyOperands, ThatOverlapAreRefusedAndNamed) {
  const CompiledPartition partition = squares(40);
  Call call(40);
  ASSERT_TRUE(run(partition, call).ok());
  EXPECT_EQ(call.out, std::vector<float>(call.out.size(), 9.0F));
  call.outputs[30] = call.out.data() + 2;
  EXPECT_NE(run(partition, call).message().find("output 38 (tensor 78) overlaps output 30 (tensor 70)"),
            std::string::npos)
      << run(partition, call).message();
  call.outputs[30] = call.in.data() + 2;
  EXPECT_NE(run(partition, call).message().find("output 30 (tensor 70) overlaps input 38 (tensor 38)"),
            std::string::npos)
      << run(partition, call).message();
}

TEST(ManyOperands, AreHeldAgainstEachOtherInLinearTime) {
  std::map<std::size_t, std::pair<CompiledPartition, Call>> calls;
  const double growth = test::growth(250, [&](std::size_t count) {
    auto at = calls.find(count);
    if (at == calls.end()) at = calls.emplace(count, std::pair{squares(count), Call(count)}).first;
    return [&call = at->second] { EXPECT_TRUE(run(call.first, call.second).ok()); };
  });
  EXPECT_LT(growth, test::kMostGrowth);
}

TEST(ManyOperands, AreApartWhenEachPairIs) {
  std::mt19937 random(5);
  int apart = 0;
  constexpr int kRounds = 5000;
  std::vector<std::byte> room(1000);
  for (int round = 0; round < kRounds; ++round) {
    const auto draw = [&](std::size_t count, std::vector<OperandCheck>& checks) {
      std::vector<void*> pointers;
      for (std::size_t i = 0; i < count; ++i) {
        pointers.push_back(room.data() + random() % 900);
        checks.push_back({static_cast<std::int64_t>(random() % 20), 1});
      }
      return pointers;
    };
    std::vector<OperandCheck> in_checks, out_checks;
    const std::vector<void*> drawn = draw(random() % 4, in_checks), out = draw(1 + random() % 6, out_checks);
    std::vector<const void*> in(drawn.begin(), drawn.end());
    std::vector<std::size_t> in_place(out.size(), Specialisation::kNoInput);
    if (!in.empty() && random() % 2 == 0) {
      in_place[0] = 0;
      in[0] = out[0];
    }
    bool expected = true;
    for (std::size_t o = 0; o < out.size(); ++o) {
      for (std::size_t i = 0; i < in.size(); ++i)
        if (spans_meet(out[o], out_checks[o], in[i], in_checks[i]) && (in_place[o] != i || in[i] != out[o]))
          expected = false;
      for (std::size_t p = 0; p < o; ++p)
        if (spans_meet(out[o], out_checks[o], out[p], out_checks[p])) expected = false;
    }
    apart += expected ? 1 : 0;
    ASSERT_EQ(many_spans_are_apart(in_checks, in.data(), out_checks, out.data(), in_place), expected) << round;
  }
  EXPECT_GT(apart, kRounds / 10);
  EXPECT_LT(apart, kRounds * 9 / 10);
}

TEST(ManyOperands, GetTheirShapesInLinearTime) {
  const double growth = test::growth(750, [](std::size_t count) {
    graph::Graph graph;
    std::vector<std::pair<TensorId, Dims>> shapes;
    for (std::size_t i = 0; i < count; ++i) {
      graph::Value value;
      value.id = static_cast<TensorId>(count - i);
      value.dtype = DType::f32;
      graph.inputs.push_back(static_cast<graph::ValueId>(i));
      graph.values.push_back(std::move(value));
      shapes.emplace_back(static_cast<TensorId>(i + 1), Dims{kElements});
    }
    return [graph = std::move(graph), shapes = std::move(shapes)]() mutable {
      EXPECT_TRUE(bind_input_shapes(graph, shapes).ok());
      EXPECT_TRUE(require_known_inputs(graph).ok());
    };
  });
  EXPECT_LT(growth, test::kMostGrowth);
}

}  // namespace
}  // namespace tenfold::api

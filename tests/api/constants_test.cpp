// SPDX-License-Identifier: Apache-2.0
//
// Large constants: copies and parts of a graph and what is compiled of it hold them once, and the cache of compiled
// partitions counts what it keeps of them.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "api/partition_cache.hpp"
#include "api/split.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/tenfold.hpp"

namespace tenfold::api {
namespace {

constexpr std::int64_t kRows = 64, kColumns = 4096;
constexpr std::size_t kBytes = kRows * kColumns * sizeof(float);

/// Whether the constant gets as far as the kernels, or only its sums do, worked out when compiling.
enum class Use { multiplied, summed };

Graph graph_of(Use use, float element) {
  GraphBuilder b;
  const std::vector<float> weights(kRows * kColumns, element);
  TensorId weight = b.constant({DType::f32, {kRows, kColumns}, {}}, weights.data());
  if (use == Use::summed)
    weight = b.op("ReduceSum", {weight}, {{"axes", std::vector<std::int64_t>{1}}, {"keep_dims", true}});
  b.op("Multiply", {b.input({DType::f32, {kRows, kColumns}, {}}), weight});
  const auto graph = b.finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.value();
}

CompiledPartition compiled_of(const Graph& graph) {
  auto compiled = compile(graph);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return std::move(compiled).value();
}

TEST(Constants, AreCountedOnceWhereverAnEntryHoldsThem) {
  for (const Use use : {Use::multiplied, Use::summed}) {
    const Graph graph = graph_of(use, 1.5F);
    const std::size_t bytes = footprint(compiled_of(graph), graph);
    EXPECT_GE(bytes, kBytes);
    EXPECT_LT(bytes, kBytes + kBytes / 2);
  }
}

TEST(Constants, TheCacheKeepsNoMoreOfThemThanItsBytesAllow) {
  for (const Use use : {Use::multiplied, Use::summed}) {
    PartitionCache cache;
    cache.set_bytes(4 * kBytes);
    std::vector<std::weak_ptr<const std::vector<std::byte>>> held;
    for (int i = 0; i < 8; ++i) {
      const Graph graph = graph_of(use, static_cast<float>(i));
      held.push_back(graph.ir().values[0].data.shared());
      const auto made = cache.find_or_make(key_of(graph.ir()), graph, [&] { return compile(graph); });
      ASSERT_TRUE(made.ok()) << made.status().message();
    }
    EXPECT_EQ(cache.use().count, 3U);
    EXPECT_LE(cache.use().bytes, 4 * kBytes);
    std::size_t alive = 0;
    for (const auto& data : held) alive += data.expired() ? 0 : kBytes;
    EXPECT_LE(alive, 4 * kBytes);
    EXPECT_GE(alive, 3 * kBytes);
  }
}

TEST(Constants, PartsOfAGraphShareThemAndAreFoundAgain) {
  const Graph whole = graph_of(Use::summed, 2.0F);
  const auto first = split(whole, Policy::debug), again = split(whole, Policy::debug);
  ASSERT_TRUE(first.ok() && again.ok());
  ASSERT_EQ(first.value().size(), 2U);
  const graph::Graph& part = first.value()[0].graph.ir();
  bool has_it = false;
  for (const graph::Value& value : part.values)
    has_it = has_it || value.data.shared() == whole.ir().values[0].data.shared();
  EXPECT_TRUE(has_it);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(key_of(first.value()[i].graph.ir()), key_of(again.value()[i].graph.ir()));
  EXPECT_NE(key_of(part), key_of(split(graph_of(Use::summed, 2.0F), Policy::debug).value()[0].graph.ir()))
      << "large data are known by where they are";
}

}  // namespace
}  // namespace tenfold::api

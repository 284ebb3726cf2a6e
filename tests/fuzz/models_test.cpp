// SPDX-License-Identifier: Apache-2.0
//
// ONNX models all the way: read, compiled and run. Good models in which any number may be a hostile one, or any bit
// another, must give results or a message, and soon: no crash, no internal error, no memory for what cannot be run.
// TENFOLD_TEST_SEED repeats a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tenfold/tenfold.hpp"
#include "tests/unit/read/onnx_writer.hpp"

namespace tenfold {
namespace {

using namespace onnx_writer;

constexpr std::int64_t kMostBytes = 1 << 20;
constexpr int kModels = 4000;
constexpr std::int64_t kHostile[] = {0,
                                     -1,
                                     1,
                                     7,
                                     -2,
                                     127,
                                     1 << 16,
                                     std::int64_t{1} << 31,
                                     std::int64_t{1} << 40,
                                     std::int64_t{1} << 46,
                                     (std::int64_t{1} << 62) + 1,
                                     std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min()};

/// Gives the numbers that a model is made of.
class Numbers {
 public:
  Numbers(std::mt19937_64& random, unsigned one_in) : random_(random), one_in_(one_in) {}
  std::int64_t operator()(std::int64_t good) {
    return one_in_ == 0 || random_() % one_in_ != 0 ? good : kHostile[random_() % std::size(kHostile)];
  }

 private:
  std::mt19937_64& random_;
  unsigned one_in_;  ///< 0: none is hostile
};

Message input(const char* name, Numbers& n, const std::vector<std::int64_t>& dims, int type = kFloat) {
  std::vector<Dim> shape;
  for (const std::int64_t dim : dims) shape.push_back({n(dim)});
  return value_info(name, tensor_type(type, shape));
}
Message output(const char* name) { return Message().text(1, name); }

Message list(const char* name, Numbers& n, std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::int64_t& value : values) value = n(value);
  return raw_tensor(name, kInt64, {count}, bytes_of(values));
}

GraphParts softmax_by_hand(Numbers& n) {
  GraphParts parts;
  parts.inputs = {input("x", n, {2, 3, 16})};
  parts.initializers = {list("axes", n, {2}), list("two", n, {0, 1})};
  parts.nodes = {node("ReduceMax", {"x", "axes"}, {"m"}, {int_attribute("keepdims", n(1))}),
                 node("Sub", {"x", "m"}, {"d"}),
                 node("Exp", {"d"}, {"e"}),
                 node("ReduceSum", {"e", "axes"}, {"s"}, {int_attribute("keepdims", n(1))}),
                 node("Div", {"e", "s"}, {"y"}),
                 node("ReduceL2", {"y", "two"}, {"z"})};
  parts.outputs = {output("y"), output("z")};
  return parts;
}

GraphParts arg_and_variadic(Numbers& n) {
  GraphParts parts;
  parts.inputs = {input("x", n, {4, 9}), input("w", n, {9}), input("v", n, {4, 1})};
  parts.initializers = {raw_tensor("c", kFloat, {n(2)}, bytes_of<float>({1, 2})),
                        raw_tensor("most", kFloat, {}, bytes_of<float>({1}))};
  parts.nodes = {node("Sum", {"x", "w", "v", "x"}, {"s"}),
                 node("Mean", {"s", "w"}, {"e"}),
                 node("Max", {"e", "x", "v"}, {"a"}),
                 node("ArgMax", {"a"}, {"i"}, {int_attribute("axis", n(1)), int_attribute("select_last_index", n(1))}),
                 node("Cast", {"i"}, {"y"}, {int_attribute("to", n(kFloat))}),
                 node("Clip", {"e", "", "most"}, {"k"})};
  parts.outputs = {output("y"), output("i"), output("k"), output("c")};
  return parts;
}

GraphParts movement(Numbers& n) {
  GraphParts parts;
  parts.inputs = {input("x", n, {4, 6})};
  parts.initializers = {list("shape", n, {2, 2, -1}), list("starts", n, {0, 1}), list("ends", n, {2, 6}),
                        list("axes", n, {0, 2}),      list("steps", n, {1, 2}),  list("wide", n, {3, 1, 1, 1})};
  parts.nodes = {node("Reshape", {"x", "shape"}, {"r"}),
                 node("Transpose", {"r"}, {"t"}, {ints_attribute("perm", {n(2), n(0), n(1)})}),
                 node("Slice", {"r", "starts", "ends", "axes", "steps"}, {"s"}),
                 node("Concat", {"s", "s"}, {"c"}, {int_attribute("axis", n(1))}),
                 node("Expand", {"shape", "wide"}, {"e"}),
                 node("Expand", {"t", "wide"}, {"b"})};
  parts.outputs = {output("t"), output("c"), output("e"), output("b")};
  return parts;
}

GraphParts axes_at_run_time(Numbers& n) {
  GraphParts parts;
  parts.inputs = {input("x", n, {3, 5, 8}), input("axes", n, {1}, kInt64)};
  parts.nodes = {node("ReduceMean", {"x", "axes"}, {"y"}, {int_attribute("keepdims", n(0))})};
  parts.outputs = {output("y")};
  return parts;
}

GraphParts norms(Numbers& n) {
  GraphParts parts;
  parts.inputs = {input("x", n, {3, 4, 8}), input("g", n, {8})};
  parts.nodes = {node("Softmax", {"x"}, {"p"}, {int_attribute("axis", n(-1))}),
                 node("LayerNormalization", {"p", "g"}, {"l"}, {int_attribute("axis", n(-1))}),
                 node("CumSum", {"l", "k"}, {"y"}), node("TopK", {"l", "count"}, {"t", "i"})};
  parts.initializers = {list("count", n, {2}), raw_tensor("k", kInt64, {}, bytes_of<std::int64_t>({n(1)}))};
  parts.outputs = {output("y"), output("t"), output("i")};
  return parts;
}

constexpr GraphParts (*kMakers[])(Numbers&) = {softmax_by_hand, arg_and_variadic, movement, axes_at_run_time, norms};

struct Tally {
  int refused = 0, ran = 0;
  double slowest = 0;
  std::string message;  ///< of the last that was refused
};

std::int64_t bytes_of_all(const std::vector<TensorInfo>& tensors) {
  std::int64_t bytes = 0;
  for (const TensorInfo& tensor : tensors) {
    const Result<std::int64_t> own = span_bytes(tensor.desc);
    bytes += own.ok() ? std::min(own.value(), kMostBytes) : kMostBytes;
  }
  return bytes;
}

/// False when the tensors are too large to be tried.
Result<bool> run(const CompiledPartition& partition) {
  std::vector<std::vector<double>> memory;
  const auto places = [&](const std::vector<TensorInfo>& tensors) {
    std::vector<void*> at;
    for (const TensorInfo& tensor : tensors) {
      memory.emplace_back(static_cast<std::size_t>(span_bytes(tensor.desc).value()) / 8 + 1, 0);
      at.push_back(memory.back().data());
    }
    return at;
  };
  if (bytes_of_all(partition.inputs()) >= kMostBytes) return false;
  const std::vector<void*> in = places(partition.inputs());
  const Result<std::vector<TensorInfo>> outputs = partition.query_outputs(in.data(), in.size());
  if (!outputs.ok()) return outputs.status();
  if (bytes_of_all(outputs.value()) >= kMostBytes) return false;
  const std::vector<void*> out = places(outputs.value());
  const Status status = partition.execute(in.data(), in.size(), out.data(), out.size());
  if (!status.ok()) return status;
  return true;
}

/// Empty when the model was run, or refused with a message.
std::string judge(const std::string& bytes, Tally& tally) {
  const auto start = std::chrono::steady_clock::now();
  const auto refused = [&](const Status& status) -> std::string {
    ++tally.refused;
    tally.message = status.message();
    const bool ours = status.code() == Code::internal_error || status.message().empty();
    return ours ? "refused with '" + status.message() + "'" : "";
  };
  const Result<Graph> graph = Graph::from_onnx(bytes);
  if (!graph.ok()) return refused(graph.status());
  CompileOptions options;
  options.threads = 1;
  const Result<CompiledPartition> partition = compile(graph.value(), options);
  tally.slowest =
      std::max(tally.slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (!partition.ok()) return refused(partition.status());
  const Result<bool> ran = run(partition.value());
  if (!ran.ok()) return refused(ran.status());
  if (ran.value()) ++tally.ran;
  return "";
}

std::uint64_t seed() {
  const char* const given = std::getenv("TENFOLD_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
}

TEST(Models, GoodOnesRun) {
  std::mt19937_64 random(1);
  Numbers numbers(random, 0);
  for (const auto make : kMakers) {
    Tally tally;
    const Result<Graph> graph = Graph::from_onnx(model(make(numbers)));
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(judge(model(make(numbers)), tally), "");
    EXPECT_EQ(tally.ran, 1) << tally.message;
  }
}

TEST(Models, HostileNumbersGiveResultsOrMessages) {
  const std::uint64_t own = seed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(own));
  Tally tally;
  for (std::uint64_t i = 0; i < kModels; ++i) {
    std::mt19937_64 random(own + i);
    Numbers numbers(random, 12);
    ASSERT_EQ(judge(model(kMakers[i % std::size(kMakers)](numbers)), tally), "") << "model " << i << ", seed " << own;
  }
  std::printf("%d refused, %d ran, slowest to compile %.3f s\n", tally.refused, tally.ran, tally.slowest);
  EXPECT_GT(tally.refused, kModels / 4);
  EXPECT_GT(tally.ran, kModels / 20);
}

TEST(Models, ChangedBitsGiveResultsOrMessages) {
  const std::uint64_t own = seed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(own));
  std::mt19937_64 none(1);
  Numbers numbers(none, 0);
  std::vector<std::string> good;
  for (const auto make : kMakers) good.push_back(model(make(numbers)));
  Tally tally;
  for (std::uint64_t i = 0; i < kModels; ++i) {
    std::mt19937_64 random(own + i);
    std::string bytes = good[i % good.size()];
    // Of a name or a tag, hardly any other bits are good ones.
    for (auto changes = 1 + random() % 2; changes > 0; --changes)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    ASSERT_EQ(judge(bytes, tally), "") << "model " << i << ", seed " << own;
  }
  std::printf("%d refused, %d ran, slowest to compile %.3f s\n", tally.refused, tally.ran, tally.slowest);
  EXPECT_GT(tally.refused, kModels / 4);
  EXPECT_GT(tally.ran, 0);
}

}  // namespace
}  // namespace tenfold

// SPDX-License-Identifier: Apache-2.0
//
// Whole graphs on the reference: chains, shared values, constants, run-time axes, and what it refuses.
#include <gtest/gtest.h>

#include <cstring>

#include "tensors.hpp"

namespace tenfold::graph {
namespace {

ValueId add_value(Graph& graph, DType dtype, Dims shape, bool ranked = true) {
  Value value;
  value.id = static_cast<std::int64_t>(100 + graph.values.size());
  value.dtype = dtype;
  value.ranked = ranked;
  value.shape = std::move(shape);
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

void add_op(Graph& graph, Op op, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  graph.ops.push_back(std::move(op));
}

Status run_all(const Graph& graph, const std::vector<ConstTensor>& inputs, std::vector<Tensor*> outputs) {
  std::vector<MutableTensor> tensors;
  for (Tensor* output : outputs) tensors.push_back(output->out());
  return evaluate(graph, inputs, tensors);
}

/// y = (x - mean(x)) for each row; also gives the mean and x itself.
Graph centred() {
  Graph graph;
  const ValueId x = add_value(graph, DType::f32, {2, 3});
  const ValueId mean = add_value(graph, DType::f32, {2, 1});
  const ValueId y = add_value(graph, DType::f32, {2, 3});
  add_op(graph, make_reduce("mean", {1}, true), {x}, {mean});
  add_op(graph, make_op(Dialect::onednn, "Subtract"), {x, mean}, {y});
  graph.inputs = {x};
  graph.outputs = {y, mean, x};
  return graph;
}

TEST(Evaluate, ChainsSharedValuesAndPassThrough) {
  Tensor x(DType::f32, {2, 3}, {1, 2, 6, 10, 20, 60});
  Tensor y(DType::f32, {2, 3}, {}, {1, 2});
  Tensor mean(DType::f32, {2, 1});
  Tensor copy(DType::f32, {2, 3});
  const Status s = run_all(centred(), {x.in()}, {&y, &mean, &copy});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_TRUE(same_values(y.values(), {-2, -1, 3, -20, -10, 30}));
  EXPECT_TRUE(same_values(mean.values(), {3, 30}));
  EXPECT_EQ(copy.bytes(), x.bytes());
}

TEST(Evaluate, AnOutputMayBeWrittenOverAnInput) {
  Tensor x(DType::f32, {2, 3}, {1, 2, 6, 10, 20, 60});
  Tensor mean(DType::f32, {2, 1});
  Tensor copy(DType::f32, {2, 3});
  ASSERT_TRUE(run_all(centred(), {x.in()}, {&x, &mean, &copy}).ok());
  EXPECT_TRUE(same_values(x.values(), {-2, -1, 3, -20, -10, 30}));
}

TEST(Evaluate, RunTimeAxesShapeWhatFollows) {
  Graph graph;
  const ValueId x = add_value(graph, DType::f32, {2, 3});
  const ValueId axes = add_value(graph, DType::s32, {kUnknownDim});
  const ValueId sum = add_value(graph, DType::f32, {}, false);
  const ValueId root = add_value(graph, DType::bf16, {}, false);
  add_op(graph, make_op(Dialect::onednn, "ReduceSum"), {x, axes}, {sum});
  add_op(graph, make_op(Dialect::onednn, "TypeCast"), {sum}, {root});
  graph.inputs = {x, axes};
  graph.outputs = {root};
  Tensor in(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor first(DType::s32, {1}, {0}), last(DType::s32, {1}, {-1}), both(DType::s32, {2}, {0, 1}), none(DType::s32, {0});
  Tensor columns(DType::bf16, {3}), rows(DType::bf16, {2}), scalar(DType::bf16, {}), all(DType::bf16, {2, 3});
  ASSERT_TRUE(run_all(graph, {in.in(), first.in()}, {&columns}).ok());
  EXPECT_TRUE(same_values(columns.values(), {5, 7, 9}));
  ASSERT_TRUE(run_all(graph, {in.in(), last.in()}, {&rows}).ok());
  EXPECT_TRUE(same_values(rows.values(), {6, 15}));
  ASSERT_TRUE(run_all(graph, {in.in(), both.in()}, {&scalar}).ok());
  EXPECT_TRUE(same_values(scalar.values(), {21}));
  ASSERT_TRUE(run_all(graph, {in.in(), none.in()}, {&all}).ok());
  EXPECT_TRUE(same_values(all.values(), {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run_all(graph, {in.in(), last.in()}, {&columns}).code(), Code::invalid_shape);
  ConstTensor null = first.in();
  null.data = nullptr;
  EXPECT_EQ(run_all(graph, {in.in(), null}, {&columns}).code(), Code::invalid_argument);
}

TEST(Evaluate, ConstantsAreRead) {
  Graph graph = centred();
  const ValueId axes = add_value(graph, DType::s32, {1});
  Value& constant = graph.values[axes];
  constant.is_constant = true;
  const std::int32_t one = 1;
  std::vector<std::byte> data(sizeof(one));
  std::memcpy(data.data(), &one, sizeof(one));
  constant.data = std::move(data);
  graph.ops[0] = make_op(Dialect::onednn, "ReduceMean", {{"keep_dims", true}});
  graph.ops[0].inputs = {0, axes};
  graph.ops[0].outputs = {1};
  Tensor x(DType::f32, {2, 3}, {1, 2, 6, 10, 20, 60});
  Tensor y(DType::f32, {2, 3}), mean(DType::f32, {2, 1}), copy(DType::f32, {2, 3});
  const Status s = run_all(graph, {x.in()}, {&y, &mean, &copy});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_TRUE(same_values(mean.values(), {3, 30}));
  graph.values[axes].data.clear();
  EXPECT_EQ(run_all(graph, {x.in()}, {&y, &mean, &copy}).code(), Code::invalid_graph);
}

TEST(Evaluate, RefusesWhatDoesNotFit) {
  Tensor x(DType::f32, {2, 3}), y(DType::f32, {2, 3}), mean(DType::f32, {2, 1}), copy(DType::f32, {2, 3});
  Tensor other(DType::bf16, {2, 3});
  const Graph graph = centred();
  EXPECT_EQ(run_all(graph, {}, {&y, &mean, &copy}).code(), Code::invalid_argument);
  EXPECT_EQ(run_all(graph, {x.in()}, {&y, &mean}).code(), Code::invalid_argument);
  const Status dtype_in = run_all(graph, {other.in()}, {&y, &mean, &copy});
  EXPECT_EQ(dtype_in.message(), "tensor 100 is bf16, not f32");
  const Status dtype_out = run_all(graph, {x.in()}, {&other, &mean, &copy});
  EXPECT_EQ(dtype_out.code(), Code::invalid_dtype);
  Tensor wide(DType::f32, {2, 4});
  EXPECT_EQ(run_all(graph, {wide.in()}, {&y, &mean, &copy}).code(), Code::invalid_shape);
  Graph unsorted = graph;
  std::swap(unsorted.ops[0], unsorted.ops[1]);
  EXPECT_EQ(run_all(unsorted, {x.in()}, {&y, &mean, &copy}).code(), Code::internal_error);
}

TEST(Evaluate, AReshapeMayLeaveOneDimOpen) {
  Graph graph;
  const ValueId x = add_value(graph, DType::f32, {kUnknownDim});
  const ValueId y = add_value(graph, DType::f32, {kUnknownDim, 2});
  add_op(graph, make_op(Dialect::core, "reshape", {{"shape", Dims{-1, 2}}}), {x}, {y});
  graph.inputs = {x};
  graph.outputs = {y};
  Tensor in(DType::f32, {6}, {1, 2, 3, 4, 5, 6}), odd(DType::f32, {5}), out(DType::f32, {3, 2});
  const Status s = run_all(graph, {in.in()}, {&out});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(out.bytes(), in.bytes());
  EXPECT_EQ(run_all(graph, {odd.in()}, {&out}).code(), Code::invalid_shape);
}

TEST(Evaluate, AHugeIntermediateIsAnErrorNotACrash) {
  Graph graph;
  const std::int64_t side = std::int64_t{1} << 22;
  const ValueId a = add_value(graph, DType::f64, {side, 1});
  const ValueId b = add_value(graph, DType::f64, {1, side});
  const ValueId sum = add_value(graph, DType::f64, {side, side});
  const ValueId out = add_value(graph, DType::f64, {});
  add_op(graph, make_op(Dialect::onednn, "Add"), {a, b}, {sum});
  add_op(graph, make_reduce("max", {0, 1}), {sum}, {out});
  graph.inputs = {a, b};
  graph.outputs = {out};
  const double one = 1;
  const ConstTensor inputs[] = {{{DType::f64, {side, 1}, {0, 0}}, &one}, {{DType::f64, {1, side}, {0, 0}}, &one}};
  Tensor result(DType::f64, {});
  const MutableTensor outputs[] = {result.out()};
  const Status s = evaluate(graph, inputs, outputs);
  EXPECT_EQ(s.message(), "op 7 'it' (Add): 140737488355328 bytes for its output");
}

}  // namespace
}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// The C++ API's compiling and executing: tensors by id, layouts, strides, in-place ports, scratchpads, threads, host
// pools, run-time axes, caches; and each way to get it wrong.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "tests/cppapi/small_cases.hpp"

namespace tenfold::test {
namespace {

std::vector<float> counted(std::size_t count) {
  std::vector<float> data(count);
  std::iota(data.begin(), data.end(), -3.0F);
  return data;
}

/// out = exp(a - b), of [rows, columns] each.
struct Difference {
  static constexpr std::size_t kCount = 12;
  Graph graph = graph_of({op(0, op::kind::Subtract, {f32(0, {3, 4}), f32(1, {3, 4})}, {open_f32(2)}),
                          op(1, op::kind::Exp, {open_f32(2)}, {open_f32(3)})});
  partition part = graph.get_partitions().at(0);
  compiled_partition compiled = compile(part);
  std::vector<float> a = counted(kCount), b = std::vector<float>(kCount, 1.0F), out = std::vector<float>(kCount);
  stream s = stream(cpu());
};

TEST(CppExecute, TensorsAreFoundByTheirIds) {
  Difference d;
  d.compiled.execute(d.s, {on(f32(1, {3, 4}), d.b), on(f32(0, {3, 4}), d.a)}, {on(f32(3, {3, 4}), d.out)});
  for (std::size_t i = 0; i < d.out.size(); ++i) EXPECT_NEAR(d.out[i], std::exp(d.a[i] - 1), 1e-3F * d.out[i]);
  EXPECT_EQ(d.compiled.get_inputs().size(), 2U);
  EXPECT_EQ(d.compiled.get_outputs().at(0).get_id(), 3U);
  EXPECT_NE(d.compiled.explain().find("kernel"), std::string::npos);
}

TEST(CppExecute, TensorsThatAreNoPortsAreNotLookedAt) {
  Difference d;
  const tensor a = on(f32(0, {3, 4}), d.a), b = on(f32(1, {3, 4}), d.b), out = on(f32(3, {3, 4}), d.out);
  const tensor other = tensor(logical_tensor(9, data_type::s8), cpu(), nullptr);
  std::vector<float> wanted(12);
  d.compiled.execute(d.s, {a, b}, {on(f32(3, {3, 4}), wanted)});
  for (const std::vector<tensor>& inputs :
       {std::vector<tensor>{a, b, other}, {a, other, b}, {other, a, b}, {other, b, other, a, out}}) {
    d.out.assign(12, 0.0F);
    d.compiled.execute(d.s, inputs, {other, out, a});
    EXPECT_EQ(d.out, wanted);
    EXPECT_EQ(d.compiled.query_outputs(inputs).size(), 1U);
  }
}

/// Adds of as many tensors as asked for, one after the other; ids of inputs are even.
struct LongSum {
  explicit LongSum(std::size_t count) {
    Graph g(engine::kind::cpu);
    for (std::size_t i = 0; i + 1 < count; ++i)
      g.add_op(op(i, op::kind::Add, {i == 0 ? f32(0, {4}) : open_f32(2 * i + 1), f32(2 * i + 2, {4})},
                  {open_f32(2 * i + 3)}));
    g.finalize();
    compiled = compile(g.get_partitions().at(0));
    for (const logical_tensor& port : compiled.get_inputs()) inputs.push_back(on(port, data));
    outputs.push_back(on(compiled.get_outputs().at(0), out));
  }
  void run() { compiled.execute(s, inputs, outputs); }
  std::vector<float> data = std::vector<float>(4, 1.0F), out = std::vector<float>(4);
  compiled_partition compiled;
  std::vector<tensor> inputs, outputs;
  stream s = stream(cpu());
};

TEST(CppExecute, ManyInputsInAnyOrder) {
  constexpr std::size_t kCount = 300;
  LongSum sum(kCount);
  ASSERT_EQ(sum.inputs.size(), kCount);
  for (const std::size_t first : {0, 1, 100, 299}) {
    std::rotate(sum.inputs.begin(), sum.inputs.begin() + static_cast<std::ptrdiff_t>(first), sum.inputs.end());
    sum.out.assign(4, 0.0F);
    sum.run();
    EXPECT_EQ(sum.out, std::vector<float>(4, kCount));
  }
  std::reverse(sum.inputs.begin(), sum.inputs.end());
  sum.out.assign(4, 0.0F);
  sum.run();
  EXPECT_EQ(sum.out, std::vector<float>(4, kCount));
}

TEST(CppExecute, Misuse) {
  Difference d;
  const tensor a = on(f32(0, {3, 4}), d.a), b = on(f32(1, {3, 4}), d.b), out = on(f32(3, {3, 4}), d.out);
  EXPECT_THROWS(d.compiled.execute(d.s, {a}, {out}), tenfold_invalid_arguments);
  EXPECT_THROWS(d.compiled.execute(d.s, {a, b}, {}), tenfold_invalid_arguments);
  EXPECT_THROWS(d.compiled.execute(d.s, {a, on(f32(9, {3, 4}), d.b)}, {out}), tenfold_invalid_arguments);
  EXPECT_THROWS(d.compiled.execute(d.s, {a, tensor()}, {out}), tenfold_invalid_arguments);
  EXPECT_THROWS(d.compiled.execute(d.s, {a, on(f32(1, {4, 3}), d.b)}, {out}), tenfold_invalid_shape);
  EXPECT_THROWS(d.compiled.execute(d.s, {a, on(f32(1, {12}), d.b)}, {out}), tenfold_invalid_shape);
  EXPECT_THROWS(
      d.compiled.execute(d.s, {a, tensor(logical_tensor(1, data_type::f32, {3, 4}, {1, 3}), cpu(), d.b.data())}, {out}),
      tenfold_invalid_shape);
  EXPECT_THROWS(
      d.compiled.execute(
          d.s, {a, tensor(logical_tensor(1, data_type::s32, dims{3, 4}, layout_type::strided), cpu(), d.b.data())},
          {out}),
      tenfold_invalid_data_type);
  EXPECT_THROWS(d.compiled.execute(d.s, {a, tensor(f32(1, {3, 4}), cpu(), nullptr)}, {out}), tenfold_invalid_arguments);
  EXPECT_THROWS(
      d.compiled.execute(d.s, {a, tensor(f32(1, {3, 4}), cpu(), reinterpret_cast<char*>(d.b.data()) + 1)}, {out}),
      tenfold_invalid_arguments);
  std::vector<float> shared(20);
  EXPECT_THROWS(
      d.compiled.execute(d.s, {on(f32(0, {3, 4}), shared), b}, {tensor(f32(3, {3, 4}), cpu(), shared.data() + 4)}),
      tenfold_invalid_arguments);
  stream none;
  EXPECT_THROWS(d.compiled.execute(none, {a, b}, {out}), tenfold_invalid_arguments);
  EXPECT_EQ(d.out, std::vector<float>(12)) << "nothing was written";
}

TEST(CppCompile, Misuse) {
  const Difference d;
  const std::vector<logical_tensor> ins{f32(0, {3, 4}), f32(1, {3, 4})}, outs{f32(3, {3, 4})};
  EXPECT_THROWS(d.part.compile(ins, outs, engine()), tenfold_invalid_arguments);
  EXPECT_THROWS(d.part.compile({ins[0], f32(0, {4, 3})}, outs, cpu()), tenfold_invalid_arguments);
  EXPECT_THROWS(d.part.compile({f32(0, {3, 4}), f32(1, {5, 4})}, outs, cpu()), tenfold_invalid_shape);
  EXPECT_THROWS(d.part.compile(ins, {f32(3, {4, 3})}, cpu()), tenfold_invalid_shape);
  EXPECT_THROWS(
      d.part.compile({logical_tensor(0, data_type::bf16, dims{3, 4}, layout_type::strided), ins[1]}, outs, cpu()),
      tenfold_invalid_data_type);
  EXPECT_THROWS(d.part.compile(ins, {logical_tensor(3, data_type::s8)}, cpu()), tenfold_invalid_data_type);
  EXPECT_THROWS(d.part.compile({logical_tensor(0, data_type::f32, dims{3, 4}, std::size_t{1}), ins[1]}, outs, cpu()),
                tenfold_unimplemented);
  EXPECT_THROWS(d.part.compile(ins, {logical_tensor(3, data_type::f32, dims{3, 4}, std::size_t{1})}, cpu()),
                tenfold_unimplemented);
  EXPECT_THROWS(d.part.compile({open_f32(0), ins[1]}, outs, cpu()), tenfold_invalid_shape);
  graph::compile_options options;
  options.isa = "mmx";
  EXPECT_THROWS(d.part.compile(ins, outs, cpu(), options), tenfold_invalid_arguments);
  options.isa = "";
  options.threads = -2;
  EXPECT_THROWS(d.part.compile(ins, outs, cpu(), options), tenfold_invalid_arguments);
  EXPECT_THROWS(d.compiled.query_logical_tensor(2), tenfold_invalid_arguments);
}

TEST(CppCompile, PortsAreFoundByTheirIds) {
  const Graph g = graph_of({op(0, op::kind::Subtract, {open_f32(0), open_f32(1)}, {open_f32(2)}),
                            op(1, op::kind::Exp, {open_f32(2)}, {open_f32(3)})});
  const partition part = g.get_partitions().at(0);
  const logical_tensor other(9, data_type::s8, dims{7}, std::size_t{1}), between = f32(2, {6, 6});
  const compiled_partition compiled =
      part.compile({other, f32(1, {3, 4}), f32(3, {5, 5}), f32(0, {3, 4}), f32(1, {3, 4})},
                   {between, logical_tensor(3, data_type::f32, {3, 4}, {1, 3}), f32(0, {1})}, cpu());
  EXPECT_EQ(compiled.get_inputs().size(), 2U);
  EXPECT_EQ(compiled.query_logical_tensor(0).get_dims(), (dims{3, 4}));
  EXPECT_EQ(compiled.query_logical_tensor(3).get_strides(), (dims{1, 3}));
  EXPECT_THROWS(part.compile({f32(1, {3, 4}), other}, {open_f32(3)}, cpu()), tenfold_invalid_shape);
}

TEST(CppCompile, UnknownStridesAreLeftOpen) {
  const dims unknown{TENFOLD_UNKNOWN_DIM, TENFOLD_UNKNOWN_DIM};
  const logical_tensor x(0, data_type::f32, dims{2, 3}, unknown), y(1, data_type::f32, dims{2, 3}, unknown);
  EXPECT_EQ(x.get_mem_size(), 24U);
  const partition part = graph_of({op(0, op::kind::Abs, {x}, {y})}).get_partitions().at(0);
  const compiled_partition compiled = part.compile({x}, {y}, cpu());
  EXPECT_EQ(compiled.query_logical_tensor(0).get_strides(), (dims{3, 1}));
  EXPECT_EQ(compiled.query_logical_tensor(1).get_strides(), (dims{3, 1}));
  const std::vector<float> in(6, -2.0F);
  std::vector<float> out(6);
  stream s(cpu());
  compiled.execute(s, {on(x, in)}, {on(y, out)});
  EXPECT_EQ(out, std::vector<float>(6, 2.0F));
  // Strides that the graph gave stay.
  const logical_tensor columns(0, data_type::f32, dims{2, 3}, dims{1, 2});
  const partition turned = graph_of({op(0, op::kind::Abs, {columns}, {open_f32(1)})}).get_partitions().at(0);
  EXPECT_EQ(turned.compile({x}, {y}, cpu()).query_logical_tensor(0).get_strides(), (dims{1, 2}));
  EXPECT_THROWS(part.compile({logical_tensor(0, data_type::f32, dims{2, 3}, dims{3, -1})}, {y}, cpu()),
                tenfold_invalid_shape);
}

TEST(CppCompile, TensorsComeBackAsTheyWereGiven) {
  const logical_tensor x(0, data_type::f32, dims{3, 4}, layout_type::strided, property_type::constant);
  const logical_tensor y(1, data_type::f32, dims{3, 4}, layout_type::strided, property_type::variable);
  const partition part = graph_of({op(0, op::kind::Exp, {x}, {y})}).get_partitions().at(0);
  const compiled_partition by_graph = part.compile({}, {}, cpu());
  EXPECT_TRUE(by_graph.query_logical_tensor(0).is_equal(x));
  EXPECT_TRUE(by_graph.query_logical_tensor(1).is_equal(y));
  EXPECT_TRUE(by_graph.get_inputs().at(0).is_equal(x));
  EXPECT_TRUE(by_graph.get_outputs().at(0).is_equal(y));
  for (const property_type property : {property_type::undef, property_type::variable, property_type::constant}) {
    const logical_tensor in(0, data_type::f32, dims{5, 4}, dims{9, 2}, property);
    const logical_tensor out(1, data_type::f32, dims{5, 4}, layout_type::strided, property);
    const compiled_partition compiled = part.compile({in}, {out}, cpu());
    EXPECT_TRUE(compiled.query_logical_tensor(0).is_equal(in));
    EXPECT_TRUE(compiled.query_logical_tensor(1).is_equal(out));
    const logical_tensor open(1, data_type::f32, 2, layout_type::any, property);
    EXPECT_EQ(part.compile({in}, {open}, cpu()).query_logical_tensor(1).get_property_type(), property);
  }
}

TEST(CppCompile, HostScalarsComeBackAsHostScalars) {
  const logical_tensor scalar(1, data_type::f32, 0, layout_type::strided, property_type::host_scalar);
  const Graph g = graph_of({op(0, op::kind::Multiply, {f32(0, {3}), scalar}, {open_f32(2)})});
  const compiled_partition compiled = g.get_partitions().at(0).compile({}, {}, cpu());
  const float factor = 2;
  const std::vector<float> in{1, 2, 3};
  std::vector<float> out(3);
  stream s(cpu());
  compiled.execute(s, {on(f32(0, {3}), in), tensor::make_scalar_tensor(compiled.query_logical_tensor(1), &factor)},
                   {on(f32(2, {3}), out)});
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6}));
}

TEST(CppCompile, PropertiesOfOutputsOfAxesAtRunTime) {
  const logical_tensor axes(1, data_type::s64, dims{1}, layout_type::strided);
  const logical_tensor y(2, data_type::f32, TENFOLD_UNKNOWN_NDIMS, layout_type::any, property_type::variable);
  const compiled_partition compiled =
      graph_of({op(0, "onnx.ReduceSum", {f32(0, {2, 3}), axes}, {y})}).get_partitions().at(0).compile({}, {}, cpu());
  EXPECT_EQ(compiled.query_logical_tensor(2).get_property_type(), property_type::variable);
  std::vector<float> in(6);
  std::int64_t axis = 0;
  const logical_tensor then = compiled.query_outputs({on(f32(0, {2, 3}), in), tensor(axes, cpu(), &axis)}).at(0);
  EXPECT_EQ(then.get_property_type(), property_type::variable);
  EXPECT_EQ(then.get_dims(), (dims{1, 3}));
}

TEST(CppCompile, LayoutsThatAreAskedForAndThoseThatAreLeftOpen) {
  const Graph g = graph_of({op(0, op::kind::Exp, {open_f32(0)}, {open_f32(1)})});
  const partition part = g.get_partitions().at(0);
  const logical_tensor any(1, data_type::f32, layout_type::any);
  const compiled_partition left_open = part.compile({f32(0, {2, 3})}, {any}, cpu());
  EXPECT_EQ(left_open.query_logical_tensor(1).get_layout_type(), layout_type::strided);
  EXPECT_EQ(left_open.query_logical_tensor(1).get_dims(), (dims{2, 3}));
  EXPECT_EQ(left_open.query_logical_tensor(1).get_strides(), (dims{3, 1}));
  // Columns, with a gap between them.
  const logical_tensor columns(1, data_type::f32, {2, 3}, {1, 4});
  const compiled_partition asked = part.compile({f32(0, {2, 3})}, {columns}, cpu());
  EXPECT_EQ(asked.query_logical_tensor(1).get_strides(), (dims{1, 4}));
  std::vector<float> in(6, 0.0F), out(12, 7.0F);
  stream s(cpu());
  asked.execute(s, {on(f32(0, {2, 3}), in)}, {on(columns, out)});
  EXPECT_EQ(out, (std::vector<float>{1, 1, 7, 7, 1, 1, 7, 7, 1, 1, 7, 7}));
}

TEST(CppExecute, InPlace) {
  Difference d;
  const auto ports = d.compiled.get_inplace_ports();
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].first, 0U);
  EXPECT_EQ(ports[0].second, 3U);
  std::vector<float> wanted(12);
  d.compiled.execute(d.s, {on(f32(0, {3, 4}), d.a), on(f32(1, {3, 4}), d.b)}, {on(f32(3, {3, 4}), wanted)});
  d.compiled.execute(d.s, {on(f32(0, {3, 4}), d.a), on(f32(1, {3, 4}), d.b)}, {on(f32(3, {3, 4}), d.a)});
  EXPECT_EQ(d.a, wanted);
  EXPECT_THROWS(d.compiled.execute(d.s, {on(f32(0, {3, 4}), d.a), on(f32(1, {3, 4}), d.b)}, {on(f32(3, {3, 4}), d.b)}),
                tenfold_invalid_arguments);
}

TEST(CppExecute, InPlaceOfEveryLength) {
  for (std::int64_t length = 1; length < 200; length += length < 70 ? 1 : 13) {
    const Graph g = graph_of({op(0, op::kind::Tanh, {f32(0, {5, length})}, {open_f32(1)})});
    const compiled_partition compiled = compile(g.get_partitions().at(0));
    ASSERT_EQ(compiled.get_inplace_ports().size(), 1U);
    std::vector<float> data = counted(static_cast<std::size_t>(5 * length)), out(data.size());
    stream s(cpu());
    compiled.execute(s, {on(f32(0, {5, length}), data)}, {on(f32(1, {5, length}), out)});
    compiled.execute(s, {on(f32(0, {5, length}), data)}, {on(f32(1, {5, length}), data)});
    ASSERT_EQ(std::memcmp(data.data(), out.data(), data.size() * sizeof(float)), 0) << length;
  }
}

TEST(CppExecute, NothingElseIsInPlace) {
  EXPECT_TRUE(compile(graph_of({reduce_max(0, f32(0, {3, 4}), open_f32(1), 1)}).get_partitions().at(0))
                  .get_inplace_ports()
                  .empty());
  // Read along another dim than it is written.
  op turn(0, op::kind::StaticTranspose, {f32(0, {4, 4})}, {open_f32(1)});
  turn.set_attr<std::vector<std::int64_t>>(op::attr::order, {1, 0});
  const Graph turned = graph_of({turn, op(1, op::kind::Exp, {open_f32(1)}, {open_f32(2)})});
  EXPECT_TRUE(compile(turned.get_partitions().at(0)).get_inplace_ports().empty());
  const Graph both = graph_of({turn, op(1, op::kind::Add, {f32(0, {4, 4}), open_f32(1)}, {open_f32(2)})});
  EXPECT_TRUE(compile(both.get_partitions().at(0)).get_inplace_ports().empty());
  // The row is read again for each output row.
  const Graph row = graph_of({op(0, op::kind::Add, {f32(0, {1, 4}), f32(1, {1, 4})}, {open_f32(2)})});
  EXPECT_EQ(compile(row.get_partitions().at(0)).get_inplace_ports().size(), 1U);
  const Graph spread = graph_of({op(0, op::kind::Add, {f32(0, {1, 4}), f32(1, {5, 4})}, {open_f32(2)})});
  const auto ports = compile(spread.get_partitions().at(0)).get_inplace_ports();
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].first, 1U);
}

/// Two reductions, one after the other, without fusion: the value between them is a temporary.
struct WithTemporary {
  static graph::compile_options no_fusion() {
    graph::compile_options options;
    options.fusion = false;
    return options;
  }
  Graph graph =
      graph_of({op(0, op::kind::Exp, {f32(0, {64, 32})}, {open_f32(1)}), reduce_max(1, open_f32(1), open_f32(2), 1)});
  compiled_partition compiled = compile(graph.get_partitions().at(0), no_fusion());
  std::vector<float> in = std::vector<float>(64 * 32, 0.0F), out = std::vector<float>(64);
  stream s = stream(cpu());
  void run(const tensor& scratchpad) {
    compiled.execute(s, {on(f32(0, {64, 32}), in)}, {on(f32(2, {64}), out)}, scratchpad);
  }
};

TEST(CppExecute, ScratchOfTheCallers) {
  WithTemporary t;
  const logical_tensor lt = t.compiled.get_scratchpad_logical_tensor();
  EXPECT_EQ(lt.get_data_type(), data_type::u8);
  ASSERT_GE(lt.get_mem_size(), 64U * 32 * 4);
  const tensor scratchpad(lt, cpu());
  std::memset(scratchpad.get_data_handle(), 0xff, lt.get_mem_size());
  t.run(scratchpad);
  EXPECT_EQ(t.out, std::vector<float>(64, 1.0F));
  float first = 0;
  std::memcpy(&first, scratchpad.get_data_handle(), sizeof first);
  EXPECT_EQ(first, 1.0F) << "the temporary is there";
  t.out.assign(64, 0.0F);
  t.run(tensor());
  EXPECT_EQ(t.out, std::vector<float>(64, 1.0F));

  const logical_tensor small(0, data_type::u8, dims{64}, layout_type::strided);
  EXPECT_THROWS(t.run(tensor(small, cpu())), tenfold_invalid_arguments);
  const tensor wide(logical_tensor(0, data_type::u8, dims{lt.get_dims()[0] + 64}, layout_type::strided), cpu());
  EXPECT_THROWS(t.run(tensor(lt, cpu(), static_cast<char*>(wide.get_data_handle()) + 8)), tenfold_invalid_arguments);
  const tensor on_input(lt, cpu(), scratchpad.get_data_handle());
  EXPECT_THROWS(t.compiled.execute(t.s, {tensor(f32(0, {64, 32}), cpu(), scratchpad.get_data_handle())},
                                   {on(f32(2, {64}), t.out)}, on_input),
                tenfold_invalid_arguments);
}

/// Every task on a thread of its own.
struct Threads : threadpool_interop::threadpool_iface {
  explicit Threads(bool returns_at_once) : asynchronous(returns_at_once) {}
  ~Threads() override { Threads::wait(); }
  int get_num_threads() const override { return 4; }
  bool get_in_parallel() const override { return inside; }
  std::uint64_t get_flags() const override { return asynchronous ? ASYNCHRONOUS : 0; }
  void parallel_for(int n, const std::function<void(int, int)>& fn) override {
    ++calls;
    for (int i = 0; i < n; ++i) running.emplace_back([fn, i, n] { fn(i, n); });
    if (!asynchronous) Threads::wait();
  }
  void wait() override {
    for (std::thread& one : running) one.join();
    running.clear();
  }
  bool asynchronous;
  bool inside = false;
  int calls = 0;
  std::vector<std::thread> running;
};

TEST(CppExecute, OnTheHostsPool) {
  const dims shape{2048, 1024};
  const Graph g = graph_of({reduce_max(0, f32(0, shape), open_f32(1), 1)});
  const compiled_partition compiled = compile(g.get_partitions().at(0));
  const std::vector<float> in(2048 * 1024, 2.0F), wanted(2048, 2.0F);
  for (const bool asynchronous : {false, true}) {
    Threads pool(asynchronous);
    stream s = threadpool_interop::make_stream(cpu(), &pool);
    EXPECT_EQ(threadpool_interop::get_threadpool(s), &pool);
    std::vector<float> out(2048);
    compiled.execute(s, {on(f32(0, shape), in)}, {on(f32(1, {2048}), out)});
    EXPECT_EQ(out, wanted);
    EXPECT_EQ(pool.calls, 1);
    s.set_threads(1);
    compiled.execute(s, {on(f32(0, shape), in)}, {on(f32(1, {2048}), out)});
    EXPECT_EQ(pool.calls, 1) << "one thread touches no pool";
    s.set_threads(0);
    pool.inside = true;
    out.assign(2048, 0.0F);
    compiled.execute(s, {on(f32(0, shape), in)}, {on(f32(1, {2048}), out)});
    EXPECT_EQ(pool.calls, 1) << "nor does a thread of the pool's own";
    EXPECT_EQ(out, wanted);
  }
}

/// Throws from one of its functions, once its program has shut it down.
struct Broken : Threads {
  explicit Broken(bool counts) : Threads(false), counts_threads(counts) {}
  int get_num_threads() const override {
    return counts_threads ? Threads::get_num_threads() : throw std::runtime_error("the pool is shut down");
  }
  void parallel_for(int, const std::function<void(int, int)>&) override { throw std::runtime_error("no more tasks"); }
  bool counts_threads;
};

TEST(CppExecute, WhatTheHostsPoolThrowsIsAnError) {
  const dims shape{2048, 1024};
  const compiled_partition compiled =
      compile(graph_of({reduce_max(0, f32(0, shape), open_f32(1), 1)}).get_partitions().at(0));
  const std::vector<float> in(2048 * 1024, 2.0F), wanted(2048, 2.0F);
  std::vector<float> out(2048);
  for (const bool counts : {false, true}) {
    Broken pool(counts);
    stream s = threadpool_interop::make_stream(cpu(), &pool);
    EXPECT_THROWS(compiled.execute(s, {on(f32(0, shape), in)}, {on(f32(1, {2048}), out)}), tenfold_runtime_error);
  }
  stream s(cpu());
  compiled.execute(s, {on(f32(0, shape), in)}, {on(f32(1, {2048}), out)});
  EXPECT_EQ(out, wanted);
}

TEST(CppExecute, AxesAtRunTime) {
  const logical_tensor axes(1, data_type::s64, dims{1}, layout_type::strided);
  const Graph g = graph_of({op(0, "onnx.ReduceSum", {f32(0, {2, 3}), axes}, {open_f32(2)})});
  const compiled_partition compiled = compile(g.get_partitions().at(0));
  std::vector<float> in{1, 2, 3, 4, 5, 6}, out(3);
  std::int64_t axis = 0;
  const std::vector<tensor> inputs{on(f32(0, {2, 3}), in), tensor(axes, cpu(), &axis)};
  EXPECT_EQ(compiled.query_outputs(inputs).at(0).get_dims(), (dims{1, 3}));
  compiled.prepare(inputs);
  stream s(cpu());
  compiled.execute(s, inputs, {on(f32(2, {1, 3}), out)});
  EXPECT_EQ(out, (std::vector<float>{5, 7, 9}));
  axis = -1;
  EXPECT_EQ(compiled.query_outputs(inputs).at(0).get_dims(), (dims{2, 1}));
  compiled.execute(s, inputs, {on(f32(2, {2, 1}), out)});
  EXPECT_EQ(out[0], 6);
  EXPECT_EQ(out[1], 15);
  axis = 2;
  EXPECT_THROWS(compiled.execute(s, inputs, {on(f32(2, {1, 3}), out)}), tenfold_invalid_graph_op);
}

TEST(CppExecute, OutputsOfAxesAtRunTimeMustBeWhatTheyThenAre) {
  const logical_tensor axes(1, data_type::s64, dims{1}, layout_type::strided);
  const Graph g = graph_of({op(0, "onnx.ReduceSum", {f32(0, {2, 3}), axes}, {open_f32(2)})});
  const compiled_partition compiled = compile(g.get_partitions().at(0));
  std::vector<float> in{1, 2, 3, 4, 5, 6}, out(3);
  std::int64_t axis = 0;
  const std::vector<tensor> inputs{on(f32(0, {2, 3}), in), tensor(axes, cpu(), &axis)};
  stream s(cpu());
  const auto run = [&](const logical_tensor& lt) { compiled.execute(s, inputs, {tensor(lt, cpu(), out.data())}); };
  EXPECT_THROWS(run(f32(2, {1, 1})), tenfold_invalid_shape);
  EXPECT_THROWS(run(f32(2, {1})), tenfold_invalid_shape);
  EXPECT_THROWS(run(f32(2, {3})), tenfold_invalid_shape);
  try {
    run(f32(2, {3}));
  } catch (const error& thrown) {
    EXPECT_STREQ(thrown.what(), "could not execute: output 2: the tensor's dims are [3]; they must be [1, 3]");
  }
  EXPECT_THROWS(run(open_f32(2)), tenfold_invalid_shape);
  EXPECT_THROWS(run(logical_tensor(2, data_type::f32, {1, 3}, {9, 2})), tenfold_invalid_shape);
  EXPECT_THROWS(run(logical_tensor(2, data_type::s32, dims{1, 3}, layout_type::strided)), tenfold_invalid_data_type);
  axis = 1;
  EXPECT_THROWS(run(f32(2, {1, 3})), tenfold_invalid_shape);
  EXPECT_EQ(out, std::vector<float>(3)) << "nothing was written";
  run(f32(2, {2, 1}));
  EXPECT_EQ(out, (std::vector<float>{6, 15, 0}));
}

TEST(CppExecute, TensorsWithoutStridesAreRowMajor) {
  const Graph g = graph_of({op(0, op::kind::Abs, {f32(0, {2, 3})}, {open_f32(1)})});
  const partition part = g.get_partitions().at(0);
  const logical_tensor any(1, data_type::f32, dims{2, 3}, layout_type::any);
  std::vector<float> in(6, -1.0F), out(6);
  stream s(cpu());
  part.compile({f32(0, {2, 3})}, {any}, cpu()).execute(s, {on(f32(0, {2, 3}), in)}, {on(any, out)});
  EXPECT_EQ(out, std::vector<float>(6, 1.0F));
  const logical_tensor gaps(1, data_type::f32, {2, 3}, {8, 1}), opaque(1, data_type::f32, dims{2, 3}, std::size_t{1});
  const compiled_partition compiled = part.compile({f32(0, {2, 3})}, {gaps}, cpu());
  EXPECT_THROWS(compiled.execute(s, {on(f32(0, {2, 3}), in)}, {on(any, out)}), tenfold_invalid_shape);
  EXPECT_THROWS(compiled.execute(s, {on(f32(0, {2, 3}), in)}, {on(opaque, out)}), tenfold_unimplemented);
}

TEST(CppExecute, ArgMaxAndOurTypes) {
  const logical_tensor in(0, data_type::u16, dims{2, 3}, layout_type::strided), out(1, data_type::s64);
  op arg(0, op::kind::ArgMax, {f32(0, {2, 3})}, {out});
  arg.set_attr<std::int64_t>(op::attr::axis, 1).set_attr<std::int64_t>(op::attr::keepdims, 0);
  const compiled_partition compiled = compile(graph_of({arg}).get_partitions().at(0));
  const std::vector<float> logits{1, 9, 2, 7, 3, 7};
  std::vector<std::int64_t> found(2);
  stream s(cpu());
  compiled.execute(s, {on(f32(0, {2, 3}), logits)}, {tensor(compiled.get_outputs()[0], cpu(), found.data())});
  EXPECT_EQ(found, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(in.get_mem_size(), 12U);
}

/// Sets the cache's bounds back.
struct CacheBounds {
  CacheBounds() {
    tenfold_get_compiled_partition_cache_capacity(&capacity);
    tenfold_get_compiled_partition_cache_bytes(&bytes);
    graph::set_compiled_partition_cache_capacity(0);
    graph::set_compiled_partition_cache_capacity(capacity);
  }
  ~CacheBounds() {
    tenfold_set_compiled_partition_cache_capacity(capacity);
    tenfold_set_compiled_partition_cache_bytes(bytes);
  }
  static std::int32_t count() {
    std::int32_t now = -1;
    EXPECT_EQ(tenfold_get_compiled_partition_cache_use(&now, nullptr), tenfold_success);
    return now;
  }
  std::int32_t capacity = 0;
  std::size_t bytes = 0;
};

TEST(CppCache, FindsWhatWasCompiledBefore) {
  const CacheBounds bounds;
  EXPECT_EQ(CacheBounds::count(), 0);
  const Graph one = graph_of({reduce_max(0, f32(0, {3, 4}), open_f32(1), 1)});
  const Graph same = graph_of({reduce_max(0, f32(0, {3, 4}), open_f32(1), 1)});
  const compiled_partition kept = compile(one.get_partitions().at(0));
  EXPECT_EQ(CacheBounds::count(), 1);
  EXPECT_EQ(compile(same.get_partitions().at(0)).explain(), kept.explain());
  EXPECT_EQ(CacheBounds::count(), 1);
  // What differs in anything is another entry.
  compile(graph_of({reduce_max(0, f32(0, {3, 4}), open_f32(1), 0)}).get_partitions().at(0));
  EXPECT_EQ(CacheBounds::count(), 2);
  compile(graph_of({reduce_max(0, f32(0, {3, 5}), open_f32(1), 1)}).get_partitions().at(0));
  EXPECT_EQ(CacheBounds::count(), 3);
  graph::compile_options options;
  options.isa = "reference";
  compile(one.get_partitions().at(0), options);
  options = graph::compile_options();
  options.threads = 1;
  compile(one.get_partitions().at(0), options);
  options = graph::compile_options();
  options.fusion = false;
  compile(one.get_partitions().at(0), options);
  EXPECT_EQ(CacheBounds::count(), 6);
  compile(graph_of({reduce_max(0, f32(0, {3, 4}), f32(1, {3}), 1)}).get_partitions().at(0));
  EXPECT_EQ(CacheBounds::count(), 6) << "an output that says what would follow is no other graph";
  one.get_partitions().at(0).compile({f32(0, {8, 8})}, {open_f32(1)}, cpu());
  EXPECT_EQ(CacheBounds::count(), 7);
}

TEST(CppCache, ConstantsTellGraphsApart) {
  const CacheBounds bounds;
  for (const std::int64_t count : {4, 4096})
    for (const float addend : {1.0F, 2.0F, 1.0F}) {
      Graph g(engine::kind::cpu);
      g.add_op(op(0, op::kind::Add, {f32(0, {count}), f32(1, {count})}, {open_f32(2)}));
      const std::vector<float> constant(static_cast<std::size_t>(count), addend);
      g.add_constant(f32(1, {count}), constant.data());
      g.finalize();
      std::vector<float> in(constant.size(), 0.0F), out(constant.size());
      stream s(cpu());
      compile(g.get_partitions().at(0)).execute(s, {on(f32(0, {count}), in)}, {on(f32(2, {count}), out)});
      EXPECT_EQ(out, constant);
    }
  EXPECT_EQ(CacheBounds::count(), 5) << "small constants are compared, large ones are known by where they are";
}

TEST(CppCache, HoldsAsManyAsItMay) {
  const CacheBounds bounds;
  graph::set_compiled_partition_cache_capacity(1);
  EXPECT_EQ(graph::get_compiled_partition_cache_capacity(), 1);
  std::vector<compiled_partition> held;
  for (const std::int64_t rows : {3, 5, 3, 7}) {
    held.push_back(compile(graph_of({reduce_max(0, f32(0, {rows, 4}), open_f32(1), 1)}).get_partitions().at(0)));
    EXPECT_EQ(CacheBounds::count(), 1);
  }
  std::vector<float> in(12, 1.0F), out(3);
  stream s(cpu());
  held[0].execute(s, {on(f32(0, {3, 4}), in)}, {on(f32(1, {3}), out)});
  EXPECT_EQ(out[2], 1.0F) << "what is evicted lives on where it is held";
  graph::set_compiled_partition_cache_capacity(0);
  EXPECT_EQ(CacheBounds::count(), 0);
  compile(graph_of({reduce_max(0, f32(0, {3, 4}), open_f32(1), 1)}).get_partitions().at(0));
  EXPECT_EQ(CacheBounds::count(), 0);
  graph::set_compiled_partition_cache_capacity(8);
  EXPECT_EQ(tenfold_set_compiled_partition_cache_bytes(1), tenfold_success);
  compile(graph_of({reduce_max(0, f32(0, {3, 4}), open_f32(1), 1)}).get_partitions().at(0));
  EXPECT_EQ(CacheBounds::count(), 0) << "one entry has more than one byte";
  EXPECT_THROWS(graph::set_compiled_partition_cache_capacity(-1), tenfold_invalid_arguments);
}

TEST(CppCache, BoundsOfConstants) {
  std::size_t before = 0;
  EXPECT_EQ(tenfold_get_constant_cache_bytes(&before), tenfold_success);
  graph::set_constant_tensor_cache_capacity(engine::kind::cpu, 3);
  EXPECT_EQ(graph::get_constant_tensor_cache_capacity(engine::kind::cpu), 3U);
  EXPECT_EQ(graph::get_constant_tensor_cache(), 1);
  graph::set_constant_tensor_cache(0);
  EXPECT_EQ(graph::get_constant_tensor_cache(), 0);
  EXPECT_THROWS(graph::set_constant_tensor_cache(-1), tenfold_invalid_arguments);
  EXPECT_THROWS(graph::set_constant_tensor_cache_capacity(engine::kind::gpu, 3), tenfold_invalid_arguments);
  EXPECT_EQ(tenfold_set_constant_cache_bytes(before), tenfold_success);
}

}  // namespace
}  // namespace tenfold::test

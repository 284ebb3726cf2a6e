// SPDX-License-Identifier: Apache-2.0
//
// The C++ API's graphs: adding ops, finalizing, partitions by both policies, with ops that are not supported among
// them, JSON, ONNX, dumps.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/cppapi/small_cases.hpp"

namespace tenfold::test {
namespace {

using Ids = std::vector<std::size_t>;

op unary(std::size_t id, op::kind kind, std::size_t in, std::size_t out) {
  return op(id, kind, {in == 0 ? f32(0, {4, 6}) : open_f32(in)}, {open_f32(out)});
}

std::vector<Ids> ops_of(const std::vector<partition>& parts) {
  std::vector<Ids> ids;
  for (const partition& part : parts) ids.push_back(part.get_ops());
  return ids;
}

TEST(CppGraph, AddsOpsAndSaysWhatIsWrong) {
  Graph g(engine::kind::cpu);
  EXPECT_EQ(g.add_op(unary(0, op::kind::Abs, 0, 1)), status::success);
  EXPECT_EQ(g.add_op(unary(0, op::kind::Exp, 1, 2), false), status::invalid_graph) << "the id is taken";
  EXPECT_THROWS(g.add_op(unary(0, op::kind::Exp, 1, 2)), tenfold_invalid_graph);
  EXPECT_EQ(g.add_op(op(3, op::kind::ReduceMax), false), status::invalid_graph_op) << "it has no input";
  op wrong(4, op::kind::Abs, {open_f32(1)}, {open_f32(5)});
  wrong.set_attr<bool>(op::attr::keep_dims, true);
  EXPECT_THROWS(g.add_op(wrong), tenfold_invalid_graph_op);
  const op other_type(5, op::kind::Exp, {logical_tensor(1, data_type::bf16)}, {logical_tensor(6, data_type::bf16)});
  EXPECT_EQ(g.add_op(other_type, false), status::invalid_graph) << "tensor 1 is f32";
  EXPECT_FALSE(g.is_finalized());
  EXPECT_THROWS(g.get_partitions(), tenfold_invalid_graph);
  g.finalize();
  EXPECT_TRUE(g.is_finalized());
  EXPECT_EQ(g.add_op(unary(9, op::kind::Exp, 1, 2), false), status::invalid_graph);
  g.finalize();
  EXPECT_EQ(g.get_partitions().at(0).get_ops_num(), 1U) << "once more is nothing";
  EXPECT_THROWS(Graph(engine::kind::gpu), tenfold_invalid_arguments);
  EXPECT_THROWS(Graph(engine::kind::cpu).finalize(), tenfold_invalid_graph);
}

TEST(CppGraph, KeepsItsMathMode) {
  Graph g(engine::kind::cpu, graph::fpmath_mode::bf16);
  graph::fpmath_mode mode = graph::fpmath_mode::any;
  bool apply_to_int = true;
  g.get_fpmath_mode(mode, apply_to_int);
  EXPECT_EQ(mode, graph::fpmath_mode::bf16);
  EXPECT_FALSE(apply_to_int);
  g.set_fpmath_mode(graph::fpmath_mode::tf32, true);
  g.get_fpmath_mode(mode, apply_to_int);
  EXPECT_EQ(mode, graph::fpmath_mode::tf32);
  EXPECT_TRUE(apply_to_int);
}

TEST(CppPartitions, ASupportedGraphIsOneOrOneForEachOp) {
  const Graph g = graph_of(
      {unary(0, op::kind::Abs, 0, 1), unary(1, op::kind::Exp, 1, 2), reduce_max(2, open_f32(2), open_f32(3), 1)});
  const auto fused = g.get_partitions();
  ASSERT_EQ(fused.size(), 1U);
  EXPECT_TRUE(fused[0].is_supported());
  EXPECT_EQ(fused[0].get_ops_num(), 3U);
  EXPECT_EQ(fused[0].get_ops(), (Ids{0, 1, 2}));
  EXPECT_EQ(fused[0].get_engine_kind(), engine::kind::cpu);
  const auto single = g.get_partitions(partition::policy::debug);
  EXPECT_EQ(ops_of(single), (std::vector<Ids>{{0}, {1}, {2}}));
  EXPECT_EQ(single[1].get_input_ports().at(0).get_id(), 1U);
  EXPECT_EQ(single[1].get_input_ports().at(0).get_dims(), (dims{4, 6})) << "shapes are inferred";
  EXPECT_EQ(single[1].get_output_ports().at(0).get_id(), 2U);
  EXPECT_EQ(ops_of(g.get_partitions(partition::policy::fusion)), (std::vector<Ids>{{0, 1, 2}}));
  std::set<std::size_t> ids{fused[0].get_id()};
  for (const partition& one : single) ids.insert(one.get_id());
  EXPECT_EQ(ids.size(), 4U);
}

TEST(CppPartitions, UnsupportedOpsAreSetApart) {
  const Graph g =
      graph_of({unary(0, op::kind::Abs, 0, 1), unary(1, op::kind::Wildcard, 1, 2), unary(2, op::kind::Exp, 2, 3),
                unary(3, op::kind::Sqrt, 1, 4), op(4, op::kind::Add, {open_f32(3), open_f32(4)}, {open_f32(5)}),
                op(5, op::kind::End, {open_f32(5)}, {})});
  const auto parts = g.get_partitions();
  EXPECT_EQ(ops_of(parts), (std::vector<Ids>{{0}, {1}, {2, 3, 4}, {5}}));
  std::vector<bool> supported;
  for (const partition& part : parts) supported.push_back(part.is_supported());
  EXPECT_EQ(supported, (std::vector<bool>{true, false, true, false}));
  ASSERT_EQ(parts[2].get_input_ports().size(), 2U);
  EXPECT_EQ(parts[2].get_input_ports()[0].get_id(), 2U);
  EXPECT_EQ(parts[2].get_input_ports()[1].get_id(), 1U);
  EXPECT_EQ(parts[2].get_output_ports().size(), 1U);
  EXPECT_EQ(parts[3].get_output_ports().size(), 0U);
  EXPECT_THROWS(compile(parts[1]), tenfold_invalid_arguments);
  EXPECT_EQ(g.get_partitions(partition::policy::debug).size(), 6U);
}

TEST(CppPartitions, NoWayLeavesAPartAndComesBack) {
  // Exp reads what the Wildcard gives and what Abs gives; so Abs and Exp cannot be one part.
  const Graph g = graph_of({unary(0, op::kind::Abs, 0, 1), unary(1, op::kind::Wildcard, 1, 2),
                            op(2, op::kind::Multiply, {open_f32(1), open_f32(2)}, {open_f32(3)}),
                            unary(3, op::kind::Square, 0, 4)});
  EXPECT_EQ(ops_of(g.get_partitions()), (std::vector<Ids>{{0}, {3}, {1}, {2}}));
}

TEST(CppPartitions, WhatAWildcardGivesHasTheShapeThatTheCallerSays) {
  const Graph g = graph_of(
      {op(0, op::kind::Wildcard, {f32(0, {4})}, {f32(1, {4})}), op(1, op::kind::Exp, {f32(1, {4})}, {open_f32(2)})});
  const auto parts = g.get_partitions();
  ASSERT_EQ(parts.size(), 2U);
  const compiled_partition compiled = compile(parts[1]);
  std::vector<float> in(4, 0.0F), out(4);
  stream s(cpu());
  compiled.execute(s, {on(f32(1, {4}), in)}, {on(f32(2, {4}), out)});
  EXPECT_EQ(out, std::vector<float>(4, 1.0F));
}

TEST(CppPartitions, CyclesThroughUnsupportedOpsAreFound) {
  Graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::Wildcard, {f32(1, {4})}, {f32(2, {4})}));
  g.add_op(op(1, op::kind::Wildcard, {f32(2, {4})}, {f32(1, {4})}));
  EXPECT_THROWS(g.finalize(), tenfold_invalid_graph);
}

TEST(CppPartitions, OfOneOpWithoutAGraph) {
  const partition max(reduce_max(7, f32(0, {2, 3}), open_f32(1), 1), engine::kind::cpu);
  EXPECT_TRUE(max.is_supported());
  EXPECT_EQ(max.get_ops(), Ids{7});
  EXPECT_EQ(max.get_output_ports().at(0).get_dims(), dims{2});
  const partition end(op(0, op::kind::End, {f32(0, {2})}, {}), engine::kind::cpu);
  EXPECT_FALSE(end.is_supported());
  EXPECT_THROWS(partition(op(0, op::kind::Abs), engine::kind::cpu), tenfold_invalid_graph_op);
  EXPECT_THROWS(partition(op(0, op::kind::Abs), engine::kind::gpu), tenfold_invalid_arguments);
}

/// The kinds that the op tables have run, or fail by their own rules, and the others come back unsupported.
TEST(CppPartitions, EveryKindIsSupportedOrNot) {
  for (int number = 0; number < static_cast<int>(op::kind::LastSymbol); ++number) {
    const char* const name = graph::names::kind_text(number);
    SCOPED_TRACE(name);
    try {
      const partition one(op(0, static_cast<op::kind>(number), {f32(0, {2, 3})}, {f32(1, {2, 3})}), engine::kind::cpu);
      EXPECT_EQ(one.get_ops_num(), 1U);
      if (one.is_supported()) {
        EXPECT_TRUE(compile(one));
      } else {
        EXPECT_THROWS(compile(one), tenfold_invalid_arguments);
      }
    } catch (const error& thrown) {
      EXPECT_TRUE(thrown.status == tenfold_invalid_graph_op || thrown.status == tenfold_invalid_shape ||
                  thrown.status == tenfold_invalid_data_type)
          << thrown.message;
    }
  }
}

TEST(CppGraph, OutputsAndConstants) {
  Graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::Add, {f32(0, {2}), f32(1, {2})}, {open_f32(2)}));
  g.add_op(unary(1, op::kind::Exp, 2, 3));
  const float addend[] = {10, 20};
  g.add_constant(f32(1, {2}), addend);
  EXPECT_THROWS(g.add_constant(f32(1, {2}), addend), tenfold_invalid_graph);
  g.set_outputs({2});
  g.finalize();
  const partition part = g.get_partitions().at(0);
  EXPECT_EQ(part.get_ops(), Ids{0}) << "Exp is not needed";
  EXPECT_EQ(part.get_input_ports().size(), 1U);
  std::vector<float> in{1, 2}, out(2);
  stream s(cpu());
  compile(part).execute(s, {on(f32(0, {2}), in)}, {on(f32(2, {2}), out)});
  EXPECT_EQ(out, (std::vector<float>{11, 22}));
}

TEST(CppGraph, ToJsonAndBack) {
  const Graph g = graph_of({unary(0, op::kind::Abs, 0, 1), reduce_max(1, open_f32(1), open_f32(2), 1)});
  const std::string json = g.to_json();
  EXPECT_NE(json.find("\"ReduceMax\""), std::string::npos) << json;
  const Graph again = Graph::from_json(json);
  EXPECT_TRUE(again.is_finalized());
  EXPECT_EQ(again.to_json(), json);
  EXPECT_NE(g.to_text().find("ReduceMax"), std::string::npos);
  EXPECT_THROWS(Graph::from_json("{"), tenfold_invalid_arguments);
  EXPECT_THROWS(Graph(engine::kind::cpu).to_json(), tenfold_invalid_graph);
  EXPECT_THROWS(Graph::from_onnx("no model"), tenfold_invalid_arguments);
}

/// Sets the folder that dumps are written to, and the mode back at the end.
struct InFolder {
  InFolder() : before(std::filesystem::current_path()), folder(testing::TempDir() + "tenfold_dump") {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    std::filesystem::current_path(folder);
  }
  ~InFolder() {
    graph::set_dump_mode(graph::graph_dump_mode::none);
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
  }
  std::vector<std::string> files(const std::string& beginning) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().filename().string().rfind(beginning, 0) == 0) found.push_back(entry.path().string());
    return found;
  }
  std::filesystem::path before;
  std::string folder;
};

TEST(CppGraph, Dumps) {
  using graph::graph_dump_mode;
  const InFolder in;
  graph::set_dump_mode(graph_dump_mode::graph);
  const Graph whole = graph_of({unary(0, op::kind::Abs, 0, 1), unary(1, op::kind::Wildcard, 1, 2)});
  whole.get_partitions();
  ASSERT_EQ(in.files("graph-").size(), 1U);
  EXPECT_EQ(in.files("partition-").size(), 0U);
  std::ostringstream text;
  text << std::ifstream(in.files("graph-")[0]).rdbuf();
  EXPECT_EQ(text.str(), whole.to_json());
  graph_dump_mode mode = graph_dump_mode::none;
  mode |= graph_dump_mode::subgraph;
  EXPECT_EQ(~mode & graph_dump_mode::graph, graph_dump_mode::graph);
  EXPECT_EQ(mode ^ graph_dump_mode::subgraph, graph_dump_mode::none);
  graph::set_dump_mode(mode);
  whole.get_partitions();
  EXPECT_EQ(in.files("partition-").size(), 2U);
  EXPECT_EQ(in.files("graph-").size(), 1U);
  EXPECT_THROWS(graph::set_dump_mode(static_cast<graph_dump_mode>(8)), tenfold_invalid_arguments);
}

}  // namespace
}  // namespace tenfold::test

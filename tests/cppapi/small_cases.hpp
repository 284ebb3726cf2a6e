// SPDX-License-Identifier: Apache-2.0
//
// Small graphs for the tests of the C++ API, and expectations of what it throws.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <tenfold/graph.hpp>
#include <vector>

namespace tenfold::test {

using graph::compiled_partition;
using graph::engine;
using graph::logical_tensor;
using graph::op;
using graph::partition;
using graph::status;
using graph::stream;
using graph::tensor;
using Graph = graph::graph;
using dims = logical_tensor::dims;
using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;
using property_type = logical_tensor::property_type;

/// What `call` throws must have this status, and a message.
#define EXPECT_THROWS(call, wanted)                                               \
  try {                                                                           \
    (void)(call);                                                                 \
    ADD_FAILURE() << #call << " throws nothing";                                  \
  } catch (const ::tenfold::error& thrown) {                                      \
    EXPECT_EQ(thrown.status, wanted) << thrown.message;                           \
    EXPECT_GT(std::string(thrown.what()).size(), 10U) << "a message says enough"; \
  }

inline engine cpu() { return engine(engine::kind::cpu, 0); }

inline logical_tensor f32(std::size_t id, const dims& shape) {
  return {id, data_type::f32, shape, layout_type::strided};
}
/// Whose shape is inferred.
inline logical_tensor open_f32(std::size_t id) { return {id, data_type::f32}; }

/// One op's graph, finalized.
inline Graph graph_of(std::initializer_list<op> ops) {
  Graph made(engine::kind::cpu);
  for (const op& one : ops) made.add_op(one);
  made.finalize();
  return made;
}

inline op reduce_max(std::size_t id, const logical_tensor& in, const logical_tensor& out, std::int64_t axis) {
  op made(id, op::kind::ReduceMax, {in}, {out}, "max");
  made.set_attr<std::vector<std::int64_t>>(op::attr::axes, {axis});
  return made;
}

inline tensor on(const logical_tensor& lt, std::vector<float>& data) { return tensor(lt, cpu(), data.data()); }
inline tensor on(const logical_tensor& lt, const std::vector<float>& data) {
  return tensor(lt, cpu(), const_cast<float*>(data.data()));
}

/// Compiles a partition for the ports that it has.
inline compiled_partition compile(const partition& part, const graph::compile_options& options = {}) {
  return part.compile(part.get_input_ports(), part.get_output_ports(), cpu(), options);
}

}  // namespace tenfold::test

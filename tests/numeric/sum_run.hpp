// SPDX-License-Identifier: Apache-2.0
//
// One sum over one axis, compiled for a level and run on one thread: for tests of the order of additions.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph_value.hpp"
#include "runtime/program.hpp"
#include "target/target.hpp"

namespace tenfold::numeric {

/// Row-major; the axis is dropped.
inline graph::Graph sum_over(DType dtype, const Dims& shape, std::int64_t axis) {
  graph::Graph g;
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = "reduce";
  op.attributes = {{"reduction", std::string("sum")}, {"axes", Dims{axis}}, {"keep_dims", false}};
  op.inputs = {add_value(g, {dtype, shape, {}})};
  Dims kept = shape;
  kept.erase(kept.begin() + axis);
  op.outputs = {add_value(g, {dtype, kept, {}})};
  g.ops.push_back(op);
  graph::connect(g);
  EXPECT_TRUE(graph::run_pipeline(g).ok());
  return g;
}

/// To `results`, which has room for all of them.
template <class Element>
void run_sum(const graph::Graph& sum, target::Isa isa, const std::vector<Element>& elements,
             std::vector<Element>& results) {
  target::Target target = target::host().value();
  target.isa = isa;
  const Result<compiler::Compiled> compiled = compiler::compile(sum, target);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const void* const in = elements.data();
  void* const out = results.data();
  ASSERT_TRUE(runtime::run(compiled.value().program, {&in, 1}, {&out, 1}, nullptr, 1).ok());
}

}  // namespace tenfold::numeric

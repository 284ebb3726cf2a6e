// SPDX-License-Identifier: Apache-2.0
//
// The example of README.md, compiled and run: the greatest element of each row of a matrix.
#include <cstdio>
#include <vector>

#include "tenfold/tenfold.hpp"

int main() {
  tenfold::GraphBuilder builder;
  const auto x = builder.input({tenfold::DType::f32, {4096, 1024}, {}});
  builder.op("ReduceMax", {x}, {{"axes", std::vector<std::int64_t>{1}}});
  const auto graph = builder.finish();
  if (!graph.ok()) return std::puts(graph.status().message().c_str()), 1;
  const auto partition = tenfold::compile(graph.value());
  if (!partition.ok()) return std::puts(partition.status().message().c_str()), 1;
  std::vector<float> in(4096 * 1024, 1.0F), out(4096);
  in[3 * 1024 + 5] = 7.0F;
  const auto status = partition.value().execute({in.data()}, {out.data()});
  if (!status.ok()) return std::puts(status.message().c_str()), 1;

  std::printf("row 2: %g, row 3: %g\n", static_cast<double>(out[2]), static_cast<double>(out[3]));
  return out[2] == 1.0F && out[3] == 7.0F ? 0 : 1;
}

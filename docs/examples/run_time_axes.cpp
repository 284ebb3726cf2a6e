// SPDX-License-Identifier: Apache-2.0
//
// Axes that are known at run time only: an input of ONNX's ReduceSum. The outputs' dims follow from it, so they are
// asked for, and for each axes that come for the first time Tenfold generates code, which prepare() does ahead.
#include <cstdint>
#include <iostream>
#include <tenfold/graph.hpp>
#include <vector>

using namespace tenfold::graph;
using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;

int main() {
  const logical_tensor x(0, data_type::f32, {2, 3}, layout_type::strided);
  const logical_tensor axes(1, data_type::s64, logical_tensor::dims{1}, layout_type::strided);
  graph g(engine::kind::cpu);
  g.add_op(op(0, "onnx.ReduceSum", {x, axes}, {logical_tensor(2, data_type::f32)}, "sum"));
  g.finalize();
  const engine eng(engine::kind::cpu, 0);
  const compiled_partition compiled = g.get_partitions().at(0).compile({x, axes}, {}, eng);

  std::vector<float> data{1, 2, 3, 4, 5, 6};
  stream strm(eng);
  float total = 0;
  for (int64_t axis : {0, 1}) {
    const std::vector<tensor> inputs{tensor(x, eng, data.data()), tensor(axes, eng, &axis)};
    compiled.prepare(inputs);
    const tensor sums(compiled.query_outputs(inputs)[0], eng);
    compiled.execute(strm, inputs, {sums});
    std::cout << "axis " << axis << ":";
    const auto count = sums.get_logical_tensor().get_mem_size() / sizeof(float);
    for (std::size_t i = 0; i < count; ++i) {
      const float sum = static_cast<const float*>(sums.get_data_handle())[i];
      std::cout << ' ' << sum;
      total += sum;
    }
    std::cout << "\n";
  }
  return total == 42.0F ? 0 : 1;
}

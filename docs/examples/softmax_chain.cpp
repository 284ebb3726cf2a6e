// SPDX-License-Identifier: Apache-2.0
//
// The middle of attention, softmax(scores * scale + mask), through the C++ API: three ops, one partition, one kernel.
// Prints how Tenfold runs it.
#include <cmath>
#include <iostream>
#include <string>
#include <tenfold/graph.hpp>
#include <vector>

using namespace tenfold::graph;
using dims = logical_tensor::dims;
using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;

int main() {
  // 8 heads, 128 queries, 128 keys; the mask is the same for all heads.
  const logical_tensor scores(0, data_type::f32, {8, 128, 128}, layout_type::strided);
  const logical_tensor scale(1, data_type::f32, dims{1}, layout_type::strided);
  const logical_tensor mask(2, data_type::f32, {128, 128}, layout_type::strided);
  // Of what follows from the inputs, only the type is said.
  const logical_tensor scaled(3, data_type::f32), masked(4, data_type::f32), weights(5, data_type::f32);

  op softmax(2, op::kind::SoftMax, {masked}, {weights}, "softmax");
  softmax.set_attr<int64_t>(op::attr::axis, -1);
  graph g(engine::kind::cpu);
  g.add_op(op(0, op::kind::Multiply, {scores, scale}, {scaled}, "scale"));
  g.add_op(op(1, op::kind::Add, {scaled, mask}, {masked}, "mask"));
  g.add_op(softmax);
  g.finalize();

  const engine eng(engine::kind::cpu, 0);
  const partition part = g.get_partitions().at(0);
  const compiled_partition compiled = part.compile({scores, scale, mask}, {weights}, eng);
  std::cout << compiled.explain() << "\n";

  std::vector<float> mask_data(128 * 128, 0.0F), scores_data(8 * 128 * 128, 2.0F), scale_data{0.125F};
  for (int q = 0; q < 128; ++q)  // no query sees a later key
    for (int k = q + 1; k < 128; ++k) mask_data[static_cast<std::size_t>(128 * q + k)] = -INFINITY;
  const tensor result(compiled.query_logical_tensor(5), eng);
  stream strm(eng);
  compiled.execute(strm,
                   {tensor(scores, eng, scores_data.data()), tensor(scale, eng, scale_data.data()),
                    tensor(mask, eng, mask_data.data())},
                   {result});

  const float* const row = static_cast<const float*>(result.get_data_handle()) + 128 * 3;
  std::cout << "query 3: " << row[0] << ' ' << row[3] << ' ' << row[4] << "\n";
  return std::fabs(row[0] - 0.25F) < 1e-6F && row[3] == row[0] && row[4] == 0.0F ? 0 : 1;
}

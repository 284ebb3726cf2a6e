// SPDX-License-Identifier: Apache-2.0
//
// Which token a language model would say: ArgMax over the logits, an op of ONNX's that oneDNN Graph has not. The number
// of rows is left open in the graph and given when compiling.
#include <cstdint>
#include <iostream>
#include <tenfold/graph.hpp>
#include <vector>

using namespace tenfold::graph;
using dims = logical_tensor::dims;
using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;

int main() {
  constexpr int64_t kVocabulary = 32000;
  const logical_tensor logits(0, data_type::f32, {TENFOLD_UNKNOWN_DIM, kVocabulary}, layout_type::strided);
  op argmax(0, op::kind::ArgMax, {logits}, {logical_tensor(1, data_type::s64)}, "token");
  argmax.set_attr<int64_t>(op::attr::axis, -1).set_attr<int64_t>(op::attr::keepdims, 0);
  graph g(engine::kind::cpu);
  g.add_op(argmax);
  g.finalize();
  const partition part = g.get_partitions().at(0);

  const engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  bool right = true;
  for (const int64_t rows : {1, 4}) {
    const logical_tensor in(0, data_type::f32, {rows, kVocabulary}, layout_type::strided);
    const compiled_partition compiled = part.compile({in}, {}, eng);
    std::vector<float> data(static_cast<std::size_t>(rows * kVocabulary), 0.0F);
    for (int64_t r = 0; r < rows; ++r) data[static_cast<std::size_t>(r * kVocabulary + 1000 * r + 7)] = 1.5F;
    std::vector<int64_t> tokens(static_cast<std::size_t>(rows));
    compiled.execute(strm, {tensor(in, eng, data.data())}, {tensor(compiled.get_outputs()[0], eng, tokens.data())});
    for (int64_t r = 0; r < rows; ++r) {
      std::cout << "row " << r << ": token " << tokens[static_cast<std::size_t>(r)] << "\n";
      right = right && tokens[static_cast<std::size_t>(r)] == 1000 * r + 7;
    }
  }
  return right ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// A program as one writes it for oneDNN Graph: y = ReLU(x * w + b), from ops to results, with names of namespace dnnl.
// It is built twice, and only the three lines below differ: once Tenfold's header and an alias stand in place of
// oneDNN's include, once nothing is changed and the include folder of tenfold::dnnl_graph_compat gives the header.
#ifdef PORTED_BY_ALIAS
#include <tenfold/graph.hpp>
namespace dnnl = tenfold;
#else
#include <oneapi/dnnl/dnnl_graph.hpp>
#endif

#include <cstdint>
#include <iostream>
#include <unordered_map>
#include <vector>

using dnnl::engine;
using dnnl::stream;
using dnnl::graph::logical_tensor;
using dnnl::graph::op;
using dnnl::graph::partition;
using dnnl::graph::tensor;
using dims = logical_tensor::dims;
using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;

namespace {

enum : std::size_t { kX, kWeights, kProduct, kBias, kSum, kY };

dnnl::graph::graph build() {
  const dims shape{32, 64};
  logical_tensor x(kX, data_type::f32, shape, layout_type::strided);
  logical_tensor weights(kWeights, data_type::f32, {1, 64}, layout_type::strided);
  logical_tensor product(kProduct, data_type::f32, shape, layout_type::strided);
  logical_tensor bias(kBias, data_type::f32, dims{64}, layout_type::strided);
  logical_tensor sum(kSum, data_type::f32, shape, layout_type::strided);
  logical_tensor y(kY, data_type::f32, shape, layout_type::strided);

  op multiply(0, op::kind::Multiply, {x, weights}, {product}, "multiply");
  multiply.set_attr<std::string>(op::attr::auto_broadcast, "numpy");
  op add(1, op::kind::BiasAdd, {product, bias}, {sum}, "bias");
  add.set_attr<std::string>(op::attr::data_format, "NXC");
  op relu(2, op::kind::ReLU, {sum}, {y}, "relu");

  dnnl::graph::graph g(engine::kind::cpu);
  g.add_op(multiply);
  g.add_op(add);
  g.add_op(relu);
  g.finalize();
  return g;
}

/// Buffers by tensor id, so that one partition's outputs are the next one's inputs.
using Buffers = std::unordered_map<std::size_t, std::vector<float>>;

std::vector<tensor> tensors_for(const std::vector<logical_tensor>& ports, Buffers& buffers, const engine& eng) {
  std::vector<tensor> made;
  for (const logical_tensor& port : ports) {
    std::vector<float>& buffer = buffers[port.get_id()];
    if (buffer.empty()) buffer.resize(port.get_mem_size() / sizeof(float));
    made.emplace_back(port, eng, buffer.data());
  }
  return made;
}

}  // namespace

int main() {
  engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  Buffers buffers;
  buffers[kX] = std::vector<float>(32 * 64, 3.0F);
  buffers[kWeights] = std::vector<float>(64, 2.0F);
  buffers[kBias] = std::vector<float>(64, -1.0F);
  buffers[kBias][63] = -100.0F;

  const dnnl::graph::graph g = build();
  for (const partition& part : g.get_partitions()) {
    if (!part.is_supported()) {
      std::cerr << "partition " << part.get_id() << " is left to the host\n";
      return 1;
    }
    const std::vector<logical_tensor> inputs = part.get_input_ports();
    std::vector<logical_tensor> outputs = part.get_output_ports();
    auto compiled = part.compile(inputs, outputs, eng);
    for (logical_tensor& output : outputs) output = compiled.query_logical_tensor(output.get_id());
    compiled.execute(strm, tensors_for(inputs, buffers, eng), tensors_for(outputs, buffers, eng));
  }
  strm.wait();

  const std::vector<float>& y = buffers[kY];
  std::cout << "y[0] = " << y[0] << ", y[63] = " << y[63] << "\n";
  return y[0] == 5.0F && y[63] == 0.0F ? 0 : 1;
}

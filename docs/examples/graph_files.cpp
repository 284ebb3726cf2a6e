// SPDX-License-Identifier: Apache-2.0
//
// Graphs that come from files: oneDNN Graph JSON, as ONEDNN_GRAPH_DUMP writes it, and ONNX models, by the ending of the
// name. Compiles each and says what it takes and gives, and how it runs.
//
//   graph_files FILE.json FILE.onnx ...
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tenfold/graph.hpp>

using namespace tenfold::graph;

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

bool ends_in(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void print(const char* role, const logical_tensor& port) {
  std::cout << role << ' ' << port.get_id() << ": [";
  if (port.data.ndims < 0) std::cout << " *";  // the rank follows from the values of an input
  for (int i = 0; i < port.data.ndims; ++i) std::cout << ' ' << port.data.dims[i];
  std::cout << " ]\n";
}

void show(const std::string& path) {
  const std::string bytes = bytes_of(path);
  const graph g = ends_in(path, ".onnx") ? graph::from_onnx(bytes) : graph::from_json(bytes);
  std::cout << path << "\n" << g.to_text();
  for (const partition& part : g.get_partitions()) {
    if (!part.is_supported()) continue;
    const compiled_partition compiled = part.compile({}, {}, engine(engine::kind::cpu, 0));
    for (const logical_tensor& port : compiled.get_inputs()) print("input", port);
    for (const logical_tensor& port : compiled.get_outputs()) print("output", port);
    std::cout << compiled.explain();
  }
}

}  // namespace

int main(int count, char** paths) {
  try {
    for (int i = 1; i < count; ++i) show(paths[i]);
  } catch (const std::exception& wrong) {
    std::cerr << wrong.what() << "\n";
    return 1;
  }
  return 0;
}

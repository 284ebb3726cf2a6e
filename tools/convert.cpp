// SPDX-License-Identifier: Apache-2.0
//
// `tenfold convert`: reads an ONNX model or a graph file and writes it as a graph file.
#include <cstdio>
#include <fstream>
#include <string>

#include "graph/ir/graph.hpp"
#include "tools/commands.hpp"
#include "tools/graph_file.hpp"
#include "tools/graph_json.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

int convert_graph(const ConvertOptions& options) {
  if (is_onnx_path(options.to))
    return fail("convert", options.json,
                Status(Code::unsupported_op, "'" + options.to + "': ONNX models are read, but not written"));
  const Result<Graph> graph = read_graph_file(options.from, options.data_dir);
  if (!graph.ok()) return fail("convert", options.json, graph.status());
  const Result<std::string> text = graph_json(graph.value().ir());
  if (!text.ok()) return fail("convert", options.json, text.status());
  std::ofstream file(options.to, std::ios::binary);
  file << text.value();
  file.close();
  if (!file)
    return fail("convert", options.json, Status(Code::internal_error, "'" + options.to + "' cannot be written"),
                kExitRunTime);
  const graph::Graph& ir = graph.value().ir();
  if (options.json) {
    Json answer = json_answer("convert");
    answer["ops"] = ir.ops.size();
    answer["tensors"] = ir.values.size();
    print_json(answer);
  } else {
    std::printf("%s: %zu op%s, %zu tensor%s\n", options.to.c_str(), ir.ops.size(), ir.ops.size() == 1 ? "" : "s",
                ir.values.size(), ir.values.size() == 1 ? "" : "s");
  }
  return kExitOk;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// `tenfold convert`: reads an ONNX model or a graph file and writes it as either.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "graph/check/check.hpp"
#include "graph/ir/graph.hpp"
#include "graph/pass/pass.hpp"
#include "graph/write/json.hpp"
#include "graph/write/onnx.hpp"
#include "tools/commands.hpp"
#include "tools/graph_file.hpp"
#include "tools/printable.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

namespace {

/// oneDNN's ops need ranks to become ONNX's, and a model must say the dtypes of its outputs; ONNX's own graphs are
/// written with what they say.
bool needs_inference(const graph::Graph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(),
                     [](const graph::Op& op) { return op.dialect == schemas::Dialect::onednn && op.kind != "End"; }) ||
         std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](graph::ValueId v) { return graph.values[v].dtype == DType::undef; });
}

Result<std::string> onnx_model(graph::Graph graph) {
  if (needs_inference(graph))
    if (Status s = graph::infer(graph); !s.ok()) return s;
  if (Status s = graph::to_onnx(graph); !s.ok()) return s;
  return graph::write_onnx(graph);
}

}  // namespace

int convert_graph(const ConvertOptions& options) {
  const Result<Graph> graph = read_graph_file(options.from, options.data_dir);
  if (!graph.ok()) return fail("convert", options.json, graph.status());
  const Result<std::string> text =
      is_onnx_path(options.to) ? onnx_model(graph.value().ir()) : graph::write_json(graph.value().ir());
  if (!text.ok()) return fail("convert", options.json, text.status());
  std::ofstream file(options.to, std::ios::binary);
  file << text.value();
  file.close();
  if (!file) return fail("convert", options.json, cannot_write(options.to), kExitRunTime);
  const graph::Graph& ir = graph.value().ir();
  if (options.json) {
    Json answer = json_answer("convert");
    answer["ops"] = ir.ops.size();
    answer["tensors"] = ir.values.size();
    print_json(answer);
  } else {
    std::printf("%s: %zu op%s, %zu tensor%s\n", printable(options.to).c_str(), ir.ops.size(),
                ir.ops.size() == 1 ? "" : "s", ir.values.size(), ir.values.size() == 1 ? "" : "s");
  }
  return kExitOk;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// `tenfold convert`: reads an ONNX model or a graph file and writes it as either.
#include <sys/stat.h>
#include <unistd.h>

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

/// Whether what is written to `path` comes out of stdout, as that of /dev/stdout does, for somebody to read: in
/// /dev/null nothing mixes.
bool is_stdout(const std::string& path) {
  struct stat file = {}, out = {};
  return stat(path.c_str(), &file) == 0 && fstat(STDOUT_FILENO, &out) == 0 && file.st_dev == out.st_dev &&
         file.st_ino == out.st_ino && (!S_ISCHR(out.st_mode) || isatty(STDOUT_FILENO) == 1);
}

/// Through the stream if it is stdout: opened once more, a file would lose what stands in it before.
Status write_text(const std::string& path, const std::string& text, bool to_stdout) {
  if (to_stdout) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return Status();
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status() : cannot_write(path);
}

}  // namespace

int convert_graph(const ConvertOptions& options) {
  const bool to_stdout = is_stdout(options.to);
  if (to_stdout && options.json)
    return fail("convert", options.json,
                Status(Code::invalid_argument, "--json: its answer and '" + options.to + "' would both be on stdout"));
  const Result<Graph> graph = read_graph_file(options.from, options.data_dir);
  if (!graph.ok()) return fail("convert", options.json, graph.status());
  const Result<std::string> text =
      is_onnx_path(options.to) ? onnx_model(graph.value().ir()) : graph::write_json(graph.value().ir());
  if (!text.ok()) return fail("convert", options.json, text.status());
  if (Status s = write_text(options.to, text.value(), to_stdout); !s.ok())
    return fail("convert", options.json, s, kExitRunTime);
  const graph::Graph& ir = graph.value().ir();
  if (options.json) {
    Json answer = json_answer("convert");
    answer["ops"] = ir.ops.size();
    answer["tensors"] = ir.values.size();
    print_json(answer);
  } else {
    std::fprintf(to_stdout ? stderr : stdout, "%s: %zu op%s, %zu tensor%s\n", printable(options.to).c_str(),
                 ir.ops.size(), ir.ops.size() == 1 ? "" : "s", ir.values.size(), ir.values.size() == 1 ? "" : "s");
  }
  return kExitOk;
}

}  // namespace tenfold::tools

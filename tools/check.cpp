// SPDX-License-Identifier: Apache-2.0
//
// `tenfold check`: a verdict on each graph file. A file is ok when it can be read, obeys the rules, and its shapes
// agree.
#include "graph/check/check.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "tenfold/graph_builder.hpp"
#include "tools/commands.hpp"
#include "tools/graph_file.hpp"
#include "tools/printable.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

namespace {

namespace fs = std::filesystem;

struct Verdict {
  std::string path;
  std::size_t ops = 0;
  Status status;
};

/// A file, or a link that leads nowhere, which has its verdict, too, instead of being left out.
bool is_file_or_dead_link(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_regular_file(error) || (entry.is_symlink(error) && !entry.exists(error));
}

/// A path as it was given, or, when it is a directory, all *.json and *.onnx below it, sorted. A directory that has
/// none or cannot be read gets its verdict here; what is not there gets one when it is read, as a file would.
std::vector<Verdict> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {{path, 0, Status()}};
  const auto bad = [&](const std::string& what) {
    return std::vector<Verdict>{{path, 0, Status(Code::invalid_file, "'" + path + "': " + what)}};
  };
  std::vector<Verdict> files;
  fs::recursive_directory_iterator entries(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error))
    if (is_graph_path(entries->path()) && is_file_or_dead_link(*entries))
      files.push_back({entries->path(), 0, Status()});
  if (error) return bad(error.message());
  if (files.empty()) return bad("no *.json or *.onnx below this directory");
  std::sort(files.begin(), files.end(), [](const Verdict& x, const Verdict& y) { return x.path < y.path; });
  return files;
}

Status judge(const std::string& path, const std::string& data_dir, std::size_t& ops) {
  const Result<std::string> text = read_graph_text(path);
  if (!text.ok()) return text.status();
  const Result<Graph> graph = parse_graph_text(path, text.value(), data_dir);
  if (!graph.ok()) return graph.status();
  graph::Graph copy = graph.value().ir();
  ops = copy.ops.size();
  return graph::infer(copy);
}

}  // namespace

int check_graphs(const CheckOptions& options) {
  std::vector<Verdict> verdicts;
  for (const std::string& path : options.paths) {
    std::vector<Verdict> files = files_of(path);
    verdicts.insert(verdicts.end(), std::make_move_iterator(files.begin()), std::make_move_iterator(files.end()));
  }
  std::size_t bad = 0;
  Json answer = json_answer("check");
  answer["files"] = Json::array();
  for (Verdict& verdict : verdicts) {
    if (verdict.status.ok()) verdict.status = judge(verdict.path, options.data_dir, verdict.ops);
    const bool ok = verdict.status.ok();
    bad += ok ? 0 : 1;
    if (options.json) {
      Json entry = {{"path", verdict.path}, {"ok", ok}};
      if (ok) entry["ops"] = verdict.ops;
      if (!ok) entry["error"] = {{"code", to_string(verdict.status.code())}, {"message", verdict.status.message()}};
      answer["files"].push_back(std::move(entry));
    } else if (ok) {
      std::printf("ok     %s: %zu op%s\n", printable(verdict.path).c_str(), verdict.ops, verdict.ops == 1 ? "" : "s");
    } else {
      std::printf("error  %s: %s: %s\n", printable(verdict.path).c_str(), to_string(verdict.status.code()),
                  printable(verdict.status.message()).c_str());
    }
  }
  const std::size_t total = verdicts.size();
  answer["ok"] = bad == 0;
  answer["total"] = total;
  answer["bad"] = bad;
  if (options.json)
    print_json(answer);
  else
    std::printf("%zu file%s: %zu ok, %zu bad\n", total, total == 1 ? "" : "s", total - bad, bad);
  return bad == 0 ? kExitOk : kExitFailed;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// `tenfold check`: a verdict on each graph file. A file is ok when it can be read, obeys the rules, and its shapes
// agree.
#include "graph/check/check.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
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

/// Files as they were given, and all *.json and *.onnx below directories, sorted.
Result<std::vector<std::string>> collect(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (paths.size() == 1 && !fs::exists(path, error))
      return Status(Code::invalid_file, "'" + path + "': no such file or directory");
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    fs::recursive_directory_iterator entries(path, fs::directory_options::skip_permission_denied, error);
    for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error))
      if (is_graph_path(entries->path()) && is_file_or_dead_link(*entries)) found.push_back(entries->path());
    if (error) return Status(Code::invalid_file, "'" + path + "': " + error.message());
    if (found.empty()) return Status(Code::invalid_file, "'" + path + "': no *.json or *.onnx below this directory");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Verdict judge(const std::string& path, const std::string& data_dir) {
  Verdict verdict{path, 0, Status()};
  const Result<std::string> text = read_graph_text(path);
  if (!text.ok()) {
    verdict.status = text.status();
    return verdict;
  }
  const Result<Graph> graph = parse_graph_text(path, text.value(), data_dir);
  if (!graph.ok()) {
    verdict.status = graph.status();
    return verdict;
  }
  graph::Graph copy = graph.value().ir();
  verdict.ops = copy.ops.size();
  verdict.status = graph::infer(copy);
  return verdict;
}

}  // namespace

int check_graphs(const CheckOptions& options) {
  const Result<std::vector<std::string>> files = collect(options.paths);
  if (!files.ok()) return fail("check", options.json, files.status());
  std::size_t bad = 0;
  Json answer = json_answer("check");
  answer["files"] = Json::array();
  for (const std::string& path : files.value()) {
    const Verdict verdict = judge(path, options.data_dir);
    const bool ok = verdict.status.ok();
    bad += ok ? 0 : 1;
    if (options.json) {
      Json entry = {{"path", path}, {"ok", ok}};
      if (ok) entry["ops"] = verdict.ops;
      if (!ok) entry["error"] = {{"code", to_string(verdict.status.code())}, {"message", verdict.status.message()}};
      answer["files"].push_back(std::move(entry));
    } else if (ok) {
      std::printf("ok     %s: %zu op%s\n", printable(path).c_str(), verdict.ops, verdict.ops == 1 ? "" : "s");
    } else {
      std::printf("error  %s: %s: %s\n", printable(path).c_str(), to_string(verdict.status.code()),
                  printable(verdict.status.message()).c_str());
    }
  }
  const std::size_t total = files.value().size();
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

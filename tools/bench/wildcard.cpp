// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/wildcard.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tools/graph_file.hpp"

namespace tenfold::tools::bench {

namespace fs = std::filesystem;

bool matches(std::string_view pattern, std::string_view name) noexcept {
  // Where the last * was met, and how much of the name it has taken so far: no need to go back beyond it.
  std::size_t at = 0, star = std::string_view::npos, taken = 0;
  std::size_t i = 0;
  while (i < name.size()) {
    if (at < pattern.size() && (pattern[at] == '?' || (pattern[at] == name[i] && pattern[at] != '*'))) {
      ++at;
      ++i;
    } else if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

Result<std::vector<std::string>> graph_files(const std::string& path) {
  std::error_code error;
  const fs::path asked(path);
  const bool folder = fs::is_directory(asked, error);
  const std::string pattern = folder ? "*" : asked.filename().string();
  if (!folder && pattern.find_first_of("*?") == std::string::npos) {
    // Named, so it must be there; what it holds may well be no case.
    if (!fs::exists(asked, error)) return Status(Code::invalid_file, "'" + path + "': no such file");
    return std::vector<std::string>{path};
  }
  const fs::path parent = folder ? asked : asked.has_parent_path() ? asked.parent_path() : fs::path(".");
  std::vector<std::string> files;
  fs::directory_iterator entry(parent, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_graph_path(entry->path().string()) && matches(pattern, entry->path().filename().string()))
      files.push_back(entry->path().string());
  }
  if (files.empty())
    return Status(Code::invalid_file, "'" + path + "' stands for no graph file (*.json, *.onnx)" +
                                          (error ? ": " + error.message() : std::string()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tenfold::tools::bench

// SPDX-License-Identifier: Apache-2.0
//
// Graph files; see graph_file.hpp.
#include "tools/graph_file.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "graph/read/json.hpp"

namespace tenfold::tools {

Result<std::string> read_text_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return Status(Code::invalid_file, "'" + path + "': no such file");
  if (!std::filesystem::is_regular_file(status))
    return Status(Code::invalid_file, "'" + path + "': not a regular file");
  const auto size = std::filesystem::file_size(path, error);
  constexpr std::size_t kLimit = graph::ReadLimits{}.bytes;
  if (!error && size > kLimit)
    return Status(Code::invalid_file,
                  "'" + path + "': " + std::to_string(size) + " bytes, the limit is " + std::to_string(kLimit));
  std::ifstream file(path, std::ios::binary);
  std::string text(error ? 0 : size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (error || !file) return Status(Code::invalid_file, "'" + path + "': it cannot be read");
  return text;
}

Result<Graph> read_graph_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return text.status();
  Result<Graph> graph = Graph::from_json(text.value());
  if (!graph.ok()) return Status(graph.status().code(), "'" + path + "': " + graph.status().message());
  return graph;
}

}  // namespace tenfold::tools

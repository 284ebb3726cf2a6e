// SPDX-License-Identifier: Apache-2.0
//
// Graph files; see graph_file.hpp.
#include "tools/graph_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "graph/ir/graph.hpp"
#include "graph/read/json.hpp"
#include "graph/read/onnx.hpp"

namespace tenfold::tools {

namespace {

namespace fs = std::filesystem;

/// All that comes through a pipe.
Result<std::string> read_pipe(const fs::path& path, std::size_t limit) {
  const auto bad = [&](const std::string& what) {
    return Status(Code::invalid_file, "'" + path.string() + "': " + what);
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return bad("it cannot be read");
  std::string text, block(std::size_t{64} << 10, '\0');
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > limit) return bad("more bytes than the limit of " + std::to_string(limit));
  }
  if (file.bad()) return bad("it cannot be read");
  return text;
}

/// `length` bytes of the file from `offset` on; -1: all of them.
Result<std::string> read_part(const fs::path& path, std::int64_t offset, std::int64_t length, std::size_t limit) {
  const auto bad = [&](const std::string& what) {
    return Status(Code::invalid_file, "'" + path.string() + "': " + what);
  };
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status))
    return bad(fs::is_symlink(path, error) ? "a symbolic link to a file that is not there" : "no such file");
  if (fs::is_fifo(status) && offset == 0 && length < 0) return read_pipe(path, limit);
  if (!fs::is_regular_file(status)) return bad("not a regular file");
  const auto size = static_cast<std::int64_t>(fs::file_size(path, error));
  if (error) return bad("it cannot be read");
  if (offset > size || (length >= 0 && length > size - offset))
    return bad("it has " + std::to_string(size) + " bytes, but " + std::to_string(length) + " from byte " +
               std::to_string(offset) + " on are asked for");
  const auto wanted = static_cast<std::size_t>(length >= 0 ? length : size - offset);
  if (wanted > limit) return bad(std::to_string(wanted) + " bytes, the limit is " + std::to_string(limit));
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  std::string text(wanted, '\0');
  file.read(text.data(), static_cast<std::streamsize>(wanted));
  if (!file) return bad("it cannot be read");
  return text;
}

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& letter : extension)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return extension;
}

/// The beginning of a name that a model gives, which may be of any length.
std::string quoted(const std::string& name) {
  constexpr std::size_t kMost = 100;
  if (name.size() <= kMost) return "'" + name + "'";
  return "'" + name.substr(0, kMost) + "...'";
}

/// A model may name any path; only what really lies below the folder is read.
ExternalDataReader reader_below(const std::string& data_dir) {
  if (data_dir.empty())
    return [](const std::string& location, std::int64_t, std::int64_t) -> Result<std::string> {
      return Status(Code::invalid_file,
                    "external file " + quoted(location) + " is read from a folder that --data-dir names");
    };
  return [data_dir](const std::string& location, std::int64_t offset, std::int64_t length) -> Result<std::string> {
    std::error_code error;
    const fs::path folder = fs::canonical(data_dir, error);
    if (error) return Status(Code::invalid_argument, "--data-dir '" + data_dir + "': " + error.message());
    const fs::path file = fs::weakly_canonical(folder / location, error);
    if (error || std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first != folder.end())
      return Status(Code::invalid_file, "external file " + quoted(location) + " does not lie below '" + data_dir + "'");
    return read_part(file, offset, length, graph::OnnxLimits{}.constant_bytes);
  };
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  return read_part(path, 0, -1, graph::ReadLimits{}.bytes);
}

Result<std::string> read_onnx_file(const std::string& path) {
  return read_part(path, 0, -1, graph::OnnxLimits{}.bytes);
}

bool is_onnx_path(const std::string& path) { return extension_of(path) == ".onnx"; }

bool is_graph_path(const std::string& path) { return is_onnx_path(path) || extension_of(path) == ".json"; }

Result<std::string> read_graph_text(const std::string& path) {
  return is_onnx_path(path) ? read_onnx_file(path) : read_text_file(path);
}

Result<Graph> parse_graph_text(const std::string& path, const std::string& text, const std::string& data_dir) {
  return is_onnx_path(path) ? Graph::from_onnx(text, reader_below(data_dir)) : Graph::from_json(text);
}

Result<Graph> read_graph_file(const std::string& path, const std::string& data_dir) {
  const Result<std::string> text = read_graph_text(path);
  if (!text.ok()) return text.status();
  Result<Graph> graph = parse_graph_text(path, text.value(), data_dir);
  if (!graph.ok()) return graph.status().about("'" + path + "'");
  return graph;
}

std::string engine_note(const Graph& graph) {
  const std::string& kind = graph.ir().engine_kind;
  if (kind == "cpu" || kind == "any") return "";
  return "the file is for the engine kind '" + kind + "'; the graph is compiled for the CPU all the same";
}

}  // namespace tenfold::tools

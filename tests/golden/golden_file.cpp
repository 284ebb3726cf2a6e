// SPDX-License-Identifier: Apache-2.0
//
// See golden_file.hpp.
#include "tests/golden/golden_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tenfold::golden {
namespace {

constexpr std::string_view kSeparator = "\n----\n";
constexpr std::string_view kCommand = "; test ";

GoldenFile split(const std::filesystem::path& path, const std::string& text) {
  GoldenFile file{path, "", text, ""};
  const std::size_t at = text.find(kSeparator);
  if (at != std::string::npos) {
    file.input = text.substr(0, at + 1);
    file.expected = text.substr(at + kSeparator.size());
  }
  if (text.rfind(kCommand, 0) == 0) file.command = text.substr(kCommand.size(), text.find('\n') - kCommand.size());
  return file;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<GoldenFile> read_golden_files(const std::filesystem::path& folder) {
  std::vector<GoldenFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".test") files.push_back(split(entry.path(), read_text(entry.path())));
  std::sort(files.begin(), files.end(), [](const GoldenFile& a, const GoldenFile& b) { return a.path < b.path; });
  return files;
}

bool blessing() {
  const char* text = std::getenv("TENFOLD_BLESS");
  return text != nullptr && std::string_view(text) == "1";
}

void bless(const GoldenFile& file, const std::string& actual) {
  std::ofstream(file.path, std::ios::binary) << file.input << "----\n" << actual;
}

}  // namespace tenfold::golden

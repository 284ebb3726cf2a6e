// SPDX-License-Identifier: Apache-2.0
//
// One-file golden tests. A file is
//
//   ; test verify
//   ; what the test is for
//   graph { ... }
//   ----
//   what the command must print
//
// With TENFOLD_BLESS=1 in the environment the part after ---- is rewritten instead of compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenfold::golden {

struct GoldenFile {
  std::filesystem::path path;
  std::string command;  ///< what follows "; test " in the first line
  std::string input;    ///< everything before the line ----
  std::string expected;
};

/// All *.test files below `folder`, sorted; fails the calling test when one cannot be read.
std::vector<GoldenFile> read_golden_files(const std::filesystem::path& folder);

bool blessing();
void bless(const GoldenFile& file, const std::string& actual);

/// The whole text of a file.
std::string read_text(const std::filesystem::path& path);

}  // namespace tenfold::golden

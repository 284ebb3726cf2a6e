// SPDX-License-Identifier: Apache-2.0
//
// Names with wildcards: whether one fits, and which graph files a path stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenfold/status.hpp"

namespace tenfold::tools::bench {

/// `*` stands for any characters, `?` for one; all else for itself.
bool matches(std::string_view pattern, std::string_view name) noexcept;

/// The graph files that a path means, sorted: the file itself, all *.json and *.onnx directly in a folder, or those
/// whose name fits the wildcards in its last part. invalid_file when there is none.
Result<std::vector<std::string>> graph_files(const std::string& path);

}  // namespace tenfold::tools::bench

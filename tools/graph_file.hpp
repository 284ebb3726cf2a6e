// SPDX-License-Identifier: Apache-2.0
//
// Graph files as the command's arguments: from a path to a verified graph.
#pragma once

#include <string>

#include "tenfold/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::tools {

/// The file's text: invalid_file when it is missing, no regular file, or above the reader's limit.
Result<std::string> read_text_file(const std::string& path);

/// Reads and verifies it; messages start with the path.
Result<Graph> read_graph_file(const std::string& path);

}  // namespace tenfold::tools

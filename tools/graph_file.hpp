// SPDX-License-Identifier: Apache-2.0
//
// Graph files as the command's arguments: from a path to a verified graph.
#pragma once

#include <string>

#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"

namespace tenfold::tools {

/// The file's text: invalid_file when it is missing, no regular file, or above the reader's limit.
Result<std::string> read_text_file(const std::string& path);

/// The same for the files of ONNX, which may be larger.
Result<std::string> read_onnx_file(const std::string& path);

/// True for paths that end in .onnx, in letters of either case.
bool is_onnx_path(const std::string& path);

/// True for those, and for paths that end in .json: what a folder of graphs has.
bool is_graph_path(const std::string& path);

/// Either, as the path says.
Result<std::string> read_graph_text(const std::string& path);

/// The verified graph of the text of `path`, an ONNX model when the path says so. Files that a model names for its data
/// are read from below `data_dir` alone, and from nowhere when it is empty.
Result<Graph> parse_graph_text(const std::string& path, const std::string& text, const std::string& data_dir);

/// Both in one; messages start with the path.
Result<Graph> read_graph_file(const std::string& path, const std::string& data_dir);

/// What there is to say of a graph whose file is for another kind of engine than the one there is; empty: nothing.
std::string engine_note(const Graph& graph);

}  // namespace tenfold::tools

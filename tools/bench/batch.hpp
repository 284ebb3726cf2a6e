// SPDX-License-Identifier: Apache-2.0
//
// From options, as the command line or a line of a batch file has them, to cases. Options that take lists, and
// wildcards, stand for several values; cases are the cross product. docs/benchmarking.md has the grammar.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/status.hpp"
#include "tools/bench/case.hpp"

namespace tenfold::tools::bench {

/// The options of one line, unread. Lists are separated by commas, those of axes by semicolons.
struct CaseTexts {
  std::string op = "ReduceMax";     ///< names, with * and ?
  std::string dtype = "f32";        ///< the same
  std::string shape = "4096x1024";  ///< "4096x1024,8x8"; of graphs "0=8x128,1=128;0=1x128,1=128": two sets of inputs
  std::string strides;              ///< "2048x1", for the shapes of that rank; empty: row-major
  std::string axes = "1";           ///< "0,2;1": two sets; * is each axis by itself, all is all of them
  std::string graph;                ///< files, folders (all graph files in them), or paths with * and ?
  std::string data_dir;             ///< of the models; for all lines of a batch
  std::string target;
  std::string threads = "1";
  std::string cache = "warm";  ///< warm, cold
  bool keep_dims = false;
  bool with_extreme = false;
};

/// The names of the options that say which reduction is meant.
std::span<const std::string_view> reduction_options() noexcept;

/// invalid_argument where a case that has the option `name` is no graph file's. One of --shape names inputs.
Status check_beside_graph(const CaseTexts& texts, std::string_view name);

/// A line that stands for more is a mistake.
inline constexpr std::size_t kMostCases = 20000;

/// The cross product, in the order of the options above, the last one fastest. invalid_argument says what is wrong with
/// which option; invalid_file when a graph path names no file.
Result<std::vector<Case>> expand(const CaseTexts& texts);

/// One line of a batch file: "--op ReduceMax --shape=8x128 ..." on top of `defaults`. Empty lines and what follows a #
/// give no case; an option that stands twice, or one of a reduction beside --graph, is invalid_argument. `folder` is
/// what relative graph paths start from.
Result<std::vector<Case>> parse_line(std::string_view line, const CaseTexts& defaults, const std::string& folder);

/// All lines of a batch file's text, behind a byte order mark or not. Errors begin with "line N: ".
Result<std::vector<Case>> parse_batch(std::string_view text, const CaseTexts& defaults, const std::string& folder);

}  // namespace tenfold::tools::bench

// SPDX-License-Identifier: Apache-2.0
//
// The work of the subcommands, apart from the parsing of their options (options.cpp). Each prints its results to stdout
// and returns an exit code (report.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenfold::tools {

struct RunOptions {
  std::string graph;
  std::string data_dir;             ///< where an ONNX model's external files are; empty: none are read
  std::vector<std::string> inputs;  ///< "ID=FILE.npy"
  std::vector<std::string> shapes;  ///< "ID=4096x1024"
  std::string output_dir;
  std::uint64_t seed = 1;
  std::string target;
  int threads = 0;
  int repeat = 1;
  bool check = false;
  bool json = false;
};
int run_graph(const RunOptions& options);

struct CheckOptions {
  std::vector<std::string> paths;
  std::string data_dir;
  bool json = false;
};
int check_graphs(const CheckOptions& options);

struct TestOptions {
  std::vector<std::string> paths;
  std::string target;
  int threads = 0;
  bool verbose = false;
  bool json = false;
};
int test_graphs(const TestOptions& options);

struct ConvertOptions {
  std::string from, to;
  std::string data_dir;
  bool json = false;
};
int convert_graph(const ConvertOptions& options);

struct ExplainOptions {
  std::string graph;
  std::string data_dir;
  std::vector<std::string> shapes;  ///< "ID=4096x1024"
  std::string target;
  int threads = 0;
  std::string dump;  ///< a pass, or "all"
  bool with_asm = false;
  bool json = false;
};
int explain_graph(const ExplainOptions& options);

struct OpsOptions {
  std::string dialect;
  std::string name;
  bool markdown = false;
  bool json = false;
};
int list_ops(const OpsOptions& options);

struct IsaOptions {
  bool json = false;
};
int show_isa(const IsaOptions& options);

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// The cases of `tenfold test`: where they are, and what running one of them says. What is made of the verdicts is in
// test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/status.hpp"
#include "tools/commands.hpp"

namespace tenfold::tools {

/// A folder in the layout of ONNX's node tests, or a graph file that is compared with the reference evaluator.
struct TestCase {
  std::string path;  ///< the folder of model.onnx, or the graph file
  bool is_onnx = false;
};

enum class Verdict : std::uint8_t { passed, failed, unsupported };

struct TestResult {
  Verdict verdict = Verdict::passed;
  std::string reason;            ///< why it has not passed
  std::vector<std::string> ops;  ///< the distinct kinds of its ops
};

/// The cases below the paths, sorted; invalid_file when a path is not there or has none.
Result<std::vector<TestCase>> find_test_cases(const std::vector<std::string>& paths);

/// unsupported_* is a verdict of its own, any other error a failure.
TestResult result_of(const Status& status);

TestResult run_onnx_case(const std::string& folder, const TestOptions& options);
TestResult run_graph_case(const std::string& path, const TestOptions& options);

/// Cases take and free the same hundreds of megabytes over and over; kept by the process from here on, they are not
/// cleared by the system each time, which took up to half of the time.
void keep_freed_memory() noexcept;

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// ONNX's node tests, where they are (TENFOLD_CORPUS_ONNX, the checkout's neighbour, or Debian's libonnx-testdata), as
// `tenfold test` runs them: no case fails, and none that consists of reductions, arg-reductions, elementwise ops and
// casts alone is unsupported.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tools/test_case.hpp"

namespace tenfold::tools {
namespace {

namespace fs = std::filesystem;

/// Names, each between two spaces.
constexpr std::string_view kOps =
    " AveragePool Conv ConvTranspose Gemm MatMul MaxPool"
    " BatchNormalization Concat ConstantOfShape CumSum DequantizeLinear DynamicQuantizeLinear Expand Flatten"
    " GlobalAveragePool GlobalMaxPool GroupNormalization Hardmax InstanceNormalization LayerNormalization"
    " LogSoftmax LpNormalization MeanVarianceNormalization QuantizeLinear RMSNormalization Reshape Shape Size"
    " Slice Softmax Split Squeeze TopK Transpose Unsqueeze"
    " Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr"
    " BitwiseXor Cast CastLike Ceil Celu Clip Constant Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater"
    " GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean"
    " Min Mish Mod Mul Neg Not Or PRelu Pow Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp"
    " ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Round Selu Sigmoid Sign Sin"
    " Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where Xor"
    " ";
/// In reasons of cases about what no tensor of numbers holds.
constexpr std::string_view kNoNumbers[] = {"STRING", "is a sequence", "is an optional"};
/// What this version says of a norm in training, which no inference has.
constexpr std::string_view kTraining = "training mode";

bool must_run(const TestResult& result) {
  const auto is_named = [](const std::string& op) { return kOps.find(" " + op + " ") != std::string_view::npos; };
  const auto is_reason = [&](std::string_view text) { return result.reason.find(text) != std::string::npos; };
  return !result.ops.empty() && std::ranges::all_of(result.ops, is_named) &&
         std::ranges::none_of(kNoNumbers, is_reason) && !is_reason(kTraining);
}

class OnnxNodes : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxNodes, NoNamedOpIsUnsupportedAndNoneFails) {
  const char* const given = std::getenv("TENFOLD_CORPUS_ONNX");
  const fs::path beside = fs::path(TENFOLD_SOURCE_DIR) / "../shared/corpus/onnx-node";
  const bool of_debian = std::string_view(GetParam()) == "Debian";
  const fs::path folder = of_debian          ? fs::path("/usr/share/libonnx-testdata/data/node")
                          : given != nullptr ? fs::path(given)
                                             : beside;
  if (!fs::is_directory(folder)) {
    std::printf("NOT RUN: no ONNX node tests (set TENFOLD_CORPUS_ONNX, or install libonnx-testdata)\n");
    GTEST_SKIP() << "NOT RUN: no node tests";
  }
  const Result<std::vector<TestCase>> cases = find_test_cases({folder.string()});
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  std::array<std::size_t, 3> verdicts{};
  std::map<std::string, std::size_t> passed;
  for (const TestCase& test : cases.value()) {
    const TestResult result = test.is_onnx ? run_onnx_case(test.path, {}) : run_graph_case(test.path, {});
    ++verdicts[static_cast<std::size_t>(result.verdict)];
    EXPECT_NE(result.verdict, Verdict::failed) << test.path << ": " << result.reason;
    EXPECT_FALSE(result.verdict == Verdict::unsupported && must_run(result)) << test.path << ": " << result.reason;
    for (const std::string& op : result.ops) passed[op] += result.verdict == Verdict::passed ? 1 : 0;
  }
  // A folder without them would show nothing.
  for (const char* op : {"ReduceMax", "ReduceSum", "ReduceLogSumExp", "ArgMax", "ArgMin", "Max", "Mean", "Where"})
    EXPECT_GT(passed[op], 0U) << op;
  std::printf("%s: %zu passed, %zu failed, %zu unsupported\n", folder.c_str(), verdicts[0], verdicts[1], verdicts[2]);
}

INSTANTIATE_TEST_SUITE_P(Folder, OnnxNodes, ::testing::Values("Corpus", "Debian"),
                         [](const auto& folder) { return std::string(folder.param); });

}  // namespace
}  // namespace tenfold::tools

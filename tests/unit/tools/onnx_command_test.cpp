// SPDX-License-Identifier: Apache-2.0
//
// The built command on ONNX models, and `tenfold test` with cases that pass, fail and are unsupported; on ONNX's own
// node tests where they are (TENFOLD_CORPUS_ONNX, the checkout's neighbour, or Debian's libonnx-testdata).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/read/onnx_writer.hpp"

namespace {

namespace fs = std::filesystem;
using namespace onnx_writer;

struct Answer {
  int exit_code = -1;
  std::string out;  ///< stdout and stderr
};

class OnnxCommand : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::path(testing::TempDir()) / ("tenfold_onnx_command_" + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  static Answer run(const std::string& arguments) {
    const std::string line = std::string("'") + TENFOLD_COMMAND + "' " + arguments + " 2>&1";
    Answer answer;
    FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) return answer;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      answer.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return answer;
  }

  /// A case whose model is the constant [1, 2] by itself, and whose data set expects `second` for the 2.
  void write_case(const std::string& name, float second) const {
    GraphParts parts;
    parts.nodes = {
        node("Constant", {}, {"y"}, {tensor_attribute("value", raw_tensor("", kFloat, {2}, bytes_of<float>({1, 2})))})};
    parts.outputs = {value_info("y", tensor_type(kFloat, {{2}}))};
    write(name + "/model.onnx", model(parts));
    write(name + "/test_data_set_0/output_0.pb", raw_tensor("y", kFloat, {2}, bytes_of<float>({1, second})).bytes());
  }
  void write_unsupported(const std::string& name) const {
    GraphParts parts;
    parts.inputs = {value_info("x", tensor_type(kFloat, {{2}}))};
    parts.nodes = {node("NoSuchOp", {"x"}, {"y"})};
    parts.outputs = {value_info("y", tensor_type(kFloat, {{2}}))};
    write(name + "/model.onnx", model(parts));
  }

  fs::path dir_;
};

TEST_F(OnnxCommand, TestTellsPassedFailedAndUnsupportedApart) {
  write_case("cases/good", 2.001F);
  write_unsupported("cases/unknown");
  const Answer fine = run("test " + path("cases"));
  EXPECT_EQ(fine.exit_code, 0) << fine.out;
  EXPECT_NE(fine.out.find("1 passed, 0 failed, 1 unsupported"), std::string::npos) << fine.out;
  EXPECT_NE(fine.out.find("unsupported    1: NoSuchOp"), std::string::npos) << fine.out;
  EXPECT_NE(run("test --verbose " + path("cases")).out.find("cases/unknown: op 0"), std::string::npos);

  write_case("cases/wrong", 2.01F);
  const Answer wrong = run("test " + path("cases"));
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_NE(wrong.out.find("1 passed, 1 failed, 1 unsupported"), std::string::npos) << wrong.out;
  EXPECT_NE(wrong.out.find("element 1: got 2, expected 2.00"), std::string::npos) << wrong.out;

  const auto json = nlohmann::json::parse(run("test --json " + path("cases")).out);
  EXPECT_EQ(json["schema"], "tenfold.test/1");
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["passed"], 1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["unsupported"], 1);
  EXPECT_EQ(json["cases"].size(), 3U);
  EXPECT_EQ(json["ops"].size(), 2U);
}

TEST_F(OnnxCommand, TestRunsSeveralCasesAtATimeAndReportsInOrder) {
  constexpr int kCases = 40;
  for (int i = 10; i < 10 + kCases; ++i) write_case("many/" + std::to_string(i), i % 2 == 0 ? 2.0F : 3.0F);
  for (const char* threads : {"0", "1", "3"}) {
    const Answer answer = run("test --json --threads " + std::string(threads) + " " + path("many"));
    EXPECT_EQ(answer.exit_code, 1);
    const auto cases = nlohmann::json::parse(answer.out)["cases"];
    ASSERT_EQ(cases.size(), static_cast<std::size_t>(kCases));
    for (int i = 0; i < kCases; ++i) {
      const auto& found = cases[static_cast<std::size_t>(i)];
      EXPECT_EQ(found["path"], path("many/" + std::to_string(10 + i)));
      EXPECT_EQ(found["verdict"], i % 2 == 0 ? "passed" : "failed");
    }
  }
}

TEST_F(OnnxCommand, TestRunsGraphFilesAgainstTheReference) {
  const Answer answer = run(std::string("test ") + TENFOLD_SOURCE_DIR + "/tests/data/graphs/reduce_max.json");
  EXPECT_EQ(answer.exit_code, 0) << answer.out;
  EXPECT_NE(answer.out.find("1 passed, 0 failed, 0 unsupported"), std::string::npos) << answer.out;
}

TEST_F(OnnxCommand, TestMisused) {
  EXPECT_EQ(run("test").exit_code, 2);
  EXPECT_EQ(run("test " + path("nowhere")).exit_code, 3);
  EXPECT_EQ(run("test " + dir_.string()).exit_code, 3);
  write_case("good", 2);
  EXPECT_EQ(run("test --threads -1 " + path("good")).exit_code, 2);
  EXPECT_NE(run("test --target nonsense " + path("good")).exit_code, 0);
}

TEST_F(OnnxCommand, ModelsAreRunCheckedExplainedAndConverted) {
  write_case("good", 2);
  const std::string model = path("good/model.onnx");
  EXPECT_EQ(run("run " + model).exit_code, 0) << run("run " + model).out;
  EXPECT_EQ(run("check " + path("good")).exit_code, 0) << run("check " + path("good")).out;
  EXPECT_EQ(run("explain " + model).exit_code, 0) << run("explain " + model).out;
  const Answer converted = run("convert " + model + " " + path("good.json"));
  EXPECT_EQ(converted.exit_code, 0) << converted.out;
  EXPECT_EQ(run("check " + path("good.json")).exit_code, 0) << run("check " + path("good.json")).out;
  EXPECT_EQ(run("convert " + path("good.json") + " " + path("again.onnx")).exit_code, 0);
  EXPECT_EQ(run("check " + path("again.onnx")).exit_code, 0) << run("check " + path("again.onnx")).out;
  EXPECT_EQ(run("convert " + path("none.onnx") + " " + path("again.json")).exit_code, 3);
  EXPECT_EQ(run("convert " + model + " " + path("no/such/folder.json")).exit_code, 5);
}

TEST_F(OnnxCommand, ExternalDataAreReadBelowTheFolderAlone) {
  const auto external = [](const std::string& location, const std::string& offset = "0") {
    GraphParts parts;
    parts.initializers = {tensor("w", kFloat, {2})
                              .message(13, Message().text(1, "location").text(2, location))
                              .message(13, Message().text(1, "offset").text(2, offset))
                              .number(14, 1)};
    parts.outputs = {value_info("w", tensor_type(kFloat, {{2}}))};
    return model(parts);
  };
  write("data/w.bin", bytes_of<float>({5, 6}));
  write("secret.bin", bytes_of<float>({7, 8}));
  write("inside.onnx", external("w.bin"));
  write("outside.onnx", external("../secret.bin"));
  write("absolute.onnx", external(path("secret.bin")));
  fs::create_symlink("../secret.bin", dir_ / "data/link.bin");
  write("link.onnx", external("link.bin"));
  const std::string folder = " --data-dir " + path("data");
  EXPECT_EQ(run("run " + path("inside.onnx")).exit_code, 3);
  const Answer inside = run("run " + path("inside.onnx") + folder);
  EXPECT_EQ(inside.exit_code, 0) << inside.out;
  EXPECT_NE(inside.out.find("first 5 6"), std::string::npos) << inside.out;
  const Answer nowhere = run("run " + path("inside.onnx") + " --data-dir " + path("nodir"));
  EXPECT_EQ(nowhere.exit_code, 2) << nowhere.out;
  EXPECT_NE(nowhere.out.find("--data-dir: '"), std::string::npos) << nowhere.out;
  EXPECT_EQ(run("explain " + path("inside.onnx")).exit_code, 3);
  EXPECT_EQ(run("explain " + path("inside.onnx") + folder).exit_code, 0);
  EXPECT_EQ(run("check " + path("inside.onnx")).exit_code, 1);
  EXPECT_EQ(run("check " + path("inside.onnx") + folder).exit_code, 0);
  EXPECT_EQ(run("check " + path("outside.onnx") + folder).exit_code, 1);
  for (const char* name : {"outside.onnx", "absolute.onnx", "link.onnx"}) {
    const Answer refused = run("run " + path(name) + folder);
    EXPECT_EQ(refused.exit_code, 3) << refused.out;
    EXPECT_NE(refused.out.find("does not lie below"), std::string::npos) << refused.out;
  }
  write("beyond.onnx", external("w.bin", "9"));
  write("folder.onnx", external("."));
  write("gone.onnx", external("gone.bin"));
  for (const auto& [name, part] : {std::pair{"beyond.onnx", "it has 8 bytes"},
                                   {"folder.onnx", "not a regular file"},
                                   {"gone.onnx", "no such file"}}) {
    const Answer refused = run("run " + path(name) + folder);
    EXPECT_EQ(refused.exit_code, 3) << refused.out;
    EXPECT_NE(refused.out.find(part), std::string::npos) << refused.out;
  }
}

TEST_F(OnnxCommand, NodeTestsHaveNoFailure) {
  std::vector<std::string> folders;
  const char* given = std::getenv("TENFOLD_CORPUS_ONNX");
  const fs::path beside = fs::path(TENFOLD_SOURCE_DIR) / "../shared/corpus/onnx-node";
  for (const fs::path& folder :
       {given != nullptr ? fs::path(given) : beside, fs::path("/usr/share/libonnx-testdata/data/node")})
    if (fs::is_directory(folder)) folders.push_back(folder.string());
  if (folders.empty()) {
    std::printf("NOT RUN: no ONNX node tests (set TENFOLD_CORPUS_ONNX, or install libonnx-testdata)\n");
    GTEST_SKIP();
  }
  for (const std::string& folder : folders) {
    const Answer answer = run("test '" + folder + "'");
    EXPECT_EQ(answer.exit_code, 0) << answer.out;
    std::printf("%s: %s", folder.c_str(), answer.out.substr(answer.out.rfind('\n', answer.out.size() - 2) + 1).c_str());
  }
}

}  // namespace

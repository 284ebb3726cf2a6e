// SPDX-License-Identifier: Apache-2.0
//
// The built command, run as a user runs it: every subcommand, every misuse, exit codes, and that --json answers parse.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Answer {
  int exit_code = -1;
  std::string out, err;
};

std::string tensor(int id, const std::string& dtype, const std::string& shape, const std::string& stride) {
  return R"({"id": )" + std::to_string(id) + R"(, "dtype": ")" + dtype + R"(", "shape": )" + shape + R"(, "stride": )" +
         stride + R"(, "layout_type": "strided", "property_type": "undef"})";
}

std::string graph(const std::string& kind, const std::string& attrs, const std::string& inputs,
                  const std::string& outputs) {
  return R"({"version": "3.0.0", "engine_kind": "cpu", "fpmath_mode": "strict", "graph": [{"id": 0, "name": "r", "kind": ")" +
         kind + R"(", "attrs": {)" + attrs + R"(}, "inputs": [)" + inputs + R"(], "outputs": [)" + outputs + "]}]}";
}

class Command : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::path(testing::TempDir()) / ("tenfold_command_" + std::to_string(getpid()));
    fs::create_directories(dir_);
    const std::string axes = R"("axes": {"type": "s64[]", "value": [1]})";
    const std::string x = tensor(0, "f32", "[2, 3]", "[3, 1]"), y = tensor(1, "f32", "[2]", "[1]");
    write("max.json", graph("ReduceMax", axes, x, y));
    write("bf16.json",
          graph("ReduceSum", axes, tensor(0, "bf16", "[2, 3]", "[3, 1]"), tensor(1, "bf16", "[2]", "[1]")));
    write("bad.json", graph("ReduceMax", R"("axes": {"type": "s64[]", "value": [2]})", x, y));
    write("unknown_op.json", graph("ReduceMx", axes, x, y));
    write("broken.json", "{\"graph\": [");
    const std::string open = "[-9223372036854775808]";
    write("runtime_axes.json",
          graph("ReduceSum", "", x + ", " + tensor(5, "s32", "[1]", "[1]"), tensor(1, "f32", open, open)));
    write("open.json",
          graph("ReduceMax", axes, tensor(0, "f32", "[-9223372036854775808, 3]", open), tensor(1, "f32", open, open)));
    write("x.npy", npy("<f4", "(2, 3)", 24));
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  static std::string npy(const std::string& descr, const std::string& shape, std::size_t bytes) {
    const std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    std::string text("\x93NUMPY\1\0", 8);
    text += static_cast<char>(dict.size());
    text += '\0';
    return text + dict + std::string(bytes, '\0');
  }

  /// Runs `tenfold ARGUMENTS`.
  Answer run(const std::string& arguments, const std::string& environment = "") const {
    const std::string err = path("stderr.txt");
    const std::string line = environment + " '" + TENFOLD_COMMAND + "' " + arguments + " 2>'" + err + "'";
    Answer answer;
    FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) return answer;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      answer.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::ifstream file(err);
    answer.err.assign(std::istreambuf_iterator<char>(file), {});
    return answer;
  }

  /// Runs it with and without --json: the exit code, the message on stderr, and the JSON error must agree.
  void expect_failure(const std::string& arguments, int exit_code, const std::string& part) const {
    const Answer plain = run(arguments);
    EXPECT_EQ(plain.exit_code, exit_code) << arguments << "\n" << plain.err;
    EXPECT_NE(plain.err.find(part), std::string::npos) << arguments << "\nexpected: " << part << "\ngot: " << plain.err;
    EXPECT_EQ(plain.out, "") << arguments;
    const Answer json = run(arguments + " --json");
    EXPECT_EQ(json.exit_code, exit_code) << arguments;
    const auto parsed = nlohmann::json::parse(json.out, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << arguments << "\n" << json.out;
    EXPECT_EQ(parsed.value("ok", true), false);
    EXPECT_EQ(parsed.value("exit_code", 0), exit_code);
    EXPECT_NE(parsed["error"].value("message", "").find(part), std::string::npos) << json.out;
  }

  nlohmann::json expect_json(const std::string& arguments, const std::string& schema) const {
    const Answer answer = run(arguments + " --json");
    EXPECT_EQ(answer.exit_code, 0) << arguments << "\n" << answer.err;
    EXPECT_EQ(answer.err, "") << arguments;
    auto parsed = nlohmann::json::parse(answer.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << answer.out;
    EXPECT_EQ(parsed.value("schema", ""), schema);
    EXPECT_EQ(parsed.value("ok", false), true);
    return parsed;
  }

  fs::path dir_;
};

TEST_F(Command, HelpAndVersion) {
  EXPECT_EQ(run("--version").exit_code, 0);
  EXPECT_EQ(run("--version").out.rfind("tenfold ", 0), 0U);
  EXPECT_NE(run("--help").out.find("Exit codes"), std::string::npos);
  for (const std::string name : {"run", "check", "explain", "bench", "tune", "ops", "isa"}) {
    const Answer help = run(name + " --help");
    EXPECT_EQ(help.exit_code, 0) << name;
    EXPECT_NE(help.out.find("Examples:"), std::string::npos) << name;
  }
}

TEST_F(Command, UsageErrors) {
  expect_failure("", 2, "subcommand");
  expect_failure("rum", 2, "there is no subcommand 'rum'");
  expect_failure("run", 2, "GRAPH");
  expect_failure("run " + path("max.json") + " --sed 3", 2, "--sed");
  expect_failure("run " + path("max.json") + " --threads many", 2, "--threads");
  expect_failure("run " + path("max.json") + " --threads -1", 2, "negative");
  expect_failure("run " + path("max.json") + " --repeat 0", 2, "at least 1");
  expect_failure("run " + path("max.json") + " --target avx3", 2, "avx2");
  expect_failure("run " + path("max.json") + " --input 9=" + path("x.npy"), 2, "its inputs are 0 (f32 [2, 3])");
  expect_failure("run " + path("max.json") + " --input x.npy", 2, "ID=FILE.npy");
  expect_failure("run " + path("max.json") + " --input 0=a.npy --input 0=b.npy", 2, "given twice");
  expect_failure("run " + path("max.json") + " --shape 0=2y3", 2, "4096x1024");
  expect_failure("run " + path("max.json") + " --shape 0=2x-3", 2, "4096x1024");
  expect_failure("run " + path("max.json") + " --seed -1", 2, "negative");
  expect_failure("run " + path("max.json") + " --seed 18446744073709551616", 2, "at most 18446744073709551615");
  for (const std::string number : {"010", "0x10", "1e3", "+1", "' 1'", "1.0", "''"})
    for (const std::string option : {"--seed", "--threads", "--repeat"})
      expect_failure("run " + path("max.json") + " " + option + " " + number, 2, option);
  EXPECT_EQ(run("run " + path("max.json") + " --seed 18446744073709551615").exit_code, 0);
  EXPECT_EQ(run("run " + path("max.json") + " --seed 0").exit_code, 0);
  // The file is legal, as `check` says.
  for (const std::string command : {"run ", "explain "})
    expect_failure(command + path("open.json"), 2, "unknown dims; give --shape 0=");
  expect_failure("explain " + path("max.json") + " --shape 9=2x3", 2, "its inputs are 0 (f32 [2, 3])");
  expect_failure("explain " + path("max.json") + " --dump nothing", 2, "the passes are");
  expect_failure("run " + path("max.json") + " --output-dir ''", 2, "--output-dir: the path is empty");
  const std::string none = path("none"), file = path("max.json");
  for (const std::string command : {"run ", "check ", "explain ", "bench --graph ", "tune --graph "}) {
    expect_failure(command + file + " --data-dir ''", 2, "--data-dir: the path is empty");
    expect_failure(command + file + " --data-dir " + none, 2, "--data-dir: '" + none + "' is not there");
    expect_failure(command + file + " --data-dir " + file, 2, "--data-dir: '" + file + "' is no folder");
  }
  expect_failure("convert " + file + " " + path("copy.json") + " --data-dir " + none, 2, "is not there");
  EXPECT_FALSE(fs::exists(path("copy.json")));
  expect_failure("ops ReduceMx", 2, "did you mean 'ReduceMax'");
  expect_failure("ops --dialect tf", 2, "onednn, onnx, core");
}

TEST_F(Command, BenchUsageErrors) {
  expect_failure("bench --op ReduceMx", 2, "no reduction");
  expect_failure("bench --op Abs", 2, "no reduction");
  expect_failure("bench --dtype s4", 2, "f32, f64, bf16, f16");
  expect_failure("bench --op ArgMax --axes 0,1", 2, "the one axis");
  expect_failure("bench --with-extreme", 2, "ArgMax and ArgMin");
  expect_failure("bench --shape 4x", 2, "4096x1024");
  expect_failure("bench --shape 4x-4", 2, "4096x1024");
  expect_failure("bench --shape 0x4", 2, "no element");
  expect_failure("bench --shape 99999999999x99999999999", 2, "2^47");
  expect_failure("bench --axes 2", 2, "reduce.C3");
  expect_failure("bench --axes 0,-2", 2, "reduce.C4");
  expect_failure("bench --axes 0,", 2, "separated by commas");
  expect_failure("bench --threads 0", 2, "--threads");
  expect_failure("bench --target avx3", 2, "avx2");
  expect_failure("bench --cache hot", 2, "neither warm nor cold");
  expect_failure("bench --shape 4x4 --strides 1", 2, "--strides of rank 1");
  expect_failure("bench --shape 4x4 --strides -1x1", 2, "--strides '-1x1' is not strides in elements, 0 or more");
  expect_failure("bench --html ''", 2, "--html: the path is empty");
  expect_failure("tune --file ''", 2, "--file: the path is empty");
  expect_failure("bench --batch " + path("none"), 3, "none");
  expect_failure("bench --graph " + path("no*.json"), 3, "stands for no graph file");
  expect_failure("bench --graph " + path("bad.json"), 3, "reduce.C3");
  for (const std::string option :
       {"--op ReduceSum", "--dtype bf16", "--strides 4x1", "--axes 0", "--keep-dims", "--with-extreme"})
    for (const std::string command : {"bench ", "tune "})
      expect_failure(command + "--graph " + path("max.json") + " " + option, 2,
                     option.substr(0, option.find(' ')) + " is for reductions, not for --graph");
  for (const std::string command : {"bench ", "tune "}) {
    const std::string graph = command + "--graph " + path("max.json");
    expect_failure(graph + " --shape 4x4", 2, "--shape '4x4' names no input of a graph, as 0=4x4 does");
    expect_failure(graph + " --shape 7=4x4", 2, "the graph has no input 7; its inputs are 0 (f32 [2, 3])");
    expect_failure(graph + " --shape 0=4x4x4,0=4", 2, "--shape for input 0 is given twice");
    expect_failure(graph + " --shape 0=4", 3, "reduce.C3");
  }
  // The same exit codes, as nothing but options is to blame.
  for (const std::string command : {"bench ", "tune "}) {
    expect_failure(command + "--axes 2", 2, "reduce.C3");
    expect_failure(command + "--shape 99999999999x99999999999", 2, "2^47");
    expect_failure(command + "--graph " + path("bad.json"), 3, "reduce.C3");
  }
  expect_failure("tune --op ReduceMx", 2, "no reduction");
  expect_failure("tune --most 0", 2, "--most");
  expect_failure("tune --most 010", 2, "--most");
  for (const std::string seconds : {"nan", "inf", "-1", "0", "1s", "0x1", "1e4"}) {
    expect_failure("bench --seconds " + seconds, 2, "--seconds");
    expect_failure("tune --seconds " + seconds, 2, "--seconds");
  }
  expect_failure("tune --shape 64x512 --axes 0 --file " + path("none/machine.tuning"), 5, "cannot be written");
}

TEST_F(Command, WhatIsNamedMustBeThereAndBeMeantAlone) {
  // Of two inputs, each is named as the other is numbered.
  write("names.json", R"({"graph":[{"id":0,"kind":"Add","attrs":{},
    "inputs":[{"id":0,"name":"1","dtype":"f32","shape":[4]},{"id":1,"name":"0","dtype":"f32","shape":[4]}],
    "outputs":[{"id":2,"name":"sum","dtype":"f32","shape":[4]}]}]})");
  expect_failure("run " + path("names.json") + " --input 0=x.npy", 2, "0 may be any of several inputs");
  const Answer ran = run("run " + path("names.json"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("output 2 'sum'  f32 [4]"), std::string::npos) << ran.out;
  for (const std::string command : {"bench ", "tune "}) {
    expect_failure(command + "--graph " + path("max.json") + "," + path("nowhere.json"), 3, "no such file");
    expect_failure(command + "--graph " + path("open.json"), 2,
                   "open.json': input 0 (f32 [?, 3]) has unknown dims; give --shape 0=8x3");
    const Answer none = run(command + "--graph " + path("open.json") + "," + path("bad.json"));
    EXPECT_EQ(none.exit_code, 4) << "none of its cases runs";
  }
  const Answer checked = run("check " + path("nowhere.json") + " " + path("max.json"));
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_NE(checked.out.find("2 files: 1 ok, 1 bad"), std::string::npos) << checked.out;
  expect_failure("tune --shape 4x8 --axes 0 --file " + path("max.json"), 2, "is no tuning file");
}

TEST_F(Command, BadFiles) {
  for (const std::string command : {"run ", "explain "}) {
    expect_failure(command + path("none.json"), 3, "no such file");
    expect_failure(command + dir_.string(), 3, "not a regular file");
    expect_failure(command + path("broken.json"), 3, "line 1");
    expect_failure(command + path("bad.json"), 3, "reduce.C3");
    expect_failure(command + path("unknown_op.json"), 4, "ReduceMx");
  }
  const std::string input = "run " + path("max.json") + " --input 0=";
  expect_failure(input + path("none.npy"), 3, "no such file");
  expect_failure(input + dir_.string(), 3, "it is a directory");
  ASSERT_EQ(mkfifo(path("pipe.npy").c_str(), 0600), 0);
  expect_failure(input + path("pipe.npy"), 3, "not a regular file");
  expect_failure("run " + path("open.json") + " --input 0=" + path("pipe.npy"), 3, "not a regular file");
  write("double.npy", npy("<f8", "(2, 3)", 48));
  expect_failure(input + path("double.npy"), 3, "holds <f8 (f64) [2, 3], the graph wants f32 [2, 3]");
  write("wide.npy", npy("<f4", "(3, 2)", 24));
  expect_failure(input + path("wide.npy"), 3, "f32) [3, 2], the graph wants f32 [2, 3]");
  for (const std::string descr : {"<c8", ">f4"}) {
    write("foreign.npy", npy(descr, "(2, 3)", descr == "<c8" ? 48 : 24));
    expect_failure(input + path("foreign.npy"), 4, descr);
  }
  EXPECT_EQ(run("run /dev/stdin", "cat '" + path("max.json") + "' |").exit_code, 0) << "a graph from a pipe";
  write("half_open.json", R"({"graph": [{"id": 0, "kind": "Abs", "attrs": {},
    "inputs": [{"id": 0, "dtype": "f32", "shape": [-9223372036854775808, 3]}],
    "outputs": [{"id": 1, "dtype": "f32", "shape": [-9223372036854775808, 3]}]}]})");
  const std::string half_open = "run " + path("half_open.json") + " --input 0=";
  EXPECT_EQ(run(half_open + path("x.npy")).exit_code, 0);
  expect_failure(half_open + path("wide.npy"), 3, "is [3, 2], the graph's is [?, 3]; to replace that, give --shape 0=");
  write("short.npy", npy("<f4", "(2, 3)", 20));
  expect_failure(input + path("short.npy"), 3, "asks for");
}

TEST_F(Command, NothingOfAFileMovesTheCursor) {
  const std::string x = tensor(0, "f32", "[2, 3]", "[3, 1]"), y = tensor(1, "f32", "[2]", "[1]");
  write("kind.json", graph(R"(Re\u001b[31mduce\nMax)", "", x, y));
  write("bytes.json", "{\"graph\": \"\xff\x9b\", \x1b");
  for (const std::string command : {"run ", "explain ", "check ", "test ", "test --verbose ", "bench --graph "})
    for (const std::string file : {"kind.json", "bytes.json"}) {
      const Answer answer = run(command + path(file));
      const std::string all = answer.out + answer.err;
      EXPECT_NE(all, "");
      for (const char byte : all) {
        const auto value = static_cast<unsigned char>(byte);
        EXPECT_TRUE(value == '\n' || (value >= 0x20 && value < 0x7f)) << command << file << ": byte " << int{value};
      }
    }
  EXPECT_NE(run("check " + path("kind.json")).out.find(R"(Re\x1b[31mduce\nMax)"), std::string::npos);
}

TEST_F(Command, RunTimeErrors) {
  write("file", "");
  expect_failure("run " + path("max.json") + " --output-dir " + path("file"), 5, "not a directory");
}

TEST_F(Command, OutputThatCannotBeWrittenIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "NOT RUN: no /dev/full";
  for (const std::string& arguments :
       {"run " + path("max.json"), "run --json " + path("max.json"), "explain " + path("max.json"),
        "check " + path("max.json"), std::string("isa"), std::string("ops --json"), std::string("--help"),
        std::string("run --help"), std::string("--version"),
        std::string("bench --json --shape 4x8 --axes 0 --seconds 0.001")})
    for (const std::string where : {" >/dev/full", " >&-"}) {
      const Answer answer = run(arguments + where);
      EXPECT_EQ(answer.exit_code, 5) << arguments << where;
      EXPECT_NE(answer.err.find("stdout cannot be written"), std::string::npos) << arguments << where << answer.err;
    }
  // What is closed must not become the number of a file that is written.
  EXPECT_EQ(run("convert " + path("max.json") + " " + path("copy.json") + " >&-").exit_code, 5);
  EXPECT_EQ(run("check " + path("copy.json")).exit_code, 0);
  fs::remove(path("copy.json"));
}

TEST_F(Command, AGraphThatIsConvertedToStdoutIsThereAlone) {
  const Answer file = run("convert " + path("max.json") + " " + path("copy.json"));
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_EQ(file.out, path("copy.json") + ": 1 op, 2 tensors\n");
  EXPECT_EQ(file.err, "");
  std::ifstream copy(path("copy.json"), std::ios::binary);
  const std::string graph(std::istreambuf_iterator<char>(copy), {});
  const Answer piped = run("convert " + path("max.json") + " /dev/stdout");
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(piped.out, graph);
  EXPECT_EQ(piped.err, "/dev/stdout: 1 op, 2 tensors\n");
  // What stands in a file before it stays.
  write("appended.json", "before\n");
  EXPECT_EQ(run("convert " + path("max.json") + " /dev/stdout >>'" + path("appended.json") + "'").exit_code, 0);
  std::ifstream appended(path("appended.json"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(appended), {}), "before\n" + graph);
  const Answer both = run("convert --json " + path("max.json") + " /dev/stdout");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_FALSE(nlohmann::json::parse(both.out, nullptr, false).is_discarded()) << both.out;
  EXPECT_EQ(run("convert --json " + path("max.json") + " /dev/null >/dev/null").exit_code, 0);
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "NOT RUN: no /dev/full";
  EXPECT_EQ(run("convert " + path("max.json") + " /dev/stdout >/dev/full").exit_code, 5);
}

TEST_F(Command, TensorsAboveTheMemoryThereIsAreRefusedTogether) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  long long kibibytes = 0;
  while (file >> word && word != "MemAvailable:") {
  }
  if (!(file >> kibibytes)) GTEST_SKIP() << "NOT RUN: no MemAvailable";
  const std::string parts[] = {"inputs and outputs of ", " bytes are wanted, ", " bytes are available"};
  // Each of three is below what there is, all are above it. Nothing is touched.
  const std::string x = "[" + std::to_string(kibibytes / 10 * 9 * 1024 / 4) + "]";
  write("large.json",
        graph("Add", "", tensor(0, "f32", x, "[1]") + ", " + tensor(1, "f32", x, "[1]"), tensor(2, "f32", x, "[1]")));
  for (const std::string& part : parts) {
    expect_failure("run " + path("large.json"), 5, part);
    expect_failure("bench --graph " + path("large.json"), 5, part);
    expect_failure("bench --strides 1000000000x1", 5, part);
    expect_failure("tune --strides 1000000000x1", 5, part);
  }
}

TEST_F(Command, RunPrintsOutputsAndChecks) {
  const Answer plain = run("run " + path("max.json") + " --check --repeat 3");
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_NE(plain.out.find("seed 1\n"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find("output 1  f32 [2]"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find("within the bound"), std::string::npos) << plain.out;
  const auto json = expect_json("run " + path("max.json") + " --check --repeat 3 --seed 7", "tenfold.run/1");
  EXPECT_EQ(json["seed"], 7);
  const Answer reference = run("run " + path("max.json") + " --target reference");
  EXPECT_NE(reference.out.find("target reference (as asked"), std::string::npos) << reference.out;
  EXPECT_EQ(json["time_ms"]["runs"], 3);
  EXPECT_EQ(json["outputs"][0]["shape"], nlohmann::json::array({2}));
  EXPECT_EQ(json["check"][0]["agrees"], true);
}

TEST_F(Command, RunSaysWhatHasNoBound) {
  const std::string axes = R"("axes": {"type": "s64[]", "value": [0]})";
  write("overflow.json", graph("ReduceL2", axes, R"({"id": 0, "dtype": "f32", "shape": [2, 2], "stride": [2, 1],
    "layout_type": "strided", "property_type": "constant", "data": [3e38, 1, 3e38, 1]})",
                               tensor(1, "f32", "[2]", "[1]")));
  const Answer plain = run("run " + path("overflow.json") + " --check");
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  const auto check = expect_json("run " + path("overflow.json") + " --check", "tenfold.run/1")["check"][0];
  EXPECT_EQ(check["elements"], 2);
  EXPECT_EQ(check["unbounded"], 1) << check.dump();
  EXPECT_NE(plain.out.find("; 1 of 2 elements have no bound"), std::string::npos) << plain.out;
}

TEST_F(Command, ATuningFileThatIsNotThereIsNoted) {
  const std::string named = "TENFOLD_TUNING=" + path("none.tuning");
  for (const std::string& command : {"run " + path("max.json"), std::string("bench --shape 8x8 --seconds 0.001")}) {
    const Answer answer = run(command, named);
    EXPECT_EQ(answer.exit_code, 0) << answer.err;
    EXPECT_NE(answer.err.find("note: environment variable TENFOLD_TUNING: "), std::string::npos) << answer.err;
    EXPECT_EQ(run(command).err.find("note: "), std::string::npos);
  }
}

TEST_F(Command, RunSaysWhichDrawnInputDidNotDo) {
  const std::string file = R"({"dialect": "onnx", "opset": 18, "graph": [{"id": 0, "kind": "CumSum", "attrs": {},
    "inputs": [{"id": 0, "dtype": "f32", "shape": [8, 4]}, {"id": 1, "dtype": "s64", "shape": []}],
    "outputs": [{"id": 3, "dtype": "f32", "shape": [8, 4]}]}]})";
  write("cumsum.json", file);
  expect_failure("run " + path("cumsum.json"), 3, "give --input 1=FILE.npy");
}

TEST_F(Command, SeedsDecideTheData) {
  const std::string base = "run " + path("max.json") + " --seed ";
  const auto summary = [&](const std::string& seed) {
    return expect_json(base + seed, "tenfold.run/1")["outputs"][0]["summary"];
  };
  EXPECT_EQ(summary("3"), summary("3"));
  EXPECT_NE(summary("3"), summary("4"));
}

TEST_F(Command, OutputsBecomeInputs) {
  const std::string out = path("deep/out");
  ASSERT_EQ(run("run " + path("bf16.json") + " --output-dir " + out).exit_code, 0);
  ASSERT_TRUE(fs::exists(out + "/1.npy"));
  EXPECT_EQ(std::distance(fs::directory_iterator(out), fs::directory_iterator()), 1);
  write("next.json", graph("ReduceSum", R"("axes": {"type": "s64[]", "value": [0]})", tensor(0, "bf16", "[2]", "[1]"),
                           tensor(1, "bf16", "[]", "[]")));
  const Answer next = run("run " + path("next.json") + " --check --input 0=" + out + "/1.npy");
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_NE(next.out.find("1.npy"), std::string::npos);
}

TEST_F(Command, RunTimeAxesAreFilledOrGiven) {
  const auto filled = expect_json("run " + path("runtime_axes.json") + " --check", "tenfold.run/1");
  EXPECT_EQ(filled["inputs"][1]["source"], "axes [1]");
  EXPECT_EQ(filled["outputs"][0]["shape"], nlohmann::json::array({2}));
  write("axes.npy", npy("<i4", "(1,)", 4));
  const auto given =
      expect_json("run " + path("runtime_axes.json") + " --check --input 5=" + path("axes.npy"), "tenfold.run/1");
  EXPECT_EQ(given["outputs"][0]["shape"], nlohmann::json::array({3}));
  const auto explained = expect_json("explain " + path("runtime_axes.json"), "tenfold.explain/1");
  EXPECT_EQ(explained["notes"].size(), 1U);
}

TEST_F(Command, OpenShapesAreGiven) {
  const auto shaped = expect_json("run " + path("open.json") + " --check --shape 0=4x3", "tenfold.run/1");
  EXPECT_EQ(shaped["outputs"][0]["shape"], nlohmann::json::array({4}));
  const auto filed = expect_json("run " + path("open.json") + " --check --input 0=" + path("x.npy"), "tenfold.run/1");
  EXPECT_EQ(filed["outputs"][0]["shape"], nlohmann::json::array({2}));
  const auto explained = expect_json("explain " + path("open.json") + " --shape 0=4x3", "tenfold.explain/1");
  const std::string spec = explained["regions"][0]["kernels"][0]["spec"];
  EXPECT_NE(spec.find("space kept 4, reduced 3"), std::string::npos) << spec;
}

TEST_F(Command, ExplainNamesRegionsAndDumpsPasses) {
  const Answer plain = run("explain " + path("max.json") + " --dump all");
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_NE(plain.out.find("after canonicalize:"), std::string::npos) << plain.out;
  const auto json = expect_json("explain " + path("max.json"), "tenfold.explain/1");
  ASSERT_EQ(json["regions"].size(), 1U);
  const auto reference = expect_json("explain " + path("max.json") + " --target reference", "tenfold.explain/1");
  EXPECT_EQ(reference["regions"][0]["kind"], "reference");
  EXPECT_NE(reference["regions"][0].value("reason", ""), "");
}

TEST_F(Command, AFileForAnotherEngineIsRunWithANote) {
  const std::string axes = R"("axes": {"type": "s64[]", "value": [1]})", says = "for the engine kind 'gpu'";
  const std::string text =
      graph("ReduceMax", axes, tensor(0, "f32", "[2, 3]", "[3, 1]"), tensor(1, "f32", "[2]", "[1]"));
  const auto write_for = [&](const std::string& kind) {
    write(kind + ".json", std::regex_replace(text, std::regex(R"("cpu")"), "\"" + kind + "\""));
  };
  write_for("gpu");
  write_for("any");
  const Answer ran = run("run " + path("gpu.json"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err.rfind("tenfold run: note: ", 0), 0U) << ran.err;
  EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
  EXPECT_EQ(run("run " + path("any.json")).err, "");
  EXPECT_NE(run("explain " + path("gpu.json")).out.find("note: the file is " + says), std::string::npos);
  const auto json = expect_json("explain " + path("gpu.json"), "tenfold.explain/1");
  ASSERT_EQ(json["notes"].size(), 1U);
  EXPECT_NE(json["notes"][0].get<std::string>().find(says), std::string::npos) << json["notes"];
  EXPECT_EQ(expect_json("explain " + path("any.json"), "tenfold.explain/1")["notes"].size(), 0U);
}

TEST_F(Command, ExplainCompilesAsRunDoes) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  const Answer one = run("explain --threads 1 " + path("max.json"));
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_NE(one.out.find(", 1 core\n"), std::string::npos) << one.out;
  expect_failure("explain --threads -1 " + path("max.json"), 2, "negative");
  write("damaged.tuning", "nonsense\n");
  for (const auto& [name, says] :
       {std::pair{"damaged.tuning", "is no tuning file"}, std::pair{"none", "cannot be read"}}) {
    const std::string environment = "TENFOLD_TUNING='" + path(name) + "'";
    const Answer noted = run("explain " + path("max.json"), environment);
    EXPECT_EQ(noted.exit_code, 0) << noted.err;
    EXPECT_NE(noted.out.find("note: "), std::string::npos) << noted.out;
    EXPECT_NE(noted.out.find(says), std::string::npos) << noted.out;
    const auto json = nlohmann::json::parse(run("explain --json " + path("max.json"), environment).out, nullptr, false);
    ASSERT_FALSE(json.is_discarded());
    ASSERT_GE(json["notes"].size(), 1U);
    EXPECT_NE(json["notes"][0].get<std::string>().find(says), std::string::npos) << json["notes"];
  }
}

TEST_F(Command, ExplainTakesTheEntriesOfATuningFile) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  const auto bench = expect_json("bench --shape 4x8 --axes 0 --seconds 0.001", "tenfold.bench/2");
  const std::string options = "explain --target avx2 --threads 1 " + path("max.json");
  const auto plain = expect_json(options, "tenfold.explain/1");
  const nlohmann::json entry = {{"schema", "tenfold.tuning/1"},
                                {"version", 1},
                                {"cpu", bench["context"]["cpu"]},
                                {"cores", 1},
                                {"date", "2026-01-01"},
                                {"gain", 1.5},
                                {"kernel", plain["regions"][0]["kernels"][0]["spec"]},
                                {"schedule", "avx2 columns level=0 rows=4 columns=1024"}};
  write("far.tuning", entry.dump() + "\n");
  const Answer noted = run(options, "TENFOLD_TUNING='" + path("far.tuning") + "'");
  EXPECT_EQ(noted.exit_code, 0) << noted.err;
  EXPECT_NE(noted.out.find("is no neighbour of the heuristic's"), std::string::npos) << noted.out;
}

TEST_F(Command, ExplainShowsEachChainOfTheBenchAsOnePassOverMemory) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TENFOLD_SOURCE_DIR) / "tools/bench/chains")) {
    ++files;
    const auto json = expect_json("explain " + entry.path().string(), "tenfold.explain/1");
    ASSERT_EQ(json["regions"].size(), 1U) << entry.path();
    const auto& region = json["regions"][0];
    EXPECT_EQ(region["kernels"].size(), 1U) << entry.path();
    EXPECT_EQ(region["bytes_moved"], region["bytes_least"]) << entry.path();
  }
  EXPECT_GE(files, 20);
}

/// The blocks between lines that begin with ``` and the word.
std::vector<std::string> blocks_of(const std::string& page, const std::string& word) {
  std::vector<std::string> blocks;
  std::istringstream lines(page);
  bool inside = false, wanted = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      wanted = inside && line.substr(3) == word;
      if (wanted) blocks.emplace_back();
    } else if (wanted) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

TEST_F(Command, TheTourShowsWhatTheCommandPrints) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  std::ifstream file(TENFOLD_SOURCE_DIR "/docs/tour.md", std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::vector<std::string> commands = blocks_of(page, "sh"), shown = blocks_of(page, "");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(shown.size(), 4U);
  const std::string begin = "build/release/bin/tenfold ", graphs = "tests/data/graphs/";
  ASSERT_EQ(commands[0].rfind(begin, 0), 0U) << commands[0];
  std::string arguments = commands[0].substr(begin.size(), commands[0].size() - begin.size() - 1);
  ASSERT_NE(arguments.find(graphs), std::string::npos) << arguments;
  arguments.insert(arguments.find(graphs), TENFOLD_SOURCE_DIR "/");
  const Answer answer = run(arguments);
  EXPECT_EQ(answer.exit_code, 0) << answer.err;
  const std::string printed = std::regex_replace(answer.out, std::regex("[0-9]+ bytes of code"), "N bytes of code");
  for (const std::string& block : shown)
    EXPECT_NE(printed.find(block), std::string::npos) << "docs/tour.md shows\n" << block << "but it is\n" << printed;
}

TEST_F(Command, ExplainListsCode) {
  const Answer plain = run("explain " + path("max.json") + " --asm --target reference");
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out.find("code of region"), std::string::npos) << "nothing is compiled";
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  const Answer listed = run("explain " + path("max.json") + " --asm --target avx2");
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  const auto json = expect_json("explain " + path("max.json") + " --asm --target avx2", "tenfold.explain/1");
  const auto& kernel = json["regions"][0]["kernels"][0];
  if (kernel.contains("asm_notice")) {
    EXPECT_NE(listed.out.find("note: built without Zydis"), std::string::npos) << listed.out;
    return;
  }
  const std::size_t at = listed.out.find("code of region 0, kernel 0: tenfold_avx2_rows_max_f32_f32_");
  ASSERT_NE(at, std::string::npos) << listed.out;
  const std::string head = listed.out.substr(listed.out.find('\n', at) + 1);
  EXPECT_EQ(head.rfind("     0  f30f1efa                  endbr64\n     4  ", 0), 0U) << head.substr(0, 200);
  EXPECT_EQ(kernel["asm"], head);
}

TEST_F(Command, BenchAnswersForOneAndMany) {
  const auto one = expect_json("bench --shape 4x8 --axes 0 --seconds 0.001", "tenfold.bench/2");
  EXPECT_EQ(one["families"].size(), 2U);
  EXPECT_EQ(one["families"][0]["family"], "first");
  write("cases.txt", "--op ReduceMax,ReduceSum --shape 4x8 # two\n--graph max.json\n--shape 4x8 --axes 7\n");
  const Answer many = run("bench --json --seconds 0.001 --batch " + path("cases.txt") + " --html " + path("page.html"));
  EXPECT_EQ(many.exit_code, 0) << many.err;
  EXPECT_NE(many.err.find("[1/4"), std::string::npos) << "progress: " << many.err;
  const auto json = nlohmann::json::parse(many.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << many.out;
  EXPECT_EQ(json["not_run"].size(), 1U);
  EXPECT_EQ(json["families"].back()["cases"], 3);
  std::ifstream page(path("page.html"));
  EXPECT_GT(std::string(std::istreambuf_iterator<char>(page), {}).size(), 5000U);
  write("wrong.txt", "\n--op ReduceMax --size 3\n");
  expect_failure("bench --batch " + path("wrong.txt"), 2, "line 2: there is no option '--size'");
}

TEST_F(Command, BenchRunsWithoutRivals) {
  write("cases.txt", "--shape 4x8\n--graph max.json\n");
  const Answer answer = run("bench --json --no-rivals --seconds 0.001 --batch " + path("cases.txt"));
  EXPECT_EQ(answer.exit_code, 0) << answer.err;
  const auto json = nlohmann::json::parse(answer.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << answer.out;
  std::set<std::string> roles;
  for (const auto& entry : json["benchmarks"])
    if (entry["run_type"] == "iteration") roles.insert(entry.value("role", ""));
  EXPECT_EQ(roles, (std::set<std::string>{"roof", "tenfold"}));
  const Answer table = run("bench --no-rivals --seconds 0.001 --batch " + path("cases.txt"));
  EXPECT_EQ(table.out.find("rival"), std::string::npos) << table.out;
}

TEST_F(Command, BenchAsksForThePageBeforeItMeasuresAndReportsWithoutIt) {
  // It would measure for an hour.
  expect_failure("bench --shape 4x8 --axes 0 --seconds 3600 --html " + path("none/page.html"), 5, "cannot be written");
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "NOT RUN: no /dev/full";
  const Answer table = run("bench --shape 4x8 --axes 0 --seconds 0.001 --html /dev/full");
  EXPECT_EQ(table.exit_code, 5);
  EXPECT_NE(table.err.find("'/dev/full' cannot be written"), std::string::npos) << table.err;
  EXPECT_NE(table.out.find("tenfold again"), std::string::npos) << table.out;
  const Answer json = run("bench --json --shape 4x8 --axes 0 --seconds 0.001 --html /dev/full");
  EXPECT_EQ(json.exit_code, 5);
  EXPECT_FALSE(nlohmann::json::parse(json.out, nullptr, false).is_discarded()) << json.out;
}

TEST_F(Command, CtrlCIsSaidOfASingleCaseToo) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2, so no kernel to tune";
  // To the command alone: the group's signal would come to it a second time, which ends it at once.
  // 64 MiB of s8, so that data are still being filled, or contenders called for the first time, or measured.
  for (const std::string when : {"0.5", "2"})
    for (const std::string command : {"bench", "tune"}) {
      const std::string line = command + " --dtype s8 --shape 8192x8192 --seconds 3600 ";
      const std::string timeout = "timeout --foreground --preserve-status -s INT " + when;
      const Answer table = run(line, timeout);
      EXPECT_EQ(table.exit_code, 130) << line << when << table.err;
      EXPECT_NE(table.out.find("stopped before the end\n"), std::string::npos) << line << when << table.out;
      const Answer json = run(line + "--json", timeout);
      EXPECT_EQ(json.exit_code, 130) << line << when << json.err;
      const auto parsed = nlohmann::json::parse(json.out, nullptr, false);
      ASSERT_FALSE(parsed.is_discarded()) << json.out;
      EXPECT_EQ(parsed.value("stopped", false), true);
    }
}

TEST_F(Command, TuneAppendsWhatTheLibraryReads) {
  const std::string file = path("machine.tuning");
  const Answer tuned = run("tune --json --shape 64x512 --axes 0 --seconds 0.001 --most 3 --file " + file);
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  const auto json = nlohmann::json::parse(tuned.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << tuned.out;
  EXPECT_EQ(json.value("schema", ""), "tenfold.tune/1");
  EXPECT_GE(json["kernels"].size(), 1U);
  // A file that is damaged is a note, and so is one that is not there; the run goes on.
  write("damaged.tuning", "nonsense\n");
  for (const auto& [name, says] :
       {std::pair{"damaged.tuning", "is no tuning file"}, std::pair{"none", "cannot be read"}}) {
    const Answer ran = run("run " + path("max.json"), "TENFOLD_VERBOSE=1 TENFOLD_TUNING='" + path(name) + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.err.find("tenfold_verbose,notice,1,"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
  }
}

TEST_F(Command, TheEnvironmentShowsCompilesRunsAndCode) {
  const Answer one = run("run " + path("max.json"), "TENFOLD_VERBOSE=1");
  EXPECT_EQ(one.err.rfind("tenfold_verbose,compile,1,", 0), 0U) << one.err;
  EXPECT_EQ(one.err.find("execute"), std::string::npos) << one.err;
  EXPECT_NE(run("run " + path("max.json"), "TENFOLD_VERBOSE=2").err.find("tenfold_verbose,execute,1,ok,"),
            std::string::npos);
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "NOT RUN: no AVX2";
  fs::create_directories(dir_ / "dump");
  const Answer dumped = run("run " + path("max.json") + " --target avx2",
                            "TENFOLD_JIT_PROFILE=jitdump TENFOLD_JIT_DUMP='" + path("dump") + "'");
  EXPECT_EQ(dumped.exit_code, 0) << dumped.err;
  EXPECT_EQ(dumped.err, "");
  std::string names;
  for (const auto& entry : fs::directory_iterator(dir_ / "dump")) names += entry.path().filename().string() + "\n";
  EXPECT_NE(names.find("-0000-tenfold_avx2_rows_max_f32_f32_"), std::string::npos) << names;
  for (const char* extension : {".bin\n", ".txt\n", ".dump\n"})
    EXPECT_NE(names.find(extension), std::string::npos) << names;
  EXPECT_EQ(run("run " + path("max.json"), "TENFOLD_JIT_PROFILE=jitdump TENFOLD_JIT_DUMP=/no/such/folder").exit_code, 0)
      << "what cannot be written is left out";
}

TEST_F(Command, CheckJudgesEachFile) {
  const Answer good = run("check " + path("max.json") + " " + path("bf16.json"));
  EXPECT_EQ(good.exit_code, 0) << good.out;
  EXPECT_NE(good.out.find("2 files: 2 ok, 0 bad"), std::string::npos) << good.out;
  const Answer all = run("check " + dir_.string());
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_NE(all.out.find("reduce.C3"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("7 files: 4 ok, 3 bad"), std::string::npos) << all.out;
  const auto json = nlohmann::json::parse(run("check --json " + dir_.string()).out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["bad"], 3);
  EXPECT_EQ(json["files"].size(), 7U);
  fs::create_symlink(path("gone.json"), path("link.json"));
  const Answer link = run("check " + dir_.string());
  EXPECT_NE(link.out.find("link.json: invalid_file"), std::string::npos) << link.out;
  EXPECT_NE(link.out.find("8 files: 4 ok, 4 bad"), std::string::npos) << link.out;
}

TEST_F(Command, CheckExitsWithOneWhateverIsWrongWithAPath) {
  fs::create_directories(dir_ / "empty");
  const std::string good = " " + path("max.json");
  for (const auto& [name, message] : {std::pair{"none.json", "no such file"},
                                      {"none", "no such file"},
                                      {"empty", "no *.json or *.onnx below this directory"},
                                      {"bad.json", "reduce.C3"},
                                      {"unknown_op.json", "ReduceMx"}})
    for (const std::string& others : {std::string(), good}) {
      const Answer answer = run("check " + path(name) + others);
      EXPECT_EQ(answer.exit_code, 1) << name << answer.err;
      EXPECT_EQ(answer.out.rfind("error  " + path(name) + ": ", 0), 0U) << answer.out;
      EXPECT_NE(answer.out.find(message), std::string::npos) << answer.out;
      EXPECT_NE(answer.out.find(others.empty() ? "1 file: 0 ok, 1 bad" : "2 files: 1 ok, 1 bad"), std::string::npos)
          << answer.out;
      const Answer as_json = run("check --json " + path(name) + others);
      EXPECT_EQ(as_json.exit_code, 1) << name << as_json.err;
      const auto json = nlohmann::json::parse(as_json.out, nullptr, false);
      ASSERT_FALSE(json.is_discarded()) << as_json.out;
      EXPECT_EQ(json["files"].size(), others.empty() ? 1U : 2U);
      EXPECT_EQ(json["files"][0]["ok"], false);
    }
}

TEST_F(Command, TheOpsPageIsWhatTheTablesSay) {
  std::ifstream file(TENFOLD_SOURCE_DIR "/docs/ops_reference.md", std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(page == run("ops --markdown").out)
      << "docs/ops_reference.md is old; renew it by: tenfold ops --markdown > docs/ops_reference.md";
  const Answer one = run("ops ReduceMax --dialect onednn --markdown");
  EXPECT_NE(one.out.find("#### ReduceMax\n"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("#### ReduceMin\n"), std::string::npos) << one.out;
  EXPECT_EQ(run("ops --markdown --json").exit_code, 2);
}

/// An op descriptor with what may be left out written out, and dtypes in one order.
nlohmann::json in_full(nlohmann::json op) {
  const std::vector<std::string> all{"f32", "f64", "bf16", "f16",     "s8",      "u8",      "s16", "u16", "s32",
                                     "u32", "s64", "u64",  "f8_e5m2", "f8_e4m3", "boolean", "s4",  "u4"};
  const auto write_out = [](nlohmann::json& of, std::initializer_list<const char*> flags) {
    for (const char* flag : flags)
      if (!of.contains(flag)) of[flag] = false;
  };
  for (nlohmann::json& version : op["versions"]) {
    for (const char* ports : {"inputs", "outputs"})
      for (nlohmann::json& port : version[ports]) write_out(port, {"optional", "variadic", "mixed", "decides_shape"});
    for (nlohmann::json& attribute : version["attributes"]) write_out(attribute, {"required"});
    for (nlohmann::json& dtypes : version["type_constraints"]) {
      if (dtypes == nlohmann::json::array({"all"})) dtypes = all;
      std::sort(dtypes.begin(), dtypes.end());
    }
  }
  return op;
}

TEST_F(Command, OpsAreSaidAsTheirDescriptorsSayThem) {
  const auto answer = expect_json("ops", "tenfold.ops/2");
  std::map<std::pair<std::string, std::string>, nlohmann::json> said;
  for (const auto& op : answer["ops"]) said[{op["dialect"], op["name"]}] = in_full(op);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TENFOLD_SOURCE_DIR) / "schemas/ops")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    std::ifstream file(entry.path());
    const auto op = in_full(nlohmann::json::parse(file));
    EXPECT_EQ((said[{op["dialect"], op["name"]}]), op) << entry.path();
  }
  EXPECT_EQ(said.size(), files);
  const auto& port = answer["ops"][0]["versions"][0]["inputs"][0];
  for (const char* flag : {"optional", "variadic", "mixed", "decides_shape"}) EXPECT_TRUE(port.contains(flag)) << flag;
}

TEST_F(Command, OpsAndIsa) {
  EXPECT_NE(run("ops").out.find("ReduceMax"), std::string::npos);
  EXPECT_NE(run("ops ReduceMax").out.find("attribute axes: s64[]"), std::string::npos) << run("ops ReduceMax").out;
  EXPECT_NE(run("ops --dialect onnx").out.find("ArgMax"), std::string::npos);
  EXPECT_GT(expect_json("ops --dialect onednn", "tenfold.ops/2")["ops"].size(), 20U);
  const auto isa = expect_json("isa", "tenfold.isa/1");
  EXPECT_EQ(isa["isas"].size(), 5U);
  const Answer capped = run("isa --json", "TENFOLD_MAX_CPU_ISA=reference");
  EXPECT_EQ(nlohmann::json::parse(capped.out, nullptr, false).value("used", ""), "reference");
  const Answer unknown = run("isa", "TENFOLD_MAX_CPU_ISA=sse9");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("sse9"), std::string::npos) << unknown.err;
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// What libtenfold.so loads late: oneDNN comes with the first heavy op, and a library without its module runs such ops
// on the reference evaluator and says why.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tenfold/tenfold.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tenfold::test {
namespace {

namespace fs = std::filesystem;

bool is_mapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  return std::string(std::istreambuf_iterator<char>(maps), {}).find(name) != std::string::npos;
}

/// Of a library that nobody is linked to.
template <typename Function>
Function* find(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  EXPECT_NE(symbol, nullptr) << dlerror();
  return reinterpret_cast<Function*>(symbol);
}
#define TENFOLD_FIND(library, name) find<decltype(name)>(library, #name)

/// Multiplies two matrices and gives the explanation.
std::string multiply(void* library) {
  const std::string json = R"({"graph": [{"id": 0, "name": "m", "kind": "MatMul", "attrs": {},
    "inputs": [{"id": 0, "dtype": "f32", "shape": [2, 3]}, {"id": 1, "dtype": "f32", "shape": [3, 2]}],
    "outputs": [{"id": 2, "dtype": "f32", "shape": [2, 2]}]}]})";
  tenfold_graph_t graph = nullptr;
  tenfold_partition_t partition = nullptr;
  tenfold_compiled_partition_t compiled = nullptr;
  char* text = nullptr;
  EXPECT_EQ(TENFOLD_FIND(library, tenfold_graph_from_json)(&graph, json.data(), json.size()), tenfold_success);
  EXPECT_EQ(TENFOLD_FIND(library, tenfold_graph_get_partitions)(graph, 1, &partition), tenfold_success);
  EXPECT_EQ(TENFOLD_FIND(library, tenfold_partition_compile)(&compiled, partition, nullptr), tenfold_success);
  std::array<float, 6> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1};
  std::array<float, 4> product{};
  const std::array<const void*, 2> inputs{a.data(), b.data()};
  const std::array<void*, 1> outputs{product.data()};
  EXPECT_EQ(TENFOLD_FIND(library, tenfold_compiled_partition_execute)(compiled, inputs.data(), 2, outputs.data(), 1),
            tenfold_success);
  EXPECT_EQ(product, (std::array<float, 4>{4, 5, 10, 11}));
  EXPECT_EQ(TENFOLD_FIND(library, tenfold_compiled_partition_get_explanation)(compiled, nullptr, &text),
            tenfold_success);
  std::string explanation = text == nullptr ? "" : text;
  TENFOLD_FIND(library, tenfold_memory_release)(text, nullptr);
  TENFOLD_FIND(library, tenfold_compiled_partition_release)(&compiled);
  TENFOLD_FIND(library, tenfold_partition_release)(&partition);
  TENFOLD_FIND(library, tenfold_graph_release)(&graph);
  return explanation;
}

/// libtenfold.so as it is in the build tree, and a copy with nothing beside it. A module that is loaded would be found
/// by its name alone, so the copy is asked first.
class CLate : public testing::Test {
 protected:
  CLate() {
    const fs::path folder = fs::temp_directory_path() / ("tenfold_late_" + std::to_string(getpid()));
    fs::create_directories(folder);
    fs::copy_file(TENFOLD_LIBRARY, folder / "libtenfold.so.0", fs::copy_options::overwrite_existing);
    alone = dlopen((folder / "libtenfold.so.0").c_str(), RTLD_NOW | RTLD_LOCAL);
    fs::remove_all(folder);
    whole = dlopen(TENFOLD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  }
  void* alone;
  void* whole;
};

/// What is said of a model that is none.
std::string read_nonsense(void* library) {
  tenfold_graph_t graph = nullptr;
  const std::string bytes = "no model";
  EXPECT_NE(TENFOLD_FIND(library, tenfold_graph_from_onnx)(&graph, bytes.data(), bytes.size(), nullptr),
            tenfold_success);
  return TENFOLD_FIND(library, tenfold_last_error)();
}

/// In a child, for a module stays loaded; so before those that load one.
TEST_F(CLate, WhatCouldNotBeLoadedOnceIsTriedAgain) {
  if (!TENFOLD_HAS_ONNX) GTEST_SKIP() << "NOT RUN: built without ONNX";
  ASSERT_TRUE(whole != nullptr);
  const pid_t child = fork();
  if (child == 0) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    const rlimit none{0, files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    const std::string first = read_nonsense(whole);
    setrlimit(RLIMIT_NOFILE, &files);
    const std::string second = read_nonsense(whole);
    const bool is_right =
        first.find("ONNX's reader cannot be loaded") == 0 && second.find("loaded") == std::string::npos;
    if (!is_right) std::fputs((first + "\n" + second + "\n").c_str(), stderr);
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(CLate, OneDnnComesWithTheFirstHeavyOp) {
  if (!TENFOLD_HAS_ONEDNN) GTEST_SKIP() << "NOT RUN: built without oneDNN";
  ASSERT_TRUE(alone != nullptr && whole != nullptr && alone != whole);
  const std::string lonely = multiply(alone);
  EXPECT_NE(lonely.find("oneDNN cannot be loaded: libtenfold_onednn.so."), std::string::npos) << lonely;
  EXPECT_FALSE(is_mapped("libdnnl")) << "comes with the library";
  const std::string explanation = multiply(whole);
  EXPECT_NE(explanation.find(": oneDNN "), std::string::npos) << explanation;
  EXPECT_TRUE(is_mapped("libdnnl"));
}

TEST_F(CLate, ProtobufComesWithTheFirstModel) {
  if (!TENFOLD_HAS_ONNX) GTEST_SKIP() << "NOT RUN: built without ONNX";
  ASSERT_TRUE(alone != nullptr && whole != nullptr && alone != whole);
  const std::string lonely = read_nonsense(alone);
  EXPECT_EQ(lonely.find("ONNX's reader cannot be loaded: libtenfold_onnx.so."), 0U) << lonely;
  EXPECT_FALSE(is_mapped("libprotobuf")) << "comes with the library";
  const std::string said = read_nonsense(whole);
  EXPECT_EQ(said.find("loaded"), std::string::npos) << said;
  EXPECT_TRUE(is_mapped("libprotobuf"));
}

}  // namespace
}  // namespace tenfold::test

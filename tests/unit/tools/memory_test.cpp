// SPDX-License-Identifier: Apache-2.0
//
// Available memory on machines that are made up: their system files below a folder.
#include "tools/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tenfold::tools {
namespace {

namespace fs = std::filesystem;

class Memory : public testing::Test {
 protected:
  void SetUp() override { root_ = fs::path(testing::TempDir()) / ("tenfold_memory_" + std::to_string(getpid())); }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::optional<std::int64_t> available() const { return available_bytes(root_.string()); }
  fs::path root_;
};

TEST_F(Memory, NothingIsKnownWithoutFiles) { EXPECT_EQ(available(), std::nullopt); }

TEST_F(Memory, WhatTheSystemCounts) {
  write("proc/meminfo", "MemTotal:       4000 kB\nMemFree:  10 kB\nMemAvailable:    3000 kB\n");
  EXPECT_EQ(available(), 3000 * 1024);
}

TEST_F(Memory, TheLeastOfTheGroupsAbove) {
  write("proc/meminfo", "MemAvailable:    3000 kB\n");
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "100\n");
  EXPECT_EQ(available(), 3000 * 1024) << "no limit";
  write("sys/fs/cgroup/a/memory.max", "1000000\n");
  write("sys/fs/cgroup/a/memory.current", "700000\n");
  write("sys/fs/cgroup/a/memory.stat", "anon 100000\ninactive_file 400000\nactive_file 200000\n");
  EXPECT_EQ(available(), 900000) << "pages of files are given back";
  write("sys/fs/cgroup/a/memory.current", "1700000\n");
  EXPECT_EQ(available(), 0) << "above its limit";
}

TEST_F(Memory, TheFirstVersionOfGroups) {
  write("proc/meminfo", "MemAvailable:    3000 kB\n");
  write("proc/self/cgroup", "5:cpu,memory:/outside/only\n4:pids:/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "500000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
  EXPECT_EQ(available(), 400000);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available(), 3000 * 1024) << "no limit";
}

TEST_F(Memory, TensorsTogether) {
  const std::vector<TensorInfo> infos{
      {0, {DType::f32, {4, 2}, {}}}, {1, {DType::f32, {kUnknownDim}, {}}}, {2, {DType::s8, {3}, {}}}};
  const Result<std::int64_t> bytes = bytes_of(infos);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes.value(), 4 * 2 * 4 + 3);
}

}  // namespace
}  // namespace tenfold::tools

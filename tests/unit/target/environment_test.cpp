// SPDX-License-Identifier: Apache-2.0
//
// Environment variables: what each value means, and that nonsense means nothing.
#include "target/environment.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tenfold::target {
namespace {

std::map<std::string, std::string> variables;

Environment read(const std::map<std::string, std::string>& set) {
  variables = set;
  return read_environment([](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

TEST(Environment, NothingIsSet) {
  const Environment none = read({});
  EXPECT_TRUE(none.max_cpu_isa.empty());
  EXPECT_EQ(none.verbose, 0);
  EXPECT_FALSE(none.perf_map);
  EXPECT_FALSE(none.jit_dump);
  EXPECT_TRUE(none.dump_folder.empty());
  EXPECT_TRUE(none.tuning_file.empty());
}

TEST(Environment, Values) {
  const Environment all = read({{"TENFOLD_MAX_CPU_ISA", "avx2"},
                                {"TENFOLD_VERBOSE", "2"},
                                {"TENFOLD_JIT_PROFILE", "jitdump,perfmap"},
                                {"TENFOLD_JIT_DUMP", "folder"},
                                {"TENFOLD_TUNING", "file"}});
  EXPECT_EQ(all.max_cpu_isa, "avx2");
  EXPECT_EQ(all.verbose, 2);
  EXPECT_TRUE(all.perf_map);
  EXPECT_TRUE(all.jit_dump);
  EXPECT_EQ(all.dump_folder, "folder");
  EXPECT_EQ(all.tuning_file, "file");
  EXPECT_TRUE(read({{"TENFOLD_JIT_PROFILE", "perfmap"}}).perf_map);
  EXPECT_FALSE(read({{"TENFOLD_JIT_PROFILE", "perfmap"}}).jit_dump);
}

TEST(Environment, NonsenseIsAsIfNotSet) {
  for (const char* text : {"", "0", "3", "yes", "-1", "11", " 1"})
    EXPECT_EQ(read({{"TENFOLD_VERBOSE", text}}).verbose, 0) << text;
  for (const char* text : {"", ",", ",,", "perf", "perfmaps", "1", "perfmap;jitdump"}) {
    EXPECT_FALSE(read({{"TENFOLD_JIT_PROFILE", text}}).perf_map) << text;
    EXPECT_FALSE(read({{"TENFOLD_JIT_PROFILE", text}}).jit_dump) << text;
  }
}

TEST(Environment, SizesOfCaches) {
  const Environment none = read({{"TENFOLD_COMPILED_PARTITION_CACHE_BYTES", "12 MiB"}});
  EXPECT_EQ(none.partition_cache_capacity, 1024U);
  EXPECT_EQ(none.partition_cache_bytes, std::size_t{64} << 20) << "what is no number is as if it were not set";
  const Environment all = read({{"TENFOLD_COMPILED_PARTITION_CACHE_CAPACITY", "0"},
                                {"TENFOLD_COMPILED_PARTITION_CACHE_BYTES", "4096"},
                                {"TENFOLD_CONSTANT_CACHE_BYTES", "7"}});
  EXPECT_EQ(all.partition_cache_capacity, 0U);
  EXPECT_EQ(all.partition_cache_bytes, 4096U);
  EXPECT_EQ(all.constant_cache_bytes, 7U);
}

}  // namespace
}  // namespace tenfold::target

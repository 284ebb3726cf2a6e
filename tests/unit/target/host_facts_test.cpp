// SPDX-License-Identifier: Apache-2.0
//
// Caps, caches and quotas, on file systems made up in a temporary folder.
#include "target/host_facts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tenfold::target {
namespace {

namespace fs = std::filesystem;

/// A folder that stands for the root of a file system; removed at the end.
class Root : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / ("tenfold_target_" + std::to_string(getpid()) + "_" + info->name());
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void write_cache(int index, const char* level, const char* type, const char* size) const {
    const std::string folder = "sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    write(folder + "level", level);
    write(folder + "type", type);
    write(folder + "size", size);
  }
  std::string root() const { return root_.string(); }

 private:
  fs::path root_;
};

class Caches : public Root {};
class Cgroup : public Root {};

TEST(ParseSize, TakesWhatTheKernelWrites) {
  EXPECT_EQ(parse_size("32K"), 32 << 10);
  EXPECT_EQ(parse_size("2048K"), 2 << 20);
  EXPECT_EQ(parse_size("36M"), 36 << 20);
  EXPECT_EQ(parse_size("512"), 512);
  for (const char* text : {"", "K", "-1K", "32KB", "32 K", "99999999999999999999K", "x"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST_F(Caches, AreReadFromSysfs) {
  write_cache(0, "1", "Data", "48K");
  write_cache(1, "1", "Instruction", "32K");
  write_cache(2, "2", "Unified", "2048K");
  write_cache(3, "3", "Unified", "107520K");
  const CacheSizes sizes = caches_from_sysfs(root());
  EXPECT_EQ(sizes.l1, 48 << 10);
  EXPECT_EQ(sizes.l2, 2 << 20);
  EXPECT_EQ(sizes.l3, 105 << 20);
}

TEST_F(Caches, ThatAreNotCredibleCountAsNotKnown) {
  write_cache(0, "1", "Data", "4K");
  write_cache(1, "2", "Unified", "1024M");
  write_cache(2, "3", "Unified", "what");
  write_cache(3, "4", "Unified", "128M");
  const CacheSizes sizes = caches_from_sysfs(root());
  EXPECT_EQ(sizes.l1, 0);
  EXPECT_EQ(sizes.l2, 0);
  EXPECT_EQ(sizes.l3, 0);
}

TEST_F(Caches, AreNotKnownWithoutSysfs) { EXPECT_EQ(caches_from_sysfs(root()).l1, 0); }

TEST(CacheSubleaf, MultipliesItsFields) {
  CacheSizes sizes;
  // 8 ways, 1 partition, 64 bytes, 64 sets: 32 KiB of L1 data.
  EXPECT_TRUE(add_cache_subleaf(0x21, (7U << 22) | 63, 63, sizes));
  // An instruction cache of the same level does not count.
  EXPECT_TRUE(add_cache_subleaf(0x22, (15U << 22) | 63, 63, sizes));
  // 16 ways, 64 bytes, 2048 sets: 2 MiB of L2.
  EXPECT_TRUE(add_cache_subleaf(0x43, (15U << 22) | 63, 2047, sizes));
  EXPECT_TRUE(add_cache_subleaf(0x63, ~0U, ~0U, sizes)) << "absurd, but not the end";
  EXPECT_FALSE(add_cache_subleaf(0, 0, 0, sizes));
  EXPECT_EQ(sizes.l1, 32 << 10);
  EXPECT_EQ(sizes.l2, 2 << 20);
  EXPECT_EQ(sizes.l3, 0);
}

TEST(SetCaches, PrefersTheFirstThenTheSecondThenTheDefault) {
  const Target defaults;
  Target target;
  set_caches({48 << 10, 0, 0}, {32 << 10, 2 << 20, 0}, target);
  EXPECT_EQ(target.l1_bytes, 48 << 10);
  EXPECT_EQ(target.l2_bytes, 2 << 20);
  EXPECT_EQ(target.l3_bytes, defaults.l3_bytes);
  Target large;
  set_caches({0, 64 << 20, 1 << 20}, {}, large);
  EXPECT_EQ(large.l1_bytes, defaults.l1_bytes);
  EXPECT_EQ(large.l3_bytes, large.l2_bytes) << "an L3 is never below the L2";
}

TEST(L3Of, GoesByVendorFamilyAndLevel) {
  EXPECT_EQ(l3_of("GenuineIntel", 6, Isa::avx512_core), L3::far);
  EXPECT_EQ(l3_of("GenuineIntel", 6, Isa::avx512_core_fp16), L3::far);
  EXPECT_EQ(l3_of("GenuineIntel", 6, Isa::avx2), L3::near) << "their cores share a ring";
  EXPECT_EQ(l3_of("AuthenticAMD", 0x19, Isa::avx2), L3::late) << "Zen 3";
  EXPECT_EQ(l3_of("AuthenticAMD", 0x19, Isa::avx512_core_bf16), L3::near) << "Zen 4, of the same family";
  EXPECT_EQ(l3_of("AuthenticAMD", 0x1A, Isa::avx512_core_bf16), L3::fast) << "Zen 5";
  EXPECT_EQ(l3_of("CentaurHauls", 7, Isa::avx2), L3::near) << "not measured";
  EXPECT_EQ(cpu_vendor().size(), 12U);
  EXPECT_GE(cpu_family(), 6) << "all CPUs that have AVX2";
}

TEST_F(Cgroup, WithoutFilesThereIsNoLimit) { EXPECT_EQ(cores_by_cgroup(root()), std::nullopt); }

TEST_F(Cgroup, Version2RoundsTheQuotaUp) {
  write("proc/self/cgroup", "0::/a/b");
  write("sys/fs/cgroup/a/b/cpu.max", "250000 100000");
  EXPECT_EQ(cores_by_cgroup(root()), 3);
}

TEST_F(Cgroup, Version2TakesTheLeastOnTheWayUp) {
  write("proc/self/cgroup", "0::/a/b");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  write("sys/fs/cgroup/a/cpu.max", "200000 100000");
  write("sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_EQ(cores_by_cgroup(root()), 2);
}

TEST_F(Cgroup, AFolderOfTheOutsideFallsBackToTheMount) {
  write("proc/self/cgroup", "0::/docker/0123");
  write("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(cores_by_cgroup(root()), 1);
}

TEST_F(Cgroup, MaxMeansNoLimit) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_EQ(cores_by_cgroup(root()), std::nullopt);
}

TEST_F(Cgroup, Version1HasTwoFiles) {
  write("proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/x\n0::/");
  write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "400000");
  write("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cores_by_cgroup(root()), 4);
  write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(cores_by_cgroup(root()), std::nullopt);
}

TEST_F(Cgroup, NonsenseIsNoLimit) {
  write("proc/self/cgroup", "nonsense\n0:\n0::/a");
  for (const char* text : {"", "0 100000", "100000 0", "abc def", "99999999999999999999 1", "-5 -5"}) {
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(cores_by_cgroup(root()), std::nullopt) << text;
  }
}

TEST(Cap, LowersButNeverRaises) {
  const auto capped = [](Isa native, const char* cap) { return apply_cap(native, cap).value(); };
  EXPECT_EQ(capped(Isa::avx512_core, nullptr), Isa::avx512_core);
  EXPECT_EQ(capped(Isa::avx512_core, ""), Isa::avx512_core);
  EXPECT_EQ(capped(Isa::avx512_core, "AVX2"), Isa::avx2);
  EXPECT_EQ(capped(Isa::avx2, "avx512_core_fp16"), Isa::avx2);
  EXPECT_EQ(capped(Isa::avx2, "reference"), Isa::reference);
}

TEST(Cap, UnknownNameIsAnErrorThatNamesTheVariable) {
  const Result<Isa> isa = apply_cap(Isa::avx2, "avx3");
  ASSERT_FALSE(isa.ok());
  EXPECT_EQ(isa.status().code(), Code::invalid_argument);
  EXPECT_NE(isa.status().message().find("TENFOLD_MAX_CPU_ISA"), std::string::npos);
  EXPECT_NE(isa.status().message().find("'avx3'"), std::string::npos);
  EXPECT_NE(isa.status().message().find("avx512_core_bf16"), std::string::npos);
}

TEST(Cap, OfATargetSaysWhyItRefuses) {
  Target machine;
  machine.native = Isa::avx512_core;
  machine.isa = Isa::avx2;
  EXPECT_EQ(cap_target(machine, Isa::avx2).value().isa, Isa::avx2);
  EXPECT_EQ(cap_target(machine, Isa::reference).value().isa, Isa::reference);
  EXPECT_EQ(cap_target(machine, Isa::reference).value().native, Isa::avx512_core);
  const Result<Target> by_variable = cap_target(machine, Isa::avx512_core);
  const Result<Target> by_machine = cap_target(machine, Isa::avx512_core_fp16);
  ASSERT_FALSE(by_variable.ok());
  ASSERT_FALSE(by_machine.ok());
  EXPECT_EQ(by_variable.status().code(), Code::unsupported_target);
  EXPECT_NE(by_variable.status().message().find("TENFOLD_MAX_CPU_ISA"), std::string::npos);
  EXPECT_EQ(by_machine.status().message(),
            "target avx512_core_fp16 is above what this machine can run, which is avx512_core");
}

TEST(Host, IsPlausible) {
  const Result<Target>& machine = host();
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  const Target& target = machine.value();
  EXPECT_LE(target.isa, target.native);
  EXPECT_GE(target.cores, 1);
  EXPECT_LE(target.cores, cores_by_affinity());
  EXPECT_GE(target.l1_bytes, 8 << 10);
  EXPECT_GE(target.l2_bytes, target.l1_bytes);
  EXPECT_GE(target.l3_bytes, target.l2_bytes);
  EXPECT_EQ(&host(), &machine) << "found once";
}

}  // namespace
}  // namespace tenfold::target

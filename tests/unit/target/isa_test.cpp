// SPDX-License-Identifier: Apache-2.0
//
// Detection against made-up CPUID tables: real machines, machines whose system does not save the registers, and
// machines that lie.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "target/target.hpp"

namespace tenfold::target {
namespace {

constexpr std::uint32_t bit(int n) { return std::uint32_t{1} << n; }

struct Machine {
  std::string name;
  Isa expected;
  CpuidLeaves leaves;
};

CpuidLeaves haswell() {
  CpuidLeaves leaves;
  leaves.max_leaf = 13;
  leaves.leaf1_ecx = bit(12) | bit(27) | bit(28) | bit(29);
  leaves.leaf7_ebx = bit(3) | bit(5) | bit(8);
  leaves.xcr0 = 0x7;
  return leaves;
}

CpuidLeaves skylake_server() {
  CpuidLeaves leaves = haswell();
  leaves.max_leaf = 22;
  leaves.leaf7_ebx |= bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
  leaves.xcr0 = 0xe7;
  return leaves;
}

CpuidLeaves cooper_lake() {
  CpuidLeaves leaves = skylake_server();
  leaves.leaf7_ecx |= bit(11);
  leaves.leaf7_1_eax |= bit(5);
  return leaves;
}

CpuidLeaves sapphire_rapids() {
  CpuidLeaves leaves = cooper_lake();
  leaves.leaf7_ecx |= bit(1);
  leaves.leaf7_edx |= bit(23);
  return leaves;
}

template <class Change>
CpuidLeaves with(CpuidLeaves leaves, Change change) {
  change(leaves);
  return leaves;
}

using L = CpuidLeaves&;

std::vector<Machine> machines() {
  return {
      {"nothing", Isa::reference, {}},
      {"haswell", Isa::avx2, haswell()},
      {"skylake_server", Isa::avx512_core, skylake_server()},
      {"cooper_lake", Isa::avx512_core_bf16, cooper_lake()},
      {"sapphire_rapids", Isa::avx512_core_fp16, sapphire_rapids()},
      {"zen4_no_fp16", Isa::avx512_core_bf16, with(sapphire_rapids(), [](L l) { l.leaf7_edx &= ~bit(23); })},
      {"sandy_bridge_max_leaf_below_7", Isa::reference, with(haswell(), [](L l) { l.max_leaf = 6; })},
      {"avx2_without_osxsave", Isa::reference, with(haswell(), [](L l) { l.leaf1_ecx &= ~bit(27); })},
      {"avx2_without_avx", Isa::reference, with(haswell(), [](L l) { l.leaf1_ecx &= ~bit(28); })},
      {"avx2_without_fma", Isa::reference, with(haswell(), [](L l) { l.leaf1_ecx &= ~bit(12); })},
      {"avx2_without_f16c", Isa::reference, with(haswell(), [](L l) { l.leaf1_ecx &= ~bit(29); })},
      {"avx2_without_bmi1", Isa::reference, with(haswell(), [](L l) { l.leaf7_ebx &= ~bit(3); })},
      {"avx2_without_bmi2", Isa::reference, with(haswell(), [](L l) { l.leaf7_ebx &= ~bit(8); })},
      {"ivy_bridge_without_avx2", Isa::reference, with(haswell(), [](L l) { l.leaf7_ebx &= ~bit(5); })},
      {"avx2_without_ymm_state", Isa::reference, with(haswell(), [](L l) { l.xcr0 = 0x3; })},
      {"avx2_without_sse_state", Isa::reference, with(haswell(), [](L l) { l.xcr0 = 0x5; })},
      {"avx2_with_xcr0_zero", Isa::reference, with(haswell(), [](L l) { l.xcr0 = 0; })},
      {"avx512_without_any_state", Isa::avx2, with(skylake_server(), [](L l) { l.xcr0 = 0x7; })},
      {"avx512_without_opmask_state", Isa::avx2, with(skylake_server(), [](L l) { l.xcr0 = 0xc7; })},
      {"avx512_without_zmm_upper_state", Isa::avx2, with(skylake_server(), [](L l) { l.xcr0 = 0xa7; })},
      {"avx512_without_zmm16_state", Isa::avx2, with(skylake_server(), [](L l) { l.xcr0 = 0x67; })},
      {"avx512_state_without_ymm_state", Isa::reference, with(skylake_server(), [](L l) { l.xcr0 = 0xe3; })},
      {"avx512_without_f", Isa::avx2, with(skylake_server(), [](L l) { l.leaf7_ebx &= ~bit(16); })},
      {"avx512_without_dq", Isa::avx2, with(skylake_server(), [](L l) { l.leaf7_ebx &= ~bit(17); })},
      {"avx512_without_cd", Isa::avx2, with(skylake_server(), [](L l) { l.leaf7_ebx &= ~bit(28); })},
      {"avx512_without_bw", Isa::avx2, with(skylake_server(), [](L l) { l.leaf7_ebx &= ~bit(30); })},
      {"knights_landing_without_vl", Isa::avx2,
       with(skylake_server(), [](L l) { l.leaf7_ebx &= ~(bit(31) | bit(30) | bit(17)); })},
      {"avx512_on_a_cpu_that_denies_avx2", Isa::reference, with(skylake_server(), [](L l) { l.leaf7_ebx &= ~bit(5); })},
      {"fp16_without_bf16", Isa::avx512_core, with(sapphire_rapids(), [](L l) { l.leaf7_1_eax = 0; })},
      {"fp16_without_vnni", Isa::avx512_core_bf16, with(sapphire_rapids(), [](L l) { l.leaf7_ecx = 0; })},
      {"fp16_without_vbmi", Isa::avx512_core_bf16, with(sapphire_rapids(), [](L l) { l.leaf7_ecx &= ~bit(1); })},
      {"fp16_without_bw", Isa::avx2, with(sapphire_rapids(), [](L l) { l.leaf7_ebx &= ~bit(30); })},
      {"fp16_without_zmm_state", Isa::avx2, with(sapphire_rapids(), [](L l) { l.xcr0 = 0x7; })},
      {"amx_state_beside", Isa::avx512_core_fp16, with(sapphire_rapids(), [](L l) { l.xcr0 |= 0x60200; })},
      {"avx10_only_vector_256", Isa::avx2, with(haswell(), [](L l) { l.leaf7_1_eax = bit(5) | bit(4); })},
      {"bf16_bit_without_avx512", Isa::avx2, with(haswell(), [](L l) { l.leaf7_1_eax = bit(5); })},
      {"all_ones", Isa::avx512_core_fp16, {~0U, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U, ~std::uint64_t{0}}},
      {"all_ones_without_state", Isa::reference, {~0U, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U, 0}},
  };
}

TEST(Isa, IsDetectedFromFeaturesAndState) {
  for (const Machine& machine : machines())
    EXPECT_EQ(to_string(detect(machine.leaves)), to_string(machine.expected)) << machine.name;
}

TEST(Isa, EveryRequiredBitMatters) {
  const CpuidLeaves full = sapphire_rapids();
  ASSERT_EQ(detect(full), Isa::avx512_core_fp16);
  for (int i = 0; i < 32; ++i) {
    if ((full.leaf7_ebx & bit(i)) == 0 || i == 3) continue;
    EXPECT_LT(detect(with(full, [i](L l) { l.leaf7_ebx &= ~bit(i); })), Isa::avx512_core) << "leaf 7 ebx bit " << i;
  }
  for (const int i : {12, 27, 28, 29})
    EXPECT_EQ(detect(with(full, [i](L l) { l.leaf1_ecx &= ~bit(i); })), Isa::reference) << "leaf 1 ecx bit " << i;
  for (const int i : {1, 2, 5, 6, 7})
    EXPECT_LT(detect(with(full, [i](L l) { l.xcr0 &= ~(std::uint64_t{1} << i); })), Isa::avx512_core) << "xcr0 " << i;
}

TEST(Isa, NamesRoundTripInAnyCase) {
  for (const IsaRow& row : all_isas()) {
    std::string upper(row.name);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    for (const std::string& name : {std::string(row.name), upper}) {
      const Result<Isa> isa = isa_from_name(name);
      ASSERT_TRUE(isa.ok()) << name;
      EXPECT_EQ(isa.value(), row.isa);
    }
    EXPECT_EQ(to_string(row.isa), row.name);
  }
}

TEST(Isa, RowsAreBestFirstAndComplete) {
  ASSERT_EQ(all_isas().size(), 5U);
  for (std::size_t i = 1; i < all_isas().size(); ++i) EXPECT_GT(all_isas()[i - 1].isa, all_isas()[i].isa);
  EXPECT_EQ(all_isas().back().vector_bytes, 0);
}

TEST(Isa, UnknownNameListsTheKnownOnes) {
  for (const char* name : {"", "avx", "avx512", "avx512_core_amx", "avx2 ", "default"}) {
    const Result<Isa> isa = isa_from_name(name);
    ASSERT_FALSE(isa.ok()) << name;
    EXPECT_EQ(isa.status().code(), Code::invalid_argument);
    EXPECT_EQ(isa.status().message(), "there is no instruction-set level '" + std::string(name) +
                                          "'; the levels are avx512_core_fp16, avx512_core_bf16, avx512_core, avx2, "
                                          "reference");
  }
}

TEST(Isa, ThisMachineAgreesWithTheCompilersOwnDetection) {
  const Isa isa = detect(read_cpuid());
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  EXPECT_EQ(isa >= Isa::avx2, avx2);
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512cd");
  EXPECT_EQ(isa >= Isa::avx512_core, avx512);
}

}  // namespace
}  // namespace tenfold::target

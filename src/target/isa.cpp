// SPDX-License-Identifier: Apache-2.0
//
// The table of targets, and which of them CPUID and the operating system allow. A feature bit says that the CPU has the
// instructions; only XCR0 says that the system saves their registers when it switches threads. Both are needed.
#include <cpuid.h>

#include <string>

#include "target/target.hpp"

namespace tenfold::target {
namespace {

constexpr IsaRow kIsas[] = {
    {Isa::avx512_core_fp16, "avx512_core_fp16", "avx512_core_bf16 + AVX512_FP16, AVX512_VNNI, AVX512_VBMI", 64, 32},
    {Isa::avx512_core_bf16, "avx512_core_bf16", "avx512_core + AVX512_BF16", 64, 32},
    {Isa::avx512_core, "avx512_core", "avx2 + AVX512F, CD, BW, DQ, VL; system saves opmask and zmm", 64, 32},
    {Isa::avx2, "avx2", "AVX2, FMA, F16C, BMI1, BMI2; system saves ymm", 32, 16},
    {Isa::reference, "reference", "nothing: the reference evaluator, no generated code", 0, 0},
};

constexpr std::uint32_t bit(int n) { return std::uint32_t{1} << n; }

// Leaf 1.
constexpr std::uint32_t kFma = bit(12), kOsxsave = bit(27), kAvx = bit(28), kF16c = bit(29);
// Leaf 7, subleaf 0: EBX, ECX, EDX. Subleaf 1: EAX.
constexpr std::uint32_t kBmi1 = bit(3), kAvx2 = bit(5), kBmi2 = bit(8);
constexpr std::uint32_t kAvx512F = bit(16), kAvx512Dq = bit(17), kAvx512Cd = bit(28), kAvx512Bw = bit(30),
                        kAvx512Vl = bit(31);
constexpr std::uint32_t kAvx512Vbmi = bit(1), kAvx512Vnni = bit(11);
constexpr std::uint32_t kAvx512Fp16 = bit(23);
constexpr std::uint32_t kAvx512Bf16 = bit(5);
// XCR0: xmm and ymm; opmask, upper halves of zmm0-15, zmm16-31.
constexpr std::uint64_t kYmmState = 0x06, kZmmState = 0xe6;

constexpr bool has(std::uint64_t word, std::uint64_t bits) { return (word & bits) == bits; }

std::uint64_t read_xcr0() noexcept {
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

}  // namespace

std::span<const IsaRow> all_isas() noexcept { return kIsas; }

std::string_view to_string(Isa isa) noexcept {
  for (const IsaRow& row : kIsas)
    if (row.isa == isa) return row.name;
  return "unknown";
}

Result<Isa> isa_from_name(std::string_view name) {
  std::string known;
  for (const IsaRow& row : kIsas) {
    if (same_name(row.name, name)) return row.isa;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return Status(Code::invalid_argument,
                "there is no instruction-set level '" + std::string(name) + "'; the levels are " + known);
}

CpuidLeaves read_cpuid() noexcept {
  CpuidLeaves leaves;
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  leaves.max_leaf = __get_cpuid_max(0, nullptr);
  if (leaves.max_leaf < 1) return leaves;
  __cpuid(1, eax, ebx, leaves.leaf1_ecx, leaves.leaf1_edx);
  if (has(leaves.leaf1_ecx, kOsxsave)) leaves.xcr0 = read_xcr0();
  if (leaves.max_leaf < 7) return leaves;
  std::uint32_t subleaves = 0;
  __cpuid_count(7, 0, subleaves, leaves.leaf7_ebx, leaves.leaf7_ecx, leaves.leaf7_edx);
  if (subleaves >= 1) __cpuid_count(7, 1, leaves.leaf7_1_eax, ebx, ecx, edx);
  return leaves;
}

Isa detect(const CpuidLeaves& leaves) noexcept {
  if (leaves.max_leaf < 7) return Isa::reference;
  if (!has(leaves.leaf1_ecx, kOsxsave | kAvx | kFma | kF16c)) return Isa::reference;
  if (!has(leaves.xcr0, kYmmState) || !has(leaves.leaf7_ebx, kBmi1 | kAvx2 | kBmi2)) return Isa::reference;
  if (!has(leaves.leaf7_ebx, kAvx512F | kAvx512Cd | kAvx512Bw | kAvx512Dq | kAvx512Vl)) return Isa::avx2;
  if (!has(leaves.xcr0, kZmmState)) return Isa::avx2;
  if (!has(leaves.leaf7_1_eax, kAvx512Bf16)) return Isa::avx512_core;
  if (!has(leaves.leaf7_edx, kAvx512Fp16) || !has(leaves.leaf7_ecx, kAvx512Vbmi | kAvx512Vnni))
    return Isa::avx512_core_bf16;
  return Isa::avx512_core_fp16;
}

}  // namespace tenfold::target

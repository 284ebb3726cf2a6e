// SPDX-License-Identifier: Apache-2.0
//
// What this machine is: instruction sets that both the CPU and the operating system offer, cache sizes, cores. Facts
// only; what follows from them is decided in schedule/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tenfold/status.hpp"

namespace tenfold::target {

/// Instruction-set levels under oneDNN's names, weakest first so that `<` compares them. `reference` means no JIT.
enum class Isa : std::uint8_t { reference, avx2, avx512_core, avx512_core_bf16, avx512_core_fp16 };

/// One row of the table of targets, best first.
struct IsaRow {
  Isa isa;
  std::string_view name;
  std::string_view needs;  ///< the CPUID features in words
  int vector_bytes;        ///< of one register; 0 for reference
  int vector_registers;
};
std::span<const IsaRow> all_isas() noexcept;

std::string_view to_string(Isa isa) noexcept;
/// invalid_argument, listing the known names, when `name` is none of them. Case does not matter.
Result<Isa> isa_from_name(std::string_view name);

/// What CPUID and XGETBV say, raw; the detector takes it as a value so that tests can lie to it.
struct CpuidLeaves {
  std::uint32_t max_leaf = 0;
  std::uint32_t leaf1_ecx = 0, leaf1_edx = 0;
  std::uint32_t leaf7_ebx = 0, leaf7_ecx = 0, leaf7_edx = 0;  ///< subleaf 0
  std::uint32_t leaf7_1_eax = 0;                              ///< subleaf 1
  std::uint64_t xcr0 = 0;                                     ///< 0 when OSXSAVE is not set
};
CpuidLeaves read_cpuid() noexcept;

/// The best level that `leaves` allow: feature bits and the XCR0 state bits both.
Isa detect(const CpuidLeaves& leaves) noexcept;

/// What a core gets of its last cache, as far as it was measured.
enum class L3 : std::uint8_t {
  near,  ///< each core's next to it, on a ring or in a group of eight: all others, AMD's Zen 4 among them
  far,   ///< across a mesh: Xeons of AVX-512
  fast,  ///< gives one core most of what its L2 does, 110 GB/s, and memory 43 in one stream: AMD's from Zen 5 on
  late,  ///< what computes between its loads waits for it unless it has asked: AMD's up to Zen 3, the one measured
};
/// That of a CPU of `vendor` ("GenuineIntel", as CPUID spells it) and `family` that can run `native`.
L3 l3_of(std::string_view vendor, int family, Isa native) noexcept;

/// CPUID's family of the CPU, the extended one added.
int cpu_family() noexcept;

/// CPUID's name of the vendor.
std::string cpu_vendor();

/// The model, as CPUID spells it: "AMD EPYC 7B13"; "unknown" where it does not.
std::string cpu_name();

/// The machine as the scheduler sees it.
struct Target {
  Isa isa = Isa::reference;     ///< the level to emit for (capped)
  Isa native = Isa::reference;  ///< the level that this machine could run
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 32 << 20;
  int cores = 1;  ///< within the affinity mask and cgroup limit
  L3 l3 = L3::near;

  /// Of the last cache, what the process can count on. A large one is that of many cores, whose work, often that of
  /// other machines on the same socket, fills it as well: 260 MiB on a Xeon of which two cores are ours hold no more
  /// than the 32 MiB of a small EPYC do.
  constexpr std::int64_t last_cache_bytes() const {
    constexpr std::int64_t kShare = 16 << 20, kLeast = 2 * kShare;
    return std::min(l3_bytes, std::max(kLeast, cores * kShare));
  }
};

/// The machine that we run on, found once. Capped by TENFOLD_MAX_CPU_ISA; an unknown name there is an error that every
/// compile reports.
const Result<Target>& host();

/// `host()` capped at `isa`: unsupported_target when the machine cannot run that level.
Result<Target> host_capped(Isa isa);

/// The same by name; `host()` when `name` is empty.
Result<Target> host_named(std::string_view name);

}  // namespace tenfold::target

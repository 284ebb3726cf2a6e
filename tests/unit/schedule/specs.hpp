// SPDX-License-Identifier: Apache-2.0
//
// Kernels and machines that schedules are chosen for in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernel/spec.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

using kernel::KernelSpec;

inline KernelSpec spec_of(const std::string& monoid, const std::string& dtype, const std::string& space,
                          const std::string& in, const std::string& out) {
  const Result<KernelSpec> spec =
      kernel::parse("kernel\nspace " + space + "\nin x0 " + dtype + " " + in + "\nout y0 " + dtype + " " + out +
                    "\n%0 = load x0\n%1 = reduce " + monoid + " %0\nstore y0 %1\n");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.value();
}

inline std::string columns_of(int rows, int row) {
  return "reduced " + std::to_string(rows) + ", kept " + std::to_string(row);
}

inline KernelSpec index_of_columns(const std::string& dtype, int rows, int row) {
  const Result<KernelSpec> spec =
      kernel::parse("kernel\nspace " + columns_of(rows, row) + "\nin x0 " + dtype + " [" + std::to_string(row) +
                    ", 1]\nout y0 s32 [0, 1]\n%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.value();
}

inline target::Target machine(target::Isa isa, int cores) {
  target::Target target;
  target.isa = isa;
  target.cores = cores;
  return target;
}

/// One core of AVX2 with 32 MiB of a last cache of this kind.
inline target::Target machine_of_kind(target::L3 kind, std::int64_t l2_bytes) {
  target::Target target = machine(target::Isa::avx2, 1);
  target.l2_bytes = l2_bytes;
  target.l3_bytes = 32 << 20;
  target.l3 = kind;
  return target;
}

/// A reduction of absolute values: a body in stages.
inline KernelSpec staged_spec(const std::string& space, const std::string& in, const std::string& out,
                              const std::string& rest = "store y0 %2\n") {
  const Result<KernelSpec> spec = kernel::parse("kernel\nspace " + space + "\nin x0 f32 " + in + "\nout y0 f32 " + out +
                                                "\n%0 = load x0\n%1 = neg %0\n%2 = reduce max %1\n" + rest);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.value();
}

}  // namespace tenfold::schedule

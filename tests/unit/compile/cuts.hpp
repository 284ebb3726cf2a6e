// SPDX-License-Identifier: Apache-2.0
//
// What tests of cuts write: specs as text, and the places that the kernels of a cut read and write.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/plan/kernel_cut.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

using Places = std::vector<Place>;

inline kernel::KernelSpec spec_of(const std::string& text) {
  const Result<kernel::KernelSpec> spec = kernel::parse(text);
  EXPECT_TRUE(spec.ok()) << spec.status().message() << "\n" << text;
  return spec.ok() ? spec.value() : kernel::KernelSpec{};
}

constexpr Place between(int index, std::int64_t offset = 0) { return {Place::Kind::between, index, offset}; }
constexpr Place operand(int index, std::int64_t offset = 0) { return {Place::Kind::operand, index, offset}; }

}  // namespace tenfold::compiler

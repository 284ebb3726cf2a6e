// SPDX-License-Identifier: Apache-2.0
//
// What the random tests run over: every reduction in every floating type, as GoogleTest parameters.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "reduction_case.hpp"

namespace tenfold::numeric {

struct Subject {
  const char* op;
  DType dtype;
};

/// How GoogleTest shows a parameter.
inline void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.op << " " << to_string(subject.dtype);
}

inline std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const char* op : kReductions)
    for (const DType dtype : kFloatTypes) all.push_back({op, dtype});
  return all;
}

inline std::string subject_name(const ::testing::TestParamInfo<Subject>& subject) {
  return std::string(subject.param.op) + "_" + std::string(to_string(subject.param.dtype));
}

/// "Suite.Test/Parameter", as filters want it.
inline std::string test_name() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + "." + info->name();
}

}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
//
// What the environment says about random tests: TENFOLD_TEST_SEED repeats a run, TENFOLD_TEST_CASES multiplies the
// number of cases (20, or 0.1), TENFOLD_TEST_ONLY runs one case of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

namespace tenfold::numeric {

inline std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 0);
}

/// The seed of this process: the environment's, or a fresh one.
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = number_from_environment("TENFOLD_TEST_SEED").value_or(std::random_device{}());
  return seed;
}

/// `cases`, times TENFOLD_TEST_CASES (1 when it is not set), but at least 1.
inline std::int64_t scaled_cases(std::int64_t cases) {
  const char* text = std::getenv("TENFOLD_TEST_CASES");
  const double factor = text == nullptr || *text == '\0' ? 1 : std::strtod(text, nullptr);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(cases) * factor));
}

/// The only case to run, or nothing for all.
inline std::optional<std::uint64_t> only_case() { return number_from_environment("TENFOLD_TEST_ONLY"); }

/// A seed of its own for case `index` of the test named `name`, so that any case can be made alone.
inline std::uint64_t case_seed(const std::string& name, std::uint64_t index) {
  std::uint64_t x = test_seed() ^ std::hash<std::string>{}(name) ^ (index * 0x9e37'79b9'7f4a'7c15);
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

/// How a failing case can be run again. It may be one that only so many times the usual number of cases come to.
inline std::string repeat_line(const std::string& test, std::uint64_t index) {
  const char* cases = std::getenv("TENFOLD_TEST_CASES");
  return "again: TENFOLD_TEST_SEED=" + std::to_string(test_seed()) +
         (cases != nullptr ? std::string(" TENFOLD_TEST_CASES=") + cases : "") +
         " TENFOLD_TEST_ONLY=" + std::to_string(index) + " <this program> --gtest_filter='" + test + "'";
}

}  // namespace tenfold::numeric

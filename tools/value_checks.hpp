// SPDX-License-Identifier: Apache-2.0
//
// What the parser does not ask of values: numbers are read strictly (it takes 010 for 8, -1 and 2^64 for 2^64 - 1, and
// NaN for a number within any bounds), and an empty path is none.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace tenfold::tools {

/// Decimal digits alone, without a leading zero, and a number from `least` to `most`.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Any text but the empty one.
CLI::Validator given_path();

/// The path of a folder that is there.
CLI::Validator given_folder();

/// A decimal number from `least` to `most`.
CLI::Validator real_number(double least, double most);

}  // namespace tenfold::tools

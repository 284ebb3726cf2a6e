// SPDX-License-Identifier: Apache-2.0
//
// Which cells of the matrix (op, axes class, nest, instruction set) the random cases of one dtype have met: printed,
// and asked for. A case counts for an instruction set when its kernel ran there, natively or emulated, or when its
// program is byte for byte that of another one that ran.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compile/compile.hpp"
#include "target/target.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::numeric {

/// How the reduced dims lie. `first`, `middle` and `last` are neighbours; `apart` are not and keep the last dim,
/// `around` are not and have it.
enum class AxesClass : std::uint8_t { none, first, middle, last, apart, around, all };
inline constexpr std::array kAxesClasses{AxesClass::none,  AxesClass::first,  AxesClass::middle, AxesClass::last,
                                         AxesClass::apart, AxesClass::around, AxesClass::all};
std::string_view to_string(AxesClass axes);
/// A rank of at most 4 that has the class, and the axes in it.
std::pair<std::size_t, std::vector<std::int64_t>> draw_axes(AxesClass axes, std::mt19937_64& random);

/// The nests of the program's kernels, "reference" or "nothing", each once.
std::vector<std::string> nests_of(const compiler::Compiled& compiled);

class Coverage {
 public:
  void count(const std::string& op, std::string_view axes, const compiler::Compiled& compiled, target::Isa isa);
  std::int64_t cases(const std::string& op, std::string_view axes, std::string_view nest, target::Isa isa) const;
  /// A line for each op: counts by axes class and nest, one for each of `levels`.
  std::string table(std::string_view title, std::span<const target::Isa> levels) const;
  /// What should have been met and was not: each op with each pair of axes class and nest on each level. A pair's nest
  /// may name several, "rows|staged_rows".
  std::string missing(std::span<const std::string> ops,
                      std::span<const std::pair<std::string_view, std::string_view>> pairs,
                      std::span<const target::Isa> levels) const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, std::map<target::Isa, std::int64_t>> cells_;
};

}  // namespace tenfold::numeric

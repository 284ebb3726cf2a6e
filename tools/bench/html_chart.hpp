// SPDX-License-Identifier: Apache-2.0
//
// The charts of the HTML report, as inline SVG.
#pragma once

#include <string>

#include "tools/bench/bench.hpp"

namespace tenfold::tools::bench {

/// Text as HTML has it: &, <, > and quotes escaped.
std::string escaped(const std::string& text);

/// The class of a contender's colour: "ours", "onednn", "loops", "fast", "roof".
std::string colour_class(const std::string& contender);

/// Bytes moved against GB/s, both on logarithmic axes: the roof of each case, ourselves and the rivals.
std::string roofline_svg(const BenchRun& run);

/// For each family a group of bars: the part of the roof that each contender reaches, geometric means.
std::string families_svg(const BenchRun& run);

/// One case's bars, as wide as the part of the roof that they stand for.
std::string case_svg(const CaseResult& result);

}  // namespace tenfold::tools::bench

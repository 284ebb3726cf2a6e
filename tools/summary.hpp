// SPDX-License-Identifier: Apache-2.0
//
// A tensor in one line: extremes, mean, NaNs and the first few elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/report.hpp"
#include "tools/tensor.hpp"

namespace tenfold::tools {

struct Summary {
  std::int64_t elements = 0;
  std::int64_t nans = 0;
  double min = 0, max = 0, mean = 0;  ///< of the elements that are not NaN; NaN when there is none
  std::vector<double> first;          ///< at most four, in row-major order
};

Summary summarize(const Tensor& tensor);
std::string summary_text(const Summary& summary);
Json summary_json(const Summary& summary);

}  // namespace tenfold::tools

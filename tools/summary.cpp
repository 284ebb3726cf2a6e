// SPDX-License-Identifier: Apache-2.0
//
// Summaries of tensors; see summary.hpp.
#include "tools/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "graph/eval/eval.hpp"

namespace tenfold::tools {

namespace {

constexpr std::size_t kFirst = 4;

std::string real_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace

Summary summarize(const Tensor& tensor) {
  Summary s;
  s.min = std::numeric_limits<double>::infinity();
  s.max = -s.min;
  double sum = 0;
  for_each_element(tensor.desc, [&](std::int64_t, std::int64_t offset) {
    const double value = graph::load_real(tensor.desc.dtype, tensor.data(), offset);
    ++s.elements;
    if (s.first.size() < kFirst) s.first.push_back(value);
    if (std::isnan(value)) {
      ++s.nans;
      return;
    }
    s.min = std::min(s.min, value);
    s.max = std::max(s.max, value);
    sum += value;
  });
  const std::int64_t numbers = s.elements - s.nans;
  s.mean = sum / static_cast<double>(numbers);
  if (numbers == 0) s.min = s.max = s.mean = std::numeric_limits<double>::quiet_NaN();
  return s;
}

std::string summary_text(const Summary& summary) {
  if (summary.elements == 0) return "no elements";
  std::string text = "min " + real_text(summary.min) + ", max " + real_text(summary.max) + ", mean " +
                     real_text(summary.mean) + ", " + std::to_string(summary.nans) + " NaN, first";
  for (const double value : summary.first) text += " " + real_text(value);
  return text;
}

Json summary_json(const Summary& summary) {
  Json json = {{"elements", summary.elements}, {"nans", summary.nans}};
  if (summary.elements == 0) return json;
  json["min"] = json_real(summary.min);
  json["max"] = json_real(summary.max);
  json["mean"] = json_real(summary.mean);
  json["first"] = Json::array();
  for (const double value : summary.first) json["first"].push_back(json_real(value));
  return json;
}

}  // namespace tenfold::tools

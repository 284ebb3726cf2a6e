// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/case.hpp"

#include <algorithm>
#include <array>

#include "tools/report.hpp"

namespace tenfold::tools::bench {
namespace {

constexpr std::array<ReductionRow, 12> kReductions{{
    {"ArgMax", "argmax", true},
    {"ArgMin", "argmin", true},
    {"ReduceL1", "l1"},
    {"ReduceL2", "l2"},
    {"ReduceLogSum", "log_sum"},
    {"ReduceLogSumExp", "log_sum_exp"},
    {"ReduceMax", "max"},
    {"ReduceMean", "mean"},
    {"ReduceMin", "min"},
    {"ReduceProd", "prod"},
    {"ReduceSum", "sum"},
    {"ReduceSumSquare", "sum_square"},
}};

constexpr std::array<std::string_view, 7> kFamilies{"last", "first", "middle", "several", "apart", "full", "graph"};

/// Which of the dims above 1 are reduced, in their order; axes out of range are nobody's.
std::vector<bool> reduced_dims(const Case& what) {
  const auto rank = static_cast<std::int64_t>(what.shape.size());
  std::vector<bool> reduced;
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    if (what.shape[static_cast<std::size_t>(dim)] == 1) continue;
    reduced.push_back(std::any_of(what.axes.begin(), what.axes.end(),
                                  [&](std::int64_t axis) { return axis == dim || axis + rank == dim; }));
  }
  return reduced;
}

}  // namespace

std::span<const ReductionRow> reductions() noexcept { return kReductions; }

const ReductionRow* find_reduction(std::string_view name) noexcept {
  const auto* const row =
      std::find_if(kReductions.begin(), kReductions.end(), [name](const ReductionRow& r) { return r.name == name; });
  return row == kReductions.end() ? nullptr : row;
}

std::vector<DType> kernel_dtypes() {
  std::vector<DType> dtypes;
  for (const DTypeRow& row : kDTypes)
    if (row.dtype != DType::undef && row.bits >= 8 && row.dtype != DType::f8_e5m2 && row.dtype != DType::f8_e4m3)
      dtypes.push_back(row.dtype);
  return dtypes;
}

std::string name_of(const Case& what) {
  std::string name = what.graph;
  for (const std::string& shape : what.input_shapes) name += " " + shape;
  if (what.graph.empty()) {
    name = what.op + " " + std::string(to_string(what.dtype)) + " " + to_string(what.shape) + " axes " +
           to_string(what.axes);
    if (!what.strides.empty()) name += " strides " + to_string(what.strides);
    if (what.keep_dims) name += " keep_dims";
    if (what.with_extreme) name += " with_extreme";
  }
  if (!what.target.empty()) name += " " + what.target;
  if (what.threads != 1) name += " threads " + std::to_string(what.threads);
  if (what.cold) name += " cold";
  return name;
}

std::string_view family_of(const Case& what) {
  if (!what.graph.empty()) return "graph";
  const std::vector<bool> reduced = reduced_dims(what);
  const auto count = std::count(reduced.begin(), reduced.end(), true);
  if (static_cast<std::size_t>(count) == reduced.size()) return "full";
  const auto first = std::find(reduced.begin(), reduced.end(), true);
  if (first == reduced.end()) return "last";
  const auto after = std::find(first, reduced.end(), false);
  if (after - first != count) return "apart";
  if (count > 1) return "several";
  if (after == reduced.end()) return "last";
  return first == reduced.begin() ? "first" : "middle";
}

std::span<const std::string_view> families() noexcept { return kFamilies; }

}  // namespace tenfold::tools::bench

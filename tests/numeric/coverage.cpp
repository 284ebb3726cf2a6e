// SPDX-License-Identifier: Apache-2.0
#include "coverage.hpp"

#include <algorithm>
#include <numeric>

namespace tenfold::numeric {

std::string_view to_string(AxesClass axes) {
  constexpr std::array<std::string_view, kAxesClasses.size()> kNames{"none",  "first",  "middle", "last",
                                                                     "apart", "around", "all"};
  return kNames[static_cast<std::size_t>(axes)];
}

std::pair<std::size_t, std::vector<std::int64_t>> draw_axes(AxesClass axes, std::mt19937_64& random) {
  constexpr std::size_t kMostRank = 4;
  const auto between = [&](std::size_t least, std::size_t most) { return least + random() % (most - least + 1); };
  const auto range = [](std::size_t from, std::size_t count) {
    std::vector<std::int64_t> dims(count);
    std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(from));
    return dims;
  };
  switch (axes) {
    case AxesClass::none: return {between(0, kMostRank), {}};
    case AxesClass::all: {
      const std::size_t rank = between(1, kMostRank);
      return {rank, range(0, rank)};
    }
    case AxesClass::first: {
      const std::size_t rank = between(2, kMostRank);
      return {rank, range(0, between(1, rank - 1))};
    }
    case AxesClass::last: {
      const std::size_t rank = between(2, kMostRank), count = between(1, rank - 1);
      return {rank, range(rank - count, count)};
    }
    case AxesClass::middle: {
      const std::size_t rank = between(3, kMostRank), from = between(1, rank - 2);
      return {rank, range(from, between(1, rank - 1 - from))};
    }
    case AxesClass::apart: return {kMostRank, {0, 2}};
    case AxesClass::around: break;
  }
  constexpr std::array<std::int64_t, 3> kMore{-1, 1, 2};
  const std::int64_t more = kMore[random() % kMore.size()];
  if (more < 0) return {3, {0, 2}};
  return {kMostRank, more == 1 ? std::vector<std::int64_t>{0, 1, 3} : std::vector<std::int64_t>{0, 2, 3}};
}

std::vector<std::string> nests_of(const compiler::Compiled& compiled) {
  std::vector<std::string> found;
  const auto add = [&](std::string name) {
    if (std::ranges::find(found, name) == found.end()) found.push_back(std::move(name));
  };
  for (const compiler::RegionReport& region : compiled.regions) {
    if (region.kind == compiler::RegionReport::Kind::reference) add("reference");
    if (region.kind == compiler::RegionReport::Kind::nothing) add("nothing");
    for (const compiler::KernelReport& kernel : region.kernels)
      add(std::string(schedule::to_string(kernel.schedule.nest)));
  }
  return found;
}

void Coverage::count(const std::string& op, std::string_view axes, const compiler::Compiled& compiled,
                     target::Isa isa) {
  for (const std::string& nest : nests_of(compiled)) ++cells_[{op, std::string(axes), nest}][isa];
}

std::int64_t Coverage::cases(const std::string& op, std::string_view axes, std::string_view nest,
                             target::Isa isa) const {
  const auto cell = cells_.find({op, std::string(axes), std::string(nest)});
  if (cell == cells_.end()) return 0;
  const auto count = cell->second.find(isa);
  return count == cell->second.end() ? 0 : count->second;
}

std::string Coverage::table(std::string_view title, std::span<const target::Isa> levels) const {
  std::string text = std::string(title) + ", cases on";
  for (const target::Isa isa : levels)
    text += (isa == levels.front() ? " " : "/") + std::string(target::to_string(isa));
  std::string op;
  for (const auto& [key, counts] : cells_) {
    if (op != std::get<0>(key)) text += "\n  " + std::get<0>(key) + ":";
    op = std::get<0>(key);
    text += " " + std::get<1>(key) + (std::get<1>(key).empty() ? "" : " ") + std::get<2>(key);
    for (const target::Isa isa : levels) {
      const auto count = counts.find(isa);
      text += (isa == levels.front() ? " " : "/") + std::to_string(count == counts.end() ? 0 : count->second);
    }
    text += ",";
  }
  return text + "\n";
}

std::string Coverage::missing(std::span<const std::string> ops,
                              std::span<const std::pair<std::string_view, std::string_view>> pairs,
                              std::span<const target::Isa> levels) const {
  std::string text;
  for (const std::string& op : ops)
    for (const auto& [axes, nests] : pairs)
      for (const target::Isa isa : levels) {
        std::int64_t count = 0;
        for (std::size_t from = 0; from <= nests.size();) {
          const std::size_t to = std::min(nests.find('|', from), nests.size());
          count += cases(op, axes, nests.substr(from, to - from), isa);
          from = to + 1;
        }
        if (count == 0)
          text += op + ", axes " + std::string(axes) + ", " + std::string(nests) + " on " +
                  std::string(target::to_string(isa)) + "\n";
      }
  return text;
}

}  // namespace tenfold::numeric

// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/html_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "tools/bench/append.hpp"

namespace tenfold::tools::bench {
namespace {

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", bytes, kUnits[unit]);
  return text;
}

/// A logarithmic axis from `low` to `high`, on pixels.
struct LogAxis {
  double low, high, begin, end;
  double at(double value) const {
    return begin + (end - begin) * (std::log2(value) - std::log2(low)) / (std::log2(high) - std::log2(low));
  }
};

struct Plot {
  static constexpr double kWidth = 920, kHeight = 420, kLeft = 64, kRight = 16, kTop = 16, kBottom = 48;
  LogAxis x, y;
};

Plot plot_of(const BenchRun& run) {
  double x_low = 1e300, x_high = 0, y_low = 1e300, y_high = 0;
  for (const CaseResult& result : run.results) {
    if (!result.not_run.empty()) continue;
    x_low = std::min(x_low, result.bytes());
    x_high = std::max(x_high, result.bytes());
    for (const Timed& timed : result.timed) {
      const double rate = result.rate(timed.timing.least);
      y_low = std::min(y_low, rate);
      y_high = std::max(y_high, rate);
    }
  }
  const auto below = [](double value) { return std::exp2(std::floor(std::log2(value))); };
  const auto above = [](double value) { return std::exp2(std::ceil(std::log2(value) + 0.01)); };
  return {{below(x_low), above(x_high), Plot::kLeft + 10, Plot::kWidth - Plot::kRight - 10},
          {below(y_low), above(y_high), Plot::kHeight - Plot::kBottom, Plot::kTop}};
}

void append_grid(std::string& svg, const Plot& plot) {
  // About eight labels on either axis, whatever it spans.
  const auto stride = [](const LogAxis& axis) {
    return std::exp2(std::max(1.0, std::ceil(std::log2(axis.high / axis.low) / 8)));
  };
  for (double rate = plot.y.low; rate <= plot.y.high * 1.01; rate *= stride(plot.y)) {
    append(svg, "<line class=grid x1=%.0f x2=%.0f y1=%.1f y2=%.1f />", Plot::kLeft, Plot::kWidth - Plot::kRight,
           plot.y.at(rate), plot.y.at(rate));
    append(svg, "<text class=tick x=%.0f y=%.1f text-anchor=end>%.4g</text>", Plot::kLeft - 8, plot.y.at(rate) + 4,
           rate);
  }
  for (double bytes = plot.x.low; bytes <= plot.x.high * 1.01; bytes *= stride(plot.x))
    append(svg, "<text class=tick x=%.1f y=%.0f text-anchor=middle>%s</text>", plot.x.at(bytes),
           Plot::kHeight - Plot::kBottom + 20, bytes_text(bytes).c_str());
  append(svg, "<text class=axis x=%.0f y=%.0f text-anchor=middle>bytes read and written</text>", Plot::kWidth / 2,
         Plot::kHeight - 8);
  append(svg, "<text class=axis transform='translate(14 %.0f) rotate(-90)' text-anchor=middle>GB/s</text>",
         (Plot::kHeight - Plot::kBottom) / 2);
}

/// A line through the roofs' geometric means, one point for each power of two of bytes.
void append_roof(std::string& svg, const BenchRun& run, const Plot& plot) {
  struct Sum {
    double x = 0, y = 0;
    int count = 0;
  };
  std::map<int, Sum> points;
  for (const CaseResult& result : run.results) {
    if (!result.not_run.empty() || result.roof <= 0) continue;
    Sum& sum = points[static_cast<int>(std::lround(std::log2(result.bytes())))];
    sum.x += std::log2(result.bytes());
    sum.y += std::log2(result.rate(result.roof));
    ++sum.count;
  }
  svg += "<polyline class='line roof' points='";
  for (const auto& [power, sum] : points)
    append(svg, "%.1f,%.1f ", plot.x.at(std::exp2(sum.x / sum.count)), plot.y.at(std::exp2(sum.y / sum.count)));
  svg += "'/>";
}

void append_dots(std::string& svg, const BenchRun& run, const Plot& plot, bool ours) {
  for (const CaseResult& result : run.results) {
    if (!result.not_run.empty()) continue;
    for (const Timed& timed : result.timed) {
      if (timed.role != (ours ? Role::tenfold : Role::rival)) continue;
      const double rate = result.rate(timed.timing.least);
      append(svg, "<circle class='dot %s' cx=%.1f cy=%.1f r=%s><title>%s\n%s: %.2f GB/s</title></circle>",
             colour_class(timed.timing.name).c_str(), plot.x.at(result.bytes()), plot.y.at(rate), ours ? "4" : "3",
             escaped(result.name).c_str(), escaped(timed.timing.name).c_str(), rate);
    }
  }
}

struct Bar {
  std::string name;
  double value;
  std::string label;
};

/// Where bars are drawn: the first one's corner, how wide `most`, the end of their scale, is, and how they follow.
struct BarArea {
  static constexpr double kHeight = 12, kStep = 15;
  double x, y, width, most;

  double length(double value) const { return width * std::min(value, most) / most; }
  static double height(std::size_t bars) { return kStep * static_cast<double>(bars); }
};

/// Horizontal bars on a common scale.
void append_bars(std::string& svg, const std::vector<Bar>& bars, const BarArea& area) {
  double y = area.y;
  for (const Bar& bar : bars) {
    const double length = area.length(bar.value);
    append(svg, "<rect class='bar %s' x=%.0f y=%.1f width=%.1f height=%.0f rx=2 />", colour_class(bar.name).c_str(),
           area.x, y, std::max(1.0, length), BarArea::kHeight);
    append(svg, "<text class=value x=%.1f y=%.1f>%s</text>", area.x + length + 6, y + 10, bar.label.c_str());
    y += BarArea::kStep;
  }
}

std::string percent(double part) {
  char text[16];
  std::snprintf(text, sizeof text, "%.*f %%", part < 0.1 ? 1 : 0, 100 * part);
  return text;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string colour_class(const std::string& contender) {
  const std::string name = rival_name(contender);
  if (name == "tenfold") return "ours";
  if (name == "oneDNN") return "onednn";
  return name.find("fast-math") != std::string::npos ? "fast" : "loops";
}

std::string roofline_svg(const BenchRun& run) {
  const Plot plot = plot_of(run);
  std::string svg;
  append(svg, "<svg viewBox='0 0 %.0f %.0f' role=img aria-label='Throughput against bytes'>", Plot::kWidth,
         Plot::kHeight);
  append_grid(svg, plot);
  append_dots(svg, run, plot, false);
  append_roof(svg, run, plot);
  append_dots(svg, run, plot, true);
  return svg + "</svg>";
}

std::string families_svg(const BenchRun& run) {
  constexpr double kLabel = 150, kWidth = 920, kGap = 14, kMost = 1.1;
  const double width = kWidth - kLabel - 70;
  std::string groups;
  double y = 24;
  for (const FamilySummary& family : summarise_families(run.results)) {
    if (family.of_roof <= 0) continue;
    std::vector<Bar> bars{{"tenfold", family.of_roof, percent(family.of_roof)}};
    for (const FamilySummary::Versus& versus : family.versus)
      bars.push_back({versus.rival, versus.of_roof, percent(versus.of_roof)});
    append(groups, "<text class=label x=%.0f y=%.1f text-anchor=end>%s</text>", kLabel - 12, y + 11,
           std::string(family.family).c_str());
    append(groups, "<text class=tick x=%.0f y=%.1f text-anchor=end>%zu case%s</text>", kLabel - 12, y + 25,
           family.cases, family.cases == 1 ? "" : "s");
    append_bars(groups, bars, {kLabel, y, width, kMost});
    // The label beside them is two lines high.
    y += BarArea::height(std::max<std::size_t>(bars.size(), 2)) + kGap;
  }
  std::string svg;
  append(svg, "<svg viewBox='0 0 %.0f %.0f' role=img aria-label='Part of the roof by family'>", kWidth, y);
  for (const double part : {0.25, 0.5, 0.75, 1.0}) {
    const double x = kLabel + width * part / kMost;
    append(svg, "<line class='grid %s' x1=%.1f x2=%.1f y1=18 y2=%.0f />", part == 1.0 ? "roofmark" : "", x, x, y - 10);
    append(svg, "<text class=tick x=%.1f y=12 text-anchor=middle>%s</text>", x,
           part == 1.0 ? "the roof" : percent(part).c_str());
  }
  return svg + groups + "</svg>";
}

std::string case_svg(const CaseResult& result) {
  std::vector<Bar> bars;
  double most = 1.0;
  for (const Timed& timed : result.timed) {
    if (timed.role != Role::tenfold && timed.role != Role::rival) continue;
    const double part = result.of_roof(timed.timing);
    most = std::max(most, part);
    bars.push_back({timed.timing.name, part,
                    percent(part) + (timed.role == Role::rival ? " &#183; " + versus_text(result, timed.timing) : "")});
  }
  constexpr double kWidth = 320;
  const double height = BarArea::height(bars.size()) + 2;
  std::string svg;
  append(svg, "<svg class=case viewBox='0 0 420 %.0f'>", height);
  append(svg, "<line class='grid roofmark' x1=%.1f x2=%.1f y1=0 y2=%.0f />", kWidth / most, kWidth / most, height);
  append_bars(svg, bars, {0, 1, kWidth, most});
  return svg + "</svg>";
}

}  // namespace tenfold::tools::bench

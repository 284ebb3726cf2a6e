// SPDX-License-Identifier: Apache-2.0
//
// The HTML report: one page that needs nothing but itself, in light and in dark.
#include <algorithm>
#include <cstdio>

#include "tools/bench/append.hpp"
#include "tools/bench/html_chart.hpp"

namespace tenfold::tools::bench {
namespace {

constexpr const char* kStyle = R"css(
:root{--page:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#68707b;--line:#e4e6ea;--ours:#0b7a75;--onednn:#c2571a;
--loops:#8a93a0;--fast:#b9a03a;--roof:#3b3f46}
@media(prefers-color-scheme:dark){:root{--page:#14171b;--card:#1c2026;--ink:#e8eaed;--soft:#9aa3ae;--line:#2d333b;
--ours:#35c0b6;--onednn:#f08a4b;--loops:#77808c;--fast:#d4bd5a;--roof:#cfd3d9}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1000px;margin:0 auto;padding:40px 20px 80px}
h1{font-size:30px;line-height:1.2;margin:0 0 6px;letter-spacing:-.02em}
h2{font-size:19px;margin:44px 0 4px;letter-spacing:-.01em}
h3{font-size:15px;margin:28px 0 8px;text-transform:capitalize}
p{margin:0 0 14px;max-width:72ch}.soft{color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:24px 0 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.tile b{display:block;font-size:26px;line-height:1.2;font-variant-numeric:tabular-nums;letter-spacing:-.02em}
.tile span{color:var(--soft);font-size:13px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px;margin:12px 0}
svg{display:block;width:100%;height:auto}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;font-size:13px;margin:0 0 8px}
.legend i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px;vertical-align:-1px}
.grid{stroke:var(--line)}.roofmark{stroke:var(--roof);stroke-dasharray:3 3}
.tick,.value{fill:var(--soft);font-size:11px;font-variant-numeric:tabular-nums}
.value{stroke:var(--card);stroke-width:3px;paint-order:stroke}
.axis{fill:var(--soft);font-size:12px}.label{fill:var(--ink);font-size:13px;font-weight:600}
.line{fill:none;stroke-width:2.5;stroke-linejoin:round}.line.roof{stroke:var(--roof)}
.dot{fill-opacity:.72}.dot.ours{fill-opacity:.95;stroke:var(--card);stroke-width:.8}
.ours{fill:var(--ours)}.onednn{fill:var(--onednn)}.loops{fill:var(--loops)}.fast{fill:var(--fast)}
i.ours{background:var(--ours)}i.onednn{background:var(--onednn)}i.loops{background:var(--loops)}
i.fast{background:var(--fast)}i.roof{background:var(--roof)}
table{border-collapse:collapse;width:100%;font-size:13px}
th{font-weight:600;color:var(--soft);text-align:left;border-bottom:1px solid var(--line);padding:6px 8px}
td{border-bottom:1px solid var(--line);padding:8px;vertical-align:top}
tr:last-child td{border-bottom:0}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.bars{width:42%}td.bars svg{max-width:420px}
code{font:12px/1.45 ui-monospace,SFMono-Regular,Menlo,monospace;color:var(--soft);overflow-wrap:anywhere}
.low{color:var(--onednn);font-weight:600}
@media(max-width:720px){td.bars{width:auto}table,tbody,tr,td{display:block;border:0}thead{display:none}
tr{border-bottom:1px solid var(--line);padding:8px 0}td,td.n{text-align:left;padding:2px 0}}
)css";

void append_tile(std::string& out, const std::string& value, const std::string& what) {
  out += "<div class=tile><b>" + value + "</b><span>" + what + "</span></div>";
}

std::string times(double ratio) {
  char text[24];
  std::snprintf(text, sizeof text, "%.2f&times;", ratio);
  return text;
}

void append_tiles(std::string& out, const BenchRun& run, const FamilySummary& all) {
  out += "<div class=tiles>";
  char text[64];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * all.of_roof);
  append_tile(out, text, "of the roof, geometric mean");
  std::snprintf(text, sizeof text, "%.1f %%", 100 * all.least_of_roof);
  append_tile(out, text, "of the roof in the least case");
  const auto near = std::count_if(run.results.begin(), run.results.end(), [](const CaseResult& result) {
    return result.not_run.empty() && result.of_roof(result.tenfold()) >= 0.95;
  });
  append_tile(out, std::to_string(near) + " of " + std::to_string(all.cases), "cases at 95 % of the roof or above");
  for (const FamilySummary::Versus& versus : all.versus)
    append_tile(out, times(versus.ratio),
                "as fast as " + escaped(versus.rival) + "; ahead in " + std::to_string(versus.ahead) + ", level in " +
                    std::to_string(versus.cases - versus.ahead - versus.behind) + ", behind in " +
                    std::to_string(versus.behind));
  out += "</div>";
}

void append_legend(std::string& out, const FamilySummary& all, bool with_roof) {
  out += "<div class=legend>";
  if (with_roof) out += "<span><i class=roof></i>the machine&#39;s roof</span>";
  out += "<span><i class=ours></i>tenfold</span>";
  for (const FamilySummary::Versus& versus : all.versus)
    out += "<span><i class=" + colour_class(versus.rival) + "></i>" + escaped(versus.rival) + "</span>";
  out += "</div>";
}

void append_case(std::string& out, const CaseResult& result) {
  out += "<tr><td>" + escaped(result.name);
  for (const std::string& schedule : result.schedules) out += "<br><code>" + escaped(schedule) + "</code>";
  if (!result.not_run.empty()) {
    out += "</td><td colspan=4 class=soft>not run: " + escaped(result.not_run) + "</td></tr>";
    return;
  }
  const Timing& ours = result.tenfold();
  out += "</td><td class=n>" + escaped(time_text(ours.least)) + "</td>";
  append(out, "<td class=n>%.2f</td>", result.rate(ours.least));
  append(out, "<td class=n>&plusmn;%.1f %%</td>", 100 * result.noise);
  out += "<td class=bars>" + case_svg(result) + "</td></tr>";
}

void append_cases(std::string& out, const BenchRun& run, std::string_view family) {
  const auto is_member = [family](const CaseResult& result) { return result.family == family; };
  if (std::none_of(run.results.begin(), run.results.end(), is_member)) return;
  out += "<h3>" + std::string(family) +
         "</h3><div class=card><table><thead><tr><th>case and schedule</th>"
         "<th class=n>least</th><th class=n>GB/s</th><th class=n>noise</th><th>part of the roof; how much faster "
         "we are</th></tr></thead><tbody>";
  for (const CaseResult& result : run.results)
    if (is_member(result)) append_case(out, result);
  out += "</tbody></table></div>";
}

void append_machine(std::string& out, const BenchRun& run) {
  append(out, "<p class=soft>%s, %d core%s, %s. L1 %lld KiB, L2 %lld KiB, L3 %lld KiB. %s. %.3g s a case%s.</p>",
         escaped(run.cpu).c_str(), run.cores, run.cores == 1 ? "" : "s", escaped(run.isa).c_str(),
         static_cast<long long>(run.l1_bytes >> 10), static_cast<long long>(run.l2_bytes >> 10),
         static_cast<long long>(run.l3_bytes >> 10), escaped(run.date).c_str(), run.seconds,
         run.stopped ? "; <b>stopped before the end</b>" : "");
}

}  // namespace

std::string html_page(const BenchRun& run) {
  std::string out =
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content='width=device-width,initial-scale=1'><title>Tenfold: benchmark</title><style>";
  out += kStyle;
  out += "</style><main><h1>Tenfold against the machine</h1>";
  append_machine(out, run);
  const std::vector<FamilySummary> families_seen = summarise_families(run.results);
  if (families_seen.empty()) return out + "<p>No case ran.</p></main></html>\n";
  const FamilySummary& all = families_seen.back();
  append_tiles(out, run, all);
  out +=
      "<h2>The roofline</h2><p class=soft>Each dot is one contender in one case: bytes that the case has to move, and "
      "how fast they were. The line is what this machine reads or copies when it does nothing else. Hover for "
      "names.</p><div class=card>";
  append_legend(out, all, true);
  out += roofline_svg(run) + "</div>";
  out +=
      "<h2>By family</h2><p class=soft>Where the reduced axes lie. Geometric means of the part of the roof.</p>"
      "<div class=card>";
  append_legend(out, all, false);
  out += families_svg(run) + "</div>";
  out +=
      "<h2>Every case</h2><p class=soft>Least time of a call; all contenders took turns. The dashed line is the roof. "
      "&ldquo;=&rdquo;: the difference is within the noise, which the same kernel showed against itself.</p>";
  for (const std::string_view family : families()) append_cases(out, run, family);
  return out + "</main></html>\n";
}

}  // namespace tenfold::tools::bench

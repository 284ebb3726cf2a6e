// SPDX-License-Identifier: Apache-2.0
#include "api/verbose.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <map>
#include <string>

#include "target/environment.hpp"

namespace tenfold::api {
namespace {

/// Six digits and a point, whatever the process' locale has in its place.
std::string milliseconds_text(std::chrono::nanoseconds took) {
  std::array<char, 32> text{};
  const double milliseconds = static_cast<double>(took.count()) * 1e-6;
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), milliseconds, std::chars_format::general, 6);
  return {text.data(), end.ptr};
}

/// "kernel:3 reference:1": how many regions of each kind.
std::string regions_text(const compiler::Compiled& compiled) {
  std::map<compiler::RegionReport::Kind, int> counts;
  for (const compiler::RegionReport& region : compiled.regions) ++counts[region.kind];
  std::string text;
  for (const auto& [kind, count] : counts)
    text += (text.empty() ? "" : " ") + std::string(to_string(kind)) + ":" + std::to_string(count);
  return text.empty() ? "empty" : text;
}

}  // namespace

std::int64_t verbose_number() {
  static std::atomic<std::int64_t> last{0};
  return target::environment().verbose > 0 ? last.fetch_add(1, std::memory_order_relaxed) + 1 : 0;
}

void say_compiled(const CompiledPartition::Impl& impl, std::size_t ops, std::chrono::nanoseconds took) {
  if (impl.verbose_number == 0) return;
  std::fprintf(stderr, "tenfold_verbose,compile,%lld,%s,cores:%d,ops:%zu,%s,%s\n",
               static_cast<long long>(impl.verbose_number), std::string(target::to_string(impl.target.isa)).c_str(),
               impl.target.cores, ops, impl.fixed ? regions_text(impl.fixed->compiled).c_str() : "run-time axes",
               milliseconds_text(took).c_str());
  for (const std::string& notice : impl.notices)
    std::fprintf(stderr, "tenfold_verbose,notice,%lld,%s\n", static_cast<long long>(impl.verbose_number),
                 notice.c_str());
  if (!impl.fixed) return;
  for (const std::string& notice : impl.fixed->compiled.notices)
    std::fprintf(stderr, "tenfold_verbose,notice,%lld,%s\n", static_cast<long long>(impl.verbose_number),
                 notice.c_str());
  for (const compiler::RegionReport& region : impl.fixed->compiled.regions)
    if (region.kind == compiler::RegionReport::Kind::reference)
      std::fprintf(stderr, "tenfold_verbose,reference,%lld,%s,%s\n", static_cast<long long>(impl.verbose_number),
                   region.ops.empty() ? "" : region.ops.back().c_str(), region.reason.c_str());
}

void say_executed(const CompiledPartition::Impl& impl, const Status& status, std::chrono::nanoseconds took) {
  if (impl.verbose_number == 0 || target::environment().verbose < 2) return;
  std::fprintf(stderr, "tenfold_verbose,execute,%lld,%s,%s\n", static_cast<long long>(impl.verbose_number),
               to_string(status.code()), milliseconds_text(took).c_str());
}

}  // namespace tenfold::api

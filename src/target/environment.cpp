// SPDX-License-Identifier: Apache-2.0
#include "target/environment.hpp"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "target/fork.hpp"

namespace tenfold::target {
namespace {

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view first = list.substr(0, list.find(','));
    if (first == word) return true;
    list.remove_prefix(first.size() + (first.size() < list.size() ? 1 : 0));
  }
  return false;
}

}  // namespace

Environment read_environment(const char* (*read)(const char* name)) {
  const auto text = [read](const char* name) {
    const char* const value = read(name);
    return std::string(value == nullptr ? "" : value);
  };
  Environment found;
  found.max_cpu_isa = text("TENFOLD_MAX_CPU_ISA");
  const std::string verbose = text("TENFOLD_VERBOSE");
  found.verbose = verbose == "1" ? 1 : verbose == "2" ? 2 : 0;
  const std::string profile = text("TENFOLD_JIT_PROFILE");
  found.perf_map = has_word(profile, "perfmap");
  found.jit_dump = has_word(profile, "jitdump");
  found.dump_folder = text("TENFOLD_JIT_DUMP");
  found.tuning_file = text("TENFOLD_TUNING");
  const auto size = [&text](const char* name, std::size_t& number) {
    const std::string given = text(name);
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error == std::errc() && stop == given.data() + given.size()) number = value;
  };
  size("TENFOLD_COMPILED_PARTITION_CACHE_CAPACITY", found.partition_cache_capacity);
  size("TENFOLD_COMPILED_PARTITION_CACHE_BYTES", found.partition_cache_bytes);
  size("TENFOLD_CONSTANT_CACHE_BYTES", found.constant_cache_bytes);
  return found;
}

const Environment& environment() {
  static std::atomic<const Environment*> found;
  return one_of_process(
      found, [] { return read_environment([](const char* name) -> const char* { return std::getenv(name); }); });
}

}  // namespace tenfold::target

// SPDX-License-Identifier: Apache-2.0
//
// Available memory, from the system's files; see memory.hpp.
#include "tools/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "target/cgroup.hpp"

namespace tenfold::tools {

namespace {

/// The number behind "name" in lines of "name 123" or "name: 123 kB".
std::optional<std::int64_t> field_of(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t value = 0;
    if (words >> word >> value && (word == name || word == name + ":")) return value;
  }
  return std::nullopt;
}

/// The one number that a file holds; nullopt for "max" too.
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// Names of the files of one version of cgroups.
struct Names {
  const char *limit, *usage, *inactive, *active;
};
constexpr Names kV2{"/memory.max", "/memory.current", "inactive_file", "active_file"};
constexpr Names kV1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file", "total_active_file"};

void lower(std::optional<std::int64_t>& least, std::optional<std::int64_t> value) {
  if (value) least = std::min(least.value_or(*value), *value);
}

/// What a folder's limit leaves. Pages of files are given back when they are wanted.
std::optional<std::int64_t> left_in(const std::string& folder, const Names& names) {
  const auto limit = number_in(folder + names.limit), usage = number_in(folder + names.usage);
  if (!limit || !usage) return std::nullopt;
  const std::string stat = folder + "/memory.stat";
  const std::int64_t files = field_of(stat, names.inactive).value_or(0) + field_of(stat, names.active).value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - files));
}

}  // namespace

std::optional<std::int64_t> available_bytes(const std::string& root) {
  std::optional<std::int64_t> least;
  if (const auto kibibytes = field_of(root + "/proc/meminfo", "MemAvailable")) least = *kibibytes * 1024;
  for (const target::CgroupFolder& folder : target::cgroup_folders(root, "memory"))
    lower(least, left_in(folder.path, folder.version == 1 ? kV1 : kV2));
  return least;
}

Status check_memory(const std::string& what, std::int64_t bytes) {
  const std::optional<std::int64_t> available = available_bytes();
  if (!available || bytes <= *available) return Status();
  return Status(Code::out_of_memory, what + " of " + std::to_string(bytes) + " bytes are wanted, " +
                                         std::to_string(*available) + " bytes are available");
}

Result<std::int64_t> bytes_of(const std::vector<TensorInfo>& infos) {
  std::int64_t bytes = 0;
  for (const TensorInfo& info : infos) {
    if (!is_known(info.desc.shape)) continue;
    const Result<std::int64_t> span = span_bytes(info.desc);
    if (!span.ok()) return span.status();
    if (span.value() > std::numeric_limits<std::int64_t>::max() - bytes)
      return Status(Code::out_of_memory, "the tensors together are of more than 2^63 bytes");
    bytes += span.value();
  }
  return bytes;
}

}  // namespace tenfold::tools

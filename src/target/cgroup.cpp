// SPDX-License-Identifier: Apache-2.0
//
// The processor quota that a container has been given. Its files say "quota and period in microseconds"; a pool with
// more threads than quota / period is stopped for the rest of each period.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "target/host_facts.hpp"

namespace tenfold::target {
namespace {

std::optional<std::int64_t> to_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int> processors(const std::string& quota, const std::string& period) {
  const std::optional<std::int64_t> q = to_integer(quota), p = to_integer(period);
  // "max" and -1 mean that there is no limit.
  if (!q || !p || *q <= 0 || *p <= 0) return std::nullopt;
  constexpr std::int64_t kMost = 1 << 20;
  return static_cast<int>(std::clamp<std::int64_t>((*q - 1) / *p + 1, 1, kMost));
}

std::optional<int> quota_v2(const std::string& folder) {
  std::istringstream line(first_line(folder + "/cpu.max"));
  std::string quota, period;
  line >> quota >> period;
  return processors(quota, period);
}

std::optional<int> quota_v1(const std::string& folder) {
  return processors(first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us"));
}

/// The least quota from `path` up to the mount. In a container, the path may name folders that only the machine
/// outside sees; those have no files and the walk goes on to the mount itself, which is the container's own.
std::optional<int> least(const std::string& mount, std::string path, std::optional<int> (*quota)(const std::string&)) {
  std::optional<int> found;
  while (true) {
    const std::optional<int> here = quota(mount + path);
    if (here) found = std::min(found.value_or(*here), *here);
    const std::size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return found;
    path.resize(slash);
  }
}

bool lists_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  std::string name;
  while (std::getline(list, name, ','))
    if (name == "cpu") return true;
  return false;
}

}  // namespace

std::optional<int> cores_by_cgroup(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  std::optional<int> found;
  while (std::getline(file, line)) {
    // "0::/path" is version 2, "4:cpu,cpuacct:/path" version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    std::optional<int> here;
    if (controllers.empty()) here = least(root + "/sys/fs/cgroup", path, quota_v2);
    if (lists_cpu(controllers)) here = least(root + "/sys/fs/cgroup/cpu", path, quota_v1);
    if (here) found = std::min(found.value_or(*here), *here);
  }
  return found;
}

}  // namespace tenfold::target

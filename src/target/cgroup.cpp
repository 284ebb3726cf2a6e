// SPDX-License-Identifier: Apache-2.0
//
// The folders of a process's cgroups, and the processor quota that a container has been given. Its files say "quota and
// period in microseconds"; a pool with more threads than quota / period is stopped for the rest of each period.
#include "target/cgroup.hpp"

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

/// `path` and what is above it.
void add_folders(const std::string& mount, std::string path, int version, std::vector<CgroupFolder>& folders) {
  while (true) {
    folders.push_back({mount + path, version});
    const std::size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return;
    path.resize(slash);
  }
}

bool lists(const std::string& controllers, std::string_view controller) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == controller) return true;
  return false;
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(const std::string& root, std::string_view controller) {
  std::vector<CgroupFolder> folders;
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // "0::/path" is version 2, "4:cpu,cpuacct:/path" version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) add_folders(mount, path, 2, folders);
    if (lists(controllers, controller)) add_folders(mount + "/" + std::string(controller), path, 1, folders);
  }
  return folders;
}

std::optional<int> cores_by_cgroup(const std::string& root) {
  std::optional<int> least;
  for (const CgroupFolder& folder : cgroup_folders(root, "cpu")) {
    const std::optional<int> here = folder.version == 1 ? quota_v1(folder.path) : quota_v2(folder.path);
    if (here) least = std::min(least.value_or(*here), *here);
  }
  return least;
}

}  // namespace tenfold::target

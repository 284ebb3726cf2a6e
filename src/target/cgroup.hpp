// SPDX-License-Identifier: Apache-2.0
//
// Where a container's limits are written: the folders of the cgroups that a process is in. What their files say, those
// who read them know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenfold::target {

struct CgroupFolder {
  std::string path;
  int version = 2;  ///< of cgroups: files have other names in the first
};

/// The folders whose files limit what `controller` ("cpu", "memory") gives the calling process: its cgroup's and those
/// above it, up to the mount. In a container, some may be of names that only the machine outside sees; those do not
/// exist here, but the mount, which is the container's own, does. `root` is where the system's files are.
std::vector<CgroupFolder> cgroup_folders(const std::string& root, std::string_view controller);

}  // namespace tenfold::target

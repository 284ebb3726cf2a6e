// SPDX-License-Identifier: Apache-2.0
//
// The ranges that emulated code may touch: few of them, so they are searched one by one, from the last one met on.
#include "memory.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace tenfold::emulator {

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return "0x" + std::string(digits.data(), end.ptr);
}

void AddressSpace::allow(const void* data, std::size_t size, Access access, std::string name) {
  const auto begin = reinterpret_cast<std::uint64_t>(data);
  ranges_.push_back({begin, begin + size, access, std::move(name)});
}

bool AddressSpace::allowed(std::uint64_t address, std::size_t size, bool write, std::string& error) const {
  const Range* read_only = nullptr;
  for (std::size_t tried = 0, at = met_; tried < ranges_.size(); ++tried, ++at) {
    if (at >= ranges_.size()) at = 0;
    const Range& range = ranges_[at];
    if (address < range.begin || address > range.end || size > range.end - address) continue;
    met_ = at;
    if (!write || range.access == Access::read_write) return true;
    read_only = &range;
  }
  error = std::string(write ? "write" : "read") + " of " + std::to_string(size) + " bytes at " + hex(address);
  if (read_only != nullptr) {
    error += " in read-only range '" + read_only->name + "'";
    return false;
  }
  error += " is outside every range";
  for (const Range& range : ranges_) {
    if (address + size > range.begin && address < range.end)
      error += "; it crosses an end of '" + range.name + "' [" + hex(range.begin) + ", " + hex(range.end) + ")";
    else if (address >= range.end && address - range.end < 4096)
      error += "; " + std::to_string(address - range.end) + " bytes past '" + range.name + "'";
    else if (address < range.begin && range.begin - address < 4096)
      error += "; " + std::to_string(range.begin - address) + " bytes before '" + range.name + "'";
  }
  return false;
}

bool AddressSpace::load(std::uint64_t address, void* to, std::size_t size, std::string& error) const {
  if (!allowed(address, size, false, error)) return false;
  std::memcpy(to, reinterpret_cast<const void*>(address), size);
  return true;
}

bool AddressSpace::store(std::uint64_t address, const void* from, std::size_t size, std::string& error) const {
  if (!allowed(address, size, true, error)) return false;
  std::memcpy(reinterpret_cast<void*>(address), from, size);
  return true;
}

}  // namespace tenfold::emulator

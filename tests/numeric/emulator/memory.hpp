// SPDX-License-Identifier: Apache-2.0
//
// What emulated code may touch: registered ranges of the process's own memory, to the byte. Accesses go to the real
// bytes, so that operands need not be copied, but anything outside the ranges is refused with its address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenfold::emulator {

enum class Access : std::uint8_t { read, read_write };

class AddressSpace {
 public:
  /// Allows [data, data + size). Ranges may overlap; an access must lie within one of them.
  void allow(const void* data, std::size_t size, Access access, std::string name);
  void clear() { ranges_.clear(); }

  /// Copies from, or to, `address`. False, with the reason in `error`, when the access is not allowed.
  bool load(std::uint64_t address, void* to, std::size_t size, std::string& error) const;
  bool store(std::uint64_t address, const void* from, std::size_t size, std::string& error) const;

 private:
  struct Range {
    std::uint64_t begin, end;
    Access access;
    std::string name;
  };
  bool allowed(std::uint64_t address, std::size_t size, bool write, std::string& error) const;

  std::vector<Range> ranges_;
  mutable std::size_t met_ = 0;  ///< the range of the last access: the next is likely to lie there too
};

/// 0x-prefixed hexadecimal, for messages.
std::string hex(std::uint64_t value);

}  // namespace tenfold::emulator

// SPDX-License-Identifier: Apache-2.0
//
// Structs that grow from version to version: they begin with struct_size, new fields come last, and a field of zero
// means its default.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "tenfold/status.hpp"

namespace tenfold::capi {

/// The caller's struct in this version's form. A caller of an older version gives a shorter one, not below `first`, the
/// size in the first version that had it; what it lacks is zero. One of a newer version gives a longer one, and what
/// this version does not know of it must be zero.
template <class Struct>
Result<Struct> read_growing(const Struct& given, const char* name, std::size_t first = sizeof(Struct)) {
  constexpr std::size_t kMost = 4096;  // no struct of ours will be larger; garbage usually is
  const std::size_t size = given.struct_size;
  // Put together only when it is needed: this is on the way of every execution.
  const auto what = [&] { return std::string(name) + ": struct_size is " + std::to_string(size); };
  if (size < first || size > kMost)
    return Status(Code::invalid_argument, what() + "; it must be sizeof the struct, " + std::to_string(sizeof(Struct)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  if (size > sizeof(Struct) &&
      std::any_of(bytes + sizeof(Struct), bytes + size, [](unsigned char b) { return b != 0; }))
    return Status(Code::invalid_argument, what() + " and fields behind the " + std::to_string(sizeof(Struct)) +
                                              " bytes that this version knows are set");
  Struct known{};
  std::memcpy(&known, bytes, std::min(size, sizeof(Struct)));
  return known;
}

}  // namespace tenfold::capi

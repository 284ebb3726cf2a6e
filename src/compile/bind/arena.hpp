// SPDX-License-Identifier: Apache-2.0
//
// Where the temporaries of a program are in the memory that it borrows while it runs: blocks that are taken and given
// back in the order of its steps, so that what is no longer needed makes room for what comes.
#pragma once

#include <cstdint>
#include <map>

namespace tenfold::compiler {

class ArenaLayout {
 public:
  static constexpr std::int64_t kAlignment = 64;

  /// The offset of a block of so many bytes, a multiple of kAlignment: in the smallest hole that has room, or at the
  /// end. A block of none is nowhere in particular.
  std::int64_t take(std::int64_t bytes);
  /// Gives back what take() gave.
  void give(std::int64_t offset);

  /// What must be borrowed for all of it. Beyond what 64 bits count: the most that they do, which no system has.
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
  std::map<std::int64_t, std::int64_t> taken_, holes_;  ///< bytes by offset; no hole begins where another ends
};

}  // namespace tenfold::compiler

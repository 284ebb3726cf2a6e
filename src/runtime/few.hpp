// SPDX-License-Identifier: Apache-2.0
//
// Room for what is nearly always little: on the stack then, so that a run allocates only for absurd graphs. Not for
// anything that grows.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tenfold::runtime {

/// `count` elements, whose values are anything at first; up to `kFew` are in place.
template <class T, std::size_t kFew>
class FewOrMany {
 public:
  explicit FewOrMany(std::size_t count)
      : many_(count > kFew ? count : 0), all_(many_.empty() ? few_.data() : many_.data(), count) {}
  FewOrMany(const FewOrMany&) = delete;
  FewOrMany& operator=(const FewOrMany&) = delete;

  T& operator[](std::size_t i) { return all_[i]; }
  std::span<const T> all() const { return all_; }

 private:
  std::array<T, kFew> few_;
  std::vector<T> many_;
  std::span<T> all_;
};

}  // namespace tenfold::runtime

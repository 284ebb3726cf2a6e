// SPDX-License-Identifier: Apache-2.0
//
// The data of a constant: bytes that never change once they are there, and that copies of a value share. So a graph is
// copied, cut and compiled without copying its weights, and who holds a copy can tell by the address that they are the
// same.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tenfold::graph {

class ConstantData {
 public:
  using Bytes = std::vector<std::byte>;

  ConstantData() = default;
  /// Data are made as a vector and then handed over.
  ConstantData(Bytes bytes)  // NOLINT(google-explicit-constructor): a vector is what data are
      : shared_(bytes.empty() ? nullptr : std::make_shared<const Bytes>(std::move(bytes))) {}

  const std::byte* data() const noexcept { return shared_ == nullptr ? nullptr : shared_->data(); }
  std::size_t size() const noexcept { return shared_ == nullptr ? 0 : shared_->size(); }
  bool empty() const noexcept { return shared_ == nullptr; }
  const std::byte* begin() const noexcept { return data(); }
  const std::byte* end() const noexcept { return data() + size(); }
  const std::byte& operator[](std::size_t index) const { return (*shared_)[index]; }
  void clear() noexcept { shared_.reset(); }

  /// The bytes themselves, to be held beyond the value; null when there are none.
  const std::shared_ptr<const Bytes>& shared() const noexcept { return shared_; }

  friend bool operator==(const ConstantData& a, const ConstantData& b) {
    return a.shared_ == b.shared_ || (!a.empty() && !b.empty() && *a.shared_ == *b.shared_);
  }

 private:
  std::shared_ptr<const Bytes> shared_;
};

}  // namespace tenfold::graph

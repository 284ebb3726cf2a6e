// SPDX-License-Identifier: Apache-2.0
//
// The registers of the emulated CPU, as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenfold::emulator {

/// A 512-bit register, seen as lanes of any type.
struct Vector {
  alignas(64) std::array<std::uint8_t, 64> bytes{};

  template <class T>
  T get(int lane) const {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(lane) * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  void set(int lane, T value) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(lane) * sizeof(T), &value, sizeof(T));
  }
  friend bool operator==(const Vector&, const Vector&) = default;
};

enum Gpr : int { kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi };

struct Flags {
  bool zero = false, sign = false, carry = false, overflow = false, parity = false;
};

struct Machine {
  std::array<std::uint64_t, 16> gpr{};
  std::array<Vector, 32> vector{};
  std::array<std::uint64_t, 8> opmask{};
  Flags flags;
  std::uint64_t rip = 0;
};

}  // namespace tenfold::emulator

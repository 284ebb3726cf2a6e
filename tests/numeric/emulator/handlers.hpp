// SPDX-License-Identifier: Apache-2.0
//
// The table of what each mnemonic does, and the generic shapes of handlers: a lane function and how it is spread over
// a register. Each .cpp of the folder fills in one family.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "step.hpp"

namespace tenfold::emulator {

using Handler = std::function<void(Step&)>;

class HandlerTable {
 public:
  void add(ZydisMnemonic mnemonic, Handler handler) {
    handlers_[static_cast<std::size_t>(mnemonic)] = std::move(handler);
  }
  void add(std::initializer_list<ZydisMnemonic> mnemonics, const Handler& handler) {
    for (const ZydisMnemonic m : mnemonics) add(m, handler);
  }
  const Handler* find(ZydisMnemonic mnemonic) const {
    const Handler& handler = handlers_[static_cast<std::size_t>(mnemonic)];
    return handler ? &handler : nullptr;
  }

 private:
  std::vector<Handler> handlers_ = std::vector<Handler>(ZYDIS_MNEMONIC_MAX_VALUE + 1);  ///< by mnemonic
};

void add_general(HandlerTable& table);
void add_moves(HandlerTable& table);
void add_opmasks(HandlerTable& table);
void add_float(HandlerTable& table);
void add_convert(HandlerTable& table);
void add_integer(HandlerTable& table);
void add_shift(HandlerTable& table);
void add_shuffle(HandlerTable& table);
void add_permute(HandlerTable& table);

/// All families; made once.
const HandlerTable& handlers();

/// dst[i] = f(src[i])
template <class T, class F>
Handler unary(F f) {
  return [f](Step& s) {
    const int n = s.lanes<T>();
    const Vector a = s.lanes_of<T>(1, n);
    Vector r;
    for (int i = 0; i < n; ++i) r.set<T>(i, static_cast<T>(f(a.get<T>(i))));
    s.put<T>(0, r, n);
  };
}

/// dst[i] = f(src1[i], src2[i])
template <class T, class F>
Handler binary(F f) {
  return [f](Step& s) {
    const int n = s.lanes<T>();
    const Vector a = s.lanes_of<T>(1, n), b = s.lanes_of<T>(2, n);
    Vector r;
    for (int i = 0; i < n; ++i) r.set<T>(i, static_cast<T>(f(a.get<T>(i), b.get<T>(i))));
    s.put<T>(0, r, n);
  };
}

/// dst[i] = f(dst[i], src1[i], src2[i])
template <class T, class F>
Handler ternary(F f) {
  return [f](Step& s) {
    const int n = s.lanes<T>();
    const Vector d = s.lanes_of<T>(0, n), a = s.lanes_of<T>(1, n), b = s.lanes_of<T>(2, n);
    Vector r;
    for (int i = 0; i < n; ++i) r.set<T>(i, static_cast<T>(f(d.get<T>(i), a.get<T>(i), b.get<T>(i))));
    s.put<T>(0, r, n);
  };
}

/// Lane 0 = f(src1[0], src2[0]); the rest of the xmm register from src1. Vector length is ignored.
template <class T, class F>
Handler scalar(F f) {
  return [f](Step& s) {
    Vector r = s.lanes_of<T>(1, 1);
    const Vector b = s.lanes_of<T>(2, 1), old = s.lanes_of<T>(0, 1);
    const T value = static_cast<T>(f(r.get<T>(0), b.get<T>(0)));
    r.set<T>(0, s.active(0) ? value : s.instruction().zeroing ? T{} : old.get<T>(0));
    s.put_whole(0, r, 16);
  };
}

/// The comparison's result: all ones in a lane, or a bit of an opmask.
template <class T, class F>
void compare(Step& s, F f) {
  const int n = s.lanes<T>();
  const Vector a = s.lanes_of<T>(1, n), b = s.lanes_of<T>(2, n);
  Vector r;
  std::uint64_t bits = 0;
  for (int i = 0; i < n; ++i) {
    const bool yes = f(a.get<T>(i), b.get<T>(i));
    for (std::size_t k = 0; k < sizeof(T); ++k)
      r.bytes[static_cast<std::size_t>(i) * sizeof(T) + k] = yes ? std::uint8_t{0xff} : std::uint8_t{0};
    if (yes && s.active(i)) bits |= std::uint64_t{1} << i;
  }
  if (s.is_opmask(0))
    s.put_opmask(0, bits, n);
  else
    s.put<T>(0, r, n);
}

}  // namespace tenfold::emulator

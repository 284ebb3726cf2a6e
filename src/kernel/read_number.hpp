// SPDX-License-Identifier: Apache-2.0
//
// A number of the text forms of specs and schedules.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace tenfold::kernel {

/// True when all of `text` is a number that T holds.
template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace tenfold::kernel

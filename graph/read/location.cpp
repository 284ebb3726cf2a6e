// SPDX-License-Identifier: Apache-2.0
//
// Lines and columns are counted only when there is an error to report, so that reading a good file pays nothing.
#include "graph/read/location.hpp"

#include <algorithm>

namespace tenfold::graph {
namespace {

constexpr std::size_t kLongestShown = 60;
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, kLongestShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += "\\x";
      result += kHexDigits[byte >> 4];
      result += kHexDigits[byte & 15];
    }
  }
  if (text.size() > kLongestShown) result += "...";
  return result;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string shown(std::string_view text) { return "'" + printable(text) + "'"; }

std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (const char c : printable(key)) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

Status error_at(std::string_view text, std::size_t offset, std::string_view pointer, std::string_view message,
                Code code) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::string_view on_line = before.substr(line_start);
  const auto column = std::count_if(on_line.begin(), on_line.end(), starts_character) + 1;

  std::string full = "line " + std::to_string(line) + ", column " + std::to_string(column) + ", at ";
  full += pointer.empty() ? std::string_view("the root") : pointer;
  full += ": ";
  full += message;
  return Status(code, std::move(full));
}

}  // namespace tenfold::graph

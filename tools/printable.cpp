// SPDX-License-Identifier: Apache-2.0
//
// Text for terminals; see printable.hpp.
#include "tools/printable.hpp"

#include <array>
#include <cstdio>

namespace tenfold::tools {

namespace {

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

bool is_trail(std::string_view text, std::size_t at, unsigned char least = 0x80, unsigned char most = 0xBF) {
  return at < text.size() && byte_at(text, at) >= least && byte_at(text, at) <= most;
}

/// Bytes of the well-formed sequence that begins the text (The Unicode Standard, table 3-7); 0: it begins none.
std::size_t sequence(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return is_trail(text, 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned char least = lead == 0xE0 ? 0xA0 : 0x80, most = lead == 0xED ? 0x9F : 0xBF;
    return is_trail(text, 1, least, most) && is_trail(text, 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned char least = lead == 0xF0 ? 0x90 : 0x80, most = lead == 0xF4 ? 0x8F : 0xBF;
    return is_trail(text, 1, least, most) && is_trail(text, 2) && is_trail(text, 3) ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view text, std::size_t bytes) {
  const unsigned char lead = byte_at(text, 0);
  if (bytes == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && byte_at(text, 1) < 0xA0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\x%02x", byte_at(bytes, i));
    out += bytes[i] == '\n' ? "\\n" : escape.data();
  }
}

std::string escape(std::string_view text, bool keep_newlines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = sequence(text);
    const std::string_view part = text.substr(0, bytes == 0 ? 1 : bytes);
    if ((bytes != 0 && !is_control(part, bytes)) || (keep_newlines && part == "\n"))
      out += part;
    else
      append_escaped(out, part);
    text.remove_prefix(part.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, false); }

std::string printable_lines(std::string_view text) { return escape(text, true); }

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// See scan.hpp. Lines and columns are counted only when something fails.
#include "graph/text/scan.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tenfold::graph {
namespace {

bool is_letter(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool in_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '+' || c == '-'; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

char Scanner::peek() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ';')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      ++at_;
    else
      return c;
  }
  return '\0';
}

bool Scanner::at_end() {
  peek();
  return at_ >= text_.size();
}

std::size_t Scanner::mark() {
  peek();
  return at_;
}

bool Scanner::take(char c) {
  if (at_end() || peek() != c) return false;
  ++at_;
  return true;
}

std::string Scanner::found() {
  if (at_end()) return "the end of the text";
  std::size_t end = at_ + 1;
  while (in_word(text_[at_]) && end < text_.size() && in_word(text_[end]) && end - at_ < 40) ++end;
  return "'" + std::string(text_.substr(at_, end - at_)) + "'";
}

bool Scanner::expect(char c) { return take(c) || fail(std::string("expected '") + c + "', found " + found()); }

bool Scanner::word(std::string_view what, std::string_view& out) {
  const std::size_t start = mark();
  while (at_ < text_.size() && in_word(text_[at_])) ++at_;
  out = text_.substr(start, at_ - start);
  return !out.empty() || fail("expected " + std::string(what) + ", found " + found());
}

bool Scanner::take_word(std::string_view text) {
  const std::size_t start = mark();
  if (text_.substr(start, text.size()) != text) return false;
  if (start + text.size() < text_.size() && in_word(text_[start + text.size()])) return false;
  at_ = start + text.size();
  return true;
}

bool Scanner::expect_word(std::string_view text) {
  return take_word(text) || fail("expected '" + std::string(text) + "', found " + found());
}

bool Scanner::identifier(std::string_view what, std::string& out) {
  if (peek() == '"') return string(what, out);
  const std::size_t start = mark();
  if (at_ < text_.size() && is_letter(text_[at_]))
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
  out = std::string(text_.substr(start, at_ - start));
  return !out.empty() || fail("expected " + std::string(what) + ", found " + found());
}

bool Scanner::escape(std::string& out) {
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  switch (c) {
    case '"':
    case '\\': out += c; return true;
    case 'n': out += '\n'; return true;
    case 't': out += '\t'; return true;
    case 'x':
      if (at_ + 2 <= text_.size() && hex_value(text_[at_]) >= 0 && hex_value(text_[at_ + 1]) >= 0) {
        out += static_cast<char>(hex_value(text_[at_]) * 16 + hex_value(text_[at_ + 1]));
        at_ += 2;
        return true;
      }
      break;
    default: break;
  }
  return fail_at(at_, "unknown escape; there are \\\" \\\\ \\n \\t and \\xhh");
}

bool Scanner::string(std::string_view what, std::string& out) {
  out.clear();
  const std::size_t start = mark();
  if (!take('"')) return fail("expected " + std::string(what) + " in quotes, found " + found());
  while (at_ < text_.size() && text_[at_] != '"') {
    const char c = text_[at_++];
    if (c != '\\')
      out += c;
    else if (!escape(out))
      return false;
  }
  if (at_ >= text_.size()) return fail_at(start, "the string that starts here has no end");
  ++at_;
  return true;
}

bool Scanner::integer(std::string_view what, std::int64_t& out) {
  const std::size_t start = mark();
  std::string_view token;
  if (!word(what, token)) return false;
  const std::from_chars_result end = std::from_chars(token.data(), token.data() + token.size(), out);
  if (end.ec == std::errc() && end.ptr == token.data() + token.size()) return true;
  return fail_at(start, "expected " + std::string(what) + ", found '" + std::string(token) + "'");
}

bool Scanner::fail_at(std::size_t where, const std::string& message) {
  if (!status_.ok()) return false;
  const std::string_view before = text_.substr(0, where);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 == 0: the first line
  status_ = Status(Code::invalid_file,
                   "line " + std::to_string(line) + ", column " + std::to_string(where - start + 1) + ": " + message);
  return false;
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// See tokens.hpp. Each function is one linear scan.
#include "graph/read/tokens.hpp"

#include <limits>

namespace tenfold::graph {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// One past the string's closing quote, or the end of the text.
std::size_t string_end(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

/// The length of the word at `i` if it is one of those that are no numbers of JSON's, or 0.
std::size_t bare_length(std::string_view text, std::size_t i) {
  if (i > 0 && is_word(text[i - 1])) return 0;
  for (const std::string_view word : {"inf", "nan", "Infinity", "NaN"}) {
    const std::size_t end = i + word.size();
    if (text.substr(i, word.size()) == word && (end == text.size() || !is_word(text[end]))) return word.size();
  }
  return 0;
}

}  // namespace

std::size_t token_begin(std::string_view text, std::size_t from) {
  std::size_t i = from;
  if (i == 0 && text.starts_with(kByteOrderMark)) i = kByteOrderMark.size();
  while (i < text.size() && (is_space(text[i]) || text[i] == ',' || text[i] == ':')) ++i;
  return i;
}

std::size_t token_end(std::string_view text, std::size_t begin) {
  if (begin >= text.size()) return text.size();
  const char first = text[begin];
  if (first == '"') return string_end(text, begin);
  std::size_t i = begin;
  while (i < text.size() && (is_word(text[i]) || text[i] == '-' || text[i] == '+' || text[i] == '.')) ++i;
  return i == begin ? begin + 1 : i;
}

std::optional<std::string> quote_bare_numbers(std::string_view text) {
  std::optional<std::string> quoted;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      i = string_end(text, i) - 1;
    } else if (const char c = text[i]; c == 'i' || c == 'n' || c == 'I' || c == 'N') {
      const std::size_t length = bare_length(text, i);
      if (length == 0) continue;
      if (!quoted) quoted = std::string(text);
      const std::size_t begin = i > 0 && text[i - 1] == '-' ? i - 1 : i;
      (*quoted)[begin] = '"';
      (*quoted)[i + length - 1] = '"';
      i += length - 1;
    }
  }
  return quoted;
}

double bare_number(std::string_view text, std::size_t begin) {
  const bool negative = text[begin] == '-';
  const char first = text[negative ? begin + 1 : begin];
  if (first == 'n' || first == 'N') return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return negative ? -infinity : infinity;
}

std::size_t find_long_string(std::string_view text, std::size_t most_bytes) {
  for (std::size_t i = text.find('"'); i != std::string_view::npos; i = text.find('"', i)) {
    const std::size_t end = string_end(text, i);
    if (end - i > most_bytes) return i;
    i = end;
  }
  return std::string_view::npos;
}

std::string compact(std::string_view json) {
  std::string result;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') {
      const std::size_t end = string_end(json, i);
      result += json.substr(i, end - i);
      i = end - 1;
    } else if (!is_space(json[i])) {
      result += json[i];
    }
  }
  return result;
}

}  // namespace tenfold::graph

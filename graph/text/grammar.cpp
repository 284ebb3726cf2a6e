// SPDX-License-Identifier: Apache-2.0
//
// See grammar.hpp.
#include "graph/text/grammar.hpp"

#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "graph/text/elements.hpp"

namespace tenfold::graph {
namespace {

int hex_digit(char c) {
  const std::string_view digits = "0123456789abcdef";
  const std::size_t at = digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

template <class T>
bool choice(Scanner& scan, std::string_view what, std::initializer_list<T> choices, T& out) {
  const std::size_t where = scan.mark();
  std::string name;
  if (!scan.identifier(what, name)) return false;
  for (const T c : choices)
    if (to_string(c) == name) {
      out = c;
      return true;
    }
  return scan.fail_at(where, "'" + name + "' is not " + std::string(what));
}

bool dims(Scanner& scan, char close, Dims& out) {
  if (scan.take(close)) return true;
  do {
    out.push_back(kUnknownDim);
    if (!scan.take('?') && !scan.integer("a dim or ?", out.back())) return false;
  } while (scan.take(','));
  return scan.expect(close);
}

bool number(Scanner& scan, Attribute& out) {
  const std::size_t where = scan.mark();
  std::string_view token;
  if (!scan.word("an attribute value", token)) return false;
  const char* const end = token.data() + token.size();
  std::int64_t integer = 0;
  double real = 0;
  if (const auto r = std::from_chars(token.data(), end, integer); r.ec == std::errc() && r.ptr == end) {
    out = integer;
    return true;
  }
  // An integer too large for 64 bits must not become a real.
  const bool is_real = token.find_first_of(".en") != std::string_view::npos;
  if (const auto r = std::from_chars(token.data(), end, real); is_real && r.ec == std::errc() && r.ptr == end) {
    out = real;
    return true;
  }
  return scan.fail_at(where, "'" + std::string(token) + "' is not a value that an attribute can have");
}

bool attribute_list(Scanner& scan, Attribute& out) {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  if (!scan.take(']')) {
    do {
      const std::size_t where = scan.mark();
      Attribute item;
      if (!number(scan, item)) return false;
      if (const auto* integer = std::get_if<std::int64_t>(&item))
        integers.push_back(*integer);
      else
        reals.push_back(std::get<double>(item));
      if (!integers.empty() && !reals.empty())
        return scan.fail_at(where, "a list holds integers or reals (with a point or an exponent), not both");
    } while (scan.take(','));
    if (!scan.expect(']')) return false;
  }
  if (reals.empty())
    out = std::move(integers);
  else
    out = std::move(reals);
  return true;
}

bool attribute_value(Scanner& scan, Attribute& out) {
  if (scan.peek() == '"') {
    std::string text;
    if (!scan.string("a string", text)) return false;
    out = std::move(text);
    return true;
  }
  if (scan.take_word("f32")) {
    out = std::vector<double>{};
    return scan.expect('[') && scan.expect(']');
  }
  if (scan.take('[')) return attribute_list(scan, out);
  for (const bool choice : {false, true})
    if (scan.take_word(choice ? "true" : "false")) {
      out = choice;
      return true;
    }
  return number(scan, out);
}

bool bytes(Scanner& scan, Value& value) {
  const std::size_t where = scan.mark();
  std::string digits;
  if (!scan.string("hexadecimal digits", digits)) return false;
  std::vector<std::byte> data;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]);
    const int low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) break;
    data.push_back(static_cast<std::byte>(high * 16 + low));
  }
  value.data = std::move(data);
  return value.data.size() * 2 == digits.size() || scan.fail_at(where, "expected pairs of hexadecimal digits");
}

}  // namespace

bool scan_type(Scanner& scan, Value& value) {
  const std::size_t where = scan.mark();
  std::string name;
  if (!scan.identifier("a dtype", name)) return false;
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) return scan.fail_at(where, "unknown dtype '" + name + "'");
  value.dtype = *dtype;
  if (!scan.expect('[')) return false;
  if (scan.take('*')) {
    if (!scan.expect(']')) return false;
  } else {
    value.ranked = true;
    if (!dims(scan, ']', value.shape)) return false;
  }
  if (scan.take('{') && !dims(scan, '}', value.strides)) return false;
  if (scan.take_word("layout") &&
      !choice(scan, "a layout", {Layout::undef, Layout::any, Layout::strided, Layout::opaque}, value.layout))
    return false;
  return !scan.take_word("property") ||
         choice(scan, "a property", {Property::undef, Property::variable, Property::constant, Property::host_scalar},
                value.property);
}

bool scan_attributes(Scanner& scan, char close, std::vector<NamedAttribute>& named, std::vector<ExtraKey>& extras) {
  if (scan.take(close)) return true;
  do {
    const bool quoted = scan.peek() == '"';
    NamedAttribute attribute;
    if (!scan.identifier("an attribute name", attribute.name)) return false;
    if (!quoted && attribute.name == "json" && scan.take(':')) {
      ExtraKey extra;
      if (!scan.identifier("a key", extra.key) || !scan.expect('=') || !scan.string("JSON text", extra.json))
        return false;
      extras.push_back(std::move(extra));
    } else {
      if (!scan.expect('=') || !attribute_value(scan, attribute.value)) return false;
      named.push_back(std::move(attribute));
    }
  } while (scan.take(','));
  return scan.expect(close);
}

bool scan_elements(Scanner& scan, Value& value) {
  if (scan.take_word("bytes")) return bytes(scan, value);
  if (!scan.expect('[')) return false;
  if (scan.take(']')) return true;
  std::vector<std::byte> data;
  do {
    const std::size_t where = scan.mark();
    std::string_view token;
    if (!scan.word("an element", token)) return false;
    if (!parse_element(value.dtype, token, data))
      return scan.fail_at(where,
                          "'" + std::string(token) + "' is not an element of " + std::string(to_string(value.dtype)));
  } while (scan.take(','));
  value.data = std::move(data);
  return scan.expect(']');
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// Where the tokens of a JSON text begin and end, which nlohmann's SAX events do not say, and the one extension of JSON
// that oneDNN's writer makes: it prints infinities and NaN bare.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tenfold::graph {

/// The first byte at or after `from` that is neither white space nor `,` nor `:` (nor a byte order mark at the start).
std::size_t token_begin(std::string_view text, std::size_t from);

/// One past the last byte of the token that begins at `begin`. Wants a token that the parser has accepted.
std::size_t token_end(std::string_view text, std::size_t begin);

/// The text with every bare inf, nan, Infinity and NaN outside strings, each with its minus if it has one, turned into
/// a string of the same length, so that a strict parser reads it; nullopt when there is none. Such a string is told
/// from others by its place: the original text has no quote there.
std::optional<std::string> quote_bare_numbers(std::string_view text);

/// What the bare token at `begin` of the original text means.
double bare_number(std::string_view text, std::size_t begin);

/// Where the first string begins that takes more than `most_bytes` in the text, quotes included; npos: nowhere.
std::size_t find_long_string(std::string_view text, std::size_t most_bytes);

/// `json` without the white space outside strings.
std::string compact(std::string_view json);

}  // namespace tenfold::graph

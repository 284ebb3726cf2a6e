// SPDX-License-Identifier: Apache-2.0
//
// Where in a file something stands, and how messages say so. Knows nothing of JSON but its pointers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tenfold/status.hpp"

namespace tenfold::graph {

/// `text` in quotes, in printable ASCII, cut after some 60 characters: safe in a message whatever the file holds.
std::string shown(std::string_view text);

/// "/key" with JSON pointer's escapes (RFC 6901), made printable like shown().
std::string pointer_step(std::string_view key);

/// "line 12, column 9, at /graph/0/id: message" as a Status. Columns count characters, from 1. An empty pointer is the
/// file's root.
Status error_at(std::string_view text, std::size_t offset, std::string_view pointer, std::string_view message,
                Code code = Code::invalid_file);

}  // namespace tenfold::graph

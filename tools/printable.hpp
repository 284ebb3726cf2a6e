// SPDX-License-Identifier: Apache-2.0
//
// Names of files and graphs are anybody's bytes. On a terminal some of them move the cursor, change colours or do
// worse.
#pragma once

#include <string>
#include <string_view>

namespace tenfold::tools {

/// The text with control characters (C0, DEL, C1) and what is not UTF-8 as "\x1b", a newline as "\n": one line.
std::string printable(std::string_view text);

/// The same of a text that has lines: its newlines stay.
std::string printable_lines(std::string_view text);

}  // namespace tenfold::tools

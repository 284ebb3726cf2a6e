// SPDX-License-Identifier: Apache-2.0
//
// The tokens of the text form: a cursor that skips blanks and `;` comments and knows where it is. The first failure
// sticks, so that a caller may ask for several tokens and look once. Only for the text room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenfold/status.hpp"

namespace tenfold::graph {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// The next character that is not blank or comment; '\0' at the end.
  char peek();
  bool at_end();
  /// Takes `c` when it is next.
  bool take(char c);
  /// Takes `c` or fails with "expected ... ".
  bool expect(char c);
  /// Takes a run of letters, digits and any of "_.+-"; fails when there is none. `what` is for the message.
  bool word(std::string_view what, std::string_view& out);
  /// Takes `text` when the next word is exactly that.
  bool take_word(std::string_view text);
  bool expect_word(std::string_view text);
  /// Takes a letter or underscore with letters, digits and underscores after it, or a quoted string.
  bool identifier(std::string_view what, std::string& out);
  bool string(std::string_view what, std::string& out);
  bool integer(std::string_view what, std::int64_t& out);

  /// Where the next token starts; pass it to fail_at().
  std::size_t mark();
  bool fail(const std::string& message) { return fail_at(mark(), message); }
  /// Records invalid_file "line L, column C: message" unless something failed before; always false.
  bool fail_at(std::size_t where, const std::string& message);
  const Status& status() const noexcept { return status_; }

 private:
  std::string found();
  bool escape(std::string& out);

  std::string_view text_;
  std::size_t at_ = 0;
  Status status_;
};

}  // namespace tenfold::graph

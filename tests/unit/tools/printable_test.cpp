// SPDX-License-Identifier: Apache-2.0
//
// What reaches a terminal of hostile text.
#include "tools/printable.hpp"

#include <gtest/gtest.h>

namespace tenfold::tools {
namespace {

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("Re\x1b[31mduce\nMax\r\t\x7f"), "Re\\x1b[31mduce\\nMax\\x0d\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m")
      << "C1";
  EXPECT_EQ(printable_lines("a\nb\x1b\n"), "a\nb\\x1b\n");
}

TEST(Printable, WordsOfAnyLanguageStay) {
  const std::string text = "\\ plain ~ \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xC2\xA0";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatIsNotUtf8IsEscaped) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xC3"), "\\xc3") << "cut short";
  EXPECT_EQ(printable("\xC0\x80"), "\\xc0\\x80") << "longer than it must be";
  EXPECT_EQ(printable("\xE0\x80\x80"), "\\xe0\\x80\\x80");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "half a pair";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "above U+10FFFF";
}

}  // namespace
}  // namespace tenfold::tools

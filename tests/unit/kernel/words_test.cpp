// SPDX-License-Identifier: Apache-2.0
//
// Narrow elements that are but moved, in words.
#include "kernel/words.hpp"

#include <gtest/gtest.h>

namespace tenfold::kernel {
namespace {

std::string words_of(std::string_view text) {
  const Result<KernelSpec> spec = parse(text);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  if (!spec.ok()) return "";
  const std::optional<KernelSpec> words = in_words(spec.value());
  if (!words) return "none";
  EXPECT_TRUE(check(*words).ok());
  return print(*words);
}

std::string moved(const std::string& dtype, const std::string& space, const std::string& in, const std::string& out) {
  return "kernel\nspace " + space + "\nin x0 " + dtype + " " + in + "\nout y0 " + dtype + " " + out +
         "\n%0 = load x0\nstore y0 %0\n";
}

TEST(Words, OfNarrowElementsThatAreMoved) {
  EXPECT_EQ(words_of(moved("s16", "kept 3, kept 10", "[10, 1]", "[24, 1]")),
            moved("s32", "kept 3, kept 5", "[5, 1]", "[12, 1]"));
  EXPECT_EQ(words_of(moved("boolean", "kept 3, kept 8", "[0, 1]", "[12, 1]")),
            moved("s32", "kept 3, kept 2", "[0, 1]", "[3, 1]"));
}

TEST(Words, NoneWhereRowsAreNotWholeWordsSideBySide) {
  EXPECT_EQ(words_of(moved("s16", "kept 3, kept 9", "[10, 1]", "[24, 1]")), "none");
  EXPECT_EQ(words_of(moved("s16", "kept 3, kept 10", "[11, 1]", "[24, 1]")), "none");
  EXPECT_EQ(words_of(moved("u8", "kept 3, kept 8", "[8, 1]", "[10, 1]")), "none");
  EXPECT_EQ(words_of(moved("s16", "kept 3, kept 10", "[20, 2]", "[24, 1]")), "none");
  EXPECT_EQ(words_of(moved("s16", "kept 3, kept 10", "[1, 0]", "[24, 1]")), "none");
  EXPECT_EQ(words_of(moved("f32", "kept 3, kept 10", "[10, 1]", "[24, 1]")), "none") << "words as they are";
}

TEST(Words, NoneOfFloats) {
  EXPECT_EQ(words_of(moved("bf16", "kept 3, kept 10", "[10, 1]", "[24, 1]")), "none") << "NaNs are canonical";
}

TEST(Words, OfBitsThatAreCombinedButNotOfNumbers) {
  const auto combined = [](const std::string& dtype, const std::string& extent, const std::string& function) {
    return "kernel\nspace kept " + extent + "\nin x0 " + dtype + " [1]\nin x1 " + dtype + " [1]\nout y0 " + dtype +
           " [1]\n%0 = load x0\n%1 = load x1\n%2 = " + function + " %0 %1\nstore y0 %2\n";
  };
  EXPECT_EQ(words_of(combined("u8", "64", "bitwise_xor")), combined("s32", "16", "bitwise_xor"));
  EXPECT_EQ(words_of(combined("u8", "64", "add")), "none");
  EXPECT_EQ(words_of(combined("boolean", "64", "logical_and")), "none") << "any byte but 0 is true";
  EXPECT_EQ(words_of(combined("boolean", "64", "bitwise_and")), "none");
}

}  // namespace
}  // namespace tenfold::kernel

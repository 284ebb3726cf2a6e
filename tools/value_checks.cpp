// SPDX-License-Identifier: Apache-2.0
//
// Values of options; see value_checks.hpp.
#include "tools/value_checks.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace tenfold::tools {

namespace {

/// True when all of the text is a number of this type.
template <class Number>
bool read(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end;
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) -> std::string {
        if (text.find('-') == 0) return text + " is negative";
        std::uint64_t value = 0;
        const bool leading_zero = text.size() > 1 && text[0] == '0';
        if (!leading_zero && read(text, value) && value >= least && value <= most) return "";
        return "'" + text + "' is not a whole number, in decimal digits, of at least " + std::to_string(least) +
               " and at most " + std::to_string(most);
      },
      "");
}

CLI::Validator given_path() {
  return CLI::Validator([](const std::string& text) { return std::string(text.empty() ? "the path is empty" : ""); },
                        "");
}

CLI::Validator given_folder() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        std::error_code error;
        if (text.empty()) return "the path is empty";
        if (std::filesystem::is_directory(text, error)) return "";
        return "'" + text + "' " + (std::filesystem::exists(text, error) ? "is no folder" : "is not there");
      },
      "");
}

CLI::Validator real_number(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& text) -> std::string {
        double value = 0;
        // NaN is within no bounds.
        if (read(text, value) && value >= least && value <= most) return "";
        return "'" + text + "' is not a number from " + short_text(least) + " to " + short_text(most);
      },
      "");
}

}  // namespace tenfold::tools

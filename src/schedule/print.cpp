// SPDX-License-Identifier: Apache-2.0
//
// The text form of Schedule (schedule.hpp shows one). It leaves out nothing that differs from
// Schedule{}, as kernels are found by it.
#include <algorithm>
#include <iterator>
#include <ostream>

#include "kernel/read_number.hpp"
#include "kernel/text_stream.hpp"
#include "schedule/fields.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::schedule {
namespace {

constexpr std::string_view kNests[] = {"rows", "columns", "packed", "flat", "staged_rows", "staged_columns"};

// How the types of fields are read and written.
using kernel::read_number;

template <class Number>
bool read(std::string_view text, Number& value) {
  return read_number(text, value);
}

bool read(std::string_view text, bool& value) {
  value = text == "1";
  return value || text == "0";
}

bool read(std::string_view text, Cut& cut) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && read_number(text.substr(0, colon), cut.level) &&
         read_number(text.substr(colon + 1), cut.grain);
}

std::ostream& operator<<(std::ostream& out, const Cut& cut) { return out << cut.level << ':' << cut.grain; }

bool read_field(std::string_view name, std::string_view value, Schedule& schedule) {
  const auto field = std::ranges::find(fields(), name, &Field::name);
  return field != fields().end() &&
         std::visit([&](auto member) { return read(value, schedule.*member); }, field->member);
}

}  // namespace

std::string_view to_string(Nest nest) noexcept { return kNests[static_cast<std::size_t>(nest)]; }

std::string print(const Schedule& schedule) {
  kernel::TextStream out;
  out << target::to_string(schedule.isa) << ' ' << to_string(schedule.nest);
  for (const Field& field : fields())
    if ((field.shown & nests(schedule.nest)) != 0 || !is_default(field, schedule))
      std::visit([&](auto member) { out << ' ' << field.name << '=' << schedule.*member; }, field.member);
  return out.str();
}

Result<Schedule> parse(std::string_view text) {
  Schedule schedule;
  const auto next = [&text] {
    while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
  };
  Result<target::Isa> isa = target::isa_from_name(next());
  if (!isa.ok()) return isa.status();
  schedule.isa = isa.value();
  const std::string_view nest = next();
  const auto* const known = std::find(std::begin(kNests), std::end(kNests), nest);
  if (known == std::end(kNests))
    return Status(Code::invalid_argument, "schedule: nest '" + std::string(nest) + "' is not a nest");
  schedule.nest = static_cast<Nest>(known - std::begin(kNests));
  for (std::string_view word = next(); !word.empty(); word = next()) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || !read_field(word.substr(0, equals), word.substr(equals + 1), schedule))
      return Status(Code::invalid_argument, "schedule: '" + std::string(word) + "' is not a field");
  }
  return schedule;
}

}  // namespace tenfold::schedule

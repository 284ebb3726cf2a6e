// SPDX-License-Identifier: Apache-2.0
//
// The text form of Schedule (schedule.hpp shows one). Fields of another nest are not printed.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "kernel/read_number.hpp"
#include "kernel/text_stream.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::schedule {
namespace {

constexpr std::string_view kNests[] = {"rows", "columns", "packed", "flat", "staged_rows", "staged_columns"};

void print_cut(std::ostringstream& out, const char* name, const Cut& cut) {
  if (cut.level >= 0) out << ' ' << name << '=' << cut.level << ':' << cut.grain;
}

using kernel::read_number;

bool read_flag(std::string_view text, bool& value) {
  value = text == "1";
  return value || text == "0";
}

bool read_cut(std::string_view text, Cut& cut) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && read_number(text.substr(0, colon), cut.level) &&
         read_number(text.substr(colon + 1), cut.grain);
}

bool read_field(std::string_view name, std::string_view value, Schedule& schedule) {
  if (name == "level") return read_number(value, schedule.vector_level);
  if (name == "unroll") return read_number(value, schedule.unroll);
  if (name == "rows") return read_number(value, schedule.rows_at_once);
  if (name == "stored") return read_number(value, schedule.stored);
  if (name == "pilot") return read_number(value, schedule.pilot);
  if (name == "turns") return read_number(value, schedule.turns);
  if (name == "ahead") return read_flag(value, schedule.ahead);
  if (name == "early") return read_flag(value, schedule.early);
  if (name == "around") return read_flag(value, schedule.around);
  if (name == "claim") return read_flag(value, schedule.claim);
  if (name == "serpentine") return read_flag(value, schedule.serpentine);
  if (name == "runs") return read_flag(value, schedule.runs);
  if (name == "keep") return read_number(value, schedule.keep);
  if (name == "part") return read_number(value, schedule.part);
  if (name == "columns") return read_number(value, schedule.columns);
  if (name == "width") return read_number(value, schedule.width);
  if (name == "tile") return read_cut(value, schedule.tile);
  if (name == "split") return read_cut(value, schedule.split);
  return false;
}

}  // namespace

std::string_view to_string(Nest nest) noexcept { return kNests[static_cast<std::size_t>(nest)]; }

std::string print(const Schedule& schedule) {
  kernel::TextStream out;
  out << target::to_string(schedule.isa) << ' ' << to_string(schedule.nest) << " level=" << schedule.vector_level;
  if (schedule.nest == Nest::rows || schedule.nest == Nest::staged_rows) out << " unroll=" << schedule.unroll;
  if (schedule.nest == Nest::columns || schedule.rows_at_once > 1) out << " rows=" << schedule.rows_at_once;
  if (schedule.stored > 1) out << " stored=" << schedule.stored;
  if (schedule.pilot > 0) out << " pilot=" << schedule.pilot;
  if (schedule.turns > 0) out << " turns=" << schedule.turns;
  if (schedule.ahead) out << " ahead=1";
  if (schedule.early) out << " early=1";
  if (schedule.around) out << " around=1";
  if (schedule.claim) out << " claim=1";
  if (schedule.serpentine) out << " serpentine=1";
  if (schedule.runs) out << " runs=1";
  if (schedule.keep > 0) out << " keep=" << schedule.keep;
  if (schedule.part > 0) out << " part=" << schedule.part;
  const bool joins = schedule.nest == Nest::flat && schedule.width > 0;
  if (joins || schedule.nest == Nest::columns || schedule.nest == Nest::staged_columns)
    out << " columns=" << schedule.columns;
  if (schedule.width > 0) out << " width=" << schedule.width;
  print_cut(out, "tile", schedule.tile);
  print_cut(out, "split", schedule.split);
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

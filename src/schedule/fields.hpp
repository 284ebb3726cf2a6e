// SPDX-License-Identifier: Apache-2.0
//
// The fields of Schedule but for its ISA and nest: a row for each, by which schedules are printed, parsed and checked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "schedule/schedule.hpp"

namespace tenfold::schedule {

/// A set of nests: a bit for each.
using Nests = unsigned;
template <class... Each>
constexpr Nests nests(Each... nest) {
  return (Nests{0} | ... | (Nests{1} << static_cast<Nests>(nest)));
}

/// One field: in nests that do not have it, it is as in `Schedule{}`.
struct Field {
  std::string_view name;  ///< in the text form
  std::variant<int Schedule::*, std::int64_t Schedule::*, bool Schedule::*, Cut Schedule::*> member;
  Nests of;         ///< which nests have it
  Nests shown = 0;  ///< which of them print it whatever it is; others do unless it is as in `Schedule{}`
};

/// In the order in which they are printed.
std::span<const Field> fields() noexcept;

bool is_default(const Field& field, const Schedule& schedule);

/// Whether the nest has what the schedule asks of it.
Status check_fields(const Schedule& schedule);

}  // namespace tenfold::schedule

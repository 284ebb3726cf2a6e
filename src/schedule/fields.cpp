// SPDX-License-Identifier: Apache-2.0
#include "schedule/fields.hpp"

#include <string>

#include "schedule/broken.hpp"

namespace tenfold::schedule {
namespace {

constexpr Nests kRows = nests(Nest::rows), kColumns = nests(Nest::columns), kPacked = nests(Nest::packed),
                kFlat = nests(Nest::flat), kStagedRows = nests(Nest::staged_rows),
                kStagedColumns = nests(Nest::staged_columns), kStaged = kStagedRows | kStagedColumns,
                kAll = kRows | kColumns | kPacked | kFlat | kStaged;

constexpr Field kFields[] = {
    {"level", &Schedule::vector_level, kAll, kAll},
    {"unroll", &Schedule::unroll, kRows | kStagedRows, kRows | kStagedRows},
    {"rows", &Schedule::rows_at_once, kRows | kColumns | kStaged, kColumns},
    {"stored", &Schedule::stored, kStagedColumns},
    {"pilot", &Schedule::pilot, kStagedRows},
    {"turns", &Schedule::turns, kRows | kColumns},
    {"ahead", &Schedule::ahead, kRows | kColumns | kPacked | kStaged},
    {"blocks", &Schedule::blocks, kColumns},
    {"far", &Schedule::far, kColumns | kPacked | kStagedRows},
    {"early", &Schedule::early, kStagedRows},
    {"trails", &Schedule::trails, kStagedRows},
    {"adds", &Schedule::adds, kRows | kColumns},
    {"around", &Schedule::around, kColumns | kFlat | kStaged},
    {"claim", &Schedule::claim, kFlat | kStaged},
    {"serpentine", &Schedule::serpentine, kStagedColumns},
    {"skips", &Schedule::skips, kStagedColumns},
    {"searches", &Schedule::searches, kColumns},
    {"runs", &Schedule::runs, kFlat | kStagedRows},
    {"keep", &Schedule::keep, kStaged},
    {"part", &Schedule::part, kStagedColumns},
    {"columns", &Schedule::columns, kColumns | kFlat | kStagedColumns, kColumns | kStagedColumns},
    {"width", &Schedule::width, kColumns | kPacked | kFlat | kStagedColumns},
    {"tile", &Schedule::tile, kAll},
    {"split", &Schedule::split, kRows | kColumns},
};

}  // namespace

std::span<const Field> fields() noexcept { return kFields; }

bool is_default(const Field& field, const Schedule& schedule) {
  constexpr Schedule kDefault;
  return std::visit([&](auto member) { return schedule.*member == kDefault.*member; }, field.member);
}

Status check_fields(const Schedule& schedule) {
  for (const Field& field : kFields)
    if ((field.of & nests(schedule.nest)) == 0 && !is_default(field, schedule))
      return broken(std::string(field.name) + " is not for " + std::string(to_string(schedule.nest)));
  return {};
}

}  // namespace tenfold::schedule

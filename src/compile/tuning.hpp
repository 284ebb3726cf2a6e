// SPDX-License-Identifier: Apache-2.0
//
// Tuning: schedules that somebody measured to be faster than the heuristic's, for exactly these kernels on exactly this
// machine. A tuning file has one JSON object a line (schemas/tuning.schema.json), so that files are merged by putting
// one behind the other. It can choose among the heuristic's neighbours and nothing else: no file, however hostile,
// changes a bit of a result.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compile/plan/plan.hpp"
#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// What the schedules of a file mean may change with this number; entries of another are stale.
inline constexpr int kTuningVersion = 1;

class Tuning {
 public:
  /// The later of two entries for one kernel counts.
  void add(const kernel::KernelSpec& spec, int cores, const schedule::Schedule& schedule);
  /// Null when there is none for this kernel, instruction set (the heuristic's schedule's) and number of cores.
  const schedule::Schedule* find(const kernel::KernelSpec& spec, target::Isa isa, int cores) const;
  std::size_t size() const noexcept { return schedules_.size(); }

  /// What was ignored when the file was read, and why; bounded.
  std::vector<std::string> notices;

 private:
  std::map<std::string, schedule::Schedule, std::less<>> schedules_;
};

/// Whether a tuning file's text begins as one: it is blank, or its first entry is of some version of the schema.
bool is_tuning_text(std::string_view text);

/// Reads a tuning file's text, which notices name by `path`. Entries that are no JSON, of other fields, for another
/// CPU, or of another version are left out, with a notice for the first few of them.
Tuning read_tuning(std::string_view text, std::string_view cpu, const std::string& path = {});

/// The tuning of a file, read when it is first asked for and kept for the life of the process, but for all except the
/// 16 files that were used last. invalid_file when it cannot be read, is no regular file, or is too large.
Result<std::shared_ptr<const Tuning>> load_tuning(const std::string& path);

/// One line of a tuning file, with its newline.
struct TuningRecord {
  std::string cpu, date;
  int cores = 1;
  double gain = 1;  ///< how much faster than the heuristic's schedule it was
  kernel::KernelSpec spec;
  schedule::Schedule schedule;
};
std::string print(const TuningRecord& record);

/// Puts tuned schedules into the plan. What is no neighbour of the heuristic's schedule is ignored, with a notice.
void apply_tuning(const Tuning& tuning, const target::Target& target, Plan& plan, std::vector<std::string>& notices);

}  // namespace tenfold::compiler

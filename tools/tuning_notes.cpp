// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning_notes.hpp"

#include "target/environment.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

std::shared_ptr<const compiler::Tuning> load_tuning(std::vector<std::string>& notes) {
  const std::string& path = target::environment().tuning_file;
  if (path.empty()) return nullptr;
  const Result<std::shared_ptr<const compiler::Tuning>> loaded = compiler::load_tuning(path);
  if (!loaded.ok()) {
    notes.push_back("environment variable TENFOLD_TUNING: " + loaded.status().message());
    return nullptr;
  }
  notes.insert(notes.end(), loaded.value()->notices.begin(), loaded.value()->notices.end());
  return loaded.value();
}

void print_tuning_notes(const std::string& command) {
  std::vector<std::string> notes;
  load_tuning(notes);
  for (const std::string& note : notes) print_note(command, note);
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
#include "api/tuning_choice.hpp"

#include "compile/tuning.hpp"
#include "target/environment.hpp"

namespace tenfold::api {

Status choose_tuning(const std::string& file, CompiledPartition::Impl& impl) {
  const std::string& path = file.empty() ? target::environment().tuning_file : file;
  if (path.empty()) return {};
  const Result<std::shared_ptr<const compiler::Tuning>> loaded = compiler::load_tuning(path);
  if (!loaded.ok()) {
    if (!file.empty()) return loaded.status();
    // A hint that the whole process was given must not stop every compile of it.
    impl.notices.push_back("environment variable TENFOLD_TUNING: " + loaded.status().message());
    return {};
  }
  impl.tuning = loaded.value();
  impl.options.tuning = impl.tuning.get();
  impl.notices.insert(impl.notices.end(), impl.tuning->notices.begin(), impl.tuning->notices.end());
  return {};
}

}  // namespace tenfold::api

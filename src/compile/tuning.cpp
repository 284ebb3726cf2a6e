// SPDX-License-Identifier: Apache-2.0
#include "compile/tuning.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "schedule/neighbours.hpp"
#include "target/fork.hpp"

namespace tenfold::compiler {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchemaName = "tenfold.tuning/", kSchema = "tenfold.tuning/1";
constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;
constexpr std::size_t kMostLineBytes = 64 << 10;
constexpr std::size_t kMostEntries = 100000;
constexpr std::size_t kMostNotices = 16;
constexpr std::size_t kMostFiles = 16;
constexpr int kMostCores = 1 << 16;

std::string key_of(const kernel::KernelSpec& spec, target::Isa isa, int cores) {
  return std::string(target::to_string(isa)) + ' ' + std::to_string(cores) + ' ' + kernel::print(spec);
}

struct Entry {
  kernel::KernelSpec spec;
  schedule::Schedule schedule;
  int cores = 1;
};

/// A member that is text, or null.
const std::string* text_of(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get_ptr<const std::string*>() : nullptr;
}

bool integer_of(const Json& json, const char* name, std::int64_t& value) {
  const auto at = json.find(name);
  if (at == json.end() || !at->is_number_integer()) return false;
  value = at->is_number_unsigned() && at->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)
              ? INT64_MAX
              : at->get<std::int64_t>();
  return true;
}

Status ignored(const std::string& why) { return Status(Code::invalid_file, why); }

Result<Entry> read_entry(std::string_view line, std::string_view cpu) {
  if (line.size() > kMostLineBytes)
    return ignored("the line has " + std::to_string(line.size()) + " bytes; at most " + std::to_string(kMostLineBytes) +
                   " are read");
  // Depth is bounded by the line, and the parser does not recurse.
  const Json json = Json::parse(line.begin(), line.end(), nullptr, false);
  if (!json.is_object()) return ignored("it is no JSON object");
  const std::string *schema = text_of(json, "schema"), *written_for = text_of(json, "cpu"),
                    *spec = text_of(json, "kernel"), *schedule = text_of(json, "schedule");
  std::int64_t version = 0, cores = 0;
  if (schema == nullptr || *schema != kSchema) return ignored("its schema is not " + std::string(kSchema));
  if (written_for == nullptr || spec == nullptr || schedule == nullptr || !integer_of(json, "version", version) ||
      !integer_of(json, "cores", cores))
    return ignored("cpu, kernel, schedule, version or cores is missing, or of the wrong type");
  if (version != kTuningVersion)
    return ignored("it is stale: its version is " + std::to_string(version) + ", not " +
                   std::to_string(kTuningVersion));
  if (*written_for != cpu) return ignored("it was measured on another CPU");
  if (cores < 1 || cores > kMostCores) return ignored("cores is " + std::to_string(cores));
  Result<kernel::KernelSpec> parsed = kernel::parse(*spec);
  if (!parsed.ok()) return ignored("its kernel cannot be read: " + parsed.status().message());
  const Result<schedule::Schedule> wanted = schedule::parse(*schedule);
  if (!wanted.ok()) return ignored("its schedule cannot be read: " + wanted.status().message());
  return Entry{std::move(parsed).value(), wanted.value(), static_cast<int>(cores)};
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

Result<std::string> read_file(const std::string& path) {
  // What is no regular file may never end, or wait for somebody to write it.
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(path, error);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found))
    return Status(Code::invalid_file, "tuning file '" + path + "' is no regular file");
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string block(std::size_t{64} << 10, '\0');
  while (file && text.size() <= kMostFileBytes) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() <= kMostFileBytes)
    return Status(Code::invalid_file, "tuning file '" + path + "' cannot be read");
  if (text.size() > kMostFileBytes)
    return Status(Code::invalid_file,
                  "tuning file '" + path + "' has more than " + std::to_string(kMostFileBytes) + " bytes");
  return text;
}

/// Tuning files that were read, by path. The least recently used one of too many is forgotten; who has it keeps it.
class LoadedFiles {
 public:
  std::shared_ptr<const Tuning> find(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = files_.find(path);
    if (at == files_.end()) return nullptr;
    at->second.last_used = ++clock_;
    return at->second.tuning;
  }

  /// What another thread has read meanwhile, or `tuning`.
  std::shared_ptr<const Tuning> insert(const std::string& path, std::shared_ptr<const Tuning> tuning) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = files_.try_emplace(path, File{std::move(tuning), 0}).first;
    at->second.last_used = ++clock_;
    std::shared_ptr<const Tuning> kept = at->second.tuning;
    if (files_.size() > kMostFiles)
      files_.erase(std::min_element(files_.begin(), files_.end(), [](const auto& a, const auto& b) {
        return a.second.last_used < b.second.last_used;
      }));
    return kept;
  }

 private:
  struct File {
    std::shared_ptr<const Tuning> tuning;
    std::uint64_t last_used;
  };
  std::mutex mutex_;  ///< not held while a file is read, as fork() waits for it
  target::HeldAcrossFork held_{mutex_};
  std::map<std::string, File> files_;
  std::uint64_t clock_ = 0;
};

}  // namespace

void Tuning::add(const kernel::KernelSpec& spec, int cores, const schedule::Schedule& schedule) {
  schedules_.insert_or_assign(key_of(spec, schedule.isa, cores), schedule);
}

const schedule::Schedule* Tuning::find(const kernel::KernelSpec& spec, target::Isa isa, int cores) const {
  if (schedules_.empty()) return nullptr;
  const auto at = schedules_.find(key_of(spec, isa, cores));
  return at == schedules_.end() ? nullptr : &at->second;
}

bool is_tuning_text(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (is_blank(line)) continue;
    const Json json = line.size() > kMostLineBytes ? Json() : Json::parse(line.begin(), line.end(), nullptr, false);
    const std::string* const schema = json.is_object() ? text_of(json, "schema") : nullptr;
    return schema != nullptr && schema->starts_with(kSchemaName);
  }
  return true;
}

Tuning read_tuning(std::string_view text, std::string_view cpu, const std::string& path) {
  const std::string file = path.empty() ? "tuning file" : "tuning file '" + path + "'";
  Tuning tuning;
  std::size_t number = 0, left_out = 0;
  while (!text.empty() && tuning.size() < kMostEntries) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (is_blank(line)) continue;
    const Result<Entry> entry = read_entry(line, cpu);
    if (entry.ok()) {
      tuning.add(entry.value().spec, entry.value().cores, entry.value().schedule);
    } else if (++left_out <= kMostNotices) {
      tuning.notices.push_back(file + ", line " + std::to_string(number) + " is ignored: " + entry.status().message());
    }
  }
  if (left_out > kMostNotices)
    tuning.notices.push_back(file + ": " + std::to_string(left_out - kMostNotices) + " more lines are ignored");
  if (!text.empty())
    tuning.notices.push_back(file + ": only the first " + std::to_string(kMostEntries) + " entries are read");
  return tuning;
}

Result<std::shared_ptr<const Tuning>> load_tuning(const std::string& path) {
  static std::atomic<LoadedFiles*> made;
  LoadedFiles& loaded = target::one_of_process(made);
  if (std::shared_ptr<const Tuning> known = loaded.find(path)) return known;
  const Result<std::string> text = read_file(path);
  if (!text.ok()) return text.status();
  Tuning tuning;
  if (is_tuning_text(text.value())) {
    tuning = read_tuning(text.value(), target::cpu_name(), path);
  } else {
    tuning.notices.push_back("'" + path + "' is no tuning file: its first line is not one of " + std::string(kSchema));
  }
  return loaded.insert(path, std::make_shared<const Tuning>(std::move(tuning)));
}

std::string print(const TuningRecord& record) {
  const Json json = {{"schema", kSchema},
                     {"version", kTuningVersion},
                     {"cpu", record.cpu},
                     {"cores", record.cores},
                     {"date", record.date},
                     {"gain", record.gain},
                     {"kernel", kernel::print(record.spec)},
                     {"schedule", schedule::print(record.schedule)}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

void apply_tuning(const Tuning& tuning, const target::Target& target, Plan& plan, std::vector<std::string>& notices) {
  for (PlannedKernel& kernel : plan.kernels) {
    const schedule::Schedule* const wanted = tuning.find(kernel.spec, kernel.schedule.isa, target.cores);
    if (wanted == nullptr) continue;
    if (schedule::is_neighbour(kernel.spec, kernel.schedule, *wanted)) {
      kernel.schedule = *wanted;
    } else {
      notices.push_back("tuning: schedule '" + schedule::print(*wanted) +
                        "' is ignored: it is no neighbour of the heuristic's, '" + schedule::print(kernel.schedule) +
                        "'");
    }
  }
}

}  // namespace tenfold::compiler

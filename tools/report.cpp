// SPDX-License-Identifier: Apache-2.0
//
// Text and JSON that all subcommands share; see report.hpp.
#include "tools/report.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "tools/printable.hpp"

namespace tenfold::tools {

ExitCode exit_code_of(const Status& status) noexcept {
  switch (status.code()) {
    case Code::ok: return kExitOk;
    case Code::invalid_argument: return kExitUsage;
    case Code::invalid_file:
    case Code::invalid_graph:
    case Code::invalid_op:
    case Code::invalid_shape:
    case Code::invalid_dtype: return kExitBadFile;
    case Code::unsupported_op:
    case Code::unsupported_dtype:
    case Code::unsupported_shape:
    case Code::unsupported_target: return kExitUnsupported;
    case Code::out_of_memory:
    case Code::internal_error: return kExitRunTime;
  }
  return kExitRunTime;
}

Json json_answer(const std::string& command) {
  Json answer;
  // bench answers in Google Benchmark's form, and ops in that of op descriptors, since their second schemas.
  const char* const version = command == "bench" || command == "ops" ? "/2" : "/1";
  answer["schema"] = "tenfold" + (command.empty() ? "" : "." + command) + version;
  answer["ok"] = true;
  return answer;
}

int fail(const std::string& command, bool json, const Status& status) {
  return fail(command, json, status, exit_code_of(status));
}

int fail(const std::string& command, bool json, const Status& status, ExitCode exit_code) {
  const std::string name = command.empty() ? "tenfold" : "tenfold " + command;
  std::fprintf(stderr, "%s: %s: %s\n", name.c_str(), to_string(status.code()), printable(status.message()).c_str());
  if (json) {
    Json answer = json_answer(command);
    answer["ok"] = false;
    answer["exit_code"] = static_cast<int>(exit_code);
    answer["error"] = {{"code", to_string(status.code())}, {"message", status.message()}};
    print_json(answer);
  }
  return exit_code;
}

Status cannot_write(const std::string& path) {
  const int error = errno;
  return Status(Code::invalid_file, "'" + path + "' cannot be written" +
                                        (error == 0 ? std::string() : ": " + std::generic_category().message(error)));
}

void print_note(const std::string& command, const std::string& note) {
  std::fprintf(stderr, "tenfold %s: note: %s\n", command.c_str(), printable(note).c_str());
}

void print_json(const Json& json) {
  // Messages may quote bytes of a hostile file; what is not UTF-8 is replaced rather than refused.
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

Json json_real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string negative_threads(int threads) {
  return "--threads " + std::to_string(threads) + " is negative; give 1 or more, or 0 for one per core";
}

Json json_shape(const Dims& shape) {
  Json json = Json::array();
  for (const std::int64_t dim : shape) json.push_back(dim == kUnknownDim ? Json() : Json(dim));
  return json;
}

std::string desc_text(const TensorDesc& desc) {
  std::string text = std::string(to_string(desc.dtype)) + " " + to_string(desc.shape);
  if (!desc.strides.empty() && desc.strides != row_major_strides(desc.shape))
    text += " strides " + to_string(desc.strides);
  return text;
}

}  // namespace tenfold::tools

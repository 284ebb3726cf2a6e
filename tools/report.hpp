// SPDX-License-Identifier: Apache-2.0
//
// How the command speaks: exit codes, and errors as text on stderr or, with --json, as one object on stdout as well.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::tools {

/// Exit codes of every subcommand (docs/command.md).
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,  ///< a comparison or a check failed
  kExitUsage = 2,
  kExitBadFile = 3,
  kExitUnsupported = 4,
  kExitRunTime = 5,
};

/// The exit code that a Status stands for, when nothing else is known about where it came from.
ExitCode exit_code_of(const Status& status) noexcept;

/// Objects keep the order in which they are written: results are for people too.
using Json = nlohmann::ordered_json;

/// The first members of every JSON answer: {"schema": "tenfold.run/1", "ok": true}; without a subcommand "tenfold/1".
Json json_answer(const std::string& command);

/// Says what went wrong and returns the exit code. `command` is the subcommand's name.
int fail(const std::string& command, bool json, const Status& status);
int fail(const std::string& command, bool json, const Status& status, ExitCode exit_code);

/// What the user asked to be written to `path` and could not be, with the system's reason of just now. Exits with
/// kExitRunTime.
Status cannot_write(const std::string& path);

/// What is worth knowing and no error, on stderr.
void print_note(const std::string& command, const std::string& note);

void print_json(const Json& json);

/// A real as JSON: numbers when finite, else "nan", "inf" or "-inf", which JSON has no numbers for.
Json json_real(double value);

/// What is wrong with `--threads` below 0.
std::string negative_threads(int threads);

/// Unknown dims are null.
Json json_shape(const Dims& shape);
/// "f32 [4096, 1024]".
std::string desc_text(const TensorDesc& desc);

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// The `tenfold` command: puts the subcommands together and turns what the parser says into exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "tools/options.hpp"
#include "tools/printable.hpp"
#include "tools/report.hpp"

namespace {

using namespace tenfold::tools;

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 a comparison or check failed, 2 usage, 3 bad input file, 4 unsupported, 5 run-time error,\n"
    "130 stopped by Ctrl-C.\n"
    "Results go to stdout, errors to stderr. Every subcommand has --help with examples.\n"
    "Examples:\n"
    "  tenfold run reduce_max.json --check\n"
    "  tenfold explain reduce_max.json\n"
    "  tenfold check graphs/";

/// The parser has failed, so what was asked for is read off the words themselves.
int usage_error(const CLI::App& app, int argc, char** argv, std::string message) {
  bool json = false;
  for (int i = 1; i < argc; ++i) json = json || std::string_view(argv[i]) == "--json";
  std::string command = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
  std::string names;
  bool known = command.empty();
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    known = known || subcommand->get_name() == command;
    names += (names.empty() ? "" : ", ") + subcommand->get_name();
  }
  if (!known) message = "there is no subcommand '" + std::exchange(command, "") + "'; there are " + names;
  // Ours begin in lower case, the parser's in upper case; words all in capitals are names.
  if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1])) != 0)
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  else if (message.rfind("A ", 0) == 0)
    message[0] = 'a';
  const std::string hint = "; see 'tenfold " + command + (command.empty() ? "" : " ") + "--help'";
  return fail(command, json, tenfold::Status(tenfold::Code::invalid_argument, message + hint), kExitUsage);
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Tenfold compiles tensor graphs for x86-64 CPUs and runs them.", "tenfold");
  app.set_version_flag("--version", std::string("tenfold ") + TENFOLD_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  int exit_code = kExitOk;
  add_run_command(app, exit_code);
  add_check_command(app, exit_code);
  add_test_command(app, exit_code);
  add_convert_command(app, exit_code);
  add_explain_command(app, exit_code);
  add_bench_command(app, exit_code);
  add_tune_command(app, exit_code);
  add_ops_command(app, exit_code);
  add_isa_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_text) {
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, argc, argv, error.what());
  }
  return exit_code;
}

/// A stream that the caller has closed gets a file of its own, so that none that is opened later takes its number and
/// with it what was meant for the stream. Writing to stdout fails then as it should.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1) (void)open(stream == STDOUT_FILENO ? "/dev/full" : "/dev/null", O_RDWR);
}

/// Results that nobody got are no success, whatever they say.
int flush_results(int exit_code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return exit_code;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : std::string();
  std::fprintf(stderr, "tenfold: invalid_file: stdout cannot be written%s\n", why.c_str());
  return kExitRunTime;
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  try {
    return flush_results(run_command_line(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenfold: internal_error: unexpected exception: %s\n", printable(error.what()).c_str());
    return kExitRunTime;
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The `tenfold` command: puts the subcommands together and turns what the parser says into exit codes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "tools/options.hpp"
#include "tools/report.hpp"

namespace {

using namespace tenfold::tools;

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 a comparison or check failed, 2 usage, 3 bad input file, 4 unsupported, 5 run-time error.\n"
    "Results go to stdout, errors to stderr. Every subcommand has --help with examples.\n"
    "Examples:\n"
    "  tenfold run reduce_max.json --check\n"
    "  tenfold explain reduce_max.json\n"
    "  tenfold check graphs/";

/// The parser has failed, so what was asked for is read off the words themselves.
int usage_error(int argc, char** argv, const std::string& message) {
  bool json = false;
  for (int i = 1; i < argc; ++i) json = json || std::string_view(argv[i]) == "--json";
  const std::string command = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
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
  add_ops_command(app, exit_code);
  add_isa_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_text) {
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& error) {
    return usage_error(argc, argv, error.what());
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenfold: internal_error: unexpected exception: %s\n", error.what());
    return kExitRunTime;
  }
}

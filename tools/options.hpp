// SPDX-License-Identifier: Apache-2.0
//
// The subcommands' places on the command line. Each function adds one to `app`; when the user chooses it, it runs and
// leaves its exit code in `exit_code`.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tenfold::tools {

void add_run_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_test_command(CLI::App& app, int& exit_code);
void add_convert_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);
void add_tune_command(CLI::App& app, int& exit_code);
void add_ops_command(CLI::App& app, int& exit_code);
void add_isa_command(CLI::App& app, int& exit_code);

/// --data-dir of the subcommands that read models.
void add_data_dir_option(CLI::App& command, std::string& data_dir);

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// Options of the subcommands `run`, `check`, `test`, `convert`, `explain`, `ops` and `isa`: names, help and examples.
// What they do is in commands.hpp.
#include "tools/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tools/commands.hpp"
#include "tools/value_checks.hpp"

namespace tenfold::tools {

namespace {

/// Adds a subcommand that hands its options to `work`.
template <class Options>
std::shared_ptr<Options> add_command(CLI::App& app, CLI::App*& command, const char* name, const char* summary,
                                     int (*work)(const Options&), int& exit_code) {
  auto options = std::make_shared<Options>();
  command = app.add_subcommand(name, summary);
  command->callback([options, work, &exit_code] { exit_code = work(*options); });
  return options;
}

void add_shape_option(CLI::App& command, std::vector<std::string>& shapes) {
  command.add_option("--shape", shapes, "Shape of a graph input, where the file leaves it open or to replace it")
      ->type_name("ID|NAME=4096x1024")
      ->take_all()
      ->expected(1);
}

void add_threads_option(CLI::App& command, int& threads, const char* help) {
  command.add_option("--threads", threads, help)
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<int>::max()));
}

}  // namespace

void add_data_dir_option(CLI::App& command, std::string& data_dir) {
  command.add_option("--data-dir", data_dir, "Folder that an ONNX model's external data may be read from")
      ->type_name("DIR")
      ->check(given_folder());
}

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto o = add_command(app, command, "run", "Compile a graph file and run it", &run_graph, exit_code);
  command->add_option("GRAPH", o->graph, "oneDNN Graph JSON file or ONNX model")->required()->type_name("FILE");
  command->add_option("--input", o->inputs, "Data of a graph input; inputs not given are filled at random")
      ->type_name("ID|NAME=FILE.npy")
      ->take_all()
      ->expected(1);
  add_shape_option(*command, o->shapes);
  add_data_dir_option(*command, o->data_dir);
  command->add_option("--output-dir", o->output_dir, "Write each output to DIR/ID.npy")
      ->type_name("DIR")
      ->check(given_path());
  command->add_option("--seed", o->seed, "Seed of the random inputs")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()));
  command->add_option("--target", o->target, "Instruction set to compile for (`tenfold isa` lists them)")
      ->type_name("NAME");
  add_threads_option(*command, o->threads, "Most threads to use; 0: one per core");
  command->add_flag("--check", o->check, "Compare with the reference evaluator; exit 1 when outside the stated bound");
  command->add_option("--repeat", o->repeat, "How many timed runs, after one that is not")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, std::numeric_limits<int>::max()));
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.run/1)");
  command->footer(
      "Examples:\n"
      "  tenfold run reduce_max.json --check\n"
      "  tenfold run reduce_max.json --input 0=x.npy --output-dir out\n"
      "  tenfold run model.onnx --input x=x.npy\n"
      "  tenfold run reduce_max.json --target avx2 --threads 1 --repeat 20");
}

void add_check_command(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto o =
      add_command(app, command, "check", "Say of graph files whether they are legal", &check_graphs, exit_code);
  command->add_option("PATH", o->paths, "Files, and directories that are searched for *.json and *.onnx")
      ->required()
      ->type_name("FILE|DIR");
  add_data_dir_option(*command, o->data_dir);
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.check/1)");
  command->footer(
      "A file is good when it can be read, obeys the rules and has ops that this version knows. Exits 1 when any is "
      "bad.\n"
      "Examples:\n"
      "  tenfold check reduce_max.json\n"
      "  tenfold check graphs/ --json");
}

void add_test_command(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto o = add_command(app, command, "test", "Run conformance cases and compare", &test_graphs, exit_code);
  command
      ->add_option("PATH", o->paths,
                   "Folders in the layout of ONNX's node tests, graph files, and directories that hold such")
      ->required()
      ->type_name("PATH");
  command->add_option("--target", o->target, "Instruction set to compile for (`tenfold isa` lists them)")
      ->type_name("NAME");
  add_threads_option(*command, o->threads, "Most threads to use; 0: one per core");
  command->add_flag("--verbose", o->verbose, "Name every unsupported case instead of grouping them by reason");
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.test/1)");
  command->footer(
      "Exits 1 when any case failed; unsupported ones are listed, not failed.\n"
      "Examples:\n"
      "  tenfold test onnx/backend/test/data/node\n"
      "  tenfold test graphs/ --target avx2 --json");
}

void add_convert_command(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto o =
      add_command(app, command, "convert", "Write a graph as a graph file or an ONNX model", &convert_graph, exit_code);
  command->add_option("FROM", o->from, "ONNX model or graph file")->required()->type_name("FILE");
  command->add_option("TO", o->to, "Graph file to write, or a model when it ends in .onnx")
      ->required()
      ->type_name("FILE");
  add_data_dir_option(*command, o->data_dir);
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.convert/1)");
  command->footer(
      "Examples:\n"
      "  tenfold convert model.onnx graph.json\n"
      "  tenfold convert graph.json model.onnx\n"
      "  tenfold convert dump.json tidy.json");
}

void add_explain_command(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto o = add_command(app, command, "explain", "Show how a graph will run, and why", &explain_graph, exit_code);
  command->add_option("GRAPH", o->graph, "oneDNN Graph JSON file or ONNX model")->required()->type_name("FILE");
  add_shape_option(*command, o->shapes);
  command->add_option("--target", o->target, "Instruction set to compile for (`tenfold isa` lists them)")
      ->type_name("NAME");
  add_threads_option(*command, o->threads, "Most threads that a run would use; 0: one per core");
  add_data_dir_option(*command, o->data_dir);
  command->add_option("--dump", o->dump, "Print the graph after this pass, or after each (`all`)")->type_name("PASS");
  command->add_flag("--asm", o->with_asm, "List the machine code of each kernel");
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.explain/1)");
  command->footer(
      "Examples:\n"
      "  tenfold explain reduce_max.json\n"
      "  tenfold explain reduce_max.json --shape 0=4096x1024 --target avx2\n"
      "  tenfold explain reduce_max.json --asm\n"
      "  tenfold explain reduce_max.json --dump all");
}

void add_ops_command(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto o = add_command(app, command, "ops", "List the ops that graphs may hold", &list_ops, exit_code);
  command->add_option("NAME", o->name, "Show this op with its inputs, outputs and attributes");
  command->add_option("--dialect", o->dialect, "Only ops of this dialect (onednn, onnx, core)")->type_name("DIALECT");
  CLI::Option* const markdown =
      command->add_flag("--markdown", o->markdown, "Print a page: dtypes, then the ops (docs/ops_reference.md)");
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.ops/2)")->excludes(markdown);
  command->footer(
      "Examples:\n"
      "  tenfold ops --dialect onednn\n"
      "  tenfold ops ReduceMax");
}

void add_isa_command(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto o = add_command(app, command, "isa", "Show instruction sets, caches and cores", &show_isa, exit_code);
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.isa/1)");
  command->footer(
      "TENFOLD_MAX_CPU_ISA caps what is used.\n"
      "Examples:\n"
      "  tenfold isa\n"
      "  TENFOLD_MAX_CPU_ISA=avx2 tenfold isa");
}

}  // namespace tenfold::tools

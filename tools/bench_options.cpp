// SPDX-License-Identifier: Apache-2.0
//
// Options of `tenfold bench`.
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/bench.hpp"
#include "tools/options.hpp"

namespace tenfold::tools {

void add_bench_command(CLI::App& app, int& exit_code) {
  const auto o = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Time one reduction, or a graph, against the machine's roof and oneDNN");
  command->callback([o, &exit_code] { exit_code = run_bench(*o); });
  command->add_option("--op", o->op, "A Reduce op of either dialect, ArgMax or ArgMin")
      ->capture_default_str()
      ->type_name("KIND");
  command->add_option("--dtype", o->dtype, "f32, f64, bf16, f16, s8 to s64, u8 to u64 or boolean")
      ->capture_default_str()
      ->type_name("DTYPE");
  command->add_option("--shape", o->shape, "Input shape; - for rank 0")->capture_default_str()->type_name("SHAPE");
  command->add_option("--axes", o->axes, "Reduced axes, such as 0,2 or -1")->capture_default_str()->type_name("AXES");
  command->add_flag("--keep-dims", o->keep_dims, "Reduced axes stay as 1");
  command->add_flag("--with-extreme", o->with_extreme, "With ArgMax also ReduceMax, with ArgMin also ReduceMin");
  command->add_option("--graph", o->graph, "A graph file instead of one reduction, against a copy of the same bytes")
      ->type_name("FILE");
  command->add_option("--target", o->target, "Instruction set to compile for (`tenfold isa` lists them)")
      ->type_name("NAME");
  command->add_option("--threads", o->threads, "Threads of tenfold and of oneDNN; the roof is one core's")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  command->add_option("--seconds", o->seconds, "How long to measure, all contenders together")
      ->capture_default_str()
      ->type_name("S")
      ->check(CLI::Range(0.01, 3600.0).description(""));
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.bench/1)");
  command->footer(
      "Contenders run in turn, batch after batch, so that a noisy machine is noisy for all. Quote the ratio.\n"
      "Examples:\n"
      "  tenfold bench --op ReduceMax --dtype bf16 --shape 4096x1024 --axes 0\n"
      "  tenfold bench --op ArgMax --dtype s8 --shape 1024x4096 --axes 0 --with-extreme\n"
      "  tenfold bench --graph softmax.json\n"
      "  tenfold bench --op ReduceSum --shape 64x128x150x150 --axes 1 --threads 2 --json");
}

}  // namespace tenfold::tools

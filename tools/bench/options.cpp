// SPDX-License-Identifier: Apache-2.0
//
// Options of `tenfold bench`, and those that `tenfold tune` has in common with it.
#include "tools/bench/options.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "tools/bench/bench.hpp"
#include "tools/bench/tune.hpp"
#include "tools/options.hpp"
#include "tools/value_checks.hpp"

namespace tenfold::tools {

namespace bench {

void add_case_options(CLI::App& command, CaseTexts& texts, std::string& batch) {
  command.add_option("--op", texts.op, "Reduce ops of either dialect, ArgMax, ArgMin; * and ? are wildcards")
      ->capture_default_str()
      ->type_name("KIND,...");
  command.add_option("--dtype", texts.dtype, "f32, f64, bf16, f16, s8 to s64, u8 to u64, boolean; wildcards too")
      ->capture_default_str()
      ->type_name("DTYPE,...");
  command
      .add_option("--shape", texts.shape,
                  "Input shapes; - for rank 0. Of graphs ID|NAME=SHAPE,... ;... as in `tenfold run`")
      ->capture_default_str()
      ->type_name("SHAPE,...");
  command.add_option("--strides", texts.strides, "Of the input, in elements, such as 2048x1; row-major if not given")
      ->type_name("STRIDES,...");
  command.add_option("--axes", texts.axes, "Reduced axes, such as 0,2 or -1; * is each by itself, all is all of them")
      ->capture_default_str()
      ->type_name("AXES;...");
  command.add_flag("--keep-dims", texts.keep_dims, "Reduced axes stay as 1");
  command.add_flag("--with-extreme", texts.with_extreme, "With ArgMax also ReduceMax, with ArgMin also ReduceMin");
  command.add_option("--graph", texts.graph, "Graph files instead of reductions; a folder, or wildcards in a name")
      ->type_name("PATH,...");
  add_data_dir_option(command, texts.data_dir);
  command.add_option("--batch", batch, "A file with the options of cases on each line; those here are its defaults")
      ->type_name("FILE");
  command.add_option("--target", texts.target, "Instruction sets to compile for (`tenfold isa` lists them)")
      ->type_name("NAME,...");
  command.add_option("--threads", texts.threads, "Threads of all contenders")
      ->capture_default_str()
      ->type_name("N,...");
}

void refuse_reduction_options_with_graph(const CLI::App& command, const CaseTexts& texts) {
  if (command.count("--graph") == 0) return;
  for (const std::string_view name : reduction_options()) {
    if (command.count("--" + std::string(name)) == 0) continue;
    if (const Status status = check_beside_graph(texts, name); !status.ok())
      throw CLI::ValidationError(status.message());
  }
}

}  // namespace bench

void add_bench_command(CLI::App& app, int& exit_code) {
  const auto o = std::make_shared<bench::BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Time reductions and graphs against the machine's roof, oneDNN and plain loops");
  command->callback([o, command, &exit_code] {
    bench::refuse_reduction_options_with_graph(*command, o->texts);
    exit_code = bench::run_bench(*o);
  });
  bench::add_case_options(*command, o->texts, o->batch);
  command->add_option("--cache", o->texts.cache, "warm, cold (flushed before each call), or both")
      ->capture_default_str()
      ->type_name("STATE,...");
  command->add_option("--seconds", o->seconds, "How long to measure a case, all contenders together [1; of many 0.3]")
      ->type_name("S")
      ->check(real_number(0.001, 3600));
  command->add_flag("!--no-rivals", o->rivals, "Ourselves and the roof alone, for quick runs while a kernel is tuned");
  command->add_flag("--json", o->json, "Print one JSON object in Google Benchmark's form (tenfold.bench/2)");
  command->add_option("--html", o->html, "Write a self-contained page with charts")
      ->type_name("FILE")
      ->check(given_path());
  command->footer(
      "Contenders run in turn, batch after batch, so that a noisy machine is noisy for all. Quote the ratio.\n"
      "Lists stand for the cross product. Ctrl-C ends the run and keeps what is done.\n"
      "Examples:\n"
      "  tenfold bench --op ReduceMax --dtype bf16 --shape 4096x1024 --axes 0\n"
      "  tenfold bench --op 'Reduce*' --dtype f32,bf16 --shape 4096x1024,1024x4096 --axes '*' --cache warm,cold\n"
      "  tenfold bench --op ArgMax --dtype s8 --shape 1024x4096 --axes 0 --with-extreme\n"
      "  tenfold bench --graph softmax.json\n"
      "  tenfold bench --graph model.onnx --shape 'x=1x128;x=64x128'\n"
      "  tenfold bench --batch reductions.txt --html report.html");
}

void add_tune_command(CLI::App& app, int& exit_code) {
  const auto o = std::make_shared<bench::TuneOptions>();
  CLI::App* command =
      app.add_subcommand("tune", "Measure other schedules than the heuristic's, and keep what is faster");
  command->callback([o, command, &exit_code] {
    bench::refuse_reduction_options_with_graph(*command, o->texts);
    exit_code = bench::run_tune(*o);
  });
  bench::add_case_options(*command, o->texts, o->batch);
  command->add_option("--file", o->file, "Tuning file to append to; TENFOLD_TUNING or the API then name it")
      ->type_name("FILE")
      ->check(given_path());
  command->add_option("--seconds", o->seconds, "How long to measure a kernel, all schedules together")
      ->capture_default_str()
      ->type_name("S")
      ->check(real_number(0.001, 3600));
  command->add_option("--most", o->most, "Schedules to measure for a kernel, the most promising ones")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1000));
  command->add_flag("--json", o->json, "Print one JSON object (tenfold.tune/1)");
  command->footer(
      "Only schedules that give the same bits are tried. Ctrl-C ends the run and keeps what is done.\n"
      "Examples:\n"
      "  tenfold tune --op ReduceMax --shape 1024x4096 --axes 0 --file machine.tuning\n"
      "  tenfold tune --batch reductions.txt --file machine.tuning\n"
      "  TENFOLD_TUNING=machine.tuning tenfold bench --op ReduceMax --shape 1024x4096 --axes 0");
}

}  // namespace tenfold::tools

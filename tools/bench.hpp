// SPDX-License-Identifier: Apache-2.0
//
// `tenfold bench`: one reduction, timed against the machine's read roof and against oneDNN's primitive, interleaved in
// one run so that a noisy machine is noisy for all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

struct BenchOptions {
  std::string op = "ReduceMax";  ///< as either dialect names it
  std::string dtype = "f32";
  std::string shape = "4096x1024";
  std::string axes = "1";  ///< "0,2", negative ones too
  bool keep_dims = false;
  bool with_extreme = false;  ///< ArgMax, ArgMin: the extreme itself is wanted too
  std::string graph;          ///< a graph file: then the case's options above say nothing
  std::string target;
  int threads = 1;
  double seconds = 1.0;  ///< of measuring, all contenders together
  bool json = false;
};
int run_bench(const BenchOptions& options);
/// A graph file, against the time to read its inputs once and write its outputs once, and against itself op by op.
int run_bench_graph(const BenchOptions& options);

/// Something to be timed: a call does the whole work once.
struct Contender {
  std::string name;
  std::function<void()> call;
};

/// Seconds for one call.
struct Timing {
  std::string name;
  double least = 0;
  double median = 0;
  int batches = 0;
};

/// Runs the contenders in turn, batch after batch, each batch at least a millisecond long, until `seconds` have passed
/// and each has had at least five batches.
std::vector<Timing> measure(const std::vector<Contender>& contenders, double seconds);

/// The reading strategies that the roof is the best of: one stream, four streams, and a prefetch 4 KiB ahead. Each
/// reads `bytes` (a multiple of 256) at `data` once.
/// Reads `read_bytes` and writes `write_bytes`: copies as far as both go, then reads or fills what is left.
std::vector<Contender> copy_probes(const void* from, std::int64_t read_bytes, void* to, std::int64_t write_bytes);

std::vector<Contender> read_probes(const void* data, std::int64_t bytes);

/// What oneDNN would be asked to do.
std::string time_text(double seconds);
/// Seconds of the fastest of the first `probes`; 0 when there is none.
double roof_seconds(const std::vector<Timing>& timings, std::size_t probes);
/// One line a contender: least, median, GB/s of `bytes`, part of the roof.
void print_timings(const std::vector<Timing>& timings, std::int64_t bytes, double roof);
Json timings_json(const std::vector<Timing>& timings, std::int64_t bytes, double roof);

struct RivalCase {
  std::string op;
  TensorDesc in;
  Dims out_shape;  ///< with reduced dims kept as 1
  const void* data = nullptr;
  int threads = 1;
};
/// oneDNN's reduction primitive; unsupported_op with the reason when it is not installed or refuses the case.
Result<Contender> onednn_reduction(const RivalCase& rival);

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// Schedules that were measured on this machine: the same reduction compiled with the heuristic's schedule and with a
// tuning file, as `tenfold tune` writes it. The results have the same bits, whatever the file holds.
//
//   tuning_file FILE.tuning
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <tenfold/graph.hpp>
#include <vector>

using namespace tenfold::graph;
using data_type = logical_tensor::data_type;
using layout_type = logical_tensor::layout_type;

namespace {

/// The line of explain() that names the kernel's schedule, and those about tuning files.
void print_schedule(const std::string& name, const std::string& explanation) {
  std::size_t at = 0;
  for (std::size_t end = 0; (end = explanation.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = explanation.substr(at, end - at);
    if (line.find("schedule") != std::string::npos || line.find("tuning") != std::string::npos)
      std::cout << name << ": " << line << "\n";
  }
}

int run(const std::string& file) {
  constexpr int64_t kRows = 512, kColumns = 4096;
  const logical_tensor x(0, data_type::f32, {kRows, kColumns}, layout_type::strided);
  op sum(0, op::kind::ReduceSum, {x}, {logical_tensor(1, data_type::f32)}, "sum");
  sum.set_attr<std::vector<int64_t>>(op::attr::axes, {0});
  graph g(engine::kind::cpu);
  g.add_op(sum);
  g.finalize();
  const partition part = g.get_partitions().at(0);

  const engine eng(engine::kind::cpu, 0);
  compile_options plain_options;
  plain_options.threads = 1;  // as it was tuned: entries are for a number of threads
  compile_options tuned_options = plain_options;
  tuned_options.tuning_file = file;
  const compiled_partition plain = part.compile({x}, {}, eng, plain_options);
  const compiled_partition tuned = part.compile({x}, {}, eng, tuned_options);
  print_schedule("heuristic", plain.explain());
  print_schedule("tuned", tuned.explain());

  std::vector<float> data(static_cast<std::size_t>(kRows * kColumns));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 1.0F / static_cast<float>(i % 1000 + 1);
  std::vector<float> first(kColumns), second(kColumns);
  stream strm(eng);
  plain.execute(strm, {tensor(x, eng, data.data())}, {tensor(plain.get_outputs()[0], eng, first.data())});
  tuned.execute(strm, {tensor(x, eng, data.data())}, {tensor(tuned.get_outputs()[0], eng, second.data())});
  const bool same = std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) == 0;
  std::cout << (same ? "the same bits\n" : "OTHER bits\n");
  return same ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: tuning_file FILE.tuning\n";
    return 2;
  }
  try {
    return run(arguments[1]);
  } catch (const std::exception& error) {  // a file that cannot be read, for one
    std::cerr << "tuning_file: " << error.what() << "\n";
    return 1;
  }
}

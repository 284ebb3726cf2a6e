// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "compile/compile.hpp"
#include "kernel/text_stream.hpp"

namespace tenfold::compiler {
namespace {

void print_indented(std::ostringstream& out, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out << "      " << line << '\n';
}

void print_region(std::ostringstream& out, std::size_t index, const RegionReport& region) {
  out << "region " << index << ": ";
  switch (region.kind) {
    case RegionReport::Kind::kernel:
      out << region.kernels.size() << (region.kernels.size() == 1 ? " kernel" : " kernels");
      break;
    case RegionReport::Kind::reference: out << "reference evaluator"; break;
    case RegionReport::Kind::onednn:
      out << "oneDNN " << region.heavy->implementation << ", " << region.heavy->tasks
          << (region.heavy->tasks == 1 ? " task" : " tasks");
      break;
    case RegionReport::Kind::selection:
      out << "the first " << region.selection->places << " of lines of " << region.selection->extent;
      if (region.selection->block > 0) out << ", in blocks of " << region.selection->block;
      break;
    case RegionReport::Kind::nothing: out << "nothing to do"; break;
  }
  out << '\n';
  for (const std::string& op : region.ops) out << "  " << op << '\n';
  if (region.heavy && !region.heavy->widened.empty()) {
    out << "  its";
    for (const DType dtype : region.heavy->widened) out << ' ' << to_string(dtype);
    out << " operands as f32\n";
  }
  if (!region.reason.empty()) out << "  because " << region.reason << '\n';
  if (region.kind != RegionReport::Kind::nothing)
    out << "  bytes moved " << region.bytes_moved << ", least possible " << region.bytes_least << '\n';
  if (region.heavy) out << "    " << region.heavy->spec << '\n';
  for (std::size_t i = 0; i < region.kernels.size(); ++i) {
    const KernelReport& kernel = region.kernels[i];
    out << "    kernel " << i << ": " << kernel.code_bytes << " bytes of code, " << kernel.bytes_moved
        << " bytes moved\n    schedule " << schedule::print(kernel.schedule) << '\n';
    print_indented(out, kernel::print(kernel.spec));
  }
}

}  // namespace

std::string explain(const Compiled& compiled, const target::Target& target) {
  kernel::TextStream out;
  out << "target " << target::to_string(target.isa) << ", " << target.cores
      << (target.cores == 1 ? " core\n" : " cores\n");
  for (std::size_t i = 0; i < compiled.regions.size(); ++i) print_region(out, i, compiled.regions[i]);
  for (const std::string& notice : compiled.notices) out << "note: " << notice << '\n';
  if (!compiled.unfused.empty()) out << "not fused:\n";
  for (const UnfusedReport& edge : compiled.unfused)
    out << "  " << edge.from << " and " << edge.to << ": " << edge.reason << '\n';
  return out.str();
}

}  // namespace tenfold::compiler

// SPDX-License-Identifier: Apache-2.0
//
// `tenfold isa`: the table of targets against this machine.
#include <cstdio>
#include <string>

#include "target/target.hpp"
#include "tools/commands.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

int show_isa(const IsaOptions& options) {
  const Result<target::Target>& host = target::host();
  if (!host.ok()) return fail("isa", options.json, host.status());
  const target::Target& machine = host.value();
  Json answer = json_answer("isa");
  answer["used"] = std::string(target::to_string(machine.isa));
  answer["native"] = std::string(target::to_string(machine.native));
  answer["isas"] = Json::array();
  for (const target::IsaRow& row : target::all_isas()) {
    const bool available = row.isa <= machine.native;
    answer["isas"].push_back({{"name", std::string(row.name)},
                              {"available", available},
                              {"needs", std::string(row.needs)},
                              {"vector_bytes", row.vector_bytes},
                              {"vector_registers", row.vector_registers}});
    if (!options.json)
      std::printf("%-17s %-4s %s%s\n", std::string(row.name).c_str(), available ? "yes" : "no",
                  std::string(row.needs).c_str(), row.isa == machine.isa ? "  <- used" : "");
  }
  answer["cores"] = machine.cores;
  answer["cache_bytes"] = {{"l1", machine.l1_bytes}, {"l2", machine.l2_bytes}, {"l3", machine.l3_bytes}};
  if (options.json)
    print_json(answer);
  else
    std::printf("cores %d, caches: L1 %lld KiB, L2 %lld KiB, L3 %lld KiB\n", machine.cores,
                static_cast<long long>(machine.l1_bytes >> 10), static_cast<long long>(machine.l2_bytes >> 10),
                static_cast<long long>(machine.l3_bytes >> 10));
  return kExitOk;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// read_json(): the document is cut into ops, the assembler makes a graph of them.
#include "graph/read/json.hpp"

#include <exception>
#include <new>
#include <string>

#include "graph/read/assemble.hpp"
#include "graph/read/document.hpp"

namespace tenfold::graph {

Result<Graph> read_json(std::string_view text, const ReadLimits& limits) {
  try {
    Assembler assembler(limits);
    if (Status status = read_document(text, limits, assembler); !status.ok()) return status;
    return assembler.finish();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "out of memory while reading a graph file");
  } catch (const std::exception& error) {
    return Status(Code::internal_error, std::string("reading a graph file threw: ") + error.what());
  }
}

}  // namespace tenfold::graph

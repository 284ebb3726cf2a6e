// SPDX-License-Identifier: Apache-2.0
//
// Graph: the door from a file's text to a verified graph.
#include <memory>
#include <utility>

#include "api/guard.hpp"
#include "graph/check/check.hpp"
#include "graph/read/json.hpp"
#include "graph/read/onnx.hpp"
#include "graph/text/text.hpp"
#include "graph/write/json.hpp"
#include "runtime/float_state.hpp"
#include "tenfold/graph_builder.hpp"

namespace tenfold {

Result<Graph> Graph::from_json(std::string_view text) {
  return api::guarded([&]() -> Result<Graph> {
    const runtime::FullFloatState state;
    Result<graph::Graph> read = graph::read_json(text);
    if (!read.ok()) return read.status();
    auto ir = std::make_shared<graph::Graph>(std::move(read).value());
    if (Status status = graph::verify(*ir); !status.ok()) return status;
    return Graph(std::move(ir));
  });
}

Result<Graph> Graph::from_onnx(std::string_view bytes, const ExternalDataReader& external_data) {
  return api::guarded([&]() -> Result<Graph> {
    const runtime::FullFloatState state;
    graph::OnnxOptions options;
    options.external_data = external_data;
    Result<graph::Graph> read = graph::read_onnx(bytes, options);
    if (!read.ok()) return read.status();
    auto ir = std::make_shared<graph::Graph>(std::move(read).value());
    if (Status status = graph::verify(*ir); !status.ok()) return status;
    return Graph(std::move(ir));
  });
}

Result<std::string> Graph::to_json() const {
  return api::guarded([&]() -> Result<std::string> {
    const runtime::FullFloatState state;
    return graph::write_json(*ir_);
  });
}

std::string Graph::to_text() const {
  const runtime::FullFloatState state;
  return graph::print(*ir_);
}

}  // namespace tenfold

// SPDX-License-Identifier: Apache-2.0
//
// Makes the Graph from a parsed ONNX model: operator sets, names to values, nodes to ops. Tensors and attributes have
// their own files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "graph/ir/graph.hpp"
#include "graph/read/onnx.hpp"
#include "graph/read/onnx_tensor.hpp"
#include "tenfold/status.hpp"

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace tenfold::graph {

class OnnxAssembler {
 public:
  /// The model must outlive the assembler.
  OnnxAssembler(const onnx::ModelProto& model, const OnnxOptions& options);

  Result<Graph> run();

 private:
  Status read_opsets();
  Status define_inputs(const onnx::GraphProto& graph);
  Status define_initializers(const onnx::GraphProto& graph);
  Status define_node_outputs(const onnx::GraphProto& graph);
  Status read_infos(const onnx::GraphProto& graph);
  Status read_nodes(const onnx::GraphProto& graph);
  /// ConstantOfShape, whose attribute is a tensor, is Expand of that tensor; `op` gets its kind and first input.
  Status become_expand(const onnx::NodeProto& node, const std::string& what, Op& op);
  Status list_outputs(const onnx::GraphProto& graph);

  /// Is this ai.onnx's own Constant?
  static bool is_constant_node(const onnx::NodeProto& node);
  Status check_domain(const onnx::NodeProto& node, const std::string& what) const;
  /// Adds `value` under its name, which must be new; "" is always new, and is never found again.
  Result<ValueId> define(const std::string& name, Value value, const std::string& what);

  const onnx::ModelProto& model_;
  const OnnxOptions& options_;
  OnnxBudget budget_;
  Graph graph_;
  std::optional<std::int64_t> opset_;
  // Ordered: with a hash table a file could choose names that collide.
  std::map<std::string_view, ValueId> names_;
  std::set<std::pair<std::string_view, std::string_view>> functions_;  ///< the model's own, by domain and name
};

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// One node of an ONNX graph by itself: its attributes, and, for Constant, its value. How nodes are connected is
// onnx_model.hpp's.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"
#include "graph/read/onnx_tensor.hpp"
#include "tenfold/status.hpp"

namespace onnx {
class NodeProto;
}

namespace tenfold::graph {

/// "op 3 'name' (Add)", printable and short whatever the file holds.
std::string describe_node(const onnx::NodeProto& node, std::int64_t id);

/// unsupported_op for attributes that hold graphs (control flow), tensors, lists of strings or types; `what` names the
/// node.
Status read_attributes(const onnx::NodeProto& node, const std::string& what, Op& op);

/// What a Constant node gives, in any of its forms that are numbers. invalid_op for forms that are younger than
/// `opset`.
Result<Value> read_constant_node(const onnx::NodeProto& node, const std::string& what, std::int64_t opset,
                                 OnnxBudget& budget);

/// The one element, of rank 0, that a ConstantOfShape node repeats.
Result<Value> read_fill_value(const onnx::NodeProto& node, const std::string& what, OnnxBudget& budget);

}  // namespace tenfold::graph

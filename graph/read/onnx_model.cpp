// SPDX-License-Identifier: Apache-2.0
//
// See onnx_model.hpp. Values are defined first (inputs, initializers, what nodes give), then nodes are connected to
// them; so a name that nobody gives is known from one that a later node gives, and only verify() need find cycles.
#include "graph/read/onnx_model.hpp"

#include <onnx/onnx.pb.h>

#include <set>
#include <utility>

#include "graph/ir/dims.hpp"
#include "graph/read/location.hpp"
#include "graph/read/onnx_node.hpp"

namespace tenfold::graph {
namespace {

/// ONNX's own domain has two spellings.
bool is_onnx_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

Status bad_graph(const std::string& message) { return Status(Code::invalid_graph, message); }

/// It is read as Expand, which is older.
constexpr std::int64_t kFirstOpsetWithConstantOfShape = 9;

/// Models before this one had no operator sets; they mean the first.
constexpr std::int64_t kFirstIrVersionWithOpsets = 3;

bool dims_agree(const Value& declared, const Value& constant) {
  return !declared.ranked || may_agree(declared.shape, constant.shape);
}

}  // namespace

OnnxAssembler::OnnxAssembler(const onnx::ModelProto& model, const OnnxOptions& options)
    : model_(model), options_(options), budget_{options} {
  for (const auto& function : model.functions()) functions_.emplace(function.domain(), function.name());
}

Result<Graph> OnnxAssembler::run() {
  if (!model_.has_graph()) return Status(Code::invalid_file, "the model has no graph; this may be no ONNX model");
  const onnx::GraphProto& graph = model_.graph();
  if (static_cast<std::size_t>(graph.node_size()) > options_.limits.ops)
    return Status(Code::invalid_file, std::to_string(graph.node_size()) + " nodes, more than the allowed " +
                                          std::to_string(options_.limits.ops));
  if (graph.sparse_initializer_size() > 0)
    return Status(Code::unsupported_dtype, "initializer " + shown(graph.sparse_initializer(0).values().name()) +
                                               " is sparse; only dense ones are supported");
  if (Status s = read_opsets(); !s.ok()) return s;
  if (Status s = define_inputs(graph); !s.ok()) return s;
  if (Status s = define_initializers(graph); !s.ok()) return s;
  if (Status s = define_node_outputs(graph); !s.ok()) return s;
  if (Status s = read_infos(graph); !s.ok()) return s;
  if (Status s = read_nodes(graph); !s.ok()) return s;
  if (Status s = list_outputs(graph); !s.ok()) return s;
  return std::move(graph_);
}

Status OnnxAssembler::read_opsets() {
  if (model_.ir_version() < 1)
    return Status(Code::invalid_file,
                  "the model's IR version is " + std::to_string(model_.ir_version()) + "; this may be no ONNX model");
  if (model_.ir_version() < kFirstIrVersionWithOpsets && model_.opset_import_size() == 0) opset_ = 1;
  for (const auto& import : model_.opset_import()) {
    if (!is_onnx_domain(import.domain())) continue;
    const std::int64_t version = import.version();
    if (opset_ && *opset_ != version)
      return bad_graph("the model imports ai.onnx twice, as opset " + std::to_string(*opset_) + " and " +
                       std::to_string(version));
    if (version < 1)
      return bad_graph("the model imports opset " + std::to_string(version) + " of ai.onnx; the first is 1");
    if (version > kNewestOnnxOpset)
      return Status(Code::unsupported_op, "the model imports opset " + std::to_string(version) +
                                              " of ai.onnx; the newest that is known is " +
                                              std::to_string(kNewestOnnxOpset));
    opset_ = version;
  }
  return {};
}

Result<ValueId> OnnxAssembler::define(const std::string& name, Value value, const std::string& what) {
  if (graph_.values.size() >= options_.limits.tensors)
    return Status(Code::invalid_file, "more than the allowed " + std::to_string(options_.limits.tensors) + " tensors");
  if (name.size() > options_.limits.name)
    return Status(Code::invalid_file, what + ": its name has " + std::to_string(name.size()) + " bytes, the limit is " +
                                          std::to_string(options_.limits.name));
  const auto id = static_cast<ValueId>(graph_.values.size());
  if (!name.empty() && !names_.emplace(name, id).second)
    return bad_graph(what + ": another input, initializer or node gives a tensor of this name");
  value.id = id;
  value.name = name;
  graph_.values.push_back(std::move(value));
  return id;
}

Status OnnxAssembler::define_inputs(const onnx::GraphProto& graph) {
  std::set<std::string_view> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  for (const auto& info : graph.input()) {
    const std::string what = "graph input " + shown(info.name());
    if (info.name().empty()) return bad_graph("a graph input has no name");
    // Listed as an input as well, an initializer is a default that callers may replace; ours cannot.
    if (initialized.count(info.name()) != 0) continue;
    Value value;
    if (Status s = read_value_info(info, what, value); !s.ok()) return s;
    if (value.dtype == DType::undef) return Status(Code::invalid_dtype, what + ": its element type is not given");
    const Result<ValueId> id = define(info.name(), std::move(value), what);
    if (!id.ok()) return id.status();
    graph_.inputs.push_back(id.value());
  }
  return {};
}

Status OnnxAssembler::define_initializers(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) {
    if (tensor.name().empty()) return bad_graph("an initializer has no name");
    const std::string what = "initializer " + shown(tensor.name());
    Result<Value> value = onnx_constant(tensor, what, budget_);
    if (!value.ok()) return value.status();
    const Result<ValueId> id = define(tensor.name(), std::move(value).value(), what);
    if (!id.ok()) return id.status();
  }
  return {};
}

Status OnnxAssembler::define_node_outputs(const onnx::GraphProto& graph) {
  for (int n = 0; n < graph.node_size(); ++n) {
    const onnx::NodeProto& node = graph.node(n);
    const std::string what = describe_node(node, n);
    if (is_constant_node(node)) {
      if (Status s = check_domain(node, what); !s.ok()) return s;
      Result<Value> value = read_constant_node(node, what, *opset_, budget_);
      if (!value.ok()) return value.status();
      const Result<ValueId> id = define(node.output(0), std::move(value).value(), what);
      if (!id.ok()) return id.status();
      continue;
    }
    for (const std::string& name : node.output()) {
      const Result<ValueId> id = define(name, Value(), what + ": output " + shown(name));
      if (!id.ok()) return id.status();
      graph_.values[id.value()].producer = static_cast<OpId>(graph_.ops.size());
    }
    // Filled by read_nodes(); the outputs are where the values now end.
    Op& op = graph_.ops.emplace_back();
    for (int i = node.output_size(); i > 0; --i)
      op.outputs.push_back(static_cast<ValueId>(graph_.values.size() - static_cast<std::size_t>(i)));
  }
  return {};
}

Status OnnxAssembler::read_infos(const onnx::GraphProto& graph) {
  for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
    for (const auto& info : *list) {
      const auto found = names_.find(info.name());
      if (found == names_.end()) continue;
      Value& value = graph_.values[found->second];
      if (value.producer == kNone && !value.is_constant) continue;
      const std::string what = "tensor " + shown(info.name());
      Value declared;
      if (Status s = read_value_info(info, what, declared); !s.ok()) return s;
      if (!value.is_constant) {
        if (declared.dtype != DType::undef) value.dtype = declared.dtype;
        if (!declared.ranked) continue;
        value.ranked = true;
        value.shape = std::move(declared.shape);
        value.dim_names = std::move(declared.dim_names);
      } else if (declared.dtype != DType::undef && declared.dtype != value.dtype) {
        return Status(Code::invalid_dtype, what + " is declared as " + std::string(to_string(declared.dtype)) +
                                               ", but its data are " + std::string(to_string(value.dtype)));
      } else if (!dims_agree(declared, value)) {
        return Status(Code::invalid_shape, what + " is declared with other dims than its data have");
      }
    }
  }
  return {};
}

bool OnnxAssembler::is_constant_node(const onnx::NodeProto& node) {
  return is_onnx_domain(node.domain()) && node.op_type() == "Constant";
}

Status OnnxAssembler::check_domain(const onnx::NodeProto& node, const std::string& what) const {
  if (functions_.contains({node.domain(), node.op_type()}))
    return Status(Code::unsupported_op, what + ": it calls the model's function " + shown(node.op_type()) +
                                            "; functions are not supported, inline them first");
  if (!is_onnx_domain(node.domain()))
    return Status(Code::unsupported_op,
                  what + ": its domain " + shown(node.domain()) + " is not known; only ai.onnx is supported");
  if (!opset_) return bad_graph(what + ": the model imports no opset of ai.onnx");
  return {};
}

Status OnnxAssembler::read_nodes(const onnx::GraphProto& graph) {
  std::size_t next = 0;
  for (int n = 0; n < graph.node_size(); ++n) {
    const onnx::NodeProto& node = graph.node(n);
    if (is_constant_node(node)) continue;
    const std::string what = describe_node(node, n);
    if (node.op_type().empty()) return bad_graph(what + ": it has no op type");
    if (Status s = check_domain(node, what); !s.ok()) return s;
    Op& op = graph_.ops[next++];
    op.id = n;
    op.name = node.name();
    op.dialect = Dialect::onnx;
    op.kind = node.op_type();
    op.opset = static_cast<int>(*opset_);
    if (op.kind == "ConstantOfShape") {
      if (Status s = become_expand(node, what, op); !s.ok()) return s;
    } else if (Status s = read_attributes(node, what, op); !s.ok()) {
      return s;
    }
    for (const std::string& name : node.input()) {
      const auto found = names_.find(name);
      if (!name.empty() && found == names_.end())
        return bad_graph(what + ": its input " + shown(name) +
                         " is neither a graph input, nor an initializer, nor given by a node");
      op.inputs.push_back(name.empty() ? kNone : found->second);
    }
  }
  return {};
}

Status OnnxAssembler::become_expand(const onnx::NodeProto& node, const std::string& what, Op& op) {
  if (*opset_ < kFirstOpsetWithConstantOfShape)
    return Status(Code::invalid_op, what + ": 'ConstantOfShape' is since opset " +
                                        std::to_string(kFirstOpsetWithConstantOfShape) + ", the op is of opset " +
                                        std::to_string(*opset_));
  if (node.input_size() != 1)
    return Status(Code::invalid_op, what + ": it has " + std::to_string(node.input_size()) + " inputs, not 1");
  Result<Value> value = read_fill_value(node, what, budget_);
  if (!value.ok()) return value.status();
  const Result<ValueId> id = define("", std::move(value).value(), what);
  if (!id.ok()) return id.status();
  op.kind = "Expand";
  op.inputs.push_back(id.value());
  return {};
}

Status OnnxAssembler::list_outputs(const onnx::GraphProto& graph) {
  if (graph.output_size() == 0) return bad_graph("the graph has no outputs");
  std::set<ValueId> listed;
  for (const auto& info : graph.output()) {
    const auto found = names_.find(info.name());
    if (found == names_.end())
      return bad_graph("graph output " + shown(info.name()) +
                       " is neither a graph input, nor an initializer, nor given by a node");
    if (!listed.insert(found->second).second)
      return bad_graph("graph output " + shown(info.name()) + " is listed twice");
    graph_.outputs.push_back(found->second);
  }
  return {};
}

}  // namespace tenfold::graph

// SPDX-License-Identifier: Apache-2.0
//
// See assemble.hpp.
#include "graph/read/assemble.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "graph/read/attribute.hpp"
#include "graph/read/location.hpp"
#include "graph/read/scalars.hpp"

namespace tenfold::graph {
namespace {

/// Kinds that oneDNN Graph has renamed, as files of before have them.
struct FormerKind {
  std::string_view before, now;
};
constexpr FormerKind kFormerKinds[] = {{"BiasAddBackprop", "BiasAddBackward"}};

constexpr std::string_view kEngineKinds[] = {"cpu", "gpu", "any"};
constexpr std::string_view kFpmathModes[] = {"strict", "bf16", "f16", "any", "tf32"};

Status read_one_of(Item item, std::span<const std::string_view> allowed, std::string& target) {
  Result<std::string> name = read_string(item);
  if (!name.ok()) return name.status();
  std::string known;
  for (const std::string_view candidate : allowed) {
    if (candidate == name.value()) {
      target = std::move(name).value();
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  return item.error("unknown " + std::string(item.key()) + " " + shown(name.value()) + "; known are " + known);
}

/// Old writers print it as a string, people as a boolean; kept in the first form.
Status read_apply_to_int(Item item, std::vector<ExtraKey>& extras) {
  const bool is_text = item.kind() == Kind::string && (item.string() == "true" || item.string() == "false");
  const Result<bool> value = is_text ? Result<bool>(item.string() == "true") : read_boolean(item);
  if (!value.ok()) return mismatch(item, "\"true\" or \"false\", as a string or a boolean");
  extras.push_back({std::string(item.key()), value.value() ? "\"true\"" : "\"false\""});
  return {};
}

/// Our extension: whose op it is. Core ops are made by passes alone.
Result<Dialect> read_dialect(Item item) {
  static constexpr std::string_view kDialects[] = {"onednn", "onnx"};
  std::string name;
  if (Status status = read_one_of(item, kDialects, name); !status.ok()) return status;
  return name == "onnx" ? Dialect::onnx : Dialect::onednn;
}

/// Our extension: the version of the dialect's operator set. 0, the newest, is what files without one mean.
Result<int> read_opset(Item item) {
  constexpr std::int64_t kMost = 1000;
  const Result<std::int64_t> opset = read_id(item);
  if (!opset.ok()) return opset.status();
  if (opset.value() > kMost) return item.error("opset " + std::to_string(opset.value()) + " is above 1000");
  return static_cast<int>(opset.value());
}

struct OpMembers {
  std::optional<Item> id, name, kind, attributes, inputs, outputs, dialect, opset;
};

OpMembers find_members(Item item, std::vector<ExtraKey>& extras) {
  OpMembers found;
  for (const Item member : item) {
    const std::string_view key = member.key();
    if (key == "id") {
      found.id = member;
    } else if (key == "name") {
      found.name = member;
    } else if (key == "kind") {
      found.kind = member;
    } else if (key == "attrs") {
      found.attributes = member;
    } else if (key == "inputs") {
      found.inputs = member;
    } else if (key == "outputs") {
      found.outputs = member;
    } else if (key == "dialect") {
      found.dialect = member;
    } else if (key == "opset") {
      found.opset = member;
    } else {
      extras.push_back({std::string(key), member.json()});
    }
  }
  return found;
}

Status read_identity(Item item, const OpMembers& members, Op& op) {
  if (!members.id) return item.error("key 'id' is missing");
  if (!members.kind) return item.error("key 'kind' is missing");
  Result<std::int64_t> id = read_id(*members.id);
  if (!id.ok()) return id.status();
  Result<std::string> kind = read_string(*members.kind);
  if (!kind.ok()) return kind.status();
  if (kind.value().empty()) return members.kind->error("the op's kind is empty");
  op.id = id.value();
  op.kind = std::move(kind).value();
  for (const FormerKind& former : kFormerKinds)
    if (op.kind == former.before) op.kind = former.now;
  if (!members.name) return {};
  Result<std::string> name = read_string(*members.name);
  if (!name.ok()) return name.status();
  op.name = std::move(name).value();
  return {};
}

}  // namespace

Status Assembler::on_member(Item member) {
  const std::string_view key = member.key();
  if (key == "version") {
    Result<std::string> version = read_string(member);
    if (!version.ok()) return version.status();
    graph_.version = std::move(version).value();
    return {};
  }
  if (key == "engine_kind") return read_one_of(member, kEngineKinds, graph_.engine_kind);
  if (key == "fpmath_mode") return read_one_of(member, kFpmathModes, graph_.fpmath_mode);
  if (key == "fpmath_mode_apply_to_int") return read_apply_to_int(member, graph_.extras);
  if (key == "dialect") {
    const Result<Dialect> dialect = read_dialect(member);
    if (!dialect.ok()) return dialect.status();
    dialect_ = dialect.value();
    return {};
  }
  if (key == "opset") {
    const Result<int> opset = read_opset(member);
    if (!opset.ok()) return opset.status();
    opset_ = opset.value();
    return {};
  }
  if (key == "input_ports" || key == "output_ports") {
    // Stale in files that exist; the edges say better. Their form is judged all the same.
    const Result<std::vector<std::int64_t>> ports = read_integers(member);
    return ports.status();
  }
  graph_.extras.push_back({std::string(key), member.json()});
  return {};
}

Status Assembler::on_op(Item item) {
  if (item.kind() != Kind::object) return mismatch(item, "an op (an object)");
  if (graph_.ops.size() >= limits_.ops)
    return item.error("more than the allowed " + std::to_string(limits_.ops) + " ops");
  Op op;
  const OpMembers members = find_members(item, op.extras);
  if (Status status = read_identity(item, members, op); !status.ok()) return status;
  if (members.dialect) {
    const Result<Dialect> dialect = read_dialect(*members.dialect);
    if (!dialect.ok()) return dialect.status();
    op.dialect = dialect.value();
  } else {
    without_dialect_.push_back(static_cast<OpId>(graph_.ops.size()));
  }
  if (members.opset) {
    const Result<int> opset = read_opset(*members.opset);
    if (!opset.ok()) return opset.status();
    op.opset = opset.value();
  } else {
    without_opset_.push_back(static_cast<OpId>(graph_.ops.size()));
  }
  if (!members.inputs) return item.error("key 'inputs' is missing");
  if (!members.outputs) return item.error("key 'outputs' is missing");
  if (members.attributes)
    if (Status status = read_attributes(*members.attributes, op); !status.ok()) return status;
  if (Status status = read_tensors(*members.inputs, op, TensorTable::Role::input); !status.ok()) return status;
  if (Status status = read_tensors(*members.outputs, op, TensorTable::Role::output); !status.ok()) return status;
  graph_.ops.push_back(std::move(op));
  return {};
}

Status Assembler::read_attributes(Item item, Op& op) {
  if (item.kind() != Kind::object) return mismatch(item, "an object of attributes");
  for (const Item member : item) {
    Result<NamedAttribute> attribute = read_attribute(member, op.extras);
    if (!attribute.ok()) return attribute.status();
    op.attributes.push_back(std::move(attribute).value());
  }
  return {};
}

Status Assembler::read_tensors(Item item, Op& op, TensorTable::Role role) {
  if (item.kind() != Kind::array) return mismatch(item, "an array of tensors");
  const bool is_input = role == TensorTable::Role::input;
  std::vector<ValueId>& ids = is_input ? op.inputs : op.outputs;
  for (const Item element : item) {
    // ONNX's optional inputs may be left out before others; verify() knows which. So may outputs that nobody reads.
    if (element.kind() == Kind::null) {
      const Result<ValueId> id = is_input ? Result<ValueId>(kNone) : tensors_.add_left_out(element);
      if (!id.ok()) return id.status();
      ids.push_back(id.value());
      continue;
    }
    const std::string place = (is_input ? "inputs/" : "outputs/") + std::to_string(ids.size()) + "/";
    Result<TensorRecord> record = read_tensor(element, place, constants_, op.extras);
    if (!record.ok()) return record.status();
    Result<ValueId> id = tensors_.add(std::move(record).value(), element, op, role);
    if (!id.ok()) return id.status();
    ids.push_back(id.value());
  }
  return {};
}

void Assembler::spread_dialect() {
  if (dialect_)
    for (const OpId op : without_dialect_) graph_.ops[op].dialect = *dialect_;
  if (opset_)
    for (const OpId op : without_opset_)
      if (graph_.ops[op].dialect == Dialect::onnx) graph_.ops[op].opset = *opset_;
}

Result<Graph> Assembler::finish() {
  if (Status status = tensors_.finish(); !status.ok()) return status;
  tensors_.number_left_out();
  spread_dialect();
  connect(graph_);
  const std::vector<ValueId>& left_out = tensors_.left_out();  // in the order of values
  std::erase_if(graph_.outputs, [&](ValueId v) { return std::binary_search(left_out.begin(), left_out.end(), v); });
  return std::move(graph_);
}

}  // namespace tenfold::graph

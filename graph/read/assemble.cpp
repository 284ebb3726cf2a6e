// SPDX-License-Identifier: Apache-2.0
//
// See assemble.hpp.
#include "graph/read/assemble.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "graph/read/attribute.hpp"
#include "graph/read/location.hpp"
#include "graph/read/scalars.hpp"

namespace tenfold::graph {
namespace {

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

struct OpMembers {
  std::optional<Item> id, name, kind, attributes, inputs, outputs;
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
    const std::string place = (is_input ? "inputs/" : "outputs/") + std::to_string(ids.size()) + "/";
    Result<TensorRecord> record = read_tensor(element, place, constants_, op.extras);
    if (!record.ok()) return record.status();
    Result<ValueId> id = tensors_.add(std::move(record).value(), element, op, role);
    if (!id.ok()) return id.status();
    ids.push_back(id.value());
  }
  return {};
}

Result<Graph> Assembler::finish() {
  if (Status status = tensors_.finish(); !status.ok()) return status;
  connect(graph_);
  return std::move(graph_);
}

}  // namespace tenfold::graph

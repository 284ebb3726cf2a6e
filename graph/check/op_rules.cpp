// SPDX-License-Identifier: Apache-2.0
//
// The rules op.O1 to op.O9 and O11 to O13: an op against its row of the op tables, in oneDNN's order but for the
// attributes, which come before the dtypes. Nothing in this file knows any op by name.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"
#include "schemas/op_table.hpp"

namespace tenfold::graph {
namespace {

using schemas::AttrDesc;
using schemas::AttrType;
using schemas::OpVersion;
using schemas::PortDesc;

constexpr AttrType kTypeOfAlternative[] = {AttrType::s64,    AttrType::f32,  AttrType::boolean,
                                           AttrType::string, AttrType::s64s, AttrType::f32s};
static_assert(std::size(kTypeOfAlternative) == std::variant_size_v<Attribute>);

/// Attributes that any op of the dialect may carry; they describe the op and change nothing: what oneDNN's partitioning
/// dumps add, and what an op was before it was canonicalized, or the op that it is a part of.
struct Remark {
  Dialect dialect;
  std::string_view name;
  AttrType type;
};
constexpr Remark kRemarks[] = {
    {Dialect::onednn, "partition_id", AttrType::string}, {Dialect::onednn, "backend", AttrType::string},
    {Dialect::onednn, "source_kind", AttrType::string},  {Dialect::onednn, "source_id", AttrType::s64},
    {Dialect::core, "source_kind", AttrType::string},    {Dialect::core, "source_id", AttrType::s64}};

bool is_remark(const Op& op, const NamedAttribute& attribute) {
  const AttrType type = kTypeOfAlternative[attribute.value.index()];
  return std::any_of(std::begin(kRemarks), std::end(kRemarks), [&](const Remark& r) {
    return r.dialect == op.dialect && r.name == attribute.name && r.type == type;
  });
}

std::string quote(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string join(std::span<const std::string_view> items) {
  std::string out;
  for (const std::string_view item : items) out += (out.empty() ? "" : ", ") + std::string(item);
  return out;
}

/// " in ReduceMax-13 (opset 15)": which version judged; nothing in dialects that have one only.
std::string by_version(const Op& op, const OpVersion& version) {
  if (op.dialect != Dialect::onnx) return {};
  const std::string opset = op.opset == 0 ? "the newest opset" : "opset " + std::to_string(op.opset);
  return " in " + op.kind + "-" + std::to_string(version.since_version) + " (" + opset + ")";
}

Status check_count(const Op& op, const OpVersion& version, std::span<const PortDesc> ports, std::size_t count,
                   std::string_view what, std::string_view rule) {
  std::size_t least = 0;
  bool variadic = false;
  std::vector<std::string_view> names;
  for (const PortDesc& port : ports) {
    if (!port.optional) ++least;
    variadic = variadic || port.variadic;
    names.push_back(port.name);
  }
  if (count >= least && (variadic || count <= ports.size())) return {};
  std::string range = (rule == "op.O2" ? ", takes " : ", gives ") + std::to_string(least);
  if (variadic)
    range += " or more";
  else if (least != ports.size())
    range += " to " + std::to_string(ports.size());
  if (!names.empty()) range += " (" + join(names) + ")";
  range += by_version(op, version);
  return refuse(Code::invalid_op, op, "has " + std::to_string(count) + " " + std::string(what) + range, rule);
}

Status check_counts(const Op& op, const OpVersion& version) {
  if (Status s = check_count(op, version, version.inputs, op.inputs.size(), "inputs", "op.O2"); !s.ok()) return s;
  if (Status s = check_count(op, version, version.outputs, op.outputs.size(), "outputs", "op.O3"); !s.ok()) return s;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const PortDesc& port = version.inputs[std::min(i, version.inputs.size() - 1)];
    const bool may_be_left_out = port.optional && op.dialect != Dialect::onednn;
    if (op.inputs[i] == kNone && !may_be_left_out)
      return refuse(Code::invalid_op, op,
                    "input " + std::to_string(i) + " " + quote(port.name) + " is left out" +
                        (port.optional ? "; in oneDNN's dialect the inputs end before it instead" : ""),
                    "op.O11");
  }
  return {};
}

Status check_attribute(const Op& op, const NamedAttribute& attribute, const AttrDesc& desc) {
  const AttrType type = kTypeOfAlternative[attribute.value.index()];
  if (type != desc.type)
    return refuse(Code::invalid_op, op,
                  "attribute " + quote(desc.name) + " is of type " + std::string(schemas::to_string(type)) +
                      ", must be " + std::string(schemas::to_string(desc.type)),
                  "op.O7");
  if (desc.allowed.empty()) return {};
  const std::string& text = std::get<std::string>(attribute.value);
  if (std::find(desc.allowed.begin(), desc.allowed.end(), text) != desc.allowed.end()) return {};
  return refuse(Code::invalid_op, op,
                "attribute " + quote(desc.name) + " is " + quote(text) + ", must be one of " + join(desc.allowed),
                "op.O8");
}

/// What to do about an attribute that the version has not: ONNX moved some to inputs, and others came later.
std::string elsewhere(const Op& op, const OpVersion& version, std::string_view name,
                      std::span<const std::string_view> known) {
  const auto named = [&](const auto& item) { return item.name == name; };
  if (std::any_of(version.inputs.begin(), version.inputs.end(), named)) return "; it is an input there";
  for (const OpVersion& other : schemas::find_op(op.dialect, op.kind)->versions)
    if (other.since_version > version.since_version &&
        std::any_of(other.attributes.begin(), other.attributes.end(), named))
      return "; it is since version " + std::to_string(other.since_version);
  const std::string_view near = nearest(name, known);
  if (!near.empty()) return did_you_mean(near);
  return known.empty() ? "; the op has none" : "; the op has " + join(known);
}

Status check_attributes(const Op& op, const OpVersion& version) {
  std::vector<std::string_view> known;
  for (const AttrDesc& desc : version.attributes) {
    known.push_back(desc.name);
    if (desc.required && find_attribute(op, desc.name) == nullptr)
      return refuse(
          Code::invalid_op, op,
          "attribute " + quote(desc.name) + " (" + std::string(schemas::to_string(desc.type)) + ") is required",
          "op.O6");
  }
  for (const NamedAttribute& attribute : op.attributes) {
    if (find_attribute(op, attribute.name) != &attribute.value)
      return refuse(Code::invalid_op, op, "attribute " + quote(attribute.name) + " is given twice", "op.O12");
    if (is_remark(op, attribute)) continue;
    const auto desc = std::find_if(version.attributes.begin(), version.attributes.end(),
                                   [&](const AttrDesc& d) { return d.name == attribute.name; });
    if (desc == version.attributes.end())
      return refuse(Code::invalid_op, op,
                    "attribute " + quote(attribute.name) + " is not known" + by_version(op, version) +
                        elsewhere(op, version, attribute.name, known),
                    "op.O9");
    if (Status s = check_attribute(op, attribute, *desc); !s.ok()) return s;
  }
  return {};
}

std::string names_of(schemas::DTypeSet set) {
  std::vector<std::string_view> names;
  for (const DTypeRow& r : kDTypes)
    if ((set & schemas::bit(r.dtype)) != 0) names.push_back(r.name);
  return join(names);
}

/// "; u8 is since version 12", when the port of that name takes the dtype in a later version of the op. Types go by
/// other symbols there, perhaps.
std::string since(const Op& op, const OpVersion& version, bool outputs, std::string_view port, DType dtype) {
  for (const OpVersion& other : schemas::find_op(op.dialect, op.kind)->versions) {
    if (other.since_version <= version.since_version) continue;
    for (const PortDesc& later : outputs ? other.outputs : other.inputs)
      if (later.name == port && (other.constraints[later.constraint].allowed & schemas::bit(dtype)) != 0)
        return "; " + std::string(to_string(dtype)) + " is since version " + std::to_string(other.since_version);
  }
  return {};
}

/// The dtypes of one side's ports. `fixed` holds the first dtype that each symbol was seen with, over both sides.
Status check_dtypes(const Graph& graph, const Op& op, const OpVersion& version, bool outputs,
                    std::vector<DType>& fixed) {
  const std::vector<ValueId>& ids = outputs ? op.outputs : op.inputs;
  const std::span<const PortDesc> ports = outputs ? version.outputs : version.inputs;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kNone) continue;
    const PortDesc& port = ports[std::min(i, ports.size() - 1)];
    const schemas::TypeConstraint& constraint = version.constraints[port.constraint];
    const DType dtype = graph.values[ids[i]].dtype;
    // What an op produces may wait for infer().
    const bool pending = dtype == DType::undef && (outputs || graph.values[ids[i]].producer != kNone);
    const auto where = [&] {
      return (outputs ? "output " : "input ") + std::to_string(i) + " " + quote(port.name) + " is " +
             std::string(to_string(dtype)) + ", but " + std::string(constraint.symbol) + " is ";
    };
    if (!pending && (constraint.allowed & schemas::bit(dtype)) == 0)
      return refuse(Code::invalid_dtype, op,
                    where() + "one of " + names_of(constraint.allowed) + by_version(op, version) +
                        since(op, version, outputs, port.name, dtype),
                    "op.O4");
    if (dtype == DType::undef || port.mixed) continue;
    DType& first = fixed[port.constraint];
    if (first == DType::undef) first = dtype;
    if (first != dtype)
      return refuse(Code::invalid_dtype, op,
                    where() + std::string(to_string(first)) + " already; all tensors of " +
                        std::string(constraint.symbol) + " have the same dtype",
                    "op.O5");
  }
  return {};
}

}  // namespace

Status check_known(const Op& op) {
  if (schemas::find_op(op.dialect, op.kind) != nullptr) return {};
  return refuse(Code::unsupported_op, op,
                quote(op.kind) + " is not an op that this version knows in the " +
                    std::string(schemas::to_string(op.dialect)) + " dialect" +
                    did_you_mean(schemas::nearest_op(op.dialect, op.kind)),
                "op.O1");
}

Status check_op(const Graph& graph, const Op& op) {
  if (op.opset < 0 || (op.opset != 0 && op.dialect != Dialect::onnx))
    return refuse(Code::invalid_op, op,
                  "opset " + std::to_string(op.opset) +
                      (op.opset < 0 ? "; opsets count from 1" : "; only ops of the onnx dialect have one"),
                  "op.O13");
  if (op.opset > schemas::newest_opset())
    return refuse(Code::unsupported_op, op,
                  "opset " + std::to_string(op.opset) + "; the newest that is known is " +
                      std::to_string(schemas::newest_opset()),
                  "op.O13");
  const OpVersion* version = version_of(op);
  if (version == nullptr)
    return refuse(Code::invalid_op, op,
                  quote(op.kind) + " is since opset " +
                      std::to_string(schemas::find_op(op.dialect, op.kind)->versions.front().since_version) +
                      ", the op is of opset " + std::to_string(op.opset),
                  "op.O13");
  if (Status s = check_one_axes_form(op); !s.ok()) return s;
  if (Status s = check_counts(op, *version); !s.ok()) return s;
  if (Status s = check_attributes(op, *version); !s.ok()) return s;
  if (Status s = check_onnx_attributes(graph, op); !s.ok()) return s;
  if (Status s = check_axes_form(graph, op); !s.ok()) return s;
  std::vector<DType> fixed(version->constraints.size(), DType::undef);
  for (const bool outputs : {false, true})
    if (Status s = check_dtypes(graph, op, *version, outputs, fixed); !s.ok()) return s;
  return check_form(graph, op);
}

}  // namespace tenfold::graph

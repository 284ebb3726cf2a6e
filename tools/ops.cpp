// SPDX-License-Identifier: Apache-2.0
//
// `tenfold ops`: the op tables, as a list, one op in full, or a page.
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/op_table.hpp"
#include "tools/commands.hpp"
#include "tools/ops_text.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

std::vector<std::string> dtype_names(schemas::DTypeSet set) {
  std::vector<std::string> names;
  for (const DTypeRow& r : kDTypes)
    if ((set & schemas::bit(r.dtype)) != 0) names.emplace_back(r.name);
  return names;
}

std::string joined(const std::vector<std::string>& names, const char* separator) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : separator) + name;
  return text;
}

namespace {

using schemas::Dialect;
constexpr std::array<Dialect, 3> kDialects{Dialect::onednn, Dialect::onnx, Dialect::core};

Json ports_json(const schemas::OpVersion& version, std::span<const schemas::PortDesc> ports) {
  Json json = Json::array();
  for (const schemas::PortDesc& port : ports)
    json.push_back({{"name", std::string(port.name)},
                    {"type", std::string(version.constraints[port.constraint].symbol)},
                    {"optional", port.optional},
                    {"variadic", port.variadic},
                    {"mixed", port.mixed},
                    {"decides_shape", port.decides_shape}});
  return json;
}

/// An op as its descriptor says it (schemas/op.schema.json), with every flag written out.
Json op_json(const schemas::OpDesc& op) {
  Json json = {{"name", std::string(op.name)},
               {"dialect", std::string(schemas::to_string(op.dialect))},
               {"category", std::string(op.category)},
               {"summary", std::string(op.summary)}};
  for (const schemas::OpVersion& version : op.versions) {
    Json v = {{"since_version", version.since_version},
              {"inputs", ports_json(version, version.inputs)},
              {"outputs", ports_json(version, version.outputs)},
              {"attributes", Json::array()},
              {"type_constraints", Json::object()}};
    for (const schemas::AttrDesc& a : version.attributes) {
      Json attribute = {
          {"name", std::string(a.name)}, {"type", std::string(schemas::to_string(a.type))}, {"required", a.required}};
      if (!a.default_text.empty()) attribute["default"] = Json::parse(a.default_text, nullptr, false);
      for (const std::string_view allowed : a.allowed) attribute["allowed"].push_back(std::string(allowed));
      v["attributes"].push_back(std::move(attribute));
    }
    for (const schemas::TypeConstraint& c : version.constraints)
      v["type_constraints"][std::string(c.symbol)] = dtype_names(c.allowed);
    json["versions"].push_back(std::move(v));
  }
  return json;
}

void print_ports(const char* role, const schemas::OpVersion& version, std::span<const schemas::PortDesc> ports) {
  for (const schemas::PortDesc& port : ports) {
    const schemas::TypeConstraint& type = version.constraints[port.constraint];
    std::printf("  %-9s %s: %s (%s)%s%s\n", role, std::string(port.name).c_str(), std::string(type.symbol).c_str(),
                joined(dtype_names(type.allowed), ", ").c_str(), port.optional ? ", optional" : "",
                port.variadic ? ", any number" : "");
  }
}

void print_op(const schemas::OpDesc& op) {
  std::printf("%s (%s, %s)\n%s\n", std::string(op.name).c_str(), std::string(schemas::to_string(op.dialect)).c_str(),
              std::string(op.category).c_str(), std::string(op.summary).c_str());
  for (const schemas::OpVersion& version : op.versions) {
    std::printf("since version %d\n", version.since_version);
    print_ports("input", version, version.inputs);
    print_ports("output", version, version.outputs);
    for (const schemas::AttrDesc& a : version.attributes) {
      std::string rest = a.required ? ", required" : "";
      if (!a.default_text.empty()) rest += ", default " + std::string(a.default_text);
      std::vector<std::string> allowed(a.allowed.begin(), a.allowed.end());
      if (!allowed.empty()) rest += ", one of " + joined(allowed, ", ");
      std::printf("  attribute %s: %s%s\n", std::string(a.name).c_str(),
                  std::string(schemas::to_string(a.type)).c_str(), rest.c_str());
    }
  }
}

Result<std::vector<const schemas::OpDesc*>> select(const OpsOptions& options) {
  std::vector<std::string> dialects;
  std::vector<Dialect> wanted;
  for (const Dialect d : kDialects) {
    dialects.emplace_back(schemas::to_string(d));
    if (options.dialect.empty() || options.dialect == dialects.back()) wanted.push_back(d);
  }
  if (wanted.empty())
    return Status(Code::invalid_argument,
                  "unknown dialect '" + options.dialect + "'; the dialects are " + joined(dialects, ", "));
  std::vector<const schemas::OpDesc*> chosen;
  std::string_view nearest;
  for (const Dialect d : wanted) {
    if (nearest.empty() && !options.name.empty()) nearest = schemas::nearest_op(d, options.name);
    for (const schemas::OpDesc& op : schemas::all_ops())
      if (op.dialect == d && (options.name.empty() || op.name == options.name)) chosen.push_back(&op);
  }
  if (chosen.empty() && !options.name.empty())
    return Status(Code::invalid_argument, "unknown op '" + options.name + "'" +
                                              (nearest.empty() ? "; 'tenfold ops' lists them"
                                                               : "; did you mean '" + std::string(nearest) + "'?"));
  return chosen;
}

}  // namespace

int list_ops(const OpsOptions& options) {
  const auto chosen = select(options);
  if (!chosen.ok()) return fail("ops", options.json, chosen.status());
  if (options.markdown) {
    std::fputs(ops_page(chosen.value()).c_str(), stdout);
    return kExitOk;
  }
  if (options.json) {
    Json answer = json_answer("ops");
    answer["ops"] = Json::array();
    for (const schemas::OpDesc* op : chosen.value()) answer["ops"].push_back(op_json(*op));
    print_json(answer);
    return kExitOk;
  }
  if (chosen.value().empty()) std::printf("this version has no op of the dialect %s\n", options.dialect.c_str());
  for (const schemas::OpDesc* op : chosen.value()) {
    if (!options.name.empty())
      print_op(*op);
    else
      std::printf("%-7s %-20s %-11s %s\n", std::string(schemas::to_string(op->dialect)).c_str(),
                  std::string(op->name).c_str(), std::string(op->category).c_str(), std::string(op->summary).c_str());
  }
  return kExitOk;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// See ops_text.hpp. docs/ops_reference.md is what this prints, a test holds the two together.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "compile/lower/lower.hpp"
#include "tools/ops_text.hpp"

namespace tenfold::tools {

namespace {

using schemas::Dialect;

struct Section {
  Dialect dialect;
  std::string_view title, words;
};
constexpr std::array<Section, 3> kSections{{
    {Dialect::onednn, "oneDNN Graph's ops",
     "By their names alone: `\"ReduceMax\"`; in the C++ API `op::kind::ReduceMax`."},
    {Dialect::onnx, "ONNX's ops",
     "With the dialect in front: `\"onnx.ReduceMax\"`, or of an opset: `\"onnx.ReduceMax@13\"`. Each is shown as its "
     "newest "
     "version has it."},
    {Dialect::core, "Core ops",
     "What the others are turned into; graph files and the APIs do not name them, `tenfold explain --dump` shows "
     "them."},
}};

std::string code(std::string_view name) { return "`" + std::string(name) + "`"; }

std::string_view kind_words(DTypeKind kind) {
  switch (kind) {
    case DTypeKind::floating: return "floating point";
    case DTypeKind::signed_integer: return "signed integer";
    case DTypeKind::unsigned_integer: return "unsigned integer";
    case DTypeKind::boolean: return "0 or 1, in one byte";
    case DTypeKind::none: break;
  }
  return "";
}

/// How many ops of the dialect take or give the dtype in their newest version.
std::size_t ops_with(Dialect dialect, DType dtype) {
  const auto ops = schemas::all_ops();
  return static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [&](const schemas::OpDesc& op) {
    const auto types = op.versions.back().constraints;
    return op.dialect == dialect && std::any_of(types.begin(), types.end(), [&](const schemas::TypeConstraint& t) {
             return (t.allowed & schemas::bit(dtype)) != 0;
           });
  }));
}

std::string dtype_table() {
  std::string text =
      "## Dtypes\n\nThe ops are those of oneDNN Graph and of ONNX that take or give the dtype by their documents. "
      "Reductions, "
      "elementwise\nops and what is made of them have kernels for the dtypes that say so, and take them in either "
      "dialect only "
      "where the op\ndoes; what has none runs on the reference evaluator.\n\n"
      "| dtype | bits | what it is | kernels | ops of oneDNN Graph | ops of ONNX |\n|---|---|---|---|---|---|\n";
  for (const DTypeRow& r : kDTypes) {
    if (r.kind == DTypeKind::none) continue;
    text += "| " + code(r.name) + " | " + std::to_string(r.bits) + " | " + std::string(kind_words(r.kind)) + " | " +
            (compiler::has_kernels(r.dtype) ? "yes" : "no") + " | " +
            std::to_string(ops_with(Dialect::onednn, r.dtype)) + " | " +
            std::to_string(ops_with(Dialect::onnx, r.dtype)) + " |\n";
  }
  return text;
}

std::string ports_line(std::string_view role, const schemas::OpVersion& version,
                       std::span<const schemas::PortDesc> ports) {
  std::vector<std::string> words;
  for (const schemas::PortDesc& port : ports)
    words.push_back(code(port.name) + " " + std::string(version.constraints[port.constraint].symbol) +
                    (port.optional ? " (optional)" : "") +
                    (!port.variadic ? ""
                     : port.mixed   ? " (any number, of any of its types each)"
                                    : " (any number)"));
  return words.empty() ? "" : "- " + std::string(role) + ": " + joined(words, ", ") + "\n";
}

std::string types_line(const schemas::OpVersion& version) {
  std::vector<std::string> words;
  for (const schemas::TypeConstraint& type : version.constraints)
    words.push_back(std::string(type.symbol) + ": " + joined(dtype_names(type.allowed), ", "));
  return words.empty() ? "" : "- types: " + joined(words, "; ") + "\n";
}

std::string attributes_line(const schemas::OpVersion& version) {
  std::vector<std::string> words;
  for (const schemas::AttrDesc& a : version.attributes) {
    std::string one = code(a.name) + " " + std::string(schemas::to_string(a.type));
    if (a.required) one += ", required";
    if (!a.default_text.empty()) one += " = " + code(a.default_text);
    const std::vector<std::string> allowed(a.allowed.begin(), a.allowed.end());
    if (!allowed.empty()) one += ", one of " + joined(allowed, ", ");
    words.push_back(std::move(one));
  }
  return words.empty() ? "" : "- attributes: " + joined(words, "; ") + "\n";
}

std::string op_entry(const schemas::OpDesc& op) {
  const schemas::OpVersion& newest = op.versions.back();
  std::string text = "\n#### " + std::string(op.name) + "\n\n" + std::string(op.summary) + "\n\n";
  text += ports_line("inputs", newest, newest.inputs) + ports_line("outputs", newest, newest.outputs) +
          types_line(newest) + attributes_line(newest);
  if (op.dialect != Dialect::onnx) return text;
  std::vector<std::string> versions;
  for (const schemas::OpVersion& version : op.versions) versions.push_back(std::to_string(version.since_version));
  return text + "- " + (versions.size() == 1 ? "since version " : "versions: ") + joined(versions, ", ") + "\n";
}

std::string section(const Section& part, std::span<const schemas::OpDesc* const> ops) {
  std::vector<std::string_view> categories;
  for (const schemas::OpDesc* op : ops)
    if (op->dialect == part.dialect) categories.push_back(op->category);
  if (categories.empty()) return "";
  std::string text = "\n## " + std::string(part.title) + " (" + std::to_string(categories.size()) + ")\n\n" +
                     std::string(part.words) + "\n";
  std::sort(categories.begin(), categories.end());
  categories.erase(std::unique(categories.begin(), categories.end()), categories.end());
  for (const std::string_view category : categories) {
    text += "\n### " + std::string(part.title) + ": " + std::string(category) + "\n";
    for (const schemas::OpDesc* op : ops)
      if (op->dialect == part.dialect && op->category == category) text += op_entry(*op);
  }
  return text;
}

}  // namespace

std::string ops_page(std::span<const schemas::OpDesc* const> ops) {
  std::string text =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Ops and dtypes\n\n"
      "Made from the op tables (`schemas/ops`) by `tenfold ops --markdown`; do not edit. A port says its type by a "
      "letter: "
      "ports\nof one letter have one dtype. `tenfold ops NAME` also shows the older versions of an op, `tenfold "
      "explain GRAPH` "
      "how an op\nof a graph runs, [rules.md](rules.md) what else must hold.\n\n";
  text += dtype_table();
  for (const Section& part : kSections) text += section(part, ops);
  return text;
}

}  // namespace tenfold::tools

// SPDX-License-Identifier: Apache-2.0
//
// print(): graph inputs first, then constants, then the ops in their order. Values' indices are not printed: a parsed
// graph numbers them in the order of their definitions, ids stay.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/text/elements.hpp"
#include "graph/text/text.hpp"

namespace tenfold::graph {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

std::string identifier(std::string_view text) { return is_identifier(text) ? std::string(text) : quoted(text); }

std::string dims(const Dims& values) {
  std::string out;
  for (const std::int64_t v : values) {
    if (!out.empty()) out += ',';
    out += v == kUnknownDim ? "?" : std::to_string(v);
  }
  return out;
}

bool strides_say_something(const Value& value) {
  if (value.strides.empty()) return false;
  const bool known = value.ranked && value.strides.size() == value.shape.size() && numel(value.shape).ok();
  return !known || value.strides != row_major_strides(value.shape);
}

std::string type_of(const Value& value) {
  std::string out(to_string(value.dtype));
  out += value.ranked ? "[" + dims(value.shape) + "]" : "[*]";
  if (strides_say_something(value)) out += "{" + dims(value.strides) + "}";
  if (value.layout != Layout::strided) out += " layout " + std::string(to_string(value.layout));
  if (value.property != Property::undef) out += " property " + std::string(to_string(value.property));
  return out;
}

struct AttributePrinter {
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return print_real(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const std::vector<std::int64_t>& v) const { return list(v); }
  // An empty list of reals needs its type: [] is a list of integers.
  std::string operator()(const std::vector<double>& v) const { return v.empty() ? "f32 []" : list(v); }

  template <class T>
  std::string list(const std::vector<T>& items) const {
    std::string out = "[";
    for (const T& item : items) out += (out.size() > 1 ? ", " : "") + (*this)(item);
    return out + "]";
  }
};

std::string attributes(const std::vector<NamedAttribute>& named, const std::vector<ExtraKey>& extras) {
  std::string out;
  const auto add = [&out](const std::string& name, const std::string& value) {
    out += (out.empty() ? "" : ", ") + name + " = " + value;
  };
  for (const NamedAttribute& a : named) add(identifier(a.name), std::visit(AttributePrinter{}, a.value));
  for (const ExtraKey& e : extras) add("json:" + identifier(e.key), quoted(e.json));
  return out;
}

std::string header(const Graph& graph) {
  std::vector<NamedAttribute> facts;
  if (!graph.version.empty()) facts.push_back({"version", graph.version});
  if (graph.engine_kind != "cpu") facts.push_back({"engine_kind", graph.engine_kind});
  if (graph.fpmath_mode != "strict") facts.push_back({"fpmath_mode", graph.fpmath_mode});
  const std::string text = attributes(facts, graph.extras);
  return text.empty() ? "graph {\n" : "graph (" + text + ") {\n";
}

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string run() {
    out_ = header(graph_);
    std::vector<char> done(graph_.values.size(), 0);
    for (const ValueId v : graph_.inputs) {
      if (v < done.size()) done[v] = 1;
      declare(v, "input");
    }
    for (const Op& op : graph_.ops)
      for (const ValueId v : op.outputs)
        if (v < done.size()) done[v] = 1;
    for (std::size_t v = 0; v < done.size(); ++v)
      if (done[v] == 0) declare(static_cast<ValueId>(v), "unbound");
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) print_op(graph_.ops[i], static_cast<std::int64_t>(i));
    out_ += "  output" + std::string(graph_.outputs.empty() ? "" : " ") + names(graph_.outputs) + "\n}\n";
    return std::move(out_);
  }

 private:
  std::string name(ValueId v) const {
    if (v == kNone) return "_";
    return v < graph_.values.size() ? "%" + std::to_string(graph_.values[v].id) : "%?" + std::to_string(v);
  }

  std::string names(const std::vector<ValueId>& ids) const {
    std::string out;
    for (const ValueId v : ids) out += (out.empty() ? "" : ", ") + name(v);
    return out;
  }

  void declare(ValueId v, std::string_view role) {
    if (v >= graph_.values.size()) return;
    const Value& value = graph_.values[v];
    out_ += "  " + name(v) + " = " + std::string(value.is_constant ? "constant" : role) + " : " + type_of(value);
    if (value.is_constant) out_ += " = " + data(value);
    out_ += "\n";
  }

  static std::string data(const Value& value) {
    if (elements_are_listable(value)) return print_elements(value);
    std::string text = "bytes \"";
    for (const std::byte b : value.data) {
      text += kHexDigits[std::to_integer<unsigned>(b) >> 4];
      text += kHexDigits[std::to_integer<unsigned>(b) & 15u];
    }
    return text + "\"";
  }

  void print_op(const Op& op, std::int64_t position) {
    out_ += "  ";
    if (!op.outputs.empty()) out_ += names(op.outputs) + " = ";
    out_ += std::string(schemas::to_string(op.dialect)) + "." + identifier(op.kind);
    if (op.opset != 0) out_ += "@" + std::to_string(op.opset);
    if (op.id != position) out_ += " #" + std::to_string(op.id);
    if (!op.name.empty()) out_ += " " + quoted(op.name);
    out_ += " (" + names(op.inputs) + ")";
    const std::string text = attributes(op.attributes, op.extras);
    if (!text.empty()) out_ += " {" + text + "}";
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      out_ += i == 0 ? " : " : ", ";
      out_ += op.outputs[i] < graph_.values.size() ? type_of(graph_.values[op.outputs[i]]) : "undef[*]";
    }
    out_ += "\n";
  }

  const Graph& graph_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).run(); }

}  // namespace tenfold::graph

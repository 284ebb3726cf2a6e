// SPDX-License-Identifier: Apache-2.0
//
// See json.hpp. The text is put together by hand, one op a line: keys that we do not know are kept as text and
// must come out as they went in, which a JSON library's numbers do not.
#include "graph/write/json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/write/constant_text.hpp"

namespace tenfold::graph {

namespace {

/// How many bytes the UTF-8 character at the start of `text` has; 0: it is none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < count) return 0;
  for (std::size_t i = 1; i < count; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Longer than need be, halves of pairs, beyond Unicode.
  const unsigned char second = byte(1);
  const bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return is_wrong ? 0 : count;
}

/// A JSON string; what is no UTF-8 becomes the replacement character.
std::string json_text(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t count = character_bytes(text);
    const char c = text[0];
    if (count == 0) {
      result += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (count == 1 && static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      result += escape.data();
    } else {
      result += text.substr(0, count);
    }
    text.remove_prefix(std::max<std::size_t>(count, 1));
  }
  return result + "\"";
}

template <class List, class Text>
std::string list_text(const List& list, Text&& text) {
  std::string result = "[";
  for (const auto& element : list) result += (result.size() > 1 ? ", " : "") + text(element);
  return result + "]";
}

std::string integers_text(const std::vector<std::int64_t>& list) {
  return list_text(list, [](std::int64_t i) { return std::to_string(i); });
}

std::string attribute_text(const Attribute& attribute) {
  const auto typed = [](const char* type, const std::string& value) {
    return std::string(R"("type": ")") + type + R"(", "value": )" + value;
  };
  if (const auto* i = std::get_if<std::int64_t>(&attribute)) return typed("s64", std::to_string(*i));
  if (const auto* d = std::get_if<double>(&attribute)) return typed("f32", real_text(*d, kF64Digits));
  if (const auto* b = std::get_if<bool>(&attribute)) return typed("bool", *b ? "1" : "0");
  if (const auto* s = std::get_if<std::string>(&attribute)) return typed("string", json_text(*s));
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute))
    return typed("s64[]", integers_text(*list));
  return typed("f32[]",
               list_text(std::get<std::vector<double>>(attribute), [](double d) { return real_text(d, kF64Digits); }));
}

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph), data_written_(graph.values.size(), 0) {
    find_needed();
    find_used();
  }

  Result<std::string> run() {
    std::string text = "{\n";
    text += "  \"version\": " + json_text(graph_.version) + ",\n";
    text += "  \"engine_kind\": " + json_text(graph_.engine_kind) + ",\n";
    text += "  \"fpmath_mode\": " + json_text(graph_.fpmath_mode) + ",\n";
    for (const ExtraKey& extra : graph_.extras) text += "  " + json_text(extra.key) + ": " + extra.json + ",\n";
    text += "  \"input_ports\": " + ids_text(graph_.inputs) + ",\n";
    text += "  \"output_ports\": " + ids_text(graph_.outputs) + ",\n";
    text += "  \"graph\": [";
    std::vector<Op> ends = make_ends();
    bool first = true;
    for (const auto* list : {&graph_.ops, &std::as_const(ends)}) {
      for (const Op& op : *list) {
        if (list == &graph_.ops && !is_needed_[static_cast<std::size_t>(&op - graph_.ops.data())]) continue;
        const Result<std::string> written = op_text(op);
        if (!written.ok()) return written;
        text += (first ? "\n    " : ",\n    ") + written.value();
        first = false;
      }
    }
    return text + "\n  ]\n}\n";
  }

 private:
  /// Ops that lead to an output, and Ends. Of others a reader would take the results for outputs.
  void find_needed() {
    is_needed_.assign(graph_.ops.size(), false);
    std::vector<ValueId> wanted = graph_.outputs;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const Op& op = graph_.ops[i];
      if (op.dialect != schemas::Dialect::onednn || op.kind != "End") continue;
      is_needed_[i] = true;
      wanted.insert(wanted.end(), op.inputs.begin(), op.inputs.end());
    }
    while (!wanted.empty()) {
      const ValueId v = wanted.back();
      wanted.pop_back();
      if (v == kNone || graph_.values[v].producer == kNone) continue;
      const auto op = static_cast<std::size_t>(graph_.values[v].producer);
      if (is_needed_[op]) continue;
      is_needed_[op] = true;
      wanted.insert(wanted.end(), graph_.ops[op].inputs.begin(), graph_.ops[op].inputs.end());
    }
  }

  void find_used() {
    is_used_.assign(graph_.values.size(), false);
    for (const ValueId v : graph_.outputs) is_used_[v] = true;
    for (const Op& op : graph_.ops)
      for (const ValueId v : op.inputs)
        if (v != kNone) is_used_[v] = true;
  }

  std::string ids_text(const std::vector<ValueId>& values) const {
    return list_text(values, [&](ValueId v) { return std::to_string(graph_.values[v].id); });
  }

  /// An End for each output that the reader would not know for one.
  std::vector<Op> make_ends() const {
    std::vector<char> used(graph_.values.size(), 0), ended(graph_.values.size(), 0);
    std::int64_t next_id = 0;
    for (const Op& op : graph_.ops) {
      next_id = std::max(next_id, op.id == std::numeric_limits<std::int64_t>::max() ? 0 : op.id + 1);
      const bool is_end = op.dialect == schemas::Dialect::onednn && op.kind == "End";
      for (const ValueId v : op.inputs)
        if (v != kNone) (is_end ? ended : used)[v] = 1;
    }
    std::vector<Op> ends;
    for (const ValueId v : graph_.outputs) {
      if (ended[v] != 0 || (used[v] == 0 && graph_.values[v].producer != kNone)) continue;
      Op& end = ends.emplace_back();
      end.id = next_id++;
      end.kind = "End";
      end.inputs.push_back(v);
    }
    return ends;
  }

  /// Keys that are kept with the op, at the place that they came from: "" is the op itself.
  static std::string extras_text(const Op& op, std::string_view place) {
    std::string text;
    for (const ExtraKey& extra : op.extras) {
      const std::string_view key = extra.key;
      const bool nested = key.starts_with("attrs/") || key.starts_with("inputs/") || key.starts_with("outputs/");
      if (place.empty() ? nested : !key.starts_with(place)) continue;
      text += ", " + json_text(key.substr(place.size())) + ": " + extra.json;
    }
    return text;
  }

  Result<std::string> tensor_text(const Op& op, ValueId v, const std::string& place) {
    // The dtypes of ONNX's outputs follow from the op; of oneDNN's some would be lost.
    if (v == kNone || (!is_used_[v] && op.dialect == schemas::Dialect::onnx)) return std::string("null");
    const Value& value = graph_.values[v];
    const Dims unknown{kUnknownDim};
    std::string text = "{\"id\": " + std::to_string(value.id) + ", \"dtype\": " + json_text(to_string(value.dtype)) +
                       ", \"shape\": " + integers_text(value.ranked ? value.shape : unknown) +
                       ", \"stride\": " + integers_text(is_static(value) ? strides_of(desc_of(value)) : unknown) +
                       ", \"layout_type\": " + json_text(graph::to_string(value.layout)) +
                       ", \"property_type\": " + json_text(graph::to_string(value.property));
    if (!value.name.empty()) text += ", \"name\": " + json_text(value.name);
    if (value.is_constant && data_written_[v] == 0) {
      const Result<std::string> data = data_text(value);
      if (!data.ok()) return data;
      text += data.value();
      data_written_[v] = 1;
    }
    return text + extras_text(op, place) + "}";
  }

  Result<std::string> tensors_text(const Op& op, const std::vector<ValueId>& values, const std::string& role) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Result<std::string> tensor = tensor_text(op, values[i], role + "/" + std::to_string(i) + "/");
      if (!tensor.ok()) return tensor;
      text += (i > 0 ? ", " : "") + tensor.value();
    }
    return "\"" + role + "\": [" + text + "]";
  }

  Result<std::string> op_text(const Op& op) {
    if (op.dialect == schemas::Dialect::core)
      return Status(Code::unsupported_op, describe(op) + ": graph files hold no core ops");
    std::string text =
        "{\"id\": " + std::to_string(op.id) + ", \"name\": " + json_text(op.name) + ", \"kind\": " + json_text(op.kind);
    if (op.dialect != schemas::Dialect::onednn) text += ", \"dialect\": " + json_text(schemas::to_string(op.dialect));
    if (op.opset != 0) text += ", \"opset\": " + std::to_string(op.opset);
    text += ", \"attrs\": {";
    bool first = true;
    for (const NamedAttribute& attribute : op.attributes) {
      text += (first ? "" : ", ") + json_text(attribute.name) + ": {" + attribute_text(attribute.value) +
              extras_text(op, "attrs/" + attribute.name + "/") + "}";
      first = false;
    }
    const Result<std::string> inputs = tensors_text(op, op.inputs, "inputs");
    if (!inputs.ok()) return inputs;
    const Result<std::string> outputs = tensors_text(op, op.outputs, "outputs");
    if (!outputs.ok()) return outputs;
    return text + "}, " + inputs.value() + ", " + outputs.value() + extras_text(op, "") + "}";
  }

  const Graph& graph_;
  std::vector<char> data_written_;
  std::vector<bool> is_needed_;  ///< by op
  std::vector<bool> is_used_;    ///< by value: read, or an output of the graph
};

}  // namespace

Result<std::string> write_json(const Graph& graph) { return Writer(graph).run(); }

}  // namespace tenfold::graph

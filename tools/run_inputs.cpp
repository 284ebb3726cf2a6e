// SPDX-License-Identifier: Apache-2.0
//
// Inputs of `tenfold run`; see run_inputs.hpp.
#include "tools/run_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "graph/ir/dims.hpp"
#include "graph/ir/graph.hpp"
#include "tools/fill.hpp"
#include "tools/npy.hpp"
#include "tools/report.hpp"

namespace tenfold::tools {

namespace {

Status usage(const std::string& message) { return Status(Code::invalid_argument, message); }

bool parse_integer(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string input_list(const graph::Graph& graph) {
  std::string text;
  for (const graph::ValueId v : graph.inputs) {
    const graph::Value& value = graph.values[v];
    text += (text.empty() ? "" : ", ") + std::to_string(value.id) +
            (value.name.empty() ? " (" : " (" + value.name + ", ") + std::string(to_string(value.dtype)) + " " +
            graph::shape_text(value) + ")";
  }
  return text.empty() ? "none" : text;
}

const graph::Value* find_input(const graph::Graph& graph, TensorId id) {
  for (const graph::ValueId v : graph.inputs)
    if (graph.values[v].id == id) return &graph.values[v];
  return nullptr;
}

template <class T>
bool has(const std::vector<std::pair<TensorId, T>>& list, TensorId id) {
  return std::any_of(list.begin(), list.end(), [&](const auto& entry) { return entry.first == id; });
}

/// The inputs that `word` may mean: those of this name, and the one of this id.
std::vector<const graph::Value*> find_inputs(const graph::Graph& graph, std::string_view word) {
  TensorId id = 0;
  const bool is_id = parse_integer(word, id);
  std::vector<const graph::Value*> found;
  for (const graph::ValueId v : graph.inputs)
    if (const graph::Value& value = graph.values[v]; value.name == word || (is_id && value.id == id))
      found.push_back(&value);
  return found;
}

/// Splits "ID=REST" or "NAME=REST"; `what` names the option.
Result<std::pair<TensorId, std::string>> split(const graph::Graph& graph, const std::string& what,
                                               const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return usage(what + " '" + text + "' is not of the form ID=" + (what == "--input" ? "FILE.npy" : "4096x1024"));
  const std::string word = text.substr(0, equals);
  const std::vector<const graph::Value*> found = find_inputs(graph, word);
  if (found.size() > 1)
    return usage(what + " '" + text + "': " + word + " may be any of several inputs, by id or by name; they are " +
                 input_list(graph));
  if (found.empty())
    return usage(what + " '" + text + "': the graph has no input " + word + "; its inputs are " + input_list(graph));
  return std::pair(TensorId{found[0]->id}, text.substr(equals + 1));
}

/// A shape that --shape would take, with the dims that are known.
std::string shape_hint(const graph::Value& value) {
  if (!value.ranked) return "4096x1024";
  std::string text;
  for (const std::int64_t dim : value.shape)
    text += (text.empty() ? "" : "x") + std::to_string(dim == kUnknownDim ? 8 : dim);
  return text;
}

/// An array may say what the graph leaves open of an input, and nothing else.
Status check_array(const graph::Value& value, const std::string& path, const Dims& shape) {
  if (!value.ranked || graph::may_agree(value.shape, shape)) return Status();
  const std::string id = std::to_string(value.id);
  return Status(Code::invalid_shape, "input " + id + ": '" + path + "' is " + to_string(shape) + ", the graph's is " +
                                         to_string(value.shape) + "; to replace that, give --shape " + id + "=");
}

/// Every input's dims must be known, from the file or from the options.
Status require_shapes(const graph::Graph& graph, const GivenInputs& given) {
  for (const graph::ValueId v : graph.inputs) {
    const graph::Value& value = graph.values[v];
    if (graph::is_static(value) || has(given.shapes, value.id)) continue;
    const std::string id = std::to_string(value.id);
    return usage("input " + id + " (" + std::string(to_string(value.dtype)) + " " + graph::shape_text(value) +
                 ") has unknown dims; give --shape " + id + "=" + shape_hint(value));
  }
  return Status();
}

/// Inputs that share the name of a dim share its size: what the given shapes say of a name holds for the other inputs.
Status bind_dim_names(const graph::Graph& graph, GivenInputs& given) {
  struct Said {
    std::int64_t size;
    TensorId input;
  };
  std::map<std::string, Said> sizes;
  for (const auto& [id, shape] : given.shapes) {
    const std::vector<std::string>& names = find_input(graph, id)->dim_names;
    for (std::size_t d = 0; d < names.size() && d < shape.size(); ++d) {
      if (names[d].empty()) continue;
      const auto at = sizes.emplace(names[d], Said{shape[d], id}).first;
      if (const Said& first = at->second; first.size != shape[d])
        return Status(Code::invalid_shape, "dim '" + names[d] + "' is " + std::to_string(first.size) + " in input " +
                                               std::to_string(first.input) + " and " + std::to_string(shape[d]) +
                                               " in input " + std::to_string(id));
    }
  }
  for (const graph::ValueId v : graph.inputs) {
    const graph::Value& value = graph.values[v];
    if (!value.ranked || graph::is_static(value) || value.dim_names.empty() || has(given.shapes, value.id)) continue;
    Dims shape = value.shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (const auto size = sizes.find(value.dim_names[d]); shape[d] == kUnknownDim && size != sizes.end())
        shape[d] = size->second.size;
    if (is_known(shape)) given.shapes.emplace_back(value.id, std::move(shape));
  }
  return Status();
}

}  // namespace

Result<Dims> parse_shape(const std::string& text) {
  Dims shape;
  if (text == "-") return shape;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = std::min(rest.find('x'), rest.size());
    std::int64_t dim = 0;
    if (!parse_integer(rest.substr(0, end), dim) || dim < 0)
      return usage("--shape: '" + text + "' is not a shape such as 4096x1024, or - for rank 0");
    shape.push_back(dim);
    if (end == rest.size()) return shape;
    rest.remove_prefix(end + 1);
  }
}

Result<GivenInputs> parse_given_inputs(const graph::Graph& graph, const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& shapes) {
  GivenInputs given;
  for (const std::string& text : shapes) {
    auto entry = split(graph, "--shape", text);
    if (!entry.ok()) return entry.status();
    const auto& [id, rest] = entry.value();
    if (has(given.shapes, id)) return usage("--shape for input " + std::to_string(id) + " is given twice");
    Result<Dims> shape = parse_shape(rest);
    if (!shape.ok()) return shape.status();
    given.shapes.emplace_back(id, std::move(shape).value());
  }
  for (const std::string& text : inputs) {
    auto entry = split(graph, "--input", text);
    if (!entry.ok()) return entry.status();
    const auto& [id, path] = entry.value();
    if (has(given.files, id)) return usage("--input for input " + std::to_string(id) + " is given twice");
    given.files.emplace_back(id, path);
    if (graph::is_static(*find_input(graph, id)) || has(given.shapes, id)) continue;
    Result<NpyHeader> header = read_npy_header(path);
    if (!header.ok()) return header.status();
    const Dims& shape = header.value().desc.shape;
    if (Status s = check_array(*find_input(graph, id), path, shape); !s.ok()) return s;
    given.shapes.emplace_back(id, shape);
  }
  if (Status s = bind_dim_names(graph, given); !s.ok()) return s;
  if (Status s = require_shapes(graph, given); !s.ok()) return s;
  return given;
}

void adopt_shapes(graph::Graph& graph, const InputShapes& shapes) {
  bool changed = false;
  for (const graph::ValueId v : graph.inputs) {
    graph::Value& value = graph.values[v];
    const auto given = std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.first == value.id; });
    if (given == shapes.end() || (value.ranked && value.shape == given->second)) continue;
    value.ranked = true;
    value.shape = given->second;
    value.strides.clear();
    changed = true;
  }
  if (!changed) return;
  for (graph::Value& value : graph.values) {
    if (value.producer == graph::kNone) continue;
    value.ranked = false;
    value.shape.clear();
    value.strides.clear();
  }
}

Result<std::vector<FilledInput>> make_inputs(const graph::Graph& graph, const std::vector<TensorInfo>& infos,
                                             const GivenInputs& given, std::uint64_t seed, IsStopped is_stopped) {
  std::vector<FilledInput> inputs;
  for (const TensorInfo& info : infos) {
    const auto file =
        std::find_if(given.files.begin(), given.files.end(), [&](const auto& entry) { return entry.first == info.id; });
    const bool from_file = file != given.files.end();
    Result<Tensor> tensor = from_file ? read_npy(file->second, info.desc) : make_tensor(info.desc);
    if (!tensor.ok()) return tensor.status().about("input " + std::to_string(info.id));
    FilledInput input{std::move(tensor).value(), from_file ? file->second : "", !from_file};
    if (!from_file) fill_input(graph, info.id, seed, input.tensor, input.source, is_stopped);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace tenfold::tools

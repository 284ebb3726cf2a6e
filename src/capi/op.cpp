// SPDX-License-Identifier: Apache-2.0
//
// Ops: tenfold_op_*.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "capi/tensors.hpp"
#include "schemas/op_table.hpp"
#include "tenfold/graph/names.hpp"

namespace tenfold::capi {

namespace {

/// Also of those that this version does not run.
bool is_kind_of_onednn(std::string_view name) {
  std::size_t count = 0;
  const char* const* const kinds = graph::names::onednn_kinds(count);
  return std::find(kinds, kinds + count, name) != kinds + count;
}

/// "ReduceMax", "onednn.ReduceMax", "onnx.ReduceMax@13": the text form's spelling (graph/text/text.hpp).
Status read_kind(std::string_view text, graph::Op& op) {
  const std::string what = "kind '" + std::string(text) + "'";
  std::string_view name = text;
  if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
    const std::string_view dialect = text.substr(0, dot);
    if (dialect != "onednn" && dialect != "onnx")
      return Status(Code::unsupported_op, what + ": unknown dialect; the dialects are onednn and onnx");
    op.dialect = dialect == "onnx" ? graph::Dialect::onnx : graph::Dialect::onednn;
    name.remove_prefix(dot + 1);
  }
  if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + at + 1, end, op.opset);
    if (error != std::errc() || stop != end || op.opset < 1 || op.dialect != graph::Dialect::onnx)
      return Status(Code::invalid_argument, what + ": what follows '@' must be an opset of ONNX's, as in onnx.Max@13");
    name = name.substr(0, at);
  }
  op.kind = std::string(name);
  const schemas::OpDesc* const desc = schemas::find_op(op.dialect, name);
  if (desc == nullptr && op.dialect == graph::Dialect::onednn && is_kind_of_onednn(name)) return {};
  if (desc == nullptr) {
    const std::string_view nearest = schemas::nearest_op(op.dialect, name);
    return Status(Code::unsupported_op,
                  what + ": " + std::string(schemas::to_string(op.dialect)) + " has no such op" +
                      (nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?"));
  }
  if (schemas::version_for(*desc, op.opset) == nullptr)
    return Status(Code::unsupported_op, what + ": the op is younger than opset " + std::to_string(op.opset));
  return {};
}

template <class Add>
tenfold_status_t add_tensor(const char* function, tenfold_op_t op, const tenfold_logical_tensor_t* tensor, Add add) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"op", op}, {"tensor", tensor}}); !status.ok()) return status;
    Result<graph::Value> value = value_of(*tensor);
    if (!value.ok()) return value.status().about(graph::describe(op->draft.op));
    add(std::move(value).value());
    return {};
  });
}

template <class Make>
tenfold_status_t set_attribute(const char* function, tenfold_op_t op, const char* name, Make make) {
  return answer(function, [&]() -> Status {
    if (Status status = require({{"op", op}, {"name", name}}); !status.ok()) return status;
    if (*name == '\0') return Status(Code::invalid_argument, "the attribute's name is empty");
    Result<graph::Attribute> value = make();
    if (!value.ok()) return value.status().about("attribute '" + std::string(name) + "'");
    graph::set_attribute(op->draft.op, name, std::move(value).value());
    return {};
  });
}

/// A list of `count` numbers as the IR holds them.
template <class Held, class Number>
Result<graph::Attribute> list_of(const Number* values, std::size_t count) {
  if (Status status = require_list("values", values, count); !status.ok()) return status;
  return graph::Attribute(std::vector<Held>(values, values + count));
}

}  // namespace

}  // namespace tenfold::capi

using namespace tenfold;

tenfold_status_t tenfold_op_create(tenfold_op_t* op, int64_t id, const char* kind, const char* name) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"op", op}, {"kind", kind}}); !status.ok()) return status;
    if (id < 0) return Status(Code::invalid_argument, "op id " + std::to_string(id) + ": ids are at least 0");
    auto made = std::make_unique<tenfold_op>();
    made->draft.op.id = id;
    if (Status status = capi::read_kind(kind, made->draft.op); !status.ok()) return status;
    if (name != nullptr) made->draft.op.name = name;
    *op = made.release();
    return {};
  });
}

tenfold_status_t tenfold_op_check(const_tenfold_op_t op) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"op", op}}); !status.ok()) return status;
    // Shapes of ONNX's ops may hang on constants, which the graph has.
    if (op->draft.op.dialect != graph::Dialect::onednn) return {};
    capi::Draft alone;
    if (Status status = alone.add_op(op->draft); !status.ok()) return status;
    return alone.check_alone();
  });
}

tenfold_status_t tenfold_op_retain(tenfold_op_t op) { return capi::retain(__func__, op); }
tenfold_status_t tenfold_op_release(tenfold_op_t* op) { return capi::release(__func__, op); }

tenfold_status_t tenfold_op_add_input(tenfold_op_t op, const tenfold_logical_tensor_t* tensor) {
  return capi::add_tensor(__func__, op, tensor,
                          [&](graph::Value value) { op->draft.inputs.emplace_back(std::move(value)); });
}

tenfold_status_t tenfold_op_add_output(tenfold_op_t op, const tenfold_logical_tensor_t* tensor) {
  return capi::add_tensor(__func__, op, tensor,
                          [&](graph::Value value) { op->draft.outputs.push_back(std::move(value)); });
}

tenfold_status_t tenfold_op_skip_input(tenfold_op_t op) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"op", op}}); !status.ok()) return status;
    op->draft.inputs.emplace_back(std::nullopt);
    return {};
  });
}

tenfold_status_t tenfold_op_set_attr_s64(tenfold_op_t op, const char* name, int64_t value) {
  return capi::set_attribute(__func__, op, name, [&]() -> Result<graph::Attribute> { return graph::Attribute(value); });
}

tenfold_status_t tenfold_op_set_attr_s64s(tenfold_op_t op, const char* name, const int64_t* values, size_t count) {
  return capi::set_attribute(__func__, op, name, [&] { return capi::list_of<std::int64_t>(values, count); });
}

tenfold_status_t tenfold_op_set_attr_f32(tenfold_op_t op, const char* name, float value) {
  return capi::set_attribute(
      __func__, op, name, [&]() -> Result<graph::Attribute> { return graph::Attribute(static_cast<double>(value)); });
}

tenfold_status_t tenfold_op_set_attr_f32s(tenfold_op_t op, const char* name, const float* values, size_t count) {
  return capi::set_attribute(__func__, op, name, [&] { return capi::list_of<double>(values, count); });
}

tenfold_status_t tenfold_op_set_attr_bool(tenfold_op_t op, const char* name, int32_t value) {
  return capi::set_attribute(__func__, op, name, [&]() -> Result<graph::Attribute> {
    if (value != 0 && value != 1)
      return Status(Code::invalid_argument, "a boolean is 0 or 1, not " + std::to_string(value));
    return graph::Attribute(value == 1);
  });
}

tenfold_status_t tenfold_op_set_attr_str(tenfold_op_t op, const char* name, const char* value) {
  return capi::set_attribute(__func__, op, name, [&]() -> Result<graph::Attribute> {
    if (Status status = capi::require({{"value", value}}); !status.ok()) return status;
    return graph::Attribute(std::string(value));
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// See attribute.hpp.
#include "graph/ir/attribute.hpp"

#include <charconv>

namespace tenfold::graph {
namespace {

/// Null when the op's version has none of the name.
const schemas::AttrDesc* find_desc(const Op& op, std::string_view name) noexcept {
  const schemas::OpVersion* version = version_of(op);
  if (version == nullptr) return nullptr;
  for (const schemas::AttrDesc& attribute : version->attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

template <class T>
T number_in(std::string_view text) noexcept {
  T number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

const schemas::OpVersion* version_of(const Op& op) noexcept {
  const schemas::OpDesc* desc = schemas::find_op(op.dialect, op.kind);
  return desc == nullptr ? nullptr : schemas::version_for(*desc, op.dialect == Dialect::onnx ? op.opset : 0);
}

double f32_default(const schemas::AttrDesc& attribute) noexcept { return number_in<double>(attribute.default_text); }

std::int64_t integer_attribute(const Op& op, std::string_view name) noexcept {
  const schemas::AttrDesc* desc = find_desc(op, name);
  return attribute_or(op, name, desc == nullptr ? 0 : number_in<std::int64_t>(desc->default_text));
}

double f32_attribute(const Op& op, std::string_view name) noexcept {
  const schemas::AttrDesc* desc = find_desc(op, name);
  return f32_attribute(op, name, desc == nullptr ? 0 : f32_default(*desc));
}

double f32_attribute(const Op& op, std::string_view name, double fallback) noexcept {
  return static_cast<double>(static_cast<float>(attribute_or(op, name, fallback)));
}

}  // namespace tenfold::graph

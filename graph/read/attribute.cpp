// SPDX-License-Identifier: Apache-2.0
//
// See attribute.hpp. `type` may stand after `value`: both are found first, then read.
#include "graph/read/attribute.hpp"

#include <optional>
#include <string>

#include "graph/read/location.hpp"
#include "graph/read/scalars.hpp"

namespace tenfold::graph {
namespace {

template <class T>
Result<Attribute> wrap(Result<T> value) {
  if (!value.ok()) return value.status();
  return Attribute(std::move(value).value());
}

Result<Attribute> read_value(Item type, Item value) {
  if (type.kind() != Kind::string) return mismatch(type, "a string");
  const std::string_view name = type.string();
  if (name == "s64") return wrap(read_integer(value));
  if (name == "s64[]") return wrap(read_integers(value));
  if (name == "f32") return wrap(read_f32(value));
  if (name == "f32[]") return wrap(read_f32s(value));
  if (name == "bool") return wrap(read_boolean(value));
  if (name == "string") return wrap(read_string(value));
  return type.error("unknown attribute type " + shown(name) +
                    "; the types are s64, s64[], f32, f32[], bool and string");
}

}  // namespace

Result<NamedAttribute> read_attribute(Item item, std::vector<ExtraKey>& extras) {
  const std::string name(item.key());
  if (item.kind() != Kind::object) return mismatch(item, "an object with the keys 'type' and 'value'");
  std::optional<Item> type;
  std::optional<Item> value;
  for (const Item member : item) {
    if (member.key() == "type") {
      type = member;
    } else if (member.key() == "value") {
      value = member;
    } else {
      extras.push_back({"attrs/" + name + "/" + std::string(member.key()), member.json()});
    }
  }
  if (!type) return item.error("key 'type' is missing");
  if (!value) return item.error("key 'value' is missing");
  Result<Attribute> read = read_value(*type, *value);
  if (!read.ok()) return read.status();
  return NamedAttribute{name, std::move(read).value()};
}

}  // namespace tenfold::graph

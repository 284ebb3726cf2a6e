// SPDX-License-Identifier: Apache-2.0
//
// See tensor_record.hpp; the facts on special values are oneDNN's writer's: a tensor with any unknown dim has the whole
// shape, or the whole strides, written as the one-element list [INT64_MIN], which therefore is not rank 1.
#include "graph/read/tensor_record.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/read/constant.hpp"
#include "graph/read/location.hpp"
#include "graph/read/scalars.hpp"

namespace tenfold::graph {
namespace {

struct Members {
  std::optional<Item> id, dtype, shape, stride, layout, property, data, name;
};

Members find_members(Item item, std::string_view place, std::vector<ExtraKey>& extras) {
  Members found;
  const std::pair<std::string_view, std::optional<Item>*> known[] = {
      {"id", &found.id},         {"dtype", &found.dtype},        {"shape", &found.shape},
      {"stride", &found.stride}, {"layout_type", &found.layout}, {"property_type", &found.property},
      {"data", &found.data},     {"name", &found.name}};
  for (const Item member : item) {
    const auto* const entry = std::find_if(std::begin(known), std::end(known),
                                           [&](const auto& candidate) { return candidate.first == member.key(); });
    if (entry == std::end(known)) {
      extras.push_back({std::string(place) + std::string(member.key()), member.json()});
    } else {
      *entry->second = member;
    }
  }
  return found;
}

Result<DType> read_dtype(Item item) {
  Result<std::string> name = read_string(item);
  if (!name.ok()) return name.status();
  if (const std::optional<DType> dtype = dtype_from_name(name.value())) return *dtype;
  std::string known;
  for (const DTypeRow& r : kDTypes) known += (known.empty() ? "" : ", ") + std::string(r.name);
  return item.error("unknown dtype " + shown(name.value()) + "; the dtypes are " + known);
}

template <class Enum, std::size_t n>
Result<Enum> read_enumerator(Item item, std::string_view what, const Enum (&all)[n]) {
  Result<std::string> name = read_string(item);
  if (!name.ok()) return name.status();
  std::string known;
  for (const Enum candidate : all) {
    if (to_string(candidate) == name.value()) return candidate;
    known += (known.empty() ? "" : ", ") + std::string(to_string(candidate));
  }
  return item.error("unknown " + std::string(what) + " " + shown(name.value()) + "; known are " + known);
}

Status read_shape(Item item, Value& value) {
  Result<Dims> dims = read_integers(item);
  if (!dims.ok()) return dims.status();
  if (dims.value() == Dims{kUnknownDim}) return {};
  value.ranked = true;
  value.shape = std::move(dims).value();
  std::size_t position = 0;
  for (const Item element : item) {
    const std::int64_t dim = value.shape[position++];
    if (dim < 0 && dim != kUnknownDim)
      return element.error("dim " + std::to_string(dim) + " is negative; unknown dims are -9223372036854775808");
  }
  Result<std::int64_t> bytes = least_span_bytes({value.dtype, value.shape, {}});
  if (!bytes.ok()) return item.error(bytes.status().message());
  return {};
}

/// Keeps strides that say something: those of a static, strided tensor with elements that are not row-major.
Status read_stride(Item item, TensorRecord& record) {
  Result<Dims> strides = read_integers(item);
  if (!strides.ok()) return strides.status();
  Value& value = record.value;
  const Dims& given = strides.value();
  // Of an opaque tensor this is the layout's id; of `any` it is not decided.
  const bool meaningful = value.layout == Layout::strided || value.layout == Layout::undef;
  if (!meaningful || !is_static(value) || !is_known(given)) return {};
  if (given.empty() && !value.shape.empty()) return {};
  if (given.size() != value.shape.size())
    return item.error(std::to_string(given.size()) + " strides for rank " + std::to_string(value.shape.size()));
  Result<std::int64_t> bytes = span_bytes({value.dtype, value.shape, given});
  if (!bytes.ok()) return item.error(bytes.status().message());
  record.strides_given = true;
  const bool no_elements = std::find(value.shape.begin(), value.shape.end(), 0) != value.shape.end();
  if (!no_elements && given != row_major_strides(value.shape)) value.strides = std::move(strides).value();
  return {};
}

Status read_data(Item item, TensorRecord& record, ConstantBudget& budget) {
  Value& value = record.value;
  if (!is_static(value)) return item.error("constant data need a shape without unknown dims");
  if (value.property == Property::variable)
    return item.error("constant data on a tensor whose property_type is 'variable'");
  Result<std::int64_t> count = numel(value.shape);
  if (!count.ok()) return item.error(count.status().message());
  Result<std::vector<std::byte>> data = read_constant(item, value.dtype, count.value());
  if (!data.ok()) return data.status();
  budget.used += data.value().size();
  if (budget.used > budget.limit) {
    return item.error("the file's constants, " + std::to_string(budget.used) + " bytes so far, exceed the limit of " +
                      std::to_string(budget.limit) + " bytes");
  }
  value.data = std::move(data).value();
  value.is_constant = true;
  if (value.property == Property::undef) value.property = Property::constant;
  // The data are row-major, so the tensor is.
  value.strides.clear();
  return {};
}

Status read_names(const Members& members, Value& value) {
  Result<DType> dtype = read_dtype(*members.dtype);
  if (!dtype.ok()) return dtype.status();
  value.dtype = dtype.value();
  if (members.layout) {
    static constexpr Layout kLayouts[] = {Layout::undef, Layout::any, Layout::strided, Layout::opaque};
    Result<Layout> layout = read_enumerator(*members.layout, "layout_type", kLayouts);
    if (!layout.ok()) return layout.status();
    value.layout = layout.value();
  }
  if (members.property) {
    static constexpr Property kProperties[] = {Property::undef, Property::variable, Property::constant,
                                               Property::host_scalar};
    Result<Property> property = read_enumerator(*members.property, "property_type", kProperties);
    if (!property.ok()) return property.status();
    value.property = property.value();
  }
  return {};
}

}  // namespace

Result<TensorRecord> read_tensor(Item item, std::string_view place, ConstantBudget& budget,
                                 std::vector<ExtraKey>& extras) {
  if (item.kind() != Kind::object) return mismatch(item, "a tensor (an object)");
  const Members members = find_members(item, place, extras);
  if (!members.id) return item.error("key 'id' is missing");
  if (!members.dtype) return item.error("key 'dtype' is missing");
  if (!members.shape) return item.error("key 'shape' is missing");

  TensorRecord record;
  Result<std::int64_t> id = read_id(*members.id);
  if (!id.ok()) return id.status();
  record.value.id = id.value();
  if (members.name) {
    Result<std::string> name = read_string(*members.name);
    if (!name.ok()) return name.status();
    record.value.name = std::move(name).value();
  }
  if (Status status = read_names(members, record.value); !status.ok()) return status;
  if (Status status = read_shape(*members.shape, record.value); !status.ok()) return status;
  if (members.stride)
    if (Status status = read_stride(*members.stride, record); !status.ok()) return status;
  if (members.data)
    if (Status status = read_data(*members.data, record, budget); !status.ok()) return status;
  return record;
}

}  // namespace tenfold::graph

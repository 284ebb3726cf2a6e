// SPDX-License-Identifier: Apache-2.0
//
// See compose.hpp.
#include "graph/pass/compose.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/check/check.hpp"
#include "graph/pass/constants.hpp"

namespace tenfold::graph {
void Composer::begin(const Op& source) {
  if (!op_ids_) {
    op_ids_.emplace(graph_.ops);
    value_ids_.emplace(graph_.values);
  }
  source_ = &source;
  first_ = graph_.values.size();
}

std::vector<Op> Composer::finish() {
  // Values whose place an output takes go; those behind them move up.
  std::vector<ValueId> now(graph_.values.size());
  std::iota(now.begin(), now.end(), ValueId{0});
  for (const auto& [value, output] : given_) now[value] = output;
  std::size_t kept = first_;
  for (std::size_t v = first_; v < graph_.values.size(); ++v) {
    if (now[v] != v) continue;
    if (kept != v) graph_.values[kept] = std::move(graph_.values[v]);
    now[v] = static_cast<ValueId>(kept++);
  }
  graph_.values.resize(kept);
  for (Op& op : ops_) {
    for (ValueId& v : op.inputs) v = now[v];
    for (ValueId& v : op.outputs) v = now[v];
    if (op.outputs[0] != source_->outputs[0]) continue;
    op.id = source_->id;
    if (find_attribute(*source_, "source_id") == nullptr)
      std::erase_if(op.attributes, [](const NamedAttribute& a) { return a.name == "source_id"; });
  }
  given_.clear();
  return std::exchange(ops_, {});
}

void Composer::drop() {
  graph_.values.resize(first_);
  given_.clear();
  ops_.clear();
}

ValueId Composer::map(std::string_view function, const std::vector<ValueId>& inputs,
                      const std::vector<NamedAttribute>& parameters) {
  Dims shape = this->shape(inputs[0]);
  for (const ValueId v : inputs) shape = broadcast_shapes(shape, this->shape(v)).value_or(shape);
  std::vector<NamedAttribute> attributes{{"function", std::string(function)}};
  attributes.insert(attributes.end(), parameters.begin(), parameters.end());
  return add("map", inputs, attributes, dtype(inputs[0]), shape);
}

ValueId Composer::compare(std::string_view function, const std::vector<ValueId>& inputs) {
  const ValueId result = map(function, inputs);
  graph_.values[result].dtype = DType::boolean;
  return result;
}

ValueId Composer::map(std::string_view function, ValueId x, double scalar) {
  return map(function, {x, constant(scalar, dtype(x))});
}

ValueId Composer::map(std::string_view function, double scalar, ValueId x) {
  return map(function, {constant(scalar, dtype(x)), x});
}

ValueId Composer::reduce(std::string_view reduction, ValueId x, const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return x;
  return add("reduce", {x}, {{"reduction", std::string(reduction)}, {"keep_dims", true}, {"axes", axes}}, dtype(x),
             reduced_shape(shape(x), axes, true));
}

ValueId Composer::cast(ValueId x, DType to) { return dtype(x) == to ? x : add("cast", {x}, {}, to, shape(x)); }

ValueId Composer::cast_in_place(ValueId x, DType to) {
  const ValueId made = cast(x, to);
  graph_.values[made].strides = graph_.values[x].strides;
  return made;
}

ValueId Composer::widen(ValueId x) { return cast(x, dtype(x) == DType::f64 ? DType::f64 : DType::f32); }

ValueId Composer::reshape(ValueId x, const Dims& shape) {
  if (this->shape(x) == shape) return x;
  Dims attribute = shape;
  std::replace(attribute.begin(), attribute.end(), kUnknownDim, std::int64_t{-1});
  return add("reshape", {x}, {{"shape", std::move(attribute)}}, dtype(x), shape);
}

bool Composer::is_expressible(const Dims& shape) {
  const auto open = std::count(shape.begin(), shape.end(), kUnknownDim);
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  return shape.size() <= static_cast<std::size_t>(kMaxRank) && (open == 0 || (open == 1 && !empty));
}

ValueId Composer::along(ValueId x, std::size_t axis, std::size_t rank) {
  Dims shape = this->shape(x);
  shape.resize(rank - axis, 1);
  return reshape(x, shape);
}

ValueId Composer::select(ValueId condition, ValueId yes, ValueId no) {
  Dims shape = this->shape(condition);
  for (const ValueId v : {yes, no}) shape = broadcast_shapes(shape, this->shape(v)).value_or(shape);
  return add("select", {condition, yes, no}, {}, dtype(yes), shape);
}

ValueId Composer::constant(double value, DType dtype) { return list({value}, dtype, {}); }

ValueId Composer::list(const std::vector<double>& values, DType dtype, const Dims& shape) {
  const ValueId result = add_value(dtype, shape);
  Value& made = graph_.values[result];
  made.property = Property::constant;
  made.is_constant = true;
  made.data = element_bytes(dtype, values);
  return result;
}

ValueId Composer::add(std::string_view kind, const std::vector<ValueId>& inputs,
                      const std::vector<NamedAttribute>& attributes, DType dtype, const Dims& shape) {
  Op op;
  op.id = op_ids_->take();
  op.name = source_->name;
  op.dialect = Dialect::core;
  op.kind = std::string(kind);
  op.attributes = attributes;
  // A core op that is decomposed has itself a source.
  op.attributes.push_back({"source_kind", attribute_or<std::string>(*source_, "source_kind", source_->kind)});
  op.attributes.push_back({"source_id", attribute_or(*source_, "source_id", source_->id)});
  op.inputs = inputs;
  const ValueId result = add_value(dtype, shape);
  op.outputs = {result};
  ops_.push_back(std::move(op));
  return result;
}

std::vector<ValueId> Composer::again(const std::vector<ValueId>& inputs, const std::vector<DType>& dtypes) {
  return again(inputs, dtypes, *source_);
}

std::vector<ValueId> Composer::again(const std::vector<ValueId>& inputs, const std::vector<DType>& dtypes, Op op) {
  op.id = op_ids_->take();
  set_attribute(op, "source_id", attribute_or(*source_, "source_id", source_->id));
  op.inputs = inputs;
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (op.outputs[i] != kNone) op.outputs[i] = add_value(dtypes[i], shape(op.outputs[i]));
  ops_.push_back(std::move(op));
  return ops_.back().outputs;
}

void Composer::give(std::size_t index, ValueId value) {
  if (index >= source_->outputs.size() || source_->outputs[index] == kNone) return;
  const ValueId output = source_->outputs[index];
  ValueId result = cast(value, dtype(output));
  if (!is_own(result)) result = map("identity", {result});
  given_.emplace_back(result, output);
}

ValueId Composer::add_value(DType dtype, const Dims& shape) {
  Value value;
  value.id = value_ids_->take();
  value.dtype = dtype;
  value.ranked = true;
  value.shape = shape;
  graph_.values.push_back(std::move(value));
  return static_cast<ValueId>(graph_.values.size() - 1);
}

bool Composer::is_own(ValueId value) const {
  return value >= first_ && !graph_.values[value].is_constant &&
         std::none_of(given_.begin(), given_.end(), [&](const auto& pair) { return pair.first == value; });
}

}  // namespace tenfold::graph
